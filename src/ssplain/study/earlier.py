"""A shorter run of a study, to go on from.

The store finds what was made by the same code. Where a study takes days, the code changes and
machines come and go before it ends; what lasts are the values and curves in its folder.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssplain.errors import SSplainError
from ssplain.models.fingerprint import fingerprint, hash_tensor
from ssplain.report.record import Record, read_record
from ssplain.run.scene import Scene
from ssplain.study.kinds import MapStudy
from ssplain.study.results import Results, read_results


@dataclass(frozen=True, eq=False)
class Earlier:
    """What an earlier run found, and its record."""

    results: Results
    record: Record

    def parts(self) -> list[dict[str, Any]]:
        """Return how the images came about, run after run."""
        manifest = dict(self.record.manifest)
        parts = list(manifest.pop("earlier", []))
        own = {key: manifest[key] for key in ("code", "torch", "python", "threads")}
        return [*parts, {"images": self.record.images, **own}]


def earlier(study: MapStudy, scene: Scene, home: Path, *, seed: int) -> Earlier:
    """Return what an earlier run found of the first images, or say why nobody can go on from it.

    Model, images, settings and seed must be the same. The code need not be: the record will name
    both revisions, and `ssplain.study.work.do` tries out whether it still gives the same.

    Args:
        study: what is to be done.
        scene: on what.
        home: folder of all studies.
        seed: of all draws.
    """
    folder = home / study.name
    if not folder.exists():
        raise SSplainError(
            f"There is no earlier run of {study.name!r} in {home}; leave out --go-on for the first."
        )
    record, results = read_record(folder), read_results(folder, study.name)
    known, wanted = results.images, len(scene.images)
    same = {
        "settings": record.settings == json.loads(json.dumps(settings(study, scene))),
        "seed": record.manifest["seed"] == seed,
        "model": record.manifest["model"] == fingerprint(scene.network),
        "images": record.manifest["images"] == hash_tensor(scene.images[:known]),
    }
    other = [name for name, alike in same.items() if not alike]
    if known >= wanted:
        why = f"has {known} images already; give more --images."
    elif other:
        why = f"had other {' and '.join(other)}; run all images anew, without --go-on."
    elif not _has_curves(study, results):
        why = "kept no curves of its images; run all of them anew, without --go-on."
    else:
        return Earlier(results, record)
    raise SSplainError(f"The earlier run of {study.name!r} in {home} {why}")


def settings(study: MapStudy, scene: Scene) -> dict[str, Any]:
    """Return what a study is run with, by name."""
    return {
        "targets": study.targets,
        **{variant.title: variant.all_settings(scene.dataset) for variant in study.variants},
    }


def _has_curves(study: MapStudy, results: Results) -> bool:
    measured = [results.found.get(axis, {}) for axis, _ in study.axes]
    return all(v.title in by and by[v.title].curves for by in measured for v in study.variants)
