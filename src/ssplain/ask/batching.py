"""What a batch of images is, and work in batches that fit into memory."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor

from ssplain.ask.context import Images, as_tensor
from ssplain.errors import SSplainError, no_memory

T = TypeVar("T")


def as_batch(images: Images) -> Tensor:
    """Return `(H, W)`, `(C, H, W)` or `(N, C, H, W)` as a checked batch `(N, C, H, W)`.

    An array of NumPy's is taken as the tensor of the same numbers.

    >>> as_batch(torch.zeros(33, 57)).shape
    torch.Size([1, 1, 33, 57])
    """
    images = as_tensor(images)
    if images.dim() not in (2, 3, 4) or 0 in images.shape:
        raise SSplainError(
            f"The images have shape {tuple(images.shape)}; give (H, W), (C, H, W) or (N, C, H, W), "
            "none of them 0."
        )
    if not images.is_floating_point():
        raise SSplainError(
            f"The images are {images.dtype}; give floating-point numbers in the range that the "
            "model was trained on (usually divide by 255)."
        )
    batch = images.detach().reshape((1,) * (4 - images.dim()) + tuple(images.shape))
    bad = ~torch.isfinite(batch).flatten(1).all(1)
    if bool(bad.any()):
        raise SSplainError(
            f"Image {int(bad.nonzero()[0])} holds NaN or infinite pixels; replace them first, "
            "for example with torch.nan_to_num."
        )
    return batch


def run_in_batches(
    work: Callable[[slice], T], count: int, batch_size: int | None = None
) -> list[T]:
    """Call `work` on consecutive slices of `range(count)`, at most `batch_size` long.

    When the device runs out of memory the batch is halved, with a warning that says so, and the
    work goes on from where it was.

    >>> run_in_batches(lambda rows: list(range(5))[rows], 5, batch_size=2)
    [[0, 1], [2, 3], [4]]
    """
    keep_freed_memory()
    size = max(1, count if batch_size is None else batch_size)
    results: list[T] = []
    start = 0
    while start < count:
        try:
            results.append(work(slice(start, min(start + size, count))))
        except Exception as error:
            if not no_memory(error):
                raise
            if size == 1:
                raise SSplainError(
                    "There is not enough memory for a single image; free the device, or use a "
                    "smaller model or image."
                ) from error
            size = max(1, min(size, count - start) // 2)
            warnings.warn(
                f"Out of memory: going on with {size} images at a time; "
                f"set batch_size={size} to avoid this.",
                ResourceWarning,
                stacklevel=2,
            )
            continue
        start += size
    return results


@cache
def keep_freed_memory() -> None:
    """Let the C library keep up to 64 MiB of freed memory instead of giving it back at once.

    The activations of each pass are freed together. glibc then returns their pages to the system
    and gets them anew, one page fault each, in the next pass: measured for LeNet-5, 140,000 faults
    and a quarter of all time. It stops when it has seen one block of just under 32 MiB freed, the
    most that it takes as a sign (mallopt(3), M_MMAP_THRESHOLD). Other libraries do not care.
    """
    torch.empty(2**25 - 2**16, dtype=torch.uint8)


def fitting_batch(height: int, width: int) -> int:
    """Return how many images to take at a time when nobody says.

    About 400,000 pixels: measured on a CPU, fewer leave it waiting, more leave its caches.

    >>> fitting_batch(28, 28), fitting_batch(224, 224), fitting_batch(2000, 2000)
    (512, 8, 1)
    """
    return max(1, 401_408 // (height * width))
