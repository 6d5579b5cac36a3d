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

from ssplain.data import resize
from ssplain.desk import uploads
from ssplain.desk.library import SETTINGS, thumbnail
from ssplain.desk.room import Looked, Room
from ssplain.desk.session import COOKIE, Session
from ssplain.desk.sources import SETS, as_bytes, truth
from ssplain.desk.subject import Subject
from ssplain.errors import SSplainError
from ssplain.explain import PRESETS
from ssplain.pages.reading import vessel_bytes
from ssplain.reading.photograph import LARGEST
from ssplain.report.render import png_bytes
from ssplain.version import __version__

router = APIRouter(prefix="/api")
COLOURS = ("inferno", "viridis", "cividis")
_OTHERS = {"folder": ("Folder", "Image", ""), "job": ("Finished job", "Image", "")}
Name = Annotated[str, Query(max_length=80)]
Model = Annotated[str, Query(max_length=200)]


def room_of(request: Request) -> Room:
    """Return the room that was asked."""
    room: Room = request.app.state.room
    return room


def session_of(request: Request) -> Session:
    """Return the session that asks; the page has started it."""
    found = room_of(request).sessions.find(request.cookies.get(COOKIE))
    if found is None:
        raise HTTPException(403, "Open the room's first page; your session has ended.")
    return found


def place_in(request: Request) -> Iterator[None]:
    """Limit how many quick questions are answered at the same time."""
    room = room_of(request)
    room.attend()
    if not room.places.acquire(timeout=20):
        raise HTTPException(429, "The room is busy; try again in a moment.")
    try:
        yield
    finally:
        room.places.release()


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
    """Return what the page needs to know at first."""
    return {
        "version": __version__,
        "models": [room.library.about(name) for name in room.library.sources],
        "explainers": room.library.explainers(),
        "presets": PRESETS,
        "ranges": SETTINGS,
        "sets": [
            {"name": name, "count": count, "title": title, "one": one}
            for name, count in room.sources.counts().items()
            for title, one, _ in [SETS.get(name, _OTHERS.get(name, ("", "", "")))]
        ],
        "colours": {
            name: (colormaps[name](np.arange(256))[:, :3] * 255).astype(int).ravel().tolist()
            for name in COLOURS
        },
        "limits": {"bytes": uploads.MOST_BYTES, "pixels": uploads.MOST_PIXELS},
    }


@router.get("/thumb", dependencies=[quick])
def thumb(room: Here, session: Mine, image: Name) -> Response:
    """Return a small picture of an image."""
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
    with NamedTemporaryFile(dir=session.home("arriving")) as file:
        await uploads.receive(request.stream(), file.file)
        key = await run_in_threadpool(uploads.keep, session, Path(file.name), name)
    return {"image": f"upload/{key}"}


@router.get("/look", dependencies=[quick])
def look(room: Here, session: Mine, image: Name, model: Model = "") -> dict[str, Any]:
    """Return what the model says of an image, and what else is known of it."""
    looked = room.look_at(session, image, model)
    picture, subject = looked.picture, looked.subject
    said = room.prediction(looked)
    found = None if subject is None else room.tracer(_key(session, looked), subject)
    drawn = subject is not None and not bool((subject.inside == (subject.shown > 0).any(0)).all())
    count = len(said.probabilities) if said else 0
    planted_in = truth(image)
    return {
        "image": image,
        "title": picture.title,
        "label": picture.label,
        "model": looked.model,
        "size": list(_shown(looked).shape),
        "given": list(picture.image.shape),
        "unread": subject is None,
        "run": _under_way(session, image) if subject is None else None,
        "photograph": subject is None or subject.photograph,
        "drawn": drawn,
        "reading": None if subject is None else subject.reading,
        "stored": subject is not None and subject is picture.subject,
        "prediction": None if said is None else asdict(said),
        "classes": room.classes(looked, count),
        "outside": _outside(room, looked),
        "branches": found.branches if found else [],
        "truth": planted_in is not None and planted_in.shape == _shown(looked).shape[1:],
    }


