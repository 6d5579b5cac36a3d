"""From a name to a finished study on the bundled models and images."""

from collections.abc import Sequence
from pathlib import Path

from ssplain.data import DATASETS
from ssplain.errors import SSplainError
from ssplain.models.card import BUNDLED
from ssplain.progress import Progress
from ssplain.report.record import Record
from ssplain.run.scene import bundled_scene
from ssplain.study.declare import IMAGES, STUDIES, declared
from ssplain.study.engine import run
from ssplain.study.kinds import MapStudy, SanityStudy, StabilityStudy, TimesStudy
from ssplain.study.sanity import run_sanity
from ssplain.study.stability import run_stability
from ssplain.study.times import run_times

EVERY = "all"


def named(name: str) -> Sequence[str]:
    """Return the studies that a name stands for.

    >>> named("mnist"), len(named("all")) > 12
    (['mnist'], True)
    """
    return list(STUDIES) if name == EVERY else [declared(name).name]


def reproduce(
    name: str,
    home: Path,
    *,
    images: int | None = None,
    seed: int = 0,
    go_on: bool = False,
    progress: Progress | None = None,
) -> Record:
    """Run a study on the bundled images.

    Args:
        name: of the study.
        home: folder of all studies.
        images: at most this many; None for as many as the paper has.
        seed: of all draws.
        go_on: whether to take the first images from an earlier, shorter run in this folder.
        progress: as in `ssplain.study.work.do`.
    """
    study = declared(name)
    if go_on and not isinstance(study, MapStudy):
        raise SSplainError(f"{name!r} cannot be gone on with; run it anew, without --go-on.")
    scenes = {
        dataset: bundled_scene(dataset, images or IMAGES[dataset])
        for dataset in study.datasets
        if DATASETS.find(dataset).model in BUNDLED
    }
    match study:
        case MapStudy():
            scene = scenes[study.dataset]
            return run(study, scene, home, seed=seed, go_on=go_on, progress=progress)
        case SanityStudy():
            return run_sanity(study, scenes[study.dataset], home, seed=seed, progress=progress)
        case TimesStudy():
            return run_times(study, scenes, home, seed=seed, progress=progress)
        case StabilityStudy():
            return run_stability(study, scenes, home, seed=seed, progress=progress)
        case _:
            raise TypeError(f"{type(study).__name__} is no kind of study that can be run")
