"""Tests of whole simulated images and their truth."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ssplain.errors import SSplainError
from ssplain.simulate import disease as simulate_disease
from ssplain.simulate.eye import SimulatedFundus, simulate
from ssplain.simulate.report import brightness

FUNDI = [simulate(seed=5, index=i) for i in range(18)]
MORE = [simulate(seed=6, index=i) for i in range(42)]


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
    assert 0.2 < fundus.image.max() <= 1


def test_truth_lies_on_the_vessels_and_nowhere_else(fundus: SimulatedFundus) -> None:
    assert (fundus.image[fundus.branch_ids >= 0] > 0).all()
    clutter = (fundus.branch_ids < 0) & (fundus.image > 0)
    assert clutter.sum() < 0.2 * (fundus.image > 0).sum()
    assert (fundus.relevance[fundus.branch_ids < 0] == 0).all()
    relevant = np.unique(fundus.branch_ids[fundus.relevance > 0])
    assert all(fundus.branches[i].diseased for i in relevant)


def test_maps_say_how_wide_and_bent_the_vessels_are() -> None:
    """The mean over the pixels of a vessel is about that over its samples."""
    pairs = []
    for fundus in FUNDI:
        drawn = fundus.branch_ids >= 0
        assert not fundus.width[~drawn].any()
        assert not fundus.curvature[~drawn].any()
        assert fundus.width[drawn].min() >= np.float32(1.1)
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
    monkeypatch.setattr(simulate_disease, "_DILATION", (0.0, 0.0))
    twin = simulate(seed=5, index=index)
    both = (fundus.branch_ids == twin.branch_ids) & (twin.width > 0)
    assert both.sum() > 0.7 * (fundus.width > 0).sum()
    ratio = fundus.width[both] / twin.width[both]
    # a few pixels belong to another place along the same vessel once it is wider
    assert np.isclose(fundus.dilation[both], ratio, rtol=1e-5).mean() > 0.95
    assert np.array_equal(fundus.dilation > 0, fundus.width > 0)


def test_branches_say_what_was_planted(fundus: SimulatedFundus) -> None:
    for branch in fundus.branches:
        assert branch.dilation >= 1
        assert branch.diseased == (branch.severity > 0)
        assert branch.arc_over_chord >= 1
        assert branch.parent < len(fundus.branches)


def test_without_disease_the_eye_is_the_same_in_all_else() -> None:
    for index in (2, 5, 8):
        ill, well = simulate(5, index), simulate(5, index, amount=0)
        assert (ill.label, well.amount, ill.eye) == (well.label, 0, well.eye)
        assert not well.relevance.any()
        assert len(ill.branches) == len(well.branches)
        for sick, sound in zip(ill.branches, well.branches, strict=True):
            assert (sick.kind, sick.parent, sick.wavelength) == (
                sound.kind,
                sound.parent,
                sound.wavelength,
            )
            assert sick.length > 0.9 * sound.length  # a twig may start where it is nearer
        # clutter and the light of the vessels are the same: brightness says nothing
        assert ill.image.max() == pytest.approx(well.image.max(), abs=0.08)
        lit = [float(fundus.image[fundus.image > 0].mean()) for fundus in (ill, well)]
        assert lit[0] == pytest.approx(lit[1], rel=0.12)


def test_the_amount_sets_the_label_and_the_windings() -> None:
    for label in range(3):
        assert simulate(5, label).amount == pytest.approx((0.05, 0.55, 1.3)[label], abs=0.31)
    bends = [
        np.mean([branch.curvature for branch in simulate(5, 3, amount=amount).branches])
        for amount in (0.0, 0.5, 1.0, 1.5)
    ]
    assert all(below < above for below, above in pairwise(bends))


def test_six_statistics_of_brightness_do_not_tell_the_grade() -> None:
    """A classifier must not be able to grade an eye by how bright or full it is."""
    rows = [brightness(fundus.image) for fundus in FUNDI + MORE]
    labels = [fundus.label for fundus in FUNDI + MORE]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    told = cross_val_predict(model, np.array(rows), labels, cv=5)
    assert balanced_accuracy_score(labels, told) < 0.55


def test_every_branch_has_the_kind_of_its_parent_one_generation_on(fundus: SimulatedFundus) -> None:
    for branch in fundus.branches:
        if branch.parent < 0:
            assert branch.generation == 0
        else:
            parent = fundus.branches[branch.parent]
            assert (branch.kind, branch.generation) == (parent.kind, parent.generation + 1)


def test_severity_rises_from_class_to_class() -> None:
    def mean(label: int, name: str) -> float:
        values = [getattr(b, name) for fundus in FUNDI[label::3] for b in fundus.branches]
        return float(np.mean(values))

    for name in ("curvature", "amplitude", "arc_over_chord"):
        normal, pre_plus, plus = (mean(label, name) for label in range(3))
        assert normal < pre_plus < plus
    assert all(not f.relevance.any() for f in FUNDI[::3])
    assert all(f.relevance.any() for f in FUNDI if f.label)


def test_number_of_vessels_and_light_spread_widely_in_every_grade() -> None:
    """The densest, brightest normal eye has more of it than the sparsest, dimmest plus eye."""
    eyes = FUNDI + MORE
    for measure in (
        [(f.image > 0).mean() for f in eyes],
        [f.image[f.image > 0].mean() for f in eyes],
        [len(f.branches) for f in eyes],
    ):
        by_grade = np.array(measure).reshape(-1, 3)
        assert by_grade[:, 0].max() > 1.5 * by_grade[:, 2].min()
        assert by_grade[:, 2].max() > 1.5 * by_grade[:, 0].min()


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32), index=st.integers(0, 10**6), label=st.integers(0, 2))
def test_any_seed_gives_an_eye(seed: int, index: int, label: int) -> None:
    fundus = simulate(seed, index, label)
    assert fundus.label == label
    assert 0.003 < (fundus.image > 0).mean() < 0.25
    assert len(fundus.branches) >= 1
    assert np.isfinite(fundus.image).all()


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(SSplainError, match=r"The label 3 is unknown; use one of 0 \(Normal\)"):
        simulate(0, 0, label=3)
