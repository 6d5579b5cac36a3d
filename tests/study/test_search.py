"""The search of settings: what it keeps, and that nothing is tried twice."""

import json
from pathlib import Path

import pytest
import torch

from ssplain.study import search
from ssplain.study.search import GRID, Log


def test_the_best_stays_and_the_log_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = torch.zeros(2, 1, 28, 28)
    images[..., 10:18, 12:16] = torch.rand(2, 1, 8, 4, generator=torch.Generator().manual_seed(0))
    tried: list[int] = []

    def unreported(dataset: str, count: int, folder: Path | None) -> tuple[torch.Tensor, ...]:
        del dataset, folder
        tried.append(count)
        return images, torch.tensor([0, 1])

    monkeypatch.setattr(search, "unreported", unreported)
    monkeypatch.setattr(search, "PASSES", 3)
    monkeypatch.setattr(search, "GRID", {"rho": (0.0, 0.01), "lr": (0.05, 0.1)})
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
        search, "unreported", lambda *_: (torch.zeros(1, 1, 28, 28), torch.zeros(1))
    )
    monkeypatch.setattr(search, "GRID", {"tv_weight": (0.0, 1e-3, 2e-3), "lr": (0.05, 0.1)})
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
