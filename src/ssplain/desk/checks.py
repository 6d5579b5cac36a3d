"""How good is this map? Three checks beside each map, and a plain word where it fails one.

1. Does it hold the decision: is the class likelier with only the kept pixels than without them?
2. Does its order beat luck: the area under insertion minus that under deletion, on the support,
   must exceed that of every one of a few random orders.
3. Does it stay: of the top quarter of the pixels, how many remain when the image gets a little
   noise? Chance is a quarter; below a half, the map shows the noise as much as the image.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ssplain import metrics
from ssplain.desk.library import Library, Map
from ssplain.desk.subject import Subject
from ssplain.progress import Progress

ORDERS = 3  # random orders to beat
POINTS = 11  # steps of the curves: 10 % each
NOISE = 0.005  # of the full brightness, on the support only
QUARTER, LEAST = 0.25, 0.5


@dataclass(frozen=True)
class Checks:
    """What came out.

    Attributes:
        whole: probability of the explained class for the whole image.
        only: for the kept pixels alone.
        without: for the image without them.
        insertion: probability at each tenth of the support put in, the best pixels first.
        deletion: the same with these taken out.
        order: area under insertion minus area under deletion.
        luck: the same of each random order.
        steady: the share of the top quarter that stays under noise; None if it was not tried.
        complaints: why not to rely on the map; empty if it passes.
    """

    whole: float
    only: float
    without: float
    insertion: tuple[float, ...]
    deletion: tuple[float, ...]
    order: float
    luck: tuple[float, ...]
    steady: float | None
    complaints: tuple[str, ...]


def check(
    library: Library,
    source: str,
    image: Tensor,
    found: Map,
    target: int,
    *,
    progress: Progress | None = None,
) -> Checks:
    """Check one map of a fitted image.

    Args:
        library: of the room.
        source: the model.
        image: `(C, H, W)`.
        found: the map.
        target: the explained class.
        progress: of the map of the noisy image, which takes as long as the map itself.
    """
    answer = library.ask(source, Subject.plain(image), found.kept[0])
    whole, only, without = (p[target] for p in (answer.whole, answer.only, answer.without))
    inside = (image > 0).any(0, keepdim=True)
    generator = torch.Generator().manual_seed(0)
    orders = [torch.rand(inside.shape, generator=generator) for _ in range(ORDERS)]
    maps = torch.stack([found.scores.float().cpu(), *orders])
    curves = metrics.insertion_deletion(
        library.heavy(source),
        image.expand(len(maps), -1, -1, -1),
        target,
        maps,
        axis="support",
        points=POINTS,
    )
    areas = (curves.insertion.probability_areas - curves.deletion.probability_areas).tolist()
    noise = (2 * torch.rand(image.shape, generator=generator) - 1) * NOISE
    # noise may neither switch a pixel off nor a background pixel on: that would move the support
    noisy = torch.where(inside, (image + noise).clamp(1e-6, 1), image)
    settings = {k: v for k, v in found.settings.items() if k in _SET}
    again = library.explain(source, noisy, found.name, target, settings=settings, progress=progress)
    steady = overlap(found.rank, again.rank, round(QUARTER * int(inside.sum())))
    return Checks(
        whole=whole,
        only=only,
        without=without,
        insertion=tuple(curves.insertion.probability[0].tolist()),
        deletion=tuple(curves.deletion.probability[0].tolist()),
        order=areas[0],
        luck=tuple(areas[1:]),
        steady=steady,
        complaints=complaints(only, without, areas[0], areas[1:], steady),
    )


_SET = ("budget", "tv_weight", "iterations", "lr", "rho")


def overlap(first: Tensor, second: Tensor, count: int) -> float:
    """Return the share of the `count` first-ranking pixels that two maps have in common.

    >>> overlap(torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0]), 2)
    0.5
    """
    both = (first < count) & (second < count)
    return int(both.sum()) / max(1, count)


def complaints(
    only: float,
    without: float,
    order: float | None = None,
    luck: Sequence[float] = (),
    steady: float | None = None,
) -> tuple[str, ...]:
    """Say in whole sentences where a map fails; what is None was not tried.

    >>> complaints(0.9, 0.1, 0.5, [0.1], 0.8)
    ()
    >>> complaints(0.1, 0.9, 0.5, [0.1], 0.8)[0]
    'The decision does not rest on these pixels: without them the class is as likely as with them alone.'
    """  # noqa: E501
    found = []
    if only <= without:
        found.append(
            "The decision does not rest on these pixels: without them the class is as likely as "
            "with them alone."
        )
    if order is not None and order <= max(luck):
        found.append("Its order of pixels is no better than a random one.")
    if steady is not None and steady < LEAST:
        found.append(f"It changes with a little noise: only {steady:.0%} of its top quarter stays.")
    return tuple(found)
