import json
import os
import shutil
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ssplain.errors import SSplainError
from ssplain.explain import Explanation
from ssplain.jobs.driver import State
from ssplain.jobs.index import NAME, Index
from ssplain.jobs.job import run
from ssplain.jobs.recheck import retry_failed
from ssplain.jobs.state import open_job
from ssplain.work import worker
from ssplain.work.explaining import Explaining
from ssplain.work.message import Batch, Worked
from tests.jobs.digits import QUICK, exported, results, write_digits
from tests.jobs.poison import Poison, write_files


@pytest.fixture(scope="module")
def dozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_digits(tmp_path_factory.mktemp("dozen"), 12)


@pytest.fixture
def digits(dozen: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(dozen, tmp_path / "in"))


def test_every_image_is_done_and_can_be_read_back(digits: Path, tmp_path: Path) -> None:
    told: list[State] = []
    summary = run(QUICK, [digits], tmp_path / "out", progress=told.append)
    assert summary.counts == (12, 0, 0)
    assert summary.fresh == 12
    assert told[0] == (0, 0, 12)
    assert told[-1] == (12, 0, 0)
    for name, row in exported(tmp_path / "out").items():
        stored = Explanation.load(tmp_path / "out" / row["file"])
        assert row["file"] == Path(name).stem
        assert row["status"] == "done"
        assert int(row["prediction"]) == int(stored.prediction[0])
        assert json.loads(row["probabilities"]) == pytest.approx(
            stored.probabilities[0].tolist(), abs=1e-5
        )
        assert float(row["kept_share"]) == pytest.approx(float(stored.kept_share[0]))


