from importlib import import_module
from pathlib import Path

import pytest

from ssplain.run.scene import Scene
from ssplain.study import STUDIES, named, reproduce


def test_all_stands_for_every_study() -> None:
    assert named("all") == list(STUDIES)
    assert named("norms") == ["norms"]


def test_as_many_images_as_are_asked_for_or_as_the_paper_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[int] = []

    def count(_study: object, scene: Scene, _home: Path, **_: object) -> None:
        seen.append(len(scene.images))

    monkeypatch.setattr(import_module("ssplain.study.reproduce"), "run", count)
    for images in (3, None):
        reproduce("mnist", tmp_path, images=images)
    assert seen == [3, 500]
