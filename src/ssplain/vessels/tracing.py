"""Vessel trees: an image becomes branches with their length, calibre and curvature.

The Average Segment Diameter of a branch is ASD = N / L_c: how many pixels it has, over the length
of its centreline, L_c = integral of |c'(t)| dt. Around every vessel of a soft segmentation there is
a rim of faint pixels, which N counts in full. The calibre is therefore A / L_c, with A the sum of
the values: a pixel counts as far as it is vessel. On a binary image the two are the same.

References: E. Ataer-Cansizoglu et al., Computer-based image analysis for plus disease diagnosis in
retinopathy of prematurity, TVST 4(6), 2015, for the ASD. How the branches are found here, and at
which sizes specks, holes and spurs are noise, are choices of this package.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.vessels.curvature import Axis, CurvatureVariant, TubularCurvature, tubular_curvature
from ssplain.vessels.curve import Curve, arc_over_chord, smooth_curves, tortuosity
from ssplain.vessels.ground import find_threshold
from ssplain.vessels.network import Network, vessel_network
from ssplain.vessels.pose import Plane, as_plane, canonical_pose
from ssplain.vessels.principal_curve import principal_curve
from ssplain.vessels.skeleton import skeletonise
from ssplain.vessels.territory import territories

if TYPE_CHECKING:
    import torch

Method = Literal["skeleton", "principal-curve"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Branch:
    """One vessel between two junctions or ends.

    Attributes:
        label: its value in `VesselTree.labels`, from 1; the longest branch is 1.
        length: L_c, length of the centreline in px, up to the tips of free ends.
        pixels: N, how many pixels belong to it.
        asd: Average Segment Diameter N / L_c in px, as in the paper's dilation measure.
        calibre: mean width in px, its area over L_c; a pixel adds its value to the area, 1 if it is
            as bright as any. The ASD of a binary image.
        mean_curvature: mean of the curvature in 1/px over its pixels that are clear of junctions
            and ends (see `ssplain.vessels.curvature`); NaN if it has none.
        max_curvature: the largest of them; NaN if it has none.
        arc_over_chord: length over the distance of the ends; NaN for a closed branch.
        tortuosity: how much it winds, in 1/px, by the index of Grisan et al. (2008); NaN for a
            closed branch (see `ssplain.vessels.curve`).
        generation: 1 at the optic disc, one more at each junction; None if no disc was given.
        points: (n, 2) centreline (row, column), about one pixel apart.
    """

    label: int
    length: float
    pixels: int
    asd: float
    calibre: float
    mean_curvature: float
    max_curvature: float
    arc_over_chord: float
    tortuosity: float
    generation: int | None
    points: Plane


@dataclass(frozen=True)
class VesselTree:
    """The branches of an image.

    Attributes:
        branches: sorted by length, the longest first.
        labels: (H, W) which branch a pixel belongs to, 0 for the background and for specks.
        graph: junctions and ends as nodes, with `position` and `radius`; an edge has `branch`,
            the label of its branch. A closed branch is an edge from a node to itself.
        curvature: curvature at every pixel and how it was computed.
        radius: the typical half-width of a vessel in px, the median along the centrelines.
        threshold: values up to this share of the brightest were taken for ground; 0 where the
            ground is black.
    """

    branches: tuple[Branch, ...]
    labels: NDArray[np.int32]
    graph: Network
    curvature: TubularCurvature
    radius: float
    threshold: float

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which branches have a diameter that means something: L_c is at least 2 typical radii.

        A shorter one is as long as it is wide, a piece of a junction. It keeps its pixels and its
        row, but it is left out of the paper's dilation measure.

        Example:
            >>> image = np.zeros((60, 60))
            >>> image[2:58, 30:33] = image[25:28, 2:30] = image[27:30, 30:58] = 1
            >>> trace(image).counted  # the last one is what the arms, 2 px apart, leave between
            array([ True,  True,  True,  True, False])
        """
        lengths = np.array([branch.length for branch in self.branches])
        counted: NDArray[np.bool_] = lengths >= 2 * self.radius
        return counted

    @property
    def calibres(self) -> Plane:
        """The calibre of every branch in px.

        Example:
            >>> image = np.zeros((20, 60))
            >>> image[8:12, 5:55] = 1
            >>> image[[7, 12], 5:55] = 0.25  # a faint rim adds half a pixel, not two
            >>> tree = trace(image)
            >>> tree.calibres.round(1), tree.diameters().round(1)
            (array([4.5]), array([6.]))
        """
        return np.array([branch.calibre for branch in self.branches])

    def diameters(self, kept: NDArray[np.bool_] | None = None) -> Plane:
        """Return the ASD of every branch, counting only the pixels in `kept` if it is given.

        Branches and lengths stay those of the whole image: this is D_s of the paper's dilation
        measure, with `kept` the pixels inserted so far.

        Example:
            >>> image = np.zeros((20, 60))
            >>> image[8:12, 5:55] = 1
            >>> tree = trace(image)
            >>> half = image.astype(bool) & (np.arange(20) < 10)[:, None]
            >>> float(tree.diameters(half)[0] / tree.diameters()[0])
            0.5
        """
        labels = self.labels if kept is None else self.labels[kept]
        counts = np.bincount(labels.ravel(), minlength=len(self.branches) + 1)[1:]
        lengths = np.array([branch.length for branch in self.branches])
        diameters: Plane = counts / lengths
        return diameters


