"""`ssplain evaluate`: explainers measured on the same images, with intervals."""

import json
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zipfile import BadZipFile

import typer

from ssplain.errors import SSplainError
from ssplain.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

    from ssplain.metrics import Evaluation
    from ssplain.vessels import VesselTree

MODELS = {"mnist": "lenet5-mnist", "fmnist": "lenet5-fmnist", "rop": "googlenet-rop"}
FEW = 5  # images of a class, below which drawing them again says little
TARGETS = ("label", "predicted")
SHOWN = ("insertion", "deletion", "connected", "kappa", "average-precision above chance")


def evaluate(
    *,
    dataset: Annotated[str, typer.Option(help=f"Bundled images: {', '.join(MODELS)}.")],
    out: Annotated[Path, typer.Option(help="Folder for maps, table and curves; may exist.")],
    explainers: Annotated[
        str, typer.Option(help="Names with commas between, or 'all'; the first is compared with.")
    ] = "all",
    images: Annotated[int, typer.Option(min=1, help="How many, evenly spread.")] = 100,
    axis: Annotated[
        str, typer.Option(help="Steps over 'support' pixels, 'all' pixels (the paper) or 'kappa'.")
    ] = "support",
    points: Annotated[int, typer.Option(help="Steps of the curves; the paper has 26.")] = 101,
    target: Annotated[str, typer.Option(help="Explain the true 'label' or the 'predicted'.")] = (
        "label"
    ),
    seed: Annotated[int, typer.Option(help="Of draws and of the order among equal scores.")] = 0,
) -> None:
    """Measure explainers on bundled images: table, CSV and curves; maps are kept and used again."""
    import torch

    from ssplain.data import bundled
    from ssplain.explain.registry import make, names
    from ssplain.files import write_whole
    from ssplain.metrics import evaluate as measure
    from ssplain.models import load
    from ssplain.models.fingerprint import fingerprint, hash_tensor
    from ssplain.report.evaluation import evaluation_csv, evaluation_figure

    if dataset not in MODELS or target not in TARGETS:
        raise SSplainError(
            f"--dataset {dataset} --target {target} does not work; choose one of "
            f"{', '.join(MODELS)}, and one of {', '.join(TARGETS)}."
        )
    chosen = names() if explainers == "all" else tuple(explainers.split(","))
    model = load(MODELS[dataset])
    every, answers = bundled(dataset)
    rows = torch.linspace(0, len(every) - 1, min(images, len(every))).round().long()
    X = every[rows]
    labels = answers[rows] if target == "label" else None
    about = {
        "dataset": dataset,
        "model": fingerprint(model),
        "images": hash_tensor(X),
        "target": target,
        "seed": seed,
        "version": __version__,
    }
    truth, trees = _vessels(X, rows) if dataset == "rop" else (None, None)
    found: dict[str, Evaluation] = {}
    for name, explainer in [(name, make(name, model, dataset, seed=seed)) for name in chosen]:
        maps = _kept(out / "maps" / f"{name}.npz", about | {"explainer": name})
        if maps is None:
            maps = explainer.attribute(X, labels)
            _keep(out / "maps" / f"{name}.npz", about | {"explainer": name}, maps)
        found[name] = measure(
            model,
            X,
            labels,
            maps,
            axis=axis,  # type: ignore[arg-type]  # checked there
            points=points,
            truth=truth,
            trees=trees,
            seed=seed,
        )
        # after each explainer, so that what is done can be read while the rest runs
        write_whole(out / "evaluation.csv", evaluation_csv(found).encode())
        typer.echo(f"{name}: done", err=True)
    drawing = evaluation_figure(found, axis)
    for kind in ("png", "svg"):
        drawn = BytesIO()
        drawing.savefig(drawn, format=kind, dpi=150)
        write_whole(out / f"curves.{kind}", drawn.getvalue())
    _print(found)
    if min(Counter(answers[rows].tolist()).values()) < FEW:
        typer.echo(
            f"ssplain: some class has fewer than {FEW} images; intervals are too narrow.", err=True
        )
    typer.echo(
        f"{len(X)} {dataset} images, steps over {axis}; 95 % intervals by a class-stratified "
        f"bootstrap. Written to {out}: evaluation.csv, curves.png, curves.svg, maps."
    )


def _vessels(images: "Tensor", rows: "Tensor") -> "tuple[Tensor, list[VesselTree]]":
    """Return the diseased pixels and the vessel trees of the bundled fundus images."""
    from ssplain.data.rop_truth import bundled_truth
    from ssplain.vessels import trace

    return bundled_truth("rop").relevance[rows], [trace(image) for image in images]


def _kept(path: Path, about: dict[str, object]) -> "Tensor | None":
    """Return maps that were made before in just this way, if there are any."""
    import numpy as np
    import torch

    try:
        with np.load(path, allow_pickle=False) as stored:
            if str(stored["about"]) == _text(about):
                return torch.from_numpy(stored["maps"])
    except (OSError, ValueError, KeyError, BadZipFile):
        pass  # none yet, or not readable: made again
    return None


def _keep(path: Path, about: dict[str, object], maps: "Tensor") -> None:
    import numpy as np

    from ssplain.files import write_whole

    content = BytesIO()
    np.savez_compressed(content, maps=maps.cpu().numpy(), about=np.array(_text(about)))
    write_whole(path, content.getvalue())


def _text(about: dict[str, object]) -> str:
    return json.dumps(about, sort_keys=True)


def _print(found: "dict[str, Evaluation]") -> None:
    """Print one line per explainer with the headline measures."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, header_style="bold", pad_edge=False)
    shown.add_column("explainer", no_wrap=True)
    measures = [name for name in SHOWN if name in next(iter(found.values())).values]
    for measure in measures:
        shown.add_column(measure, justify="right", no_wrap=True)
    for name, evaluation in found.items():
        shown.add_row(name, *(str(evaluation.summary(measure)) for measure in measures))
    console = Console()
    # in a pipe there is no width to fit into; on a terminal, rich asks for it
    (console if console.is_terminal else Console(width=200)).print(shown)
