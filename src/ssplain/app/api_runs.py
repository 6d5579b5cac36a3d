"""Runs: starting, watching, stopping, and taking their results home."""

import io
from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from ssplain.app import reports, tables
from ssplain.app.api_images import Here, Mine, quick
from ssplain.desk import runs
from ssplain.desk.library import checked
from ssplain.desk.queue import Task, Work
from ssplain.explain import method

router = APIRouter(prefix="/api/runs")
Number = Annotated[float, Field(allow_inf_nan=False)]


class Wanted(BaseModel):
    """What to explain, and how."""

    image: str = Field(max_length=80)
    model: str = Field(default="", max_length=200)
    explainers: list[str] = Field(min_length=1, max_length=runs.MOST_EXPLAINERS)
    target: int | None = Field(default=None, ge=0, lt=100_000)
    settings: dict[str, Number] = Field(default={}, max_length=10)


@router.post("")
def start(room: Here, session: Mine, wanted: Wanted) -> dict[str, str]:
    """Queue a run; its address is in the answer."""
    names = list(dict.fromkeys(wanted.explainers))
    for name in names:
        method(name)
    checked(wanted.settings)
    looked = room.look_at(session, wanted.image, wanted.model)
    source = looked.model
    room.library.about(source)  # complains if the room has no such model
    order = runs.Order(
        picture=wanted.image,
        title=looked.picture.title,
        label=looked.picture.label,
        model=source,
        explainers=names,
        target=wanted.target,
        settings=wanted.settings,
    )
    home = session.home("results")
    runs.make_place(home)

    def work(task: Task) -> Work | None:
        # the image is brought when its turn comes: those that wait hold no memory
        look = partial(room.bring, session, wanted.image, source)
        return runs.run(room.library, order, look, home / task.id, task)

    task = room.queue.submit(work, session.id)
    task.about = {"image": wanted.image, "model": source, "wanted": wanted.model_dump()}
    session.tasks[task.id] = task
    while len(session.tasks) > runs.MOST_KEPT:
        del session.tasks[next(iter(session.tasks))]
    return {"run": task.id}


@router.get("")
def recent(session: Mine) -> list[dict[str, Any]]:
    """Return this session's runs, the newest first."""
    found = []
    for key, task in reversed(session.tasks.items()):
        result = runs.read(session.folder / "results" / key)
        if result is not None:
            names = [one["title"] for one in result["maps"]]
            kept = {name: result[name] for name in ("image", "title", "model")}
            found.append({"run": key, "state": task.state, "explainers": names, **kept})
    return found


@router.get("/report.html", dependencies=[quick])
def together(session: Mine) -> Response:
    """Return the newest results of this session as one page."""
    folders = [session.folder / "results" / key for key in reversed(session.tasks)]
    found = [one for folder in folders if (one := reports.of_run(folder)) is not None]
    content = reports.report(found[: reports.MOST])
    return tables.download(content, "text/html; charset=utf-8", "ssplain-report.html")


@router.get("/{run}")
def watch(room: Here, session: Mine, run: str) -> dict[str, Any]:
    """How far along a run is, and what it has found so far."""
    task = _task(session, run)
    result = runs.read(session.folder / "results" / run)
    return {
        **task.about,
        "run": run,
        "state": task.state,
        "stage": task.stage,
        "done": task.done,
        "message": task.message,
        "position": room.queue.position(task),
        "files": reports.dicom_names(result),
        "result": result,
    }


@router.post("/{run}/stop")
def stop(room: Here, session: Mine, run: str) -> dict[str, str]:
    """Stop a run; what it has found so far stays."""
    task = _task(session, run)
    room.queue.stop(task)
    return {"run": run}


@router.get("/{run}/maps/{index}")
def planes(session: Mine, run: str, index: int) -> Response:
    """One map for the page: rank, score and kept, see `ssplain.desk.runs`."""
    path = session.find("results", run) / f"map-{index}.bin"
    if not 0 <= index < runs.MOST_EXPLAINERS or not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, media_type="application/octet-stream")


@router.get("/{run}/maps.npz")
def arrays(session: Mine, run: str) -> Response:
    """Everything as arrays."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **runs.arrays(session.find("results", run)))  # type: ignore[arg-type]
    return tables.download(buffer.getvalue(), "application/zip", "ssplain-maps.npz")


@router.get("/{run}/table.csv")
def table(session: Mine, run: str) -> Response:
    """One line per explainer: what the model says, and how the map did."""
    result = runs.read(session.find("results", run))
    if result is None:
        raise HTTPException(404)
    return tables.download(tables.of_result(result), "text/csv; charset=utf-8", "ssplain-table.csv")


@router.get("/{run}/report.html", dependencies=[quick])
def report(session: Mine, run: str) -> Response:
    """Return the result as one page that needs no room and no network."""
    found = reports.of_run(session.find("results", run))
    content = reports.report([] if found is None else [found])
    return tables.download(content, "text/html; charset=utf-8", "ssplain-report.html")


@router.get("/{run}/files/{name}", dependencies=[quick])
def file(session: Mine, run: str, name: str) -> Response:
    """Return a map as DICOM, without any patient's name."""
    content = reports.dicom(session.find("results", run), name)
    return tables.download(content, "application/dicom", name)


def _task(session: Mine, run: str) -> Task:
    if run not in session.tasks:
        raise HTTPException(404)
    return session.tasks[run]
