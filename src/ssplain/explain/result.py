"""What an explainer returns: maps, the feasible mask, and everything needed to read them."""

import json
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.stability import Stability, measure_stability
from ssplain.files import npz_bytes, whole_folder, write_whole
from ssplain.models.fingerprint import hash_tensor
from ssplain.prox import top_k
from ssplain.solve import History
from ssplain.version import __version__

FORMAT = 1
ARRAYS = "explanation.npz"
_ARRAYS = ("images", "support", "scores", "mask", "target", "probabilities")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The explanation of N images.

    Attributes:
        images: `(N, C, H, W)`, as given.
        support: `(N, 1, H, W)` boolean, S0: the pixels that may carry the explanation.
        scores: `(N, 1, H, W)`, M(K): ranks the pixels; those outside the support are strictly last.
        mask: `(N, 1, H, W)`, the projection of the scores on S0, S1 and S2 together: within the
            support, within the budget, values in [0, 1].
        target: `(N,)`, the explained class.
        probabilities: `(N, classes)`, the model's opinion of the whole image.
        history: the course of the solve.
        settings: how it was made, ready for JSON.
        again: explains other images of the same shape for the same targets; None if it was read
            from a file.
    """

    images: Tensor
    support: Tensor
    scores: Tensor
    mask: Tensor
    target: Tensor
    probabilities: Tensor
    history: History
    settings: Mapping[str, Any]
    again: Callable[[Tensor], Tensor] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> "Explanation":
        """Return the explanation of one image, still as a batch (of one)."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"There is no image {index}; this explains {len(self)} images.")
        rows = slice(index % len(self), index % len(self) + 1)
        arrays = {name: getattr(self, name)[rows] for name in _ARRAYS}
        one = Explanation(**arrays, history=self.history.take(rows), settings=self.settings)
        if "stability" in self.__dict__:
            one.__dict__["stability"] = self.stability.take(rows.start)
        elif self.again is not None:  # what is given for each image goes with all of them
            object.__setattr__(one, "again", _OneOf(self, rows.start))
        return one

    def __iter__(self) -> Iterator["Explanation"]:
        return (self[i] for i in range(len(self)))

    @property
    def prediction(self) -> Tensor:
        """The class with the largest probability, `(N,)`."""
        return self.probabilities.argmax(1)

    @property
    def kept_share(self) -> Tensor:
        """The share of the support that the mask keeps, `(N,)`."""
        kept = (self.mask > 0).flatten(1).sum(1)
        return kept / self.support.flatten(1).sum(1)

    @cached_property
    def stability(self) -> Stability:
        """How much of the maps stays under noise that nobody sees; see `Stability`.

        It is measured when it is first asked for, which takes six times as long as explaining did;
        `ssplain.explain.measure_stability` can do with less. It is saved if it is known.

        >>> import ssplain
        >>> model = ssplain.models.load("lenet5-mnist")
        >>> images, labels = ssplain.data.bundled("mnist")
        >>> result = ssplain.SSplain(model, stable=True).explain(images[:2], labels[:2])
        >>> result.stability.steady.tolist()
        [True, True]
        """
        if self.again is None:
            raise SSplainError(
                "This explanation was read from a file that does not say how stable it is; explain "
                "the images again, and look at result.stability before saving."
            )
        return measure_stability(self.again, self.images, self.support, scores=self.scores)

    def top(self, share: float) -> Tensor:
        """Mark the highest-ranking pixels, `share` of all pixels of the image.

        This is the paper's view (its figures show 5 %). Pixels outside the support are never
        marked, however large the share.
        """
        if not 0 <= share <= 1:
            raise SSplainError(f"share={share!r} is not a share of the pixels; use 0 to 1.")
        pixels = self.scores[0].numel()
        count = torch.full((len(self),), round(share * pixels), device=self.scores.device)
        return top_k(self.scores, count) & self.support

    def manifest(self) -> dict[str, Any]:
        """Return where this comes from: versions, settings, hashes of model and images."""
        return {
            "format": FORMAT,
            "versions": {
                "ssplain": __version__,
                "torch": str(torch.__version__),  # a class of its own, that needs torch to be read
                "python": platform.python_version(),
            },
            "settings": dict(self.settings),
            "images": [hash_tensor(image) for image in self.images],
            "shape": list(self.images.shape),
            **({"stability": self.stability.about()} if "stability" in self.__dict__ else {}),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything but the settings as arrays, as `explanation.npz` holds them."""
        tensors = {name: getattr(self, name) for name in _ARRAYS}
        tensors |= {f"term_{name}": values for name, values in self.history.terms.items()}
        tensors |= {name: getattr(self.history, name) for name in ("primal", "dual", "iterations")}
        return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}

    def save(self, folder: str | Path) -> None:
        """Write `explanation.npz` and `manifest.json` to a folder, whole or not at all.

        An existing folder of that name is replaced if it holds an explanation and nothing else;
        otherwise nothing is touched and an error says so.
        """
        with whole_folder(folder) as temporary:
            self.write_into(temporary)

    def write_into(self, folder: Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the arrays, then the manifest with what else is known, into an existing folder."""
        write_whole(folder / ARRAYS, npz_bytes(self.arrays()))
        text = json.dumps(self.manifest() | dict(about or {}), indent=2, sort_keys=True) + "\n"
        write_whole(folder / "manifest.json", text.encode())

    @classmethod
    def load(cls, folder: str | Path) -> "Explanation":
        """Read what `save` has written."""
        home = Path(folder)
        try:
            manifest = json.loads((home / "manifest.json").read_text())
            content = BytesIO((home / ARRAYS).read_bytes())
            with np.load(content, allow_pickle=False) as stored:
                arrays = {name: torch.from_numpy(stored[name]) for name in stored.files}
            terms = {k.removeprefix("term_"): v for k, v in arrays.items() if k.startswith("term_")}
            history = History(terms, arrays["primal"], arrays["dual"], arrays["iterations"])
            found, settings = manifest["format"], manifest["settings"]
            parts = {name: arrays[name] for name in _ARRAYS}
            steady = manifest.get("stability")
            known = {} if steady is None else {"stability": Stability.read(steady)}
        except (OSError, ValueError, KeyError, TypeError, BadZipFile) as error:
            raise SSplainError(
                f"{home} holds no readable explanation ({error}); give a folder written by "
                "Explanation.save or `ssplain explain`."
            ) from error
        if found != FORMAT:
            raise SSplainError(
                f"{home} has format {found} and this version reads format {FORMAT}; explain the "
                "images again."
            )
        made = cls(**parts, history=history, settings=settings, again=None)
        made.__dict__.update(known)
        return made


@dataclass(frozen=True, eq=False)
class _OneOf:
    """Explains one image of several again, the others being as they were."""

    whole: Explanation
    row: int

    def __call__(self, images: Tensor) -> Tensor:
        assert self.whole.again is not None  # noqa: S101 - only made if there is one
        batch = self.whole.images.clone()
        batch[self.row] = images[0]
        return self.whole.again(batch)[self.row : self.row + 1]
