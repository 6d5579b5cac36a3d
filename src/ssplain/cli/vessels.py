"""`ssplain vessels`: branches, width and curvature of segmented images, as pictures and a table."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ssplain.vessels import VesselTree


def vessels(
    images: Annotated[list[Path], typer.Argument(help="Segmented images, vessels on black.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for pictures and tables.")],
    threshold: Annotated[
        float, typer.Option(help="Grey values up to this are background, in [0, 1].")
    ] = 0.0,
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
    from ssplain.report import vessels as pictures
    from ssplain.vessels.table import Planted, branch_rows, planted_rows

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
    planted = [Planted.load(path) for path in truth]
    settings = {"variant": variant, "sigma": _scale(sigma), "axis": axis, "disc": disc}
    trees = [_trace(path, threshold, method=method, **settings) for path in images]
    widths, bends = pictures.width_scale(trees), pictures.curvature_scale(trees)
    out.mkdir(parents=True, exist_ok=True)
    for path, tree, known in zip_longest(images, trees, planted):
        name = path.stem
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
        _write(branch_rows(tree, known), out / f"{name}-branches.csv")
        typer.echo(f"{path}: {_summary(tree)}")
        if known:
            rows = planted_rows(tree, known)
            _write(rows, out / f"{name}-planted.csv")
            typer.echo(f"{path}: {_agreement(rows)}")


def _trace(path: Path, threshold: float, **settings: Any) -> "VesselTree":  # noqa: ANN401
    from ssplain.data import read_image
    from ssplain.vessels import trace

    image = read_image(path)
    try:
        return trace(image * (image > threshold), **settings)
    except SSplainError as error:
        raise SSplainError(f"{path}: {error}") from error


def _scale(text: str | None) -> float | str | None:
    """A number of px, or the word as it is: `trace` says which ones there are."""
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
    return (
        f"{count} {'branch' if count == 1 else 'branches'}, {length:.0f} px long, mean width "
        f"{width:.2f} px, widest {widest:.2f} px, mean curvature {mean} ({bend.settings})"
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
    part = path.with_suffix(".part")
    figure.savefig(part, format="png", dpi=150)
    part.replace(path)


def _write(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["branch"])
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)
