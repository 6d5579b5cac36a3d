"""What a job is: the same task and code, or it does not go on."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ssplain.errors import SSplainError
from ssplain.jobs.index import Index
from ssplain.models.card import find_card
from ssplain.work.task import Task, describe
from ssplain.work.worker import code_of, computed

LONG = 200  # letters of a value in a sentence


def identity(task: Task) -> dict[str, Any]:
    """Return all that the results of a job depend on besides the images."""
    plain = {"task": describe(task)["task"], "code": code_of(task), **computed(task.about)}
    return dict(json.loads(json.dumps(plain)))  # as the index will give it back


@contextmanager
def hold(path: Path, about: Mapping[str, Any]) -> Iterator[Index]:
    """Open a job's index for writing; a job of another identity is refused.

    Args:
        path: the index; a new one is removed again if nothing could be planned.
        about: from `identity`.
    """
    new = not path.exists()
    index = Index(path)
    try:
        if index.about("identity") is None:
            index.note(identity=about)
        require_same(path, index.about("identity"), about)
        yield index
    finally:
        empty = new and not any(index.counts().values())
        index.close()
        if empty:
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)


def require_same(path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Complain, naming what differs, if a job was started as something else.

    >>> require_same(Path("out/index.sqlite"), {"budget": 0.2}, {"budget": 0.3})
    Traceback (most recent call last):
        ...
    ssplain.errors.SSplainError: out was started with budget 0.2, and this is 0.3; put that back to
    go on, or give another --out to start anew.
    """
    flat_old, flat_new = _flat(old), _flat(new)
    changed = [
        f"{name} {_short(flat_old.get(name))}, and this is {_short(flat_new.get(name))}"
        for name in flat_old | flat_new
        if flat_old.get(name) != flat_new.get(name)
    ]
    if changed:
        more = f" ({len(changed) - 3} more differ)" if len(changed) > 3 else ""
        raise SSplainError(
            f"{path.parent} was started with {'; '.join(changed[:3])}{more}; put that back to go "
            "on, or give another --out to start anew."
        )


def classes_of_job(index: Index) -> tuple[str, ...]:
    """Return the names of the classes that a job's results speak of; none if they have none."""
    known = index.about("identity") or {}
    if "classes" in known:
        return tuple(known["classes"] or ())
    model = (index.about("task") or {}).get("fields", {}).get("model", "")
    card = find_card(str(model))
    return tuple(card.classes) if card else ()


def _short(value: object) -> str:
    """Return a value for a sentence; a model may have a thousand names."""
    text = repr(value)
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def _flat(about: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in about.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{name} ")
        else:
            flat[f"{before}{name}"] = value
    return flat
