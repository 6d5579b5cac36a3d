from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import ssplain
from ssplain.data import read_any, read_image
from ssplain.data.remarks import HAZY, haze, is_jpeg, unused_bits

EYE = ssplain.data.bundled("rop")[0][0]
DIGIT = ssplain.data.bundled("mnist")[0][0]


def saved(image: torch.Tensor, path: Path, **options: object) -> Path:
    Image.fromarray((image[0] * 255).round().byte().numpy()).save(path, **options)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize("image", [EYE, DIGIT], ids=["eye", "digit"])
@pytest.mark.parametrize("quality", [50, 75, 90])
def test_jpeg_leaves_a_haze_and_png_does_not(
    tmp_path: Path, image: torch.Tensor, quality: int
) -> None:
    jpeg = saved(image, tmp_path / "a.jpg", quality=quality)
    png = saved(image, tmp_path / "a.png")
    hazy = read_image(jpeg)
    assert float((hazy > 0).sum()) > 1.3 * float((image > 0).sum())
    assert haze(hazy) >= HAZY
    assert haze(read_image(png)) < HAZY / 2
    assert is_jpeg(jpeg)
    assert not is_jpeg(png)


def test_a_jpeg_of_another_name_is_one(tmp_path: Path) -> None:
    saved(DIGIT, tmp_path / "a.jpg").rename(tmp_path / "a.png")
    assert is_jpeg(tmp_path / "a.png")


def test_a_photograph_has_no_haze() -> None:
    dark = torch.rand(3, 32, 32, generator=torch.Generator().manual_seed(0)) * 0.5 + 0.02
    assert haze(dark) == 0
    assert haze(torch.zeros(1, 4, 4)) == 0


@pytest.mark.parametrize("ending", ["png", "tif", "npz"])
def test_twelve_bits_in_sixteen_are_noticed(tmp_path: Path, ending: str) -> None:
    values = (EYE[0] * 4095).round().numpy().astype(np.uint16)
    path = tmp_path / f"a.{ending}"
    if ending == "npz":
        np.savez(path, images=values)
    else:
        Image.fromarray(values).save(path)
    told = unused_bits(read_any(path), path)
    assert told is not None
    assert "12 bits" in told
    full = tmp_path / f"b.{ending}"
    if ending == "npz":
        np.savez(full, images=values * 16)
    else:
        Image.fromarray(values * 16).save(full)
    assert unused_bits(read_any(full), full) is None


def test_a_dark_file_of_eight_bits_is_just_dark(tmp_path: Path) -> None:
    path = saved(EYE * 0.05, tmp_path / "a.png")
    assert unused_bits(read_image(path), path) is None