def trace(
    image: "NDArray[Any] | torch.Tensor",
    *,
    method: Method = "skeleton",
    variant: CurvatureVariant = "robust",
    sigma: float | Literal["local"] | None = None,
    tau: float = 1.5,
    axis: Axis = "alg",
    disc: tuple[float, float, float] | None = None,
    threshold: float | None = None,
) -> VesselTree:
    """Trace the vessels of a segmented image.

    Every pixel above the threshold is vessel, except in specks of up to 30 px. The result does not
    depend on the orientation of the image (see `ssplain.vessels.pose`).

    Args:
        image: array or tensor of shape (H, W) or (1, H, W), soft or binary.
        method: `skeleton` thins the mask; `principal-curve` projects every pixel on the ridge of
            the blurred image and joins the projections by a minimum spanning tree, which is slower
            and cuts every loop open.
        variant: variant of the curvature, see `ssplain.vessels.curvature`.
        sigma: scale of the curvature in px, or `local` for a scale per pixel.
        tau: width of the neighbourhood of the curvature in px.
        axis: which eigenvector the curvature takes to run along a vessel, `alg` or `abs`.
        disc: row, column and radius of the optic disc, from where generations are counted.
        threshold: values up to this share of the brightest are ground; by default 0 where the
            ground is black, and found by `ssplain.vessels.ground` where it is not.

    Returns:
        The tree; an empty image has one without branches.

    Example:
        >>> image = np.zeros((64, 64))
        >>> image[30:34, 4:60] = 1
        >>> (branch,) = trace(image).branches
        >>> branch.pixels, round(branch.length), round(branch.asd, 1), branch.arc_over_chord
        (224, 56, 4.0, 1.0)
    """
    if method not in METHODS:
        raise SSplainError(
            f"There is no tracing method {method!r}; choose one of: {', '.join(METHODS)}."
        )
    if threshold is not None and not 0 <= threshold < 1:
        raise SSplainError(
            f"The threshold is a share of the brightest value, at least 0 and below 1, "
            f"not {threshold}."
        )
    plane = as_plane(image)
    threshold = find_threshold(plane) if threshold is None else threshold
    plane = np.where(plane > threshold, plane, 0.0)
    shape = (plane.shape[0], plane.shape[1])
    pose = canonical_pose(plane)
    plane = pose.apply(plane)
    line = skeletonise(plane > 0)
    if method == "principal-curve":
        line = principal_curve(plane, line)
    network = vessel_network(line)
    curves = smooth_curves(network, line.vessel)
    labels = territories(line.vessel, [curve.points for curve in curves])
    bends = tubular_curvature(
        plane, line, network, labels, variant=variant, sigma=sigma, tau=tau, axis=axis
    )
    bends = replace(
        bends,
        values=pose.undo(bends.values),
        measured=pose.undo(bends.measured),
        clear=pose.undo(bends.clear),
    )
    labels = pose.undo(labels)
    for node in network.nodes.values():
        node["position"] = pose.undo_points(node["position"][None], shape)[0]
    curves = [replace(curve, points=pose.undo_points(curve.points, shape)) for curve in curves]
    graph = _graph(network, curves)
    branches = _branches(curves, labels, pose.undo(plane), bends, _generations(graph, disc))
    return VesselTree(branches, labels, graph, bends, line.radius, threshold)


