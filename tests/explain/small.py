"""Small models and images that the tests of the explainers share."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

# settings that keep each explainer quick, for tests to which they do not matter
QUICK: dict[str, dict[str, Any]] = {
    "ssplain-0": {"iterations": 3},
    "ssplain-1": {"iterations": 3},
    "ssplain-ranking": {"iterations": 4},
    "integrated-gradients": {"steps": 20},
    "integrated-gradients-complete": {"first": 20},
    "igos": {"iterations": 2, "points": 2, "sparsity": 0.0, "smoothness": 0.0},
    "rise": {"samples": 20},
    "regions": {"segments": lambda x: torch.arange(x[0, 0].numel()).view(x.shape[2:]) // 20},
    "occlusion": {"window": 5, "stride": 3},
    "lime": {"samples": 20, "alpha": 1e-3},
    "kernel-shap": {"samples": 20},
    "extremal-perturbation": {"iterations": 5, "step": 2, "sigma": 2.0},
}


class Small(nn.Module):
    """Takes any size; its activations are in place, as in most published networks."""

    def __init__(self, channels: int = 1, classes: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, 4, 3, padding=1)
        self.relu1 = nn.ReLU(inplace=True)
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.full1 = nn.Linear(64, 16)
        self.relu2 = nn.ReLU(inplace=True)
        self.full2 = nn.Linear(16, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(self.relu1(self.conv(x))).flatten(1)
        return self.full2(self.relu2(self.full1(x)))  # type: ignore[no-any-return]


class Functional(Small):
    """The same function, with activations that are no modules, and one that is used twice."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(relu(self.conv(x))).flatten(1)
        return self.full2(torch.relu(self.full1(x)))  # type: ignore[no-any-return]


class Reused(Small):
    """The same function, with one activation module that is used twice."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(self.relu1(self.conv(x))).flatten(1)
        return self.full2(self.relu1(self.full1(x)))  # type: ignore[no-any-return]


class Pair(Small):
    """The same function, returned with something else."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return x, super().forward(x)


def small(kind: type[Small] = Small, channels: int = 1, seed: int = 1) -> Small:
    """Return a small model; the weights depend on the seed alone, not on the kind."""
    torch.manual_seed(seed)
    model = kind(channels).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)  # outputs that differ clearly from image to image
    return model


def pictures(n: int = 3, channels: int = 1, shape: tuple[int, int] = (12, 10)) -> Tensor:
    """Return images of which half the pixels are black."""
    generator = torch.Generator().manual_seed(2)
    images = torch.rand(n, channels, *shape, generator=generator)
    return images * (torch.rand(n, 1, *shape, generator=generator) > 0.5)


def tiny(channels: int = 1, classes: int = 3, shape: tuple[int, int] = (9, 7)) -> nn.Module:
    """Return a model for images of one size, with an activation in place."""
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(channels, 4, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Flatten(),
        nn.Linear(4 * shape[0] * shape[1], classes),
    )


def sparse_images(n: int = 4, channels: int = 1, shape: tuple[int, int] = (9, 7)) -> Tensor:
    """Return images for `tiny`."""
    return pictures(n, channels, shape)
