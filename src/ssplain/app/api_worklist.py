"""The worklist, and what readers say of its images."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from ssplain.app.api_images import Here, Mine, Name, quick
from ssplain.app.tables import download
from ssplain.desk.grades import Grade
from ssplain.errors import SSplainError

router = APIRouter(prefix="/api")
Reader = Annotated[str, Query(max_length=40)]
UNGRADED = "cannot be graded"


class Opinion(BaseModel):
    """A reader's grade of an image."""

    image: str = Field(max_length=80)
    reader: str = Field(default="", max_length=40)
    grade: str = Field(min_length=1, max_length=80)
    note: str = Field(default="", max_length=2000)
    blind: bool = False


@router.get("/worklist/{source}")
def worklist(
    room: Here, _: Mine, request: Request, source: str, reader: Reader = ""
) -> dict[str, Any]:
    """Every image of a set: what the model says of it, and this reader's grade."""
    rows = room.worklist.rows(source)
    room.queue.wake()
    given = room.grades.last(who(request, reader))
    return {
        "source": source,
        "reader": who(request, reader),
        "waiting": sum(row.state == "waiting" for row in rows),
        "total": room.sources.counts()[source],
        "rows": [asdict(row) | _opinion(given.get(row.key)) for row in rows],
    }


@router.get("/grades", dependencies=[quick])
def graded(
    room: Here, _: Mine, request: Request, image: Name, reader: Reader = ""
) -> dict[str, Any]:
    """Return what can be said of an image, and what this reader has said."""
    row = room.worklist.row(image)
    given = room.grades.last(who(request, reader)).get(row.key)
    return {"choices": [*row.classes, UNGRADED], **_opinion(given)}


@router.post("/grades", dependencies=[quick])
def give(room: Here, _: Mine, request: Request, opinion: Opinion) -> dict[str, Any]:
    """Keep a reader's grade."""
    reader = who(request, opinion.reader)
    if not reader:
        raise SSplainError("Write your name or initials first: grades are kept by reader.")
    row = room.worklist.row(opinion.image)
    if not row.key:
        raise SSplainError(f"{row.title} cannot be graded: {row.message}")
    if opinion.grade not in (*row.classes, UNGRADED):
        raise SSplainError(f"{opinion.grade!r} is not a grade of this image; choose one shown.")
    grade = Grade(
        image=row.key,
        title=row.title,
        reader=reader,
        grade=opinion.grade,
        note=opinion.note,
        blind=opinion.blind,
        model=row.model,
        decision=row.decision,
    )
    room.grades.give(grade)
    return _opinion(grade)


@router.get("/grades.csv")
def table(room: Here, _: Mine, request: Request, reader: Reader = "") -> Response:
    """Every grade that this reader has given."""
    content = room.grades.table(who(request, reader)).encode()
    return download(content, "text/csv; charset=utf-8", "ssplain-grades.csv")


def who(request: Request, named: str) -> str:
    """Return the reader: who signed in, or else the name on the page."""
    return str(request.scope.get("ssplain.user") or named.strip())


def _opinion(given: Grade | None) -> dict[str, Any]:
    if given is None:
        return {"grade": None, "note": "", "blind": False}
    return {"grade": given.grade, "note": given.note, "blind": given.blind}
