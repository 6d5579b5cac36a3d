import torch

import ssplain
from ssplain.metrics import kept_and_removed


def test_probabilities_are_those_of_the_masked_images() -> None:
    images, labels = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    result = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:6], labels[:6])
    kept = kept_and_removed(model, result)
    rows = torch.arange(6)
    with torch.no_grad():
        mask = (result.mask > 0).float()
        for found, shown in (
            (kept.whole, images[:6]),
            (kept.only, images[:6] * mask),
            (kept.without, images[:6] * (1 - mask)),
        ):
            expected = model(shown).softmax(1)[rows, labels[:6]]
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_the_mask_carries_the_decision() -> None:
    """A quarter of the digit, chosen by SSplain, must do better than a random quarter."""
    images, labels = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    result = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:60], labels[:60])
    kept = kept_and_removed(model, result)
    noise = torch.rand(images[:60].shape, generator=torch.Generator().manual_seed(0))
    chance = (noise < 0.25) * result.support
    with torch.no_grad():
        random = model(images[:60] * chance).softmax(1)[torch.arange(60), labels[:60]]
    assert float(kept.only.mean()) > float(random.mean()) + 0.2


def test_what_is_known_of_the_whole_images_is_not_asked_again() -> None:
    images, labels = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    result = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:9], labels[:9])
    asked: list[int] = []
    with model.register_forward_pre_hook(lambda _, given: asked.append(len(given[0]))):
        kept_and_removed(model, result)
    assert sum(asked) < 3 * 9
