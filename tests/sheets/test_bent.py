import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from ssplain.data.hvdropdb import Eye
from ssplain.errors import SSplainError
from ssplain.sheets import bent
from ssplain.sheets.bent import BentDrawings, BentROP, bend
from ssplain.sheets.shot import Shot, winding
from ssplain.simulate.disease import draw_disease
from tests.fundus.eyes import painted_eye

HAS_DATA = (Path(os.environ.get("SSPLAIN_DATA", "/none")) / "hvdropdb").is_dir()
PLUS = draw_disease(np.random.default_rng(3), 2)


@pytest.fixture(scope="module")
def healthy() -> Shot:
    return Shot.of(painted_eye(label=0).photo)


def test_without_disease_nothing_moves(healthy: Shot) -> None:
    photo, ill = bend(healthy, replace(PLUS, amount=0.0), np.random.default_rng(0))
    assert np.abs(photo - healthy.photo).max() < 1e-5
    assert not ill.any()


def test_disease_makes_vessels_wind(healthy: Shot) -> None:
    photo, ill = bend(healthy, PLUS, np.random.default_rng(0))
    found = Shot.of(photo, healthy.view)
    assert winding(found.image) > 1.3 * winding(healthy.image)
    assert photo.min() >= 0
    assert photo.max() <= 1
    assert ill[found.image > 0].mean() > 0.3
    assert ill.max() < 1.5 * PLUS.amount
    some = bend(healthy, replace(PLUS, amount=0.5), np.random.default_rng(0))[0]
    assert (
        winding(healthy.image) < winding(Shot.of(some, healthy.view).image) < winding(found.image)
    )


def test_every_place_of_a_vessel_goes_where_it_is_sent(
    healthy: Shot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All vessels are sent down by the same way: the picture must be the old one, moved so."""
    down = 3.0

    def sent(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        far, means = nearest(places, values)
        means[0], means[1] = down, 0.0
        return np.zeros_like(far), means

    nearest = bent._nearest
    monkeypatch.setattr(bent, "_nearest", sent)
    photo, _ = bend(healthy, PLUS, np.random.default_rng(0))
    scale = 2 * healthy.view.radius / 224
    moved = round(down * scale)
    assert abs(down * scale - moved) < 0.5
    middle = slice(150, 300), slice(200, 400)
    there = np.roll(healthy.photo, moved, axis=0)[middle]
    back = np.roll(healthy.photo, -moved, axis=0)[middle]
    off = np.abs(photo[middle] - there).mean()
    assert off < 0.5 * np.abs(photo[middle] - back).mean()


def test_windings_are_planted_where_the_vessels_are(
    healthy: Shot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Courses are turned and mirrored on their way to the picture: they must come back."""
    seen = []

    def spy(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(places)
        return nearest(places, values)

    nearest = bent._nearest
    monkeypatch.setattr(bent, "_nearest", spy)
    for image in (healthy.image, healthy.image[:, ::-1].copy()):
        bend(replace(healthy, image=image), replace(PLUS, amount=0.0), np.random.default_rng(0))
        at = np.rint(seen.pop()).astype(int)
        at = at[((at >= 0) & (at < 224)).all(1)]
        near = torch.nn.functional.max_pool2d(torch.from_numpy(image)[None], 7, 1, 3)[0].numpy()
        assert (near[tuple(at.T)] > 0).mean() > 0.9


def test_unknown_splits_and_empty_ones_are_refused() -> None:
    with pytest.raises(SSplainError, match="choose one of: train, validation, test"):
        BentROP("other", 3)
    with pytest.raises(SSplainError, match="1 or more"):
        BentROP("train", 0)


def test_drawn_vessels_are_bent_as_photographs_are() -> None:
    painted = painted_eye(label=0)
    drawn = BentDrawings.look(Eye("retcam/00", painted.photo, painted.vessels >= 0.5))
    # drawn vessels take the photograph's place, and the network sees them where they are
    assert np.array_equal(drawn.photo[..., 0], (painted.vessels >= 0.5).astype(np.float32))
    assert np.array_equal(BentDrawings.again(drawn.photo, drawn.view), drawn.image)
    shot = Shot.of(painted.photo)
    both = (drawn.image > 0) & (shot.image > 0)
    assert both.sum() > 0.6 * (shot.image > 0).sum()
    bent, ill = bend(drawn, PLUS, np.random.default_rng(0))
    found = BentDrawings.again(bent, drawn.view)
    assert winding(found) > 1.3 * winding(drawn.image)
    assert found.min() >= 0
    assert found.max() <= 1
    assert ill[found > 0].mean() > 0.3


@pytest.mark.slow
@pytest.mark.skipif(not HAS_DATA, reason="needs HVDROPDB")
def test_the_least_wound_photographs_are_bent_the_same_way_each_time() -> None:
    first, again = BentROP("test", 3), BentROP("test", 3)
    assert len(first.shots) == 10  # of 16
    assert max(winding(shot.image) for shot in first.shots) < 0.05
    some = first.examples()
    assert all(torch.equal(a, b) for a, b in zip(some, again.examples(), strict=True))
    assert some.labels.tolist() == [0, 1, 2]
    assert some.amounts[0] < some.amounts[1] < some.amounts[2]
