"""The reading room as a web application: what it holds, who gets in, what an error looks like."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from ssplain.app import api_images, api_job, api_runs, api_worklist
from ssplain.app.guard import Guard
from ssplain.desk.room import Room
from ssplain.desk.session import COOKIE
from ssplain.errors import SSplainError
from ssplain.threads import one_core

LOG = logging.getLogger("ssplain.app")
STATIC = Path(__file__).parent / "static"
# addresses of the page itself; its script shows what belongs to each
PAGES = ("/", "/image/{rest:path}", "/result/{rest:path}", "/worklist/{rest:path}", "/about")


def create(
    room: Room,
    hosts: Sequence[str] = ("127.0.0.1", "localhost", "::1"),
    users: Mapping[str, str] | None = None,
) -> FastAPI:
    """Return the web application of a room.

    Args:
        room: what to show.
        hosts: the names under which it may be addressed; none for any.
        users: who may enter, with their passwords; none for everybody on this machine.
    """

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        room.expect()
        with one_core():  # requests; the room's worker has all cores
            yield
        room.close()

    # FastAPI's own documentation pages load scripts from elsewhere
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    app.state.room = room
    app.include_router(api_images.router)
    app.include_router(api_runs.router)
    app.include_router(api_job.router)
    app.include_router(api_worklist.router)
    for path in PAGES:
        app.get(path)(_page)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_exception_handler(SSplainError, _say)
    app.add_exception_handler(RequestValidationError, _say_invalid)
    app.add_exception_handler(HTTPException, _say_http)
    app.add_exception_handler(Exception, _say_fault)
    app.add_middleware(GZipMiddleware, minimum_size=2048, compresslevel=3)
    app.add_middleware(Guard, hosts=frozenset(hosts), users=dict(users or {}))
    return app


def _page(request: Request) -> Response:
    """Return the page; it brings a session along."""
    room: Room = request.app.state.room
    cookie = request.cookies.get(COOKIE)
    session = room.sessions.get(cookie)
    page = FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-store"})
    if session.id != cookie:
        page.set_cookie(COOKIE, session.id, httponly=True, samesite="strict", max_age=43_200)
    return page


def _say(_: Request, error: Exception) -> Response:
    return JSONResponse({"message": str(error)}, 400)


def _say_invalid(_: Request, error: Exception) -> Response:
    places = [".".join(map(str, e["loc"])) for e in getattr(error, "errors", list)()]
    return JSONResponse({"message": f"The request is not understood ({', '.join(places)})."}, 422)


def _say_http(_: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    said = "There is nothing at this address." if code == 404 else str(getattr(error, "detail", ""))
    return JSONResponse({"message": said}, code)


def _say_fault(_: Request, error: Exception) -> Response:
    """Give the browser a sentence; what happened is in the log."""
    LOG.error("A request failed", exc_info=error)
    return JSONResponse({"message": "Something went wrong in the program; its log says more."}, 500)
