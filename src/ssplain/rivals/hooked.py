"""Explainers that look inside the model: they work on a safe copy, never on the caller's."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from captum.attr import DeepLift, LayerGradCam
from torch import Tensor, nn
from torch.nn.functional import interpolate

from ssplain.ask.batching import as_batch
from ssplain.errors import SSplainError
from ssplain.question.protocol import Attributor, Question
from ssplain.rivals.clone import guided, safe_clone, without_overlap
from ssplain.rivals.completeness import warn_if_incomplete


class GuidedGradCam(Attributor):
    r"""Guided backpropagation times the class activation map of a layer.

    R. Selvaraju et al., Grad-CAM, ICCV 2017. The class activation map is
    \(\mathrm{ReLU}(\sum_k \bar g_k A_k)\) with the layer's activations \(A_k\) and the spatial
    mean \(\bar g_k\) of their gradients, brought to the image's size by nearest neighbours as in
    Captum; guided backpropagation is the gradient with every ReLU passing positive gradients only.

    Args:
        model: a module.
        layer: name of the layer, such as "inception5b"; None takes the last convolution.
        settings: as for `Attributor`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> GuidedGradCam(model).attribute(images[:2], target=labels[:2]).shape
    torch.Size([2, 1, 28, 28])
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        layer: str | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        network = self.classifier.model
        chosen = layer or last_convolution(network)
        known = dict(network.named_modules()) if isinstance(network, nn.Module) else {}
        if chosen is None:
            raise SSplainError(
                "The model has no convolution whose activations can be read; name one of its "
                "modules with layer=, or leave Guided Grad-CAM out."
            )
        if chosen not in known:
            raise SSplainError(
                f"The model has no layer {chosen!r}; name one of its modules with layer=."
            )
        self.layer = chosen

    def maps(self, question: Question) -> Tensor:
        """Return guided gradient times activation map for each channel and pixel."""
        guide = _with_model(question.part(1, 2), guided(safe_clone(question.classifier.model)))
        # tracing dissolves blocks such as an inception; the activation map needs them whole
        whole = safe_clone(question.classifier.model, trace=False)
        network = _Answers(_with_model(question, whole))
        camera = LayerGradCam(network, whole.get_submodule(self.layer))

        def work(rows: slice) -> Tensor:
            network.rows = rows
            with torch.enable_grad():
                found = camera.attribute(question.images[rows], relu_attributions=True)
            return interpolate(found.detach(), size=question.images.shape[-2:])

        activation = torch.cat(question.part(0, 2).run(work, len(question.images)))
        return guide.gradient(question.images) * activation


class DeepShap(Attributor):
    """DeepLIFT's contributions, averaged over a set of baselines.

    S. Lundberg and S.-I. Lee, A unified approach to interpreting model predictions, NIPS 2017, on
    the rescale rule of DeepLIFT (A. Shrikumar et al., ICML 2017) as Captum computes it. Warns if
    the scores do not add up to the difference of the outputs, which tells that the model holds
    something that the rule could not see.

    Args:
        model: a module.
        baselines: `(B, C, H, W)`, what "nothing" looks like; None for a black image.
        settings: as for `Attributor`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> DeepShap(model).attribute(images[:2], target=labels[:2]).shape
    torch.Size([2, 1, 28, 28])
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        baselines: Tensor | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        self.baselines = None if baselines is None else as_batch(baselines)

    def maps(self, question: Question) -> Tensor:
        """Return the mean contribution over the baselines for each channel and pixel."""
        images = question.images
        given = torch.zeros_like(images[:1]) if self.baselines is None else self.baselines
        if given.shape[-2:] != images.shape[-2:] or given.shape[1] not in (1, images.shape[1]):
            raise SSplainError(
                f"The baselines have shape {tuple(given.shape)}; give "
                f"(B, {images.shape[1]}, {images.shape[2]}, {images.shape[3]}) as the images have."
            )
        baselines = given.to(images).expand(-1, images.shape[1], -1, -1)
        clone = without_overlap(safe_clone(question.classifier.model))
        network = _Answers(_with_model(question, clone))
        total = torch.zeros_like(images)
        for i in range(len(baselines)):
            baseline = baselines[i : i + 1]
            maps = self._against(question.part(i, len(baselines)), network, baseline)
            warn_if_incomplete("DeepSHAP", maps, question, baseline)
            total = total + maps
        return total / len(baselines)

    def _against(self, question: Question, network: "_Answers", baseline: Tensor) -> Tensor:
        """Return the contributions against one baseline."""
        method = DeepLift(network)

        def work(rows: slice) -> Tensor:
            network.rows = rows
            images = question.images[rows].clone().requires_grad_()
            with warnings.catch_warnings(), torch.enable_grad():
                # it announces hooks on the model, but this is our own copy
                warnings.filterwarnings("ignore", message="Setting forward, backward hooks")
                found: Tensor = method.attribute(images, baselines=baseline.expand_as(images))
            return found.detach()

        # an image and its baseline go through the model together
        return torch.cat(question.run(work, len(question.images), 2))


class _Answers(nn.Module):
    """The answers to a question as a module's output, which is what Captum's hooks need."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.model, self.question = question.classifier.model, question
        self.rows = slice(0)

    def forward(self, images: Tensor) -> Tensor:
        index = torch.arange(self.rows.start or 0, self.rows.stop, device=images.device)
        # DeepLIFT sends images and baselines through together
        return self.question.answer(images, index.repeat(len(images) // len(index)))


def last_convolution(model: object) -> str | None:
    """Return the name of a module's last convolution, if it has one.

    >>> last_convolution(nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU(), nn.Conv2d(1, 1, 1)))
    '2'
    """
    if not isinstance(model, nn.Module):
        return None
    found = [name for name, module in model.named_modules() if isinstance(module, nn.Conv2d)]
    return found[-1] if found else None


def _with_model(question: Question, model: nn.Module) -> Question:
    """Put the question to another model."""
    return replace(question, classifier=replace(question.classifier, model=model))
