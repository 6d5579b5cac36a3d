"""What all explainers share: the call, the question that they put to the model, channel rules."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ClassVar, Literal, ParamSpec, Protocol, TypeVar, Unpack

import torch
from torch import Tensor

from ssplain.ask.adapter import Classifier
from ssplain.ask.batching import as_batch
from ssplain.ask.company import in_fitting_company
from ssplain.ask.context import Fill, Images, as_tensor
from ssplain.ask.door import Door, ModelOptions, OpenModel
from ssplain.ask.named import told_classes
from ssplain.errors import SSplainError
from ssplain.progress import Progress
from ssplain.question.checks import require
from ssplain.question.notices import notice_empty, notice_scale, require_gradient
from ssplain.question.targets import Target, resolve_target

T = TypeVar("T")
P = ParamSpec("P")
ChannelRule = Literal["max", "mean", "each", "all"]
Kind = Literal["scores", "mask"]
Inputs = Images | tuple[Images, ...]


class Explainer(Protocol):
    """Whatever gives each pixel of an image a score."""

    def attribute(
        self,
        inputs: Tensor,
        target: Target = None,
        *,
        over: ChannelRule = "max",
        progress: Progress | None = None,
    ) -> Tensor:
        """Return one map per image, `(N, 1, H, W)`; high means important for the target.

        With over="all", explainers that score channels one by one return them all.
        """
        ...


def over_channels(maps: Tensor, rule: ChannelRule, channels: int = 1) -> Tensor:
    """Join the maps of the channels `(N, C, H, W)` to one, `(N, 1, H, W)`.

    The paper shows the maximum of the channels, and measures connected parts, curvature and
    dilation on their mean. "each" gives a map for each of the image's channels, the shape that
    Captum's own measures ask for; "all" leaves the maps as they are.

    Args:
        maps: one per channel that the model takes, or one for all.
        rule: "max", "mean", "each" or "all".
        channels: of the images.

    >>> over_channels(torch.tensor([[[[1.0]], [[4.0]]]]), "max").item()
    4.0
    >>> over_channels(torch.tensor([[[[1.0]], [[4.0]]]]), "mean").item()
    2.5
    """
    if rule == "max":
        return maps.amax(1, keepdim=True)
    if rule == "mean":
        return maps.mean(1, keepdim=True)
    if rule == "each":
        # a grey image that the model sees three times counts with what all three do
        whole = maps.sum(1, keepdim=True) if channels == 1 else maps
        return whole.expand(-1, channels, -1, -1)
    if rule == "all":
        return maps
    raise SSplainError(
        f"over={rule!r} is not a way to join channels; use 'max' or 'mean', or 'each' to keep them."
    )


def _as_captum_calls_it(
    method: Callable[P, T],
) -> Callable[P, T]:
    """Give a method the `__wrapped__` through which Captum's NoiseTunnel calls it."""

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return method(*args, **kwargs)

    return call


