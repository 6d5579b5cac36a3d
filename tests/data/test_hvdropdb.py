import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ssplain.data.hvdropdb import CAMERAS, PALE, WITHOUT_DISC, eyes
from ssplain.errors import SSplainError

HOME = Path(os.environ.get("SSPLAIN_DATA", "")) / "hvdropdb"
needs_data = pytest.mark.skipif(
    not os.environ.get("SSPLAIN_DATA") or not HOME.is_dir(), reason="needs HVDROPDB"
)


def write(home: Path, count: int) -> None:
    for folder, mode in (("retcam_rgb", "RGB"), ("retcam_mask", "L")):
        (home / folder).mkdir()
        for number in range(count):
            Image.new(mode, (40, 36), 255).save(home / folder / f"{number:02}.png")


def test_runs_of_photographs_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, 40)
    train = [eye.name for eye in eyes(tmp_path, "vessels", "retcam", "train")]
    test = [eye.name for eye in eyes(tmp_path, "vessels", "retcam", "test")]
    assert len(train) == 32
    assert test == [f"retcam/{n:02}" for n in (4, 5, 6, 7, 24, 25, 26, 27)]
    assert not set(train) & set(test)
    assert len(eyes(tmp_path, "vessels", "retcam")) == 40


def test_a_photograph_without_a_drawing_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, 3)
    (tmp_path / "retcam_mask" / "01.png").unlink()
    found = eyes(tmp_path, "vessels", "retcam")
    assert [eye.name for eye in found] == ["retcam/00", "retcam/02"]
    assert found[0].photo.shape == (36, 40, 3)
    assert found[0].mask.dtype == np.bool_


def test_a_wrong_folder_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="--data"):
        eyes(tmp_path / "none", "vessels", "neo")
    with pytest.raises(SSplainError, match="hold no photograph"):
        eyes(tmp_path, "disc", "neo")


@needs_data
def test_the_real_set_is_whole_and_what_was_seen_by_eye_names_it() -> None:
    names = set()
    for camera in CAMERAS:
        for drawn in ("vessels", "disc"):
            folder = HOME / f"{camera}{'_disc' if drawn == 'disc' else ''}_rgb"
            assert len(list(folder.iterdir())) == 40
        names |= {f"{camera}/{path.stem}" for path in (HOME / f"{camera}_rgb").iterdir()}
    assert names >= PALE | WITHOUT_DISC


@needs_data
def test_no_eye_left_out_for_the_disc_is_learned_from_without_one() -> None:
    """Negatives come from the vessel folders; none shows an eye of the disc folders."""

    def small(photo: np.ndarray) -> np.ndarray:
        thumb = Image.fromarray(np.rint(255 * photo).astype(np.uint8)).resize((24, 24))
        plane = np.asarray(thumb, float).ravel()
        unit: np.ndarray = (plane - plane.mean()) / plane.std()
        return unit

    for camera in CAMERAS:
        tested = [small(eye.photo) for eye in eyes(None, "disc", camera, "test")]
        for eye in eyes(None, "vessels", camera, "train"):
            if eye.name in WITHOUT_DISC:
                alike = max(float((small(eye.photo) * other).mean()) for other in tested)
                assert alike < 0.995, eye.name
