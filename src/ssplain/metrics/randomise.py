"""Networks that have unlearnt: copies whose blocks have random weights again.

Blocks are taken in the order in which they run, not in which they are declared; a block is a direct
child of the network, such as `inception4c`, so parallel branches lose their weights together.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from ssplain.ask.batching import fitting_batch, run_in_batches
from ssplain.ask.door import Door, ModelOptions
from ssplain.ask.holding import frozen
from ssplain.ask.widen import widened
from ssplain.errors import SSplainError
from ssplain.train.statistics import gathering

Mode = Literal["cascading", "independent"]


@dataclass(frozen=True, eq=False)
class RandomisedNetwork:
    """A network part of whose blocks are random.

    Attributes:
        name: the block that this stage adds.
        model: a copy, in evaluation mode, with weights of at least 32 bits.
        logit_variance: variance of the logits over the images, mean over the classes; near zero
            means that the network no longer looks at its input, and its maps mean nothing.
    """

    name: str
    model: nn.Module
    logit_variance: float


def blocks(model: nn.Module, images: Tensor, **options: Unpack[ModelOptions]) -> list[str]:
    """Return the names of the network's blocks with weights, in the order in which they run.

    A network that only wraps another one is opened up.

    >>> from ssplain.models import LeNet5
    >>> blocks(nn.Sequential(LeNet5()), torch.zeros(1, 1, 28, 28))
    ['0.conv1', '0.conv2', '0.full1', '0.full2', '0.full3']
    """
    model = widened(model)
    prefix, home = "", model
    while len(children := _weighted(home)) == 1 and _weighted(children[0][1]):
        prefix, home = f"{prefix}{children[0][0]}.", children[0][1]
    ran: dict[str, None] = {}
    hooks = [
        child.register_forward_pre_hook(lambda *_, name=name: ran.setdefault(prefix + name))
        for name, child in children
    ]
    try:
        with frozen(model), torch.no_grad():
            Door(model, **options).classifier.values(images[:1])
    finally:
        for hook in hooks:
            hook.remove()
    if not ran:
        raise SSplainError(
            f"The {type(model).__name__} has no blocks with weights to randomise; give a module "
            "made of submodules."
        )
    return list(ran)


def randomised(
    model: nn.Module,
    names: Sequence[str],
    images: Tensor,
    *,
    downstream: Sequence[str] = (),
    seed: int = 0,
    **options: Unpack[ModelOptions],
) -> nn.Module:
    """Return a copy of the network in which some blocks have random weights.

    Weights are drawn by each layer's own `reset_parameters`; what belongs to no such layer, as the
    tokens of transformers do, from a normal distribution with its own mean and spread. The
    statistics of batch normalisation are then estimated again on the images: with those of the
    trained network, or with those a layer starts with, a randomised GoogLeNet gives the same logits
    for every image.

    Args:
        model: stays as it is.
        names: of the blocks.
        images: on which the statistics are estimated.
        downstream: further blocks that see changed inputs, whose statistics are estimated too.
        seed: of the weights, drawn block by block in the order of the names.
        options: how the model is called, as in `SSplain`.
    """
    other = copy.deepcopy(widened(model)).eval()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        for name in names:
            for module in other.get_submodule(name).modules():
                _forget(module)
    norms = [
        module
        for name in dict.fromkeys([*names, *downstream])
        for module in other.get_submodule(name).modules()
        if isinstance(module, _BatchNorm) and module.track_running_stats
    ]
    if norms:
        with gathering(norms), torch.no_grad():
            _logits(other, images, options)
    return other


def _forget(module: nn.Module) -> None:
    """Draw a layer's own weights again, as the layer does, or else around the same mean."""
    for way in ("reset_parameters", "_reset_parameters"):  # the second is attention's
        if callable(reset := getattr(module, way, None)):
            reset()
            return
    with torch.no_grad():
        for own in module.parameters(recurse=False):  # such as class tokens and places
            own.normal_(float(own.mean()), float(own.std(correction=0)))


def stages(
    model: nn.Module,
    images: Tensor,
    *,
    mode: Mode = "cascading",
    seed: int = 0,
    **options: Unpack[ModelOptions],
) -> Iterator[RandomisedNetwork]:
    """Yield the network as it is, then with ever more blocks random, from the last to the first.

    Args:
        model: stays as it is.
        images: `(N, C, H, W)`, for batch normalisation and the variance of the logits.
        mode: "cascading" keeps the blocks after a block random, "independent" keeps them trained.
        seed: of the weights.
        options: how the model is called, as in `SSplain`.

    >>> from ssplain.models import LeNet5
    >>> [stage.name for stage in stages(LeNet5(), torch.rand(2, 1, 28, 28))]
    ['trained', 'full3', 'full2', 'full1', 'conv2', 'conv1']
    """
    if mode not in ("cascading", "independent"):
        raise SSplainError(f"mode={mode!r} is not known; use 'cascading' or 'independent'.")
    model = widened(model)  # once for all stages
    forward = blocks(model, images, **options)
    yield _stage("trained", copy.deepcopy(model).eval(), images, options)
    for at in reversed(range(len(forward))):
        after = forward[at:]
        names = after[::-1] if mode == "cascading" else after[:1]
        other = randomised(model, names, images, downstream=after, seed=seed, **options)
        yield _stage(forward[at], other, images, options)


def _stage(name: str, model: nn.Module, images: Tensor, options: ModelOptions) -> RandomisedNetwork:
    with frozen(model), torch.no_grad():
        logits = torch.cat(_logits(model, images, options)).cpu().double()
    variance = logits.var(0, correction=0).mean()
    return RandomisedNetwork(name, model, float(variance))


def _logits(model: nn.Module, images: Tensor, options: ModelOptions) -> list[Tensor]:
    classifier = Door(model, **options).classifier
    size = options.get("batch_size") or fitting_batch(*images.shape[-2:])
    return run_in_batches(lambda rows: classifier.values(images[rows]), len(images), size)


def _weighted(module: nn.Module) -> list[tuple[str, nn.Module]]:
    return [(name, m) for name, m in module.named_children() if any(True for _ in m.parameters())]
