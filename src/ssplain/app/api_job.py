"""The results of a job: shown at addresses like those of the room's own runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException
from fastapi.responses import Response

from ssplain.app import reports, tables
from ssplain.app.api_images import Here, Mine, quick
from ssplain.desk.job import Job
from ssplain.explain.result import ARRAYS
from ssplain.jobs.report import job_page
from ssplain.jobs.state import open_job
from ssplain.pages.reading import ARRAYS as READING

router = APIRouter(prefix="/api/job", dependencies=[quick])
# what a job may have written for an image, and what it is
FILES = {
    "overlay.dcm": "application/dicom",
    "map.dcm": "application/dicom",
    "eye.html": "text/html; charset=utf-8",
    "reading.json": "application/json",
}


def job_of(room: Here, _: Mine) -> Job:
    """Return the job of the room."""
    if room.sources.job is None:
        raise HTTPException(404)
    return room.sources.job


Done = Annotated[Job, Depends(job_of)]


@router.get("/report.html")
def together(job: Done) -> Response:
    """Return the whole job, or its first images, as one page."""
    with open_job(job.folder) as index:
        content = job_page(index, job.root).encode()
    return tables.download(content, "text/html; charset=utf-8", "ssplain-report.html")


@router.get("/{number}")
def watch(job: Done, number: int) -> dict[str, Any]:
    """Return what the job has found, as of a run that is done."""
    files = sorted(job.files(number) & set(FILES))
    return {"state": "done", "message": "", "files": files, "result": job.result(number)}


@router.get("/{number}/maps/0")
def planes(job: Done, number: int) -> Response:
    """Return the map, see `ssplain.desk.subject.layer`."""
    return Response(job.map(number), media_type="application/octet-stream")


@router.get("/{number}/maps.npz")
def arrays(job: Done, number: int) -> Response:
    """Everything as arrays, as the job wrote them."""
    name = READING if job.kind == "read" else ARRAYS
    return tables.download(job.file(number, name), "application/zip", "ssplain-maps.npz")


@router.get("/{number}/table.csv")
def table(job: Done, number: int) -> Response:
    """Return what the model says, and how the map did."""
    content = tables.of_result(job.result(number))
    return tables.download(content, "text/csv; charset=utf-8", "ssplain-table.csv")


@router.get("/{number}/report.html")
def report(job: Done, number: int) -> Response:
    """Return the result as one page that needs no room and no network."""
    result, subject = job.result(number), job.subject(number)
    planes = {result["maps"][0]["title"]: job.map(number)}
    shown = reports.explained(result, subject.shown.numpy(), subject.inside.numpy(), planes)
    content = reports.report([shown])
    return tables.download(content, "text/html; charset=utf-8", "ssplain-report.html")


@router.get("/{number}/files/{name}")
def file(job: Done, number: int, name: str) -> Response:
    """Another file that the job wrote for an image; always saved, never opened in the room."""
    if name not in FILES:
        raise HTTPException(404)
    return tables.download(job.file(number, name), FILES[name], name)
