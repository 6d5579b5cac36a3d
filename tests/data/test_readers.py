"""Files of every kind through one call."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ssplain.data import pages_of, read_any, size_of
from ssplain.errors import SSplainError

PIXELS = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20


def pages(path: Path) -> Path:
    first, second = Image.fromarray(PIXELS), Image.fromarray(255 - PIXELS)
    first.save(path, save_all=True, append_images=[second])
    return path


def test_pages_of_a_tiff_are_images(tmp_path: Path) -> None:
    path = pages(tmp_path / "stack.tif")
    assert pages_of(path) == 2
    np.testing.assert_array_equal(read_any(path, 0)[0], PIXELS / np.float32(255))
    np.testing.assert_array_equal(read_any(path, 1)[0], (255 - PIXELS) / np.float32(255))
    with pytest.raises(SSplainError, match="no image 3"):
        read_any(path, 2)
    with pytest.raises(SSplainError, match="holds 2 images"):
        read_any(path)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (PIXELS, PIXELS / 255),
        (PIXELS.astype(np.uint16) * 257, PIXELS / 255),
        (PIXELS / 255, PIXELS / 255),
        (PIXELS > 100, PIXELS > 100),
    ],
)
def test_arrays_are_scaled_by_their_largest_value(
    tmp_path: Path, array: np.ndarray, expected: np.ndarray
) -> None:
    np.savez(tmp_path / "a.npz", images=np.stack([array, array]))
    assert pages_of(tmp_path / "a.npz") == 2
    np.testing.assert_allclose(read_any(tmp_path / "a.npz", 1)[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"images": PIXELS.astype(np.float32)}, r"not in \[0, 1\]"),
        ({"images": np.full((2, 3, 4), np.nan)}, r"not in \[0, 1\]"),
        ({"images": PIXELS.astype(np.int64)}, r"not in \[0, 1\]"),
        ({"a": PIXELS, "b": PIXELS}, "name the one meant 'images'"),
        ({"images": np.zeros((2, 5, 3, 4))}, "1 or 3 channels"),
        ({"images": np.zeros(4)}, "shape"),
        ({"images": np.array([None])}, "not a readable NPZ file"),
    ],
)
def test_arrays_that_are_no_images_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], told: str
) -> None:
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(SSplainError, match=told):
        read_any(tmp_path / "a.npz", 0)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"words"])
def test_damaged_arrays_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(SSplainError, match="not a readable NPZ file"):
        read_any(tmp_path / "a.npz")


def test_a_still_gif_is_read_and_an_animation_refused(tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "still.gif")
    assert read_any(tmp_path / "still.gif").shape == (1, 3, 4)
    with pytest.raises(SSplainError, match="animation of 2"):
        read_any(pages(tmp_path / "moving.gif"))


def test_the_size_is_known_before_the_image_is_read(tmp_path: Path) -> None:
    image = Image.fromarray(PIXELS)
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.jpg", exif=exif)
    for path in (tmp_path / "turned.jpg", pages(tmp_path / "stack.tif")):
        page = 0 if path.suffix == ".tif" else None
        assert size_of(path, page) == tuple(read_any(path, page).shape[1:])
    (tmp_path / "words.png").write_text("words")
    assert size_of(tmp_path / "words.png") == ()
