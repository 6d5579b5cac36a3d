"""The images that come with the package, so that demos and tests need no other data."""

from pathlib import Path

import numpy as np
import torch

from ssplain.errors import SSplainError

ASSETS = Path(__file__).parents[1] / "assets"

# name -> file of the assets folder, with uint8 `images` (N, H, W) and `labels` (N,)
_FILES = {"mnist": "mnist.npz", "fmnist": "fmnist.npz", "rop": "rop/images.npz"}


def bundled(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images and labels of a data set that the package carries.

    Args:
        name: "mnist" or "fmnist": the first 500 images of the test set; "rop": 100 simulated
            segmented fundus images, whose truth `bundled_truth` tells.

    Returns:
        Images (N, 1, H, W) in [0, 1] as 32-bit floats, and labels (N,) as 64-bit integers.

    Raises:
        SSplainError: If there is no such data set.

    Example:
        >>> images, labels = bundled("mnist")
        >>> images.shape, images.dtype, labels[:5].tolist()
        (torch.Size([500, 1, 28, 28]), torch.float32, [7, 2, 1, 0, 4])
    """
    if name not in _FILES:
        raise SSplainError(
            f"There are no bundled images {name!r}; choose one of: {', '.join(_FILES)}."
        )
    with np.load(ASSETS / _FILES[name], allow_pickle=False) as stored:
        images, labels = stored["images"], stored["labels"]
    return (
        torch.from_numpy(images.astype(np.float32) / 255).unsqueeze(1),
        torch.from_numpy(labels.astype(np.int64)),
    )
