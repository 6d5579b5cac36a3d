import math
import os
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from ssplain.errors import SSplainError
from ssplain.vessels import VesselTree, curvature, trace

DATA = os.environ.get("SSPLAIN_DATA")


@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("degrees", [0, 7, 17, 30, 62, 80])
def test_straight_bars(phantoms: SimpleNamespace, width: int, degrees: int) -> None:
    (branch,) = trace(phantoms.bar(width, degrees)).branches
    assert branch.asd == pytest.approx(width, rel=0.03)
    assert branch.length == pytest.approx(150, rel=0.02)
    assert branch.arc_over_chord == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("degrees", [45, 135])
def test_diagonal_bars(phantoms: SimpleNamespace, degrees: int) -> None:
    bar = phantoms.bar(5, degrees)
    (branch,) = trace(bar).branches
    assert branch.length == pytest.approx(150, rel=0.02)
    # at 45 degrees a width can only be a multiple of 0.7 px: the drawn one counts
    assert branch.asd == pytest.approx(bar.sum() / 150, rel=0.02)


@pytest.mark.parametrize("width", [2.5, 3.3, 5.7])
@pytest.mark.parametrize("degrees", [0, 7, 17, 30, 62, 80])
def test_a_pixel_counts_for_the_calibre_as_far_as_it_is_vessel(
    phantoms: SimpleNamespace, width: float, degrees: int
) -> None:
    along, across = phantoms.axes(degrees)
    inside = np.clip(width / 2 + 0.5 - np.abs(across), 0, 1)
    inside *= np.clip(75.5 - np.abs(along), 0, 1)
    (branch,) = trace(inside).branches
    assert branch.calibre == pytest.approx(width, rel=0.03)
    assert branch.asd > width + 0.4  # the rim in full


@pytest.mark.parametrize("sigma", [0.5, 0.8, 1.2])
def test_a_blurred_vessel_keeps_its_calibre(phantoms: SimpleNamespace, sigma: float) -> None:
    sharp = phantoms.bar(6, 17)
    soft = ndimage.gaussian_filter(sharp.astype(float), sigma)
    (branch,) = trace(np.where(soft > 0.02, soft, 0)).branches
    (before,) = trace(sharp).branches
    assert branch.calibre == pytest.approx(before.calibre, rel=0.03)
    assert branch.asd > before.asd + 2 * sigma


def test_the_calibre_of_a_binary_image_is_its_diameter(phantoms: SimpleNamespace) -> None:
    tree = trace(200 * (phantoms.crooked() > 0))
    assert len(tree.branches) > 5
    np.testing.assert_allclose(tree.calibres, tree.diameters())
    faint = trace(phantoms.crooked())
    scaled = trace(np.rint(51 * phantoms.crooked()).astype(np.uint8))
    np.testing.assert_allclose(scaled.calibres, faint.calibres, rtol=0.02)
    values = phantoms.crooked() / phantoms.crooked().max()
    area = [values[faint.labels == branch.label].sum() for branch in faint.branches]
    np.testing.assert_allclose(faint.calibres, np.divide(area, [b.length for b in faint.branches]))


@pytest.mark.parametrize("turn", [0, 20, 45, 110, 200, 305])
def test_forks(phantoms: SimpleNamespace, turn: float) -> None:
    tree = trace(phantoms.fork(turn))
    assert len(tree.branches) == 3
    *arms, parent = sorted(tree.branches, key=lambda branch: branch.asd)
    assert parent.asd == pytest.approx(8, rel=0.12)
    for arm in arms:
        assert arm.asd == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize(("radius", "half"), [(20, 1.5), (20, 4), (50, 2.5)])
def test_rings_are_closed(phantoms: SimpleNamespace, radius: float, half: float) -> None:
    tree = trace(phantoms.ring(radius, half))
    (branch,) = tree.branches
    assert branch.length == pytest.approx(2 * math.pi * radius, rel=0.01)
    assert branch.asd == pytest.approx(2 * half, rel=0.01)
    assert branch.mean_curvature == pytest.approx(1 / radius, rel=0.05)
    assert math.isnan(branch.arc_over_chord)
    assert math.isnan(branch.tortuosity)
    assert nx.number_of_selfloops(tree.graph) == 1


