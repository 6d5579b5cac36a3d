"""Real photographs with disease planted by bending them, as the grading network gets to see them.

How wound a healthy eye is, simulation can only guess. A network that had learned from simulated and
painted trees alone put nearly every real photograph half-way between its grades: the vessels of
infants sway by themselves, and what is found of them is less smooth than what is found of paint.
So the photographs whose vessels wind least are taken for healthy, as they are; for the other grades
the photograph itself is bent until its vessels wind as ill ones do, and is then read like any
other. All that is not disease is thus real, and the same in every grade.

That most infants who are photographed have no plus disease is an assumption: nobody has graded
these photographs. The vessels that people drew on them are bent in the same way: real courses, as a
good segmentation has them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, map_coordinates

from ssplain.data.hvdropdb import CAMERAS, Eye
from ssplain.data.simulated import Example
from ssplain.fundus.field import Field, field
from ssplain.fundus.frame import Frame
from ssplain.fundus.photo import as_photo
from ssplain.sheets.series import PhotoSeries, photographs
from ssplain.sheets.shot import Shot, winding
from ssplain.simulate.anatomy import CENTRE, SIZE
from ssplain.simulate.courses import read_courses
from ssplain.simulate.disease import Disease, draw_disease, plant
from ssplain.simulate.tree import calibre

HEALTHY = 0.6  # share of the photographs of a camera that are taken for healthy, the least wound
_REACH = 5.0  # pixels of the network's picture over which a vessel takes its surroundings along
_MORE = 1.5  # of the windings of simulated vessels: as wound as the photographs that wind most

Plane = NDArray[np.float32]


class BentROP(PhotoSeries):
    """Photographs that are taken for healthy, bent to be ill, and segmented.

    Example:
        >>> BentROP("test", 6).examples().images.shape  # doctest: +SKIP
        torch.Size([6, 1, 224, 224])
    """

    kind, doing, seed = "bent", "bending", 401

    @cached_property
    def shots(self) -> list[Shot]:
        """The photographs of the split that are taken for healthy."""
        return list(_healthy(self.home, self.split, self.look))

    @staticmethod
    def look(eye: Eye) -> Shot:
        """Return a photograph and its vessels as they are found."""
        return Shot.of(as_photo(eye.photo))

    @staticmethod
    def again(bent: Plane, view: Field) -> Plane:
        """Return the vessels of a bent photograph."""
        return Shot.of(bent, view).image

    def make(self, number: int, label: int, rng: np.random.Generator) -> Example:
        """Bend a photograph and segment it."""
        shot = self.shots[number % len(self.shots)]
        disease = draw_disease(rng, label)
        bent, ill = bend(shot, disease, rng)
        image = self.again(bent, shot.view)
        return image, label, disease.amount, np.where(image > 0, ill, 0)


class BentDrawings(BentROP):
    """Vessels that people drew on photographs, the least wound as they are, bent to be ill.

    Example:
        >>> BentDrawings("test", 6).examples().images.shape  # doctest: +SKIP
        torch.Size([6, 1, 224, 224])
    """

    kind, doing, seed = "bent drawings", "bending", 411

    @staticmethod
    def look(eye: Eye) -> Shot:
        """Return the drawn vessels in place of the photograph, and as the network sees them."""
        view, drawn = field(eye.photo), eye.mask.astype(np.float32)
        return Shot(np.stack([drawn] * 3, axis=-1), view, _framed(drawn, view))

    @staticmethod
    def again(bent: Plane, view: Field) -> Plane:
        """Return bent vessels as the network sees them."""
        return _framed(bent[..., 0], view)


def _framed(vessels: Plane, view: Field) -> Plane:
    picture: Plane = Frame.of_field(view, SIZE).to_network(vessels)[0].numpy()
    return picture


def bend(shot: Shot, disease: Disease, rng: np.random.Generator) -> tuple[Plane, Plane]:
    """Bend a photograph so that its vessels wind as ill ones do.

    A tree is planted with the disease and, drawn from the same numbers, without it: the difference
    says where each place of a vessel has to go. Its surroundings go along, less and less with the
    distance.

    Returns:
        The photograph (H, W, 3), and (224, 224) how ill the vessels near a pixel are.
    """
    eye, courses = read_courses(rng, shot.image)
    widths, seed = calibre(courses, eye.zoom), int(rng.integers(2**62))
    ill, well = (
        plant(np.random.default_rng(seed), courses, widths, one, eye.zoom)
        for one in (disease, replace(disease, amount=0.0))
    )
    side = -1.0 if eye.right else 1.0
    disc = np.array([CENTRE + eye.field[1], CENTRE - side * eye.field[0]])
    turned = np.array([-1.0, side])  # (x, y) of a course are -> (row, column), y upwards
    moves = [_MORE * (i - w)[:, ::-1] * turned for i, w in zip(ill[0], well[0], strict=True)]
    ends = [disc + c.points[:, ::-1] * turned + m for c, m in zip(courses, moves, strict=True)]
    strength = np.concatenate([finding.strength for finding in ill[2]])
    far, (down, right, sick) = _nearest(
        np.concatenate(ends), np.column_stack([np.concatenate(moves), strength])
    )
    along = np.exp(-((far / _REACH) ** 2) / 2)
    frame = Frame.of_field(shot.view, SIZE)
    push = [
        frame.side / SIZE * frame.to_image(torch.from_numpy(along * plane))
        for plane in (down, right)
    ]
    rows, columns = np.indices(shot.photo.shape[:2], dtype=np.float32)
    source = np.stack([rows - push[0], columns - push[1]])
    bent = [map_coordinates(shot.photo[..., k], source, order=1, mode="nearest") for k in range(3)]
    return np.stack(bent, axis=-1), np.where(far < _REACH, sick, 0)


def _nearest(places: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[Plane, Plane]:
    """Return each pixel's distance from the nearest of some places (n, 2), and its values (k, ...).

    Places that share a pixel are averaged.
    """
    at = np.rint(places).astype(int)
    inside = ((at >= 0) & (at < SIZE)).all(1)
    cells = tuple(at[inside].T)
    counts, sums = np.zeros((SIZE, SIZE)), np.zeros((values.shape[1], SIZE, SIZE))
    np.add.at(counts, cells, 1)
    for total, value in zip(sums, values.T, strict=True):
        np.add.at(total, cells, value[inside])
    far, (row, column) = distance_transform_edt(counts == 0, return_indices=True)
    means = (sums / np.maximum(counts, 1))[:, row, column]
    return far.astype(np.float32), means.astype(np.float32)


@cache
def _healthy(home: Path | None, split: str, look: Callable[[Eye], Shot]) -> tuple[Shot, ...]:
    chosen: list[Shot] = []
    for camera in CAMERAS:
        shots = [look(eye) for eye in photographs(home, camera, split)]
        wound = [winding(shot.image) for shot in shots]
        limit = np.nanquantile(wound, HEALTHY)
        chosen += [shot for shot, own in zip(shots, wound, strict=True) if own <= limit]
    return tuple(chosen)
