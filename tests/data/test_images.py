import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ssplain.data.images import read_image, resize
from ssplain.errors import SSplainError

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
COLOUR = np.stack([GREY, GREY[::-1], 255 - GREY], axis=-1)


def write(path: Path, image: Image.Image, **options: object) -> Path:
    image.save(path, **options)  # type: ignore[arg-type]
    return path


def as_array(image: torch.Tensor) -> np.ndarray:
    return np.asarray(image.permute(1, 2, 0))


@pytest.mark.parametrize("ending", ["png", "tif", "bmp"])
def test_grey_and_colour_come_back_exactly(tmp_path: Path, ending: str) -> None:
    grey = read_image(write(tmp_path / f"grey.{ending}", Image.fromarray(GREY)))
    assert grey.dtype == torch.float32
    assert grey.is_contiguous()
    np.testing.assert_array_equal(grey, (GREY / np.float32(255))[None])
    colour = read_image(write(tmp_path / f"colour.{ending}", Image.fromarray(COLOUR)))
    np.testing.assert_array_equal(as_array(colour), COLOUR / np.float32(255))


def test_jpeg_comes_back_nearly(tmp_path: Path) -> None:
    smooth = np.add.outer(np.arange(32), np.arange(48)).astype(np.uint8) * 3
    image = read_image(write(tmp_path / "smooth.jpg", Image.fromarray(smooth), quality=95))
    assert image.shape == (1, 32, 48)
    np.testing.assert_allclose(image[0], smooth / 255, atol=0.02)


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_sixteen_bits_keep_their_steps(tmp_path: Path, ending: str) -> None:
    values = np.array([[0, 1, 65535], [256, 40000, 65534]], dtype=np.uint16)
    image = read_image(write(tmp_path / f"deep.{ending}", Image.fromarray(values)))
    np.testing.assert_array_equal(image[0], values.astype(np.float32) / 65535)


def test_big_endian_sixteen_bits_are_understood(tmp_path: Path) -> None:
    values = np.array([[0, 1], [256, 65535]], dtype=">u2")
    path = write(tmp_path / "deep.tif", Image.frombytes("I;16B", (2, 2), values.tobytes()))
    np.testing.assert_array_equal(read_image(path)[0], values.astype(np.float32) / 65535)


def test_one_bit_is_zero_or_one(tmp_path: Path) -> None:
    mask = GREY > 100
    image = read_image(write(tmp_path / "mask.png", Image.fromarray(mask)))
    np.testing.assert_array_equal(image[0], mask.astype(np.float32))


def test_palettes_are_looked_up(tmp_path: Path) -> None:
    image = Image.fromarray(np.array([[0, 1], [1, 0]], dtype=np.uint8)).convert("P")
    image.putpalette([255, 0, 0, 0, 0, 255])
    expected = np.array([[[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [1, 0, 0]]], dtype=np.float32)
    np.testing.assert_array_equal(as_array(read_image(write(tmp_path / "p.png", image))), expected)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_is_laid_on_black(tmp_path: Path, mode: str) -> None:
    alpha = np.array([[0, 255, 51], [255, 0, 102]], dtype=np.uint8)
    image = Image.new(mode[:-1], (3, 2), "white")
    image.putalpha(Image.fromarray(alpha))
    found = read_image(write(tmp_path / "a.png", image))
    assert found.shape == (1, 2, 3)
    np.testing.assert_allclose(found[0], alpha / 255, atol=1e-6)


def test_a_transparent_palette_entry_becomes_black(tmp_path: Path) -> None:
    image = Image.fromarray(np.array([[0, 1]], dtype=np.uint8)).convert("P")
    image.putpalette([255, 255, 255, 255, 255, 255])
    path = write(tmp_path / "p.png", image, transparency=0)
    assert read_image(path).tolist() == [[[0.0, 1.0]]]


def test_colour_with_equal_channels_is_grey(tmp_path: Path) -> None:
    same = np.stack([GREY] * 3, axis=-1)
    assert read_image(write(tmp_path / "same.png", Image.fromarray(same))).shape == (1, 3, 4)
    same[1, 2, 0] += 1
    assert read_image(write(tmp_path / "other.png", Image.fromarray(same))).shape == (3, 3, 4)


@pytest.mark.parametrize(
    ("orientation", "turn"),
    [(3, lambda a: a[::-1, ::-1]), (6, lambda a: np.rot90(a, -1)), (8, lambda a: np.rot90(a, 1))],
)
def test_exif_orientation_is_applied(tmp_path: Path, orientation: int, turn: object) -> None:
    image = Image.fromarray(GREY)
    exif = image.getexif()
    exif[0x0112] = orientation
    found = read_image(write(tmp_path / "turned.png", image, exif=exif))
    np.testing.assert_array_equal(found[0], turn(GREY) / np.float32(255))  # type: ignore[operator]


def test_floats_must_be_in_the_unit_interval(tmp_path: Path) -> None:
    values = np.array([[0.0, 0.25], [0.5, 1.0]], dtype=np.float32)
    good = write(tmp_path / "good.tif", Image.fromarray(values))
    np.testing.assert_array_equal(read_image(good)[0], values)
    for wrong in (1.5, -0.1, np.nan):
        values[0, 0] = wrong
        with pytest.raises(SSplainError, match=r"outside \[0, 1\]"):
            read_image(write(tmp_path / "wrong.tif", Image.fromarray(values)))


def test_wide_integers_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "wide.tif", Image.fromarray(np.array([[70000]], dtype=np.int32)))
    with pytest.raises(SSplainError, match="32-bit integers"):
        read_image(path)


