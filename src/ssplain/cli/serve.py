"""`ssplain serve`: the reading room, a web page on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    import socket


def serve(
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model to offer, as for `ssplain explain`; repeat for more (default: the bundled)."
        ),
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of images to offer.")] = None,
    job: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a job of `ssplain explain` or `ssplain read`, finished or running: its "
            "maps and numbers as a worklist."
        ),
    ] = None,
    grades: Annotated[
        Path, typer.Option(help="SQLite file that keeps the readers' grades and notes.")
    ] = Path("ssplain-grades.sqlite"),
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback needs users.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 for any free one.", min=0, max=65535)] = 8400,
    auth: Annotated[
        Path | None,
        typer.Option(help="File of name:password lines; or set SSPLAIN_AUTH."),
    ] = None,
) -> None:
    """Open the reading room: a web page to look at images, decisions and maps."""
    try:
        import uvicorn

        from ssplain.app import create
        from ssplain.app.guard import is_loopback, users_for
        from ssplain.desk import Room
    except ModuleNotFoundError as error:
        raise SSplainError(
            f"The reading room needs {error.name}; install it with `pip install ssplain[app]`."
        ) from error
    users = users_for(host, auth)
    room = Room.furnish(model or (), images, grades, job)
    try:
        # behind a name of its own, any host name is right: the users' passwords guard the room
        own = ("127.0.0.1", "localhost", "::1", host.strip("[]")) if is_loopback(host) else ()
        listener = _listen(host, port)
        shown = f"[{host}]" if ":" in host else host
        typer.echo(f"The reading room is at http://{shown}:{listener.getsockname()[1]}/")
        typer.echo("Stop it with Ctrl+C; what was uploaded is deleted then.")
        typer.echo(f"Grades that readers give are kept in {grades}.")
        if users:
            typer.echo(
                f"It asks for a password ({len(users)} users); the connection is not encrypted "
                "unless a proxy with TLS stands in front of it."
            )
        config = uvicorn.Config(create(room, own, users), log_level="warning", server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        room.close()


def _listen(host: str, port: int) -> "socket.socket":
    """Return a socket that listens, so that a port in use is reported in a sentence."""
    import socket

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        raise SSplainError(
            f"The room cannot listen on {host}, port {port} ({error}); choose another --port."
        ) from error
    return listener
