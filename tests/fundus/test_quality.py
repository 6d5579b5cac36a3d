import sys

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter, uniform_filter1d

from ssplain.data import bundled
from ssplain.fundus import SURE, quality, segment
from ssplain.fundus.photo import resized
from tests.fundus.eyes import blank_eye, painted_eye


def text() -> np.ndarray:
    page = Image.new("RGB", (600, 800), "white")
    for line in range(40):
        ImageDraw.Draw(page).text((30, 18 * line + 20), "a page of text, no eye " * 4, fill="black")
    return np.asarray(page)


def digit() -> np.ndarray:
    image: np.ndarray = np.kron(bundled("mnist")[0][0, 0].numpy(), np.ones((8, 8)))
    return image


def segmented() -> np.ndarray:
    image: np.ndarray = bundled("rop")[0][0, 0].numpy()
    return image


OTHERS = {
    "cat": skimage.data.chelsea,
    "coffee": skimage.data.coffee,
    "face": skimage.data.astronaut,
    "tissue": skimage.data.immunohistochemistry,
    "stars": skimage.data.hubble_deep_field,
    "page": text,
    "digit": digit,
    "grey": lambda: np.full((200, 300, 3), 128, np.uint8),
    "white": lambda: np.full((200, 300, 3), 255, np.uint8),
    "black": lambda: np.zeros((200, 300, 3), np.uint8),
    "orange": lambda: np.full((200, 300, 3), (200, 100, 40), np.uint8),
    "vessels": segmented,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_fundus_is_refused(name: str) -> None:
    verdict = quality(OTHERS[name]())
    assert not verdict.fundus
    assert verdict.reasons[0].startswith("not a fundus: ")


def test_an_adults_eye_of_another_camera_is_a_fundus() -> None:
    verdict = quality(skimage.data.retina())  # type: ignore[no-untyped-call]
    assert verdict.fundus
    assert verdict.good


def test_a_good_photograph_has_nothing_against_it() -> None:
    assert quality(painted_eye().photo).good


def test_faults_are_named() -> None:
    photo = painted_eye().photo
    assert [r.split(":")[0] for r in quality(0.15 * photo).reasons] == ["dark"]
    assert "blurred" in [
        r.split(":")[0] for r in quality(gaussian_filter(photo, (5, 5, 0))).reasons
    ]
    assert "few vessels" in [r.split(":")[0] for r in quality(blank_eye(disc=False)).reasons]
    glaring = np.clip(1.9 * photo, 0, 1)
    assert "glaring" in [r.split(":")[0] for r in quality(glaring).reasons]


@pytest.mark.parametrize("axis", [0, 1])
def test_a_camera_that_moved_is_named(axis: int) -> None:
    moved = uniform_filter1d(painted_eye().photo, 15, axis=axis)
    assert "smeared" in [r.split(":")[0] for r in quality(moved).reasons]


def test_several_eyes_are_not_read_as_one() -> None:
    photo = painted_eye().photo
    verdict = quality(np.concatenate([photo, photo[:, ::-1]], axis=1))
    assert not verdict.fundus
    assert verdict.reasons[0].startswith("several eyes: ")


def test_a_small_photograph_is_called_small() -> None:
    photo = painted_eye().photo
    assert "small" in [r.split(":")[0] for r in quality(resized(photo, (90, 120))).reasons]
    assert "small" not in [r.split(":")[0] for r in quality(resized(photo, (240, 320))).reasons]


def test_a_border_is_not_held_against_a_photograph() -> None:
    page = np.ones((600, 760, 3), np.float32)
    page[60:540, 60:700] = painted_eye().photo
    assert quality(page).good


def test_vessels_that_are_there_are_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["ssplain.fundus.quality"], "segment", None)
    photo = painted_eye().photo
    assert "few vessels" in quality(photo, np.zeros((480, 640))).reasons[0]


def test_a_length_of_vessels_is_that_of_the_sure_ones() -> None:
    photo = painted_eye(label=1).photo
    length, sure, faint = (
        judged.measures["vessel_length"]
        for judged in (
            quality(photo),
            quality(photo, segment(photo, least=SURE)),
            quality(photo, segment(photo)),
        )
    )
    assert length == sure < faint
