import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from ssplain.desk.queue import Queue, Task
from ssplain.jobs.job import run
from ssplain.threads import beside, one_core
from ssplain.work import worker
from ssplain.work.explaining import Explaining, ExplainingWorker
from tests.jobs.digits import write_digits

CORES = 3  # a number that no machine has by chance


@pytest.fixture(autouse=True)
def _cores() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(CORES)
    worker._computer.cache_clear()
    yield
    worker._computer.cache_clear()
    torch.set_num_threads(before)


def test_one_thread_of_a_job_computes_with_all_cores_and_files_are_handled_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[tuple[int, int]]] = {"read": set(), "work": set()}

    def watch(name: str) -> None:
        plain = getattr(ExplainingWorker, name)

        def watched(self: ExplainingWorker, *args: Any) -> Any:  # noqa: ANN401
            if threading.current_thread() is not threading.main_thread():
                seen[name].add((torch.get_num_threads(), threading.get_ident()))
            return plain(self, *args)

        monkeypatch.setattr(ExplainingWorker, name, watched)

    watch("read")
    watch("work")
    digits = write_digits(tmp_path / "in", 12)
    run(Explaining("lenet5-mnist", iterations=2, batch_size=3), [digits], tmp_path / "out")
    assert {cores for cores, _ in seen["read"]} == {1}
    assert {cores for cores, _ in seen["work"]} == {CORES}
    assert len(seen["work"]) == 1, "a second thread that computes has a team of its own"
    assert torch.get_num_threads() == CORES


def test_the_rooms_worker_keeps_all_cores_when_requests_have_one() -> None:
    found: list[int] = []

    def work(_: Task) -> None:
        found.append(torch.get_num_threads())

    line = Queue()
    with one_core() as cores:
        request = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
        request.start()
        request.join()
        line.join(line.submit(work, "me"))
    line.close()
    assert (cores, found) == (CORES, [1, CORES])


def where() -> tuple[int, int]:
    return torch.get_num_threads(), threading.get_ident()


def test_two_pieces_of_work_share_the_cores() -> None:
    started = threading.Event()

    def work() -> tuple[int, int]:
        assert started.wait(30), "the block did not run meanwhile"
        return where()

    with beside(work) as other:
        started.set()
        here = where()
    (their_cores, them), (our_cores, us) = other.result(), here
    assert them != us
    assert their_cores + our_cores == CORES
    assert torch.get_num_threads() == CORES


def test_a_single_core_does_one_after_the_other() -> None:
    torch.set_num_threads(1)
    with beside(where) as other:
        assert other.done()
    assert other.result() == where()


def test_cores_come_back_whatever_happens() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with beside(fail) as other:
        pass
    with pytest.raises(ZeroDivisionError):
        other.result()
    with pytest.raises(KeyError), beside(where):
        raise KeyError
    assert torch.get_num_threads() == CORES
