"""`ssplain bench rop`: what a network that grades plus disease reads, and what throws it off.

Every image is of a series that training never saw. Cases on real courses and photographs need
HVDROPDB in the folder that SSPLAIN_DATA names, and are left out without it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from ssplain.bench.changes import CHANGES
from ssplain.data import bundled, bundled_truth
from ssplain.data.hvdropdb import CAMERAS, eyes
from ssplain.data.simulated import SERIES, SimulatedROP, read_mask
from ssplain.explain.registry import make
from ssplain.fundus.photo import as_photo
from ssplain.metrics.intervals import paired
from ssplain.metrics.localisation import localise
from ssplain.models import load, quick, severity
from ssplain.models.calibrated import on_scale
from ssplain.models.severity import GRADES
from ssplain.sheets.bent import BentDrawings, BentROP
from ssplain.sheets.paintings import PaintedROP
from ssplain.sheets.shot import Shot, winding
from ssplain.simulate.courses import simulate_on_mask
from ssplain.simulate.eye import SimulatedFundus, simulate
from ssplain.simulate.report import brightness
from ssplain.train.rop import judge

Case = dict[str, Any]
FRESH, OTHER = 20263, 20264  # series of eyes that are used for nothing else
_FOLDERS = ("hvdropdb/retcam_mask", "hvdropdb/neo_mask")


def cases(images: int | None = None, model: str = "googlenet-rop") -> Iterator[Case]:
    """Yield one case per question.

    Args:
        images: how many eyes to ask; by default 300, and 100 for explanations.
        model: a bundled name or a folder of `ssplain train`.
    """
    count = images or 300
    network = quick(load(model))
    drawn = [simulate(FRESH, i) for i in range(count)]
    yield shortcut(drawn)
    shown, labels = stacked(drawn), torch.tensor([eye.label for eye in drawn])
    yield fresh(network, shown, labels)
    for name, change in CHANGES.items():
        reached = judge(network, change(shown), labels).balanced_accuracy
        yield {"case": f"changed: {name}", "images": count, "balanced_accuracy": _rounded(reached)}
    yield amounts(network, shown, [eye.amount for eye in drawn])
    yield pairs(network, count // 3)
    yield from real_courses(network, count)
    yield from hand_drawn(network)
    yield from drawings(network, on_scale(network, model, "segmented"), min(count, 96))
    yield from painted(network, min(count, 96))
    yield from photographs(network, on_scale(network, model, "photograph"), min(count, 96))
    yield explained(network, min(images or 100, 100))


def shortcut(drawn: list[SimulatedFundus]) -> Case:
    """How well six statistics of brightness tell the grade of eyes they were not fitted to."""
    learned = [simulate(OTHER, i) for i in range(len(drawn))]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit([brightness(eye.image) for eye in learned], [eye.label for eye in learned])
    told = model.predict([brightness(eye.image) for eye in drawn])
    reached = balanced_accuracy_score([eye.label for eye in drawn], told)
    return {
        "case": "six statistics of brightness",
        "images": len(drawn),
        "balanced_accuracy": _rounded(reached),
    }


def fresh(network: nn.Module, images: Tensor, labels: Tensor) -> Case:
    """How well the network grades simulated eyes of a fresh series."""
    verdict = judge(network, images, labels)
    return {
        "case": "fresh series",
        "images": len(images),
        "balanced_accuracy": _rounded(verdict.balanced_accuracy),
        "recalls": [_rounded(recall) for recall in verdict.recalls],
        "auc": [_rounded(area) for area in verdict.auc],
    }


def amounts(network: nn.Module, images: Tensor, planted: list[float]) -> Case:
    """Whether the severity follows the planted amount of disease."""
    found = spearmanr(severity(network, images).numpy(), planted).statistic
    return {"case": "severity against amount", "images": len(images), "spearman": _rounded(found)}


def pairs(network: nn.Module, count: int) -> Case:
    """How often the severity of a Plus eye falls when its disease is taken away."""
    ill = stacked([simulate(FRESH, i, label=2) for i in range(count)])
    well = stacked([simulate(FRESH, i, label=2, amount=0) for i in range(count)])
    fell = severity(network, well) < severity(network, ill)
    return {
        "case": "disease taken away",
        "pairs": count,
        "fell": _rounded(fell.double().mean()),
    }


def real_courses(network: nn.Module, count: int) -> Iterator[Case]:
    """How well the network grades eyes on courses of real masks that training left out."""
    folders = tuple(folder for folder in _data() if folder.is_dir())
    if not folders:
        return
    masks = SimulatedROP("test", count, folders)
    drawn = [simulate_on_mask(masks.mask(i), SERIES["test"] + FRESH, i) for i in range(count)]
    yield fresh(network, stacked(drawn), torch.tensor([eye.label for eye in drawn])) | {
        "case": "courses of real masks"
    }


def hand_drawn(network: nn.Module) -> Iterator[Case]:
    """Compare what the network says of real eyes without a grade with their windings."""
    files = [path for folder in _data() for path in sorted(folder.glob("*.png"))]
    if not files:
        return
    masks = [read_mask(path) for path in files]
    shown = torch.from_numpy(np.stack(masks)).unsqueeze(1)
    with torch.inference_mode():
        chances = torch.cat([network(part).softmax(1) for part in torch.split(shown, 16)])
    bends = np.nan_to_num([winding(mask) for mask in masks])
    told = spearmanr(severity(network, shown).numpy(), bends).statistic
    yield {
        "case": "hand-drawn masks",
        "images": len(masks),
        "grades": torch.bincount(chances.argmax(1), minlength=3).tolist(),
        "certain": _rounded((chances.amax(1) > 0.999).double().mean()),
        "spearman_with_curvature": _rounded(told),
    }


def painted(network: nn.Module, count: int) -> Iterator[Case]:
    """How well the network grades trees painted into photographs that training left out."""
    if not any(folder.is_dir() for folder in _data()):
        return
    made = PaintedROP("test", count).examples()
    yield fresh(network, made.images.float() / 255, made.labels) | {
        "case": "segmented, painted photographs",
        "severity_against_amount": _rounded(
            spearmanr(severity(network, made.images.float() / 255).numpy(), made.amounts).statistic
        ),
    }


def drawings(network: nn.Module, scaled: nn.Module, count: int) -> Iterator[Case]:
    """How vessels that people drew are graded, bent and as they are.

    Args:
        network: as it is.
        scaled: on the scale of vessels that are given.
        count: how many to bend, of photographs that training left out.
    """
    if not any(folder.is_dir() for folder in _data()):
        return
    made = BentDrawings("test", count).examples()
    drawn = [BentDrawings.look(eye) for camera in CAMERAS for eye in eyes(None, "vessels", camera)]
    shown = torch.from_numpy(np.stack([shot.image for shot in drawn])).unsqueeze(1)
    simulated = [simulate(OTHER, i) for i in range(count)]
    labels = torch.tensor([eye.label for eye in simulated])
    for name, one in (("as they are", network), ("on the scale of real eyes", scaled)):
        yield fresh(one, made.images.float() / 255, made.labels) | {
            "case": f"bent drawings, graded {name}",
            "simulated": _rounded(judge(one, stacked(simulated), labels).balanced_accuracy),
            "not_bent": _grades(one, shown),
        }


def _grades(network: nn.Module, shown: Tensor) -> list[int]:
    """Count the grades that a network gives."""
    with torch.inference_mode():
        best = torch.cat([network(part).argmax(1) for part in torch.split(shown, 16)])
    return torch.bincount(best, minlength=len(GRADES)).tolist()


def photographs(network: nn.Module, scaled: nn.Module, count: int) -> Iterator[Case]:
    """How photographs that training left out are graded, bent and as they are.

    Args:
        network: as it is.
        scaled: on the scale of photographs.
        count: how many to bend.
    """
    if not any(folder.is_dir() for folder in _data()):
        return
    made = BentROP("test", count).examples()
    for name, one in (("as they are", network), ("on their scale", scaled)):
        yield fresh(one, made.images.float() / 255, made.labels) | {
            "case": f"bent photographs, graded {name}"
        }
    left_out = [eye for camera in CAMERAS for eye in eyes(None, "vessels", camera, "test")]
    seen = [torch.from_numpy(Shot.of(as_photo(eye.photo)).image) for eye in left_out]
    shown = torch.stack(seen).unsqueeze(1)
    yield {
        "case": "photographs without a grade",
        "images": len(shown),
        "grades_as_they_are": _grades(network, shown),
        "grades": _grades(scaled, shown),
    }


def explained(network: nn.Module, count: int) -> Case:
    """Whether SSplain-0 finds planted disease better than the image's brightness does."""
    images, labels = (part[:count] for part in bundled("rop"))
    truth = bundled_truth("rop").relevance[:count]
    explainer = make("ssplain-0", network, dataset="rop")
    maps = explainer.attribute(images, target=labels)
    ours, theirs = (
        localise(images, shown, truth).observed.average_precision for shown in (maps, images)
    )
    ill = ~ours.isnan()
    gain = paired(ours[ill], theirs[ill], labels[ill])
    return {
        "case": "average precision on planted disease",
        "images": int(ill.sum()),
        "ssplain-0": _rounded(ours[ill].mean()),
        "intensity": _rounded(theirs[ill].mean()),
        "difference": str(gain.difference),
    }


def stacked(drawn: list[SimulatedFundus]) -> Tensor:
    """Images (N, 1, H, W) of simulated eyes."""
    return torch.stack([torch.from_numpy(eye.image) for eye in drawn]).unsqueeze(1)


def _data() -> list[Path]:
    home = os.environ.get("SSPLAIN_DATA")
    return [Path(home) / folder for folder in _FOLDERS] if home else []


def _rounded(value: Any) -> float:  # noqa: ANN401 - any number of numpy's or torch's
    return round(float(value), 3)
