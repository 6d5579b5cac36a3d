"""Shows which few, connected pixels an image classifier's decision rests on.

Names are loaded when they are first used, so that `import ssplain` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ssplain.version import __version__

if TYPE_CHECKING:
    from ssplain import bench, data, explain, fundus, metrics, models, prox, report, solve, vessels
    from ssplain.errors import SSplainError
    from ssplain.explain import Explanation, SSplain, preset
    from ssplain.reading import Reading, read

_HOMES = {
    "Explanation": "ssplain.explain",
    "SSplain": "ssplain.explain",
    "SSplainError": "ssplain.errors",
    "preset": "ssplain.explain",
    "Reading": "ssplain.reading",
    "read": "ssplain.reading",
}
_ROOMS = (
    "bench",
    "data",
    "explain",
    "fundus",
    "metrics",
    "models",
    "prox",
    "report",
    "solve",
    "vessels",
)

__all__ = [
    "Explanation",
    "Reading",
    "SSplain",
    "SSplainError",
    "__version__",
    "bench",
    "data",
    "explain",
    "fundus",
    "metrics",
    "models",
    "preset",
    "prox",
    "read",
    "report",
    "solve",
    "vessels",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name may come out
    if name in _ROOMS:
        return importlib.import_module(f"ssplain.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ssplain' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
