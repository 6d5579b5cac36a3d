"""`ssplain train vessels|disc`: train the networks that look at photographs."""

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from ssplain.bench.fundus import Case
    from ssplain.models import ModelCard
    from ssplain.train.pixels import Plan, Round

_CREDIT = (
    "HVDROPDB (R. Agrawal, S. Kulkarni et al., doi 10.17632/xw5xc7xrmp.3, CC BY 4.0; modified: "
    "scaled, recoloured, vessels removed and simulated ones painted in)"
)
_MAPS = {"vessels": ("vessel", "course"), "disc": ("optic disc",)}
_SAYS = {
    "vessels": (
        "how far it belongs to a vessel nearby, and whether somebody would draw a vessel along it"
    ),
    "disc": "how far it is optic disc",
}
_MEANING = {
    "vessels": "share of drawn centrelines with a found centreline within 3 px, at 640 px width",
    "disc": "share of drawn discs found with the centre within a quarter of the diameter",
}


def train_pixels(
    dataset: str,
    data: Path | None,
    out: Path,
    *,
    epochs: int | None,
    seed: int,
    bfloat16: bool,
    checkpoint: Path,
) -> None:
    """Train the vessel or the disc network, judge it on what was left out, and write it."""
    from ssplain.bench.fundus import disc_cases, vessel_cases
    from ssplain.models import save
    from ssplain.terminal.progress import bar
    from ssplain.train.disc import DISC_PLAN, train_disc
    from ssplain.train.vessels import PLAN, train_vessels

    vessels = dataset == "vessels"
    plan = PLAN if vessels else DISC_PLAN
    plan = dataclasses.replace(plan, epochs=epochs or plan.epochs, seed=seed, bfloat16=bfloat16)
    with bar("preparing the photographs") as progress:

        def show(done: "Round") -> None:
            progress(done.number, plan.epochs, f"loss {done.loss:.3f}")

        train = train_vessels if vessels else train_disc
        # judged as it will be read: rounded to half precision
        network = train(data, plan, checkpoint=checkpoint, progress=show).half().float()
    cases = list((vessel_cases if vessels else disc_cases)(data, network))
    save(network.half(), card_for(dataset, plan, cases), out)
    checkpoint.unlink()
    for case in cases:
        typer.echo(json.dumps(case))
    typer.echo(f"Written to {out}")


def card_for(dataset: str, plan: "Plan", cases: list["Case"]) -> "ModelCard":
    """Say what a network is, what it learned from, how well it does and how it fails."""
    from ssplain.fundus import FAINT
    from ssplain.models import ModelCard

    vessels = dataset == "vessels"
    key = "centrelines_found" if vessels else "found_within_a_quarter_diameter"
    shares = [float(c[key]) for c in cases if key in c and c.get("from", FAINT) == FAINT]
    return ModelCard(
        name=f"unet-{dataset}",
        architecture="unet",
        dataset="hvdropdb",
        classes=_MAPS[dataset],
        channels=3,
        size=(640, 640) if vessels else (224, 224),
        accuracy=sum(shares) / len(shares),
        seed=plan.seed,
        date=datetime.now(UTC).date().isoformat(),
        note=(
            f"Says of every pixel of a fundus photograph {_SAYS[dataset]}; size is the diameter of "
            f"the field of view at which it looks. Trained on {_CREDIT}, "
            f"{plan.epochs * plan.steps} steps of Adam. Accuracy: {_MEANING[dataset]}, on "
            f"photographs left out of training (RetCam, Neo: "
            f"{', '.join(f'{share:.1%}' for share in shares)}). "
            f"{_more_of_vessels(cases) if vessels else _more_of_discs(cases)} Weights are in half "
            "precision. Not for diagnosis."
        ),
    )


def _more_of_vessels(cases: list["Case"]) -> str:
    """Say how well it does beside the accuracy, and how it fails."""
    from ssplain.fundus import FAINT, SURE

    def told(least: float) -> str:
        def both(key: str, kind: str) -> str:
            some = [c for c in cases if c["case"].startswith(kind) and c["from"] == least]
            return " and ".join(f"{case[key]:.1%}" for case in some)

        drawn, painted = "vessels drawn", "vessels painted"

        return (
            f"From a value of {least} on, a vessel as found lies within 3 px of the drawn "
            f"centreline along {both('centrelines_touched', drawn)}, a found centreline along "
            f"{both('centrelines_found', drawn)}; {both('found_lines_that_were_drawn', drawn)} of "
            f"what is found was drawn. On painted photographs left out: Dice "
            f"{both('dice', painted)}, calibre of branches off by "
            f"{both('calibre_error_median', painted)} in the median."
        )

    return (
        f"{told(FAINT)} {told(SURE)} It fails behind haze and out of focus, where people still "
        "draw a vessel that they infer from its neighbours."
    )


def _more_of_discs(cases: list["Case"]) -> str:
    """Say how often it makes a disc up."""
    made_up = sum(len(case["made_up"]) for case in cases if "made_up" in case)
    without = sum(case["photographs"] for case in cases if "made_up" in case)
    return f"On {made_up} of {without} photographs left out without a disc in view it found one."
