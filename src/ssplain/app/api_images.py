"""Images: choosing, sending, looking at, and asking what-if."""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

import numpy as np
import torch
from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from matplotlib import colormaps
from pydantic import BaseModel, Field
from torch import Tensor

from ssplain.app import uploads
from ssplain.app.library import SETTINGS, thumbnail
from ssplain.app.room import Room
from ssplain.app.session import COOKIE, Session
from ssplain.app.sources import SETS, Picture, as_bytes, suggested, truth
from ssplain.errors import SSplainError
from ssplain.explain import PRESETS
from ssplain.report.render import png_bytes
from ssplain.version import __version__

router = APIRouter(prefix="/api")
COLOURS = ("inferno", "viridis", "cividis")
Name = Annotated[str, Query(max_length=80)]
Model = Annotated[str, Query(max_length=200)]


def room_of(request: Request) -> Room:
    """Return the room that was asked."""
    room: Room = request.app.state.room
    return room


def session_of(request: Request) -> Session:
    """Return the session that asks; the page has made it."""
    found = room_of(request).sessions.find(request.cookies.get(COOKIE))
    if found is None:
        raise HTTPException(403, "Open the room's first page; your session has ended.")
    return found


def place_in(request: Request) -> Iterator[None]:
    """Let only so many in at once who want an answer at once."""
    places = room_of(request).places
    if not places.acquire(timeout=20):
        raise HTTPException(429, "The room is busy; try again in a moment.")
    try:
        yield
    finally:
        places.release()


Here = Annotated[Room, Depends(room_of)]
Mine = Annotated[Session, Depends(session_of)]
quick = Depends(place_in)


class Question(BaseModel):
    """What would the model say without this part, and with only it?"""

    image: str = Field(max_length=80)
    model: str = Field(max_length=200)
    branches: list[int] = Field(default=[], max_length=2000)
    mask: str | None = Field(default=None, max_length=4_000_000)


@router.get("/room")
def about(room: Here) -> dict[str, Any]:
    """What the page needs to know at first."""
    return {
        "version": __version__,
        "models": [room.library.about(name) for name in room.library.sources],
        "explainers": room.library.explainers(),
        "presets": PRESETS,
        "ranges": SETTINGS,
        "sets": [
            {"name": name, "count": count, "title": title, "one": one}
            for name, count in room.sources.counts().items()
            for title, one, _ in [SETS.get(name, ("Folder", "Image", ""))]
        ],
        "colours": {
            name: (colormaps[name](np.arange(256))[:, :3] * 255).astype(int).ravel().tolist()
            for name in COLOURS
        },
        "limits": {"bytes": uploads.MOST_BYTES, "pixels": uploads.MOST_PIXELS},
    }


@router.get("/thumb", dependencies=[quick])
def thumb(room: Here, session: Mine, image: Name) -> Response:
    """A small picture of an image."""
    small = thumbnail(room.sources.picture(image, session).image, 112)
    return Response(
        png_bytes(small), media_type="image/png", headers={"Cache-Control": "private, max-age=3600"}
    )


@router.post("/uploads")
async def upload(
    request: Request, session: Mine, name: Annotated[str, Query(max_length=1000)] = ""
) -> dict[str, str]:
    """Take in one file, sent as the bare body of the request."""
    size = request.headers.get("content-length", "0")
    if not size.isdecimal() or int(size) > uploads.MOST_BYTES:
        raise SSplainError(f"The file is larger than {uploads.MOST_BYTES // 2**20} MB.")
    with NamedTemporaryFile(prefix="ssplain-upload-") as file:
        await uploads.receive(request.stream(), file.file)
        key = await run_in_threadpool(uploads.keep, session, Path(file.name), name)
    return {"image": f"upload/{key}"}


@router.get("/look", dependencies=[quick])
def look(room: Here, session: Mine, image: Name, model: Model = "") -> dict[str, Any]:
    """What the model says of an image, and what else is known of it."""
    picture, source, fitted = fitted_picture(room, session, image, model)
    prediction = room.library.predict(source, fitted)
    found = room.tracer(f"{session.id}/{image}/{source}", fitted)
    return {
        "image": image,
        "title": picture.title,
        "label": picture.label,
        "model": source,
        "size": list(fitted.shape),
        "given": list(picture.image.shape),
        "prediction": asdict(prediction),
        "classes": room.library.about(source)["classes"]
        or [str(i) for i in range(len(prediction.probabilities))],
        "branches": found.branches if found else [],
        "truth": truth(image) is not None,
    }


@router.get("/pixels", dependencies=[quick])
def pixels(room: Here, session: Mine, image: Name, model: Model = "") -> Response:
    """The image as the model takes it: one byte per channel and pixel."""
    _, _, fitted = fitted_picture(room, session, image, model)
    return Response(as_bytes(fitted), media_type="application/octet-stream")


@router.get("/branches", dependencies=[quick])
def branches(room: Here, session: Mine, image: Name, model: Model = "") -> Response:
    """Which branch each pixel belongs to: 16 bits per pixel."""
    _, source, fitted = fitted_picture(room, session, image, model)
    found = room.tracer(f"{session.id}/{image}/{source}", fitted)
    if found is None:
        raise SSplainError("This image shows no vessels.")
    return Response(found.labels, media_type="application/octet-stream")


@router.get("/truth")
def planted(image: Name) -> Response:
    """Where disease was planted into a simulated eye: one byte per pixel."""
    relevance = truth(image)
    if relevance is None:
        raise SSplainError("Nothing is known of this image but itself.")
    return Response(as_bytes(relevance), media_type="application/octet-stream")


@router.post("/ask", dependencies=[quick])
def ask(room: Here, session: Mine, question: Question) -> dict[str, Any]:
    """What the model says of a part of the image, and of the image without it."""
    _, source, fitted = fitted_picture(room, session, question.image, question.model)
    if question.mask is not None:
        region = painted(question.mask, tuple(fitted.shape[1:]))
    else:
        found = room.tracer(f"{session.id}/{question.image}/{source}", fitted)
        if found is None:
            raise SSplainError("This image shows no vessels; paint an area instead.")
        labels = np.frombuffer(found.labels, "<u2").reshape(fitted.shape[1:])
        region = torch.from_numpy(np.isin(labels, question.branches) & (labels > 0))
    region &= (fitted > 0).any(0)
    if not bool(region.any()):
        raise SSplainError("There is nothing of the image in this area; choose or paint a part.")
    answer = asdict(room.library.ask(source, fitted, region))
    return {**answer, "share": float(region.sum() / (fitted > 0).any(0).sum())}


def painted(code: str, shape: tuple[int, ...]) -> Tensor:
    """Return a mask `(H, W)` from its bits, row by row, in base64."""
    try:
        bits = np.frombuffer(base64.b64decode(code, validate=True), np.uint8)
    except (binascii.Error, ValueError) as error:
        raise SSplainError("The painted area cannot be read; paint it again.") from error
    count = int(np.prod(shape))
    if len(bits) != -(-count // 8):
        raise SSplainError("The painted area is of another image; paint it again.")
    flat = np.unpackbits(bits, count=count, bitorder="little").astype(bool)
    return torch.from_numpy(flat.reshape(shape))


def fitted_picture(
    room: Room, session: Session, image: str, model: str
) -> tuple[Picture, str, Tensor]:
    """Return an image, the model that reads it, and the image as this model takes it."""
    picture = room.sources.picture(image, session)
    source = model or suggested(picture, room.library.sources)
    return picture, source, room.library.fit(source, picture.image)
