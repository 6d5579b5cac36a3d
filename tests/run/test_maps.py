from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from ssplain.explain import make
from ssplain.explain.registry import METHODS, Method
from ssplain.models import load
from ssplain.progress import Progress
from ssplain.question.protocol import ChannelRule
from ssplain.question.targets import Target
from ssplain.run import maps
from ssplain.run.maps import explain_once
from ssplain.run.scene import Scene, bundled_scene
from ssplain.run.store import Store
from tests.explain.small import small


class Counted:
    """The image as its map, counting the images; stops at one that is asked not to be reached."""

    seen: ClassVar[int] = 0
    stop: ClassVar[int | None] = None

    def __init__(self, model: object, **settings: object) -> None:
        del model, settings

    def attribute(
        self,
        inputs: torch.Tensor,
        target: Target = None,
        *,
        over: ChannelRule = "mean",
        progress: Progress | None = None,
    ) -> torch.Tensor:
        if Counted.stop is not None and Counted.seen >= Counted.stop:
            raise KeyboardInterrupt
        Counted.seen += len(inputs)
        return inputs.clone()


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Counted.seen, Counted.stop = 0, None
    METHODS.add(Method("counted", "Counted", "control", "", Counted, needs_gradient=False))
    monkeypatch.setattr(Scene, "piece", 2)
    yield
    METHODS.remove("counted")


SCENE = bundled_scene("mnist", 7)


def test_a_stopped_run_goes_on_without_repeating(tmp_path: Path) -> None:
    Counted.stop = 4
    with pytest.raises(KeyboardInterrupt):
        explain_once(Store(tmp_path), SCENE, "counted", {}, SCENE.labels)
    Counted.stop, Counted.seen = None, 0
    told: list[float] = []
    made = explain_once(
        Store(tmp_path), SCENE, "counted", {}, SCENE.labels, progress=lambda at, *_: told.append(at)
    )
    assert Counted.seen == 3
    assert told == [2, 4, 6, 7]
    assert torch.equal(made.joined(), SCENE.images)
    assert made.seconds.shape == (7,)


def revised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "revision", lambda _: "another day")


def test_whatever_maps_depend_on_makes_other_maps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings, seed, model, how it is called, images, targets and code: one at a time."""
    scene = replace(SCENE, images=SCENE.images[:2], labels=SCENE.labels[:2])

    def seen(scene: Scene = scene, settings: dict[str, Any] | None = None, seed: int = 0) -> int:
        explain_once(Store(tmp_path), scene, "counted", settings or {}, scene.labels, seed=seed)
        return Counted.seen

    assert seen() == 2
    assert seen() == 2
    other = replace(scene, network=load("lenet5-fmnist"))
    for count, changed in enumerate(
        (
            {"settings": {"a": 1}},
            {"seed": 1},
            {"scene": other},
            {"scene": replace(scene, options={"output_kind": "logits"})},
            {"scene": replace(scene, images=scene.images.flip(0))},
            {"scene": replace(scene, labels=scene.labels.flip(0))},
        ),
        start=2,
    ):
        assert seen(**changed) == 2 * count, changed  # type: ignore[arg-type]
        assert seen(**changed) == 2 * count  # type: ignore[arg-type]
    before = Counted.seen
    revised(monkeypatch)
    assert seen() == before + 2


def test_another_explainer_has_maps_of_its_own(tmp_path: Path) -> None:
    for name in ("counted", "intensity", "saliency"):
        explain_once(Store(tmp_path), SCENE, name, {}, SCENE.labels)
    assert len(list(tmp_path.iterdir())) == 3 * 4


def test_a_model_that_cannot_be_told_from_others_is_explained_anew(tmp_path: Path) -> None:
    """A function, and a module without weights, may do anything."""
    for model in (lambda x: x.flatten(1), torch.nn.Flatten()):
        scene = replace(SCENE, network=model)
        Counted.seen = 0
        for _ in range(2):
            explain_once(Store(tmp_path), scene, "counted", {}, scene.labels)
        assert Counted.seen == 14
    assert not list(tmp_path.iterdir())


def test_layers_count_where_weights_are_alike(tmp_path: Path) -> None:
    for stride in (1, 2):
        torch.manual_seed(0)
        network = torch.nn.Sequential(
            torch.nn.Conv2d(1, 3, 3, stride=stride),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
        )
        scene = replace(SCENE, network=network, labels=torch.zeros(7).long())
        explain_once(Store(tmp_path), scene, "counted", {}, scene.labels)
    assert Counted.seen == 14


def test_pieces_give_the_maps_of_one_call(tmp_path: Path) -> None:
    explainer = make("ssplain-0", SCENE.model, "mnist")
    settings = METHODS["ssplain-0"].paper["mnist"]
    made = explain_once(Store(tmp_path), SCENE, "ssplain-0", settings, SCENE.labels)
    expected = explainer.attribute(SCENE.images, SCENE.labels)
    torch.testing.assert_close(made.joined(), expected, atol=1e-5, rtol=0)


def test_the_maps_of_all_channels_are_kept(tmp_path: Path) -> None:
    scene = replace(SCENE, network=small(channels=3), labels=torch.zeros(7).long())
    made = explain_once(Store(tmp_path), scene, "saliency", {}, scene.labels)
    assert made.channels.shape == (7, 3, 28, 28)
    saliency = make("saliency", scene.model)
    for rule in ("max", "mean"):
        expected = saliency.attribute(scene.images, scene.labels, over=rule)
        torch.testing.assert_close(made.joined(rule), expected)
