import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ssplain.errors import SSplainError
from ssplain.metrics import Evaluation
from ssplain.study import MapStudy, Results, Variant, read_results, reproduce, run
from ssplain.study.results import write_results
from tests.study.tiny import FAST, digits, quick


def study(name: str = "mnist") -> MapStudy:
    return replace(quick(name), variants=FAST[1:], exhibits=())


def drawn(name: str) -> MapStudy:
    return replace(quick(name), variants=FAST[1:], drawn=FAST[1:])


def tables(folder: Path) -> dict[str, bytes]:
    kinds = ("*.csv", "maps.svg", "examples.npz")
    return {path.name: path.read_bytes() for kind in kinds for path in folder.glob(kind)}


@pytest.mark.parametrize("name", ["mnist", "maps-mnist"])
def test_going_on_ends_where_one_run_would(name: str, tmp_path: Path) -> None:
    one = drawn(name)
    run(one, digits(9), tmp_path / "at once")
    run(one, digits(4), tmp_path / "in parts")
    store = tmp_path / "in parts/store"
    for piece in store.iterdir():  # another machine has none of it
        piece.unlink()
    record = run(one, digits(9), tmp_path / "in parts", go_on=True)
    assert record.images == 9
    assert all(drift == 0 for drift in record.manifest["drift"].values())
    assert [part["images"] for part in record.manifest["earlier"]] == [4]
    whole, parts = tables(tmp_path / "at once" / name), tables(tmp_path / "in parts" / name)
    assert whole.keys() == parts.keys()
    for file in whole:
        # curves are kept with seven digits; tables show fewer
        assert whole[file] == parts[file], file


def test_what_is_known_is_not_done_again(tmp_path: Path) -> None:
    run(study(), digits(6), tmp_path)
    for piece in (tmp_path / "store").iterdir():
        piece.unlink()
    told: list[tuple[float, float]] = []
    run(
        study(),
        digits(8),
        tmp_path,
        go_on=True,
        progress=lambda done, total, *_: told.append((done, total)),
    )
    done = [part for part, _ in told]
    assert done == sorted(done)
    assert told[-1][0] == pytest.approx(told[-1][1])
    pieces = (tmp_path / "store").glob("saliency-????????????????.npz")
    kept = [np.load(path, allow_pickle=False)["maps"] for path in pieces]
    assert sorted(map(len, kept)) == [1, 2]


def test_runs_add_up(tmp_path: Path) -> None:
    run(study(), digits(3), tmp_path)
    run(study(), digits(5), tmp_path, go_on=True)
    record = run(study(), digits(7), tmp_path, go_on=True)
    assert [part["images"] for part in record.manifest["earlier"]] == [3, 5]
    assert {"code", "torch", "python", "threads"} < record.manifest["earlier"][0].keys()
    assert len(read_results(tmp_path / "mnist", "mnist").found["all"]["Saliency"].labels) == 7


def test_a_finished_study_keeps_no_curves(tmp_path: Path) -> None:
    few = replace(study(), images=4)
    run(few, digits(4), tmp_path)
    found = read_results(tmp_path / "mnist", "mnist").found["all"]["Saliency"]
    assert found.values
    assert not found.curves
    with pytest.raises(SSplainError, match="kept no curves"):
        run(few, digits(5), tmp_path, go_on=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"variants": (Variant("Saliency", "saliency"), FAST[2])}, None),
        ({"variants": (Variant("Saliency", "input-x-gradient"), FAST[2])}, "other values"),
        ({"variants": (Variant("Inputs", "input-x-gradient"),)}, "other settings"),
        ({"targets": "predicted"}, "other settings"),
    ],
)
def test_only_the_same_study_goes_on(
    change: dict[str, object], words: str | None, tmp_path: Path
) -> None:
    run(study(), digits(3), tmp_path)
    other = replace(study(), **change)  # type: ignore[arg-type]
    if words is None:
        run(other, digits(4), tmp_path, go_on=True)
        return
    before = (tmp_path / "mnist/values.npz").read_bytes()
    with pytest.raises(SSplainError, match=words):
        run(other, digits(4), tmp_path, go_on=True)
    assert (tmp_path / "mnist/values.npz").read_bytes() == before


def test_other_images_seeds_and_models_do_not_go_on(tmp_path: Path) -> None:
    run(study(), digits(3), tmp_path)
    scene = digits(5)
    with pytest.raises(SSplainError, match="other images;"):
        run(study(), replace(scene, images=scene.images.flip(0)), tmp_path, go_on=True)
    with pytest.raises(SSplainError, match="other seed;"):
        run(study(), scene, tmp_path, seed=1, go_on=True)
    with pytest.raises(SSplainError, match="has 3 images already"):
        run(study(), digits(3), tmp_path, go_on=True)
    with pytest.raises(SSplainError, match="no earlier run"):
        run(study(), scene, tmp_path / "nowhere", go_on=True)
    path = tmp_path / "mnist/record.json"
    record = json.loads(path.read_text())
    record["manifest"]["model"]["sha256"] = "0"
    path.write_text(json.dumps(record))
    with pytest.raises(SSplainError, match="other model;"):
        run(study(), scene, tmp_path, go_on=True)


def test_values_that_moved_are_seen(tmp_path: Path) -> None:
    run(study(), digits(3), tmp_path)
    kept = read_results(tmp_path / "mnist", "mnist")
    found = {group: dict(by) for group, by in kept.found.items()}
    own = found["all"]["Saliency"]
    moved = {name: values + 0.3 for name, values in own.values.items()}
    found["all"]["Saliency"] = Evaluation(moved, own.curves, own.grid, own.labels)
    write_results(tmp_path / "mnist", Results("mnist", 3, found), curves=True)
    with pytest.raises(SSplainError, match="Saliency gives other values"):
        run(study(), digits(4), tmp_path, go_on=True)


OTHER = Variant(FAST[0].title, FAST[0].method, {"iterations": 4})
ADDED = Variant("Inputs", "input-x-gradient")


def test_what_has_other_settings_or_is_new_is_done_anew(tmp_path: Path) -> None:
    one = replace(quick("mnist"), variants=FAST[:3], exhibits=("curves",))
    run(one, digits(4), tmp_path)
    for piece in (tmp_path / "store").iterdir():
        piece.unlink()
    other = replace(one, variants=(OTHER, FAST[1], ADDED, FAST[2]))
    record = run(other, digits(7), tmp_path, go_on=True)
    assert record.manifest["drift"].keys() == {FAST[1].title, FAST[2].title}
    (part,) = record.manifest["earlier"]
    assert part["code"].keys() == {"measures", FAST[1].title, FAST[2].title}
    run(other, digits(7), tmp_path / "at once")
    assert tables(tmp_path / "mnist") == tables(tmp_path / "at once/mnist")
    found = read_results(tmp_path / "mnist", "mnist").found["support"]
    assert list(found) == [v.title for v in other.variants]


def test_maps_that_are_compared_with_each_other_are_all_done_anew(tmp_path: Path) -> None:
    one = replace(quick("mnist"), variants=FAST[:3], exhibits=("curves", "agreement"))
    run(one, digits(4), tmp_path)
    with pytest.raises(SSplainError, match="other settings"):
        run(replace(one, variants=(OTHER, *FAST[1:3])), digits(5), tmp_path, go_on=True)


def test_only_studies_of_maps_go_on(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="'times' cannot be gone on with"):
        reproduce("times", tmp_path, go_on=True)
