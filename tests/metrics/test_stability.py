import itertools

import pytest
import torch
from captum.metrics import sensitivity_max
from torch import Tensor

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics.agreement import spearman
from ssplain.metrics.stability import max_sensitivity, seed_agreement


def test_equal_to_captum_on_the_same_noise() -> None:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:3] for part in ssplain.data.bundled("mnist"))
    explainer = ssplain.SSplain(model, **ssplain.preset("mnist"))

    def explain(x: Tensor) -> Tensor:
        return explainer.attribute(x, labels)

    fields = torch.Generator().manual_seed(4)

    def perturb(x: Tensor, radius: float) -> Tensor:
        noise = 2 * torch.rand(x.shape[1:], generator=fields) - 1
        return x + (x != 0) * noise * radius

    theirs = sensitivity_max(
        lambda x: (explain(x[0] if isinstance(x, tuple) else x),),
        images,
        perturb_func=perturb,
        perturb_radius=0.05,
        n_perturb_samples=4,
        max_examples_per_batch=3,
    )
    ours = max_sensitivity(explain, images, radius=0.05, draws=4, seed=4)
    torch.testing.assert_close(ours.float(), theirs, rtol=1e-4, atol=1e-6)
    assert bool((ours > 0).all())


def test_by_hand_for_a_linear_map() -> None:
    """E(X) = 3 X moves by 3 r: the ratio is the largest noise over the size of the image."""
    images = torch.ones(2, 1, 1, 1) * torch.tensor([1.0, 2.0]).view(2, 1, 1, 1)
    generator = torch.Generator().manual_seed(0)
    draws = [abs(2 * float(torch.rand(1, generator=generator)) - 1) * 0.1 for _ in range(5)]
    found = max_sensitivity(lambda x: 3 * x, images, radius=0.1, draws=5)
    assert found.tolist() == pytest.approx([max(draws), max(draws) / 2], rel=1e-4)


def test_noise_stays_on_the_support() -> None:
    seen: list[Tensor] = []

    def explain(x: Tensor) -> Tensor:
        seen.append(x)
        return x[:, :1]

    images = torch.tensor([[[[0.0, 0.5, 0.0, 0.7]]]])
    max_sensitivity(explain, images, draws=3)
    assert len(seen) == 4
    assert all(torch.equal(x != 0, images != 0) for x in seen)
    assert not torch.equal(seen[1], seen[2])
    max_sensitivity(explain, images, draws=1, support=None)
    assert bool((seen[-1] != 0).all())


def test_maps_of_zeros_are_divided_by_one() -> None:
    assert max_sensitivity(lambda x: x * 0, torch.ones(1, 1, 2, 2)).tolist() == [0.0]


def test_agreement_is_the_mean_over_pairs() -> None:
    runs = torch.rand(3, 2, 1, 5, 5, generator=torch.Generator().manual_seed(0))
    inside = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(1)) > 0.3
    pairs = [spearman(runs[i], runs[j], inside) for i, j in itertools.combinations(range(3), 2)]
    torch.testing.assert_close(seed_agreement(runs, inside), sum(pairs, torch.zeros(2)) / 3)


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="at least 2 seeds"):
        seed_agreement(torch.zeros(1, 1, 1, 2, 2), torch.ones(1, 1, 2, 2, dtype=torch.bool))
    with pytest.raises(SSplainError, match="radius=0"):
        max_sensitivity(lambda x: x, torch.ones(1, 1, 2, 2), radius=0)
    with pytest.raises(SSplainError, match="NaN"):
        max_sensitivity(lambda x: x * torch.nan, torch.ones(1, 1, 2, 2))
