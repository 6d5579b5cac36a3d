r"""Pixel-wise curvature of vessels by the Tubular Curvature Filter, in closed form.

Let L be the image blurred by a Gaussian of width sigma, H its Hessian with eigenvalues
lam_v > lam_n, v the eigenvector along a bright tube and n across it. Differentiating
H v = lam_v v along v gives the acceleration of the curves that run along the tube,

    (v . grad) v = c = T(n, v, v) / (lam_v - lam_n) n,    T(a, b, c) = sum_ijk a_i b_j c_k L_ijk,

and |c| is their curvature: no centreline is needed, and the inner side of a bend is more curved
than the outer one. In two dimensions no eigensolver is needed either: with a = L_xx - L_yy and
b = 2 L_xy the gap is D = lam_v - lam_n = hypot(a, b), and v has the angle atan2(b, a) / 2.

Two variants are offered, and every result says which one it is:

- `raw`: |c| as defined. Where the top of a vessel is flat the gap vanishes and the quotient is
  noise, so on binary masks a few pixels are arbitrarily large.
- `robust` (the default, a choice of this package): every branch is filtered by itself, with the
  other branches blacked out, so that a vessel that runs beside it bends nothing. Then c is averaged
  over a neighbourhood with the gap as weight, G_tau * (w T n) / G_tau * (w D): nothing is divided
  by a vanishing gap, and the noise of a staircase, which alternates in sign, cancels. Pixels within
  two radii of a junction, of an end or of the rim of the image have the weight w = 0, because there
  is no tube there; they take the value of the tubes next to them, or 0 where there is none. Values
  are cut at 1 / sigma.

Either variant can take each of these choices:

- `sigma="local"`: every pixel has its own scale, that one of a ladder from 2 px to the largest
  radius at which sigma^2 D is largest; in the middle of a bar that is its half-width. By default
  one scale serves all vessels.
- `axis="abs"`: v belongs to the eigenvalue of smaller magnitude, as is usual for vessel filters,
  instead of the algebraically larger one (`alg`). Both agree on the centreline; where the blurred
  profile has its inflection, lam_n is 0 and `abs` takes the wrong one of the two.

A filter sees 3 sigma far. What is closer to a junction or an end than this, or than 3 radii, is
measured from a tube that is cut off, so the mean of a branch is taken over the pixels that are
`clear` of them; a branch too short to have any has no curvature.

Reference: E. Sunger et al., Tubular Curvature Filter, arXiv 2311.11931, for the definition; the
scale, the masking and the robust variant are choices made here.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.spatial import KDTree

from ssplain.errors import SSplainError
from ssplain.vessels.network import Network
from ssplain.vessels.pose import Plane
from ssplain.vessels.skeleton import Centreline

CurvatureVariant = Literal["robust", "raw"]
CURVATURE_VARIANTS: tuple[CurvatureVariant, ...] = get_args(CurvatureVariant)
Axis = Literal["alg", "abs"]
AXES: tuple[Axis, ...] = get_args(Axis)

FINEST = 2.0  # px: below this scale the staircase of a mask outweighs its bends
PATCH_VALUES = 2**17  # of patches at a time: 1 MB, so that they stay in the cache
MOST_VALUES = 10**10  # of all patches: minutes; a photograph that is no segmentation has more
REACH = 2.0  # radii around a junction, an end or the rim of the image in which there is no tube
WINDOW = 3.0  # sigmas, or radii, within which the filter sees one of them
_ORDERS = ((0, 2), (1, 1), (2, 0), (0, 3), (1, 2), (2, 1), (3, 0))  # of d/dy and d/dx


@dataclass(frozen=True)
class TubularCurvature:
    """Curvature at every pixel and how it was computed.

    Attributes:
        values: (H, W) curvature in 1/px, 0 outside the vessels.
        measured: (H, W) pixels for which the filter has a value.
        clear: (H, W) those of them that are far from junctions and ends.
        variant: `robust` or `raw`.
        sigma: scale of the derivatives in px; the median of all pixels if each has its own.
        local: whether each pixel has its own scale.
        axis: `alg` or `abs`: which eigenvector was taken to run along the vessel.
        tau: width of the neighbourhood in px that the robust variant averages over.
    """

    values: Plane
    measured: NDArray[np.bool_]
    clear: NDArray[np.bool_]
    variant: CurvatureVariant
    sigma: float
    local: bool
    axis: Axis
    tau: float

    @property
    def settings(self) -> str:
        """How the values were computed, in a few words.

        Example:
            >>> nothing, nowhere = np.zeros((2, 2)), np.zeros((2, 2), dtype=bool)
            >>> found = TubularCurvature(nothing, nowhere, nowhere, "raw", 2.5, True, "abs", 1.5)
            >>> found.settings
            'raw, axis abs, local scales of about 2.5 px'
        """
        scale = f"local scales of about {self.sigma:.1f} px" if self.local else "scale {:.1f} px"
        axis = "" if self.axis == "alg" else f"axis {self.axis}, "
        return f"{self.variant}, {axis}{scale.format(self.sigma)}"


def tubular_curvature(
    plane: Plane,
    line: Centreline,
    network: Network,
    labels: NDArray[np.int32],
    *,
    variant: CurvatureVariant = "robust",
    sigma: float | Literal["local"] | None = None,
    tau: float = 1.5,
    axis: Axis = "alg",
) -> TubularCurvature:
    """Apply the Tubular Curvature Filter to a plane whose vessels are traced.

    Args:
        plane: (H, W) image, bright vessels on exactly 0.
        line: its centreline.
        network: its junctions and ends.
        labels: (H, W) branch of every pixel.
        variant: `robust`, or `raw` for the bare formula.
        sigma: scale of the derivatives in px; by default the median radius of the vessels, at
            least 2: a smaller one sees the flat top of a vessel, a larger one flattens its bends.
            `local` chooses a scale for every pixel.
        tau: width of the neighbourhood in px that the robust variant averages over.
        axis: `alg`, or `abs` for the eigenvector of the eigenvalue of smaller magnitude.

    Returns:
        The curvature with the settings that made it.
    """
    _check(variant, sigma, tau, axis)
    scales = _ladder(line) if sigma == "local" else (sigma or max(FINEST, line.radius),)
    vessel, cuts = plane > 0, _Cuts.of(line, network)
    if variant == "raw":
        terms, chosen = strongest(plane, scales, vessel, np.zeros_like(labels), axis=axis)
        down, right, gap = terms
        known = vessel
    else:
        tubes = vessel & ~cuts.around(REACH)
        terms, chosen = strongest(plane, scales, tubes, labels, tail=5.0, axis=axis)
        down, right, gap = (gaussian_filter(term, tau) for term in terms)
        # far from the tubes, single pixels at their rim would speak for all
        known = vessel & (gaussian_filter(tubes.astype(np.float64), tau) > 0.02)
    measured = known & (gap > 1e-9)  # less than this is rounding, in a plane that reaches up to 1
    values = np.divide(np.hypot(down, right), gap, out=np.zeros_like(gap), where=measured)
    if variant == "robust":
        values = np.minimum(values, 1 / scales[0])
    typical = float(np.median(chosen[chosen > 0])) if chosen.any() else scales[0]
    clear = measured & ~cuts.around(WINDOW, typical)
    local = sigma == "local"
    return TubularCurvature(values, measured, clear, variant, typical, local, axis, tau)


def bending(
    plane: Plane,
    sigma: float,
    where: NDArray[np.bool_],
    labels: NDArray[np.int32],
    *,
    tail: float = 6.0,
    axis: Axis = "alg",
) -> tuple[Plane, Plane, Plane]:
    """Compute T(n, v, v) n, as its components down and right, and the gap |lam_v - lam_n|.

    Args:
        plane: (H, W) image.
        sigma: scale of the derivatives in px.
        where: (H, W) pixels to compute them for; the others are 0.
        labels: (H, W) a pixel sees only pixels of its own label.
        tail: where the Gaussian is cut, in sigmas; the third derivative lives far out: of a ring,
            6 errs by less than 1e-5, 5 by less than 1e-3 of the curvature.
        axis: `alg` or `abs`: which eigenvector is v.

    Example:
        >>> line = np.eye(32)
        >>> down, right, gap = bending(line, 2.0, line > 0, np.zeros((32, 32), dtype=np.int32))
        >>> bool(np.hypot(down, right)[16, 16] < 1e-12 < gap[16, 16])
        True
    """
    xx, xy, yy, xxx, xxy, xyy, yyy = _derivatives(plane, _kernels(sigma, tail), where, labels)
    angle = np.arctan2(2 * xy, xx - yy) / 2
    if axis == "abs":  # the larger eigenvalue has the larger magnitude where their sum is positive
        angle = np.where(xx + yy > 0, angle + np.pi / 2, angle)
    x, y = np.cos(angle), np.sin(angle)  # v = (x, y) and n = (-y, x)
    along_x = xxx * x * x + 2 * xxy * x * y + xyy * y * y
    along_y = xxy * x * x + 2 * xyy * x * y + yyy * y * y
    twist = x * along_y - y * along_x
    found = np.zeros((3, *plane.shape))
    found[:, where] = twist * x, -twist * y, np.hypot(xx - yy, 2 * xy)
    return found[0], found[1], found[2]


def strongest(
    plane: Plane,
    scales: tuple[float, ...],
    where: NDArray[np.bool_],
    labels: NDArray[np.int32],
    *,
    tail: float = 6.0,
    axis: Axis = "alg",
) -> tuple[Plane, Plane]:
    """Take the terms of `bending` at the scale with the largest sigma^2 D, pixel by pixel.

    Second derivatives fall with the scale; times sigma^2, those of different scales compare.

    Returns:
        (3, H, W) terms down, right and gap, times the square of the scale over the first one, and
        (H, W) the scales; 0 where nothing was computed.

    Example:
        >>> bar = np.zeros((64, 64))
        >>> bar[28:36] = 1
        >>> _, chosen = strongest(bar, (2.0, 4.0, 8.0), bar > 0, np.zeros((64, 64), dtype=np.int32))
        >>> float(chosen[32, 32]), float(chosen[0, 0])
        (4.0, 0.0)
    """
    first, *others = scales
    terms = np.stack(bending(plane, first, where, labels, tail=tail, axis=axis))
    chosen = np.where(where, first, 0.0)
    for sigma in others:
        found = np.stack(bending(plane, sigma, where, labels, tail=tail, axis=axis))
        found *= (sigma / first) ** 2
        stronger = found[2] > terms[2]
        terms[:, stronger], chosen[stronger] = found[:, stronger], sigma
    return terms, chosen


def _check(variant: str, sigma: float | str | None, tau: float, axis: str) -> None:
    for what, name, names in (
        ("curvature variant", variant, CURVATURE_VARIANTS),
        ("choice of the eigenvector", axis, AXES),
    ):
        if name not in names:
            raise SSplainError(f"There is no {what} {name!r}; choose one of: {', '.join(names)}.")
    if isinstance(sigma, str) and sigma != "local":
        raise SSplainError(f"The scale sigma is a number of px or 'local', not {sigma!r}.")
    if (isinstance(sigma, int | float) and sigma <= 0) or tau <= 0:
        raise SSplainError(f"Scales are above 0 px, not sigma={sigma} and tau={tau}.")


def _ladder(line: Centreline) -> tuple[float, ...]:
    """Return the scales to choose from: two per doubling, up to the largest radius."""
    largest = max(FINEST, float(line.radii.max(initial=0.0)))
    rungs = math.ceil(2 * math.log2(largest / FINEST))
    return tuple(FINEST * 2 ** (rung / 2) for rung in range(rungs + 1))


def _derivatives(
    plane: Plane, kernels: Plane, where: NDArray[np.bool_], labels: NDArray[np.int32]
) -> Plane:
    """Compute (7, n) derivatives L_xx, L_xy, L_yy, L_xxx, L_xxy, L_xyy, L_yyy at n pixels.

    Vessels are few pixels of an image: one product of the patches around them with the derivatives
    of the Gaussian costs no more than to filter the whole image, and a patch can leave out pixels.
    """
    reach = kernels.shape[1] // 2
    weights = np.stack([np.outer(kernels[y], kernels[x]).ravel() for y, x in _ORDERS], axis=1)
    window = (2 * reach + 1, 2 * reach + 1)
    light = sliding_window_view(np.pad(plane, reach, mode="edge"), window)
    part = sliding_window_view(np.pad(labels, reach, mode="edge"), window)
    found = [np.empty((0, len(_ORDERS)))]
    pixels = np.argwhere(where)
    work = len(pixels) * len(weights)
    if work > MOST_VALUES:
        raise SSplainError(
            f"{len(pixels)} vessel pixels at a scale of {reach} px are too many to measure; is the "
            "image segmented, with a background of exactly 0? Give a threshold, or a smaller image."
        )
    for few in np.array_split(pixels, 1 + work // PATCH_VALUES):
        at = tuple(few.T)
        patches = light[at]
        patches *= part[at] == labels[at][:, None, None]
        found.append(patches.reshape(-1, len(weights)) @ weights)
    return np.concatenate(found).T


def _kernels(sigma: float, tail: float) -> Plane:
    """Sample the Gaussian and its first three derivatives, (4, n), as correlation kernels."""
    reach = math.ceil(tail * sigma)
    x = np.arange(-reach, reach + 1) / sigma
    bell = np.exp(-(x**2) / 2)
    bell /= bell.sum()
    hermite = np.stack([np.ones_like(x), x, x**2 - 1, x**3 - 3 * x])
    return bell * hermite / sigma ** np.arange(4)[:, None]


@dataclass(frozen=True)
class _Cuts:
    """Where tubes are cut: junctions, ends, and pixels at which a vessel leaves the image.

    Attributes:
        vessel: (H, W) pixels of the vessels.
        pixels: (n, 2) the same as a list, which `tree` can search.
        centres: (m, 2) positions of the cuts.
        radii: (m,) radius of the vessel there.
    """

    vessel: NDArray[np.bool_]
    pixels: NDArray[np.intp]
    tree: KDTree
    centres: Plane
    radii: Plane

    @staticmethod
    def of(line: Centreline, network: Network) -> "_Cuts":
        rim = line.vessel.copy()
        rim[1:-1, 1:-1] = False
        # a closed branch has a node, but it is not cut there
        nodes = [data for node, data in network.nodes.data() if network.degree[node] != 2]
        centres = np.array([*(node["position"] for node in nodes), *np.argwhere(rim)])
        radii = [node["radius"] for node in nodes] + [line.radius] * int(rim.sum())
        pixels = np.argwhere(line.vessel)
        return _Cuts(line.vessel, pixels, KDTree(pixels), centres.reshape(-1, 2), np.array(radii))

    def around(self, reach: float, least: float = 0.0) -> NDArray[np.bool_]:
        """Mark the vessel pixels within `reach` radii of a cut, none of them below `least`."""
        near = np.zeros_like(self.vessel)
        if len(self.centres):
            found = self.tree.query_ball_point(self.centres, reach * np.maximum(self.radii, least))
            row, column = self.pixels[np.concatenate(found).astype(np.intp)].T
            near[row, column] = True
        return near
