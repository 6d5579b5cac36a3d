"""Runs a declared study: maps and measures, figures and tables, and the record at the end."""

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ssplain.explain.registry import method
from ssplain.metrics import evaluate
from ssplain.models.fingerprint import fingerprint, hash_tensor
from ssplain.progress import Progress
from ssplain.report.record import Exhibit, Record, write_record
from ssplain.run.revision import revision
from ssplain.run.scene import Scene
from ssplain.run.store import Store
from ssplain.study.earlier import earlier, settings
from ssplain.study.exhibits import EXHIBITS, write_examples
from ssplain.study.kinds import MapStudy, Study
from ssplain.study.results import Found, Results, write_results
from ssplain.study.style import style
from ssplain.study.work import do
from ssplain.version import __version__


def run(
    study: MapStudy,
    scene: Scene,
    home: Path,
    *,
    seed: int = 0,
    go_on: bool = False,
    progress: Progress | None = None,
) -> Record:
    """Run a study and write its folder; the record comes last.

    Args:
        study: what to do.
        scene: model and images.
        home: folder of all studies; the store is in it.
        seed: of all draws.
        go_on: whether to take the first images from an earlier, shorter run in this folder.
        progress: as in `ssplain.study.work.do`.
    """
    past = earlier(study, scene, home, seed=seed) if go_on else None
    before = None if past is None else past.results
    work = do(study, scene, Store(home / "store"), seed=seed, before=before, progress=progress)
    about = manifest(study, scene, seed)
    if past is not None:
        about |= {"earlier": past.parts(), "drift": work.drift}
    folder = home / study.name
    with style():
        shown = [one for name in study.exhibits for one in EXHIBITS[name](work, folder)]
    return finish(
        study,
        home,
        work.found,
        shown,
        images=len(scene.images),
        settings=settings(study, scene),
        manifest=about,
        seconds=work.seconds + (0 if past is None else past.record.seconds),
        examples=write_examples(work, folder) if study.examples else None,
    )


def finish(
    study: Study,
    home: Path,
    found: Found,
    shown: Sequence[Exhibit],
    *,
    images: int,
    settings: Mapping[str, Any],
    manifest: Mapping[str, Any],
    seconds: float,
    examples: str | None = None,
) -> Record:
    """Write the values of each image and then the record, which says that the study is whole."""
    folder = home / study.name
    # what has fewer images than were declared may be gone on with
    write_results(folder, Results(study.name, images, found), curves=images < study.images)
    record = Record(
        name=study.name,
        title=study.title,
        where=study.where,
        dataset=study.dataset,
        images=images,
        settings=settings,
        manifest=manifest,
        seconds=round(seconds, 1),
        figures=tuple(one for one in shown if not one.file.endswith(".csv")),
        tables=tuple(one for one in shown if one.file.endswith(".csv")),
        examples=examples,
    )
    write_record(folder, record)
    return record


def manifest(study: Study, scene: Scene, seed: int) -> dict[str, Any]:
    """Return what the results depend on, beside the settings."""
    modules = {v.title: method(v.method).builder().__module__ for v in study.variants}
    return {
        "ssplain": __version__,
        "code": {
            "measures": revision(evaluate.__module__),
            **{title: revision(module) for title, module in modules.items()},
        },
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "model": fingerprint(scene.network),
        "images": hash_tensor(scene.images),
        "seed": seed,
    }
