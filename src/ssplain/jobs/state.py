"""The state of a job as others read it: rows, tables for export, and shards brought together."""

import csv
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ssplain.errors import SSplainError
from ssplain.jobs.index import NAME, Index
from ssplain.work.place import Place

_SHARD = re.compile(r"shard-(\d+)-of-(\d+)")
_FIRST = ("path", "page", "id", "status", "prediction", "target", "probabilities")
_LAST = ("file", "error", "tries", "seconds", "finished", "sha256", "same_as")


def open_job(folder: str | Path) -> Index:
    """Open the index of a job to read it.

    Args:
        folder: of the job.

    Raises:
        SSplainError: If there is none.
    """
    home = Path(folder)
    path = home if home.is_file() else home / NAME
    if not path.is_file():
        shards = shards_in(home)
        hint = (
            f"it holds {len(shards)} shards: `ssplain jobs {home} --merge` brings them together"
            if shards
            else "give the --out of `ssplain explain`"
        )
        raise SSplainError(f"There is no job in {folder}; {hint}.")
    return Index(path, write=False)


def columns(index: Index) -> list[str]:
    """Return the columns of an export: the fixed ones, and one for each measure."""
    found = index.db.execute(
        "SELECT DISTINCT key FROM images, json_each(measures) WHERE measures IS NOT NULL"
    )
    measures = sorted(row[0] for row in found)
    return [*_FIRST, *measures, *_LAST]


def table(index: Index, names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield one row per image in the plan's order."""
    for row in index.rows():
        measures = json.loads(row["measures"] or "{}")
        yield {name: row[name] if name in row.keys() else measures.get(name) for name in names}  # noqa: SIM118 - a Row is no mapping


def write_csv(index: Index, stream: IO[str]) -> None:
    """Write all images as CSV, one line each, without holding them in memory."""
    names = columns(index)
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    for row in table(index, names):
        writer.writerow({k: _printable(v) for k, v in row.items()})


def write_parquet(index: Index, path: Path) -> None:
    """Write all images as a Parquet file, whole or not at all."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - only with the extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise SSplainError(
            f"Parquet needs a package ({error}); install it with `pip install ssplain[cluster]`, "
            "or export csv."
        ) from error
    names = columns(index)
    whole = {"page", "prediction", "target", "tries", "same_as"}
    text = {"path", "id", "status", "file", "error", "finished", "sha256"}
    kinds = {
        name: pa.int64() if name in whole else pa.string() if name in text else pa.float64()
        for name in names
    } | {"probabilities": pa.list_(pa.float64())}
    for name, kind in _measure_kinds(index).items():
        kinds[name] = {"text": pa.string(), "true": pa.bool_(), "false": pa.bool_()}.get(
            kind, pa.float64()
        )
    schema = pa.schema(list(kinds.items()))
    temporary = path.with_name(f".{path.name}.partial")
    with pq.ParquetWriter(temporary, schema) as writer:
        rows: list[dict[str, Any]] = []
        for row in table(index, names):
            opinions = row["probabilities"]
            rows.append(row | {"probabilities": json.loads(opinions) if opinions else None})
            if len(rows) == 10_000:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows.clear()
        writer.write_table(pa.Table.from_pylist(rows, schema))
    temporary.replace(path)


def _measure_kinds(index: Index) -> Mapping[str, str]:
    found = index.db.execute(
        "SELECT key, max(type) FROM images, json_each(measures) WHERE measures IS NOT NULL "
        "AND type != 'null' GROUP BY key"
    )
    return {row[0]: row[1] for row in found}


def _printable(value: object) -> object:
    # names may hold bytes that are no text
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def shards_in(folder: Path) -> dict[int, Path]:
    """Return the shards in a folder by their numbers."""
    found = {}
    for path in sorted(folder.glob("shard-*-of-*")):
        match = _SHARD.fullmatch(path.name)
        if match and (path / NAME).is_file():
            found[int(match[1])] = path
    return found


def merge(folder: Path) -> Index:
    """Bring the shards in a folder together in one index; results stay where they are.

    Args:
        folder: the --out that all shards were given.

    Raises:
        SSplainError: If shards are missing, or are not of one job.
    """
    shards = shards_in(folder)
    counts = {int(path.name.rpartition("-")[2]) for path in shards.values()}
    if len(counts) != 1:
        raise SSplainError(
            f"{folder} holds no shards of one job; give the --out that all of them were given."
        )
    missing = sorted(set(range(1, counts.pop() + 1)) - set(shards))
    if missing:
        raise SSplainError(
            f"{folder} lacks the shards {', '.join(map(str, missing))}; run them first."
        )
    # made on this machine's own disk: the folder may be on a network
    with tempfile.TemporaryDirectory() as home, Index(Path(home, NAME)) as whole:
        for path in shards.values():
            with open_job(path) as part:
                _append(whole, part, path.name)
        content = whole.copy()
    Place(str(folder)).put(NAME, content)
    return open_job(folder)


def _append(whole: Index, part: Index, name: str) -> None:
    about = part.about("identity")
    if whole.about("identity") not in (None, about):
        raise SSplainError(f"{name} was made with other settings than the shards before it.")
    whole.note(identity=about, task=part.about("task"))
    first: int = whole.db.execute("SELECT coalesce(max(number), 0) FROM images").fetchone()[0]
    fields = [row[1] for row in part.db.execute("PRAGMA table_info(images)")]
    sql = f"INSERT INTO images ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})"  # noqa: S608
    with whole.change() as db:
        db.executemany(sql, (_moved(row, first, name) for row in part.rows()))


def _moved(row: sqlite3.Row, first: int, name: str) -> list[Any]:
    found = dict(row)
    found["number"] += first
    if found["same_as"] is not None:
        found["same_as"] += first
    if found["file"] is not None:
        found["file"] = os.path.join(name, found["file"])  # noqa: PTH118 - below the job's folder
    return list(found.values())
