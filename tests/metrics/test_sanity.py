import numpy as np
import pytest
import torch
from scipy.stats import rankdata
from torch import Tensor, nn

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics.agreement import spearman
from ssplain.metrics.randomise import stages
from ssplain.metrics.sanity import MEASURES, sanity_check
from ssplain.question.inputs import find_support, start_mask

IMAGES, LABELS = (part[:6] for part in ssplain.data.bundled("mnist"))
SUPPORT = find_support(IMAGES, "nonzero")
START = start_mask(IMAGES, SUPPORT, "intensity")


def explain(model: nn.Module, images: Tensor) -> Tensor:
    settings = ssplain.preset("mnist")
    return ssplain.SSplain(model, **settings).attribute(images, LABELS)


def test_ssplain_changes_with_the_weights() -> None:
    model = ssplain.models.load("lenet5-mnist")
    found = sanity_check(explain, model, IMAGES, start=START, seeds=[0, 1])
    assert found.stages == ("trained", "full3", "full2", "full1", "conv2", "conv1")
    assert found.logit_variance.shape == (6, 2)
    assert bool((found.logit_variance > 0).all())
    for name in MEASURES:
        assert found.likeness[name].shape == (6, 2, 6)
        torch.testing.assert_close(found.likeness[name][0], torch.ones(2, 6).double())
    assert float(found.likeness["spearman"][1:].mean()) < 0.3
    assert float(found.partial[1:].mean()) < 0.3
    # the trap: masks that have moved far share -M0 in their changes
    assert float(found.change_likeness["spearman"][-1].mean()) > 0.5


def test_partial_correlation_is_that_of_what_the_start_leaves() -> None:
    model = ssplain.models.load("lenet5-mnist")
    found = sanity_check(explain, model, IMAGES, start=START, seeds=[0], measures=["spearman"])
    for i in range(3):
        trained, random, start = (
            rankdata(m[i][SUPPORT[i]].numpy()) for m in (found.maps[0], found.maps[2], START)
        )
        known = np.stack([start, np.ones_like(start)], 1)
        rest = [r - known @ np.linalg.lstsq(known, r)[0] for r in (trained, random)]
        assert found.partial[2, 0, i].item() == pytest.approx(np.corrcoef(*rest)[0, 1])
    torch.testing.assert_close(found.partial[0], torch.ones(1, 6).double())
    bare = sanity_check(
        lambda _, x: x, model, IMAGES, start=START, seeds=[0], measures=["spearman"]
    )
    assert not bare.partial.any()  # nothing but its start


def test_numbers_are_those_of_the_stages() -> None:
    model = ssplain.models.load("lenet5-mnist")
    found = sanity_check(explain, model, IMAGES, start=START, seeds=[7, 8], measures=["spearman"])
    walk = list(stages(model, IMAGES, seed=8))
    trained, random = (explain(walk[at].model, IMAGES) for at in (0, 3))
    expected = spearman(random, trained, SUPPORT)
    torch.testing.assert_close(found.likeness["spearman"][3, 1], expected)
    expected = spearman(random - START, trained - START, SUPPORT)
    torch.testing.assert_close(found.change_likeness["spearman"][3, 1], expected)
    assert found.start_likeness is not None
    torch.testing.assert_close(found.start_likeness[3, 1], spearman(random, START, SUPPORT))
    assert found.logit_variance[3, 1].item() == pytest.approx(walk[3].logit_variance)
    first = explain(list(stages(model, IMAGES, seed=7))[3].model, IMAGES)
    torch.testing.assert_close(found.maps[3], first)


def test_a_map_of_the_image_alone_does_not_pass() -> None:
    model = ssplain.models.load("lenet5-mnist")
    found = sanity_check(lambda _, x: x, model, IMAGES, seeds=[0], mode="independent")
    for likeness in found.likeness.values():
        torch.testing.assert_close(likeness, torch.ones_like(likeness))
    assert found.change_likeness == {}
    assert found.start_likeness is None
    with pytest.raises(SSplainError, match="needs start="):
        _ = found.partial


def test_mistakes_are_named() -> None:
    model = ssplain.models.load("lenet5-mnist")
    with pytest.raises(SSplainError, match="measures out of"):
        sanity_check(explain, model, IMAGES, measures=["cosine"])
    with pytest.raises(SSplainError, match="at least one seed"):
        sanity_check(explain, model, IMAGES, seeds=[])
    with pytest.raises(SSplainError, match="one value per pixel"):
        sanity_check(lambda _, x: x[:2], model, IMAGES)
