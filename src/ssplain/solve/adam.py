"""Adam on a tensor with a given gradient; its state can drop rows while it runs."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Adam:
    r"""The update of Kingma & Ba (2015), as `torch.optim.Adam` does it, in place.

    \(m \leftarrow \beta_1 m + (1 - \beta_1) g\), \(v \leftarrow \beta_2 v + (1 - \beta_2) g^2\),
    \(x \leftarrow x - lr \cdot \hat m / (\sqrt{\hat v} + \epsilon)\). The optimiser of PyTorch is
    not used because images that have finished leave the batch, and their moments with them.

    Adam gives every pixel steps of the same size, however little it matters. For a ranking that is
    half of the truth: with `pooling` q, \(\hat v\) is replaced by \((1 - q) \hat v + q \bar v\),
    \(\bar v\) being the mean of \(\hat v\) over the pixels that move, so that a pixel with weak
    gradients moves less.

    >>> x = torch.zeros(1, 2)
    >>> adam = Adam.zeros_like(x, lr=0.1)
    >>> adam.step(x, torch.tensor([[5.0, -0.001]]))
    >>> x
    tensor([[-0.1000,  0.1000]])
    """

    lr: float
    mean: Tensor
    square: Tensor
    steps: int = 0
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    pooling: float = 0.0

    @classmethod
    def zeros_like(cls, x: Tensor, lr: float, pooling: float = 0.0) -> "Adam":
        """Start with no memory."""
        return cls(lr, torch.zeros_like(x), torch.zeros_like(x), pooling=pooling)

    def step(self, x: Tensor, gradient: Tensor, pixels: Tensor | None = None) -> None:
        """Move `x` against the gradient, in place.

        Args:
            x: `(N, ...)`.
            gradient: like `x`.
            pixels: `(N,)`, how many entries of each member move; all if None.
        """
        self.steps += 1
        self.mean.lerp_(gradient, 1 - self.beta1)
        self.square.mul_(self.beta2).addcmul_(gradient, gradient, value=1 - self.beta2)
        scale1 = 1 - self.beta1**self.steps
        scale2 = 1 - self.beta2**self.steps
        spread = self._pooled(pixels).sqrt().div_(scale2**0.5).add_(self.eps)
        x.addcdiv_(self.mean, spread, value=-self.lr / scale1)

    def _pooled(self, pixels: Tensor | None) -> Tensor:
        if self.pooling == 0:
            return self.square
        flat = self.square.flatten(1)
        mean = flat.mean(1) if pixels is None else flat.sum(1) / pixels
        return self.square.lerp(mean.view(-1, *[1] * (self.square.dim() - 1)), self.pooling)

    def take(self, rows: Tensor) -> None:
        """Forget all rows but these."""
        self.mean, self.square = self.mean[rows], self.square[rows]
