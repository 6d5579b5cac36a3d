"""Who computes with how many cores: one thread of a process with all, the others with one each."""

import os
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_SPINS = "3000"  # turns of a waiting thread before it sleeps; by default 300,000


@contextmanager
def one_core() -> Iterator[int]:
    """Let this thread, and those that it starts meanwhile, compute with one core each.

    PyTorch gives every thread of a process that computes a team of its own, as large as the
    machine. Once the teams together have more members than there are cores, OpenMP sends members
    to sleep whenever they wait, and the system wakes two of them on the same core: an eye that took
    5 seconds on two cores took 9 to 13. So one thread computes, with all cores, and what others do
    on the side (reading, resizing, a quick question) they do with one.

    Yields:
        How many cores this thread had, for the one that computes; see `use_cores`.

    >>> import torch
    >>> with one_core():
    ...     torch.get_num_threads()
    1
    """
    import torch  # noqa: PLC0415 - what moves work about, such as a scheduler, does without

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield before
    finally:
        torch.set_num_threads(before)


def use_cores(cores: int) -> None:
    """Let this thread compute with so many cores, whatever others are told later.

    >>> import torch
    >>> use_cores(torch.get_num_threads())
    """
    import torch  # noqa: PLC0415 - as above

    torch.set_num_threads(cores)
    # a thread takes the process's latest number when it is first asked for its own
    torch.get_num_threads()


@contextmanager
def beside(work: Callable[[], T]) -> Iterator[Future[T]]:
    """Have something computed while this thread computes something else, each with half the cores.

    Two pieces of work with a core each are done sooner than one after the other with two cores:
    on small images a core waits for the other most of the time, and for much longer where another
    program takes one of them. With a single core the work is done first.

    Args:
        work: what is computed meanwhile; must not touch what this thread uses.

    Yields:
        What becomes of it. At the end of the block it is done.

    >>> with beside(lambda: 6 * 7) as answer:
    ...     question = "six times seven"
    >>> answer.result()
    42
    """
    import torch  # noqa: PLC0415 - as above

    cores = torch.get_num_threads()
    if cores == 1:
        done: Future[T] = Future()
        done.set_result(work())
        yield done
        return
    with ThreadPoolExecutor(1, "beside", use_cores, (cores // 2,)) as other:
        meanwhile = other.submit(work)
        torch.set_num_threads(cores - cores // 2)
        try:
            yield meanwhile
        finally:
            torch.set_num_threads(cores)


def wait_briefly(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let OpenMP's threads sleep soon when they wait for each other; before PyTorch is loaded.

    By default they keep their cores busy while they wait, for milliseconds, also where another
    program wants these cores and the one they wait for does not get any. Measured on two cores,
    the explanation of an eye: 110 seconds beside other work on both, and 17 so (one run each, under
    a load that was not held); on a machine that was nearly idle 3.7 and 4.7, against 4.5 and 4.3
    so, and 6.3 and 10.2 where threads sleep at once. What the user has set stays.

    Args:
        environment: where GNU's OpenMP, which PyTorch brings, looks for its settings.

    >>> settings = {}
    >>> wait_briefly(settings)
    >>> settings
    {'GOMP_SPINCOUNT': '3000'}
    """
    if "OMP_WAIT_POLICY" not in environment:
        environment.setdefault("GOMP_SPINCOUNT", _SPINS)
