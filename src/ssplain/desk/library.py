"""What the page can ask of the library: models, predictions, maps, and what-if questions.

Everything that the reading room computes goes through here, by public calls of the other rooms.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ssplain import explain, metrics, models
from ssplain.data import resize
from ssplain.desk.scales import asked, parted
from ssplain.desk.subject import Subject
from ssplain.errors import SSplainError
from ssplain.models.calibrated import on_scale
from ssplain.models.classes import classes_of
from ssplain.models.severity import severity_of
from ssplain.progress import Progress
from ssplain.reading.opinion import GRADES
from ssplain.solve import History

_SHIFTS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_GAINS = (0.9, 1.1)
# what the page may set, with the range that keeps one run within minutes
SETTINGS: Mapping[str, tuple[float, float]] = {
    "budget": (0.01, 1.0),
    "tv_weight": (0.0, 10.0),
    "iterations": (1, 500),
    "lr": (1e-4, 1.0),
    "rho": (0.0, 10.0),
}


@dataclass(frozen=True)
class Prediction:
    """What the model says of an image, and what it says after changes that should not matter.

    Attributes:
        probabilities: one per class.
        lowest: the lowest probability of the predicted class after those changes; None if none
            was tried.
        stays: the share of those changes after which the predicted class is the same.
        severity: 1 (normal) to 9 (plus disease) for models that grade eyes, else None.
        changes: what they were, in words.
    """

    probabilities: tuple[float, ...]
    lowest: float | None
    stays: float | None
    severity: float | None
    changes: str = "shifted by a pixel, or a tenth brighter or darker"

    @classmethod
    def of_reading(cls, reading: Mapping[str, Any]) -> "Prediction":
        """Return what was said of an eye that was read, from `ssplain.reading.table.as_json`."""
        changed = list(reading["stability"]["changes"].values())
        same = [one["grade"] == reading["grade"] for one in changed]
        return cls(
            probabilities=tuple(reading["probabilities"][name] for name in GRADES),
            lowest=min((one["probabilities"][reading["grade"]] for one in changed), default=None),
            stays=sum(same) / len(same) if same else None,
            severity=reading["severity"],
            changes="turned, blurred, a little larger or smaller, a tenth brighter or darker",
        )

    @property
    def winner(self) -> int:
        """The class with the highest probability."""
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)


@dataclass(frozen=True, eq=False)
class Map:
    """What an explainer says of one image.

    Attributes:
        name: of the explainer.
        scores: `(1, H, W)`.
        kept: `(1, H, W)` boolean: the mask of SSplain; of others, as many of the highest scores.
        rank: `(1, H, W)`: the place of each pixel, from 0; pixels outside the support come last.
        seconds: what it took.
        settings: how it was made.
        history: per iteration "objective", "primal" and "dual"; empty for single passes.
    """

    name: str
    scores: Tensor
    kept: Tensor
    rank: Tensor
    seconds: float
    settings: Mapping[str, Any]
    history: Mapping[str, list[float]]


@dataclass(frozen=True)
class Answer:
    """Probabilities of all classes: the whole image, a part of it alone, all but that part."""

    whole: tuple[float, ...]
    only: tuple[float, ...]
    without: tuple[float, ...]


class Library:
    """The models of the room, loaded when they are first needed.

    Each is held twice: one is busy with maps, the other answers questions at once meanwhile (the
    explainers lay a model's weights out anew while they work).

    >>> library = Library(["lenet5-mnist"])
    >>> library.about("lenet5-mnist")["classes"][:3]
    ['0', '1', '2']
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources = tuple(dict.fromkeys(sources))
        self._loaded: dict[tuple[str, bool], nn.Module] = {}
        self._lock, self._quick = Lock(), Lock()
        self._prepared: set[str] = set()

    def prepare(self) -> bool:
        """Let the next model with a card compute a gradient; return whether there was one.

        What is slow once (loading, and PyTorch's choice of kernels) is done before anybody waits.

        >>> library = Library(["lenet5-mnist"])
        >>> library.prepare(), library.prepare()
        (True, False)
        """
        source = next((one for one in self.sources if one not in self._prepared), None)
        if source is None:
            return False
        self._prepared.add(source)
        about = self.about(source)
        if about["size"] is not None:
            blank = torch.full((1, about["channels"], *about["size"]), 0.5)
            with models.Door(self._model(source, quick=False)).open(blank) as asked:
                leaf = asked.images.clone().requires_grad_()
                torch.autograd.grad(asked.classifier.log_probabilities(leaf).sum(), leaf)
        return True

    def about(self, source: str) -> dict[str, Any]:
        """Return what the page shows of a model: its card where it has one."""
        self._check(source)
        source, _ = parted(source)
        try:
            card = asdict(models.card(source))
        except SSplainError:  # a program or an entry point has no card
            unknown = dict.fromkeys(("dataset", "size", "channels"))
            return {"name": source, "classes": self._told(source), **unknown}
        return {**card, "name": source, "classes": list(card["classes"])}

    def _told(self, source: str) -> list[str]:
        """Return the names of the classes of a model without a card, if it tells them."""
        try:
            return list(classes_of(source, self._model(source, quick=True)) or ())
        except SSplainError:  # what is wrong with it is told when it is asked
            return []

    def fit(self, source: str, image: Tensor) -> Tensor:
        """Return the image `(C, H, W)` as the model takes it: its size, its channels.

        Raises:
            SSplainError: if it cannot be brought into that form.
        """
        about = self.about(source)
        if about["channels"] == 1 and len(image) == 3:
            raise SSplainError(
                f"This picture is in colour, and {source} reads grey images of drawn lines "
                "(digits, segmented vessels); choose another model, or a segmented image."
            )
        if about["size"] is not None:
            image = resize(image, tuple(about["size"]))
        if not bool((image > 0).any()):
            raise SSplainError("This picture is black all over; there is nothing to explain.")
        return image

    def outside(self, source: str, image: Tensor) -> list[str]:
        """Return what sets a fitted image apart from those that the model was trained on."""
        card = models.card(source) if self.about(source)["size"] is not None else None
        return [] if card is None else card.faults(image)

    def predict(self, source: str, image: Tensor) -> Prediction:
        """Return the model's opinion of a fitted image, and how steady it is."""
        changed = [torch.roll(image, shift, (1, 2)) for shift in _SHIFTS]
        changed += [(image * gain).clamp(0, 1) for gain in _GAINS]
        p = self.probabilities(source, torch.stack([image, *changed]))
        winner = int(p[0].argmax())
        probabilities = _numbers(p[0])
        return Prediction(
            probabilities=probabilities,
            lowest=float(p[1:, winner].min()),
            stays=float((p[1:].argmax(1) == winner).float().mean()),
            severity=severity(self.about(source)["classes"], probabilities),
        )

    def probabilities(self, source: str, images: Tensor) -> Tensor:
        """Return `(N, classes)` for fitted images, at once even while maps are being made."""
        door = models.Door(self._model(source, quick=True))
        with self._quick, door.open(images) as asked:
            return asked.probabilities.cpu()

    def ask(self, source: str, subject: Subject, region: Tensor) -> Answer:
        """Return what the model says of a part of an image and of the rest.

        Args:
            source: the model.
            subject: the image.
            region: `(H, W)` boolean, the part.
        """
        shown = torch.stack([subject.taken, subject.part(region), subject.part(~region)])
        return Answer(*map(_numbers, self.probabilities(asked(source, subject), shown)))

    def make(
        self, source: str, name: str, settings: Mapping[str, float] | None = None
    ) -> explain.Explainer:
        """Return an explainer with the settings for the model's data set, or those given."""
        model = self._model(source, quick=False)
        dataset = self.about(source)["dataset"]
        own = explain.method(name).family == "ssplain"
        chosen = checked(settings or {}) if own else {}
        return explain.make(name, model, dataset if dataset in explain.PRESETS else None, **chosen)

    def explain(
        self,
        source: str,
        image: Tensor,
        name: str,
        target: int,
        *,
        settings: Mapping[str, float] | None = None,
        progress: Progress | None = None,
    ) -> Map:
        """Return one explainer's map of a fitted image for a class."""
        explainer = self.make(source, name, settings)
        started = time.perf_counter()
        inside = (image > 0).any(0, keepdim=True)
        mask, history, used = None, {}, {}
        if isinstance(explainer, explain.SSplain):
            result = explainer.explain(image, target, progress)
            scores, mask, used = result.scores[0], result.mask[0] > 0, dict(result.settings)
            inside = result.support[0]
            history = courses(result.history)
        else:
            scores = explainer.attribute(image, target, progress=progress)[0]
        rank = metrics.rank_pixels(scores[None], inside[None]).rank.reshape(scores.shape)
        if mask is None:
            mask = (rank < round(0.25 * int(inside.sum()))) & inside
        return Map(name, scores, mask, rank, time.perf_counter() - started, used, history)

    def explainers(self) -> list[dict[str, Any]]:
        """Return what the page shows of the explainers."""
        known = [explain.method(name) for name in explain.names()]
        return [
            {"name": m.name, "title": m.title, "family": m.family, "reference": m.reference}
            for m in known
        ]

    def heavy(self, source: str) -> nn.Module:
        """Return the model that the worker may use."""
        return self._model(source, quick=False)

    def _check(self, source: str) -> None:
        if parted(source)[0] not in self.sources:
            raise SSplainError(
                f"This room has no model {source!r}; it has: {', '.join(self.sources)}."
            )

    def _model(self, source: str, *, quick: bool) -> nn.Module:
        self._check(source)
        with self._lock:
            if (source, quick) not in self._loaded:
                plain, kind = parted(source)
                model = models.quick(models.load(plain))
                self._loaded[source, quick] = (
                    model if kind is None else on_scale(model, plain, kind)
                )
            return self._loaded[source, quick]


def checked(settings: Mapping[str, float]) -> dict[str, float | int]:
    """Return settings of SSplain, refused where they are unknown or out of range.

    >>> checked({"iterations": 20.0})
    {'iterations': 20}
    """
    for name, value in settings.items():
        if name not in SETTINGS:
            raise SSplainError(f"There is no setting {name!r}; there are: {', '.join(SETTINGS)}.")
        low, high = SETTINGS[name]
        if not low <= value <= high:
            raise SSplainError(f"{name} is {value:g}; give a number from {low:g} to {high:g}.")
    return {k: int(v) if k == "iterations" else float(v) for k, v in settings.items()}


def thumbnail(image: Tensor, side: int) -> NDArray[np.uint8]:
    """Return a picture `(H, W, 3)` whose longer side is at most about `side` pixels.

    >>> thumbnail(torch.ones(1, 200, 100), 50).shape
    (50, 25, 3)
    """
    scale = max(1.0, max(image.shape[1:]) / side)
    size = [max(1, round(n / scale)) for n in image.shape[1:]]
    small = functional.interpolate(image[None], size=size, mode="bilinear", antialias=True)[0]
    shown = small.expand(3, -1, -1).permute(1, 2, 0).clamp(0, 1) * 255
    return shown.round().to(torch.uint8).numpy()


def severity(classes: Sequence[str], probabilities: Sequence[float]) -> float | None:
    """Return the severity of an eye from 1 to 9; None for models that grade no eyes.

    >>> severity(GRADES, [0.0, 0.5, 0.5]), severity(["cat", "dog"], [0.5, 0.5])
    (7.0, None)
    """
    if tuple(classes) != tuple(GRADES):
        return None
    return float(severity_of(torch.tensor([probabilities], dtype=torch.float64)))


def courses(history: History) -> dict[str, list[float]]:
    """Return how the objective and the residuals of one image went."""
    kinds = {"objective": history.objective, "primal": history.primal, "dual": history.dual}
    return {name: _course(values) for name, values in kinds.items()}


def _numbers(values: Tensor) -> tuple[float, ...]:
    return tuple(float(v) for v in values)


def _course(values: Tensor) -> list[float]:
    """Return one image's values up to where it stopped."""
    return [float(v) for v in values[0] if torch.isfinite(v)]
