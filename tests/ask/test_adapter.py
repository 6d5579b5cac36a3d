import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ssplain.ask.adapter import Classifier
from ssplain.ask.batching import run_in_batches
from ssplain.ask.holding import frozen
from ssplain.ask.model_pass import LogSoftmax, ModelPass
from ssplain.errors import SSplainError
from ssplain.models.fingerprint import fingerprint

IMAGES = torch.rand(5, 1, 4, 4, generator=torch.Generator().manual_seed(0))


def logits(x: Tensor) -> Tensor:
    return x.flatten(1)[:, :3] * 4 - 1


class TestFrozen:
    def model(self) -> nn.Sequential:
        model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(), nn.Flatten())
        model[1].eval()
        model[0].bias.requires_grad = False
        return model

    def state(self, model: nn.Module) -> list[object]:
        flags: list[object] = [module.training for module in model.modules()]
        flags += [(p.requires_grad, p.device, p.grad) for p in model.parameters()]
        # the very memory, laid out as it was: values alone would not tell a copy from the original
        flags += [(p.data_ptr(), p.stride()) for p in model.parameters()]
        hooks = [len(m._forward_hooks) + len(m._backward_hooks) for m in model.modules()]
        return flags + hooks + [t.clone().tolist() for t in model.state_dict().values()]

    def test_mixed_flags_come_back(self) -> None:
        model = self.model()
        before = self.state(model)
        with frozen(model):
            assert not any(m.training for m in model.modules())
            assert not any(p.requires_grad for p in model.parameters())
            model(IMAGES)
        assert self.state(model) == before

    def test_also_after_an_error(self) -> None:
        model = self.model()
        before = self.state(model)
        with pytest.raises(KeyError), frozen(model):
            raise KeyError
        assert self.state(model) == before


class TestOutputs:
    def test_logits_and_probabilities_agree(self) -> None:
        _, from_logits = Classifier(logits).settle(IMAGES)
        settled, from_probs = Classifier(lambda x: logits(x).softmax(1)).settle(IMAGES)
        assert settled.output_kind == "probs"
        torch.testing.assert_close(from_logits, from_probs)
        torch.testing.assert_close(from_logits, logits(IMAGES).softmax(1))

    def test_log_probabilities_count_as_logits(self) -> None:
        settled, found = Classifier(lambda x: logits(x).log_softmax(1)).settle(IMAGES)
        assert settled.output_kind == "logits"
        torch.testing.assert_close(found, logits(IMAGES).softmax(1))

    @pytest.mark.parametrize("squeezed", [True, False])
    def test_one_logit_is_the_second_of_two_classes(self, squeezed: bool) -> None:
        def model(x: Tensor) -> Tensor:
            return logits(x)[:, 0] if squeezed else logits(x)[:, :1]

        _, found = Classifier(model).settle(IMAGES)
        p = logits(IMAGES)[:, 0].sigmoid()
        torch.testing.assert_close(found, torch.stack([1 - p, p], dim=1))

    def test_one_probability_has_to_be_declared(self) -> None:
        def model(x: Tensor) -> Tensor:
            return logits(x)[:, :1].sigmoid()

        with pytest.raises(SSplainError, match=r"output_kind='logits' or output_kind='probs'"):
            Classifier(model).settle(IMAGES)
        _, found = Classifier(model, output_kind="probs").settle(IMAGES)
        torch.testing.assert_close(found[:, 1:], model(IMAGES))

    @pytest.mark.parametrize(
        ("wrap", "selector"),
        [
            (lambda y: (None, y), 1),
            (lambda y: {"logits": y, "loss": 0}, "logits"),
            (lambda y: [{"a": y}], lambda out: out[0]["a"]),
        ],
    )
    def test_selectors(self, wrap: object, selector: object) -> None:
        model = Classifier(lambda x: wrap(logits(x)), output=selector)  # type: ignore[operator,arg-type]
        torch.testing.assert_close(model.settle(IMAGES)[1], logits(IMAGES).softmax(1))

    @pytest.mark.parametrize(
        ("returned", "output", "message"),
        [
            ({"a": 1}, None, "mapping with the keys 'a'.*output="),
            ({"a": 1}, "b", "output='b' picks nothing"),
            ((1, 2), 5, "output=5 picks nothing from what the model returned, a tuple of 2"),
            (torch.zeros(5, 2, 2), None, r"shape \(5, 2, 2\) for 5 images"),
            (torch.zeros(4, 2), None, r"shape \(4, 2\) for 5 images"),
            (torch.zeros(5, dtype=torch.long), None, "returns torch.int64: labels"),
            (np.zeros((5, 2)), None, "NumPy array.*QueryOnly"),
            (torch.full((5, 2), torch.nan), None, "NaN or infinite values for image 0"),
        ],
    )
    def test_unusable_output(self, returned: object, output: object, message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            Classifier(lambda _: returned, output=output).settle(IMAGES)  # type: ignore[arg-type]

    def test_the_kind_is_fixed_by_the_whole_images(self) -> None:
        """Masked images may give values that look like probabilities; that must not matter."""

        def model(x: Tensor) -> Tensor:
            return torch.cat([x.mean((1, 2, 3))[:, None] * 8, 1 - x.mean((1, 2, 3))[:, None]], 1)

        settled, _ = Classifier(model).settle(IMAGES)
        black = settled.probabilities(torch.zeros(1, 1, 4, 4))
        torch.testing.assert_close(black, torch.tensor([[0.0, 1.0]]).softmax(1))


def test_channels_that_come_last_are_told() -> None:
    with pytest.raises(SSplainError, match=r"16 channels.*takes 3.*come first"):
        Classifier(nn.Conv2d(3, 4, 1)).settle(torch.zeros(2, 16, 16, 3))
    with pytest.raises(SSplainError, match=r"3 channels.*takes 1.*channels=\.$"):
        Classifier(nn.Conv2d(1, 4, 1)).settle(torch.zeros(2, 3, 16, 16))


def test_one_of_several_labels() -> None:
    """Picked as a single value, it is the second of two classes, and the others do not matter."""
    values = torch.tensor([[3.0, -1.0, 0.5], [-9.0, 2.0, 0.5]])
    model = Classifier(lambda _: values, output=lambda found: found[:, [1]], output_kind="logits")
    _, probabilities = model.settle(torch.zeros(2, 1, 1, 1))
    torch.testing.assert_close(probabilities[:, 1], values[:, 1].sigmoid())


class TestChannels:
    def test_grey_is_repeated(self) -> None:
        seen: list[Tensor] = []
        model = nn.Sequential(nn.Conv2d(3, 2, 4), nn.Flatten())
        model.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
        Classifier(model, output_kind="logits").settle(IMAGES)
        assert torch.equal(seen[0], IMAGES.repeat(1, 3, 1, 1))

    def test_wrong_count(self) -> None:
        model = nn.Sequential(nn.Conv2d(3, 2, 4), nn.Flatten())
        with pytest.raises(SSplainError, match="2 channels and the model takes 3"):
            Classifier(model).settle(torch.zeros(1, 2, 4, 4))

    def test_wrong_size_names_the_shape(self) -> None:
        model = nn.Sequential(nn.Flatten(), nn.Linear(9, 2))
        with pytest.raises(SSplainError, match=r"does not accept images of shape \(1, 4, 4\)"):
            Classifier(model).settle(IMAGES)

    def test_not_callable(self) -> None:
        with pytest.raises(SSplainError, match="a str, which cannot be called"):
            Classifier("lenet")  # type: ignore[arg-type]


class TestNumerics:
    def test_gradient_keeps_its_digits_where_the_model_is_certain(self) -> None:
        values = torch.tensor([[30.0, 1.0, -4.0], [0.3, 0.2, 0.1], [-50.0, 2.0, 1.0]])
        weights = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])

        def gradient(dtype: torch.dtype, *, exact: bool) -> Tensor:
            leaf = values.to(dtype, copy=True).requires_grad_()
            log_p: Tensor = LogSoftmax.apply(leaf) if exact else leaf.log_softmax(1)  # type: ignore[no-untyped-call]
            return torch.autograd.grad((weights.to(dtype) * log_p).sum(), leaf)[0]

        # the reference itself needs more digits than float64's 1 - p has: use the others' sum
        others = values.double()[0, 1:].logsumexp(0) - values.double()[0].logsumexp(0)
        ours = gradient(torch.float32, exact=True)
        assert float(ours[0, 0]) == pytest.approx(float(others.exp()), rel=1e-5)
        assert float(gradient(torch.float32, exact=False)[0, 0]) == 0.0  # what it is for
        torch.testing.assert_close(
            ours[1:].double(), gradient(torch.float64, exact=False)[1:], rtol=1e-5, atol=1e-7
        )

    def test_gradient_passes_gradcheck(self) -> None:
        leaf = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(LogSoftmax.apply, leaf)

    @pytest.mark.parametrize("rows", [1, 2, 3, 7, 11, 31, 32, 40])
    def test_linear_layers_do_not_see_the_batch(self, rows: int) -> None:
        torch.manual_seed(0)
        layer, many = nn.Linear(400, 120), torch.randn(64, 400)
        with ModelPass():
            assert torch.equal(layer(many[:rows]), layer(many)[:rows])


