import csv
from pathlib import Path

import torch

from ssplain.claims import CLAIMS, judge, tally, update_ledger
from ssplain.metrics import MEASURES, Evaluation
from ssplain.report.record import Record, read_ledger, write_record
from ssplain.study import STUDIES, Results, SanityStudy, StabilityStudy, TimesStudy
from ssplain.study.results import write_results
from ssplain.study.times import group

LABELS = torch.tensor([0, 0, 1, 1])


def full() -> dict[str, Results]:
    """Return results in which every number of every study is 0.5."""
    one = Evaluation.of_values(dict.fromkeys(MEASURES, torch.full((4,), 0.5).double()), LABELS)
    results = {}
    for study in STUDIES.values():
        titles = [variant.title for variant in study.variants]
        groups = ("all", "support", "kappa", "maps")
        found = {group: dict.fromkeys(titles, one) for group in groups}
        if isinstance(study, SanityStudy):
            found = {"stages": dict.fromkeys(("trained", "fc", "conv1"), one)}
        if isinstance(study, TimesStudy):
            found = {group(name): dict.fromkeys(titles, one) for name in study.datasets}
        if isinstance(study, StabilityStudy):
            kinds = [
                f"{kind} on {name}"
                for kind in ("stability", "insertion")
                for name in study.datasets
            ]
            found = {kind: dict.fromkeys(titles, one) for kind in kinds}
        results[study.name] = Results(study.name, 4, found)
    return results


def test_every_claim_can_be_judged() -> None:
    judgements = judge(CLAIMS, full())
    assert [judgement.number for judgement in judgements] == list(range(1, len(CLAIMS) + 1))
    assert len(CLAIMS) >= 25
    assert {judgement.study for judgement in judgements} >= set(STUDIES) - {"maps-rop"}
    assert len({judgement.claim for judgement in judgements}) == len(CLAIMS)
    for judgement in judgements:
        assert judgement.rule.endswith(".")
        assert judgement.why.endswith(".")
        assert judgement.measured.endswith(".")
    # equal numbers decide no difference
    assert {f.verdict for f in judgements if f.rule.count("paired difference excludes 0")} == {
        "undecided"
    }


def test_a_single_image_of_a_class_decides_nothing() -> None:
    """Its interval has no width, so that any difference would look certain."""
    ours, theirs = (
        Evaluation.of_values({"seconds": seconds}, torch.tensor([0, 1]))
        for seconds in (torch.tensor([1.0, 1.1]), torch.tensor([2.0, 2.2]))
    )
    times = {v.title: theirs for v in STUDIES["times"].variants} | {"SSplain-0": ours}
    judgements = judge(CLAIMS, {"times": Results("times", 2, {group("rop"): times})})
    measured = [judgement for judgement in judgements if judgement.verdict != "not measured"]
    assert measured
    assert {judgement.verdict for judgement in measured} == {"undecided"}
    assert all("Too few images" in judgement.measured for judgement in measured)
    twice = {
        name: Evaluation.of_values(
            {"seconds": one.values["seconds"].repeat(2)}, one.labels.repeat(2)
        )
        for name, one in times.items()
    }
    judged = judge(CLAIMS, {"times": Results("times", 4, {group("rop"): twice})})
    assert "holds" in {judgement.verdict for judgement in judged}


def test_a_study_that_was_not_run_is_told_from_what_it_has_not_measured() -> None:
    """The first leaves its claims out; the second lists them and says what is missing."""
    whole = full()["mnist"]
    values = dict(whole.found["all"]["SSplain-0"].values)
    del values["kappa"]
    less = {**whole.found["all"], "SSplain-0": Evaluation.of_values(values, LABELS)}
    judgements = judge(CLAIMS, {"mnist": Results("mnist", 4, {**whole.found, "all": less})})
    assert {judgement.study for judgement in judgements} == {"mnist"}
    (missing,) = [judgement for judgement in judgements if judgement.verdict == "not measured"]
    assert "brightness" in missing.claim
    assert missing.measured == "The study 'mnist' holds no 'kappa' of SSplain-0 (all)."
    assert "1 not measured" in tally(judgements)
    without = {title: one for title, one in whole.found["all"].items() if title != "LIME"}
    judgements = judge(CLAIMS, {"mnist": Results("mnist", 4, {"all": without})})
    assert {judgement.verdict for judgement in judgements} == {"not measured"}
    assert "of LIME (all)" in judgements[0].measured


def test_claims_of_studies_that_were_not_run_are_left_out() -> None:
    some = {"mnist": full()["mnist"]}
    judgements = judge(CLAIMS, some)
    assert judgements
    assert {judgement.study for judgement in judgements} == {"mnist"}
    assert judgements[0].number == next(
        n for n, claim in enumerate(CLAIMS, start=1) if claim.study == "mnist"
    )
    assert "left out" in tally(judgements)
    assert "left out" not in tally(judge(CLAIMS, full()))


def test_the_ledger_is_written_from_the_values_of_the_studies(tmp_path: Path) -> None:
    values = {m: torch.tensor([0.2, 0.21, 0.2, 0.21]) for m in ("deletion", "insertion")}
    found = {
        variant.title: Evaluation.of_values(
            {m: v + 0.01 * place for m, v in values.items()}
            | dict.fromkeys(("kappa", "settled"), torch.tensor([0.1, 0.2, 0.3, 0.4])),
            LABELS,
        )
        for place, variant in enumerate(STUDIES["mnist"].variants)
    }
    results = Results("mnist", 4, {"all": found})
    write_results(tmp_path / "mnist", results)
    assert update_ledger(tmp_path) == []  # without a record the study is not whole
    record = Record("mnist", "Digits", "Figure 5", "mnist", 4, {}, {}, 1.0)
    write_record(tmp_path / "mnist", record)
    judgements = update_ledger(tmp_path)
    assert read_ledger(tmp_path) == judgements
    verdicts = [judgement.verdict for judgement in judgements]
    # the first has the lowest of both: good in deletion, bad in insertion
    assert verdicts == ["holds", "does not hold", "undecided", "undecided"]
    rows = list(csv.DictReader((tmp_path / "ledger.csv").read_text().splitlines()))
    assert [row["verdict"] for row in rows] == verdicts
    assert rows[0]["images"] == "4"


def test_the_ledger_that_is_kept_holds_these_claims() -> None:
    """A claim or rule that is changed must be judged again before it is shown."""
    home = Path(__file__).parents[2] / "docs/results"
    kept = {one.number: one for one in read_ledger(home)}
    for judged in judge(CLAIMS, full()):
        if judged.number not in kept:
            assert not (home / judged.study).exists(), judged.number
            continue
        for name in ("claim", "where", "study", "rule"):
            assert getattr(kept[judged.number], name) == getattr(judged, name), judged.number
