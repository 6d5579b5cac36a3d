"""Takes the courses of real vessels from a binary mask, to be drawn anew with planted disease.

Real anatomy with known truth: where the vessels run is real, how wide they are and which of them
are ill is simulated. Wiggles of the mask are smoothed away, so that none but planted ones remain.
"""

from collections import deque
from dataclasses import replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from ssplain.errors import SSplainError
from ssplain.simulate.anatomy import CENTRE, SIZE, Array, Eye
from ssplain.simulate.appearance import draw_appearance, drop_missing
from ssplain.simulate.eye import Dice, SimulatedFundus, draw_tree, label_of, plant_into
from ssplain.simulate.tree import KINDS, Course, Kind, grow_tree
from ssplain.vessels.tracing import VesselTree, trace

_DISC = 14.0  # pixels from the middle of the disc within which vessels are taken to leave it
_WELL_FED = 250.0  # pixels; a trunk that feeds less than this is thinner
_SPROUTING = 0.5  # share of images whose drawn vessels get side branches
_SMOOTH = 8.0  # pixels; leaves a real course as wound as a simulated one without disease
_WIDTHS: dict[Kind, tuple[float, float]] = {"artery": (2.0, 2.6), "vein": (2.7, 3.5)}


def simulate_on_mask(
    mask: NDArray[np.floating],
    seed: int,
    index: int,
    label: int | None = None,
    *,
    amount: float | None = None,
) -> SimulatedFundus:
    """Make image number `index` of the series `seed` on the vessels of a real mask.

    In half of the images the drawn vessels, which are the major ones, get side branches.

    Args:
        mask: (224, 224) segmented vessels, above 0 where there is one.
        seed: names the series.
        index: place in the series, from 0.
        label: 0 Normal, 1 Pre-plus or 2 Plus; `index % 3` by default.
        amount: of disease, in place of one drawn for the label.

    Raises:
        SSplainError: If the mask has another size or no vessel to speak of.

    Example:
        >>> from ssplain.simulate.eye import simulate
        >>> fundus = simulate_on_mask(simulate(seed=0, index=0).image, seed=1, index=2)
        >>> fundus.label, bool(fundus.relevance.any())
        (2, True)
    """
    dice = Dice.of(seed, index)
    look = draw_appearance(dice.look)
    eye, courses = read_courses(dice.anatomy, mask)
    if dice.anatomy.random() < _SPROUTING:
        courses = grow_tree(dice.anatomy, eye, courses)
    courses = drop_missing(dice.look, courses, look.missing)
    return draw_tree(dice, plant_into(dice, eye, courses, label_of(index, label), amount), look)


def read_courses(rng: np.random.Generator, mask: NDArray[np.floating]) -> tuple[Eye, list[Course]]:
    """Return the eye that a mask (224, 224) shows, and the courses of its vessels.

    Raises:
        SSplainError: If the mask has another size or no vessel to speak of.
    """
    if mask.shape != (SIZE, SIZE):
        raise SSplainError(f"The mask has shape {mask.shape}; resize it to ({SIZE}, {SIZE}).")
    tree = trace(mask)
    if not tree.branches:
        raise SSplainError("The mask shows no vessel; give one with traced vessels above 0.")
    disc = find_disc(tree)
    row, column = np.nonzero(mask)
    temporal = 1.0 if column.mean() > disc[1] else -1.0
    eye = Eye(
        zoom=1.0,
        fovea=(48.0, -4.0),
        flat=120.0,
        field=(temporal * (CENTRE - disc[1]), disc[0] - CENTRE),
        radius=float(np.hypot(row - CENTRE, column - CENTRE).max()) + 1,
        spacing=rng.uniform(20, 60),
        right=temporal < 0,
    )
    return eye, _courses(rng, tree, disc, temporal)


def find_disc(tree: VesselTree) -> tuple[float, float]:
    """Row and column of the optic disc: the place from which most vessels run like rays.

    Example:
        >>> image = np.zeros((224, 224))
        >>> for angle in np.linspace(0, 6.2, 7):
        ...     along = np.arange(3, 80)[:, None] * (np.sin(angle), np.cos(angle))
        ...     rows, columns = np.rint(along + (100, 120)).astype(int).T
        ...     for shift in range(3):
        ...         image[rows + shift, columns] = 1
        >>> row, column = find_disc(trace(image))
        >>> abs(row - 101) < 8 and abs(column - 120) < 8
        True
    """
    points = np.concatenate([branch.points for branch in tree.branches])
    ahead = np.concatenate([np.gradient(branch.points, axis=0) for branch in tree.branches])
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    places = points[::3]
    away = points - places[:, None]
    distance = np.hypot(away[..., 0], away[..., 1])
    near = (distance > 5) & (distance < 50)
    # cos(2 angle) between vessel and ray: 1 along the ray, -1 across; 1/distance makes rings equal
    along = ((away * ahead).sum(axis=-1) / np.maximum(distance, 1)) ** 2
    votes = np.where(near, (2 * along - 1) / np.maximum(distance, 1), 0)
    row, column = places[votes.sum(axis=1).argmax()]
    return float(row), float(column)


