from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from ssplain.errors import SSplainError
from ssplain.vessels import curvature, trace
from ssplain.vessels.curvature import AXES, Axis, bending, strongest

Plane = NDArray[np.float64]


def bare(image: Plane, sigma: float, where: NDArray[np.bool_], axis: Axis = "alg") -> Plane:
    """The quotient |T(n, v, v)| / gap at some pixels of a whole image."""
    whole = np.zeros(image.shape, dtype=np.int32)
    down, right, gap = bending(image, sigma, where, whole, axis=axis)
    values: Plane = np.hypot(down, right)[where] / gap[where]
    return values


def by_eigenvectors(image: Plane, sigma: float, where: NDArray[np.bool_], axis: Axis) -> Plane:
    """The definition, with an eigensolver and the whole tensor of third derivatives."""

    def d(order: tuple[int, int]) -> Plane:
        found: Plane = gaussian_filter(image, sigma, order=order, truncate=6.0)[where]
        return found

    hessian = np.stack([d((0, 2)), d((1, 1)), d((1, 1)), d((2, 0))], axis=-1)
    lam, vectors = np.linalg.eigh(hessian.reshape(-1, 2, 2))
    if axis == "abs":
        order = np.argsort(-np.abs(lam), axis=-1)
        vectors = np.take_along_axis(vectors, order[:, None, :], axis=-1)
    n, v = vectors[..., 0], vectors[..., 1]  # along the tube is the larger, or the smaller in size
    third = np.empty((len(hessian), 2, 2, 2))
    for index in np.ndindex(2, 2, 2):
        third[(..., *index)] = d((sum(index), 3 - sum(index)))  # 0 is x, 1 is y
    twist = np.einsum("...ijk,...i,...j,...k->...", third, n, v, v)
    found: Plane = np.abs(twist) / (lam[..., 1] - lam[..., 0])
    return found


@pytest.mark.parametrize("axis", AXES)
def test_the_closed_form_is_the_eigensolver(phantoms: SimpleNamespace, axis: Axis) -> None:
    soft = gaussian_filter(phantoms.crooked(), 1.0)
    where = (soft > 0.1) & (phantoms.radius() < 90)
    expected = by_eigenvectors(soft, 2.0, where, axis)
    np.testing.assert_allclose(bare(soft, 2.0, where, axis), expected, rtol=1e-6, atol=1e-9)
    other = by_eigenvectors(soft, 2.0, where, "abs" if axis == "alg" else "alg")
    assert np.abs(expected - other).max() > 0.01


def test_the_smaller_eigenvalue_misleads_at_the_inflection(phantoms: SimpleNamespace) -> None:
    """Near the inflection lam_n = (d^2 / s^2 - 1) L / s^2 is smaller than lam_v = -d / (s^2 r) L.

    There the filter runs across the ring, and across it the eigenvectors do not turn.
    """
    away, spread = phantoms.radius(), np.hypot(2, 2)
    d = away - 20
    image = np.exp(-(d**2) / 8)
    ratio = np.abs(d**2 / spread**2 - 1) / (np.abs(d) / away)
    # the blur of a ring moves it inwards a little, so the rim of the band is left out
    band, middle = (d < 0) & (ratio < 0.4), ratio > 2.5
    middle &= np.abs(d) < spread
    for where in (band, middle):
        np.testing.assert_allclose(bare(image, 2, where, "alg"), 1 / away[where], rtol=1e-3)
    np.testing.assert_allclose(bare(image, 2, middle, "abs"), 1 / away[middle], rtol=1e-3)
    assert band.sum() > 10
    assert bare(image, 2, band, "abs").max() < 1e-3


@pytest.mark.parametrize("half", [2.5, 3.5, 4.5, 6.5, 8.5])
def test_the_strongest_scale_of_a_bar_is_its_half_width(
    phantoms: SimpleNamespace, half: float
) -> None:
    bar = phantoms.bar(2 * half, 17)
    along, across = phantoms.axes(17)
    middle = (np.abs(across) < 1) & (np.abs(along) < 40)
    scales = tuple(2 * 2 ** (rung / 2) for rung in range(7))
    whole = np.zeros(bar.shape, dtype=np.int32)
    _, chosen = strongest(bar.astype(np.float64), scales, middle, whole)
    assert np.abs(np.log2(chosen[middle] / half)).max() <= 0.27  # half a rung, and a little
    assert not chosen[~middle].any()


