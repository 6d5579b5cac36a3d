"""`ssplain explain`: which pixels of these images the model's decision rests on."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.terminal.inputs import (
    Anyway,
    Architecture,
    AtLeast,
    BatchSize,
    ClassNames,
    Fill,
    Label,
    Mean,
    ModelSource,
    Output,
    OutputKind,
    PresetName,
    Stable,
    Std,
    TargetClass,
    head_of,
    names_given,
    number_or_text,
    number_or_word,
)
from ssplain.terminal.work import (
    EngineKind,
    IndexFile,
    Inputs,
    JobFolder,
    Patience,
    Report,
    Scheduler,
    Shard,
    Workers,
    check_report,
    work_through,
)

if TYPE_CHECKING:
    from sqlite3 import Row

    from ssplain.jobs.index import Index
    from ssplain.work.explaining import Explaining


def explain(
    inputs: Inputs,
    *,
    model: ModelSource,
    out: JobFolder,
    architecture: Architecture = None,
    preset: PresetName = None,
    target: TargetClass = None,
    classes: ClassNames = None,
    budget: Annotated[
        float | None, typer.Option(help="Share of the support that may be kept.")
    ] = None,
    norm: Annotated[str | None, typer.Option(help="Sparsity by l0 or l1.")] = None,
    tv_weight: Annotated[float | None, typer.Option(help="Weight of total variation.")] = None,
    rho: Annotated[float | None, typer.Option(help="Penalty of the ADMM.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations of the ADMM.")] = None,
    start: Annotated[
        str | None,
        typer.Option(help="First mask: intensity, minmax, ones, random, gradient, sensitivity."),
    ] = None,
    support: Annotated[
        str | None,
        typer.Option(help="Pixels that count: nonzero, otsu, all, or a threshold such as 0.1."),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Stop when the residuals are at most this.")
    ] = None,
    output: Output = None,
    output_kind: OutputKind = "auto",
    batch_size: BatchSize = None,
    seed: Annotated[int, typer.Option(help="For --start random.")] = 0,
    label: Label = None,
    at_least: AtLeast = None,
    fill: Fill = None,
    mean: Mean = None,
    std: Std = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Draw overlay.png, mask.png and top5.png for each.")
    ] = False,
    dicom: Annotated[
        bool,
        typer.Option(
            "--dicom", help="Answer DICOM in DICOM: overlay.dcm and map.dcm in the same study."
        ),
    ] = False,
    report: Report = None,
    anyway: Anyway = False,
    stable: Stable = False,
    stability: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Explain each image this many times more, under noise of 1e-6 and of 1e-3, and "
            "say how much of its map stays (default: the first 5 images once, under 1e-6; "
            "0: none).",
        ),
    ] = None,
    engine: EngineKind = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    patience: Patience = 600.0,
    shard: Shard = None,
    index: IndexFile = None,
) -> None:
    """Explain one image or a million: scores, mask, numbers and a manifest for each.

    It is a job: the same command goes on where it stopped, and nothing is done twice. Ctrl-C ends
    after the running batch. Exit code 0 if all went well, 3 if some images failed, 2 for a mistake.
    """
    from ssplain.files import require_writable
    from ssplain.jobs.plan import parse_shard
    from ssplain.work.explaining import Explaining

    part = None if shard is None else parse_shard(shard)
    if "://" not in out:
        require_writable(Path(out))
    check_report(report, out)
    task = Explaining(
        model=model,
        architecture=architecture,
        preset=preset,
        target=target,
        classes=names_given(classes),
        budget=budget,
        norm=norm,
        tv_weight=tv_weight,
        rho=rho,
        lr=lr,
        iterations=iterations,
        start=start,
        support=number_or_word(support),
        tolerance=tolerance,
        output=number_or_text(output),
        output_kind=output_kind,
        batch_size=batch_size,
        seed=seed,
        fill=number_or_word(fill),
        **vars(head_of(label, at_least, mean, std)),
        pictures=pictures,
        dicom=dicom,
        anyway=anyway,
        stable=stable,
        stability=stability,
    )
    work_through(
        task,
        inputs,
        out,
        engine=engine,
        workers=workers,
        scheduler=scheduler,
        patience=patience,
        shard=part,
        index=index,
        show=lambda found: _show(found, task),
        report=report,
    )


def _show(index: "Index", task: "Explaining") -> None:
    """Print a table of few images, and what was done to them."""
    from ssplain.jobs.identity import classes_of_job
    from ssplain.terminal.show import table

    card = task.card
    rows = list(index.rows("status = 'done'"))
    if rows:
        table(rows, classes_of_job(index))
    for row in rows:
        remark = json.loads(row["measures"]).get("remark")
        if remark:
            typer.echo(f"ssplain: {row['given']}: {remark}.", err=True)
    _warn_of_turning(rows, task)
    resized = sum('"resized": true' in row["measures"] for row in rows)
    if resized and card is not None:
        size = f"{card.size[0]}x{card.size[1]}"
        typer.echo(
            f"ssplain: {resized} of them resized to {size}, as the model takes them.", err=True
        )


def _warn_of_turning(rows: "list[Row]", task: "Explaining") -> None:
    """Say which maps turn on rounding, and what can be done about it."""
    from ssplain.explain.stability import STEADY as ENOUGH
    from ssplain.terminal.show import STEADY

    known = [json.loads(row["measures"]).get(STEADY) for row in rows]
    shares = [share for share in known if share is not None]
    turning = sum(share < ENOUGH for share in shares)
    if turning:
        hint = "" if task.stable else "; --stable makes maps that do not"
        typer.echo(
            f"ssplain: {turning} of {len(shares)} maps turn on rounding: of their top quarter less "
            f"than {ENOUGH:.0%} stays under noise of 1e-6{hint}.",
            err=True,
        )
