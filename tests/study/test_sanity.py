import csv
from dataclasses import replace
from pathlib import Path

from ssplain.study import SanityStudy, Variant, declared, read_results
from ssplain.study.sanity import run_sanity
from tests.study.tiny import digits


def test_the_check_is_kept_stage_by_stage(tmp_path: Path) -> None:
    ours = Variant("SSplain-0", "ssplain-0", {"iterations": 5})
    study = declared("sanity")
    assert isinstance(study, SanityStudy)
    study = replace(study, datasets=("mnist",), variants=(ours,), seeds=(0, 1))
    scene = digits(3)
    told: list[float] = []
    record = run_sanity(
        study, scene, tmp_path, progress=lambda done, total, *_: told.append(done / total)
    )
    assert told[-1] == 1
    stages = read_results(tmp_path / "sanity", "sanity").found["stages"]
    assert list(stages) == ["trained", "full3", "full2", "full1", "conv2", "conv1"]
    assert stages["trained"].summary("spearman").value == 1
    assert stages["conv1"].summary("spearman").value < 1
    for one in stages.values():
        assert {"spearman", "spearman-start-fixed", "spearman-with-start"} <= set(one.values)
    assert [one.file for one in record.figures] == ["sanity.png"]
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    assert len(kept) == 1 + 2 * 5  # the trained network is the same for both seeds
    table = (tmp_path / "sanity/likeness.csv").read_bytes()
    run_sanity(study, scene, tmp_path)
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "store").iterdir()} == kept
    assert (tmp_path / "sanity/likeness.csv").read_bytes() == table
    rows = list(csv.DictReader((tmp_path / "sanity/logits.csv").read_text().splitlines()))
    assert len(rows) == 12
    assert float(rows[0]["logit variance"]) > 0
