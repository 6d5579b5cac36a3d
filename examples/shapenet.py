"""A small network for photographs with planted shapes, as somebody else might have written it.

`ssplain.models.load("examples/data/shapes.safetensors", "shapenet:build")` loads the weights that
`python examples/shapenet.py` trains.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from ssplain.simulate.shapes import KINDS, planted_shapes

MEAN, STD, SIZE = 0.5, 0.25, 32
WEIGHTS = Path(__file__).parent / "data" / "shapes.safetensors"


def build() -> nn.Module:
    """Return the network, untrained; it takes normalised images of 32x32 pixels."""

    def layer(before: int, after: int, size: int, stride: int = 1) -> list[nn.Module]:
        convolution = nn.Conv2d(before, after, size, stride, padding=size // 2, bias=False)
        return [convolution, nn.BatchNorm2d(after), nn.ReLU()]

    return nn.Sequential(
        *layer(3, 16, 5, stride=2),
        *layer(16, 32, 3, stride=2),
        *layer(32, 48, 3),
        *layer(48, 48, 3),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(48, len(KINDS)),
    )


def train(count: int = 8000, epochs: int = 12) -> nn.Module:
    """Train on photographs of seed 1 and return the network."""
    torch.manual_seed(0)
    net, drawn = build(), planted_shapes(count, SIZE, seed=1)
    images = (drawn.images - MEAN) / STD
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=0.05)
    steps = epochs * -(-count // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.split(torch.randperm(count), 64):
            loss = nn.functional.cross_entropy(net(images[rows]), drawn.labels[rows])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return net.eval()


if __name__ == "__main__":
    save_file(train().state_dict(), WEIGHTS)
