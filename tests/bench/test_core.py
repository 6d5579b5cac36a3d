import torch

import ssplain
from ssplain.bench.core import plain_loop
from ssplain.bench.timing import in_turn


def test_the_plain_loop_does_the_same_work() -> None:
    """A comparison of speeds means something only if both compute the same map."""
    images, labels = ssplain.data.bundled("fmnist")
    noise = torch.rand(1, 28, 28, generator=torch.Generator().manual_seed(0))
    image = (images[0] * 0.9 + 0.1 * noise) * (images[0] > 0)
    model = ssplain.models.load("lenet5-fmnist")
    settings = ssplain.preset("fmnist")
    ours = ssplain.SSplain(model, **settings).explain(image, int(labels[0]))
    theirs = plain_loop(model, image[0], int(labels[0]), settings)
    inside = ours.support[0, 0]
    torch.testing.assert_close(ours.scores[0, 0][inside], theirs[inside], rtol=0, atol=1e-3)


def test_two_things_are_timed_in_turn() -> None:
    calls: list[str] = []
    in_turn(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert calls == ["a", "b"] * 3
