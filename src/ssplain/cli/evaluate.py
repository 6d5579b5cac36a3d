"""`ssplain evaluate`: explainers measured on the same images, with intervals."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from torch import Tensor

    from ssplain.metrics import Evaluation
    from ssplain.vessels import VesselTree

MODELS = {"mnist": "lenet5-mnist", "fmnist": "lenet5-fmnist", "rop": "googlenet-rop"}
PIECES = {"mnist": 100, "fmnist": 100, "rop": 4}  # images explained at a time; a stop loses these
FEW = 5  # images of a class, below which drawing them again says little
TARGETS = ("label", "predicted")
SHOWN = ("insertion", "deletion", "connected", "kappa", "average-precision above chance")


def evaluate(
    *,
    dataset: Annotated[str, typer.Option(help=f"Bundled images: {', '.join(MODELS)}.")],
    out: Annotated[
        Path, typer.Option(help="Folder for table, curves and results; a stopped call goes on.")
    ],
    explainers: Annotated[
        str, typer.Option(help="Names with commas between, or 'all'; the first is compared with.")
    ] = "all",
    images: Annotated[int, typer.Option(min=1, help="How many, from the first on.")] = 100,
    axis: Annotated[
        str, typer.Option(help="Steps over 'support' pixels, 'all' pixels (the paper) or 'kappa'.")
    ] = "support",
    points: Annotated[int, typer.Option(min=2, help="Steps of a curve; the paper has 26.")] = 101,
    baseline: Annotated[
        str, typer.Option(help="Missing pixels are 'black' (the paper), 'blur' or 'mean'.")
    ] = "black",
    log: Annotated[
        bool, typer.Option("--log", help="Draw the steps on a log axis, to see the first ones.")
    ] = False,
    target: Annotated[str, typer.Option(help="Explain the true 'label' or the 'predicted'.")] = (
        "label"
    ),
    seed: Annotated[int, typer.Option(help="Of draws and of the order among equal scores.")] = 0,
) -> None:
    """Measure explainers on bundled images: table, CSV and curves; nothing is computed twice."""
    import torch

    from ssplain.data import bundled
    from ssplain.explain.registry import make, names
    from ssplain.files import write_whole
    from ssplain.metrics.curves import BASELINES
    from ssplain.metrics.order import AXES
    from ssplain.models import fold_batch_norm, load
    from ssplain.models.fingerprint import fingerprint
    from ssplain.report.evaluation import evaluation_csv, evaluation_figure
    from ssplain.run import Store, evaluate_once, maps_in_pieces

    for option, value, known in (
        ("dataset", dataset, MODELS),
        ("axis", axis, AXES),
        ("baseline", baseline, BASELINES),
        ("target", target, TARGETS),
    ):
        if value not in known:
            raise SSplainError(
                f"--{option} {value} does not work; choose one of: {', '.join(known)}."
            )
    chosen = names() if explainers == "all" else [name.strip() for name in explainers.split(",")]
    model, store = fold_batch_norm(load(MODELS[dataset])), Store(out / "kept")
    made_by = {name: make(name, model, dataset, seed=seed) for name in chosen}
    every, answers = bundled(dataset)
    rows = torch.arange(min(images, len(every)))
    X = every[rows]
    labels = answers[rows] if target == "label" else None
    truth, trees = _vessels(X, rows) if dataset == "rop" else (None, None)
    about = {"dataset": dataset, "model": fingerprint(model), "seed": seed}
    found: dict[str, Evaluation] = {}
    with _bar(len(made_by), len(X)) as show:
        for name, explainer in made_by.items():
            made = maps_in_pieces(
                store,
                explainer,
                X,
                labels,
                about,
                name=name,
                piece=PIECES[dataset],
                progress=partial(show, name, len(found)),
            )
            found[name] = evaluate_once(
                store,
                model,
                X,
                labels,
                made.maps,
                name=f"{name}-measured",
                axis=axis,  # type: ignore[arg-type]  # one of AXES, see above
                points=points,
                baseline=baseline,  # type: ignore[arg-type]
                truth=truth,
                trees=trees,
                seed=seed,
            )
            # after each explainer, so that what is done can be read while the rest runs
            write_whole(out / "evaluation.csv", evaluation_csv(found).encode())
    drawing = evaluation_figure(found, axis, log=log)
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
        f"{len(X)} {dataset} images, steps over {axis} on {baseline}; 95 % intervals by a "
        f"class-stratified bootstrap. Written to {out}: evaluation.csv, curves.png, curves.svg."
    )


def _vessels(images: "Tensor", rows: "Tensor") -> "tuple[Tensor, list[VesselTree]]":
    """Return the diseased pixels and the vessel trees of the bundled fundus images."""
    from ssplain.data.rop_truth import bundled_truth
    from ssplain.vessels import trace

    return bundled_truth("rop").relevance[rows], [trace(image) for image in images]


@contextmanager
def _bar(explainers: int, images: int) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on a terminal; stay quiet in a pipe."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=explainers * images)

        def show(name: str, done: int, explained: int) -> None:
            text = f"{name} ({done + 1} of {explainers})"
            bar.update(task, completed=done * images + explained, description=text)

        yield show


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
