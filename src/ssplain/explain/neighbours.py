"""Both ways with the neighbours: our explainers in Quantus, Captum's explainers in our registry."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssplain.explain.registry import Family, Method, make
from ssplain.question.protocol import Attributor, Question


def for_quantus(
    name: str = "ssplain-0",
    dataset: str | None = None,
    *,
    kind: str = "scores",
    **settings: Any,  # noqa: ANN401 - the explainer's own
) -> Callable[..., "np.ndarray[Any, Any]"]:
    """Return an explainer as Quantus' `explain_func`.

    Args:
        name: one of `ssplain.explain.names()`.
        dataset: "mnist", "fmnist" or "rop" for the paper's settings.
        kind: "mask" for measures that take magnitudes (sparseness, complexity): scores may be
            negative where a pixel ranks last.
        settings: go before the data set's.

    >>> import ssplain
    >>> explain = for_quantus("ssplain-0", dataset="mnist", kind="mask")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> explain(model, images[:2].numpy(), labels[:2].numpy()).shape
    (2, 1, 28, 28)
    """

    def explain(
        model: Callable[..., Any],
        inputs: "np.ndarray[Any, Any]",
        targets: "np.ndarray[Any, Any]",
        **_: object,  # Quantus also hands over its device and the like
    ) -> "np.ndarray[Any, Any]":
        explainer: Any = make(name, model, dataset, **settings)
        images = torch.as_tensor(np.asarray(inputs), dtype=torch.get_default_dtype())
        maps: Tensor = explainer.attribute(
            images, torch.as_tensor(np.asarray(targets)).long(), kind=kind
        )
        return np.asarray(maps.cpu().numpy())

    return explain


class FromCaptum(Attributor):
    """An explainer of Captum's, or one written like them, under the call of all explainers.

    Each image is explained by itself, so that it does not matter how the method multiplies its
    inputs, and the model is asked through the same door as for all others: any output, grey or
    colour, any fill.

    Args:
        model: a module or function of `(N, C, H, W)`.
        kind: the class, such as `captum.attr.FeatureAblation`; it must take a function as model.
        arguments: for its `attribute`.
        settings: as for `Attributor`; `seed` is set before each image.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        kind: type[Any],
        arguments: dict[str, Any] | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        self.kind, self.arguments = kind, arguments or {}

    def maps(self, question: Question) -> Tensor:
        """Return what the method says, image by image."""

        def work(rows: slice) -> Tensor:
            return torch.cat([self._one(question, i) for i in range(rows.start, rows.stop)])

        return torch.cat(question.run(work, len(question.images)))

    def _one(self, question: Question, i: int) -> Tensor:
        def forward(images: Tensor) -> Tensor:
            index = torch.full((len(images),), i, device=images.device)
            return question.answer(images, index)

        image = question.images[i : i + 1].clone()
        with _drawing_from(self.seed), torch.enable_grad():
            found: Tensor = self.kind(forward).attribute(image, **self.arguments)
        return found.detach().expand_as(image)


@contextmanager
def _drawing_from(seed: int) -> Iterator[None]:
    """Seed the global generators, from which Captum draws, and give them back as they were."""
    state = np.random.get_state()  # noqa: NPY002 - the one that Captum uses
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(state)  # noqa: NPY002


def captum_method(
    name: str,
    kind: type[Any],
    *,
    family: Family = "perturbation",
    reference: str = "Captum",
    deterministic: bool = True,
    **arguments: Any,  # noqa: ANN401 - for the method's own attribute
) -> Method:
    """Return an explainer of Captum's, ready for the registry.

    Args:
        name: how it will be asked for.
        kind: the class; it must take a function as model.
        family: "gradient" or "perturbation".
        reference: where it comes from.
        deterministic: whether it draws nothing.
        arguments: for its `attribute`.

    >>> import captum.attr, ssplain
    >>> from ssplain.explain import METHODS
    >>> ablation = METHODS.add(captum_method("ablation", captum.attr.FeatureAblation))
    >>> ssplain.explain.make("ablation", lambda x: 2 * x.flatten(1)).attribute(
    ...     torch.tensor([[3.0, 5.0]]), target=1
    ... )
    tensor([[[[ 0., 10.]]]])
    >>> METHODS.remove("ablation")
    """

    def build(model: Callable[..., Any], **settings: Any) -> FromCaptum:  # noqa: ANN401
        return FromCaptum(model, kind=kind, arguments=arguments, **settings)

    return Method(
        name,
        kind.__name__,
        family,
        reference,
        build,
        needs_gradient=family == "gradient",
        deterministic=deterministic,
    )