class TestBatches:
    @pytest.mark.parametrize(
        "error", [torch.OutOfMemoryError(), RuntimeError("can't allocate memory: 8 GB")]
    )
    def test_halves_until_it_fits_and_loses_nothing(self, error: Exception) -> None:
        def work(rows: slice) -> list[int]:
            if rows.stop - rows.start > 2:
                raise error
            return list(range(rows.start, rows.stop))

        with pytest.warns(ResourceWarning, match="batch_size="):
            parts = run_in_batches(work, 9, 8)
        assert [row for part in parts for row in part] == list(range(9))

    def test_gives_up_at_one(self) -> None:
        def work(_: slice) -> None:
            raise torch.OutOfMemoryError

        with pytest.raises(SSplainError, match="not enough memory for a single image"):
            run_in_batches(work, 3, 1)


def test_logits_that_sum_to_one_by_chance_are_logits() -> None:
    image = torch.tensor([[[[0.2, 0.3, 0.5]]]])
    settled, probabilities = Classifier(lambda x: x.flatten(1)).settle(image)
    assert settled.output_kind == "logits"
    torch.testing.assert_close(probabilities, image.flatten(1).softmax(1))
    settled, probabilities = Classifier(lambda x: x.flatten(1).softmax(1)).settle(image)
    assert settled.output_kind == "probs"
    torch.testing.assert_close(probabilities, image.flatten(1).softmax(1))


def test_fingerprint_follows_the_weights() -> None:
    model = nn.Linear(2, 2)
    first = fingerprint(model)
    assert fingerprint(model) == first
    with torch.no_grad():
        model.weight[0, 0] += 1e-3
    assert fingerprint(model)["sha256"] != first["sha256"]
    assert fingerprint(logits) == {"name": f"{__name__}.logits", "sha256": None}
