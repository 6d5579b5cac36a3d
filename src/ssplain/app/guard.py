"""Who may talk to the room: this machine only, unless users and passwords are given.

Every request passes here first. A page elsewhere cannot speak for the user's browser: the host
must be ours (no rebinding of names), and whatever changes something must come from our own page.
Passwords travel as HTTP Basic authentication, so put a proxy with TLS before a room that others
reach over a network.
"""

import base64
import binascii
import ipaddress
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ssplain.errors import SSplainError

VARIABLE = "SSPLAIN_AUTH"
UPLOADS = "/api/uploads"
MOST_BODY = 4 * 2**20  # of any request but an upload: a painted mask is the largest
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def users_for(
    host: str, file: Path | None, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return users and passwords, or complain where a room that others reach has none.

    Args:
        host: the address that the room listens on.
        file: lines of `name:password`, readable by its owner only.
        environment: where `SSPLAIN_AUTH` may hold the same.

    >>> users_for("127.0.0.1", None, {})
    {}
    >>> users_for("0.0.0.0", None, {"SSPLAIN_AUTH": "ada:long secret"})
    {'ada': 'long secret'}
    """
    text = environment.get(VARIABLE, "")
    if file is not None:
        try:
            if os.name == "posix" and file.stat().st_mode & 0o077:
                raise SSplainError(
                    f"Others can read {file}, which holds passwords; run `chmod 600 {file}`."
                )
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SSplainError(
                f"{file} cannot be read ({error}); give a text file of lines name:password."
            ) from error
    users = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, password = line.partition(":")
        if not name or not colon or len(password) < 8:
            raise SSplainError(
                "A line of the users is not name:password with a password of 8 letters or more; "
                "correct it."
            )
        users[name] = password
    if not users and (file is not None or not is_loopback(host)):
        raise SSplainError(
            f"A room on {host} can be reached by others, so it needs users; give --auth FILE with "
            f"lines name:password, or set {VARIABLE}."
        )
    return users


class Guard:
    """Lets requests through to the room, or answers them itself."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], users: Mapping[str, str]) -> None:
        self.app, self.hosts, self.users = app, hosts, users

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        limit = None if scope["path"] == UPLOADS else MOST_BODY
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
        else:
            await self.app(scope, _limited(receive, limit), _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = _parts(f"//{headers.get('host', '')}")[0]
        if self.hosts and host not in self.hosts:
            return PlainTextResponse("This room answers to its own address only.", 421)
        if "\0" in scope["path"]:  # no file system knows what to do with it
            return JSONResponse({"message": "There is nothing at this address."}, 404)
        scope["ssplain.user"] = self._user(headers.get("authorization", "")) if self.users else None
        if self.users and scope["ssplain.user"] is None:
            ask = {"WWW-Authenticate": 'Basic realm="ssplain reading room", charset="UTF-8"'}
            return PlainTextResponse("Please sign in.", 401, ask)
        origin = headers.get("origin")
        foreign = origin is not None and _parts(origin)[1] != headers.get("host")
        if scope["method"] not in {"GET", "HEAD"} and foreign:
            return JSONResponse({"message": "This request comes from another page."}, 403)
        return None

    def _user(self, header: str) -> str | None:
        """Return who signs in with a header; None if nobody does."""
        kind, _, code = header.partition(" ")
        if kind.lower() != "basic":
            return None
        try:
            name, _, password = base64.b64decode(code, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return None
        right = self.users.get(name)
        same = secrets.compare_digest(password.encode(), (right or "no such user").encode())
        return name if same and right is not None else None


def _parts(address: str) -> tuple[str, str]:
    """Return the host's name, and the name with its port; nothing for what is no address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return parts.hostname or "", parts.netloc


def _with_headers(send: Send) -> Send:
    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return told


def _limited(receive: Receive, most: int | None) -> Receive:
    """Cut the body of a request off where it gets too long."""
    size = 0

    async def some() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if most is not None and size > most:
            raise SSplainError("The request is too long.")
        return message

    return some