@dataclass(frozen=True, eq=False)
class Question(OpenModel):
    """What the model says about the targets of some images, and of images made from them.

    Attributes:
        target: `(N,)`, the explained classes.
        weights: `(N, classes)`, how much each class counts; one-hot for a single target.
        progress: told what is done and to do, if anybody listens.
        batching: how the images go through the model, in words; see `in_fitting_company`.
    """

    target: Tensor
    weights: Tensor
    progress: Progress | None = None
    batching: str = ""

    def answer(self, images: Tensor, index: Tensor | slice) -> Tensor:
        """Return the model's own value (logit or probability) of the target.

        Args:
            images: `(n, C, H, W)`, made from the question's images.
            index: from which of them each was made.
        """
        values = self.classifier.take(index).values(images)
        if images.requires_grad and torch.is_grad_enabled():
            require_gradient(values)
        if values.shape[1] == 1:  # one value speaks for the second of two classes
            other = 1 - values if self.classifier.output_kind == "probs" else -values
            values = torch.cat([other, values], dim=1)
        return (self.weights[index] * values).sum(1)

    def chance(self, images: Tensor, index: Tensor | slice) -> Tensor:
        """Return the target's probability, without a graph; arguments as for `answer`."""
        p = self.classifier.take(index).probabilities(images)
        return (self.weights[index] * p).sum(1)

    def answers(self, make: Callable[[Tensor], Tensor], index: Tensor) -> Tensor:
        """Return the answers for many images made on demand, a batch at a time.

        Args:
            make: from positions in `index` to the images at these.
            index: for each image to be made, of which given one it is made.
        """
        places = torch.arange(len(index), device=index.device)
        with torch.no_grad():
            return torch.cat(self.run(lambda r: self.answer(make(places[r]), index[r]), len(index)))

    def gradient(self, images: Tensor) -> Tensor:
        """Return the gradient of each answer by its image, for images like the question's."""

        def work(rows: slice) -> Tensor:
            leaf = images[rows].detach().requires_grad_()
            with torch.enable_grad():
                total = self.answer(leaf, rows).sum()
            return torch.autograd.grad(total, leaf)[0]

        return torch.cat(self.run(work, len(images)))

    def part(self, index: int, parts: int) -> "Question":
        """Return the same question for one of several passes, which tells the progress of all."""
        told = self.progress
        if told is None:
            return self
        return replace(self, progress=lambda at, of, *_: told(index * of + at, parts * of))

    def take(self, rows: Tensor) -> "Question":
        """Return the same question about some of the images."""
        return replace(
            self,
            classifier=self.classifier.take(rows),
            images=self.images[rows],
            probabilities=self.probabilities[rows],
            target=self.target[rows],
            weights=self.weights[rows],
        )

    def tell(self, done: int, total: int) -> None:
        """Tell whoever listens how far an explainer is that counts by itself."""
        if self.progress is not None:
            self.progress(done, total)

    def quiet(self) -> "Question":
        """Return the same question, telling no progress."""
        return replace(self, progress=None)

    def run(self, work: Callable[[slice], T], count: int, weight: int = 1) -> list[T]:
        """Work through `count` items in batches that fit, telling the progress.

        Args:
            work: what to do with some of the items.
            count: how many there are.
            weight: how many images' room one of them takes.
        """

        def told(rows: slice) -> T:
            result = work(rows)
            if self.progress is not None:
                self.progress(rows.stop, count)
            return result

        return super().run(told, count, weight)


class ExplainerOptions(ModelOptions, total=False):
    """What every explainer takes beside its own settings.

    Attributes:
        seed: for explainers that draw at random.
    """

    seed: int


