import csv
from pathlib import Path

import torch

from ssplain.metrics import MEASURES, Evaluation
from ssplain.report.record import Record, read_ledger, write_record
from ssplain.study import CLAIMS, STUDIES, Results, judge, tally, update_ledger
from ssplain.study.results import write_results
from ssplain.study.times import key

LABELS = torch.tensor([0, 0, 1, 1])


def full() -> dict[str, Results]:
    """Return results in which every number of every study is 0.5."""
    one = Evaluation.of_values(dict.fromkeys(MEASURES, torch.full((4,), 0.5).double()), LABELS)
    results = {}
    for study in STUDIES.values():
        titles = [variant.title for variant in study.variants]
        groups = ("all", "support", "kappa", "maps")
        found = {group: dict.fromkeys(titles, one) for group in groups}
        if study.kind == "sanity":
            found = {"stages": dict.fromkeys(("trained", "fc", "conv1"), one)}
        if study.kind == "times":
            keys = [key(d, title) for d in study.dataset.split(", ") for title in titles]
            found = {"times": dict.fromkeys(keys, one)}
        results[study.name] = Results(study.name, 4, found)
    return results


def test_every_claim_can_be_judged() -> None:
    findings = judge(CLAIMS, full())
    assert [finding.number for finding in findings] == list(range(1, len(CLAIMS) + 1))
    assert len(CLAIMS) >= 25
    assert {finding.study for finding in findings} >= set(STUDIES) - {"maps-rop"}
    assert len({finding.claim for finding in findings}) == len(CLAIMS)
    for finding in findings:
        assert finding.rule.endswith(".")
        assert finding.why.endswith(".")
        assert finding.measured.endswith(".")
    # equal numbers decide no difference
    assert {f.verdict for f in findings if f.rule.count("paired difference excludes 0")} == {
        "undecided"
    }


def test_a_single_image_of_a_class_decides_nothing() -> None:
    """Its interval has no width, so that any difference would look certain."""
    ours, theirs = (
        Evaluation({"seconds": seconds}, {}, torch.zeros(0), torch.tensor([0, 1]))
        for seconds in (torch.tensor([1.0, 1.1]), torch.tensor([2.0, 2.2]))
    )
    keys = {key("rop", v.title): theirs for v in STUDIES["times"].variants}
    few = Results("times", 2, {"times": keys | {key("rop", "SSplain-0"): ours}})
    findings = judge(CLAIMS, {"times": few})
    assert findings
    assert {finding.verdict for finding in findings} == {"undecided"}
    assert all("Too few images" in finding.measured for finding in findings)
    twice = {
        name: Evaluation(
            {"seconds": one.values["seconds"].repeat(2)}, {}, torch.zeros(0), one.labels.repeat(2)
        )
        for name, one in few.found["times"].items()
    }
    assert "holds" in {
        f.verdict for f in judge(CLAIMS, {"times": Results("times", 4, {"times": twice})})
    }


def test_claims_of_studies_that_were_not_run_are_left_out() -> None:
    some = {"mnist": full()["mnist"]}
    findings = judge(CLAIMS, some)
    assert findings
    assert {finding.study for finding in findings} == {"mnist"}
    assert findings[0].number == next(
        n for n, claim in enumerate(CLAIMS, start=1) if claim.study == "mnist"
    )
    assert "left out" in tally(findings)
    assert "left out" not in tally(judge(CLAIMS, full()))


def test_the_ledger_is_written_from_the_values_of_the_studies(tmp_path: Path) -> None:
    values = {m: torch.tensor([0.2, 0.21, 0.2, 0.21]) for m in ("deletion", "insertion")}
    found = {
        variant.title: Evaluation(
            {m: v + 0.01 * place for m, v in values.items()}
            | dict.fromkeys(("kappa", "settled"), torch.tensor([0.1, 0.2, 0.3, 0.4])),
            {},
            torch.zeros(0),
            LABELS,
        )
        for place, variant in enumerate(STUDIES["mnist"].variants)
    }
    results = Results("mnist", 4, {"all": found})
    write_results(tmp_path / "mnist", results)
    assert update_ledger(tmp_path) == []  # without a record the study is not whole
    record = Record("mnist", "Digits", "Figure 5", "mnist", 4, {}, {}, 1.0)
    write_record(tmp_path / "mnist", record)
    findings = update_ledger(tmp_path)
    assert read_ledger(tmp_path) == findings
    verdicts = [finding.verdict for finding in findings]
    # the first has the lowest of both: good in deletion, bad in insertion
    assert verdicts == ["holds", "does not hold", "undecided", "undecided"]
    rows = list(csv.DictReader((tmp_path / "ledger.csv").read_text().splitlines()))
    assert [row["verdict"] for row in rows] == verdicts
    assert rows[0]["images"] == "4"
