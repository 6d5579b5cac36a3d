"""Runs: one image, one class, some explainers; kept in the session's folder under an address.

A run writes what is known so far after every step, so that the page can show the first map while
the others are made, and shows the same after a reload.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ssplain.desk import scales
from ssplain.desk.checks import check
from ssplain.desk.library import Library, Map, Prediction
from ssplain.desk.queue import Task, Work
from ssplain.desk.subject import Subject, layer, load_arrays
from ssplain.errors import SSplainError
from ssplain.explain import method
from ssplain.files import npz_bytes, write_whole
from ssplain.progress import Progress

RESULT, IMAGE = "result.json", "image.npz"
MOST_EXPLAINERS = 6
MOST_KEPT = 100  # results of one session; the oldest make room


@dataclass(frozen=True, eq=False)
class Order:
    """What a user asked for.

    Attributes:
        picture: name of the image.
        title: what it is called.
        label: the true class, if known.
        model: whose decision.
        explainers: names.
        target: the class; None for the predicted one.
        settings: of SSplain, where they differ from the preset.
    """

    picture: str
    title: str
    label: int | None
    model: str
    explainers: Sequence[str]
    target: int | None
    settings: Mapping[str, float]


def run(
    library: Library,
    order: Order,
    look: Callable[[Progress], tuple[Subject, Mapping[str, Map]]],
    folder: Path,
    task: Task,
) -> Work | None:
    """Make the maps, writing each into the folder as it is done, and return how to check them.

    Args:
        library: of the room.
        order: what to do.
        look: brings the image, and maps that are there already; a photograph is read now.
        folder: where results go.
        task: told how far it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    steps = 1 + 2 * len(order.explainers)
    task.tell("Looking at the image", 0.0)
    subject, ready = look(_Telling(task, "", 0, steps))
    image, asked = subject.taken, scales.asked(order.model, subject)
    write_whole(folder / IMAGE, npz_bytes(_image(subject)))
    prediction = (
        library.predict(order.model, image)
        if subject.reading is None
        else Prediction.of_reading(subject.reading)
    )
    classes = len(prediction.probabilities)
    target = prediction.winner if order.target is None else order.target
    if not 0 <= target < classes:
        raise SSplainError(f"The model has {classes} classes; there is no class {target}.")
    known: dict[str, Any] = {
        "image": order.picture,
        "title": order.title,
        "label": order.label,
        "model": order.model,
        "classes": library.about(order.model)["classes"] or [str(i) for i in range(classes)],
        "size": list(subject.shown.shape),
        "prediction": asdict(prediction),
        "target": target,
        "reading": subject.reading,
        "settings": dict(order.settings),
        "explainers": list(order.explainers),
        "maps": [],
    }
    _write(folder, known)
    found: list[Map] = []
    for at, name in enumerate(order.explainers):
        title = method(name).title
        telling = _Telling(task, title, 1 + at, steps)
        telling(0, 1)
        entry: dict[str, Any] = {"name": name, "title": title}
        try:
            one = ready.get(name) if target == prediction.winner and not order.settings else None
            one = one or library.explain(
                asked, image, name, target, settings=order.settings, progress=telling
            )
        except SSplainError as error:  # one that cannot work on this model does not stop the rest
            known["maps"].append(entry | {"complaint": str(error)})
            _write(folder, known)
            continue
        found.append(one)
        _write_map(folder / f"map-{at}", one, subject)
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
    if not found:
        return None
    return partial(
        _check,
        library=library,
        order=order,
        folder=folder,
        found=found,
        known=known,
        image=image,
        asked=asked,
    )


def _check(
    task: Task,
    *,
    library: Library,
    order: Order,
    folder: Path,
    found: Sequence[Map],
    known: dict[str, Any],
    image: Tensor,
    asked: str,
) -> None:
    """Check the maps of a run that are not checked yet, writing what comes out as it is known."""
    steps, target = 1 + 2 * len(order.explainers), known["target"]
    for one in found:
        at = list(order.explainers).index(one.name)
        if "checks" in known["maps"][at]:
            continue
        telling = _Telling(
            task, f"Checking {method(one.name).title}", 1 + len(order.explainers) + at, steps
        )
        telling(0, 1)
        known["maps"][at]["checks"] = asdict(
            check(library, asked, image, one, target, progress=telling)
        )
        _write(folder, known)


def read(folder: Path) -> dict[str, Any] | None:
    """Return what a run has written so far."""
    path = folder / RESULT
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def arrays(folder: Path) -> dict[str, np.ndarray]:
    """Return a run as arrays: the image, and scores, rank and kept pixels of each explainer."""
    result = read(folder) or {"maps": []}
    found = load_arrays(folder / IMAGE)
    for one in result["maps"]:
        if "file" in one:
            stored = load_arrays(folder / f"map-{one['file']}.npz")
            found |= {f"{one['name']}/{key}": values for key, values in stored.items()}
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
        self.task.tell(
            self.stage or what.capitalize(), (self.at + done / max(1, total)) / self.steps
        )


def _write(folder: Path, known: Mapping[str, Any]) -> None:
    write_whole(folder / RESULT, json.dumps(known).encode())


def _image(subject: Subject) -> dict[str, NDArray[Any]]:
    """Return an image as arrays; a photograph with its vessels and what the model takes."""
    found = {"image": subject.shown.numpy(), "inside": subject.inside.numpy()}
    if subject.vessels is not None:
        photograph = (subject.shown * 255).round().numpy().astype(np.uint8)
        found |= {"image": photograph, "vessels": subject.vessels.numpy()}
        found["network_picture"] = subject.taken.numpy()
    return found


def _write_map(path: Path, one: Map, subject: Subject) -> None:
    """Write a map twice: as arrays for the user, as bytes for the page."""
    write_whole(path.with_suffix(".bin"), layer(subject, one.scores, one.kept))
    arrays = {"scores": one.scores, "rank": one.rank, "kept": one.kept}
    content = npz_bytes({name: tensor.numpy() for name, tensor in arrays.items()})
    write_whole(path.with_suffix(".npz"), content)
