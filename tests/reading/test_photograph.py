"""What is seen of a photograph before it is graded."""

import numpy as np
import pytest
import torch

from ssplain.fundus import SURE
from ssplain.fundus.field import Field, field
from ssplain.reading import photograph
from tests.fundus.eyes import DISC, blank_eye


@pytest.mark.parametrize("ringed", [True, False])
def test_the_edge_of_the_disc_is_not_seen_as_a_vessel(
    monkeypatch: pytest.MonkeyPatch, ringed: bool
) -> None:
    row, column = np.mgrid[:480, :640]
    away = np.hypot(row - DISC[0], column - DISC[1])
    found = ((np.abs(row - DISC[0]) <= 2) & (column > DISC[1])).astype(np.float32)
    edge = np.abs(away - DISC[2]) < 2
    if ringed:
        found[edge] = 1
    monkeypatch.setattr(photograph, "segment", lambda *_, **__: found.copy())
    image = torch.from_numpy(blank_eye().transpose(2, 0, 1))
    seen = photograph.look_at(image, DISC)
    assert (seen.vessels[edge & (np.abs(row - DISC[0]) > 8)] == 0).all()
    assert (seen.vessels[(np.abs(row - DISC[0]) <= 2) & (column > 240)] > 0).all()
    # nor in the changed pictures of its stability
    assert (seen.again(seen.picture)[edge & (np.abs(row - DISC[0]) > 8)] == 0).mean() > 0.9


def test_a_narrow_field_is_looked_at_as_the_middle_of_a_wide_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also in the changed pictures of its stability: the field is found anew, the scale stays."""
    radii: list[float] = []

    def noting(photo: np.ndarray, view: Field, least: float) -> np.ndarray:
        assert least == SURE  # what grades rest on
        radii.append(view.radius)
        return np.ones(photo.shape[:2], np.float32)

    monkeypatch.setattr(photograph, "segment", noting)
    image = torch.from_numpy(blank_eye().transpose(2, 0, 1))
    row, column, _ = DISC
    known = photograph.look_at(image, (row, column, 0.04 * field(blank_eye()).side))
    narrow = photograph.look_at(image, (row, column, 0.06 * known.side))
    narrow.again(narrow.picture)
    assert narrow.side == pytest.approx(1.5 * known.side)
    assert radii[1:] == pytest.approx([1.5 * radii[0]] * 2)
    assert any("takes 12 % of its width" in warning for warning in narrow.warnings)
    assert not any("narrow" in warning for warning in known.warnings)


def test_what_speaks_against_a_photograph_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    line = np.zeros((480, 640), np.float32)
    line[240:243, 300:400] = 1
    monkeypatch.setattr(photograph, "segment", lambda *_, **__: line.copy())
    image = torch.from_numpy(0.15 * blank_eye().transpose(2, 0, 1))
    told = photograph.look_at(image, DISC).warnings
    assert [warning.split(":")[0] for warning in told] == [
        "The photograph is dark",
        "The photograph has few vessels",
    ]
