from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.vessels.pose import as_plane, canonical_pose

small = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.sampled_from([0.0, 0.25, 1.0]),
)


def laid_out(plane: NDArray[Any]) -> list[NDArray[Any]]:
    """The eight ways to turn and flip a plane."""
    return [np.rot90(side, turns) for side in (plane, plane[::-1]) for turns in range(4)]


@given(small)
def test_the_canonical_plane_is_the_same_in_all_eight_orientations(
    plane: NDArray[np.float64],
) -> None:
    first, *others = (canonical_pose(turned).apply(turned) for turned in laid_out(plane))
    assert all(np.array_equal(first, other) for other in others)


@given(small)
def test_undo_gives_planes_and_points_back(plane: NDArray[np.float64]) -> None:
    shape = (plane.shape[0], plane.shape[1])
    pose = canonical_pose(plane)
    assert np.array_equal(pose.undo(pose.apply(plane)), plane)
    numbers = np.arange(plane.size).reshape(shape)
    points = np.argwhere(np.ones_like(pose.apply(plane)))
    row, column = pose.undo_points(points.astype(float), shape).astype(int).T
    assert np.array_equal(numbers[row, column], pose.apply(numbers).ravel())


@pytest.mark.parametrize(
    "image",
    [
        np.array([[0, 255], [51, 0]], dtype=np.uint8),
        np.array([[[0.0, 1.0], [0.2, -0.0]]]),
        torch.tensor([[0.0, 1.0], [0.2, 0.0]], requires_grad=True),
        torch.tensor([[[0.0, 5.0], [1.0, 0.0]]], dtype=torch.float64),
    ],
)
def test_arrays_and_tensors_become_one_plane_up_to_1(image: NDArray[Any] | torch.Tensor) -> None:
    plane = as_plane(image)
    assert plane.dtype == np.float64
    np.testing.assert_allclose(plane, np.array([[0.0, 1.0], [0.2, 0.0]]), rtol=1e-7)
    assert not np.signbit(plane).any()


def test_masks_and_black_images_are_planes_too() -> None:
    assert as_plane(np.eye(3, dtype=bool)).max() == 1
    assert not as_plane(np.zeros((2, 5))).any()


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((3, 4, 4)), r"not \(3, 4, 4\)"),
        (np.zeros(4), r"not \(4,\)"),
        (np.zeros((0, 4)), r"not \(0, 4\)"),
        (np.array([[0.0, np.nan]]), "finite"),
        (np.array([[0.0, -0.5]]), "from -0.5"),
    ],
)
def test_what_is_no_vessel_image_is_refused(image: NDArray[Any], words: str) -> None:
    with pytest.raises(SSplainError, match=words):
        as_plane(image)
