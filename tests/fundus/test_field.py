import numpy as np
import pytest
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.fundus import field
from ssplain.fundus.photo import as_photo, flat, resized
from ssplain.fundus.plate import plate
from tests.fundus.eyes import blank_eye


def on(
    surround: float, height: int = 300, width: int = 400, radius: int = 190
) -> NDArray[np.float32]:
    row, column = np.ogrid[:height, :width]
    inside = np.hypot(row - height / 2, column - width / 2) < radius
    eye = np.broadcast_to(np.array([0.7, 0.4, 0.2], np.float32), (height, width, 3))
    return np.where(inside[..., None], eye, np.float32(surround))


@pytest.mark.parametrize("surround", [0.0, 0.08, 0.5, 1.0])
def test_the_surround_may_have_any_colour(surround: float) -> None:
    found = field(on(surround))
    assert found.bounded
    assert abs(found.radius - 190) < 4
    assert np.hypot(found.row - 149.5, found.column - 199.5) < 4
    true = np.hypot(*(np.mgrid[:300, :400] - np.array([150, 200])[:, None, None])) < 190
    assert (found.mask == true).mean() > 0.98


def test_a_dim_eye_keeps_its_field() -> None:
    assert abs(field(0.25 * blank_eye()).radius - 310) < 8


def test_an_eye_that_fills_the_frame_has_no_surround() -> None:
    found = field(blank_eye()[100:380, 180:460])
    assert not found.bounded
    assert found.mask.all()


@pytest.mark.parametrize("size", [(225, 300), (480, 640), (1500, 2000)])
def test_the_field_grows_with_the_photograph(size: tuple[int, int]) -> None:
    found = field(resized(blank_eye(), size))
    assert found.mask.shape == size
    assert abs(found.radius / size[1] - 310 / 640) < 0.01


def test_bytes_floats_and_tensors_are_one_photograph() -> None:
    torch = pytest.importorskip("torch")
    photo = np.rint(255 * blank_eye()).astype(np.uint8)
    as_floats = as_photo(photo.astype(np.float32) / 255)
    assert np.allclose(as_photo(photo), as_floats)
    assert np.allclose(as_photo(torch.from_numpy(photo).permute(2, 0, 1)), as_floats)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((5, 60, 60)),
        np.zeros((20, 20, 3)),
        np.full((60, 60, 3), 7.0),
        np.full((60, 60), np.nan),
    ],
)
def test_what_is_no_photograph_is_told_in_a_sentence(bad: NDArray[np.float64]) -> None:
    with pytest.raises(SSplainError, match="photograph"):
        field(bad)


def test_gain_and_tint_cancel_out() -> None:
    ready = plate(blank_eye(), 320)
    other = (0.6 * ready.photo * np.array([1.0, 0.8, 1.2], np.float32)).astype(np.float32)
    even, same = flat(ready.photo, ready.inside, 15), flat(other, ready.inside, 15)
    assert np.abs(even - same)[ready.inside].mean() < 0.15 * np.abs(even)[ready.inside].mean()
    assert (even[~ready.inside] == 0).all()


BORDERS = {"white": (1, 1, 1), "blue": (0.1, 0.2, 0.8), "grey": (0.5, 0.5, 0.5)}


def bordered(photo: NDArray[np.float32], colour: tuple[float, ...], px: int) -> NDArray[np.float32]:
    height, width = photo.shape[:2]
    page = np.broadcast_to(np.array(colour, np.float32), (height + 2 * px, width + 2 * px, 3))
    page = page.copy()
    page[px : px + height, px : px + width] = photo
    return page


@pytest.mark.parametrize("px", [40, 300])
@pytest.mark.parametrize("colour", [*BORDERS.values(), (0, 0, 0)], ids=[*BORDERS, "black"])
def test_a_border_is_no_part_of_the_eye(colour: tuple[float, ...], px: int) -> None:
    alone, found = field(blank_eye()), field(bordered(blank_eye(), colour, px))
    assert found.bounded
    assert abs(found.radius - alone.radius) < 4
    assert np.hypot(found.row - px - alone.row, found.column - px - alone.column) < 4
    there = found.mask[px:-px, px:-px]
    assert (there == alone.mask).mean() > 0.97
    assert there.sum() > 0.99 * found.mask.sum()


def test_a_border_may_have_a_border() -> None:
    page = bordered(bordered(blank_eye(), (1, 1, 1), 50), (0.2, 0.3, 0.5), 60)
    assert abs(field(page).radius - field(blank_eye()).radius) < 4


def test_an_eye_that_fills_its_frame_has_the_side_of_that_frame_within_a_border() -> None:
    found = field(bordered(blank_eye()[100:380, 180:460], (1, 1, 1), 100))
    assert not found.bounded
    assert abs(found.side - 280) < 8


def test_half_a_field_is_a_field() -> None:
    alone, found = field(blank_eye()), field(blank_eye()[:, :320])
    assert found.bounded
    assert abs(found.radius - alone.radius) < 8
    assert abs(found.column - alone.column) < 8


@pytest.mark.parametrize("gap", [0, 30])
def test_eyes_side_by_side_are_counted(gap: int) -> None:
    one = on(0, 400, 400, 199)
    between = np.zeros((400, gap, 3), np.float32)
    assert field(one).eyes == 1
    assert field(np.concatenate([one, between, one[:, ::-1]], axis=1)).eyes == 2
    row = np.concatenate([one, one], axis=1)
    assert field(np.concatenate([row, row])).eyes == 4
