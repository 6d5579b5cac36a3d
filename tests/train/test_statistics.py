import torch
from torch import nn

from ssplain.train.statistics import gather_statistics, gathering, norms_of


def network() -> tuple[nn.Sequential, nn.Conv2d, nn.BatchNorm2d]:
    torch.manual_seed(0)
    first, norm = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, momentum=0.2)
    return nn.Sequential(first, norm, nn.ReLU(), nn.Dropout(), nn.Flatten()), first, norm


def test_gathered_statistics_are_those_of_the_images() -> None:
    model, first, norm = network()
    images = torch.rand(12, 1, 6, 6)
    with torch.no_grad():
        before = first(images)
    gather_statistics(model, iter([images]))
    torch.testing.assert_close(norm.running_mean, before.mean((0, 2, 3)))
    torch.testing.assert_close(norm.running_var, before.var((0, 2, 3)))


def test_batches_count_alike_and_old_statistics_are_forgotten() -> None:
    model, first, norm = network()
    parts = [torch.rand(4, 1, 6, 6) for _ in range(3)]
    gather_statistics(model, iter([99 * torch.ones(1, 1, 6, 6)]))
    gather_statistics(model, iter(parts))
    with torch.no_grad():
        means = torch.stack([first(part).mean((0, 2, 3)) for part in parts])
    torch.testing.assert_close(norm.running_mean, means.mean(0))


def test_momentum_and_mode_come_back() -> None:
    model, _, norm = network()
    assert norms_of(model) == [norm]
    with gathering([norm]):
        during = (norm.momentum, norm.training)
    assert during == (None, True)
    assert (norm.momentum, norm.training) == (0.2, False)


def test_a_model_without_batch_normalisation_sees_no_image() -> None:
    class Refusing(nn.Module):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            raise AssertionError(images.shape)

    model = Refusing().train()
    gather_statistics(model, iter([torch.zeros(1)]))
    assert not model.training
