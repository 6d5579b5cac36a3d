"""The line before the one worker."""

from collections.abc import Callable
from threading import Event

import pytest

from ssplain.desk.queue import Queue, Task
from ssplain.errors import SSplainError


def hold(gate: Event, started: Event | None = None) -> Callable[[Task], None]:
    def work(task: Task) -> None:
        if started:
            started.set()
        gate.wait(30)
        task.tell("after the gate", 0.5)

    return work


def test_one_task_runs_at_a_time_in_the_order_of_asking() -> None:
    line, gate, started = Queue(), Event(), Event()
    order: list[int] = []
    first = line.submit(hold(gate, started), "a")

    def note(number: int) -> Callable[[Task], None]:
        return lambda _: order.append(number)

    others = [line.submit(note(i), f"b{i}") for i in range(3)]
    started.wait(30)
    assert [line.position(task) for task in (first, *others)] == [0, 1, 2, 3]
    gate.set()
    line.join(others[-1], 30)
    assert order == [0, 1, 2]
    line.close()


def test_the_line_is_bounded_for_all_and_for_each() -> None:
    line, gate, started = Queue(longest=3, each=2), Event(), Event()
    line.submit(hold(gate, started), "a")
    started.wait(30)
    line.submit(hold(gate), "a")
    with pytest.raises(SSplainError, match="wait for one to finish"):
        line.submit(hold(gate), "a")
    line.submit(hold(gate), "b")
    line.submit(hold(gate), "c")
    with pytest.raises(SSplainError, match="wait for one to finish"):
        line.submit(hold(gate), "d")
    gate.set()
    line.close()


def test_a_running_task_stops_at_its_next_report_and_a_waiting_one_at_once() -> None:
    line, gate, started = Queue(), Event(), Event()
    running = line.submit(hold(gate, started), "a")
    waiting = line.submit(hold(gate), "a")
    started.wait(30)
    line.stop(waiting)
    assert waiting.state == "stopped"
    line.stop(running)
    states = [running.state]
    gate.set()
    line.join(running, 30)
    assert [*states, running.state] == ["running", "stopped"]
    assert running.done == 0.0  # the report that stopped it was not taken down
    line.close()


def test_a_fault_is_told_in_a_sentence_and_the_worker_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    line = Queue()

    def mistake(_: Task) -> None:
        raise SSplainError("Give another image.")

    def bug(_: Task) -> None:
        raise ZeroDivisionError("secret path /home/x")

    asked, broken = line.submit(mistake, "a"), line.submit(bug, "b")
    last = line.submit(lambda task: task.tell("fine", 1.0), "c")
    line.join(last, 30)
    assert (asked.state, asked.message) == ("failed", "Give another image.")
    assert broken.state == "failed"
    assert "secret" not in broken.message
    assert "secret" in caplog.text
    assert last.state == "done"
    line.close()


def test_idle_work_waits_for_the_tasks() -> None:
    left, gate = [3], Event()

    def idle() -> bool:
        left[0] -= left[0] > 0
        if not left[0]:
            gate.set()
        return left[0] > 0

    line = Queue(idle=idle)
    assert gate.wait(30)
    task = line.submit(lambda _: None, "a")
    line.join(task, 30)
    assert task.state == "done"
    line.close()


def test_what_is_left_for_later_gives_way_and_is_begun_anew() -> None:
    line, begun, gate = Queue(), Event(), Event()
    order: list[str] = []

    def check(task: Task) -> None:
        order.append("check")
        begun.set()
        gate.wait(30)
        task.tell("checking", 0.9)
        order.append("checked")

    def first(_: Task) -> Callable[[Task], None]:
        order.append("map")
        return check

    one = line.submit(first, "a")
    assert begun.wait(30)
    two = line.submit(lambda _: order.append("another's map"), "b")
    assert (line.position(two), line.position(one)) == (0, 0)
    gate.set()
    line.join(one, 30)
    assert order == ["map", "check", "another's map", "check", "checked"]
    assert (one.state, two.state, one.done) == ("done", "done", 1.0)
    line.close()


def test_what_is_left_for_later_can_be_stopped_while_it_waits() -> None:
    line, begun, gate = Queue(), Event(), Event()

    def other(_: Task) -> None:
        begun.set()
        gate.wait(30)

    def first(_: Task) -> Callable[[Task], None]:
        line.submit(other, "b")
        return lambda task: task.tell("never", 1.0)

    one = line.submit(first, "a")
    assert begun.wait(30)
    assert (one.state, line.position(one)) == ("waiting", 1)
    line.stop(one)
    gate.set()
    line.join(one, 30)
    assert (one.state, one.stage) == ("stopped", "")
    line.close()
