"""Pictures that are no segmented eyes, though they are bright on black."""

from collections.abc import Callable

import numpy as np
import pytest

from ssplain.data import bundled
from ssplain.errors import SSplainError
from ssplain.reading.image import open_image
from ssplain.reading.plausible import check_vessels
from ssplain.vessels import trace
from tests.reading.eyes import cross, reader


def stars() -> np.ndarray:
    """Round spots of several sizes."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[:200, :200]
    image = np.zeros((200, 200), np.float32)
    for row, column, radius in zip(
        *rng.uniform(9, 191, (2, 60)), rng.uniform(2, 8, 60), strict=True
    ):
        image[np.hypot(rows - row, columns - column) < radius] = 1
    return image


def board() -> np.ndarray:
    rows, columns = np.mgrid[:200, :200] // 25
    return np.asarray((rows + columns) % 2, np.float32)


def digit() -> np.ndarray:
    return np.kron(bundled("mnist")[0][1, 0].numpy() > 0.3, np.ones((8, 8))).astype(np.float32)


@pytest.mark.parametrize("picture", [stars, board, digit])
def test_what_shows_no_vessels_is_not_graded(picture: Callable[[], np.ndarray]) -> None:
    with pytest.raises(SSplainError, match="This shows no vessels"):
        reader().read(open_image(picture()))


def test_eyes_pass_without_a_word() -> None:
    for image in bundled("rop")[0][::25]:
        assert check_vessels(trace(image)) == []


def test_stout_ones_are_doubted_and_read() -> None:
    stout = np.zeros((200, 200), np.float32)
    for row in (20, 80, 140):
        stout[row : row + 9, 20:72] = stout[row : row + 9, 110:162] = 1
    found = reader().read(open_image(stout))
    assert any("stout for vessels" in warning for warning in found.warnings)
    assert not any("stout" in warning for warning in reader().read(open_image(cross())).warnings)
