"""The task of `ssplain explain`: which pixels of each image the model's decision rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.ask.batching import fitting_batch
from ssplain.ask.named import require_as_many
from ssplain.data import read_any, resize, size_of
from ssplain.data.kind import refuse_photograph
from ssplain.data.remarks import HAZY, haze, is_jpeg, unused_bits
from ssplain.errors import SSplainError
from ssplain.explain import PRESETS, Explanation, SSplain, Stability, measure_stability, preset
from ssplain.explain.result import ARRAYS
from ssplain.explain.stability import RADII
from ssplain.explain.starts import asks_model
from ssplain.models import Head, ModelCard, load, quick
from ssplain.models.card import find_card
from ssplain.models.classes import classes_of
from ssplain.question.inputs import find_support, start_mask
from ssplain.question.targets import named_target
from ssplain.report.dicom import dicom_files
from ssplain.report.save import pictures
from ssplain.work.opinions import Opinions
from ssplain.work.scribe import packed
from ssplain.work.task import Files, Item, Result

QUICK = 5  # images of a job whose stability is measured unasked
_SOLVER = ("budget", "norm", "tv_weight", "rho", "lr", "iterations", "start", "fill")


@dataclass(frozen=True)
class Explaining:
    """Explain images with SSplain; what is None comes from the preset, or else the default.

    Attributes:
        model: as `ssplain.models.load` takes it.
        architecture: of a weights file.
        preset: the paper's settings for a data set; None for those of the model's own.
        target: a class by number or name, or "posterior"; None for the prediction.
        classes: the names of the classes, before those that the model or its card tells.
        budget: see `SSplain`, as for all that follow.
        fill: what a hidden pixel shows; see `ModelOptions`.
        label: see `ssplain.models.Head`, as for the next three.
        at_least: the threshold of a regression, and its scale.
        mean: what the model's images are normalised by.
        std: likewise.
        pictures: whether to draw `overlay.png`, `mask.png` and `top5.png`.
        dicom: whether images that come from DICOM files are answered in DICOM too.
        anyway: whether images unlike the model's training images are explained too.
        stable: whether maps are to be stable under rounding; see `SSplain`.
        stability: how often each image is explained again under noise of each of `RADII`, to say
            how much of its map stays; 0 for never. None takes a quick look: the first images of the
            job once, under the least noise.
    """

    name: ClassVar[str] = "explain"
    model: str
    architecture: str | None = None
    preset: str | None = None
    target: str | None = None
    classes: tuple[str, ...] | None = None
    budget: float | None = None
    norm: str | None = None
    tv_weight: float | None = None
    rho: float | None = None
    lr: float | None = None
    iterations: int | None = None
    start: str | None = None
    support: str | float | None = None
    tolerance: float | None = None
    output: int | str | None = None
    output_kind: str = "auto"
    batch_size: int | None = None
    seed: int = 0
    fill: str | float | None = None
    label: int | None = None
    at_least: tuple[float, ...] | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    pictures: bool = False
    dicom: bool = False
    anyway: bool = False
    stable: bool = False
    stability: int | None = None

    def about(self) -> dict[str, Any]:
        """Return settings and the model's fingerprint, without what does not change results."""
        opened = self.open()
        asked = {} if self.head == Head() else {"head": asdict(self.head)}
        return {
            "settings": opened.explainer.settings() | {"target": self.target} | asked,
            # not only shown: what a target by name means hangs on them
            "classes": opened.classes,
            "model": self.model,
            "pictures": self.pictures,
            "dicom": self.dicom,
            "stability": self.stability,
        }

    def group(self, item: Item) -> tuple[str, int]:
        """Put images of one size together, and those with a target of their own apart."""
        kind = "given" if item.target is not None else ""
        size = self.card.size if self.card is not None else size_of(item.path, item.page)
        if not size:
            return kind, self.batch_size or 1  # what is wrong with it is told when it is read
        return f"{size} {kind}", self.batch_size or fitting_batch(*size)

    @cached_property
    def card(self) -> ModelCard | None:
        """The model's card, if it has one."""
        return find_card(self.model)

    @property
    def head(self) -> Head:
        """What makes a classifier of the model."""
        return Head(self.label, self.at_least, self.mean, self.std)

    def open(self) -> "ExplainingWorker":
        """Load the model, once per process."""
        return ExplainingWorker(self)

    def settings(self) -> dict[str, Any]:
        """Return what SSplain is made with."""
        name = self.preset or (self.card.dataset if self.card else None)
        chosen: dict[str, Any] = {}
        if self.preset is not None or name in PRESETS:
            chosen = {**preset(str(name))}
        chosen |= {n: v for n in _SOLVER if (v := getattr(self, n)) is not None}
        if self.support is not None:
            chosen["support"] = None if self.support == "all" else self.support
        return chosen | {"stable": self.stable}


