"""A batch: numbers that are asked for late belong to their image, and so do their faults."""

from pathlib import Path

from ssplain.work.message import Batch
from ssplain.work.task import Item
from ssplain.work.worker import code_of, work
from tests.jobs.poison import Poison, write_files


def test_a_writer_asks_for_more_numbers_and_a_fault_there_is_its_images_alone(
    tmp_path: Path,
) -> None:
    folder = write_files(tmp_path / "in", a="good", b="late", c="good")
    paths = {name: str(folder / f"{name}.png") for name in "abc"}
    items = tuple(Item(i, p, p, where=name) for i, (name, p) in enumerate(paths.items()))
    task = Poison()
    found = {
        one.item.where: one
        for one in work(Batch(task, items, str(tmp_path / "out"), code_of(task))).outcomes
    }
    assert "b.png: ValueError: too late." in str(found["b"].error)
    assert not (tmp_path / "out" / "b").exists()
    for name in "ac":
        numbers = dict(found[name].numbers)
        assert numbers.pop("by").startswith("ThreadPoolExecutor")  # not the one that computes
        assert numbers == {"size": 6, "together": 3}
        assert found[name].bytes
