"""Who computes with how many cores: one thread of a process with all, the others with one each."""

from collections.abc import Iterator
from contextlib import contextmanager


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