@pytest.mark.parametrize(("height", "wavelength"), [(12, 60), (30, 70), (8, 40)])
def test_the_length_of_a_sine(phantoms: SimpleNamespace, height: float, wavelength: float) -> None:
    wave = phantoms.wave(height, wavelength)
    (branch,) = trace(wave.distance <= 2).branches
    assert branch.length == pytest.approx(wave.length + 4, rel=0.02)  # round ends of 2 px
    assert branch.arc_over_chord == pytest.approx(wave.length / 184, rel=0.02)


@pytest.mark.parametrize("noise", [0.15, 0.3, 0.5])
def test_noise_on_the_boundary_grows_no_spurs(phantoms: SimpleNamespace, noise: float) -> None:
    fork = phantoms.fork(0)
    rim = ndimage.binary_dilation(fork) & ~ndimage.binary_erosion(fork)
    for seed in range(10):
        flipped = rim & (np.random.default_rng(seed).random(fork.shape) < noise)
        assert len(trace(fork ^ flipped).branches) == 3


def test_every_vessel_pixel_has_one_branch(phantoms: SimpleNamespace) -> None:
    image = phantoms.crooked()
    tree = trace(image)
    assert np.array_equal(tree.labels > 0, image > 0)
    assert tree.labels.max() == len(tree.branches)
    assert [branch.label for branch in tree.branches] == list(range(1, len(tree.branches) + 1))
    counts = np.bincount(tree.labels.ravel())[1:]
    assert [branch.pixels for branch in tree.branches] == counts.tolist()
    lengths = [branch.length for branch in tree.branches]
    assert lengths == sorted(lengths, reverse=True)
    np.testing.assert_allclose(tree.diameters(), [branch.asd for branch in tree.branches])


def test_the_graph_joins_the_branches(phantoms: SimpleNamespace) -> None:
    tree = trace(phantoms.crooked())
    labels = sorted(data["branch"] for *_, data in tree.graph.edges.data())
    assert labels == [branch.label for branch in tree.branches]
    for a, b, data in tree.graph.edges.data():
        points = tree.branches[data["branch"] - 1].points
        ends = np.array([tree.graph.nodes[node]["position"] for node in (a, b)])
        same = np.allclose(points[[0, -1]], ends) or np.allclose(points[[-1, 0]], ends)
        assert same
    outline = ndimage.binary_dilation(tree.labels > 0)
    for branch in tree.branches:
        assert outline[tuple(np.rint(branch.points).astype(int).T)].all()


