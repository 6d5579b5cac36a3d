"""The search of settings: what it keeps, and that nothing is tried twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from ssplain import preset
from ssplain.data import bundled
from ssplain.study import search
from ssplain.study.search import GRID, GROUNDS, Log


def test_the_best_stays_and_the_log_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = torch.zeros(2, 1, 28, 28)
    images[..., 10:18, 12:16] = torch.rand(2, 1, 8, 4, generator=torch.Generator().manual_seed(0))
    tried: list[int] = []

    def unreported(
        dataset: str, count: int, folder: Path | None
    ) -> tuple[torch.Tensor, torch.Tensor, None]:
        del dataset, folder
        tried.append(count)
        return images, torch.tensor([0, 1]), None

    monkeypatch.setattr(search, "unreported", unreported)
    small = replace(GROUNDS["mnist"], passes=3, grid={"rho": (0.0, 0.01), "lr": (0.05, 0.1)})
    monkeypatch.setitem(GROUNDS, "mnist", small)
    path = tmp_path / "search.csv"
    found = search.search("mnist", Log(path), 2)
    lines = path.read_text().splitlines()
    assert lines[0].startswith("dataset,images,settings")
    assert len(lines) == 1 + 3  # one of the four is the same as another
    assert set(found) == set(GRID)
    again = search.search("mnist", Log(path), 2)
    assert again == found
    assert path.read_text().splitlines() == lines


def test_a_larger_weight_is_taken_where_it_costs_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        search, "unreported", lambda *_: (torch.zeros(1, 1, 28, 28), torch.zeros(1), None)
    )
    grid = {"tv_weight": (0.0, 1e-3, 2e-3), "lr": (0.05, 0.1)}
    monkeypatch.setitem(GROUNDS, "mnist", replace(GROUNDS["mnist"], grid=grid))
    log = Log(tmp_path / "search.csv")
    gains = {0.0: 0.9, 1e-3: 0.8985, 2e-3: 0.897}

    class Known(dict[tuple[str, str, str], float]):
        def get(self, key: tuple[str, str, str], default: object = None) -> float:
            del default
            settings = json.loads(key[2])
            return gains[settings["tv_weight"]] + (0.001 if settings["lr"] == 0.05 else 0.0)

    log.known = Known()
    found = search.search("mnist", log, 1)
    assert (found["tv_weight"], found["lr"]) == (1e-3, 0.05)


def test_what_counts_counts_in_its_own_direction(tmp_path: Path) -> None:
    log = Log(tmp_path / "search.csv")
    found = {"insertion": 0.9, "deletion": 0.2, "connected": 0.5}
    assert log.add("rop", 3, "{}", found) == pytest.approx(0.9 - 0.2 + 0.5)
    assert Log(log.path).known["rop", "3", "{}"] == pytest.approx(1.2)


def test_eyes_come_with_their_disease_and_are_no_others() -> None:
    images, labels, truth = search.unreported("rop", 3)
    assert labels.tolist() == [0, 1, 2]
    assert truth is not None
    assert truth.shape == images.shape
    assert not bool(truth[0].any())
    assert bool(truth[2].any())
    reported, _ = bundled("rop")
    assert not any(torch.equal(image, other) for image in images for other in reported)


@pytest.mark.parametrize("dataset", ["mnist", "fmnist"])
def test_the_log_that_is_kept_leads_to_the_presets(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shipped is what was found: nothing is tried that the log does not have."""
    monkeypatch.setattr(
        search, "unreported", lambda *_: (torch.zeros(1, 1, 28, 28), torch.zeros(1), None)
    )

    def untried(*_: object, **settings: object) -> None:
        raise AssertionError(f"not in the log: {settings}")

    monkeypatch.setattr(search, "make", untried)
    kept = Path(__file__).parents[2] / "docs/results/search"
    found = search.search(dataset, Log(kept / "search.csv"), 100)
    assert found == json.loads((kept / f"{dataset}.json").read_text())
    shipped = preset(dataset, "ranking")
    assert {name: shipped[name] for name in found} == found  # type: ignore[literal-required]
    passes = shipped["iterations"] + (shipped["start"] == "gradient")
    assert passes == GROUNDS[dataset].passes == 40
