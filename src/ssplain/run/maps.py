"""Maps of many images, made piece by piece, so that little is lost when the work is stopped."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssplain.explain.registry import make, method
from ssplain.models.fingerprint import hash_tensor
from ssplain.progress import Progress, portion
from ssplain.question.protocol import ChannelRule, Explainer, over_channels
from ssplain.run.revision import revision
from ssplain.run.scene import Scene
from ssplain.run.store import Store


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of one explainer.

    Attributes:
        channels: `(N, C, H, W)`, or `(N, 1, H, W)` where channels count together.
        seconds: `(N,)` what each took when it was made, as its share of its piece's time.
    """

    channels: Tensor
    seconds: Tensor

    def joined(self, rule: ChannelRule = "max") -> Tensor:
        """Return one map per image, `(N, 1, H, W)`; the paper shows the highest channel."""
        return over_channels(self.channels, rule)


def explain_once(
    store: Store,
    scene: Scene,
    name: str,
    settings: Mapping[str, Any],
    targets: Tensor,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Maps:
    """Explain images a piece at a time; pieces that are in the store are not made again.

    A piece is found by all that it depends on: the model, the explainer with its settings, seed and
    code, the images and the targets. So a longer run uses what a shorter one made, and a changed
    explainer never meets old maps.

    Args:
        store: where pieces are kept.
        scene: model and images.
        name: of the explainer, in the registry.
        settings: of the explainer, as JSON can hold them.
        targets: `(N,)` explained classes.
        seed: of what the explainer draws.
        progress: told the images done.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ssplain.run.scene import bundled_scene
    >>> scene = bundled_scene("mnist", 2)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     made = explain_once(Store(Path(home)), scene, "saliency", {}, scene.labels)
    >>> made.joined().shape
    torch.Size([2, 1, 28, 28])
    """
    explainer = make(name, scene.model, seed=seed, **{**scene.options, **settings})
    origin: dict[str, object] = {
        "explainer": name,
        "settings": dict(settings),
        "seed": seed,
        "code": revision(method(name).builder().__module__),
        "torch": torch.__version__,
        "model": scene.origin,
    }
    maps, seconds, total = [], [], len(scene.images)
    for start in range(0, total, scene.piece):
        rows = slice(start, min(start + scene.piece, total))
        images, wanted = scene.images[rows], targets[rows]
        own = {"images": hash_tensor(images), "targets": wanted.tolist()}
        about = None if scene.origin is None else origin | own
        telling = portion(progress, start, len(images), total)
        found = store.once(name, about, partial(_made, explainer, images, wanted, telling))
        maps.append(torch.from_numpy(found["maps"]))
        seconds.append(torch.full((len(images),), float(found["seconds"]) / len(images)))
        if progress is not None:
            progress(rows.stop, total)
    return Maps(torch.cat(maps), torch.cat(seconds))


def _made(
    explainer: Explainer, images: Tensor, targets: Tensor, progress: Progress | None
) -> dict[str, np.ndarray]:
    start = time.perf_counter()
    maps = explainer.attribute(images, targets, over="all", progress=progress)
    return {"maps": maps.cpu().numpy(), "seconds": np.array(time.perf_counter() - start)}
