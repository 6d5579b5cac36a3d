import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ssplain.models import load
from ssplain.models.calibrated import Calibrated, Kind, fit_borders, log_odds, on_scale
from ssplain.models.card import card
from ssplain.models.severity import severity_of

BORDERS = {"ill": [3.0, 0.4], "plus": [1.5, 1.7]}
logit = st.floats(-30, 30, width=32)


@given(st.lists(st.tuples(logit, logit, logit), min_size=2, max_size=6))
def test_probabilities_are_such_and_eyes_keep_their_order(rows: list[tuple[float, ...]]) -> None:
    logits = torch.tensor(rows, dtype=torch.float64)
    found = Calibrated(nn.Identity(), BORDERS)(logits).exp()
    torch.testing.assert_close(found.sum(1), torch.ones(len(rows), dtype=torch.float64))
    before, after = severity_of(logits.softmax(1)), severity_of(found)
    order = before.argsort()
    assert (after[order].diff() >= -1e-9).all()


def test_the_odds_are_those_of_the_severity() -> None:
    logits = torch.randn(50, 3, dtype=torch.float64)
    severity = severity_of(logits.softmax(1))
    torch.testing.assert_close(log_odds(logits), ((severity - 1) / (9 - severity)).log())


def test_at_the_borders_two_grades_are_even() -> None:
    model = Calibrated(nn.Identity(), BORDERS)
    for odds, (low, high) in ((0.4, (0, slice(1, 3))), (1.7, (1, 2))):
        p = torch.sigmoid(torch.tensor(odds, dtype=torch.float64))
        given = torch.stack([1 - p, torch.zeros_like(p), p])[None].log()
        found = model(given)[0].exp()
        torch.testing.assert_close(found[low].sum(), found[high].sum())


def test_borders_that_were_hidden_are_found() -> None:
    generator = torch.Generator().manual_seed(0)
    odds = torch.empty(6000).uniform_(-3, 5, generator=generator)
    ill = torch.rand(6000, generator=generator) < torch.sigmoid(3.0 * (odds - 0.4))
    plus = torch.rand(6000, generator=generator) < torch.sigmoid(1.5 * (odds - 1.7))
    found = fit_borders(odds, ill.long() * (1 + plus.long()))
    for name, (slope, border) in BORDERS.items():
        assert abs(found[name][0] / slope - 1) < 0.1
        assert abs(found[name][1] - border) < 0.1


@pytest.mark.parametrize("kind", ["photograph", "segmented"])
def test_the_bundled_network_has_scales_for_real_eyes_and_a_digit_network_none(kind: Kind) -> None:
    grades = load("googlenet-rop")
    found = on_scale(grades, "googlenet-rop", kind)
    assert isinstance(found, Calibrated)
    about = card("googlenet-rop")
    wanted = {"photograph": about.photographs, "segmented": about.segmented}[kind]
    assert {"ill": [found.a, found.b], "plus": [found.c, found.d]} == wanted
    # barely Pre-plus is healthy on both scales, plainly Pre-plus only in a photograph, and Plus
    # stays Plus
    rows = [[0.4, 0.55, 0.05], [0.05, 0.9, 0.05], [0.0, 0.02, 0.98]]
    low, middle, high = torch.tensor(rows).log().clamp(min=-20)
    found.network = nn.Identity()
    assert found(low[None]).argmax() == 0
    assert found(middle[None]).argmax() == (0 if kind == "photograph" else 1)
    assert found(high[None]).argmax() == 2
    digits = load("lenet5-mnist")
    assert on_scale(digits, "lenet5-mnist", kind) is digits
