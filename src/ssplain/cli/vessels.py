"""`ssplain vessels`: branches, width and curvature of segmented images, as pictures and a table."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ssplain.report.vessels import Scale
    from ssplain.vessels import VesselTree
    from ssplain.vessels.table import Planted

    Scales = tuple[Scale, Scale]

MOST = 0.5  # of the pixels: vessels cover less than this


def vessels(
    images: Annotated[list[Path], typer.Argument(help="Segmented images, vessels on black.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for pictures and tables.")],
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Values up to this share of the brightest are ground; by default 0 where the "
            "ground is black, and chosen where it is not (JPEG)."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="How to trace: skeleton or principal-curve.")
    ] = "skeleton",
    variant: Annotated[str, typer.Option(help="Which curvature: robust or raw.")] = "robust",
    sigma: Annotated[
        str | None,
        typer.Option(
            help="Scale of the curvature in px, or local for one per pixel; "
            "by default the median radius of the vessels, at least 2."
        ),
    ] = None,
    axis: Annotated[
        str,
        typer.Option(help="Eigenvector along a vessel: of the larger eigenvalue (alg) or abs."),
    ] = "alg",
    disc: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Row, column and radius of the optic disc; generations count from it."),
    ] = None,
    truth: Annotated[
        list[Path] | None,
        typer.Option(help="Planted truth (.npz) of simulated images, one per image in order."),
    ] = None,
) -> None:
    """Trace vessels and show their width and curvature; colours mean the same on all pictures."""
    import numpy as np

    from ssplain.files import require_writable
    from ssplain.report import vessels as pictures
    from ssplain.terminal.inputs import end
    from ssplain.terminal.progress import bar
    from ssplain.vessels import trace

    truth = truth or []
    if truth and len(truth) != len(images):
        raise SSplainError(
            f"There are {len(images)} images but {len(truth)} files of truth; give one per image."
        )
    twice = [name for name, count in Counter(path.stem for path in images).items() if count > 1]
    if twice:
        raise SSplainError(
            f"Several images are named {twice[0]} and would overwrite each other's results; "
            "give one folder at a time, each with its own --out."
        )
    require_writable(out)
    settings: dict[str, Any] = {
        "method": method,
        "variant": variant,
        "sigma": _scale(sigma),
        "axis": axis,
        "disc": disc,
        "threshold": threshold,
    }
    trace(np.zeros((1, 1)), **settings)  # a mistake in the settings is told once, not per image
    traced = []
    pairs = list(zip_longest(images, truth))
    with bar("tracing") as progress:
        for done, (path, known) in enumerate(pairs):
            progress(done, len(pairs), path.name)
            try:
                traced.append((path, *_trace(path, known, settings)))
            except SSplainError as error:
                named = str(error) if str(path) in str(error) else f"{path}: {error}"
                typer.echo(f"ssplain: {named}", err=True)
    trees = [tree for _, tree, _ in traced]
    scales = pictures.width_scale(trees), pictures.curvature_scale(trees)
    for path, tree, planted in traced:
        _write_all(out, path, tree, planted, scales)
    end(len(images) - len(traced), len(images))


def _trace(
    path: Path, truth: Path | None, settings: Mapping[str, Any]
) -> "tuple[VesselTree, Planted | None]":
    """Trace one file, and read what was planted into it."""
    from ssplain.data import read_image
    from ssplain.vessels import trace
    from ssplain.vessels.table import Planted, check_shape

    planted = None if truth is None else Planted.load(truth)
    tree = trace(read_image(path), **settings)
    covered = (tree.labels > 0).mean()
    if settings["threshold"] is None and covered > MOST:
        raise SSplainError(
            f"{covered:.0%} of the image would be vessel; give a segmented image, bright vessels "
            "on black: segment a photograph, invert a mask that is black on white, or set "
            "--threshold to take it as it is."
        )
    if planted is not None:
        check_shape(tree, planted)
    return tree, planted


def _write_all(
    out: Path, path: Path, tree: "VesselTree", planted: "Planted | None", scales: "Scales"
) -> None:
    """Write the pictures and tables of one image, and print what was found."""
    from ssplain.report import vessels as pictures
    from ssplain.vessels.table import branch_rows, planted_rows

    name, (widths, bends) = path.stem, scales
    width = pictures.vessel_figure(
        pictures.width_picture(tree, widths),
        widths,
        f"{name}: width of the branches",
        f"numbers: rows of {name}-branches.csv, the longest first",
        pictures.branch_numbers(tree),
    )
    _save(width, out / f"{name}-width.png")
    bend = pictures.vessel_figure(
        pictures.curvature_picture(tree, bends),
        bends,
        f"{name}: curvature along the vessels",
        "grey: not measured (junctions, ends, rim of the image)",
    )
    _save(bend, out / f"{name}-curvature.png")
    _write(branch_rows(tree, planted), out / f"{name}-branches.csv")
    typer.echo(f"{path}: {_summary(tree)}")
    if planted:
        rows = planted_rows(tree, planted)
        _write(rows, out / f"{name}-planted.csv")
        typer.echo(f"{path}: {_agreement(rows)}")


def _scale(text: str | None) -> float | str | None:
    """Return a number of px, or the word as it is: `trace` says which ones there are."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _summary(tree: "VesselTree") -> str:
    if not tree.branches:
        return "no vessels found"
    length = sum(branch.length for branch in tree.branches)
    width = sum(branch.calibre * branch.length for branch in tree.branches) / length
    widest = max(tree.calibres[tree.counted], default=width)
    bend = tree.curvature
    mean = f"{bend.values[bend.clear].mean():.4f} 1/px" if bend.clear.any() else "not measured"
    count = len(tree.branches)
    ground = (
        f"; the ground is not black: values up to {tree.threshold:g} of the brightest are left out"
        if tree.threshold
        else ""
    )
    return (
        f"{count} {'branch' if count == 1 else 'branches'}, {length:.0f} px long, mean width "
        f"{width:.2f} px, widest {widest:.2f} px, mean curvature {mean} ({bend.settings}){ground}"
    )


def _agreement(rows: Sequence[Mapping[str, Any]]) -> str:
    """How well planted branches are ranked by what was measured clear of junctions and ends."""
    from scipy.stats import spearmanr

    known = [row for row in rows if row["mean_curvature_per_px"] is not None]
    if len(known) < 3:
        return f"{len(known)} planted branches with a curvature: too few to compare"
    width = spearmanr([r["calibre_px"] for r in known], [r["planted_width"] for r in known])
    bend = spearmanr(
        [r["mean_curvature_per_px"] for r in known], [r["planted_curvature"] for r in known]
    )
    return (
        f"{len(known)} of {len(rows)} planted branches have a curvature; rank correlation of width "
        f"{width.statistic:.2f}, of curvature {bend.statistic:.2f}"
    )


def _save(figure: "Figure", path: Path) -> None:
    from ssplain.files import write_whole

    content = BytesIO()
    figure.savefig(content, format="png", dpi=150)
    write_whole(path, content.getvalue())


def _write(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    from ssplain.files import write_whole

    content = StringIO(newline="")
    writer = csv.DictWriter(content, fieldnames=list(rows[0]) if rows else ["branch"])
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, content.getvalue().encode())
