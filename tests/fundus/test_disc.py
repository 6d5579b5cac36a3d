import numpy as np
import pytest

from ssplain.fundus import find_disc
from ssplain.fundus.photo import resized
from tests.fundus.eyes import DISC, blank_eye, painted_eye


@pytest.mark.parametrize("width", [400, 640, 1600])
def test_the_disc_is_found_at_any_size(width: int) -> None:
    photo = resized(painted_eye().photo, (width * 3 // 4, width))
    found = find_disc(photo)
    assert found is not None
    row, column, radius = np.array(found) * 640 / width
    assert np.hypot(row - DISC[0], column - DISC[1]) < DISC[2] / 2
    assert 0.6 < radius / DISC[2] < 1.5


def test_no_disc_is_made_up() -> None:
    assert find_disc(blank_eye(disc=False)) is None
    assert find_disc(np.full((300, 300, 3), 0.5)) is None
    photo = painted_eye().photo
    assert find_disc(photo[:, 300:]) is None
