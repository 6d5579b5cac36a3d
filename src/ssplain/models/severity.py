"""One number for how severe plus disease is, from the probabilities of its three grades."""

from collections.abc import Callable

import torch

from ssplain.errors import SSplainError

GRADES = (1.0, 5.0, 9.0)  # of Normal, Pre-plus and Plus on the scale from 1 to 9


def severity_of(probabilities: torch.Tensor) -> torch.Tensor:
    """Severity (N,) from 1 to 9 of probabilities (N, 3) of Normal, Pre-plus and Plus.

    `1 p(Normal) + 5 p(Pre-plus) + 9 p(Plus)`: the mean grade on a scale on which graders put
    normal eyes at 1 and the plainest plus disease at 9. It is ordinal: what lies between two grades
    is given a number between theirs.

    Reference: T. K. Redd et al., Evaluation of a deep learning image assessment system for
    detecting severe retinopathy of prematurity, British Journal of Ophthalmology 103(5), 2019.

    Example:
        >>> severity_of(torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
        tensor([1., 7.])
    """
    if probabilities.ndim != 2 or probabilities.shape[1] != len(GRADES):
        raise SSplainError(
            "Severity needs the probabilities of Normal, Pre-plus and Plus, (N, 3); these have the "
            f"shape {tuple(probabilities.shape)}."
        )
    return probabilities @ probabilities.new_tensor(GRADES)


def severity(
    model: Callable[[torch.Tensor], torch.Tensor], images: torch.Tensor, batch_size: int = 32
) -> torch.Tensor:
    """Severity (N,) from 1 to 9 of plus disease in images, by a model that gives three logits.

    Args:
        model: gives logits (N, 3) of Normal, Pre-plus and Plus, such as "googlenet-rop".
        images: (N, 1, H, W) in [0, 1].
        batch_size: images at a time.

    Raises:
        SSplainError: If the model has not three classes.

    Example:
        >>> from ssplain.models import load
        >>> severity(load("googlenet-rop"), torch.zeros(2, 1, 224, 224)).shape
        torch.Size([2])
    """
    with torch.inference_mode():
        parts = [model(part).softmax(1) for part in torch.split(images, batch_size)]
        return severity_of(torch.cat(parts))
