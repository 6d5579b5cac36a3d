r"""A coarse map for the pixels after the first: which regions make an image the class.

A fine map finds the few pixels that a decision hangs on; which stretches of vessel carry it, a
coarse one tells better. At a few dim brightnesses a of the image, where the model is least certain,
the gradient is taken of the log-odds of the class against the class B of the picture where all is
hidden (against all others if the class is B itself). Gradients are scaled to one size, added up and
blurred over a fourteenth of the image, which lets dense regions count for more:

\[ C = G * \sum_a \frac{g_a}{\|g_a\|}, \qquad g_a = \nabla_M \log \frac{f_y}{f_B}(X \odot M)
\Big|_{M = a} \]
"""

import torch
from torch import Tensor
from torch.linalg import vector_norm

from ssplain.ask.context import blurred
from ssplain.explain.objectives import log_of_others
from ssplain.prox import ranked, top_k
from ssplain.question.notices import require_gradient
from ssplain.question.protocol import Question

BRIGHTEST = 1 / 3  # of the dim pictures; above it the coarse map finds less
CELLS = 14  # a blurred map has this many deviations along the image's shorter side
FIRST = 0.1  # the share of the support that the fine map alone puts first
COARSE = 0.6  # what the coarse map counts after that


def blank_class(question: Question) -> Tensor:
    """Return, `(N,)`, the class of each image's picture in which all is hidden."""
    return question.quiet().probabilities_of(torch.zeros_like(question.images)).argmax(1)


def against_blank(log_p: Tensor, blank: Tensor) -> Tensor:
    """Return the log-odds of each class against the blank's, of the blank's against all others.

    Args:
        log_p: `(N, classes)`.
        blank: `(N,)`, the class of the picture in which all is hidden.

    >>> p = torch.tensor([[0.2, 0.2, 0.6]])
    >>> against_blank(p.log(), torch.tensor([0])).exp()
    tensor([[0.2500, 1.0000, 3.0000]])
    """
    own = blank[:, None]
    odds = log_p - log_p.gather(1, own)
    return odds.scatter(1, own, (log_p - log_of_others(log_p)).gather(1, own))


def coarse_map(question: Question, support: Tensor, passes: int) -> Tensor:
    """Return the coarse map C of each image, zero outside the support.

    It takes one pass of the model per brightness and one look at the picture where all is hidden.

    Args:
        question: the images and what is asked of the model.
        support: `(N, 1, H, W)` boolean.
        passes: how many brightnesses.
    """
    inside, blank = support.to(question.images.dtype), blank_class(question)

    def work(rows: slice) -> Tensor:
        total = torch.zeros_like(inside[rows])
        for step in range(passes):
            leaf = (inside[rows] * (BRIGHTEST * (step + 0.5) / passes)).requires_grad_()
            with torch.enable_grad():
                classifier = question.classifier.take(rows)
                log_p = classifier.log_probabilities(question.images[rows] * leaf)
                odds = (question.weights[rows] * against_blank(log_p, blank[rows])).sum(1)
            require_gradient(odds)
            slope = torch.autograd.grad(odds.sum(), leaf)[0] * inside[rows]
            size = vector_norm(slope.flatten(1), dim=1).view(-1, 1, 1, 1)
            total += slope / size.clamp(min=torch.finfo(slope.dtype).tiny)
        return total

    total = torch.cat(question.quiet().run(work, len(support)))
    return blurred(total, sigma=min(support.shape[-2:]) / CELLS) * inside


def fine_then_coarse(fine: Tensor, coarse: Tensor, support: Tensor) -> Tensor:
    r"""Return one order from two maps, as ranks from 1, the first pixel, down to 0.

    The first pixels are those of the fine map; all others are ordered by the weighted mean of the
    two ranks.

    Args:
        fine: `(N, 1, H, W)`.
        coarse: like `fine`.
        support: boolean like `fine`; zero outside.

    >>> fine = torch.tensor([[[[4.0, 1.0, 2.0, 3.0, 9.0]]]])
    >>> coarse = torch.tensor([[[[3.0, 1.0, 4.0, 2.0, 9.0]]]])
    >>> fine_then_coarse(fine, coarse, torch.tensor([[[[True, True, True, True, False]]]]))
    tensor([[[[0.7500, 0.0000, 0.5000, 0.2500, 0.0000]]]])
    """
    ranks = ranked(fine, support)
    mixed = (1 - COARSE) * ranks + COARSE * ranked(coarse, support)
    return ranked(torch.where(first_of(ranks, support), ranks + 2, mixed), support)


def first_of(ranks: Tensor, support: Tensor) -> Tensor:
    """Mark the pixels that the fine map alone puts first.

    >>> first_of(torch.arange(20).view(1, 1, 1, 20) / 20, torch.ones(1, 1, 1, 20)).sum()
    tensor(2)
    """
    count = (FIRST * support.flatten(1).sum(1)).long()
    return top_k(ranks.masked_fill(support == 0, -1.0), count)
