"""What 16-bit arithmetic does to maps: the figures in docs/how-to/own-model.md.

python examples/sixteen_bits.py [--model lenet5-mnist] [--data mnist] [--images 100] [--passes]

A model is explained in 32 bits, and in float16 and bfloat16: as it is, which is how a function is
called, and by the copy in 32 bits that explainers make of a module. With --passes no map is made,
and a single pass with its gradient is measured. One thread.
"""

import argparse
import copy
import sys
import time

import torch
from torch import Tensor, nn

import ssplain
from ssplain import Explanation, SSplain, preset
from ssplain.models import Door


def main() -> None:
    """Write a line for each way to call the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="lenet5-mnist")
    parser.add_argument("--data", default="mnist")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--passes", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = ssplain.models.quick(ssplain.models.load(asked.model))
    images = ssplain.data.bundled(asked.data)[0][: asked.images]
    ways = {"32 bits": model}
    for kind in (torch.float16, torch.bfloat16):
        narrow = copy.deepcopy(model).to(kind).requires_grad_(requires_grad=False)
        ways |= {f"{kind} as it is": called_as_it_is(narrow, kind), f"{kind} copy": narrow}
    said: dict[str, Tensor] = {}
    for name, way in ways.items():
        said[name], slopes, seconds = passed(way, images)
        zero = (slopes == 0) & (images != 0)
        flat = int((zero == (images != 0)).flatten(1).all(1).sum())
        tell(
            f"{name}: {zero.sum() / (images != 0).sum():.1%} of the gradients are zero ({flat} "
            f"images without any); {1e3 * seconds:.0f} ms per image for a pass with its gradient"
        )
    for kind in (torch.float16, torch.bfloat16):
        own, wide = said[f"{kind} as it is"], said[f"{kind} copy"]
        other = int((own.argmax(1) != wide.argmax(1)).sum())
        most = float((own - wide).abs().max())
        tell(f"{kind}: {other} predictions differ between the two, no p by more than {most:.4f}")
    if asked.passes:
        return
    exact, _ = explained(model, images, asked.data)
    noise = 1e-6 * (2 * torch.rand(images.shape, generator=torch.Generator().manual_seed(0)) - 1)
    moved, _ = explained(model, images + noise * (images != 0), asked.data)
    tell(f"32 bits under noise of 1e-6: {shared(moved, exact):.3f} of the top quarter")
    for name, way in ways.items():
        result, seconds = explained(way, images, asked.data)
        tell(f"{name}: {shared(result, exact):.3f}, {1e3 * seconds:.0f} ms per map")


def tell(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def called_as_it_is(narrow: nn.Module, kind: torch.dtype):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Return the model as a function, which is called in its own arithmetic."""
    return lambda x: narrow(x.to(kind))


def explained(model, images: Tensor, data: str) -> tuple[Explanation, float]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Return the explanation of the predictions, and seconds per image after a first call."""
    explainer = SSplain(model, **preset(data), channels=1)
    explainer.explain(images[:1])
    start = time.perf_counter()
    result = explainer.explain(images)
    return result, (time.perf_counter() - start) / len(images)


def passed(model, images: Tensor) -> tuple[Tensor, Tensor, float]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Return probabilities, the gradient of the likeliest class, and seconds per image."""
    with Door(model, channels=1).open(images) as opened:
        leaf = images.clone().requires_grad_()
        start = time.perf_counter()
        best = opened.classifier.log_probabilities(leaf).amax(1).sum()
        slopes = torch.autograd.grad(best, leaf)[0]
        return opened.probabilities, slopes, (time.perf_counter() - start) / len(images)


def shared(result: Explanation, exact: Explanation) -> float:
    """Return how much of the top quarter of the support two maps share, mean over the images."""
    found = []
    for ours, theirs, inside in zip(result.scores, exact.scores, exact.support, strict=True):
        count = max(1, int(inside.sum()) // 4)
        tops = [set(side[inside].topk(count).indices.tolist()) for side in (ours, theirs)]
        found.append(len(tops[0] & tops[1]) / count)
    return sum(found) / len(found)


if __name__ == "__main__":
    main()
