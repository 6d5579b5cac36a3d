"""From what the user gives to what the solver needs: images, support, budget, start."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from ssplain.errors import SSplainError

Support = str | float | Tensor | Callable[[Tensor], Tensor] | None
Start = str | Tensor

STARTS = ("intensity", "minmax", "ones", "random", "gradient", "sensitivity")


def intensity(images: Tensor) -> Tensor:
    """Return one non-negative value per pixel, `(N, 1, H, W)`: the mean magnitude of the channels.

    >>> intensity(torch.tensor([[[[-1.0]], [[3.0]]]])).item()
    2.0
    """
    return images.abs().mean(1, keepdim=True)


def find_support(images: Tensor, support: Support) -> Tensor:
    """Return the pixels that may carry the explanation, `(N, 1, H, W)` boolean.

    Args:
        images: `(N, C, H, W)`.
        support: "nonzero" (any channel differs from zero), a threshold (intensity above it),
            "otsu" (a threshold for each image by itself; Otsu, 1979), a tensor (non-zero is
            inside; one for all images or one per image), a function of the images that returns
            such a tensor, or None for all pixels.

    >>> find_support(torch.tensor([[[[0.0, 0.1, 0.9]]]]), 0.5).flatten().tolist()
    [False, False, True]
    """
    n, _, height, width = images.shape
    if support is None:
        inside = torch.ones(n, 1, height, width, dtype=torch.bool, device=images.device)
    elif isinstance(support, str):
        if support not in ("nonzero", "otsu"):
            raise SSplainError(
                f"support={support!r} is not known; use 'nonzero', 'otsu', a threshold, a tensor, "
                "a function or None."
            )
        inside = (images != 0).any(1, keepdim=True) if support == "nonzero" else _otsu(images)
    elif isinstance(support, int | float):
        inside = intensity(images) > support
    else:
        given = support if isinstance(support, Tensor) else support(images)
        inside = _spread(given, images, "support") != 0
    empty = ~inside.flatten(1).any(1)
    if bool(empty.any()):
        raise SSplainError(
            f"Image {int(empty.nonzero()[0])} has an empty support (support={_say(support)}): no "
            "pixel could explain anything; leave it out or choose another support."
        )
    return inside


def _otsu(images: Tensor) -> Tensor:
    """Return the bright one of the two groups into which each image's pixels fall apart best."""
    from skimage.filters import threshold_otsu  # noqa: PLC0415 - takes a while, seldom wanted

    bright = intensity(images)
    levels = [
        threshold_otsu(one[0].cpu().numpy())  # type: ignore[no-untyped-call]
        for one in bright
    ]
    return bright > torch.tensor(levels).to(bright)[:, None, None, None]


def pixel_budget(support: Tensor, budget: float) -> Tensor:
    """Return how many pixels each image may keep: the budget's share of its support.

    Rounded down, so that the budget is never exceeded, but at least one pixel.

    >>> pixel_budget(torch.ones(1, 1, 3, 3, dtype=torch.bool), 0.5).item()
    4
    """
    if not 0 < budget <= 1:
        raise SSplainError(
            f"budget={budget!r} is not a share of the support; give a number above 0 and at most "
            "1, such as 0.25."
        )
    # the small addend keeps 0.29 * 100 = 28.999999999999996 at 29
    shares = support.flatten(1).sum(1).cpu().double() * budget + 1e-9
    return shares.floor().long().clamp(min=1).to(support.device)


def start_mask(images: Tensor, support: Tensor, start: Start, seed: int = 0) -> Tensor:
    r"""Return M(0), `(N, 1, H, W)`, zero outside the support.

    Args:
        images: `(N, C, H, W)`.
        support: `(N, 1, H, W)` boolean.
        start: "intensity" (\(X / \|X\|_\infty\), the paper's), "minmax" (intensity stretched
            over [0, 1] within the support), "ones", "random" (uniform in [0, 1), the same field for
            each image), or a tensor.
        seed: for "random".

    >>> X = torch.tensor([[[[0.0, 1.0, 2.0]]]])
    >>> start_mask(X, X > 0, "intensity").flatten()
    tensor([0.0000, 0.5000, 1.0000])
    """
    if isinstance(start, Tensor):
        mask = _spread(start, images, "start").to(images.dtype)
        if not bool(torch.isfinite(mask).all()):
            raise SSplainError("The start holds NaN or infinite values; replace them first.")
    elif start == "intensity":
        bright = intensity(images)
        mask = bright / bright.amax((1, 2, 3), keepdim=True).clamp(
            min=torch.finfo(images.dtype).tiny
        )
    elif start == "minmax":
        mask = _stretch(intensity(images), support)
    elif start == "ones":
        mask = torch.ones_like(images[:, :1])
    elif start == "random":
        # drawn on the CPU so that every device starts from the same field
        generator = torch.Generator().manual_seed(seed)
        field = torch.rand(images.shape[-2:], generator=generator, dtype=images.dtype)
        mask = field.to(images.device).expand(len(images), 1, -1, -1)
    else:
        raise SSplainError(
            f"start={start!r} is not known; use one of {', '.join(STARTS)}, or a tensor."
        )
    return mask.masked_fill(~support, 0.0)


def tie_order(images: Tensor) -> Tensor:
    """Return, per image, its pixels from first to last, for cutting among equal mask values.

    Pixels in brighter surroundings (four passes of a 3x3 mean, about a Gaussian of 1.6 pixels)
    come first, then row-major order. Saturated strokes are thus cut from their rim inwards and what
    is kept stays connected; row-major order alone would keep the upper part of each image.

    >>> tie_order(torch.tensor([[[[0.0, 1.0, 1.0, 1.0, 0.0]]]])).tolist()
    [[2, 1, 3, 0, 4]]
    """
    near = intensity(images)
    for _ in range(4):
        near = avg_pool2d(near, 3, stride=1, padding=1)
    return near.flatten(1).sort(dim=1, descending=True, stable=True).indices


def _stretch(bright: Tensor, support: Tensor) -> Tensor:
    """Map the support's range to [0, 1]; a support of one single brightness becomes ones."""
    low = bright.masked_fill(~support, torch.inf).amin((1, 2, 3), keepdim=True)
    high = bright.masked_fill(~support, -torch.inf).amax((1, 2, 3), keepdim=True)
    flat = high == low
    return torch.where(flat, 1.0, (bright - low) / torch.where(flat, 1.0, high - low))


def _spread(given: Tensor, images: Tensor, what: str) -> Tensor:
    """Bring a user's tensor to `(N, 1, H, W)` on the images' device."""
    n, _, height, width = images.shape
    shape = (1,) * (4 - given.dim()) + tuple(given.shape)
    if len(shape) != 4 or shape[0] not in (1, n) or shape[1:] != (1, height, width):
        raise SSplainError(
            f"The {what} has shape {tuple(given.shape)}; give ({height}, {width}) for all images "
            f"or ({n}, 1, {height}, {width})."
        )
    return given.detach().to(images.device).reshape(shape).expand(n, -1, -1, -1)


def _say(support: Support) -> str:
    if isinstance(support, Tensor):
        return "a tensor"
    return repr(support) if not callable(support) else "a function"
