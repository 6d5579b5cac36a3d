import captum.attr
import pytest
import torch
from torch import Tensor

from ssplain import SSplainError
from ssplain.rivals.occlusion import Occlusion
from tests.explain.small import pictures, small


@pytest.mark.parametrize(
    ("window", "stride", "shape"),
    [(1, 1, (12, 10)), (4, 2, (12, 10)), (5, 3, (13, 9)), (7, 4, (33, 20))],
)
@pytest.mark.parametrize("channels", [1, 3])
def test_equals_captum(window: int, stride: int, shape: tuple[int, int], channels: int) -> None:
    model, images = small(channels=channels), pictures(2, channels, shape)
    maps = Occlusion(model, window=window, stride=stride).attribute(images, [0, 2])
    expected = captum.attr.Occlusion(model).attribute(
        images,
        sliding_window_shapes=(channels, window, window),
        strides=(channels, stride, stride),
        target=torch.tensor([0, 2]),
    )
    torch.testing.assert_close(maps, expected[:, :1].detach(), atol=2e-6, rtol=1e-4)


def test_black_windows_are_not_tried() -> None:
    calls: list[int] = []

    def counting(x: Tensor) -> Tensor:
        calls.append(len(x))
        return x.flatten(1)

    image = torch.zeros(1, 1, 8, 8)
    image[0, 0, 2, 3] = 1.0
    maps = Occlusion(counting, output_kind="probs").attribute(image, 19)
    # once to look at the output, once whole, once without the only bright pixel
    assert sum(calls) == 3
    assert maps[0, 0, 2, 3] == 1
    assert float(maps.sum()) == 1


def test_a_black_image_has_a_map_of_zeros() -> None:
    assert not bool(Occlusion(small(), window=3).attribute(torch.zeros(2, 1, 9, 9), 0).any())


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"window": 2, "stride": 3}, "stride=3 is larger than window=2"),
        ({"window": 20}, "window=20 does not fit into images of 12x10"),
        ({"window": 1.5}, "window=1.5 does not work"),
    ],
)
def test_mistakes_are_named(settings: dict[str, int], says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        Occlusion(small(), **settings).attribute(pictures())
