"""Tests of changes that no grader would mind."""

import numpy as np
import torch

from ssplain.bench.changes import CHANGES, blurred, scaled, thinned, turned
from ssplain.simulate.eye import simulate
from ssplain.vessels import trace

EYES = torch.stack([torch.from_numpy(simulate(31, i).image)[None] for i in range(2)])


def test_there_are_thirteen_and_each_changes_the_image_but_not_the_ground() -> None:
    assert len(CHANGES) == 13
    for name, change in CHANGES.items():
        changed = change(EYES)
        assert changed.shape == EYES.shape, name
        assert changed.dtype == EYES.dtype, name
        assert not torch.equal(changed, EYES), name
        assert changed.min() == 0, name
        assert changed.max() <= 1, name
        assert 0.004 < (changed > 0).float().mean() < 0.35, name


def test_values_are_changed_as_they_say() -> None:
    image = torch.tensor([0.0, 0.2, 0.4, 1.0]).reshape(1, 1, 1, 4)
    for name, wanted in {
        "gain 0.6": [0, 0.12, 0.24, 0.6],
        "gain 1.6": [0, 0.32, 0.64, 1],
        "gamma 0.6": [0, 0.2**0.6, 0.4**0.6, 1],
        "binary at 0.3": [0, 0, 1, 1],
        "cut off below 0.3": [0, 0, 0.4, 1],
    }.items():
        torch.testing.assert_close(CHANGES[name](image).flatten(), torch.tensor(wanted).float())


def test_places_are_changed_as_they_say() -> None:
    image = torch.zeros(1, 1, 101, 101)
    image[..., 50, 80] = 1  # 30 px to the right of the middle
    assert divmod(int(turned(image, 90).argmax()), 101) == (20, 50)
    dots = torch.zeros(1, 1, 100, 100)
    dots[..., 48:52, 78:82] = 1
    for factor in (0.85, 1.15):
        columns = torch.nonzero(scaled(dots, factor)[0, 0])[:, 1].float()
        assert abs(columns.mean() - 49.5 - factor * 30) < 1
    assert abs(float(blurred(image, 1.0).max()) - 1 / (2 * np.pi)) < 0.01


def test_branches_are_missing_and_nothing_else() -> None:
    less = thinned(EYES, share=0.3)
    assert ((less == EYES) | (less == 0)).all()
    for before, after in zip(EYES[:, 0].numpy(), less[:, 0].numpy(), strict=True):
        gone = (before > 0).sum() - (after > 0).sum()
        assert 0 < gone < 0.3 * (before > 0).sum()
        assert len(trace(after).branches) < len(trace(before).branches)
    assert torch.equal(thinned(EYES, share=0.3), less)
