"""`ssplain bench run`: jobs against the bare explainer, in memory, and on one and two workers.

Each case runs in processes of its own with one thread each, so that workers do not share cores
unless they must.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from ssplain.bench.timing import in_turn, ratio
from ssplain.data import bundled
from ssplain.jobs.driver import State
from ssplain.jobs.job import run
from ssplain.work.explaining import Explaining

Case = dict[str, Any]
_TASK = Explaining("lenet5-mnist")
_STEADY = Explaining("lenet5-mnist", batch_size=64)  # many small batches: a rate


def cases(images: int = 2000) -> Iterator[Case]:
    """Yield the cases: throughput, memory, two workers here, two workers on Dask.

    Args:
        images: digits of the cases that measure speed.
    """
    yield _apart("throughput", images)
    yield _memory()
    yield _apart("scaling", images, "processes")
    yield _apart("scaling", images, "dask")


def digits(count: int) -> torch.Tensor:
    """Return so many different digits, bytes `(count, 28, 28)`: the bundled ones, moved about.

    >>> len(digits(700).flatten(1).unique(dim=0))
    700
    """
    plain = (bundled("mnist")[0][:, 0] * 255).round().byte()
    turns = range(-(-count // len(plain)))
    moved = [plain.roll((turn % 5 - 2, turn // 5 % 5 - 2), (1, 2)) for turn in turns]
    return torch.cat(moved)[:count]


def write_digits(folder: Path, count: int) -> None:
    """Write digits as PNG files."""
    folder.mkdir(parents=True)
    for i, one in enumerate(digits(count)):
        Image.fromarray(one.numpy()).save(folder / f"{i:06d}.png", compress_level=1)


def throughput(images: int) -> Case:
    """Time a whole job, files in and files out, against the explainer on images in memory."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "in")
        write_digits(folder, images)
        pixels = digits(images)[:, None] / 255
        explainer = _TASK.open().explainer
        counter = iter(range(99))
        bare, job = in_turn(
            lambda: explainer.explain(pixels),
            lambda: run(_TASK, [folder], Path(home, f"out-{next(counter)}")),
            repeats=3,
        )
    return {
        "case": "throughput of a job over that of the bare explainer",
        "images": images,
        "bare_ms_per_image": round(1e3 * min(bare) / images, 3),
        "job_ms_per_image": round(1e3 * min(job) / images, 3),
        "share": round(ratio(bare, job), 3),
    }


def scaling(images: int, kind: str) -> Case:
    """Compare the steady rates of one worker and of two, from the first batch to the last."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "in")
        write_digits(folder, images)
        for turn in range(2):
            for workers in (1, 2):
                out = Path(home, f"{turn}-{workers}")
                rates[workers].append(_rate(folder, out, kind, workers))
    return {
        "case": f"two workers over one, {kind}",
        "images": images,
        "one_per_second": round(max(rates[1]), 1),
        "two_per_second": round(max(rates[2]), 1),
        "times": round(ratio(rates[2], rates[1]), 2),
    }


def _rate(folder: Path, out: Path, kind: str, workers: int) -> float:
    told: list[tuple[float, int]] = []

    def tell(state: State) -> None:
        if state.done:
            told.append((time.monotonic(), state.done))

    with _cluster(workers) if kind == "dask" else _nothing() as address:
        run(
            _STEADY,
            [folder],
            out,
            engine=kind,
            workers=workers,
            scheduler=address,
            progress=tell,
        )
    # until all workers have answered once, they are still loading
    warm = told[min(len(told) - 2, 2 * workers)]
    return (told[-1][1] - warm[1]) / (told[-1][0] - warm[0])


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    from distributed import LocalCluster  # noqa: PLC0415 - only with the extra

    make: Any = LocalCluster  # it has no types
    with make(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield str(cluster.scheduler_address)


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


def peak(images: int) -> int:
    """Run a job and return the peak memory of this process, in KiB."""
    import resource  # noqa: PLC0415 - not on every system

    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "in")
        write_digits(folder, images)
        run(Explaining("lenet5-mnist", iterations=2), [folder], Path(home, "out"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _memory() -> Case:
    few, many = (_apart("peak", count) for count in (1000, 10_000))
    return {
        "case": "peak memory of a job of 10,000 images over one of 1,000",
        "mebibytes": [round(few / 1024), round(many / 1024)],
        "times": round(many / few, 3),
    }


def _apart(name: str, *arguments: object) -> Any:  # noqa: ANN401 - what JSON holds
    """Call a function of this file in a fresh process with one thread, and return its result."""
    listed = json.dumps([name, *arguments])
    command = [sys.executable, "-m", "ssplain.bench.run", listed]
    env = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)  # noqa: S603
    return json.loads(done.stdout.splitlines()[-1])


def _main() -> None:
    name, *arguments = json.loads(sys.argv[1])
    known = {"throughput": throughput, "scaling": scaling, "peak": peak}
    sys.stdout.write(json.dumps(known[name](*arguments)) + "\n")  # type: ignore[operator]


if __name__ == "__main__":
    _main()
