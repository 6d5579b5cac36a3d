"""`ssplain bench core`: SSplain against the bare cost of the model, and the textbook loop."""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from ssplain.ask.adapter import first_channels
from ssplain.ask.batching import fitting_batch
from ssplain.ask.holding import frozen
from ssplain.bench.textbook import textbook
from ssplain.bench.timing import in_turn, ratio
from ssplain.data import bundled
from ssplain.explain import Preset, SSplain, preset
from ssplain.models import GoogLeNet, load

Case = dict[str, Any]


def cases() -> Iterator[Case]:
    """Yield the cases, quick ones first."""
    images, labels = bundled("mnist")
    settings = preset("mnist")
    yield _overhead("lenet5", load("lenet5-mnist"), images, labels, settings, repeats=7)
    # a model of its own: the bare passes above have frozen theirs, and the loop's must not be
    yield _against_textbook(load("lenet5-mnist"), images, labels, settings)
    for batch_size in (2, 8):
        yield _peak_memory(batch_size)
    big = sparse_pictures(4)
    settings = preset("rop")
    settings["iterations"] = 10
    targets = torch.zeros(4, dtype=torch.long)
    yield _overhead("googlenet", GoogLeNet().eval(), big, targets, settings, repeats=3)


def sparse_pictures(count: int) -> Tensor:
    """Return `(count, 1, 224, 224)` images of which a tenth of the pixels differ from zero.

    >>> 0.08 < float((sparse_pictures(1) > 0).float().mean()) < 0.12
    True
    """
    generator = torch.Generator().manual_seed(0)
    bright = torch.rand(count, 1, 224, 224, generator=generator)
    return bright * (torch.rand(count, 1, 224, 224, generator=generator) < 0.1)


def _overhead(
    name: str, model: nn.Module, images: Tensor, targets: Tensor, settings: Preset, *, repeats: int
) -> Case:
    """Time SSplain over the same number of bare forward and input-gradient passes.

    The passes are timed as a user would write them, and with the weights laid out as SSplain lays
    them out: the second ratio is what the solver itself adds.
    """
    explainer = SSplain(model, **settings)
    size = fitting_batch(*images.shape[-2:])
    layout = torch.channels_last if first_channels(model) != 1 else torch.contiguous_format

    def passes(inputs: Tensor) -> None:
        for _ in range(settings["iterations"]):
            for at in range(0, len(inputs), size):
                rows = slice(at, at + size)
                leaf = inputs[rows].detach().requires_grad_()
                loss = nn.functional.cross_entropy(model(leaf), targets[rows], reduction="sum")
                torch.autograd.grad(loss, leaf)

    def bare() -> None:
        model.requires_grad_(requires_grad=False)
        passes(images)

    def same_layout() -> None:
        with frozen(model):
            fitted = images.expand(-1, first_channels(model) or 1, -1, -1)
            passes(fitted.contiguous(memory_format=layout))

    ours, plain, laid_out = in_turn(
        lambda: explainer.explain(images, targets), bare, same_layout, repeats=repeats
    )
    return {
        "case": f"overhead over the bare model passes, {name}",
        "images": len(images),
        "iterations": settings["iterations"],
        "ms_per_image": round(1e3 * median(ours) / len(images), 3),
        "bare_ms_per_image": round(1e3 * median(plain) / len(images), 3),
        "ratio": round(ratio(ours, plain), 3),
        "ratio_same_layout": round(ratio(ours, laid_out), 3),
    }


def _against_textbook(model: nn.Module, images: Tensor, labels: Tensor, settings: Preset) -> Case:
    """Time SSplain on all images against a loop over single ones, per image."""
    few = 10
    explainer = SSplain(model, **settings)

    def loop() -> None:
        for i in range(few):
            textbook(
                model,
                images[i, 0],
                int(labels[i]),
                budget=settings["budget"],
                norm=settings["norm"],
                tv_weight=settings["tv_weight"],
                rho=settings["rho"],
                lr=settings["lr"],
                iterations=settings["iterations"],
            )

    ours, plain = in_turn(lambda: explainer.explain(images, labels), loop, repeats=11)
    return {
        "case": "speed per image over the textbook loop with unfrozen weights, lenet5",
        "images": len(images),
        "loop_images": few,
        "ms_per_image": round(1e3 * median(ours) / len(images), 3),
        "loop_ms_per_image": round(1e3 * median(plain) / few, 3),
        "times_faster": round(len(images) / few * ratio(plain, ours), 1),
    }


_MEMORY = """
import resource, sys, torch
from ssplain.bench.core import sparse_pictures
from ssplain.explain import SSplain
from ssplain.models import GoogLeNet
images, model = sparse_pictures(8), GoogLeNet().eval()
model(images[:1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
SSplain(model, iterations=2, batch_size=int(sys.argv[1])).explain(images)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def _peak_memory(batch_size: int) -> Case:
    """Measure how far the peak of a fresh process rises, for 8 images of 224x224."""
    command = [sys.executable, "-c", _MEMORY, str(batch_size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    kibibytes = int(done.stdout)
    return {
        "case": "peak memory above the loaded model, googlenet",
        "images": 8,
        "batch_size": batch_size,
        "mebibytes": round(kibibytes / 1024),
    }