@router.get("/pixels", dependencies=[quick])
def pixels(room: Here, session: Mine, image: Name, model: Model = "") -> Response:
    """Return the image as it is shown: one byte per channel and pixel."""
    return _bytes(as_bytes(_shown(room.look_at(session, image, model))))


@router.get("/drawn", dependencies=[quick])
def drawn(room: Here, session: Mine, image: Name, model: Model = "") -> Response:
    """Return the pixels that maps cover, where that is not obvious: one byte each, 0 elsewhere."""
    subject = _subject(room.look_at(session, image, model))
    plane = subject.inside.float() if subject.vessels is None else subject.vessels
    return _bytes(vessel_bytes(plane.numpy()).tobytes())


@router.get("/branches", dependencies=[quick])
def branches(room: Here, session: Mine, image: Name, model: Model = "") -> Response:
    """Which branch each pixel belongs to: 16 bits per pixel."""
    looked = room.look_at(session, image, model)
    found = room.tracer(_key(session, looked), _subject(looked))
    if found is None:
        raise SSplainError("This image shows no vessels.")
    return _bytes(found.labels)


@router.get("/truth")
def planted(image: Name) -> Response:
    """Where disease was planted into a simulated eye: one byte per pixel."""
    relevance = truth(image)
    if relevance is None:
        raise SSplainError("Nothing is known about this image beyond its pixels.")
    return _bytes(as_bytes(relevance))


@router.post("/ask", dependencies=[quick])
def ask(room: Here, session: Mine, question: Question) -> dict[str, Any]:
    """Return what the model says of a part of the image, and of the image without it."""
    looked = room.look_at(session, question.image, question.model)
    subject = _subject(looked)
    size = tuple(subject.inside.shape)
    if question.mask is not None:
        region = painted(question.mask, size)
    else:
        found = room.tracer(_key(session, looked), subject)
        if found is None:
            raise SSplainError("This image shows no vessels; paint an area instead.")
        labels = np.frombuffer(found.labels, "<u2").reshape(size)
        region = torch.from_numpy(np.isin(labels, question.branches) & (labels > 0))
    region &= subject.inside
    if not bool(region.any()):
        raise SSplainError("There is nothing of the image in this area; choose or paint a part.")
    answer = asdict(room.library.ask(looked.model, subject, region))
    return {**answer, "share": float(region.sum() / subject.inside.sum())}


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


def _subject(looked: Looked) -> Subject:
    """Return an image as it is shown and taken.

    Raises:
        SSplainError: if it is a photograph that nobody has read yet.
    """
    if looked.subject is None:
        raise SSplainError(f"{looked.picture.title} has not been read yet; wait until it is.")
    return looked.subject


def _shown(looked: Looked) -> Tensor:
    """Return the image that the page shows; a photograph that is still to be read, made smaller."""
    if looked.subject is not None:
        return looked.subject.shown
    image = looked.picture.image
    scale = min(1.0, LARGEST / max(image.shape[1:]))
    return resize(image, (round(image.shape[1] * scale), round(image.shape[2] * scale)))


def _under_way(session: Session, image: str) -> str | None:
    """Return the address of a run that is working on this image."""
    busy = (
        key
        for key, task in session.tasks.items()
        if task.about.get("image") == image and task.state in {"waiting", "running"}
    )
    return next(busy, None)


def _outside(room: Room, looked: Looked) -> list[str]:
    """Return why the model may not apply to an image; nothing if it was read or done by a job."""
    subject = looked.subject
    if subject is None or subject.reading is not None or subject is looked.picture.subject:
        return []
    return room.library.outside(looked.model, subject.taken)


def _key(session: Session, looked: Looked) -> str:
    return f"{session.id}/{looked.picture.name}/{looked.model}"


def _bytes(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")
