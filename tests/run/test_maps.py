from pathlib import Path

import pytest
import torch

from ssplain.data import bundled
from ssplain.explain import make
from ssplain.explain.protocol import ChannelRule, Progress
from ssplain.explain.targets import Target
from ssplain.models import load
from ssplain.run import Store, maps_in_pieces


class Counted:
    """The image as its map, counting the images; stops at one that is asked not to be reached."""

    def __init__(self, stop: int | None = None) -> None:
        self.seen = 0
        self.stop = stop

    def attribute(
        self,
        inputs: torch.Tensor,
        target: Target = None,
        *,
        over: ChannelRule = "mean",
        progress: Progress | None = None,
    ) -> torch.Tensor:
        if self.stop is not None and self.seen >= self.stop:
            raise KeyboardInterrupt
        self.seen += len(inputs)
        return inputs.clone()


def test_a_stopped_run_goes_on_without_repeating(tmp_path: Path) -> None:
    images, store = torch.rand(7, 1, 4, 4), Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        maps_in_pieces(store, Counted(stop=4), images, None, {}, name="c", piece=2)
    rest = Counted()
    told: list[int] = []
    made = maps_in_pieces(store, rest, images, None, {}, name="c", piece=2, progress=told.append)
    assert rest.seen == 3
    assert told == [2, 4, 6, 7]
    assert torch.equal(made.maps, images)
    assert made.seconds.shape == (7,)


def test_other_targets_models_or_images_are_explained_anew(tmp_path: Path) -> None:
    images, targets, store = torch.rand(2, 1, 4, 4), torch.tensor([0, 1]), Store(tmp_path)
    counted = Counted()
    for shown, wanted, about in (
        (images, targets, {}),
        (images, None, {}),
        (images, targets.flip(0), {}),
        (images, targets, {"model": 2}),
        (images.flip(0), targets, {}),
    ):
        maps_in_pieces(store, counted, shown, wanted, about, name="c", piece=2)
    assert counted.seen == 10


def test_pieces_give_the_maps_of_one_call(tmp_path: Path) -> None:
    images, labels = (part[:5] for part in bundled("mnist"))
    explainer = make("ssplain-0", load("lenet5-mnist"), "mnist")
    made = maps_in_pieces(Store(tmp_path), explainer, images, labels, {}, name="s", piece=2)
    torch.testing.assert_close(made.maps, explainer.attribute(images, labels), atol=1e-5, rtol=0)