def test_the_first_batch_is_small_the_next_ones_grow_and_the_last_are_small_again(
    digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def work(batch: Batch) -> Worked:
        sizes.append(len(batch.items))
        return worker.work(batch)

    monkeypatch.setattr("ssplain.jobs.survey._FIRST", 2)
    monkeypatch.setattr("ssplain.jobs.driver.work", work)
    assert run(QUICK, [digits], tmp_path / "out").counts == (12, 0, 0)
    assert sorted(sizes) == [2, 3, 3, 4]


def test_what_is_done_is_not_done_again(digits: Path, tmp_path: Path) -> None:
    run(QUICK, [digits], tmp_path / "out")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.npz")}
    write_digits(digits, 15)  # three more, and the others written anew with the same content
    again = run(QUICK, [digits], tmp_path / "out")
    assert again.fresh == 3
    assert again.counts.done == 15
    after = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.npz")}
    assert before.items() <= after.items()


def test_maps_do_not_depend_on_how_images_were_put_into_batches(
    digits: Path, tmp_path: Path
) -> None:
    run(QUICK, [digits], tmp_path / "a")
    for path in sorted(digits.iterdir()):
        run(QUICK, [path], tmp_path / "b")
    maps_a, maps_b = ({k: v for k, v in results(tmp_path / n).items() if "npz" in k} for n in "ab")
    assert len(maps_a) == 12
    assert list(maps_a.values()) == list(maps_b.values())


def test_identical_images_are_explained_once(digits: Path, tmp_path: Path) -> None:
    shutil.copy(digits / "00003.png", digits / "copy.png")
    summary = run(QUICK, [digits], tmp_path / "out")
    assert summary.counts.done == 13
    assert summary.fresh == 12
    rows = exported(tmp_path / "out")
    assert rows["copy.png"]["file"] == rows["00003.png"]["file"]
    assert rows["copy.png"]["prediction"] == rows["00003.png"]["prediction"]
    shutil.copy(digits / "00003.png", digits / "later.png")
    later = run(QUICK, [digits], tmp_path / "out")
    assert (later.fresh, later.counts.done) == (0, 14)


def test_a_list_names_targets_and_ids(digits: Path, tmp_path: Path) -> None:
    (digits / "list.csv").write_text("path,target,id\n00000.png,3,left\n00000.png,5,right\n")
    summary = run(QUICK, [digits / "list.csv"], tmp_path / "out")
    assert summary.counts == (2, 0, 0)
    for name, target in (("left", 3), ("right", 5)):
        assert Explanation.load(tmp_path / "out" / name).target.tolist() == [target]


@pytest.mark.parametrize(
    ("change", "named"),
    [({"budget": 0.1}, "budget"), ({"model": "lenet5-fmnist", "preset": "mnist"}, "sha256")],
)
def test_a_job_does_not_go_on_as_another(
    digits: Path, tmp_path: Path, change: dict[str, object], named: str
) -> None:
    run(QUICK, [digits], tmp_path / "out")
    with pytest.raises(SSplainError, match=rf"{named}.*another --out"):
        run(replace(QUICK, **change), [digits], tmp_path / "out")  # type: ignore[arg-type]


def test_another_code_is_recognised(
    digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(QUICK, [digits], tmp_path / "out")
    monkeypatch.setattr(worker, "revision", lambda *_: "abc")
    with pytest.raises(SSplainError, match=r"code '.*', and this is 'ssplain \S+ abc on torch"):
        run(QUICK, [digits], tmp_path / "out")
    answer = worker.perform(Batch(QUICK, (), str(tmp_path), "ssplain 9.9 abc").written())
    with pytest.raises(SSplainError, match=r"started with ssplain 9\.9 abc; install the same"):
        Worked.read(answer)


def test_a_damaged_result_is_made_again(digits: Path, tmp_path: Path) -> None:
    run(QUICK, [digits], tmp_path / "out")
    whole = results(tmp_path / "out")
    cut = tmp_path / "out" / "00004" / "explanation.npz"
    cut.write_bytes(cut.read_bytes()[:100])
    (tmp_path / "out" / "00005" / "manifest.json").unlink()
    summary = run(QUICK, [digits], tmp_path / "out")
    # what is in the way is not as we wrote it, and is left alone
    assert summary.counts == (10, 2, 0)
    for name in ("00004", "00005"):
        shutil.rmtree(tmp_path / "out" / name)
    with Index(tmp_path / "out" / NAME) as index:
        assert retry_failed(index) == 2
    assert run(QUICK, [digits], tmp_path / "out").counts == (12, 0, 0)
    assert results(tmp_path / "out") == whole


def test_a_changed_image_is_explained_again(digits: Path, tmp_path: Path) -> None:
    run(QUICK, [digits], tmp_path / "out")
    before = results(tmp_path / "out")
    with Image.open(digits / "00002.png") as image:
        image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(digits / "00002.png")
    os.utime(digits / "00003.png")  # touched only
    assert run(QUICK, [digits], tmp_path / "out").fresh == 1
    after = results(tmp_path / "out")
    assert {k for k in before if before[k] != after[k]} == {
        f"00002/{name}" for name in ("explanation.npz", "manifest.json")
    }


def test_an_image_that_was_put_right_is_taken_up(digits: Path, tmp_path: Path) -> None:
    whole = (digits / "00001.png").read_bytes()
    (digits / "00001.png").write_bytes(whole[:50])
    assert run(QUICK, [digits], tmp_path / "out").counts == (11, 1, 0)
    assert run(QUICK, [digits], tmp_path / "out").counts == (11, 1, 0)
    (digits / "00001.png").write_bytes(whole)
    assert run(QUICK, [digits], tmp_path / "out").counts == (12, 0, 0)


def test_stop_ends_after_the_batch_that_is_computed(tmp_path: Path) -> None:
    files = write_files(tmp_path / "in", **{f"n{i}": f"file {i}" for i in range(6)})
    begun: list[float] = []

    def stop() -> bool:
        begun.append(time.monotonic())
        return begun[-1] > begun[0] + 0.4

    stopped = run(Poison(at_a_time=1, seconds=2.0), [files], tmp_path / "out", stop=stop)
    assert stopped.stopped
    assert stopped.counts.done <= 1, "the one that waits for the first is left undone"
    assert stopped.counts.failed == 0
    assert run(Poison(at_a_time=1), [files], tmp_path / "out").counts == (6, 0, 0)


def test_what_another_job_in_this_process_leaves_undone_is_done_all_the_same(
    tmp_path: Path,
) -> None:
    files = write_files(tmp_path / "in", **{f"n{i}": f"file {i}" for i in range(6)})
    done = threading.Event()

    def meddle() -> None:
        while not done.wait(0.02):
            worker.leave_waiting()  # as a job does that is stopped in another thread

    meddler = threading.Thread(target=meddle)

    def begin(state: State) -> None:
        if not state.done:
            meddler.start()
        elif state.done > 1:
            done.set()

    try:
        task = Poison(at_a_time=1, seconds=0.2)
        assert run(task, [files], tmp_path / "out", progress=begin).counts == (6, 0, 0)
    finally:
        done.set()
        meddler.join()


def test_a_second_writer_is_refused(digits: Path, tmp_path: Path) -> None:
    run(QUICK, [digits], tmp_path / "out")
    with (
        Index(tmp_path / "out" / NAME),
        pytest.raises(SSplainError, match="Another run works on"),
    ):
        run(QUICK, [digits], tmp_path / "out")


def test_results_go_where_fsspec_reaches(digits: Path, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/bucket"
    with pytest.raises(SSplainError, match="--index FILE"):
        run(QUICK, [digits], url)
    index = tmp_path / "local" / "index.sqlite"
    assert run(QUICK, [digits], url, index=index).counts == (12, 0, 0)
    assert Explanation.load(tmp_path / "bucket" / "00007").target.tolist()
    with open_job(tmp_path / "bucket") as copy:
        assert copy.counts()["done"] == 12
    index.unlink()  # a node that is gone: its index comes back from the copy
    again = run(QUICK, [digits], url, index=index)
    assert (again.fresh, again.counts.done) == (0, 12)


def test_folders_hold_at_most_a_thousand_entries(tmp_path: Path) -> None:
    digits = write_digits(tmp_path / "in", 1203)
    summary = run(Explaining("lenet5-mnist", iterations=1), [digits], tmp_path / "out")
    assert summary.counts.done == 1203
    entries = {p: len(list(p.iterdir())) for p in (tmp_path / "out").rglob("*") if p.is_dir()}
    assert max(entries.values()) == 1000
    assert len(list((tmp_path / "out").glob("part-*/*/manifest.json"))) == 1203
    assert len({row["file"] for row in exported(tmp_path / "out").values()}) == 1203


def test_odd_names_are_as_good_as_others(tmp_path: Path) -> None:
    digits = os.fsencode(write_digits(tmp_path / "in", 1))
    with open(digits + b"/00000.png", "rb") as file:  # noqa: PTH123 - bytes that are no text
        content = file.read()
    for name in (b"\xff\xfe.png", "äé 眼.png".encode(), b"a'b\"c.png"):
        with open(digits + b"/" + name, "wb") as file:  # noqa: PTH123
            file.write(content + name)
    with open(digits + b"/\xfabad.png", "wb") as file:  # noqa: PTH123
        file.write(b"words")
    assert run(QUICK, [tmp_path / "in"], tmp_path / "out").counts == (4, 1, 0)
    assert run(QUICK, [tmp_path / "in"], tmp_path / "out").fresh == 0
    rows = exported(tmp_path / "out")
    assert "\\udcfabad.png is not an image" in rows["\\udcfabad.png"]["error"]


def test_results_are_not_taken_for_images(digits: Path) -> None:
    task = replace(QUICK, pictures=True)
    for _ in range(2):
        assert run(task, [digits], digits / "out").counts == (12, 0, 0)
    (digits / "out" / NAME).unlink()
    assert run(task, [digits], digits / "more" / "out").counts == (12, 0, 0)


def test_an_index_of_somebody_else_is_left_alone(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with sqlite3.connect(tmp_path / "out" / NAME) as db:
        db.execute("CREATE TABLE mine (a)")
    before = (tmp_path / "out" / NAME).read_bytes()
    with pytest.raises(SSplainError, match="of another program"):
        run(QUICK, [digits], tmp_path / "out")
    assert (tmp_path / "out" / NAME).read_bytes() == before


def test_pages_are_images_of_their_own(digits: Path, tmp_path: Path) -> None:
    files = [Image.open(path) for path in sorted(digits.iterdir())[:3]]
    files[0].save(tmp_path / "stack.tif", save_all=True, append_images=files[1:])
    np.savez(tmp_path / "all.npz", images=np.stack([np.asarray(file) for file in files]))
    inputs = [tmp_path / "stack.tif", tmp_path / "all.npz"]
    assert run(QUICK, inputs, tmp_path / "out").counts == (6, 0, 0)
    assert run(QUICK, inputs, tmp_path / "out").fresh == 0
    for i in range(3):
        found = [Explanation.load(tmp_path / "out" / f"{n}-{i + 1}") for n in ("stack", "all")]
        assert torch.equal(found[0].scores, found[1].scores)


def test_nothing_to_do_is_a_mistake_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(SSplainError, match="holds no images"):
        run(QUICK, [tmp_path / "in"], tmp_path / "out")
    with pytest.raises(SSplainError, match="No file matches"):
        run(QUICK, [tmp_path / "*.png"], tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*")) if (tmp_path / "out").exists() else True
