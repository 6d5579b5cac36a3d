"""Each explanation can say how much of it stays under noise."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor

import ssplain
from ssplain import SSplain
from ssplain.errors import SSplainError
from ssplain.explain import Explanation, Stability, measure_stability
from ssplain.question.protocol import Question

IMAGES, LABELS = (part[:4] for part in ssplain.data.bundled("mnist"))
MODEL = ssplain.models.load("lenet5-mnist")


def test_numbers_are_those_of_a_slow_version() -> None:
    """One image, one draw at a time, with scipy's Spearman and Python's sort."""
    explainer = SSplain(MODEL, iterations=6)
    found = measure_stability(
        lambda x: explainer.attribute(x, LABELS), IMAGES, IMAGES != 0, draws=2, seed=3
    )
    generator = torch.Generator().manual_seed(3)
    fields = [2 * torch.rand(1, 28, 28, generator=generator) - 1 for _ in range(2)]
    for r, radius in enumerate((1e-6, 1e-3)):
        for i in range(4):
            image, inside = IMAGES[i], (IMAGES[i] != 0).flatten().numpy()
            first = explainer.attribute(image[None], LABELS[i : i + 1]).flatten().numpy()[inside]
            k = max(1, int(inside.sum() * 0.25))
            overlaps, ranks = [], []
            for field in fields:
                noisy = image + (image != 0) * field * radius
                moved = explainer.attribute(noisy[None], LABELS[i : i + 1]).flatten().numpy()
                moved = moved[inside]
                top = [set(np.argsort(-m, kind="stable")[:k].tolist()) for m in (first, moved)]
                overlaps.append(len(top[0] & top[1]) / k)
                ranks.append(spearmanr(first, moved).statistic)
            assert float(found.overlap[r, i]) == pytest.approx(np.mean(overlaps), abs=1e-6)
            assert float(found.ranks[r, i]) == pytest.approx(np.mean(ranks), abs=1e-6)


def test_what_turns_is_told_from_what_stays() -> None:
    images = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(0)) + 0.1

    def tosses(x: Tensor) -> Tensor:  # a map of the last bits alone
        return (x * 1e7) % 1

    turning = measure_stability(tosses, images, images > 0)
    steady = measure_stability(lambda x: x, images, images > 0)
    assert not turning.steady.any()
    assert float(turning.overlap.max()) < 0.6
    assert abs(float(turning.ranks.mean())) < 0.3
    assert steady.steady.all()
    assert float(steady.ranks[0].min()) > 0.999
    # another draw for each image would make it depend on its neighbours
    alone = measure_stability(tosses, images[1:], images[1:] > 0)
    assert torch.equal(alone.overlap, turning.overlap[:, 1:])


def test_a_result_says_it_and_it_goes_with_each_image_and_the_file(tmp_path: Path) -> None:
    result = SSplain(MODEL, iterations=4, support=IMAGES != 0).explain(IMAGES)
    one = result[2].stability  # asked of one image alone, with a support given for each
    whole = result.stability
    assert whole.overlap.shape == whole.ranks.shape == (2, 4)
    assert torch.equal(one.overlap, whole.overlap[:, 2:3])
    assert torch.equal(result[2].stability.ranks, one.ranks)
    result.save(tmp_path / "a")
    back = Explanation.load(tmp_path / "a").stability
    assert isinstance(back, Stability)
    assert back.radii == (1e-6, 1e-3)
    assert back.draws == 3
    torch.testing.assert_close(back.overlap, whole.overlap)
    torch.testing.assert_close(back.ranks, whole.ranks)


def test_unknown_stability_is_not_made_up(tmp_path: Path) -> None:
    SSplain(MODEL, iterations=2).explain(IMAGES[:1]).save(tmp_path / "a")
    with pytest.raises(SSplainError, match="explain the images again"):
        _ = Explanation.load(tmp_path / "a").stability


def test_noise_does_not_change_the_question() -> None:
    """A class at the edge is explained as it was, whatever noise says of it."""
    asked: list[Tensor] = []

    class Listening(SSplain):
        def maps(self, question: Question) -> Tensor:
            asked.append(question.target)
            return super().maps(question)

    result = Listening(MODEL, iterations=1).explain(IMAGES, LABELS + 1 - 2 * (LABELS == 9).long())
    _ = result.stability
    assert len(asked) == 6
    assert all(torch.equal(one, result.target) for one in asked)


@pytest.mark.parametrize("bad", [{"draws": 0}, {"radii": ()}, {"radii": (0.0,)}])
def test_mistakes_are_told(bad: dict[str, object]) -> None:
    with pytest.raises(SSplainError, match="at least one draw"):
        measure_stability(lambda x: x, IMAGES, IMAGES != 0, **bad)  # type: ignore[arg-type]
