"""What is seen of segmented vessels before they are graded."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ssplain.data import bundled
from ssplain.errors import SSplainError
from ssplain.reading.image import Seen, look, open_image
from tests.fundus.eyes import painted_eye
from tests.reading.eyes import cross


def tree() -> NDArray[np.float32]:
    image: NDArray[np.float32] = bundled("rop")[0][0, 0].numpy()
    return image


def seen(image: NDArray[np.generic]) -> Seen:
    return look(open_image(image))


def test_a_mask_of_zeros_and_ones_is_read_like_one_of_black_and_white() -> None:
    mask = (tree() > 0.3).astype(np.uint8)
    dim, bright = seen(mask), seen(255 * mask)
    assert np.array_equal(dim.vessels, bright.vessels)
    assert "as in a mask of zeros and ones" in dim.warnings[0]
    assert not bright.warnings


def test_vessels_of_ordinary_brightness_stay_as_they_are() -> None:
    for light in (1.0, 0.6):
        found = seen(np.float32(light) * cross())
        assert np.array_equal(found.vessels, np.float32(light) * cross())
        assert not found.warnings


def test_a_grey_photograph_is_not_taken_for_vessels() -> None:
    photo = painted_eye().photo
    for grey in (photo[..., 1], photo.mean(axis=2)):
        with pytest.raises(SSplainError, match="This is a grey picture"):
            seen((grey / grey.max()) ** 1.5)  # the disc is bright, the rest is light and shade


@pytest.mark.parametrize("ground", [0.05, 0.12, 0.3])
def test_a_map_on_a_noisy_ground_is_read(ground: float) -> None:
    noise = 0.03 * np.random.default_rng(0).standard_normal((224, 224))
    found = seen((ground + noise + (0.9 - ground) * tree()).clip(0, 1).astype(np.float32))
    assert found.warnings[0].startswith("The ground is not black")


@pytest.mark.parametrize("form", ["circle", "frame"])
def test_a_rim_round_the_vessels_is_told(form: str) -> None:
    row, column = np.mgrid[:224, :224] - 111.5
    away = np.hypot(row, column) if form == "circle" else np.maximum(abs(row), abs(column))
    assert "A line runs round" in seen(np.where(abs(away - 109) < 1.5, 1, tree())).warnings[0]
    assert not seen(tree()).warnings


def test_one_straight_vessel_is_no_rim() -> None:
    line = np.zeros((64, 64), np.float32)
    line[30, 4:60] = 1
    assert not seen(line).warnings


def test_a_broad_border_is_told() -> None:
    assert "cut the border off" in seen(np.pad(tree(), 200)).warnings[0]
    assert not seen(np.pad(tree(), 30)).warnings


def test_bundled_eyes_have_nothing_against_them() -> None:
    for image in bundled("rop")[0][:20]:
        assert not look(torch.as_tensor(image)).warnings
