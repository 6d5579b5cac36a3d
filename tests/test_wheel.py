"""What is shipped: a small wheel that works in an empty environment, away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(TOP)]
    subprocess.run(command, check=True, capture_output=True)
    assert len(list(out.glob("*.tar.gz"))) == 1
    return next(out.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_is_small_and_whole(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    assert wheel.stat().st_size < 40e6  # weights and images included
    assert "ssplain/py.typed" in names
    assert any(name.endswith("lenet5-mnist/weights.safetensors") for name in names)
    assert not any(name.startswith(("tests", "docs", "examples")) for name in names)


@pytest.mark.slow
def test_an_empty_environment_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    apart = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    apart["PIP_CONSTRAINT"] = str(TOP / "constraints.txt")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True, env=apart)
    python = tmp_path / "empty" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "torch", str(wheel)]
    subprocess.run(install, check=True, env=apart, cwd=tmp_path)
    done = subprocess.run(
        [tmp_path / "empty" / "bin" / "ssplain", "demo", "--out", "demo"],
        env=apart,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "index.html").stat().st_size > 10_000
