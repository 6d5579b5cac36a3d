import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssplain.errors import SSplainError
from ssplain.metrics.components import Rule, connected, largest_component


def by_networkx(image: torch.Tensor, rule: Rule) -> int:
    """The paper's appendix: a graph made of links, then the size of its largest component."""
    X = image.numpy()
    height, width = X.shape[1:]
    graph: nx.Graph[tuple[int, int]] = nx.Graph()
    if rule == "foreground":
        graph.add_nodes_from(zip(*(X != 0).any(0).nonzero(), strict=True))
    for j in range(height):
        for k in range(width):
            for a, b in ((j + 1, k), (j, k + 1)):
                if a < height and b < width:
                    differ = (X[:, j, k] != X[:, a, b]).any()
                    both = X[:, j, k].any() and X[:, a, b].any()
                    if differ if rule == "printed" else both:
                        graph.add_edge((j, k), (a, b))
    return max(map(len, nx.connected_components(graph)), default=0)


@pytest.mark.parametrize("rule", ["foreground", "printed"])
@given(
    shape=st.tuples(*[st.integers(1, size) for size in (6, 2, 9, 9)]),
    levels=st.integers(1, 4),
    seed=st.integers(0, 1000),
)
def test_equal_to_networkx(
    rule: Rule, shape: tuple[int, int, int, int], levels: int, seed: int
) -> None:
    images = torch.from_numpy(np.random.default_rng(seed).integers(0, levels, shape))
    assert largest_component(images, rule).tolist() == [by_networkx(x, rule) for x in images]


@pytest.mark.parametrize("rule", ["foreground", "printed"])
@settings(max_examples=25)
@given(channels=st.integers(1, 3), levels=st.integers(2, 4), seed=st.integers(0, 1000))
def test_each_step_is_equal_to_networkx(rule: Rule, channels: int, levels: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    images = torch.randint(levels, (2, channels, 5, 6), generator=generator).float()
    images[:, 0, 0, 0] = 1
    order = torch.stack([torch.randperm(30, generator=generator) for _ in images])
    maps = -order.view(2, 1, 5, 6).float()
    found = connected(images, maps, rule=rule, points=11)
    for image, rank, shares in zip(images, order.view(2, 5, 6), found, strict=True):
        whole = by_networkx(image, rule)
        steps = [by_networkx(image * (rank < count), rule) for count in range(0, 31, 3)]
        assert shares.tolist() == pytest.approx([step / max(whole, 1) for step in steps])


def test_the_printed_rule_cannot_see_a_flat_bar() -> None:
    """A bar of 11 x 49 pixels: 539 by the foreground rule, only its rim by the printed one."""
    bar = torch.zeros(1, 1, 21, 60)
    bar[:, :, 5:16, 5:54] = 1
    assert largest_component(bar).item() == 539
    assert largest_component(bar, "printed").item() == by_networkx(bar[0], "printed") < 10


def test_scattered_pixels_beat_contiguous_ones_only_under_the_printed_rule() -> None:
    generator = torch.Generator().manual_seed(0)
    X = torch.zeros(1, 1, 15, 60)
    X[:, :, 2:13, 5:55] = torch.rand(11, 50, generator=generator) + 0.5
    contiguous = -torch.arange(60.0).expand(1, 1, 15, 60)
    scattered = torch.rand(1, 1, 15, 60, generator=generator)
    shares = {
        (name, rule): connected(X, M, rule=rule, axis="support", points=3)[0, 1].item()
        for name, M in (("contiguous", contiguous), ("scattered", scattered))
        for rule in ("foreground", "printed")
    }
    assert shares["scattered", "printed"] > shares["contiguous", "printed"]
    assert shares["scattered", "foreground"] < shares["contiguous", "foreground"]
    assert shares["contiguous", "foreground"] == pytest.approx(0.5)


def test_curve_by_hand_in_a_batch() -> None:
    X = torch.tensor([[[[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]], [[[0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]]])
    M = torch.tensor([[[[5.0, 6.0, 4.0], [1.0, 2.0, 3.0]]], [[[5.0, 6.0, 4.0], [1.0, 2.0, 3.0]]]])
    # image 0 comes as: background, left, right, right, middle, left
    found = connected(X, M, points=7)
    assert found.tolist()[0] == pytest.approx([0, 0, 0.2, 0.2, 0.4, 0.6, 1])
    assert found.tolist()[1] == [0, 0, 0, 1, 1, 1, 1]


def test_flat_images_have_no_component_under_the_printed_rule() -> None:
    flat = torch.ones(1, 1, 3, 3)
    assert connected(flat, flat, rule="printed", points=2).tolist() == [[0.0, 0.0]]
    assert largest_component(torch.zeros(2, 1, 3, 3)).tolist() == [0, 0]


def test_unknown_rules_are_named() -> None:
    with pytest.raises(SSplainError, match="rule='eight'"):
        largest_component(torch.ones(1, 1, 2, 2), "eight")  # type: ignore[arg-type]
