import pytest
import torch
from safetensors.torch import save_file

from ssplain.errors import SSplainError
from ssplain.models import load
from ssplain.models.card import PIXELWISE, WEIGHTS, folder_of
from ssplain.models.unet import UNet


@pytest.mark.parametrize("maps", [1, 2])
@pytest.mark.parametrize("size", [(16, 16), (31, 50)])
def test_the_map_is_as_large_as_the_image(maps: int, size: tuple[int, int]) -> None:
    network = UNet(3, (4, 6, 8), maps).eval()
    assert network(torch.rand(2, 3, *size)).shape == (2, maps, *size)


def test_a_shift_by_the_coarsest_step_shifts_the_map() -> None:
    network = UNet(1, (4, 6)).eval()
    image = torch.zeros(1, 1, 64, 64)
    image[..., 20:30, 24:28] = 1
    moved = torch.roll(image, (network.coarsest, 2 * network.coarsest), (2, 3))
    a, b = network(image), network(moved)
    back = torch.roll(b, (-network.coarsest, -2 * network.coarsest), (2, 3))
    assert torch.allclose(a[..., 8:48, 8:48], back[..., 8:48, 8:48], atol=1e-5)


@pytest.mark.parametrize("name", PIXELWISE)
def test_bundled_networks_are_small_and_load(name: str) -> None:
    assert (folder_of(name) / WEIGHTS).stat().st_size < 4_000_000
    assert isinstance(load(name), UNet)


def test_weights_tell_the_shape_of_their_network(tmp_path: "pytest.TempPathFactory") -> None:
    path = tmp_path / "own.safetensors"  # type: ignore[operator]
    save_file(UNet(1, (4, 6), maps=3).state_dict(), path)
    assert load(path, architecture="unet")(torch.zeros(1, 1, 8, 8)).shape == (1, 3, 8, 8)
    save_file({"other": torch.zeros(1)}, path)
    with pytest.raises(SSplainError, match="does not fit unet"):
        load(path, architecture="unet")
