"""Tests of whole simulated images and their truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssplain.errors import SSplainError
from ssplain.simulate import disease as simulate_disease
from ssplain.simulate.eye import SimulatedFundus, simulate

FUNDI = [simulate(seed=5, index=i) for i in range(18)]


@pytest.fixture(params=range(0, 18, 4))
def fundus(request: pytest.FixtureRequest) -> SimulatedFundus:
    chosen: int = request.param
    return FUNDI[chosen]


def test_an_image_depends_on_nothing_but_its_seed_and_index() -> None:
    again = simulate(seed=5, index=7)
    np.testing.assert_array_equal(again.image, FUNDI[7].image)
    np.testing.assert_array_equal(again.relevance, FUNDI[7].relevance)
    assert again.branches == FUNDI[7].branches
    assert not np.array_equal(simulate(seed=6, index=7).image, FUNDI[7].image)


def test_values_are_whole_bytes_so_that_files_keep_them(fundus: SimulatedFundus) -> None:
    stored = np.rint(255 * fundus.image).astype(np.uint8)
    np.testing.assert_array_equal(stored.astype(np.float32) / 255, fundus.image)
    assert fundus.image.dtype == np.float32
    assert 0.9 < fundus.image.max() <= 1


def test_vessels_stay_inside_a_round_field_of_view(fundus: SimulatedFundus) -> None:
    row, column = np.nonzero(fundus.image)
    assert np.hypot(row - 111.5, column - 111.5).max() < 110


def test_truth_lies_on_the_vessels_and_nowhere_else(fundus: SimulatedFundus) -> None:
    np.testing.assert_array_equal(fundus.branch_ids >= 0, fundus.image > 0)
    assert (fundus.relevance[fundus.image == 0] == 0).all()
    relevant = np.unique(fundus.branch_ids[fundus.relevance > 0])
    assert all(fundus.branches[i].diseased for i in relevant)


def test_maps_say_how_wide_and_bent_the_vessels_are() -> None:
    """The mean over the pixels of a vessel is about that over its samples."""
    pairs = []
    for fundus in FUNDI:
        assert not fundus.width[fundus.image == 0].any()
        assert not fundus.curvature[fundus.image == 0].any()
        assert fundus.width[fundus.image > 0].min() >= np.float32(1.1)
        for index, branch in enumerate(fundus.branches):
            own = fundus.branch_ids == index
            if own.sum() > branch.length * branch.width:  # little is hidden, or out of view
                means = fundus.width[own].mean(), fundus.curvature[own].mean()
                pairs.append((*means, branch.width, branch.curvature))
    width, bend, true_width, true_bend = np.array(pairs).T
    assert len(pairs) > 100
    assert np.median(width / true_width) == pytest.approx(1, abs=0.05)
    # turns from sample to sample count every kink; over a few samples some of them cancel
    assert 0.8 < np.median(bend / true_bend) < 1
    assert np.corrcoef(width, true_width)[0, 1] > 0.95
    assert np.corrcoef(bend, true_bend)[0, 1] > 0.9


@pytest.mark.parametrize("index", [0, 4, 8])
def test_dilation_is_what_the_same_eye_without_it_lacks(
    index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fundus = FUNDI[index]
    monkeypatch.setattr(simulate_disease, "_DILATION", 0.0)
    twin = simulate(seed=5, index=index)
    both = (fundus.branch_ids == twin.branch_ids) & (twin.width > 0)
    assert both.sum() > 0.7 * (fundus.width > 0).sum()
    ratio = fundus.width[both] / twin.width[both]
    # a few pixels belong to another place along the same vessel once it is wider
    assert np.isclose(fundus.dilation[both], ratio, rtol=1e-5).mean() > 0.98
    assert np.ptp(ratio) > 0.5 or fundus.label < 2
    assert np.array_equal(fundus.dilation > 0, fundus.width > 0)


def test_only_arteries_bend_and_only_veins_widen_by_disease(fundus: SimulatedFundus) -> None:
    for branch in fundus.branches:
        assert branch.dilation >= 1
        if branch.kind == "artery":
            assert branch.dilation == 1
        else:
            assert branch.amplitude < 0.6  # the natural sway
        assert branch.diseased == (branch.severity > 0)
        assert branch.tortuosity >= 1
        assert branch.parent < len(fundus.branches)


def test_every_branch_has_the_kind_of_its_parent_one_generation_on(fundus: SimulatedFundus) -> None:
    for branch in fundus.branches:
        if branch.parent < 0:
            assert branch.generation == 0
        else:
            parent = fundus.branches[branch.parent]
            assert (branch.kind, branch.generation) == (parent.kind, parent.generation + 1)


def test_severity_rises_from_class_to_class() -> None:
    def mean(label: int, name: str, kind: str) -> float:
        values = [
            getattr(branch, name)
            for fundus in FUNDI[label::3]
            for branch in fundus.branches
            if branch.kind == kind and branch.generation == 0
        ]
        return float(np.mean(values))

    for name, kind in (("curvature", "artery"), ("amplitude", "artery"), ("width", "vein")):
        normal, pre_plus, plus = (mean(label, name, kind) for label in range(3))
        assert normal < pre_plus < plus
    assert all(not f.relevance.any() for f in FUNDI[::3])
    assert all(f.relevance.any() for f in FUNDI if f.label)


def test_the_share_of_vessels_is_realistic_and_overlaps_between_classes() -> None:
    shares = np.array([(f.image > 0).mean() for f in FUNDI]).reshape(-1, 3)
    assert shares.min() > 0.03
    assert shares.max() < 0.13
    # The densest normal eye has more vessel than the sparsest eye with plus disease.
    assert shares[:, 0].max() > shares[:, 2].min()


def test_the_disc_is_nasal_and_the_macula_is_free() -> None:
    for fundus in FUNDI:
        roots = [i for i, branch in enumerate(fundus.branches) if branch.generation == 0]
        row, column = np.nonzero(np.isin(fundus.branch_ids, roots))
        bright = fundus.image[row, column] > 0.9
        side = np.median(column[bright]) - 111.5  # wide trunks are near the disc
        assert side > 0 if fundus.eye == "right" else side < 0


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32), index=st.integers(0, 10**6), label=st.integers(0, 2))
def test_any_seed_gives_an_eye(seed: int, index: int, label: int) -> None:
    fundus = simulate(seed, index, label)
    assert fundus.label == label
    assert 0.02 < (fundus.image > 0).mean() < 0.16
    assert len(fundus.branches) >= 8
    assert np.isfinite(fundus.image).all()


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(SSplainError, match=r"The label 3 is unknown; use one of 0 \(Normal\)"):
        simulate(0, 0, label=3)
