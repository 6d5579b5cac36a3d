import pytest
from torch import nn

from ssplain.errors import SSplainError
from ssplain.explain.registry import make, names
from ssplain.study import STUDIES, MapStudy, declared
from ssplain.study.exhibits import EXHIBITS
from tests.explain.small import small

ITEMS = {
    1: ["rop"],
    2: ["mnist"],
    3: ["fmnist"],
    4: ["maps-rop", "maps-mnist", "maps-fmnist"],
    5: ["sanity"],
    6: ["ablation"],
    7: ["budgets"],
    8: ["norms"],
    9: ["extremal"],
    10: ["start"],
    11: ["predicted-rop", "predicted-mnist", "predicted-fmnist"],
    12: ["times"],
    13: ["ranking-mnist", "ranking-fmnist", "ranking-rop", "ranking-rop-slow", "passes"],
    14: ["stability"],
}


def test_every_figure_and_table_is_declared() -> None:
    assert {name for group in ITEMS.values() for name in group} == set(STUDIES)


def test_every_study_takes_as_many_images_as_the_paper() -> None:
    paper = {"rop": 100, "mnist": 500, "fmnist": 500}
    for study in STUDIES.values():
        assert study.images == sum(paper[name] for name in study.datasets), study.name


def test_comparisons_have_the_eleven_explainers_and_three_controls() -> None:
    for name in ("rop", "mnist", "fmnist", "predicted-rop", "predicted-mnist", "predicted-fmnist"):
        methods = [variant.method for variant in STUDIES[name].variants]
        assert len(methods) == len(set(methods)) == 14
        assert set(methods) <= set(names())
        assert methods[0] == "ssplain-0"


def test_every_part_that_a_study_shows_can_be_drawn() -> None:
    for study in STUDIES.values():
        if isinstance(study, MapStudy):
            assert set(study.exhibits) <= set(EXHIBITS), study.name
    shown = {part for s in STUDIES.values() if isinstance(s, MapStudy) for part in s.exhibits}
    assert shown == set(EXHIBITS)


def test_our_study_has_everybody_and_the_same_passes_are_given_to_all() -> None:
    methods = [variant.method for variant in STUDIES["ranking-mnist"].variants]
    assert set(names()) - set(methods) == {"ssplain-1", "random", "random-in-support"}
    eyes = {v.title: v.settings for v in STUDIES["ranking-rop"].variants}
    assert eyes["SSplain-ranking by branches"] == {"segments": "vessels"}
    # on eyes everybody is in one of two studies
    both = [v.method for n in ("ranking-rop", "ranking-rop-slow") for v in STUDIES[n].variants]
    assert set(both) == set(methods)
    assert sorted(both) == sorted([*methods, "ssplain-ranking", "ssplain-ranking"])
    passes = {v.title: v.settings for v in STUDIES["passes"].variants}
    assert len(passes) == 20
    counts = [title.rpartition(", ")[2] for title in passes]
    assert {count: counts.count(count) for count in counts} == {
        f"{count} passes": 5 for count in (40, 10, 20, 80)
    }
    assert passes["SSplain-ranking, 40 passes"] == {"iterations": 39}
    assert passes["Extremal Perturbation, 80 passes"] == {"iterations": 40}


def test_every_explainer_takes_its_settings() -> None:
    model = small(channels=3)
    model.add_module("inception5b", nn.Conv2d(3, 4, 1))  # the layer that the paper names
    for study in STUDIES.values():
        for variant in study.variants:
            for dataset in study.datasets:
                make(variant.method, model, seed=0, **variant.all_settings(dataset))
        titles = [variant.title for variant in study.variants]
        assert len(set(titles)) == len(titles)
        if isinstance(study, MapStudy):
            assert set(study.drawn) <= set(study.variants)


def test_settings_are_those_of_the_paper() -> None:
    budgets = [variant.all_settings("rop")["budget"] for variant in STUDIES["budgets"].variants]
    assert sorted(budgets) == [0.1, 0.125, 0.25, 0.5, 0.75]
    free, printed, converged = (v.all_settings("rop") for v in STUDIES["extremal"].variants)
    assert {"budget": 0.05, "iterations": 400, "support": None, "start": "ones"}.items() <= (
        free.items()
    )
    assert (free["tv_weight"], free["rho"], free["lr"]) == (1e-4, 0.01, 0.01)
    assert {**printed, "area_reduction": "sum"} == converged
    assert (printed["objective"], printed["step"], printed["smooth"]) == ("preserve", 1, 0.0001)
    intensity, ones = (v.all_settings("rop") for v in STUDIES["start"].variants)
    assert {**intensity, "start": "ones", "iterations": 400} == ones
    assert (STUDIES["rop"].images, STUDIES["mnist"].images) == (100, 500)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        SSplainError, match=r"no study 'tea'; choose one of: rop, .*times, .*stability, or"
    ):
        declared("tea")
