import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import ssplain
from ssplain.explain import make
from ssplain.report.record import read_records
from ssplain.study import Variant, declared, read_results, run
from ssplain.study.work import passes
from tests.study.tiny import FAST, digits, quick, vessels


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_stopped_study_goes_on_without_repeating_maps(tmp_path: Path) -> None:
    study, scene = quick("mnist"), digits()

    def stop(_: float, __: float, text: str = "") -> None:
        if "Saliency, measures over all" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, scene, tmp_path, progress=stop)
    assert not (tmp_path / "mnist").exists()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    assert len(before) == 5  # maps of two explainers, both axes of the first, one of the second
    told: list[tuple[float, float]] = []
    run(study, scene, tmp_path, progress=lambda done, total, *_: told.append((done, total)))
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == 9
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == pytest.approx(told[-1][1])


def test_the_same_seed_gives_the_same_tables_and_drawings(tmp_path: Path) -> None:
    study, scene = quick("mnist"), digits()
    for home in ("a", "b"):
        run(study, scene, tmp_path / home)
    first, second = files(tmp_path / "a/mnist"), files(tmp_path / "b/mnist")
    for name in first:
        if name.endswith((".csv", ".svg", ".npz")):
            assert first[name] == second[name], name
    assert {name for name in first if name.endswith(".csv")} == {
        "measures-all.csv",
        "measures-support.csv",
        "curves-all.csv",
        "curves-support.csv",
    }


def test_quality_is_drawn_against_passes(tmp_path: Path) -> None:
    given = [
        Variant(f"SSplain-0, {count} passes", "ssplain-0", {"iterations": count})
        for count in (2, 3)
    ]
    study = replace(quick("passes"), variants=tuple(given))
    record = run(study, digits(), tmp_path)
    assert [one.file for one in record.figures] == ["passes.png"]
    assert (tmp_path / "passes/passes.svg").read_text().count("SSplain-0") == 1


def test_maps_are_drawn_and_how_alike_they_are(tmp_path: Path) -> None:
    record = run(quick("maps-mnist"), digits(), tmp_path)
    assert [one.file for one in record.figures] == ["maps.png", "maps-measures.png"]


def test_vessel_studies_show_all_their_parts(tmp_path: Path) -> None:
    study, scene = quick("rop"), vessels()
    record = run(study, scene, tmp_path)
    shown = {one.file for one in record.figures}
    assert shown == {
        "curves-all.png",
        "curves-support.png",
        "areas.png",
        "vessels.png",
        "vessels-normalised.png",
        "localisation.png",
    }
    for one in (*record.figures, *record.tables):
        assert (tmp_path / "rop" / one.file).stat().st_size > 0
        assert one.caption.endswith(".")
    for name in shown:
        assert (tmp_path / "rop" / name).with_suffix(".svg").exists()
    ((_, read),) = read_records(tmp_path)
    assert (read.name, read.figures, read.tables) == ("rop", record.figures, record.tables)
    stored = json.loads((tmp_path / "rop/record.json").read_text())
    assert stored["images"] == 3
    assert stored["settings"]["SSplain-0"]["iterations"] == 3
    assert stored["manifest"]["ssplain"] == ssplain.__version__
    assert stored["manifest"]["code"].keys() == {"measures", "SSplain-0", "Saliency", "Intensity"}
    assert len(set(stored["manifest"]["code"].values())) == 4
    found = read_results(tmp_path / "rop", "rop").found
    assert set(found) == {"all", "support", "kappa", "maps"}
    assert "average-precision-above-chance" in found["support"]["Saliency"].values


def test_maps_studies_leave_examples_and_use_the_maps_of_others(tmp_path: Path) -> None:
    scene = digits(12)
    run(quick("mnist"), scene, tmp_path)
    before = set((tmp_path / "store").iterdir())
    study = replace(quick("maps-mnist"), variants=FAST[:2], drawn=FAST[:2])
    record = run(study, scene, tmp_path)
    assert set((tmp_path / "store").iterdir()) == before
    assert record.examples == "examples.npz"
    with np.load(tmp_path / "maps-mnist/examples.npz") as kept:
        classes = sorted(set(scene.labels.tolist()))
        assert kept["images"].shape == (len(classes), 28, 28)
        assert kept["images"].dtype == np.uint8
        assert kept["scores"].shape == (len(classes), 2, 28, 28)
        assert kept["scores"].dtype == np.float32
        assert list(kept["names"]) == ["SSplain-0", "Saliency"]
        assert list(kept["titles"]) == [str(label) for label in classes]
        first = scene.labels.tolist().index(classes[0])
        maps = make("saliency", scene.model).attribute(
            scene.images[first : first + 1], scene.labels[first : first + 1]
        )
        expected = maps[0, 0] / maps.abs().max()
        np.testing.assert_allclose(kept["scores"][0, 1], expected, atol=1e-3)


@pytest.mark.parametrize("name", ["mnist", "predicted-mnist"])
def test_classes_that_a_study_asks_for_are_explained_and_true_ones_scored(
    name: str, tmp_path: Path
) -> None:
    scene = digits(4)
    wrong = replace(scene, labels=(scene.labels + 1) % 10)
    study = replace(quick(name), variants=(Variant("Saliency", "saliency"),))
    run(study, wrong, tmp_path)
    kept = next((tmp_path / "store").glob("saliency-????????????????.npz"))
    with np.load(kept) as stored:
        maps = torch.from_numpy(stored["maps"])
    asked = wrong.labels if name == "mnist" else scene.model(scene.images).argmax(1)
    torch.testing.assert_close(maps, make("saliency", scene.model).attribute(scene.images, asked))
    found = read_results(tmp_path / study.name, study.name).found["all"]["Saliency"]
    assert torch.equal(found.labels, wrong.labels)
    assert found.summary("insertion").value < 0.5


def test_other_settings_are_other_maps(tmp_path: Path) -> None:
    study, scene = quick("mnist"), digits(3)
    variants = tuple(
        Variant(f"{tv}", "ssplain-0", {"iterations": 3, "tv_weight": tv}) for tv in (0.0, 1.0)
    )
    run(replace(study, variants=variants, exhibits=("agreement",)), scene, tmp_path)
    assert len(list((tmp_path / "store").glob("ssplain-0-????????????????.npz"))) == 2
    found = read_results(tmp_path / "mnist", "mnist").found["maps"]
    assert found["0.0"].summary("agreement").value == pytest.approx(1)
    assert found["1.0"].summary("agreement").value < 0.999


def test_work_is_counted_in_passes() -> None:
    scene = digits(1)
    settings = {v.method: v.all_settings("mnist") for v in declared("mnist").variants}
    counted = {name: passes(own, name, scene) for name, own in settings.items()}
    assert counted["occlusion"] == 28 * 28
    assert counted["lime"] == 200
    assert counted["extremal-perturbation"] == 3 * 2 * 200
    assert counted["ssplain-0"] == 3 * 20
    assert counted["saliency"] == 3
    assert counted["integrated-gradients"] == 3 * 50
    once = {"iterations": 10, "objective": "preserve"}
    assert passes(once, "extremal-perturbation", scene) == 3 * 10
