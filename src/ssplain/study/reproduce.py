"""From a name to a finished study: loads what is bundled, runs, and updates the ledger."""

from collections.abc import Sequence
from pathlib import Path

from ssplain.models.card import BUNDLED
from ssplain.progress import Progress
from ssplain.report.record import Record
from ssplain.run import Scene, bundled_scene
from ssplain.run.scene import MODELS
from ssplain.study.declare import IMAGES, STUDIES, declared
from ssplain.study.engine import run
from ssplain.study.ledger import update_ledger
from ssplain.study.sanity import run_sanity
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
    progress: Progress | None = None,
) -> Record:
    """Run a study on the bundled images and update the ledger.

    Args:
        name: of the study.
        home: folder of all studies.
        images: at most so many; None for as many as the paper has.
        seed: of all draws.
        progress: as in `ssplain.study.work.do`.
    """
    study = declared(name)
    if study.kind == "times":

        def scenes(dataset: str) -> Scene | None:
            if MODELS[dataset] not in BUNDLED:
                return None
            return bundled_scene(dataset, images or IMAGES[dataset])

        record = run_times(study, scenes, home, seed=seed, progress=progress)
    else:
        scene = bundled_scene(study.dataset, images or study.images)
        work = run_sanity if study.kind == "sanity" else run
        record = work(study, scene, home, seed=seed, progress=progress)
    update_ledger(home)
    return record
