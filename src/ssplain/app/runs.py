"""Runs: one image, one class, some explainers; kept in the session's folder under an address.

A run writes what is known so far after every step, so that the page can show the first map while
the others are made, and shows the same after a reload.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssplain.app.checks import check
from ssplain.app.library import Library, Map
from ssplain.app.queue import Task
from ssplain.errors import SSplainError
from ssplain.explain import method
from ssplain.files import npz_bytes, write_whole

RESULT, IMAGE = "result.json", "image.npy"
MOST_EXPLAINERS = 6
MOST_KEPT = 100  # results of one session; the oldest make place


@dataclass(frozen=True, eq=False)
class Order:
    """What a user asked for.

    Attributes:
        picture: name of the image.
        title: what it is called.
        image: `(C, H, W)`, as the model takes it.
        label: the true class, if known.
        model: whose decision.
        explainers: names.
        target: the class; None for the predicted one.
        settings: of SSplain, where they differ from the preset.
    """

    picture: str
    title: str
    image: Tensor
    label: int | None
    model: str
    explainers: Sequence[str]
    target: int | None
    settings: Mapping[str, float]


def run(library: Library, order: Order, folder: Path, task: Task) -> None:
    """Make the maps, then check them, writing each into the folder as it is done."""
    folder.mkdir(parents=True, exist_ok=True)
    image = order.image
    np.save(folder / IMAGE, image.numpy(), allow_pickle=False)
    task.tell("Asking the model", 0.0)
    prediction = library.predict(order.model, image)
    classes = len(prediction.probabilities)
    winner = int(np.argmax(prediction.probabilities))
    target = winner if order.target is None else order.target
    if not 0 <= target < classes:
        raise SSplainError(f"The model has {classes} classes; there is no class {target}.")
    known: dict[str, Any] = {
        "image": order.picture,
        "title": order.title,
        "label": order.label,
        "model": order.model,
        "classes": library.about(order.model)["classes"] or [str(i) for i in range(classes)],
        "size": list(image.shape),
        "prediction": asdict(prediction),
        "target": target,
        "settings": dict(order.settings),
        "explainers": list(order.explainers),
        "maps": [],
    }
    _write(folder, known)
    steps = 2 * len(order.explainers)
    found: list[Map] = []
    for at, name in enumerate(order.explainers):
        title = method(name).title
        telling = _Telling(task, title, at, steps)
        telling(0, 1)
        entry: dict[str, Any] = {"name": name, "title": title}
        try:
            one = library.explain(
                order.model, image, name, target, settings=order.settings, progress=telling
            )
        except SSplainError as error:  # one that cannot work on this model does not stop the rest
            known["maps"].append(entry | {"complaint": str(error)})
            _write(folder, known)
            continue
        found.append(one)
        _write_map(folder / f"map-{at}", one, image)
        inside = one.scores[(image > 0).any(0, keepdim=True)]
        entry |= {
            "file": at,
            "seconds": one.seconds,
            "settings": one.settings,
            "history": one.history,
            "low": float(inside.min()),
            "high": float(inside.max()),
        }
        known["maps"].append(entry)
        _write(folder, known)
    for one in found:
        at = list(order.explainers).index(one.name)
        telling = _Telling(
            task, f"Checking {method(one.name).title}", len(order.explainers) + at, steps
        )
        telling(0, 1)
        known["maps"][at]["checks"] = asdict(
            check(library, order.model, image, one, target, progress=telling)
        )
        _write(folder, known)


def read(folder: Path) -> dict[str, Any] | None:
    """Return what a run has written so far."""
    path = folder / RESULT
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def image_of(folder: Path) -> Tensor:
    """Return the image of a run, `(C, H, W)`."""
    return torch.from_numpy(np.load(folder / IMAGE, allow_pickle=False))


def arrays(folder: Path) -> dict[str, np.ndarray]:
    """Return a run as arrays: the image, and scores, rank and kept pixels of each explainer."""
    result = read(folder) or {"maps": []}
    found = {"image": np.load(folder / IMAGE, allow_pickle=False)}
    for one in result["maps"]:
        if "file" in one:
            with np.load(folder / f"map-{one['file']}.npz", allow_pickle=False) as stored:
                found |= {f"{one['name']}/{key}": stored[key] for key in stored.files}
    return found


def make_place(home: Path) -> None:
    """Delete the oldest results of a session beyond what it may keep."""
    kept = sorted(home.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in kept[: max(0, len(kept) - MOST_KEPT + 1)]:
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class _Telling:
    """Turns the progress of one step into that of the run."""

    task: Task
    stage: str
    at: int
    steps: int

    def __call__(self, done: float, total: float, what: str = "", /) -> None:
        del what
        self.task.tell(self.stage, (self.at + done / max(1, total)) / self.steps)


def _write(folder: Path, known: Mapping[str, Any]) -> None:
    write_whole(folder / RESULT, json.dumps(known).encode())


def _write_map(path: Path, one: Map, image: Tensor) -> None:
    """Write a map twice: as arrays for the user, as bytes for the page.

    The page's file holds, for each pixel, its rank (32 bits), its score from the lowest to the
    highest of the support (16 bits), and whether it is kept (8 bits).
    """
    inside = (image > 0).any(0, keepdim=True)
    scores = one.scores.double().cpu()
    low, high = float(scores[inside].min()), float(scores[inside].max())
    span = high - low
    level = (scores - low) / span if span > 0 else torch.full_like(scores, 0.5)
    level = (level.clamp(0, 1) * inside * 65535).round()
    planes = (
        one.rank.numpy().astype("<u4"),
        level.numpy().astype("<u2"),
        one.kept.numpy().astype("u1"),
    )
    write_whole(path.with_suffix(".bin"), b"".join(plane.tobytes() for plane in planes))
    arrays = {"scores": one.scores, "rank": one.rank, "kept": one.kept}
    content = npz_bytes({name: tensor.numpy() for name, tensor in arrays.items()})
    write_whole(path.with_suffix(".npz"), content)
