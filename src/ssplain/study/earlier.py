"""A shorter run of a study, to go on from.

The store finds what was made by the same code. Where a study takes days, the code changes and
machines come and go before it ends; what lasts are the values and curves in its folder.
"""

import json
from dataclasses import dataclass, replace
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
    """What an earlier run found, and its record.

    Attributes:
        results: of the explainers that still have the same settings.
        record: of the run.
    """

    results: Results
    record: Record

    def parts(self) -> list[dict[str, Any]]:
        """Return how the images came about, run after run, for the explainers that are kept."""
        manifest = dict(self.record.manifest)
        own = {key: manifest[key] for key in ("code", "torch", "python", "threads")}
        parts = [*manifest.pop("earlier", []), {"images": self.record.images, **own}]
        kept = {"measures"}.union(*self.results.found.values())
        return [
            part | {"code": {title: code for title, code in part["code"].items() if title in kept}}
            for part in parts
        ]


def earlier(study: MapStudy, scene: Scene, home: Path, *, seed: int) -> Earlier:
    """Return what an earlier run found of the first images, or say why nobody can go on from it.

    Model, images and seed must be the same, and the settings of at least one explainer; those with
    other settings, and new ones, have to be done anew. The code need not be the same: the record
    will name both revisions, and `ssplain.study.work.do` tries out whether it still gives the same.

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
    record = read_record(folder)
    results = _kept(study, scene, record, read_results(folder, study.name))
    known, wanted = results.images, len(scene.images)
    same = {
        "settings": any(results.found.values()),
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


def _kept(study: MapStudy, scene: Scene, record: Record, results: Results) -> Results:
    """Leave out the explainers that are not run as they were then."""
    now = json.loads(json.dumps(settings(study, scene)))
    kept = {v.title for v in study.variants if record.settings.get(v.title) == now[v.title]}
    # where maps are compared with those of the first explainer, all have to be there
    some = "agreement" not in study.exhibits or len(kept) == len(study.variants)
    if record.settings["targets"] != now["targets"] or not some:
        kept = set()
    found = {
        group: {title: one for title, one in by.items() if title in kept}
        for group, by in results.found.items()
    }
    return replace(results, found=found)


def _has_curves(study: MapStudy, results: Results) -> bool:
    measured = [results.found.get(axis, {}) for axis, _ in study.axes]
    return all(by and all(one.curves for one in by.values()) for by in measured)
