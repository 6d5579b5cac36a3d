"""A small network for photographs with planted shapes, as somebody else might have written it.

`ssplain.models.load("examples/data/shapes.safetensors", "shapenet:build")` loads the weights that
`python examples/shapenet.py` trains.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn
from torch.utils.data import DataLoader

from ssplain.simulate.shapes import KINDS, planted_shapes

MEAN, STD, SIZE = 0.5, 0.25, 32
WEIGHTS = Path(__file__).parent / "data" / "shapes.safetensors"


def build() -> nn.Module:
    """Return the network, untrained; it takes normalised images of 32x32 pixels."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveMaxPool2d(4),
        nn.Flatten(),
        nn.Linear(32 * 16, len(KINDS)),
    )


def train(count: int = 4000, epochs: int = 16) -> nn.Module:
    """Train on photographs of seed 1 and return the network."""
    torch.manual_seed(0)
    drawn, net = planted_shapes(count, SIZE, seed=1), build()
    images = (drawn.images - MEAN) / STD
    steps = epochs * -(-count // 64)
    optimiser = torch.optim.AdamW(net.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=steps)
    for _ in range(epochs):
        for rows in DataLoader(range(count), batch_size=64, shuffle=True):  # type: ignore[arg-type]
            loss = nn.functional.cross_entropy(net(images[rows]), drawn.labels[rows])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return net.eval()


if __name__ == "__main__":
    save_file(train().state_dict(), WEIGHTS)
