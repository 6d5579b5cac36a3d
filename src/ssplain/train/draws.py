"""Which images are learned from, and in what order."""

import torch

from ssplain.errors import SSplainError

Images = tuple[torch.Tensor, torch.Tensor]  # images (N, C, H, W) and labels (N,)


def shuffled(labels: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return the order of an epoch in which every image comes once.

    Example:
        >>> shuffled(torch.zeros(4), torch.Generator()).sort().values
        tensor([0, 1, 2, 3])
    """
    return torch.randperm(len(labels), generator=generator)


def class_balanced(labels: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return the order of an epoch in which every class is drawn equally often, on average.

    Example:
        >>> labels = torch.tensor([0] * 900 + [1] * 100)
        >>> bool(abs(labels[class_balanced(labels, torch.Generator())].float().mean() - 0.5) < 0.1)
        True
    """
    _, inverse, counts = torch.unique(labels, return_inverse=True, return_counts=True)
    weights = (1 / counts.double())[inverse]
    return torch.multinomial(weights, len(labels), replacement=True, generator=generator)


def hold_out(images: Images, count: int, seed: int) -> tuple[Images, Images]:
    """Split off `count` randomly drawn images for validation.

    Returns:
        The images and labels to train on, and those held out.

    Example:
        >>> train, validation = hold_out((torch.zeros(10, 1), torch.arange(10)), 3, seed=0)
        >>> len(train[1]), len(validation[1])
        (7, 3)
    """
    total = len(images[1])
    if not 0 < count < total:
        raise SSplainError(
            f"Cannot hold {count} of {total} images out for validation; give 1 to {total - 1}."
        )
    order = torch.randperm(total, generator=torch.Generator().manual_seed(seed))
    kept, held = order[count:], order[:count]
    return (images[0][kept], images[1][kept]), (images[0][held], images[1][held])
