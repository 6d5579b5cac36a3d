"""From an eye to an explained grade: `ssplain.read`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from ssplain.data.readers import eye_of
from ssplain.errors import SSplainError
from ssplain.explain import Explanation, SSplain, preset
from ssplain.fundus.frame import Frame
from ssplain.models import ModelCard, card, load, quick
from ssplain.models.calibrated import Kind, on_scale
from ssplain.progress import Progress, portion
from ssplain.reading.image import Picture, Seen, look, open_image
from ssplain.reading.opinion import (
    GRADES,
    Opinion,
    SecondOpinion,
    ask,
    second_opinion,
)
from ssplain.reading.plausible import check_vessels
from ssplain.reading.quadrants import (
    PLACES,
    Quadrant,
    Side,
    check_eye,
    measure,
    quadrant_map,
    quadrant_name,
    settle_eye,
    shares,
)
from ssplain.reading.scale import DISC
from ssplain.reading.stability import MIRRORED, Stability, changes
from ssplain.threads import beside
from ssplain.vessels import VesselTree, trace

EXPLAINER = "ssplain-ranking"
QUICKER = {"iterations": 32}  # 40 passes for 60: finds as much of planted disease (docs/read.md)
_STEPS = 4
_NOTHING = "No vessels were found; there is nothing to read."
_SHORT = 1.0  # sides of the picture: with less length of vessels a grade rests on little


@dataclass(frozen=True, eq=False)
class Reading:
    """An eye that was read. A research tool: no diagnosis.

    Attributes:
        probabilities: (3,) of Normal, Pre-plus and Plus, by the network.
        grade: the most probable of them.
        severity: from 1 to 9, by the network.
        second_opinion: what the measured vessels alone say.
        vessels: (H, W) in [0, 1], exactly 0 where there is no vessel.
        disc: row, column and radius in px; None if there is none in view.
        quadrants: the four around the disc, or around the middle of the field without one.
        explanation: which pixels of the network's picture the grade rests on.
        stability: how far grade and severity move under small changes of the picture.
        warnings: what a reader should know, in sentences.
        relevance: (H, W) the explanation's mask, laid back on the picture.
        picture: what was given, (H, W, 3) for a photograph, (H, W) for segmented vessels.
        eye: left or right; None if that is not known.
        centre: row and column that part the quadrants.
        model: the network's name.
        frame: where the network's picture lies on the given one.
    """

    probabilities: NDArray[np.float64]
    grade: str
    severity: float
    second_opinion: SecondOpinion
    vessels: Picture
    disc: tuple[float, float, float] | None
    quadrants: tuple[Quadrant, ...]
    explanation: Explanation
    stability: Stability
    warnings: tuple[str, ...]
    relevance: Picture
    picture: Picture
    eye: Side | None
    centre: tuple[float, float]
    model: str
    frame: Frame


def read(
    source: str | Path | NDArray[Any] | torch.Tensor,
    *,
    eye: str | None = None,
    disc: tuple[float, float, float] | None = None,
    model: str = "googlenet-rop",
    progress: Progress | None = None,
) -> Reading:
    """Read an eye: vessels, disc, quadrants, grade, explanation, and how firm all of that is.

    Args:
        source: a file, or an array or tensor of shape (H, W), (H, W, 3) or (3, H, W), bytes or in
            [0, 1]: a colour photograph of the fundus, or vessels segmented already, bright on
            black, which are taken as they are.
        eye: "left" or "right", which tells nasal from temporal; a DICOM file may tell it itself.
        disc: row, column and radius of the optic disc in px, if it is known.
        model: the network that grades, by name or folder; its classes are Normal, Pre-plus, Plus.
        progress: told how far it is.

    Raises:
        SSplainError: If it is no eye that can be read.

    Example:
        >>> from ssplain.data import bundled
        >>> found = read(bundled("rop")[0][0])  # doctest: +SKIP
        >>> found.grade, found.severity, found.quadrants[0].name  # doctest: +SKIP
    """
    side = settle_eye(eye, eye_of(source) if isinstance(source, str | Path) else None)
    return Reader.of(model).read(open_image(source), eye=side, disc=disc, progress=progress)


@dataclass(frozen=True, eq=False)
class Reader:
    """A network that grades eyes, with its explainer.

    Attributes:
        name: of the network.
        networks: give three logits, for vessels that are given and for those of photographs.
        size: side of the square that they take.
        explainers: explain their grades.
    """

    name: str
    networks: Mapping[Kind, torch.nn.Module]
    size: int
    explainers: Mapping[Kind, SSplain]

    @staticmethod
    @lru_cache(maxsize=2)
    def of(model: str) -> "Reader":
        """Load a network once."""
        about = card(model)
        _check_card(about)
        network = quick(load(model))
        networks = {kind: on_scale(network, model, kind) for kind in get_args(Kind)}
        settings: dict[str, Any] = {**preset("rop", "ranking"), **QUICKER}
        explainers = {
            kind: SSplain(one, channels=about.channels, **settings)
            for kind, one in networks.items()
        }
        return Reader(model, networks, about.size[0], explainers)

    def read(
        self,
        image: torch.Tensor,
        *,
        eye: str | None = None,
        disc: tuple[float, float, float] | None = None,
        progress: Progress | None = None,
    ) -> Reading:
        """Read an image `(C, H, W)` in [0, 1]; the same image gives the same reading."""

        def tell(step: int, what: str) -> None:
            if progress is not None:
                progress(step, _STEPS, what)

        side = check_eye(eye)
        tell(0, "finding vessels")
        seen = look(image, disc)
        if not seen.vessels.any():
            raise SSplainError(_NOTHING)
        tell(1, "grading")
        frame = self.frame(seen)
        kind: Kind = "photograph" if seen.picture.ndim == 3 else "segmented"
        picture = frame.to_network(seen.vessels)
        network = self.networks[kind]
        (whole,) = ask(network, [picture])
        centre = seen.centre if seen.disc is None else seen.disc[:2]
        places = quadrant_map(frame.shape, (centre[0], centre[1]))
        with beside(partial(_measured, network, seen, frame, picture, places)) as measuring:
            tell(2, "explaining")
            explaining = portion(progress, 2, 1, _STEPS, "explaining")
            explanation = self.explainers[kind].explain(picture[None], progress=explaining)
        tree, second, changed, parts = measuring.result()
        odd = check_vessels(tree) if kind == "segmented" else []
        stability = Stability.of(whole, changed)
        relevance = frame.to_image(explanation.mask[0, 0]) * (seen.vessels > 0)
        tell(3, "quadrants")
        vessels = measure(tree, places, seen.disc)
        split = shares(seen.vessels, places), shares(relevance, places)
        quadrants = tuple(map(partial(_quadrant, side), PLACES, vessels, *split, *parts))
        tell(_STEPS, "done")
        return Reading(
            probabilities=np.array(whole.probabilities),
            grade=whole.grade,
            severity=whole.severity,
            second_opinion=second,
            vessels=seen.vessels,
            disc=seen.disc,
            quadrants=quadrants,
            explanation=explanation,
            stability=stability,
            warnings=(
                *seen.warnings,
                *odd,
                *_doubts(whole, second, stability),
                *_gaps(seen, side, sum(branch.length for branch in tree.branches)),
            ),
            relevance=relevance,
            picture=seen.picture,
            eye=side,
            centre=(float(centre[0]), float(centre[1])),
            model=self.name,
            frame=frame,
        )

    def frame(self, seen: Seen) -> Frame:
        """Return the square that the network looks at."""
        shape = (seen.vessels.shape[0], seen.vessels.shape[1])
        return Frame.around(shape, seen.centre, seen.side, self.size)


class _Measured(NamedTuple):
    """What is found out while the explanation is computed.

    Attributes:
        tree: the vessels.
        second: what they say.
        changed: opinions of slightly changed pictures, by the name of the change.
        parts: opinions of the eye without each quadrant, and of each alone.
    """

    tree: VesselTree
    second: SecondOpinion
    changed: dict[str, Opinion]
    parts: tuple[list[Opinion], list[Opinion]]


def _measured(
    network: torch.nn.Module,
    seen: Seen,
    frame: Frame,
    picture: torch.Tensor,
    places: NDArray[np.intp],
) -> _Measured:
    tree = trace(seen.vessels, disc=seen.disc, threshold=0.0)
    if not tree.branches:
        raise SSplainError(_NOTHING)
    # at the resolution of the simulated eyes that the formula comes from
    unit = DISC * frame.side if seen.disc is None else 2 * seen.disc[2]
    kind: Kind = "photograph" if seen.picture.ndim == 3 else "segmented"
    second = second_opinion(trace(picture, threshold=0.0), unit * frame.size / frame.side, kind)
    pictures = _changed(seen, frame)
    changed = dict(zip(pictures, ask(network, list(pictures.values())), strict=True))
    return _Measured(tree, second, changed, _what_if(network, seen, frame, places))


def _changed(seen: Seen, frame: Frame) -> dict[str, torch.Tensor]:
    """Return what the network sees of slightly changed pictures, by the name of the change."""
    blur = frame.side / frame.size / 2  # half a pixel of what the network sees
    return {
        name: (frame.mirrored() if name == MIRRORED else frame).to_network(seen.again(picture))
        for name, picture in changes(seen.picture, blur).items()
    }


def _what_if(
    network: torch.nn.Module, seen: Seen, frame: Frame, places: NDArray[np.intp]
) -> tuple[list[Opinion], list[Opinion]]:
    """Opinions of the eye without each quadrant, and of each quadrant alone."""
    removed = [np.where(places == at, 0, seen.vessels) for at in range(len(PLACES))]
    alone = [np.where(places == at, seen.vessels, 0) for at in range(len(PLACES))]
    found = ask(network, [frame.to_network(part) for part in (*removed, *alone)])
    return found[: len(PLACES)], found[len(PLACES) :]


def _quadrant(eye: Side | None, place: str, *parts: Any) -> Quadrant:  # noqa: ANN401
    """Put the parts of a quadrant together, in the order of its fields."""
    return Quadrant(quadrant_name(place, eye), place, *parts)


def _check_card(about: ModelCard) -> None:
    if len(about.classes) != len(GRADES) or about.channels != 1 or about.size[0] != about.size[1]:
        raise SSplainError(
            f"{about.name} cannot read eyes: it must take square grey images and know the grades "
            f"{', '.join(GRADES)}."
        )


def _doubts(whole: Opinion, second: SecondOpinion, stability: Stability) -> list[str]:
    """Return what speaks against the grade."""
    found = []
    if second.grade in GRADES and abs(GRADES.index(whole.grade) - GRADES.index(second.grade)) > 1:
        found.append(
            f"The opinions differ by more than one grade: the network says {whole.grade}, the "
            f"measured vessels say {second.grade}."
        )
    if not stability.steady:
        others = sorted({o.grade for o in stability.opinions.values()} - {whole.grade})
        found.append(
            f"The grade is not firm: small changes of the picture make it {' or '.join(others)} "
            f"(severity {stability.lowest:.1f} to {stability.highest:.1f})."
        )
    return found


def _gaps(seen: Seen, eye: Side | None, length: float) -> list[str]:
    """Return what is missing, and what that means."""
    found = []
    if length < _SHORT * max(seen.vessels.shape):
        found.append(f"Only {length:.0f} px of vessels were found; the grade rests on little.")
    if seen.disc is None:
        found.append(
            "No optic disc is known: quadrants are around the middle of the field, and calibre is "
            "not given in disc diameters; the second opinion takes a disc of usual size."
        )
    if eye is None:
        found.append(
            "Whether it is a left or a right eye is not known: quadrants are named by their place "
            "in the picture, not as nasal and temporal."
        )
    return found
