"""Results are written whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Give a temporary folder beside `path` that becomes `path` if the block succeeds.

    An existing folder at `path` is replaced in the end, so nobody ever sees half a result. After
    an error nothing is left behind.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with whole_folder(Path(home) / "result") as folder:
    ...         _ = (folder / "a.txt").write_text("done")
    ...     [p.name for p in sorted(Path(home).rglob("*"))]
    ['result', 'a.txt']
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(
        tempfile.mkdtemp(prefix=f".{target.name}-", suffix=".partial", dir=target.parent)
    )
    try:
        yield temporary
        temporary.chmod(0o755)
        if target.exists():
            old = temporary.with_suffix(".old")
            target.replace(old)
            temporary.replace(target)
            shutil.rmtree(old)
        else:
            temporary.replace(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file under a temporary name, then rename it.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_whole(Path(home) / "a.txt", b"done")
    ...     (Path(home) / "a.txt").read_bytes()
    b'done'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}-{os.getpid()}.partial")
    try:
        temporary.write_bytes(content)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
