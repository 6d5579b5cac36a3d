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
- `robust` (the default, a choice of this package): c is averaged over a neighbourhood with the
  gap as weight, G_tau * (w T n) / G_tau * (w D). Nothing is divided by a vanishing gap, and the
  noise of a staircase, which alternates in sign, cancels. Pixels within two radii of a junction
  or an end have the weight w = 0, because there is no tube there; they take the value of the
  pixels around them, or 0 if these have none. Values are cut at 1 / sigma.

Reference: E. Sunger et al., Tubular Curvature Filter, arXiv 2311.11931, for the definition; the
scale, the masking and the robust variant are choices made here.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, gaussian_filter1d
from scipy.spatial import KDTree

from ssplain.errors import SSplainError
from ssplain.vessels.network import Network, vessel_network
from ssplain.vessels.plane import Plane, as_plane, canonical_pose
from ssplain.vessels.skeleton import Centreline, skeletonise

if TYPE_CHECKING:
    import torch

Variant = Literal["robust", "raw"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)

FINEST = 2.0  # px: below this scale the staircase of a mask outweighs its bends
REACH = 2.0  # radii around a junction or an end in which there is no tube


@dataclass(frozen=True)
class TubularCurvature:
    """Curvature at every pixel and how it was computed.

    Attributes:
        values: (H, W) curvature in 1/px, 0 outside the vessels.
        measured: (H, W) pixels for which the filter has a value.
        variant: `robust` or `raw`.
        sigma: scale of the derivatives in px.
        tau: width of the neighbourhood in px that the robust variant averages over.
    """

    values: Plane
    measured: NDArray[np.bool_]
    variant: Variant
    sigma: float
    tau: float


def curvature(
    image: "NDArray[Any] | torch.Tensor",
    *,
    variant: Variant = "robust",
    sigma: float | None = None,
    tau: float = 1.5,
) -> Plane:
    """Curvature of the vessels at every pixel; see `tubular_curvature`.

    Returns:
        (H, W) curvature in 1/px, 0 outside the vessels.

    Example:
        >>> row, column = np.mgrid[:64, :64] - 31.5
        >>> ring = np.exp(-((np.hypot(row, column) - 20) ** 2) / 8)
        >>> round(float(curvature(ring * (ring > 0.5), sigma=2)[31, 51]), 2)
        0.05
    """
    return tubular_curvature(image, variant=variant, sigma=sigma, tau=tau).values


def tubular_curvature(
    image: "NDArray[Any] | torch.Tensor",
    *,
    variant: Variant = "robust",
    sigma: float | None = None,
    tau: float = 1.5,
) -> TubularCurvature:
    """Apply the Tubular Curvature Filter.

    Args:
        image: array or tensor of shape (H, W) or (1, H, W), bright vessels on exactly 0.
        variant: `robust`, or `raw` for the bare formula.
        sigma: scale of the derivatives in px; by default the median radius of the vessels, at
            least 2: a smaller one sees the flat top of a vessel, a larger one flattens its bends.
        tau: width of the neighbourhood in px that the robust variant averages over.

    Returns:
        The curvature with the settings that made it.

    Example:
        >>> image = np.zeros((40, 40))
        >>> image[18:23] = 1
        >>> found = tubular_curvature(image)
        >>> found.variant, found.sigma, bool(found.values.max() < 1e-6)
        ('robust', 3.0, True)
    """
    plane = as_plane(image)
    pose = canonical_pose(plane)
    plane = pose.apply(plane)
    line = skeletonise(plane > 0)
    found = filter_plane(plane, line, vessel_network(line), variant=variant, sigma=sigma, tau=tau)
    return TubularCurvature(
        pose.undo(found.values), pose.undo(found.measured), found.variant, found.sigma, found.tau
    )


def filter_plane(
    plane: Plane,
    line: Centreline,
    network: Network,
    *,
    variant: Variant,
    sigma: float | None,
    tau: float,
) -> TubularCurvature:
    """Apply the filter to a plane whose vessels are already traced."""
    if variant not in VARIANTS:
        raise SSplainError(
            f"There is no curvature variant {variant!r}; choose one of: {', '.join(VARIANTS)}."
        )
    if (sigma is not None and sigma <= 0) or tau <= 0:
        raise SSplainError(f"Scales are above 0 px, not sigma={sigma} and tau={tau}.")
    sigma = max(FINEST, line.radius) if sigma is None else sigma
    vessel = plane > 0
    weight = vessel if variant == "raw" else vessel & ~_near_nodes(line.vessel, network)
    down, right, gap = bending(plane, sigma, weight)
    if variant == "robust":
        down, right, gap = (gaussian_filter(term, tau) for term in (down, right, gap))
    measured = vessel & (gap > 1e-9)  # less than this is rounding, in a plane that reaches up to 1
    values = np.divide(np.hypot(down, right), gap, out=np.zeros_like(gap), where=measured)
    if variant == "robust":
        values = np.minimum(values, 1 / sigma)
    return TubularCurvature(values, measured, variant, sigma, tau)


def bending(plane: Plane, sigma: float, where: NDArray[np.bool_]) -> tuple[Plane, Plane, Plane]:
    """Compute T(n, v, v) n, as its components down and right, and the gap lam_v - lam_n.

    Args:
        plane: (H, W) image.
        sigma: scale of the derivatives in px.
        where: (H, W) pixels to compute them for; the others are 0.

    Example:
        >>> down, right, gap = bending(np.eye(32), sigma=2.0, where=np.eye(32) > 0)
        >>> bool(np.hypot(down, right)[16, 16] < 1e-12 < gap[16, 16])
        True
    """

    def blur(terms: Plane, axis: int, order: int) -> Plane:
        # six sigmas, because the third derivative lives in the tail of the Gaussian
        return gaussian_filter1d(terms, sigma, axis, order, mode="nearest", truncate=6.0)

    rows = [blur(plane, 0, order) for order in range(4)]
    xx, xy, yy = (blur(rows[order], 1, 2 - order)[where] for order in range(3))
    xxx, xxy, xyy, yyy = (blur(rows[order], 1, 3 - order)[where] for order in range(4))
    angle = np.arctan2(2 * xy, xx - yy) / 2
    x, y = np.cos(angle), np.sin(angle)  # v = (x, y) and n = (-y, x)
    along_x = xxx * x * x + 2 * xxy * x * y + xyy * y * y
    along_y = xxy * x * x + 2 * xyy * x * y + yyy * y * y
    twist = x * along_y - y * along_x
    found = np.zeros((3, *plane.shape))
    found[:, where] = twist * x, -twist * y, np.hypot(xx - yy, 2 * xy)
    return found[0], found[1], found[2]


def _near_nodes(vessel: NDArray[np.bool_], network: Network) -> NDArray[np.bool_]:
    """Mark the vessel pixels around junctions and ends; a closed branch has neither."""
    near = np.zeros(np.count_nonzero(vessel), dtype=bool)
    nodes = [data for node, data in network.nodes.data() if network.degree[node] != 2]
    if nodes:
        centres = [node["position"] for node in nodes]
        radii = [REACH * node["radius"] for node in nodes]
        found = KDTree(np.argwhere(vessel)).query_ball_point(centres, radii)
        near[np.concatenate(found).astype(np.intp)] = True
    marked = np.zeros_like(vessel)
    marked[vessel] = near
    return marked
