import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from ssplain.desk.queue import Queue, Task
from ssplain.jobs import worker
from ssplain.jobs.explaining import Explaining, ExplainingWorker
from ssplain.jobs.job import run
from ssplain.threads import one_core
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