def test_stacks_are_refused(tmp_path: Path) -> None:
    first, second = Image.fromarray(GREY), Image.fromarray(GREY[::-1].copy())
    path = write(tmp_path / "stack.tif", first, save_all=True, append_images=[second])
    with pytest.raises(SSplainError, match="holds 2 images"):
        read_image(path)


def png_without_pixels(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(b""))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.png", b"", "is empty"),
        ("words.png", b"not a picture", "is not an image"),
        ("cut.gif", b"GIF89a\x01\x00\x01\x00\x00\x00\x00;", "is not an image"),
        ("header.png", png_without_pixels(5, 5), "is damaged"),
        ("bomb.png", png_without_pixels(50_000, 50_000), "million pixels"),
        ("large.png", png_without_pixels(10_000, 10_000), "million pixels"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_files_are_told(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SSplainError, match=complaint) as caught:
        read_image(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="does not exist"):
        read_image(tmp_path / "none.png")
    with pytest.raises(SSplainError, match="is a folder"):
        read_image(tmp_path)


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's own remarks on odd tags
@pytest.mark.parametrize("ending", ["png", "tiff", "jpeg", "bmp"])
def test_damaged_files_are_read_or_refused_but_never_crash(tmp_path: Path, ending: str) -> None:
    stream = io.BytesIO()
    Image.fromarray(COLOUR).resize((20, 30)).save(stream, ending)
    whole = stream.getvalue()
    path = tmp_path / f"damaged.{ending}"
    dice = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        content = bytearray(whole[: dice.integers(1, len(whole))])
        content[dice.integers(len(content))] = dice.integers(256)
        path.write_bytes(content)
        try:
            image = read_image(path)
        except SSplainError:
            refused += 1
        else:
            assert image.min() >= 0
            assert image.max() <= 1
    assert refused > 100


def test_resize_averages_when_it_shrinks() -> None:
    checks = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).repeat(1, 16, 16)
    small = resize(checks, (4, 4))
    torch.testing.assert_close(small, torch.full((1, 4, 4), 0.5), rtol=0, atol=0.02)


def test_resize_agrees_with_pillow() -> None:
    values = np.random.default_rng(0).random((24, 40)).astype(np.float32)
    expected = np.asarray(
        Image.fromarray(values).resize((13, 9), Image.Resampling.BILINEAR, reducing_gap=None)
    )
    found = resize(torch.from_numpy(values)[None], (9, 13))
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


def test_resize_keeps_range_channels_and_identity() -> None:
    image = torch.ones(3, 7, 5)
    assert resize(image, (7, 5)) is image
    grown = resize(image, (30, 11))
    assert grown.shape == (3, 30, 11)
    assert grown.max() <= 1
    with pytest.raises(SSplainError, match="0x4"):
        resize(image, (0, 4))
