"""Model cards: what a set of weights was trained on, how well it does, and its fingerprint."""

import dataclasses
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import safetensors.torch
from torch import Tensor, nn

from ssplain.errors import SSplainError
from ssplain.files import hash_file, write_whole
from ssplain.models.domain import Domain

CARD, WEIGHTS = "card.json", "weights.safetensors"
_HOME = Path(__file__).parents[1] / "assets" / "models"

# the models that come with the package: each is a folder of assets/models
BUNDLED = ("googlenet-rop", "lenet5-mnist", "lenet5-fmnist")
# networks that come with it too but classify nothing: they say something of every pixel
PIXELWISE = ("unet-vessels", "unet-disc")


@dataclass(frozen=True)
class ModelCard:
    """What one should know about trained weights; stored as `card.json` next to them.

    Attributes:
        name: The model's name, e.g. "lenet5-mnist".
        architecture: The name by which `load` builds the network, e.g. "lenet5".
        dataset: What it was trained on.
        classes: Name of each output, in order.
        channels: Channels of an input image.
        size: Height and width of an input image.
        accuracy: Share of the test images classified correctly.
        seed: Seed of the initial weights, the validation split and the order of the images.
        date: Day of training, as YYYY-MM-DD.
        note: How it was trained, in a sentence or two.
        sha256: Fingerprint of the weights file; `save` fills it in.
        domain: What its training images have in common, from `Domain.of(images).numbers()`; images
            outside are refused. None if that is not known.
        photographs: Of a network that grades vessels: how its grades are brought to the scale of
            photographs, see `ssplain.models.calibrated`. None leaves them as they are.
        segmented: The same for vessels of real eyes that somebody segmented.
    """

    name: str
    architecture: str
    dataset: str
    classes: tuple[str, ...]
    channels: int
    size: tuple[int, int]
    accuracy: float
    seed: int
    date: str
    note: str
    sha256: str = ""
    domain: dict[str, list[float]] | None = None
    photographs: dict[str, list[float]] | None = None
    segmented: dict[str, list[float]] | None = None

    def faults(self, image: Tensor) -> list[str]:
        """Return what sets an image, of the model's size, apart from its training images."""
        return [] if self._domain is None else self._domain.faults(image)

    def require_inside(self, image: Tensor, what: object, remark: str | None = None) -> None:
        """Complain about an image that is not of the kind that the model was trained on.

        Args:
            image: `(C, H, W)`.
            what: its name.
            remark: what else is known to be odd about it.
        """
        if self._domain is not None:
            self._domain.require(image, what, self.name, remark)

    @cached_property
    def _domain(self) -> Domain | None:
        return None if self.domain is None else Domain.read(self.domain)

    @staticmethod
    def read(folder: Path) -> "ModelCard":
        """Read the `card.json` of a folder."""
        path = folder / CARD
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            fields |= {"classes": tuple(fields["classes"]), "size": tuple(fields["size"])}
            if fields.get("domain") is not None:
                Domain.read(fields["domain"])
            return ModelCard(**fields)
        except OSError as error:
            raise SSplainError(
                f"{path} cannot be read ({error.strerror}); `ssplain train` writes it next to the "
                "weights."
            ) from error
        except (ValueError, LookupError, TypeError) as error:
            raise SSplainError(
                f"{path} is not a model card ({error}); `ssplain train` writes it next to the "
                "weights."
            ) from error


def card(source: str | Path) -> ModelCard:
    """Return the card of a bundled model, or of a folder that `ssplain train` wrote.

    Args:
        source: A bundled name, or the folder.

    Returns:
        The card.

    Raises:
        SSplainError: If there is no such model, or its card cannot be read.

    Example:
        >>> card("lenet5-mnist").size
        (28, 28)
    """
    return ModelCard.read(folder_of(source))


def find_card(source: str | Path) -> ModelCard | None:
    """Return the card of a bundled model or a trained folder; other models have none.

    Args:
        source: As `load` takes it.

    Example:
        >>> find_card("package.module:function") is None
        True
    """
    has_card = str(source) in BUNDLED or (Path(source) / CARD).is_file()
    return card(source) if has_card else None


def save(model: nn.Module, about: ModelCard, folder: Path) -> None:
    """Write a model's weights and then its card into a folder, each whole or not at all.

    Args:
        model: The model whose weights to write.
        about: Its card, still without a fingerprint.
        folder: Where to write `weights.safetensors` and `card.json`.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> about = dataclasses.replace(card("lenet5-mnist"), name="dot", sha256="")
        >>> save(nn.Linear(1, 2), about, folder)
        >>> card(folder).sha256 == hash_file(folder / WEIGHTS)
        True
    """
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    write_whole(folder / WEIGHTS, safetensors.torch.save(weights))
    signed = dataclasses.replace(about, sha256=hash_file(folder / WEIGHTS))
    text = json.dumps(dataclasses.asdict(signed), indent=2) + "\n"
    write_whole(folder / CARD, text.encode())


def folder_of(source: str | Path) -> Path:
    """Return the folder with the weights and card of a bundled model, or the folder given.

    Example:
        >>> folder_of("lenet5-mnist").name
        'lenet5-mnist'
    """
    if str(source) in (*BUNDLED, *PIXELWISE):
        return _HOME / source
    if not Path(source).is_dir():
        raise SSplainError(
            f"There is no model {str(source)!r}; the bundled ones are: {', '.join(BUNDLED)}."
        )
    return Path(source)
