"""`ssplain demo`: the main job on the bundled images and models, as a page to look at."""

import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from torch import Tensor

    from ssplain.explain import Explanation
    from ssplain.metrics import Kept
    from ssplain.models import ModelCard
    from ssplain.pages.page import Section
    from ssplain.report.render import Picture


@dataclass(frozen=True)
class Part:
    """One data set of the demo: the page shows the first explained image of each class."""

    dataset: str
    model: str
    title: str
    images: int


PARTS = (
    Part("rop", "googlenet-rop", "Simulated fundus images: plus disease", 3),
    Part("mnist", "lenet5-mnist", "MNIST: handwritten digits", 100),
    Part("fmnist", "lenet5-fmnist", "Fashion-MNIST: clothes", 100),
)
NOTE = (
    "Each row: the image, the scores of SSplain as published and of SSplain-ranking, which orders "
    "the pixels for every share at once; of the first, what the feasible mask keeps, and the top "
    "5 % of the pixels with the rest in purple. 'only mask' is the model's probability of the "
    "class when it sees nothing but the kept pixels, 'without' when they are blackened."
)


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write the page and images to.")] = Path(
        "out/demo"
    ),
) -> None:
    """Explain bundled images of each data set and write a page to look at."""
    from ssplain.files import write_whole
    from ssplain.pages import page

    sections = [_explain(part, out / "images") for part in PARTS]
    html = page("What the decision rests on", NOTE, sections)
    write_whole(out / "index.html", html.encode())
    command = "ssplain" if shutil.which("ssplain") else sys.argv[0]
    example = out / "images" / "mnist-0.png"
    typer.echo(f"\nLook at {out / 'index.html'} in a browser. Then try an image of your own:")
    typer.echo(f"  {command} explain {example} --model lenet5-mnist --pictures --out out/mine")


def _explain(part: Part, folder: Path) -> "Section":
    """Explain the images of one data set, say what came out, and leave some as files to try."""
    from ssplain import report
    from ssplain.data import bundled, bundled_truth
    from ssplain.explain import SSplain, make, preset
    from ssplain.metrics import kept_and_removed
    from ssplain.models import card, load, quick
    from ssplain.terminal.progress import bar

    model = quick(load(part.model))
    images, labels = (values[: part.images] for values in bundled(part.dataset))
    started = time.perf_counter()
    with bar(part.title) as progress:
        result = SSplain(model, **preset(part.dataset)).explain(images, labels, progress)
    spent = time.perf_counter() - started
    kept = kept_and_removed(model, result)
    about = card(part.model)
    rows = [int((result.target == wanted).nonzero()[0]) for wanted in range(len(about.classes))]
    ranked = make("ssplain-ranking", model, part.dataset).attribute(images[rows], labels[rows])
    for i in range(3):
        report.write_png(report.grey(images[i]), folder / f"{part.dataset}-{i}.png")
    typer.echo(
        f"{part.title}: {len(result)} images explained in {spent:.1f} s; with only the "
        f"{float(result.kept_share.mean()):.0%} kept pixels the target's probability is "
        f"{float(kept.only.mean()):.2f} on average, without them {float(kept.without.mean()):.2f}."
    )
    truth = bundled_truth("rop").relevance if part.dataset == "rop" else None
    shown = dict(zip(rows, ranked, strict=True))
    return _section(part, about, result, kept, ranked=shown, truth=truth)


def _section(
    part: Part,
    about: "ModelCard",
    result: "Explanation",
    kept: "Kept",
    *,
    ranked: "dict[int, Tensor]",
    truth: "Tensor | None",
) -> "Section":
    """Return the page's part for one data set: the images that were ranked, one of each class."""
    from ssplain import report
    from ssplain.pages.page import Section

    top = result.top(0.05)
    columns = ["class", "image", "scores", "ranking", "mask", "top 5 %", "model's probability"]
    rows: list[list[str | Picture]] = []
    for wanted, (i, ranking) in enumerate(ranked.items()):
        image = result.images[i]
        said = (
            f"kept {float(result.kept_share[i]):.0%} of the object",
            f"only mask: p = {float(kept.only[i]):.3f}",
            f"without: p = {float(kept.without[i]):.3f}",
        )
        taken_for = _taken_for(about, result, i)
        row: list[str | Picture] = [
            f"{about.classes[wanted]}\np = {float(kept.whole[i]):.3f}\n{taken_for}",
            report.grey(image),
            report.heat(result.scores[i], result.support[i]),
            report.heat(ranking, result.support[i]),
            report.mask_view(image, result.mask[i]),
            report.top_view(image, top[i]),
            "\n".join(said),
        ]
        if truth is not None:
            row.insert(2, report.heat(truth[i], result.support[i], low=0.0))
        rows.append(row)
    settings = result.settings
    note = (
        f"{about.name}, {about.accuracy:.1%} test accuracy; the paper's settings: budget "
        f"{settings['budget']:.0%} of the non-zero pixels, lambda {settings['tv_weight']:g}, "
        f"rho {settings['rho']:g}, lr {settings['lr']:g}, {settings['iterations']} iterations."
    )
    if truth is not None:
        columns.insert(2, "planted disease")
        note += (
            " The third column is the truth that the simulation planted: where the disease is and "
            "how strong. The model saw the image only."
        )
    return Section(part.title, note, columns, rows)


def _taken_for(about: "ModelCard", result: "Explanation", i: int) -> str:
    """Say what the model takes an image for."""
    chosen = int(result.probabilities[i].argmax())
    right = chosen == int(result.target[i])
    return "recognised" if right else f"taken for\n{about.classes[chosen]}"
