"""Batch-normalisation statistics, gathered anew."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


def norms_of(model: nn.Module) -> list[_BatchNorm]:
    """Return the batch-normalisation layers of a model.

    >>> len(norms_of(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))))
    1
    """
    return [module for module in model.modules() if isinstance(module, _BatchNorm)]


@contextmanager
def gathering(norms: list[_BatchNorm]) -> Iterator[None]:
    """Within, layers forget their means and variances and average those of the batches they see.

    The running averages of training lag behind the weights, and after a change of scale or of
    weights they are wrong altogether: a network that is right on nine of ten images with the
    batches' own statistics may be right on one of two with stale ones. Layers leave in evaluation
    mode, with the momentum that they had.

    >>> norm = nn.BatchNorm2d(1)
    >>> with gathering([norm]), torch.no_grad():
    ...     _ = norm(torch.tensor([0.0, 2.0]).view(2, 1, 1, 1))
    ...     _ = norm(torch.tensor([4.0, 6.0]).view(2, 1, 1, 1))
    >>> norm.running_mean
    tensor([3.])
    """
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
            norm.eval()


def gather_statistics(model: nn.Module, batches: Iterator[Tensor]) -> None:
    """Gather the statistics of a model anew from batches of images, which it sees as they are.

    >>> model = nn.Sequential(nn.BatchNorm2d(1), nn.Dropout())
    >>> gather_statistics(model, iter([torch.full((2, 1, 1, 1), 7.0)]))
    >>> model[0].running_mean, model.training
    (tensor([7.]), False)
    """
    norms = norms_of(model)
    model.eval()
    if norms:
        with gathering(norms), torch.no_grad():
            for batch in batches:
                model(batch)