def turned(image: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [np.rot90(side, turns) for side in (image, image[::-1]) for turns in range(4)]


def numbers(tree: VesselTree) -> list[tuple[float, ...]]:
    return [
        (b.length, b.pixels, b.asd, b.calibre, b.mean_curvature, b.max_curvature)
        for b in tree.branches
    ]


@pytest.mark.parametrize("columns", [224, 200])
@pytest.mark.parametrize("method", ["skeleton", "principal-curve"])
def test_nothing_depends_on_the_orientation(
    phantoms: SimpleNamespace, columns: int, method: str
) -> None:
    image = phantoms.crooked()[:, :columns]
    trees = [trace(view, method=method) for view in turned(image)]  # type: ignore[arg-type]
    plain, *others = trees
    for tree in others:
        np.testing.assert_allclose(numbers(tree), numbers(plain), rtol=1e-12)
    for tree, labels, bends in zip(
        trees, turned(plain.labels.astype(float)), turned(plain.curvature.values), strict=True
    ):
        assert np.array_equal(tree.labels, labels)
        assert np.array_equal(tree.curvature.values, bends)
    marks = np.zeros(image.shape)
    marks[tuple(np.rint(plain.branches[0].points).astype(int).T)] = 1
    for tree, mark in zip(trees, turned(marks), strict=True):
        assert mark[tuple(np.rint(tree.branches[0].points).astype(int).T)].mean() > 0.98


def test_tables_of_symmetric_images_are_equal_in_every_orientation() -> None:
    cross = np.zeros((81, 81))
    cross[38:43, 5:76] = cross[5:76, 38:43] = 1
    plain, *others = (numbers(trace(view)) for view in turned(cross))
    assert len(plain) == 4
    for other in others:
        np.testing.assert_allclose(other, plain, rtol=1e-12)


def test_tensors_and_arrays_are_traced_alike(phantoms: SimpleNamespace) -> None:
    image = phantoms.crooked().astype(np.float32)
    first = trace(image)
    second = trace(torch.from_numpy(image)[None])
    assert np.array_equal(first.labels, second.labels)
    assert np.array_equal(curvature(torch.from_numpy(image)), first.curvature.values)


@pytest.mark.parametrize("method", ["skeleton", "principal-curve"])
@pytest.mark.parametrize("image", [np.zeros((5, 7)), np.ones((1, 1)), np.eye(3)])
def test_where_there_is_no_vessel_there_is_no_branch(
    image: NDArray[np.float64], method: str
) -> None:
    tree = trace(image, method=method)  # type: ignore[arg-type]
    assert tree.branches == ()
    assert len(tree.graph) == 0
    assert tree.labels.shape == image.shape
    assert not tree.labels.any()
    assert tree.diameters().shape == tree.calibres.shape == (0,)


def test_a_blob_is_one_short_branch(phantoms: SimpleNamespace) -> None:
    blob = phantoms.radius() <= 25
    tree = trace(blob)
    (branch,) = tree.branches
    assert branch.pixels == blob.sum()
    assert branch.length == pytest.approx(50, abs=3)


def test_diameters_count_only_what_is_kept(phantoms: SimpleNamespace) -> None:
    tree = trace(phantoms.crooked())
    kept = np.random.default_rng(0).random(tree.labels.shape) < 0.3
    expected = [
        (kept & (tree.labels == branch.label)).sum() / branch.length for branch in tree.branches
    ]
    np.testing.assert_allclose(tree.diameters(kept), expected)
    assert not tree.diameters(np.zeros_like(kept)).any()


@pytest.mark.parametrize(
    ("apart", "width", "counted"), [(2, 3, False), (3, 3, True), (4, 5, False)]
)
def test_branches_shorter_than_two_radii_are_not_counted(
    apart: int, width: int, counted: bool
) -> None:
    """Two arms that leave a vessel on both sides, a little apart, have a short branch between."""
    image = np.zeros((60, 60))
    image[2:58, 30 : 30 + width] = 1
    image[25 : 25 + width, 2:30] = image[25 + apart : 25 + apart + width, 30:58] = 1
    tree = trace(image)
    assert tree.radius == math.ceil(width / 2)
    assert len(tree.branches) == 5
    assert tree.counted.tolist() == [True, True, True, True, counted]
    assert (tree.branches[-1].length >= 2 * tree.radius) == counted
    assert np.array_equal(tree.labels > 0, image > 0)  # its pixels stay with it


def test_generations_count_junctions_from_the_disc(phantoms: SimpleNamespace) -> None:
    stem = phantoms.stroke((200, 112), (140, 112), 6)
    first = phantoms.stroke((140, 112), (90, 70), 4) | phantoms.stroke((140, 112), (90, 160), 4)
    second = phantoms.stroke((90, 70), (30, 60), 3) | phantoms.stroke((90, 70), (70, 20), 3)
    apart = phantoms.stroke((20, 150), (20, 210), 3)
    tree = trace(stem | first | second | apart, disc=(205, 112, 12))

    def generation(row: int, column: int) -> int | None:
        return tree.branches[int(tree.labels[row, column]) - 1].generation

    assert [generation(170, 112), generation(115, 91), generation(115, 136)] == [1, 2, 2]
    assert [generation(60, 65), generation(80, 45), generation(20, 180)] == [3, 3, 1]
    assert {branch.generation for branch in trace(stem | first).branches} == {None}


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(SSplainError, match="'watershed'; choose one of: skeleton, principal-curve"):
        trace(np.eye(4), method="watershed")  # type: ignore[arg-type]


@pytest.mark.skipif(DATA is None, reason="SSPLAIN_DATA names no folder with hvdropdb")
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_masks_of_infants_have_sensible_trees(every: int) -> None:
    files = sorted((Path(DATA or "") / "hvdropdb" / "retcam_mask").glob("*.png"))
    assert len(files) == 50
    for file in files[::every]:
        with Image.open(file) as image:
            mask = np.array(image).astype(float)
        tree = trace(mask)
        assert 5 <= len(tree.branches) <= 120
        assert np.median([branch.length for branch in tree.branches]) > 20
        assert (tree.labels[mask > 0] > 0).mean() > 0.99
        lengths = np.array([branch.length for branch in tree.branches])
        ridge = trace(mask, method="principal-curve")
        assert sum(b.length for b in ridge.branches) == pytest.approx(lengths.sum(), rel=0.1)
        assert (lengths < 2 * np.median(tree.diameters())).mean() < 0.2
