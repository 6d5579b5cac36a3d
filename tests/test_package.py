import re
import subprocess
import sys
from pathlib import Path

import pytest

import ssplain


def test_every_public_name_is_there() -> None:
    for name in ssplain.__all__:
        assert getattr(ssplain, name) is not None
    assert dir(ssplain) == sorted(ssplain.__all__)


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'explian'"):
        ssplain.explian  # noqa: B018


@pytest.mark.parametrize("start", ["import ssplain", "import ssplain.cli"])
def test_import_is_light(start: str) -> None:
    """PyTorch takes seconds to load; help and version must not wait for it."""
    code = f"import sys\n{start}\nprint({{'torch', 'captum', 'matplotlib'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_ssplain_does_not_wait_for_captum() -> None:
    """Only the two explainers that hook into a model need it."""
    code = "import sys\nfrom ssplain import SSplain\nprint({'captum'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_jobs_do_not_wait_for_figures() -> None:
    """They write pictures; matplotlib's figures take half a second to load."""
    code = (
        "import sys, ssplain.work.reading, ssplain.work.explaining\n"
        "print({'matplotlib.figure'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_explaining_does_not_load_the_compiler() -> None:
    """PyTorch loads it for any mode that watches operators, unless told not to; two seconds."""
    code = (
        "import sys, torch\nfrom ssplain import SSplain\n"
        "model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2))\n"
        "SSplain(model, iterations=2).explain(torch.rand(1, 1, 8, 8))\n"
        "print({'torch._dynamo', 'sympy', 'scipy.stats'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_quick_selection_for_other_versions_is_there() -> None:
    text = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    chosen = re.findall(r"tests/[\w/]+\.py", text[text.index("TOUCHED :=") : text.index("WITH :=")])
    assert len(chosen) > 10
    assert not [path for path in chosen if not (Path(__file__).parents[1] / path).is_file()]
