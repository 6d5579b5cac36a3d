"""The image that is measured: one plane of numbers, turned to a pose that depends on it alone.

Thinning breaks ties by scan order, so the skeleton of a turned image is not the turned skeleton.
Every measure is therefore taken in a canonical pose, chosen by the content of the image, and the
result is turned back. Of an image that is its own mirror image, several poses are the same array:
its tables are still equal in every orientation, its label images are so up to that symmetry.
"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    import torch

Plane = NDArray[np.float64]


def as_plane(image: "NDArray[Any] | torch.Tensor") -> Plane:
    """Turn a grey image into an (H, W) array of floats whose largest value is 1.

    Args:
        image: array or tensor of shape (H, W) or (1, H, W), soft or binary, background 0.

    Returns:
        The plane; an image without any positive pixel stays all zero.

    Example:
        >>> as_plane(np.array([[[0, 51, 255]]], dtype=np.uint8))
        array([[0. , 0.2, 1. ]])
    """
    raw = image if isinstance(image, np.ndarray) else image.detach().cpu().numpy()
    plane = np.asarray(raw, dtype=np.float64)
    if plane.ndim == 3 and plane.shape[0] == 1:
        plane = plane[0]
    if plane.ndim != 2 or plane.size == 0:
        raise SSplainError(
            f"A vessel image has the shape (H, W) or (1, H, W), not {tuple(raw.shape)}; "
            "pass one grey image at a time."
        )
    if not np.isfinite(plane).all() or plane.min() < 0:
        raise SSplainError(
            "A vessel image holds finite values of at least 0 with a background of exactly 0; "
            f"this one ranges from {plane.min()} to {plane.max()}: segment or clip it first."
        )
    # adding 0 turns -0.0 into 0.0, which the comparison of poses would tell apart
    return plane / (plane.max() or 1.0) + 0.0


@dataclass(frozen=True)
class Pose:
    """One of the eight ways to lay a grid down: flips of rows and columns, then a transposition."""

    flip_rows: bool
    flip_columns: bool
    transposed: bool

    def apply(self, plane: NDArray[Any]) -> NDArray[Any]:
        """Lay `plane` down in this pose."""
        turned = plane[:: -1 if self.flip_rows else 1, :: -1 if self.flip_columns else 1]
        return turned.T if self.transposed else turned

    def undo(self, plane: NDArray[Any]) -> NDArray[Any]:
        """Turn a plane in this pose back to how the caller had it."""
        turned = plane.T if self.transposed else plane
        back = turned[:: -1 if self.flip_rows else 1, :: -1 if self.flip_columns else 1]
        return np.ascontiguousarray(back)

    def undo_points(self, points: Plane, shape: tuple[int, int]) -> Plane:
        """Turn (n, 2) points (row, column) back; `shape` is that of the caller's image."""
        turned = points[:, ::-1] if self.transposed else points
        last = np.array(shape) - 1.0
        flips = np.array([self.flip_rows, self.flip_columns])
        return np.where(flips, last - turned, turned)


_POSES = tuple(Pose(*flags) for flags in product((False, True), repeat=3))


def canonical_pose(plane: Plane) -> Pose:
    """Choose the pose whose array is the largest of the eight, by shape and then by content.

    Example:
        >>> plane = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
        >>> canonical_pose(plane).apply(plane)
        array([[1., 0.],
               [0., 0.],
               [0., 0.]])
        >>> turned = np.rot90(plane)
        >>> np.array_equal(canonical_pose(turned).apply(turned), canonical_pose(plane).apply(plane))
        True
    """

    def key(pose: Pose) -> tuple[tuple[int, ...], bytes]:
        laid = pose.apply(plane)
        return laid.shape, laid.tobytes()

    return max(_POSES, key=key)