class Picture(NamedTuple):
    """An image as the model takes it, and what was done to it or is odd about it.

    Attributes:
        image: `(C, H, W)`.
        resized: whether its size was changed.
        hazy: whether its support is found by Otsu's threshold, since JPEG has left a haze.
        remark: a sentence for the user.
        outside: what sets it apart from the model's training images, where it is explained anyway.
    """

    image: Tensor
    resized: bool
    hazy: bool
    remark: str
    outside: list[str]


class ExplainingWorker:
    """The model of a task, loaded, and its explainer."""

    def __init__(self, task: Explaining) -> None:
        self.task, self.card = task, task.card
        self.network, self.output, self.output_kind = task.head.on(
            quick(load(task.model, task.architecture)),
            task.output,
            task.output_kind,  # type: ignore[arg-type]  # checked by SSplain
        )
        self.classes = classes_of(task.model, self.network, task.classes)
        self.explainer = self._explainer()
        # what SSplain would say of each image in turn is said now
        dot = torch.ones(1, 1, 1, 1)
        support = self.explainer.support
        inside = find_support(dot, None if support == "otsu" else support)
        if not asks_model(self.explainer.start):
            start_mask(dot, inside, self.explainer.start)

    def _explainer(self, **own: Any) -> SSplain:  # noqa: ANN401 - settings of SSplain
        task = self.task
        return SSplain(
            self.network,
            **task.settings() | own,
            tolerance=task.tolerance,
            output=self.output,
            output_kind=self.output_kind,
            batch_size=task.batch_size,
            seed=task.seed,
        )

    @cached_property
    def through_haze(self) -> SSplain:
        """The same explainer for images on which JPEG has left a haze."""
        return self._explainer(support="otsu")

    def read(self, item: Item) -> Picture:
        """Return the image as the model takes it."""
        return self.fit(item, read_any(item.path, item.page).numpy())

    def fit(self, item: Item, pixels: NDArray[np.float32]) -> Picture:
        """Return an image, as it is in its file, as the model takes it."""
        image = torch.from_numpy(pixels)
        bits = unused_bits(image, item.path)
        outside: list[str] = []
        if self.card is not None:
            if len(image) != 1 and self.card.channels == 1:
                if self.card.dataset == "rop":
                    refuse_photograph(image, self.card.name)
                raise SSplainError(
                    f"{item.given} is in colour and {self.card.name} takes grey images; convert it "
                    "to grey first."
                )
            fitted = resize(image, self.card.size)
            if self.task.anyway:
                outside = self.card.faults(fitted)
            else:
                self.card.require_inside(fitted, item.given, bits)
        else:
            fitted = image
        hazy, told = self._haze(image, item)
        support = "otsu" if hazy else self.explainer.support
        if support != "nonzero" or not fitted.numpy().any():  # a hundred thousand times
            find_support(fitted[None], support)
        remark = "; ".join(filter(None, (told, bits)))
        return Picture(fitted, fitted.shape != image.shape, hazy, remark, outside)

    def _haze(self, image: Tensor, item: Item) -> tuple[bool, str]:
        """Say whether an image is seen through haze, and what to tell of it."""
        if (
            self.task.support is not None
            or self.explainer.support != "nonzero"
            or (share := haze(image)) < HAZY
        ):
            return False, ""
        found = f"{share:.0%} of its non-black pixels are nearly black"
        if is_jpeg(item.path):
            return True, f"{found}, as JPEG leaves them; its support is found by Otsu's threshold"
        return False, f"{found} and count as its support; if that is noise, give --support otsu"

    def check(self, item: Item, value: Picture) -> None:
        """Complain about a target, an output or names that do not fit the model."""
        with self.explainer.ask(value.image, self._targets([item])) as question:
            require_as_many(self.classes, question.probabilities.shape[1])

    def work(self, items: Sequence[Item], inputs: Sequence[Picture]) -> list[Result]:
        """Explain images; those of one shape, with the same kind of support, are one batch."""

        def alike(i: int) -> tuple[object, ...]:
            return (*inputs[i].image.shape, inputs[i].hazy)

        found: dict[int, Result] = {}
        for _, rows in groupby(sorted(range(len(items)), key=alike), key=alike):
            some = list(rows)
            results = self._explain([items[i] for i in some], [inputs[i] for i in some])
            found |= dict(zip(some, results, strict=True))
        return [found[i] for i in range(len(items))]

    def _explain(self, items: Sequence[Item], inputs: Sequence[Picture]) -> list[Result]:
        explainer = self.through_haze if inputs[0].hazy else self.explainer
        images = torch.stack([one.image for one in inputs])
        result = explainer.explain(images, self._targets(items))
        require_as_many(self.classes, result.probabilities.shape[1])
        # two more passes of the model, which a writer makes for the whole batch
        opinions = Opinions(explainer, result)
        share = result.kept_share.tolist()
        shared = result.manifest() | {"model": self.task.model}
        hashes, shape = shared["images"], shared["shape"]
        arrays = result.arrays()  # once: image by image it takes as long as writing does
        probabilities, targets = result.probabilities.tolist(), result.target.tolist()
        predictions = result.prediction.tolist()
        stability = self._stability(explainer, items, result)
        drawn = self.task.pictures or self.task.dicom
        return [
            Result(
                numbers={
                    "prediction": predictions[i],
                    "target": targets[i],
                    "probabilities": [round(p, 6) for p in probabilities[i]],
                    "probability": probabilities[i][targets[i]],
                    "kept_share": share[i],
                    "resized": inputs[i].resized,
                    **({"remark": inputs[i].remark} if inputs[i].remark else {}),
                    **(stability[i].numbers(0) if i in stability else {}),
                },
                files=partial(_drawn, result, arrays, i, self.task, item)
                if drawn
                else partial(packed, ARRAYS, arrays, i),
                portable=not drawn,
                more=partial(opinions.of, i),
                manifest=shared
                | {
                    "images": hashes[i : i + 1],
                    "shape": [1, *shape[1:]],
                    "outside_domain": inputs[i].outside,
                    "remarks": [inputs[i].remark] if inputs[i].remark else [],
                    **({"stability": stability[i].about()} if i in stability else {}),
                },
            )
            for i, item in enumerate(items)
        ]

    def _stability(
        self, explainer: SSplain, items: Sequence[Item], result: Explanation
    ) -> dict[int, Stability]:
        """Return how stable the maps are, by row, of those images that are to be looked at."""
        times = self.task.stability
        rows = [
            i for i, one in enumerate(items) if times or (times is None and one.number <= QUICK)
        ]
        if not rows:
            return {}
        posterior = (items[0].target or self.task.target) == "posterior"
        found = measure_stability(
            partial(
                explainer.attribute,
                target="posterior" if posterior else result.target[rows],
            ),
            result.images[rows],
            result.support[rows],
            scores=result.scores[rows],
            radii=RADII if times else RADII[:1],
            draws=times or 1,
        )
        return {row: found.take(i) for i, row in enumerate(rows)}

    def _targets(self, items: Sequence[Item]) -> Any:  # noqa: ANN401 - SSplain checks them
        """Return what to explain: one word for all, or a class for each."""
        names = [item.target or self.task.target for item in items]
        if len(set(names)) == 1:
            return named_target(names[0], self.classes)
        found = [named_target(name, self.classes) for name in names]
        if any(not isinstance(one, int) for one in found):
            raise SSplainError(
                "Images with a class as target do not go together with others; give each a class."
            )
        return found


def _drawn(
    results: Explanation, arrays: Mapping[str, NDArray[Any]], row: int, task: Explaining, item: Item
) -> Files:
    """Make the files of one image, with pictures, when the writer asks for them."""
    files = packed(ARRAYS, arrays, row)
    if task.pictures:
        files |= pictures(results[row])
    if task.dicom:
        files |= dicom_files(results[row], item.path, item.page, task.model)
    return files
