import platform
import subprocess
import sys

import pytest

PASSES = """
import resource, torch
from ssplain.ask.batching import run_in_batches

def activations(_):
    held = [torch.zeros(2**20) for _ in range(8)]  # 4 MiB each, freed together

run_in_batches(activations, 1)
activations(None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    activations(None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do not care")
def test_memory_freed_by_a_pass_is_there_for_the_next() -> None:
    """Given back to the system and fetched again it would be 80,000 page faults."""
    command = [sys.executable, "-c", PASSES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000  # the heap may still grow a little