class Attributor(ABC):
    """The base of all explainers: one class is one `maps`.

    Args:
        model: a module or function of `(N, C, H, W)`.
        seed: for explainers that draw at random.
        options: how the model is called: `output`, `output_kind`, `channels`, `batch_size`,
            `image_convolution`; see `ssplain.models.ModelOptions`.
    """

    # whether the channels that the model takes are scored one by one; otherwise grey stays grey
    per_channel: ClassVar[bool] = True
    # whether a gradient's last bit can change the map; then images go together only where each
    # gets the bits that it gets alone
    follows_bits: ClassVar[bool] = False

    def __init__(
        self, model: Callable[..., Any], *, seed: int = 0, **options: Unpack[ModelOptions]
    ) -> None:
        require("seed", seed, least=0, whole=True)
        self.door, self.seed = Door(model, **options), seed

    @property
    def classifier(self) -> Classifier:
        """The model as it is called, before any image was seen."""
        return self.door.classifier

    @property
    def forward_func(self) -> Callable[..., Any]:
        """The model, under the name that Captum has for it."""
        return self.classifier.model

    @property
    def multiplies_by_inputs(self) -> bool:
        """Whether scores are in units of the output; Captum asks. Ours only rank."""
        return False

    def has_convergence_delta(self) -> bool:
        """Return whether `attribute` can give how far scores are from adding up; Captum asks."""
        return False

    @abstractmethod
    def maps(self, question: Question) -> Tensor:
        """Return the maps `(N, C, H, W)`, or `(N, 1, H, W)` where channels count together."""

    def masks(self, question: Question) -> Tensor:  # noqa: ARG002 - for those that have masks
        """Return the masks `(N, 1, H, W)` of an explainer that makes any."""
        raise SSplainError(
            f"{type(self).__name__} ranks pixels and makes no mask; take kind='scores', or SSplain."
        )

    @_as_captum_calls_it
    def attribute(
        self,
        inputs: Inputs,
        target: Target = None,
        *,
        baselines: Fill | tuple[Fill, ...] = None,
        additional_forward_args: object = None,
        kind: Kind = "scores",
        over: ChannelRule = "max",
        progress: Progress | None = None,
    ) -> Tensor:
        """Return one map per image, `(N, 1, H, W)`; Captum's call.

        Args:
            inputs: `(H, W)`, `(C, H, W)` or `(N, C, H, W)`; a tuple with one such gives a tuple.
            target: the explained classes: one for all images, one for each, one by the name that
                the model tells (see `ssplain.ask.named`), or None for the predicted ones;
                "posterior" explains the expected output under the class posterior.
            baselines: what a hidden pixel shows, if not what `fill` says.
            additional_forward_args: given to the model after the images: one, or a tuple; tensors
                with one row per image go with their images.
            kind: "scores" ranks all pixels; "mask" is zero but for the pixels kept, in [0, 1].
                Scores may be negative: give measures that take their magnitude the mask.
            over: how to join channels, "max" (the paper's pictures), "mean" (its measurements),
                "each" to keep one map for each channel of the image, or "all" for each channel
                that the model takes.
            progress: called with what is done and to do.
        """
        if kind not in ("scores", "mask"):
            raise SSplainError(f"kind={kind!r} is not known; use 'scores' or 'mask'.")
        images = as_tensor(_only(inputs, "inputs"))
        fill: Any = _only(baselines, "baselines") if isinstance(inputs, tuple) else baselines
        with self.ask(
            images,
            target,
            progress,
            fill=fill,
            arguments=additional_forward_args,
        ) as question:
            found = self.maps(question) if kind == "scores" else self.masks(question)
            channels = images.shape[-3] if images.dim() > 2 else 1
            maps = over_channels(found, over, channels).detach().to(images.device)
            notice_empty(maps, type(self).__name__)
        # a tuple for a tuple, as Captum has it; the type tells what nearly all callers get
        return (maps,) if isinstance(inputs, tuple) else maps  # type: ignore[return-value]

    @contextmanager
    def ask(
        self,
        inputs: Images,
        target: Target = None,
        progress: Progress | None = None,
        *,
        fill: Fill = None,
        arguments: object = None,
    ) -> Iterator[Question]:
        """Open the question of these images; the model is frozen until it is closed."""
        notice_scale(as_batch(inputs), getattr(self, "support", None))
        with self.door.open(inputs, fill=fill, arguments=arguments) as found:
            opened, batching = in_fitting_company(found) if self.follows_bits else (found, "")
            names = told_classes(opened.classifier.model)
            chosen, weights = resolve_target(target, opened.probabilities, names)
            images = opened.each_channel() if self.per_channel else opened.images
            yield Question(
                opened.classifier,
                images,
                opened.probabilities,
                opened.batch_size,
                chosen,
                weights,
                progress,
                batching,
            )


def _only(given: Any, what: str) -> Any:  # noqa: ANN401 - inputs or baselines
    """Return the single one of a tuple, or what is not a tuple."""
    if not isinstance(given, tuple):
        return given
    if len(given) != 1:
        raise SSplainError(
            f"There are {len(given)} {what}; images are explained: give the image tensor alone, "
            "and what else the model takes as additional_forward_args."
        )
    return given[0]
