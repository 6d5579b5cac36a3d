"""The collector of reference cycles, kept from looking through what stays to the end."""

import atexit
import gc

_NEW = 10_000  # objects made before it looks; Python's own 700 suit programs that load little


def collect_rarely() -> None:
    """Let the collector run rarely in this process, and not at all at its end.

    PyTorch and SciPy make half a million objects when they are loaded, and all of them stay. The
    collector looks through them again and again meanwhile, and once more when Python ends. Measured
    on two cores, one photograph by `ssplain read`: 15.4 to 16.8 seconds in five runs, the last of
    them after everything was written; 12.8 to 14.6 in eight so. Memory stays what it was.

    >>> before = gc.get_threshold()
    >>> collect_rarely()
    >>> gc.get_threshold()[0]
    10000
    >>> gc.set_threshold(*before)
    """
    gc.set_threshold(_NEW)
    # what is frozen is not looked through; the system takes back all memory anyway
    atexit.register(gc.freeze)
