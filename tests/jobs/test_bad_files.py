"""Bad files among good ones: all good ones are done, each bad one is named with the reason."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.jobs.bad_files import BAD, write_bad
from tests.jobs.digits import COMMAND, MODEL, rows_of, write_digits

# root may read what it has locked, unless this is taken from it
AS_OTHERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@pytest.mark.parametrize(
    ("each", "good"),
    [(1, 40), pytest.param(10, 1900, marks=pytest.mark.slow)],  # the slow one: 5 % are bad
)
def test_good_images_are_done_and_bad_ones_named(tmp_path: Path, each: int, good: int) -> None:
    write_digits(tmp_path / "in", good)
    for i in range(each):
        write_bad(tmp_path / "in" / f"bad-{i}")
    root = os.geteuid() == 0
    if root and shutil.which("setpriv") is None:
        pytest.skip("root reads every file, and setpriv is not there to change that")
    command = [*(AS_OTHERS if root else ()), *COMMAND, "explain", tmp_path / "in", *MODEL]
    done = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    told = done.stderr.splitlines()
    rows = rows_of(tmp_path / "out")
    assert sum(row["status"] == "done" for row in rows) == good
    assert sum(row["status"] == "failed" for row in rows) == 10 * each
    for i in range(each):
        for name, (_, reason) in BAD.items():
            path = str(tmp_path / "in" / f"bad-{i}" / name)
            (row,) = (row for row in rows if row["path"] == path)
            assert reason in row["error"], row["error"]
            assert path in row["error"]
            assert any(path in line and reason in line for line in told)
