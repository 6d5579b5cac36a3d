"""Things that can be found by name, and added to from outside the package.

A register holds what the package brings, what a program adds by a call, and what installed packages
announce under an entry point group. These are looked up when a name is first asked for, so nothing
foreign is imported before it is needed.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, Protocol, TypeVar

from ssplain.errors import SSplainError


class Named(Protocol):
    """Whatever has a name."""

    @property
    def name(self) -> str:
        """How it is asked for."""
        ...


T = TypeVar("T", bound=Named)


class Register(Mapping[str, T], Generic[T]):
    """Things of one kind by their names, in the order in which they came.

    Args:
        what: the kind, in the singular, for messages.
        group: of the entry points; each is one thing of this kind.
        kind: what every entry must be an instance of.
        own: what the package brings.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Tea:
    ...     name: str
    >>> teas = Register("tea", "example.teas", Tea, [Tea("green")])
    >>> teas.add(Tea("black")).name, list(teas)
    ('black', ['green', 'black'])
    >>> teas.find("white")
    Traceback (most recent call last):
    ssplain.errors.SSplainError: There is no tea 'white'; choose one of: green, black.
    """

    def __init__(self, what: str, group: str, kind: type[Any], own: Iterable[T] = ()) -> None:
        self.what, self.group, self.kind = what, group, kind
        self._entries: dict[str, T] = {}
        self._asked = False
        for entry in own:
            self.add(entry)

    def add(self, given: T | type[T]) -> T:
        """Add one thing, or a class of which one is made; its name must be new."""
        entry = given() if isinstance(given, type) else given
        if not isinstance(entry, self.kind) or not isinstance(entry.name, str) or not entry.name:
            raise SSplainError(
                f"{entry!r} is no {self.what}; give an instance of "
                f"{self.kind.__module__}.{self.kind.__qualname__} with a name."
            )
        if entry.name in self._entries:
            raise SSplainError(
                f"The {self.what} {entry.name!r} is there already; give yours another name."
            )
        self._entries[entry.name] = entry
        return entry

    def remove(self, name: str) -> None:
        """Take one thing out again."""
        del self._entries[self.find(name).name]

    def find(self, name: str) -> T:
        """Return the thing of this name, or complain with the names that there are."""
        if name not in self:
            raise SSplainError(
                f"There is no {self.what} {name!r}; choose one of: {', '.join(self)}."
            )
        return self[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            self._ask_installed()
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._ask_installed()
        return iter(list(self._entries))

    def __len__(self) -> int:
        self._ask_installed()
        return len(self._entries)

    def _ask_installed(self) -> None:
        """Add what installed packages announce, once; a broken one is told of and left out."""
        if self._asked:
            return
        self._asked = True
        for point in entry_points(group=self.group):
            try:
                self.add(point.load())
            except Exception as error:  # noqa: BLE001 - whatever a foreign package does
                warnings.warn(
                    f"The {self.what} {point.name!r} of the entry point {point.value!r} is left "
                    f"out: {error}",
                    stacklevel=3,
                )
