import pytest
import torch

from ssplain.bench.metrics import by_graph
from ssplain.metrics import largest_component
from ssplain.metrics.components import Rule


@pytest.mark.parametrize("rule", ["foreground", "printed"])
def test_the_graph_does_the_same_work(rule: Rule) -> None:
    images = torch.randint(0, 3, (20, 1, 11, 13), generator=torch.Generator().manual_seed(0))
    expected = [by_graph(image[0], rule) for image in images]
    assert largest_component(images, rule).tolist() == expected
