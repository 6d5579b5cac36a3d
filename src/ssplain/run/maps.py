"""Maps of many images, made piece by piece, so that little is lost when the work is stopped."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ssplain.explain.protocol import Explainer
from ssplain.models.fingerprint import hash_tensor
from ssplain.run.store import Store
from ssplain.version import __version__


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of one explainer.

    Attributes:
        maps: `(N, 1, H, W)`.
        seconds: `(N,)` what each took when it was made, as its share of its piece's time.
    """

    maps: Tensor
    seconds: Tensor


def maps_in_pieces(
    store: Store,
    explainer: Explainer,
    images: Tensor,
    targets: Tensor | None,
    about: Mapping[str, object],
    *,
    name: str,
    piece: int,
    progress: Callable[[int], None] | None = None,
) -> Maps:
    """Explain images a piece at a time; pieces that are in the store are not made again.

    Args:
        store: where pieces are kept.
        explainer: gives the maps. What it draws at random must come from its own seed.
        images: `(N, C, H, W)`.
        targets: `(N,)` explained classes, None for the predicted ones.
        about: what else the maps depend on: the model's fingerprint, the explainer's settings.
        name: of the explainer, for the files.
        piece: images in one piece. A piece is found again by its images, so a longer run uses what
            a shorter one made.
        progress: called after each piece with the number of images done.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ssplain.explain import make
    >>> explainer, images = make("intensity", torch.nn.Flatten()), torch.rand(5, 1, 2, 2)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     made = maps_in_pieces(
    ...         Store(Path(home)), explainer, images, None, {}, name="intensity", piece=2
    ...     )
    ...     len(list(Path(home).iterdir())), torch.equal(made.maps, images)
    (3, True)
    """
    maps, seconds, done = [], [], 0
    pieces = torch.split(images, piece)
    answers = [None] * len(pieces) if targets is None else torch.split(targets, piece)
    for part, wanted in zip(pieces, answers, strict=True):
        key = {
            **about,
            "explainer": name,
            "images": hash_tensor(part),
            "targets": "predicted" if wanted is None else wanted.tolist(),
            "version": __version__,
        }
        found = store.once(name, key, partial(_made, explainer, part, wanted))
        maps.append(torch.from_numpy(found["maps"]))
        seconds.append(torch.full((len(part),), float(found["seconds"]) / len(part)))
        done += len(part)
        if progress is not None:
            progress(done)
    return Maps(torch.cat(maps), torch.cat(seconds))


def _made(explainer: Explainer, images: Tensor, targets: Tensor | None) -> dict[str, np.ndarray]:
    start = time.perf_counter()
    maps = explainer.attribute(images, targets)
    return {"maps": maps.cpu().numpy(), "seconds": np.array(time.perf_counter() - start)}
