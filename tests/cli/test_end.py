import subprocess
import sys

# an exit handler that is registered first is called last, after the command's
_SCRIPT = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 0))
from ssplain.cli import main
sys.argv = ["ssplain", "--version"]
main()
"""


def test_commands_do_not_look_for_garbage_at_their_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "True"
