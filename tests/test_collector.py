import subprocess
import sys

# an exit handler that is registered first is called last, after the collector's
_SCRIPT = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_threshold()[0], gc.get_freeze_count() > 0))
from ssplain.cli import main
sys.argv = ["ssplain", "--version"]
main()
"""


def test_commands_collect_rarely_and_not_at_their_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "10000 True"
