r"""Grades brought to the scale of real eyes: of vessels found in a photograph, or segmented.

A network that grades vessels has learned from simulated ones. Infants' vessels sway by themselves,
and what is found in a photograph is rougher, too, so that it calls healthy eyes Pre-plus: the order
is right, the scale is not. With u the log-odds of its severity s,

    u = log((s - 1) / (9 - s)),    s = 1 p(Normal) + 5 p(Pre-plus) + 9 p(Plus),

    p'(ill)          = sigmoid(a (u - b))          ill: Pre-plus or Plus
    p'(Plus | ill)   = sigmoid(c (u - d)),

the four numbers (a, b) and (c, d) say where the borders lie and how sharp they are. The new
severity grows with the old one, so no two eyes change places.
"""

import math
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ssplain.models.card import find_card

Kind = Literal["segmented", "photograph"]  # whether vessels are given, or found in a photograph
Borders = Mapping[str, list[float]]  # "ill" and "plus": slope and border of each


class Calibrated(nn.Module):
    """A network of three grades on another scale.

    Args:
        network: gives logits of Normal, Pre-plus and Plus.
        borders: see `fit_borders`.

    Example:
        >>> borders = {"ill": [2.0, 0.5], "plus": [1.0, 1.5]}
        >>> mild = torch.tensor([[0.1, 0.8, 0.1]]).log()
        >>> Calibrated(nn.Identity(), borders)(mild).softmax(1).round(decimals=2)
        tensor([[0.7300, 0.2200, 0.0500]])
    """

    def __init__(self, network: nn.Module, borders: Borders) -> None:
        super().__init__()
        self.network = network
        (self.a, self.b), (self.c, self.d) = borders["ill"], borders["plus"]

    def forward(self, images: Tensor) -> Tensor:
        """Return the logarithms of the three probabilities."""
        u = log_odds(self.network(images))
        ill, plus = self.a * (u - self.b), self.c * (u - self.d)
        sick = logsigmoid(ill)
        return torch.stack([logsigmoid(-ill), sick + logsigmoid(-plus), sick + logsigmoid(plus)], 1)


def log_odds(logits: Tensor) -> Tensor:
    """Return u (N,) of logits (N, 3).

    >>> log_odds(torch.tensor([[0.0, 99.0, 0.0]])).abs() < 1e-6
    tensor([True])
    """
    four, eight = math.log(4), math.log(8)
    shares = logits.log_softmax(1) + logits.new_tensor([eight, four, eight])
    return shares[:, 1:].logsumexp(1) - shares[:, :2].logsumexp(1)


def fit_borders(odds: Tensor, labels: Tensor) -> dict[str, list[float]]:
    """Fit slopes and borders to graded eyes, by two logistic regressions.

    Args:
        odds: (N,) u of each.
        labels: (N,) 0 Normal, 1 Pre-plus, 2 Plus.

    Example:
        >>> odds = torch.linspace(-3, 3, 400)
        >>> borders = fit_borders(odds, (odds > -1).long() + (odds > 1))
        >>> round(borders["ill"][1], 1), round(borders["plus"][1], 1)
        (-1.0, 1.0)
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - seldom wanted

    found = {}
    for name, rows, high in (("ill", labels >= 0, labels > 0), ("plus", labels > 0, labels > 1)):
        some = LogisticRegression(C=1e3).fit(odds[rows, None].numpy(), high[rows].numpy())
        slope = float(some.coef_[0, 0])
        found[name] = [round(slope, 4), round(-float(some.intercept_[0]) / slope, 4)]
    return found


def on_scale(network: nn.Module, source: str, kind: Kind) -> nn.Module:
    """Return a network as `ssplain.read` asks it: calibrated, if its card says how.

    Args:
        network: a model that was loaded.
        source: what it was loaded from.
        kind: of eyes.
    """
    about = find_card(source)
    scales = (
        {} if about is None else {"photograph": about.photographs, "segmented": about.segmented}
    )
    borders = scales.get(kind)
    return Calibrated(network, borders) if borders else network
