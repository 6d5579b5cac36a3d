from dataclasses import replace
from pathlib import Path

from ssplain.study import StabilityStudy, Variant, declared, read_results
from ssplain.study.stability import group, run_stability
from tests.study.tiny import digits

VARIANTS = (
    Variant("steady", "ssplain-0", {"iterations": 8, "stable": True}),
    Variant("SSplain-0", "ssplain-0", {"iterations": 8}),
    Variant("Saliency", "saliency"),
)


def quick() -> StabilityStudy:
    study = declared("stability")
    assert isinstance(study, StabilityStudy)
    return replace(study, variants=VARIANTS, noisy=3, draws=1)


def test_what_stays_is_measured_written_and_kept(tmp_path: Path) -> None:
    record = run_stability(quick(), {"mnist": digits(5)}, tmp_path)
    assert record.images == 5
    assert record.seconds > 0
    found = read_results(tmp_path / "stability", "stability").found
    under, inserted = found[group("mnist")], found["insertion on mnist"]
    assert list(under) == ["steady", "SSplain-0", "Saliency"]
    assert list(inserted) == ["steady", "SSplain-0"]
    assert len(under["Saliency"].values["ranks-1e-3"]) == 3
    assert len(inserted["steady"].values["insertion"]) == 5
    overlap = {title: float(one.values["overlap-1e-6"].mean()) for title, one in under.items()}
    assert overlap["steady"] > 0.98
    assert overlap["Saliency"] > 0.98
    assert overlap["SSplain-0"] < overlap["steady"]
    # noise that is larger moves more
    moved = under["Saliency"].values
    assert float(moved["ranks-1e-3"].mean()) < float(moved["ranks-1e-6"].mean())
    files = {path.name for path in (tmp_path / "stability").iterdir()}
    assert {"stability.png", "stability-mnist.csv", "insertion-mnist.csv"} <= files
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    run_stability(quick(), {"mnist": digits(5)}, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()} == kept


def test_the_study_has_every_explainer_but_the_controls() -> None:
    methods = {variant.method for variant in declared("stability").variants}
    assert {"ssplain-0", "ssplain-1", "ssplain-ranking", "igos", "lime", "rise"} <= methods
    assert declared("stability").variants[0].settings == {"stable": True}
