"""An own model
============

A network that nobody has seen before, with two outputs in a dict, trained for a second on half of
the bundled digits to tell small digits from large ones.
"""

import torch
from torch import Tensor, nn

import ssplain
from ssplain import SSplain

images, labels = ssplain.data.bundled("mnist")


class Mine(nn.Module):
    """Is the digit five or more?"""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8 * 12 * 12, 2)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Return the two classes and what they were made from."""
        features = self.body(x)
        return {"features": features, "size": self.head(features)}


torch.manual_seed(0)
model = Mine()
optimiser = torch.optim.Adam(model.parameters(), 3e-3)
for _ in range(40):
    loss = nn.functional.cross_entropy(model(images[:250])["size"], (labels[:250] >= 5).long())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

result = SSplain(model, output="size", budget=0.2).explain(images[250:254])
figure = ssplain.report.figure(result)
