"""What a study leaves behind: its figures and tables with how they came about, and its judgements.

A folder of studies holds one folder per study with a `record.json`, and a `ledger.json` with what
was found about each claim. Everything that a reader is shown comes from these files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from ssplain.errors import SSplainError
from ssplain.files import write_whole

_T = TypeVar("_T")
Verdict = Literal["holds", "does not hold", "undecided", "not measured"]
RECORD, LEDGER = "record.json", "ledger.json"


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a study: its file in the study's folder and what it shows."""

    file: str
    caption: str


@dataclass(frozen=True)
class Record:
    """One study.

    Attributes:
        name: as on the command line.
        title: for readers.
        where: the figures, tables or sections of the paper that it repeats.
        dataset: "mnist", "fmnist" or "rop".
        images: how many.
        settings: what it was run with, by name.
        manifest: versions, fingerprints of model and images, seed.
        seconds: of computing, those of pieces that were found done included.
        figures: files of pictures, each as a PNG and an SVG; the PNG is named here.
        tables: CSV files.
        examples: an .npz file with example maps: `images` (n, H, W) bytes, `titles` (n,), `names`
            (E,) of explainers and `scores` (n, E, H, W) float32; None if there are none.
    """

    name: str
    title: str
    where: str
    dataset: str
    images: int
    settings: Mapping[str, Any]
    manifest: Mapping[str, Any]
    seconds: float
    figures: tuple[Exhibit, ...] = ()
    tables: tuple[Exhibit, ...] = ()
    examples: str | None = None


@dataclass(frozen=True)
class Judgement:
    """What was found about one claim of the paper.

    Attributes:
        number: place in the ledger, from 1.
        claim: what the paper says, in other words.
        where: in the paper.
        rule: what must be true of the numbers for the claim to hold, and to fail.
        measured: the numbers, with intervals.
        verdict: holds, does not hold, undecided, or not measured.
        why: what a reader should know about it.
        study: whose results were used.
        images: how many.
    """

    number: int
    claim: str
    where: str
    rule: str
    measured: str
    verdict: Verdict
    why: str
    study: str
    images: int


def write_record(folder: Path, record: Record) -> None:
    """Write the record of a study into its folder; last, since it says that the study is whole.

    >>> import tempfile
    >>> record = Record("mnist", "Digits", "Figure 5", "mnist", 500, {}, {}, 1.5)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_record(Path(home) / "mnist", record)
    ...     [found == record for _, found in read_records(Path(home))]
    [True]
    """
    _write(folder / RECORD, asdict(record))


def read_record(folder: Path) -> Record:
    """Read the record of one study from its folder."""
    if not (folder / RECORD).exists():
        raise SSplainError(f"{folder} holds no finished study; run it first.")
    return _read(folder / RECORD, _record)


def read_records(folder: Path) -> list[tuple[Path, Record]]:
    """Read the finished studies of a folder, each with its own folder, in order of their names."""
    found = [(path.parent, read_record(path.parent)) for path in sorted(folder.glob(f"*/{RECORD}"))]
    if not found:
        raise SSplainError(
            f"{folder} holds no finished study; run `ssplain reproduce NAME --out {folder}` first."
        )
    return found


def write_ledger(folder: Path, judgements: Sequence[Judgement]) -> None:
    """Write what was found about the claims.

    >>> import tempfile
    >>> judgement = Judgement(1, "A beats B", "4.4", "A > B", "1 > 0", "holds", "", "mnist", 500)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_ledger(Path(home), [judgement])
    ...     read_ledger(Path(home)) == [judgement]
    True
    """
    _write(folder / LEDGER, [asdict(judgement) for judgement in judgements])


def read_ledger(folder: Path) -> list[Judgement]:
    """Read what was found about the claims; nothing if no claim was looked at."""
    path = folder / LEDGER
    return _read(path, _judgements) if path.exists() else []


def _record(values: Any) -> Record:  # noqa: ANN401 - JSON
    shown = {part: tuple(Exhibit(**one) for one in values[part]) for part in ("figures", "tables")}
    return Record(**(values | shown))


def _judgements(values: Any) -> list[Judgement]:  # noqa: ANN401 - JSON
    found = [Judgement(**one) for one in values]
    if any(one.verdict not in get_args(Verdict) for one in found):
        raise ValueError
    return found


def _write(path: Path, values: object) -> None:
    write_whole(path, f"{json.dumps(values, indent=1, ensure_ascii=False)}\n".encode())


def _read(path: Path, build: Callable[[Any], _T]) -> _T:
    try:
        return build(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError) as error:
        raise SSplainError(f"{path} is broken; run the study again.") from error