def curvature(
    image: "NDArray[Any] | torch.Tensor",
    *,
    variant: CurvatureVariant = "robust",
    sigma: float | Literal["local"] | None = None,
    tau: float = 1.5,
    axis: Axis = "alg",
) -> Plane:
    """Curvature of the vessels at every pixel, by the Tubular Curvature Filter.

    `trace(image).curvature` has the same values together with the settings that made them.

    Args:
        image: array or tensor of shape (H, W) or (1, H, W), soft or binary.
        variant: `robust`, or `raw` for the bare formula (see `ssplain.vessels.curvature`).
        sigma: scale in px; by default the median radius of the vessels, at least 2; `local` for a
            scale per pixel.
        tau: width of the neighbourhood in px that the robust variant averages over.
        axis: `alg`, or `abs` for the eigenvector of the eigenvalue of smaller magnitude.

    Returns:
        (H, W) curvature in 1/px, 0 outside the vessels.

    Example:
        >>> row, column = np.mgrid[:64, :64] - 31.5
        >>> ring = np.exp(-((np.hypot(row, column) - 20) ** 2) / 8)
        >>> round(float(curvature(ring * (ring > 0.5))[31, 51]), 2)
        0.05
    """
    return trace(image, variant=variant, sigma=sigma, tau=tau, axis=axis).curvature.values


def _graph(network: Network, curves: list[Curve]) -> Network:
    """Give the nodes numbers from 0 and name the branches by their labels."""
    number = {node: new for new, node in enumerate(network)}
    graph: Network = nx.MultiGraph()
    for node, new in number.items():
        graph.add_node(new)
        graph.nodes[new].update(network.nodes[node])
    for label, curve in enumerate(curves, start=1):
        graph.add_edge(number[curve.start], number[curve.end], branch=label)
    return graph


def _generations(graph: Network, disc: tuple[float, float, float] | None) -> dict[int, int | None]:
    """Count junctions from the disc; a part that does not reach it starts at its nearest node."""
    if disc is None:
        return {}
    away = {node: math.dist(graph.nodes[node]["position"], disc[:2]) for node in graph}
    hops: dict[int, int] = {}
    for part in nx.connected_components(graph):
        roots = {node for node in part if away[node] <= disc[2]} or {
            min(part, key=away.__getitem__)
        }
        for hop, layer in enumerate(nx.bfs_layers(graph, roots), start=1):
            hops.update(dict.fromkeys(layer, hop))
    return {data["branch"]: min(hops[a], hops[b]) for a, b, data in graph.edges.data()}


def _branches(
    curves: list[Curve],
    labels: NDArray[np.int32],
    plane: Plane,
    bends: TubularCurvature,
    generations: dict[int, int | None],
) -> tuple[Branch, ...]:
    count = len(curves) + 1
    pixels = np.bincount(labels.ravel(), minlength=count)
    area = np.bincount(labels.ravel(), plane.ravel(), minlength=count)
    owner, bend = labels[bends.clear], bends.values[bends.clear]
    seen = np.bincount(owner, minlength=count)
    total = np.bincount(owner, bend, minlength=count)
    peak = np.zeros(count)
    np.maximum.at(peak, owner, bend)
    return tuple(
        Branch(
            label=label,
            length=curve.length,
            pixels=int(pixels[label]),
            asd=float(pixels[label] / curve.length),
            calibre=float(area[label] / curve.length),
            mean_curvature=float(total[label] / seen[label]) if seen[label] else math.nan,
            max_curvature=float(peak[label]) if seen[label] else math.nan,
            arc_over_chord=arc_over_chord(curve.points),
            tortuosity=tortuosity(curve.points),
            generation=generations.get(label),
            points=curve.points,
        )
        for label, curve in enumerate(curves, start=1)
    )