def _courses(
    rng: np.random.Generator, tree: VesselTree, disc: tuple[float, float], temporal: float
) -> list[Course]:
    """Join branches to courses, from the disc outwards; at a junction the straightest goes on."""
    outward = _outward(tree, disc)
    waiting: deque[tuple[Course, int, int]] = deque()
    for root in sorted(node for node in outward if not outward.in_degree(node)):
        for end in sorted(outward.successors(root)):
            trunk = Course(np.empty((0, 2)), KINDS[int(rng.integers(2))], -1, 0, 0, 1.0)
            waiting.append((trunk, root, end))
    courses: list[Course] = []
    seen: set[int] = set()
    while waiting:
        course, start, end = waiting.popleft()
        raw, junctions = _follow(outward, start, end, seen)
        points = (raw[:, ::-1] - disc[::-1]) * (temporal, -1.0)
        if course.parent >= 0:  # the parent's course was smoothed, so its junction has moved
            shift = courses[course.parent].points[course.attach] - points[0]
            points += shift * np.exp(-np.arange(len(points)) / 10)[:, None]
        course = replace(course, points=_smooth(points))
        generation = min(course.generation + 1, 2)
        for at, here, there in junctions:
            child = Course(np.empty((0, 2)), course.kind, len(courses), at, generation, 1.0)
            waiting.append((child, here, there))
        courses.append(course)
    return _shared_out(rng, courses)


def _shared_out(rng: np.random.Generator, courses: list[Course]) -> list[Course]:
    """Shares out widths so that the cube of each is in proportion to the length it feeds."""
    fed = [float(len(course.points)) for course in courses]
    for i in range(len(courses) - 1, -1, -1):  # children come after their parents
        if courses[i].parent >= 0:
            fed[courses[i].parent] += fed[i]
    left = list(fed)
    done = [0] * len(courses)
    shared = []
    for i, course in enumerate(courses):
        if course.parent < 0:
            size = min((fed[i] / _WELL_FED) ** (1 / 3), 1.0)
            share = size * rng.uniform(*_WIDTHS[course.kind])
        else:
            left[course.parent] -= course.attach - done[course.parent]
            done[course.parent] = course.attach
            share = float(np.clip((fed[i] / left[course.parent]) ** (1 / 3), 0.4, 0.85))
            left[course.parent] -= fed[i]
        shared.append(replace(course, share=share))
    return shared


def _outward(tree: VesselTree, disc: tuple[float, float]) -> "nx.DiGraph[int]":
    """Direct the branches away from the disc; a part that does not reach it starts nearest."""
    place: dict[int, Array] = {node: data["position"] for node, data in tree.graph.nodes.items()}
    away = {node: float(np.hypot(*(position - disc))) for node, position in place.items()}
    lines: nx.Graph[int] = nx.Graph()
    for a, b, data in tree.graph.edges.data():
        if a != b:
            branch = tree.branches[data["branch"] - 1]
            lines.add_edge(a, b, points=branch.points, length=branch.length)
    outward: nx.DiGraph[int] = nx.DiGraph()
    for part in nx.connected_components(lines):
        roots = {node for node in part if away[node] < _DISC} or {min(part, key=away.__getitem__)}
        reach = nx.multi_source_dijkstra_path_length(lines, roots, weight="length")
        for a, b, data in lines.edges(part, data=True):
            points = data["points"]
            start, end = (a, b) if (reach[a], a) < (reach[b], b) else (b, a)
            first, last = (np.hypot(*(points[i] - place[start])) for i in (0, -1))
            outward.add_edge(start, end, points=points if first <= last else points[::-1])
    return outward


def _follow(
    outward: "nx.DiGraph[int]", start: int, end: int, seen: set[int]
) -> tuple[Array, list[tuple[int, int, int]]]:
    """Goes straight on from a first branch; notes the branches it passes, as (sample, from, to)."""
    points: Array = outward.edges[start, end]["points"]
    passed = []
    while end not in seen:
        seen.add(end)
        ahead = points[-1] - points[max(len(points) - 6, 0)]
        ways = sorted(
            outward.successors(end),
            key=lambda way: -_straightness(ahead, outward.edges[end, way]["points"]),
        )
        if not ways:
            break
        passed += [(len(points) - 1, end, way) for way in ways[1:]]
        points = np.concatenate([points, outward.edges[end, ways[0]]["points"][1:]])
        end = ways[0]
    return points, passed


def _straightness(ahead: Array, points: Array) -> float:
    """Cosine of the angle between a direction and the beginning of a course."""
    away = points[min(6, len(points) - 1)] - points[0]
    return float(ahead @ away / max(np.hypot(*ahead) * np.hypot(*away), 1e-9))


def _smooth(points: Array) -> Array:
    """Take the wiggles out of a course, leaving its ends in place."""
    reach = min(int(3 * _SMOOTH), len(points) - 1)
    before = 2 * points[0] - points[reach:0:-1]
    after = 2 * points[-1] - points[-2 : -2 - reach : -1]
    longer = np.concatenate([before, points, after])
    smooth: Array = gaussian_filter1d(longer, _SMOOTH, axis=0)[reach : reach + len(points)]
    return smooth
