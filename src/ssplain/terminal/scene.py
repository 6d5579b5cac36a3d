"""What `ssplain evaluate` looks at: a model, and images with labels from anywhere."""

from pathlib import Path
from typing import TYPE_CHECKING

from ssplain.errors import SSplainError
from ssplain.terminal.inputs import card_of, read_or_refuse, require_names_fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor, nn

    from ssplain.data.labelled import LabelledFile
    from ssplain.models import ModelCard, ModelOptions
    from ssplain.run.scene import Scene


def scene_of(
    data: str,
    model: str | None,
    opened: "Callable[[str], tuple[nn.Module, ModelOptions]]",
    *,
    count: int,
    preset: str | None = None,
    classes: "Sequence[str] | None" = None,
    truth: Path | None = None,
    vessels: bool = False,
) -> "tuple[Scene, int]":
    """Return model and images, and how many images were refused.

    Args:
        data: a registered data set, a folder with a folder per class, or a CSV file.
        model: anything that `ssplain.models.load` takes; the data set's own if None.
        opened: loads a model and says how it is called; see `ssplain.terminal.inputs.open_model`.
        count: at most this many images; of files, as many of each class as there are.
        preset: whose settings explainers take; the data set's or the model's if None.
        classes: the names of the model's classes, before those that it or its card tells.
        truth: for a folder: another one with pictures of the diseased pixels.
        vessels: whether the images show vessels on black, which can be traced.
    """
    from dataclasses import replace

    from ssplain.ask.heads import YES_OR_NO
    from ssplain.data import DATASETS
    from ssplain.explain.presets import PHOTOGRAPH, PRESETS, preset_names
    from ssplain.models.classes import classes_of
    from ssplain.run.scene import Scene, bundled_scene

    if preset is not None and preset not in preset_names():
        raise SSplainError(
            f"--preset {preset} does not work; choose one of: {', '.join(preset_names())}."
        )
    source = model or (DATASETS[data].model if data in DATASETS else None)
    if source is None:
        raise SSplainError(
            f"--data {data} is no bundled data set ({', '.join(DATASETS)}), so --model is needed."
        )
    network, options = opened(source)
    if preset == "photograph":
        options.setdefault("fill", PHOTOGRAPH["fill"])
    names = classes_of(source, network, classes)
    if data in DATASETS:
        scene = bundled_scene(data, count, network)
        if classes is not None and names is not None:
            require_names_fit(network, options, scene.images[:1], names)
            scene = replace(scene, classes=names)
        return replace(scene, dataset=preset or scene.dataset, options=options), 0
    card = card_of(source)
    # the folders of a yes-or-no question may be called anything
    known = () if names is None or (names == YES_OR_NO and classes is None) else names
    images, labels, found, masks, refused = _read(Path(data), card, known, truth, count)
    require_names_fit(network, options, images[:1], known or None)
    # a card says what the weights were trained on, which is a preset for the paper's data sets
    own = card.name.rpartition("-")[2] if card is not None else ""
    named = preset or (own if own in PRESETS else None)
    scene = Scene(named, network, images, labels, found, masks, vessels, options)
    return scene, refused


def _read(
    source: Path,
    card: "ModelCard | None",
    classes: "Sequence[str]",
    truth: Path | None,
    count: int,
) -> "tuple[Tensor, Tensor, tuple[str, ...], Tensor | None, int]":
    import torch

    from ssplain.data.labelled import labelled_files

    found = labelled_files(source, classes, truth)
    chosen = _spread(found.files, count)
    by_path = {one.path: one for one in chosen}
    read, refused = read_or_refuse([one.path for one in chosen], card)
    if not read:
        raise SSplainError(f"No image of {source} can be used; see above.")
    size = read[0][1].shape
    for path, image in read:
        if image.shape != size:
            raise SSplainError(
                f"{path} has the shape {tuple(image.shape)} and {read[0][0]} {tuple(size)}; bring "
                "all images to one size, or use a model whose card names it."
            )
    files = [by_path[path] for path, _ in read]
    return (
        torch.stack([image for _, image in read]),
        torch.tensor([one.label for one in files]),
        found.classes,
        _masks(files, (int(size[-2]), int(size[-1]))),
        refused,
    )


def _spread(files: "Sequence[LabelledFile]", count: int) -> "list[LabelledFile]":
    """Return the first files of every class in turn, `count` at most, in their own order."""
    seen: dict[int, int] = {}
    places = []
    for at, one in enumerate(files):
        seen[one.label] = seen.get(one.label, -1) + 1
        places.append((seen[one.label], at))
    return [files[at] for at in sorted(at for _, at in sorted(places)[:count])]


def _masks(files: "Sequence[LabelledFile]", size: tuple[int, int]) -> "Tensor | None":
    """Return the diseased pixels, `(N, 1, H, W)`; none of an image without a picture of them."""
    import torch

    from ssplain.data import read_image, resize

    if all(one.truth is None for one in files):
        return None
    masks = []
    for one in files:
        if one.truth is None:
            masks.append(torch.zeros(1, *size))
        else:
            picture = read_image(one.truth).amax(0, keepdim=True)
            masks.append((resize(picture, size) > 0).float())
    return torch.stack(masks)
