"""What should not go unsaid: odd scales, maps that say nothing, models without a gradient."""

import warnings

from torch import Tensor

from ssplain.errors import SSplainError


def notice_scale(images: Tensor, support: object) -> None:
    """Warn of images on whose scale zero is not black, or one not white, where that matters.

    Args:
        images: `(N, C, H, W)`, as given.
        support: only "nonzero" takes zero for black.

    >>> import torch
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     notice_scale(torch.tensor([[[[0.0, 255.0]]]]), "nonzero")
    >>> str(told[0].message)[:38]
    'The images go up to 255, and [0, 1] is'
    """
    if not isinstance(support, str) or support != "nonzero":
        return
    low, high = float(images.amin()), float(images.amax())
    if low < -0.25 and float((images == 0).float().mean()) < 0.01:
        warnings.warn(
            f"The images go down to {low:.3g} and are hardly anywhere 0: normalised, it seems, so "
            "that black is not 0 and every pixel counts as support. Give images in [0, 1], and "
            "ssplain.models.Normalised(model, mean, std) as the model.",
            stacklevel=4,
        )
    elif high > 8 or (high > 1.5 and bool((images == images.round()).all())):
        warnings.warn(
            f"The images go up to {high:.3g}, and [0, 1] is what is expected here; "
            "divide by 255, unless your model was trained on such images.",
            stacklevel=4,
        )


def notice_empty(maps: Tensor, name: str) -> None:
    """Warn of maps that say nothing, being the same everywhere.

    Args:
        maps: `(N, C, H, W)`.
        name: of the explainer.

    >>> import torch
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     notice_empty(torch.zeros(1, 1, 2, 2), "LIME")
    >>> str(told[0].message)[:40]
    'LIME says nothing about 1 of 1 images (f'
    """
    flat = maps.flatten(1)
    empty = (flat.amin(1) == flat.amax(1)).nonzero().flatten().tolist()
    if empty and flat.shape[1] > 1:
        shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        warnings.warn(
            f"{name} says nothing about {len(empty)} of {len(maps)} images (from 0: {shown}): "
            "their maps are the same everywhere, so any order of their pixels is chance.",
            stacklevel=4,
        )


def require_gradient(values: Tensor) -> None:
    """Complain about a model whose values do not hang on what it was shown.

    >>> import torch
    >>> require_gradient(torch.zeros(1))
    Traceback (most recent call last):
    ssplain.errors.SSplainError: The model answers but has no gradient; take an explainer ...
    """
    if not values.requires_grad:
        raise SSplainError(
            "The model answers but has no gradient; take an explainer that needs none, such as "
            "occlusion, lime or kernel-shap, or SSplain on ssplain.models.QueryOnly(model), which "
            "estimates it from queries."
        )
