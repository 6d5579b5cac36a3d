"""Prints constraints: the lowest versions that pyproject.toml allows to users, torch as pinned.

`make test-lowest` installs under them. What only tests need (the extra `dev`) stays free.
"""

import re
import tomllib
from pathlib import Path

TOP = Path(__file__).parents[1]
FREE = ("dev", "docs")


def constraints() -> list[str]:
    """Return `name==version` for every lower bound, and torch as `constraints.txt` has it."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra, names in project["optional-dependencies"].items():
        wanted += [] if extra in FREE else names
    lowest = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", one).groups() for one in wanted)  # type: ignore[union-attr, misc]
    pins = (TOP / "constraints.txt").read_text(encoding="utf-8")
    lowest["torch"] = re.search(r"^torch==(\S+)", pins, re.MULTILINE)[1]  # type: ignore[index]
    return [f"{name}=={version}" for name, version in sorted(lowest.items())]


if __name__ == "__main__":
    print("\n".join(constraints()))  # noqa: T201
