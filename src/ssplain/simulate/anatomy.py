"""Where things are in one simulated infant eye, and how a camera sees it.

The eye's own frame has the optic disc at the origin, x to the temporal side, y upwards, and one
unit per pixel of a 224 x 224 picture.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIZE = 224
CENTRE = (SIZE - 1) / 2


@dataclass(frozen=True)
class Eye:
    """Where things are in one eye and how the camera sees it, in pixels of the eye's own frame.

    Attributes:
        zoom: magnification of the camera, 1 on average.
        fovea: centre of the macula; no vessel enters its avascular zone.
        flat: distance from the disc at which the arcades run level before they close.
        field: centre of the circular field of view.
        radius: radius of the field of view; a corner of the picture cuts it off where it is larger.
        spacing: mean distance between side branches; small in a dense tree.
        right: whether it is a right eye, whose temporal side is on the left of the picture.
        turn: angle by which the camera was turned.
        squeeze: factor on the width of the picture, not 1 where it was resized out of shape.
        height: rows of the picture that are exposed, the rest above and below being black.
    """

    zoom: float
    fovea: tuple[float, float]
    flat: float
    field: tuple[float, float]
    radius: float
    spacing: float
    right: bool = False
    turn: float = 0.0
    squeeze: float = 1.0
    height: float = SIZE

    def sees(self, x: float, y: float) -> bool:
        """Whether a point lies inside the field of view."""
        return math.hypot(x - self.field[0], y - self.field[1]) < self.radius

    def grows(self, x: float, y: float) -> bool:
        """Whether vessels are grown there: in view, or near a disc that may be out of view."""
        return self.sees(x, y) or math.hypot(x, y) < 50 * self.zoom

    def place(self, points: Array) -> Array:
        """Take points (n, 2) to the picture, as columns and rows.

        Example:
            >>> rng = np.random.default_rng(0)
            >>> eye = draw_eye(rng)
            >>> eye.place(np.array([eye.field]))
            array([[111.5, 111.5]])
        """
        x, y = ((points - self.field) * (-1 if self.right else 1, -1)).T
        cos, sin = math.cos(self.turn), math.sin(self.turn)
        turned = np.stack([self.squeeze * (cos * x - sin * y), sin * x + cos * y], axis=1)
        placed: Array = CENTRE + turned
        return placed

    def exposed(self) -> NDArray[np.bool_]:
        """Return the pixels (224, 224) of the picture that are within the field of view."""
        row, column = (axis - CENTRE for axis in np.ogrid[:SIZE, :SIZE])
        inside = np.hypot(row, column / self.squeeze) < self.radius
        seen: NDArray[np.bool_] = inside & (np.abs(row) <= self.height / 2)
        return seen

    def flow(self, x: float, y: float) -> float:
        """Angle in which vessels run at a point.

        On the temporal side the lines of the flow are `y = c sqrt(x) exp(-x / (2 flat))`: parabolas
        with the vertex at the disc, as the arcades are commonly modelled, that level off at
        `x = flat`. On the nasal side they are nearly radial.
        """
        if x > 0:
            return math.atan2(y * (1 - x / self.flat), 2 * x)
        return math.atan2(y, 1.15 * x)

    def arcade(self, height: float, x: float) -> float:
        """Return the line of the flow that passes the fovea at a height."""
        x = max(x, 0.0)
        return height * math.sqrt(x / self.fovea[0]) * math.exp((self.fovea[0] - x) / 2 / self.flat)

    def is_macula(self, x: float, y: float) -> bool:
        """Whether a point lies in the avascular zone or at the horizontal raphe beyond it."""
        off = y - self.fovea[1]
        if x > self.fovea[0]:
            return abs(off) < 5 * self.zoom
        return math.hypot(x - self.fovea[0], off) < 13 * self.zoom


def draw_eye(rng: np.random.Generator) -> Eye:
    """Draw the anatomy of one eye and the camera's position.

    Example:
        >>> eye = draw_eye(np.random.default_rng(0))
        >>> eye.sees(0, 0) and not eye.sees(300, 0)
        True
    """
    zoom = math.exp(rng.uniform(math.log(0.75), math.log(1.35)))
    offset = rng.uniform(-10, 100)  # from the disc to the middle of the photograph
    round_field = rng.random() < 0.6
    resized = rng.random() < 0.3
    wide = rng.random() < 0.3
    return Eye(
        zoom=zoom,
        fovea=(zoom * rng.uniform(44, 54), zoom * rng.uniform(-8, 1)),
        flat=zoom * rng.uniform(80, 240),
        field=(offset, rng.uniform(-35, 35)),
        radius=rng.uniform(95, 112) if round_field else 150.0,
        spacing=zoom * math.exp(rng.uniform(math.log(14), math.log(80))),
        right=rng.random() < 0.5,
        turn=rng.normal(0, 0.2),
        squeeze=math.exp(rng.uniform(-0.2, 0.2)) if resized else 1.0,
        height=SIZE * rng.uniform(0.7, 0.8) if wide else float(SIZE),
    )
