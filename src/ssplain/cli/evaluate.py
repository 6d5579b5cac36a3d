"""`ssplain evaluate`: explainers measured on the same images, with intervals."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError
from ssplain.terminal.inputs import (
    Architecture,
    AtLeast,
    BatchSize,
    ClassNames,
    Fill,
    Label,
    Mean,
    Output,
    OutputKind,
    PresetName,
    Std,
    end,
    explainers_of,
    head_of,
    names_given,
    open_model,
)

if TYPE_CHECKING:
    from ssplain.metrics import Evaluation

FEW = 5  # with fewer images of a class, drawing them again says little
TARGETS = ("label", "predicted")


def evaluate(
    *,
    data: Annotated[
        str,
        typer.Option(
            "--data",
            "--dataset",
            help="Images with labels: mnist, fmnist, rop or another data set by name; a folder "
            "with one folder per class; or a CSV file with path, label and, if known, truth.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for table, curves and results; a stopped call goes on.")
    ],
    model: Annotated[
        str | None,
        typer.Option(help="As in `ssplain explain` (default: the bundled data set's own)."),
    ] = None,
    architecture: Architecture = None,
    preset: PresetName = None,
    classes: ClassNames = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="Folder with pictures of the diseased pixels, named like the images."),
    ] = None,
    vessels: Annotated[
        bool, typer.Option("--vessels", help="The images show vessels on black: trace them.")
    ] = False,
    output: Output = None,
    output_kind: OutputKind = "auto",
    batch_size: BatchSize = None,
    label: Label = None,
    at_least: AtLeast = None,
    fill: Fill = None,
    mean: Mean = None,
    std: Std = None,
    explainers: Annotated[
        str,
        typer.Option(
            help="Names separated by commas, or 'all'; the rest are compared with the first."
        ),
    ] = "all",
    images: Annotated[int, typer.Option(min=1, help="How many at most, from the first on.")] = 100,
    axis: Annotated[
        str, typer.Option(help="Steps over 'support' pixels, 'all' pixels (the paper) or 'kappa'.")
    ] = "support",
    points: Annotated[int, typer.Option(min=2, help="Steps of a curve; the paper has 26.")] = 101,
    baseline: Annotated[
        str,
        typer.Option(
            help="In curves, missing pixels are 'black' (the paper) or what --fill says; or, on "
            "black, 'blur' or 'mean'."
        ),
    ] = "black",
    log: Annotated[
        bool, typer.Option("--log", help="Draw the steps on a log axis, to see the first ones.")
    ] = False,
    target: Annotated[
        str, typer.Option(help="Explain the true class ('label') or the 'predicted' one.")
    ] = "label",
    seed: Annotated[
        int, typer.Option(help="Fixes random draws and the order of equal scores.")
    ] = 0,
) -> None:
    """Measure explainers on images with labels: table, CSV and curves; nothing is done twice."""
    from dataclasses import replace
    from functools import partial

    from ssplain.explain.registry import method
    from ssplain.files import write_whole
    from ssplain.metrics.curves import BASELINES
    from ssplain.metrics.order import AXES
    from ssplain.progress import portion
    from ssplain.report.evaluation import evaluation_csv, evaluation_figure
    from ssplain.report.save import write_figure
    from ssplain.run.evaluations import evaluate_once
    from ssplain.run.maps import explain_once
    from ssplain.run.store import Store
    from ssplain.terminal.progress import bar
    from ssplain.terminal.scene import scene_of

    for option, value, known in (
        ("axis", axis, AXES),
        ("baseline", baseline, BASELINES),
        ("target", target, TARGETS),
    ):
        if value not in known:
            raise SSplainError(
                f"--{option} {value} does not work; choose one of: {', '.join(known)}."
            )
    opened = partial(
        open_model,
        architecture=architecture,
        head=head_of(label, at_least, mean, std),
        output=output,
        output_kind=output_kind,
        batch_size=batch_size,
        fill=fill,
    )
    scene, refused = scene_of(
        data,
        model,
        opened,
        count=images,
        preset=preset,
        classes=names_given(classes),
        truth=truth,
        vessels=vessels,
    )
    # after the model, whose module may have added an explainer
    chosen = [method(name) for name in explainers_of(explainers)]
    settings = {one.name: one.settings(scene.dataset) for one in chosen}
    store = Store(out / "kept")
    if target == "predicted":
        scene = replace(scene, labels=scene.predicted())
    found: dict[str, Evaluation] = {}
    left_out: dict[str, SSplainError] = {}
    reference = None
    with bar("starting") as progress:
        for at, (name, own) in enumerate(settings.items()):
            maps, measures = (
                portion(progress, at + start, 0.5, len(settings), f"{name}, {what}")
                for start, what in ((0, "maps"), (0.5, "measures"))
            )
            try:
                made = explain_once(store, scene, name, own, scene.labels, seed=seed, progress=maps)
            except SSplainError as error:
                left_out[name] = error
                continue
            reference = made.joined() if reference is None else reference
            found[name] = evaluate_once(
                store,
                scene,
                made.channels,
                name=f"{name}-measured",
                axis=axis,  # type: ignore[arg-type]  # one of AXES, see above
                points=points,
                baseline=baseline,  # type: ignore[arg-type]
                reference=reference,
                seed=seed,
                progress=measures,
            )
            # after each explainer, so that what is done can be read while the rest runs
            write_whole(out / "evaluation.csv", evaluation_csv(found).encode())
    if not found:
        raise next(iter(left_out.values()))
    for name, why in left_out.items():
        typer.echo(f"ssplain: {method(name).title} is left out: {why}", err=True)
    drawing = evaluation_figure(found, axis, log=log)
    for kind in ("png", "svg"):
        write_figure(drawing, out / f"curves.{kind}", dpi=150)
    _print(found)
    if min(Counter(scene.labels.tolist()).values()) < FEW:
        typer.echo(
            f"ssplain: some class has fewer than {FEW} images; intervals are too narrow.", err=True
        )
    typer.echo(
        f"{len(scene.images)} images of {data}, steps over {axis} on {baseline}; 95 % intervals by "
        f"a class-stratified bootstrap. Written to {out}: evaluation.csv, curves.png, curves.svg."
    )
    end(refused, len(scene.images) + refused)


def _print(found: "dict[str, Evaluation]") -> None:
    """Print one line per explainer with the headline measures."""
    from rich.console import Console
    from rich.table import Table

    from ssplain.metrics import MEASURES

    first = next(iter(found.values()))
    measures = [name for name in first.values if MEASURES[name].headline]
    shown = Table(box=None, header_style="bold", pad_edge=False)
    shown.add_column("explainer", no_wrap=True)
    for measure in measures:
        shown.add_column(measure, justify="right", no_wrap=True)
    for name, evaluation in found.items():
        shown.add_row(name, *(str(evaluation.summary(measure)) for measure in measures))
    console = Console()
    # in a pipe there is no width to fit into; on a terminal, rich asks for it
    (console if console.is_terminal else Console(width=200)).print(shown)