@pytest.mark.parametrize("half", [6, 8])
def test_local_scales_serve_wide_vessels_among_thin_ones(
    phantoms: SimpleNamespace, half: float
) -> None:
    row, _ = np.indices((224, 224))
    thin = np.isin(row // 3, [2, 5, 8, 66, 69, 72])
    ring = phantoms.ring(40, half)
    true = 1 / phantoms.radius()[ring]

    def error(sigma: float | Literal["local"] | None) -> float:
        found = trace(ring | thin, sigma=sigma).curvature
        assert found.sigma == 2 or sigma == "local"  # most of the length is thin
        assert found.local == (sigma == "local")
        return float(np.abs(found.values[ring] - true).mean())

    assert error("local") < 0.0025
    assert error(None) > 0.008


def test_branches_take_their_mean_where_no_junction_is_in_sight(phantoms: SimpleNamespace) -> None:
    fork = phantoms.fork(10)
    tree = trace(fork)
    found = tree.curvature
    reach = [
        (data["position"], 3 * max(data["radius"], found.sigma))
        for _, data in tree.graph.nodes.data()
    ]
    row, column = np.indices(fork.shape)
    near = np.zeros_like(fork)
    for (down, right), radius in reach:
        near |= np.hypot(row - down, column - right) <= radius
    assert np.array_equal(found.clear, found.measured & ~near)
    for branch in tree.branches:
        values = found.values[found.clear & (tree.labels == branch.label)]
        assert branch.mean_curvature == pytest.approx(values.mean())
        assert branch.max_curvature == pytest.approx(values.max())
    (short,) = trace(phantoms.bar(4, 17, length=11)).branches
    assert np.isnan(short.mean_curvature)


@pytest.mark.parametrize(
    ("radius", "width", "sigma"), [(6, 1, 2), (20, 2, 2), (40, 1, 3), (80, 2, 2)]
)
def test_gaussian_rings(
    phantoms: SimpleNamespace, radius: float, width: float, sigma: float
) -> None:
    away = phantoms.radius()
    where = np.abs(away - radius) < width
    image = np.exp(-((away - radius) ** 2) / (2 * width**2))
    assert np.abs(bare(image, sigma, where) * away[where] - 1).mean() < 1e-4


@pytest.mark.parametrize("degrees", [7, 17, 30])
@pytest.mark.parametrize("sigma", [2, 3])
def test_gaussian_lines_are_straight(
    phantoms: SimpleNamespace, degrees: float, sigma: float
) -> None:
    along, across = phantoms.axes(degrees)
    where = (np.abs(across) < 2) & (np.abs(along) < 80)
    assert bare(np.exp(-(across**2) / 8), sigma, where).max() < 1e-7


@pytest.mark.parametrize("half", [1.5, 2.5, 4.0])
def test_hard_rings(phantoms: SimpleNamespace, half: float) -> None:
    ring = phantoms.ring(20, half)
    found = curvature(ring)
    assert np.abs(found[ring] - 1 / phantoms.radius()[ring]).mean() < 0.01
    assert not found[~ring].any()


def test_a_hard_ring_at_the_scale_of_the_specification(phantoms: SimpleNamespace) -> None:
    ring = phantoms.ring(20, 2.5)
    found = curvature(ring, sigma=3.0, tau=1.5)[ring]
    assert np.abs(found - 1 / phantoms.radius()[ring]).mean() < 0.006


def test_raw_is_far_noisier_than_robust_on_a_hard_mask(phantoms: SimpleNamespace) -> None:
    ring = phantoms.ring(20, 4)
    true = 1 / phantoms.radius()[ring]
    raw = np.abs(curvature(ring, variant="raw", sigma=2)[ring] - true).mean()
    robust = np.abs(curvature(ring, variant="robust", sigma=2)[ring] - true).mean()
    assert robust < 0.011
    assert raw > 0.1


@pytest.mark.parametrize(("degrees", "bound"), [(0, 1e-6), (7, 0.006), (17, 0.004), (30, 0.003)])
def test_hard_bars_are_straight(phantoms: SimpleNamespace, degrees: float, bound: float) -> None:
    bar = phantoms.bar(4, degrees)
    middle = bar & (np.abs(phantoms.axes(degrees)[0]) < 60)
    assert curvature(bar, sigma=3)[middle].mean() < bound


@pytest.mark.parametrize(
    ("height", "wavelength", "ratios"),
    [(6, 78.4, (0.98, 0.94)), (12, 56.8, (0.87, 0.77)), (12, 38.9, (0.70, 0.58))],
)
def test_crests_of_waves_are_flattened_as_known(
    phantoms: SimpleNamespace, height: float, wavelength: float, ratios: tuple[float, float]
) -> None:
    wave = phantoms.wave(height, wavelength)
    crest = (wave.distance < 0.7) & (wave.curvature > 0.97 * wave.curvature.max())
    crest &= np.abs(phantoms.axes(0)[0]) < 75
    image = np.exp(-(wave.distance**2) / (2 * 1.5**2))
    for sigma, ratio in zip((2, 3), ratios, strict=True):
        found = bare(image, sigma, crest).mean() / wave.curvature[crest].mean()
        assert found == pytest.approx(ratio, abs=0.05)


def test_a_sine_is_measured_along_its_whole_length(phantoms: SimpleNamespace) -> None:
    wave = phantoms.wave(12, 60)
    tree = trace(wave.distance <= 2)
    (branch,) = tree.branches
    known = tree.curvature.measured
    assert branch.mean_curvature == pytest.approx(wave.curvature[known].mean(), rel=0.05)
    agreement = np.corrcoef(tree.curvature.values[known], wave.curvature[known])[0, 1]
    assert agreement > 0.87


def test_a_straight_fork_is_straight_up_to_its_junction(phantoms: SimpleNamespace) -> None:
    fork = phantoms.fork(10)
    tree = trace(fork)
    assert tree.curvature.values[fork].mean() < 0.008
    ends = [data["position"] for _, data in tree.graph.nodes.data()]
    assert not tree.curvature.measured[tuple(np.rint(np.transpose(ends)).astype(int))].all()
    raw = trace(fork, variant="raw", sigma=tree.curvature.sigma).curvature.values
    assert tree.curvature.values.max() < 0.15 < raw.max()


def test_the_rim_of_the_image_bends_nothing(phantoms: SimpleNamespace) -> None:
    """A straight vessel that grazes the rim is cut to a wedge there, which is no bend."""
    bar = phantoms.bar(9, 4, length=400)
    top = bar[np.argwhere(bar[:, 112])[0, 0] + 2 :]
    found = trace(top).curvature
    assert found.values[found.measured].max() < 0.03
    graze = np.argwhere(top[0])[:, 0]
    assert not found.measured[0, graze[1:-1]].all()
    assert found.clear.sum() > 400


def test_a_neighbour_bends_nothing(phantoms: SimpleNamespace) -> None:
    vessel = phantoms.stroke((40.3, 60), (180.2, 75), 3)
    beside = phantoms.stroke((112, 81), (190, 140), 9)
    middle = vessel & (np.abs(phantoms.axes(90)[0]) < 40)

    def change(variant: Literal["robust", "raw"]) -> float:
        alone = curvature(vessel, variant=variant, sigma=3)
        together = curvature(vessel | beside, variant=variant, sigma=3)
        return float(np.abs(together - alone)[middle].max())

    assert change("robust") < 1e-9
    assert change("raw") > 0.01


def test_curvature_is_free_of_the_scale_of_grey_values(phantoms: SimpleNamespace) -> None:
    soft = phantoms.crooked()
    np.testing.assert_allclose(curvature(soft * 255), curvature(soft), atol=1e-12)


def test_a_result_says_how_it_was_made(phantoms: SimpleNamespace) -> None:
    ring = phantoms.ring(30, 4)
    robust, raw = trace(ring).curvature, trace(ring, variant="raw", sigma=2.5).curvature
    assert (robust.variant, robust.tau) == ("robust", 1.5)
    assert robust.sigma == pytest.approx(4.5, abs=0.6)  # the radius of the vessel
    assert (raw.variant, raw.sigma) == ("raw", 2.5)
    assert (raw.axis, raw.local) == ("alg", False)
    other = trace(ring, axis="abs", sigma="local").curvature
    assert (other.axis, other.local) == ("abs", True)
    assert other.settings == "robust, axis abs, local scales of about 4.0 px"
    assert trace(phantoms.ring(30, 1)).curvature.sigma == 2  # not below the staircase


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"variant": "smooth"}, "'smooth'; choose one of: robust, raw"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"sigma": "global"}, "a number of px or 'local', not 'global'"),
        ({"axis": "first"}, "'first'; choose one of: alg, abs"),
        ({"tau": -1.0}, "tau=-1.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SSplainError, match=words):
        curvature(np.eye(9), **settings)


def test_a_photograph_is_refused_before_it_takes_hours() -> None:
    with pytest.raises(SSplainError, match="is the image segmented"):
        curvature(np.full((400, 400), 0.5), variant="raw")
