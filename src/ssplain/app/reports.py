"""What users take home as files that stand by themselves: the one-file report, and DICOM."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ssplain.desk import runs
from ssplain.desk.subject import load_arrays
from ssplain.errors import SSplainError
from ssplain.jobs.report import eye_facts
from ssplain.pages.results import Explained, chance, results_page
from ssplain.report.dicom import nobodys_files

MOST = 20  # results of one report


def report(results: Sequence[Explained]) -> bytes:
    """Return results as one HTML page."""
    if not results:
        raise SSplainError("There is no finished result to report yet; explain an image first.")
    titles = list(dict.fromkeys(one.title for one in results))
    title = titles[0] if len(titles) == 1 else f"{len(results)} explained images"
    return results_page(title, results, "Made in the ssplain reading room.").encode()


def of_run(folder: Path) -> Explained | None:
    """Return a run as the report takes it; None if it has no map yet."""
    result = runs.read(folder)
    if result is None or not any("file" in one for one in result["maps"]):
        return None
    image = load_arrays(folder / runs.IMAGE)
    planes = {
        one["title"]: (folder / f"map-{one['file']}.bin").read_bytes()
        for one in result["maps"]
        if "file" in one
    }
    return explained(result, image["image"], image["inside"], planes)


def explained(
    result: Mapping[str, Any],
    shown: NDArray[Any],
    inside: NDArray[np.bool_],
    planes: Mapping[str, bytes],
) -> Explained:
    """Return a result as the report takes it.

    Args:
        result: as `ssplain.desk.runs.read` gives it.
        shown: `(C, H, W)`, bytes or in [0, 1].
        inside: `(H, W)`.
        planes: by the explainer's title, as `ssplain.desk.subject.layer` makes them.
    """
    maps = {name: -_ranks(found, inside.shape).astype(np.float64) for name, found in planes.items()}
    picture = _bytes(shown)
    return Explained(
        result["title"],
        picture[0] if len(picture) == 1 else np.ascontiguousarray(picture.transpose(1, 2, 0)),
        inside,
        maps,
        _facts(result),
        tuple(_warnings(result)),
    )


def dicom_names(result: Mapping[str, Any] | None) -> list[str]:
    """Return the names of the DICOM files that a result can be taken home as."""
    if result is None or find_spec("highdicom") is None:
        return []
    made = [one["file"] for one in result["maps"] if "file" in one]
    return [f"{kind}-{at}.dcm" for at in made for kind in ("overlay", "map")]


def dicom(folder: Path, name: str) -> bytes:
    """Return one of the DICOM files of a run; it names no patient and is in a study of its own."""
    result = runs.read(folder)
    if result is None or name not in dicom_names(result):
        raise SSplainError("There is no such file of this result.")
    kind, _, at = name.removesuffix(".dcm").partition("-")
    one = next(one for one in result["maps"] if one.get("file") == int(at))
    stored = load_arrays(folder / runs.IMAGE)
    inside = stored["inside"]
    content = (folder / f"map-{at}.bin").read_bytes()
    level = np.frombuffer(content, "<u2", inside.size, offset=4 * inside.size)
    scores = one["low"] + (one["high"] - one["low"]) * level.reshape(inside.shape) / 65535
    image = torch.from_numpy(_bytes(stored["image"]).astype(np.float32) / 255)
    files = nobodys_files(
        image,
        torch.from_numpy(np.where(inside, scores, 0.0).astype(np.float32))[None],
        torch.from_numpy(inside)[None],
        f"{result['model']}: {one['title']}",
    )
    return files[f"{kind}.dcm"]


def _bytes(shown: NDArray[Any]) -> NDArray[np.uint8]:
    if shown.dtype == np.uint8:
        return shown
    scaled: NDArray[np.uint8] = (255 * shown.clip(0, 1)).round().astype(np.uint8)
    return scaled


def _ranks(planes: bytes, shape: tuple[int, ...]) -> NDArray[np.uint32]:
    return np.frombuffer(planes, "<u4", int(np.prod(shape))).reshape(shape)


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    said, classes, target = result["prediction"], result["classes"], result["target"]
    p = said["probabilities"]
    winner = max(range(len(p)), key=p.__getitem__)
    facts = {
        "model": str(result["model"]),
        "model says": f"{classes[winner]} ({chance(p[winner])})",
    }
    if target != winner:
        facts["explained"] = f"{classes[target]} ({chance(p[target])})"
    if result["label"] is not None:
        facts["known to be"] = str(classes[result["label"]])
    if result.get("reading"):
        facts |= eye_facts(result["reading"])
    elif said["severity"] is not None:
        facts["severity, 1 to 9"] = f"{said['severity']:.1f}"
    for one in result["maps"]:
        checks = one.get("checks")
        if checks:
            only, without = chance(checks["only"]), chance(checks["without"])
            facts[one["title"]] = f"{only} with only its pixels, {without} without them"
    return facts


def _warnings(result: Mapping[str, Any]) -> list[str]:
    found = []
    for one in result["maps"]:
        why = [one["complaint"]] if "complaint" in one else one.get("checks", {}).get("complaints")
        if why:
            found.append(f"Do not rely on the map of {one['title']}. {' '.join(why)}")
    return found + list((result.get("reading") or {}).get("warnings", ()))
