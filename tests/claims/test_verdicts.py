import pytest
import torch

from ssplain.claims.verdicts import (
    FAILS,
    HOLDS,
    OPEN,
    ahead,
    both,
    every_stage,
    level,
    no_worse,
    side,
    standing,
    together,
)
from ssplain.metrics import Evaluation, Interval
from ssplain.study.kinds import Variant
from ssplain.study.results import Results

A, B, C = (Variant(name, "saliency") for name in "abc")
LABELS = torch.tensor([0] * 6 + [1] * 6)
SPREAD = torch.tensor([-0.1, -0.05, 0.0, 0.0, 0.05, 0.1] * 2).double()


def made(**means: float) -> Results:
    """Return results in which each explainer is its mean, spread alike over the images."""
    named = {
        name: Evaluation(
            {"insertion": mean + SPREAD, "deletion": mean + SPREAD, "kappa": mean + SPREAD},
            {},
            torch.zeros(0),
            LABELS,
        )
        for name, mean in means.items()
    }
    return Results("mnist", 12, {"all": named})


def shuffled(results: Results, name: str) -> Results:
    """Turn the images of one explainer round, so that its differences to others spread."""
    one = results.found["all"][name]
    values = {measure: own.flip(0) for measure, own in one.values.items()}
    other = Evaluation(values, {}, one.grid, one.labels)
    return Results("mnist", 12, {"all": {**results.found["all"], name: other}})


def test_better_than_all_holds() -> None:
    judged = ahead(A, (B, C), "insertion").judge(made(a=0.9, b=0.8, c=0.5))
    assert judged.verdict == HOLDS
    assert "ahead of 2 of 2; nearest is b, by 0.100 [0.100, 0.100]" in judged.measured


def test_worse_than_one_does_not_hold_and_is_named() -> None:
    judged = ahead(A, (B, C), "insertion").judge(made(a=0.7, b=0.8, c=0.5))
    assert judged.verdict == FAILS
    assert "ahead of 1 of 2; behind b by 0.100 [0.100, 0.100]" in judged.measured


def test_low_is_good_in_deletion() -> None:
    test = ahead(A, (B,), "deletion")
    assert test.judge(made(a=0.1, b=0.3)).verdict == HOLDS
    assert test.judge(made(a=0.3, b=0.1)).verdict == FAILS
    assert "lower than that of b" in test.rule


def test_an_interval_over_zero_is_undecided() -> None:
    results = shuffled(made(a=0.80, b=0.79, c=0.1), "b")
    judged = ahead(A, (B, C), "insertion").judge(results)
    assert judged.verdict == OPEN
    assert "too close to call with b (0.010 [-" in judged.measured


def test_what_is_left_within_the_support_is_told() -> None:
    found = made(a=0.9, b=0.8).found["all"]
    turned = {"a": found["b"], "b": found["a"]}
    results = Results("mnist", 12, {"all": found, "support": turned})
    judged = ahead(A, (B,), "insertion").judge(results)
    assert judged.verdict == HOLDS
    assert "within the support alone: ahead of 0 of 1; behind b" in judged.measured


@pytest.mark.parametrize(
    ("ours", "verdict"), [(0.795, HOLDS), (0.8, HOLDS), (0.75, FAILS), (0.79, OPEN)]
)
def test_as_good_as_another_within_a_margin(ours: float, verdict: str) -> None:
    results = made(a=ours, b=0.8)
    if verdict == OPEN:
        results = shuffled(results, "a")
    assert no_worse(A, B, ("insertion", "kappa")).judge(results).verdict == verdict


@pytest.mark.parametrize(("mean", "verdict"), [(0.99, HOLDS), (0.5, FAILS), (0.9, OPEN)])
def test_a_level_is_reached_with_the_whole_interval(mean: float, verdict: str) -> None:
    results = made(a=mean)
    assert level(A, "insertion", "all", least=0.9).judge(results).verdict == verdict
    turned = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[verdict]
    assert level(A, "insertion", "all", most=0.9).judge(results).verdict == turned


def stages(*means: float) -> Results:
    names = ("trained", "fc", "conv")
    found = {
        name: Evaluation({"spearman": mean + SPREAD / 10}, {}, torch.zeros(0), LABELS)
        for name, mean in zip(names, means, strict=True)
    }
    return Results("sanity", 12, {"stages": found})


def test_every_stage_must_differ_but_the_first() -> None:
    test = every_stage("spearman", 0.9)
    assert test.judge(stages(1.0, 0.5, 0.1)).verdict == HOLDS
    judged = test.judge(stages(1.0, 0.99, 0.1))
    assert judged.verdict == FAILS
    assert "above 0.9 after fc" in judged.measured
    assert "0.990 [" in judged.measured.partition("after fc")[0]
    assert ", 0.100 [" in judged.measured
    assert test.judge(stages(1.0, 0.9, 0.1)).verdict == OPEN


def test_parts_are_judged_together() -> None:
    test = both(ahead(A, (B,), "insertion"), ahead(A, (B,), "deletion"))
    judged = test.judge(made(a=0.9, b=0.8))
    assert judged.verdict == FAILS
    assert judged.measured.count("ahead of") == 2
    assert " And: " in test.rule
    assert together([HOLDS, HOLDS]) == HOLDS
    assert together([OPEN, HOLDS]) == OPEN
    assert together([OPEN, FAILS]) == FAILS


def test_sides_and_words() -> None:
    assert side(Interval(0.0, -0.5, 0.0)) == OPEN
    assert standing({"x": Interval(0.0, -1.0, 1.0)}) == (
        "ahead of 0 of 1; too close to call with x (0.000 [-1.000, 1.000])"
    )
    with pytest.raises(ValueError, match="least= or most="):
        level(A, "insertion", "all")
