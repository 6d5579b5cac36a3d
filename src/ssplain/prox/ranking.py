"""The k largest values of each member of a batch, with a fixed rule for equal values.

Equal values matter here: half the pixels of a digit are saturated, so whoever cuts among them
decides what the map looks like. `torch.topk` and unstable sorts leave that choice to the batch, the
device and the library version; this file does not.
"""

import torch
from torch import Tensor


def top_k(values: Tensor, k: Tensor, order: Tensor | None = None) -> Tensor:
    """Mark the `k` largest values of each member.

    Where more values equal the k-th largest than there are places left, the places go to those
    that come first in `order`, or in row-major order if none is given. The choice depends on the
    member alone, not on the rest of the batch nor on the device.

    Args:
        values: `(N, ...)`, without NaN.
        k: `(N,)` whole numbers >= 0; larger than the member's size means all of it.
        order: `(N, P)`, for each member a permutation of its P flat positions, first to last.

    Returns:
        A boolean tensor like `values` with exactly `min(k, P)` true entries per member.

    >>> top_k(torch.tensor([[1.0, 3.0, 3.0, 3.0]]), torch.tensor([2]))
    tensor([[False,  True,  True, False]])
    >>> top_k(torch.tensor([[1.0, 3.0, 3.0, 3.0]]), torch.tensor([2]),
    ...       order=torch.tensor([[3, 2, 1, 0]]))
    tensor([[False, False,  True,  True]])
    """
    flat = values.flatten(1)
    size = flat.shape[1]
    k = k.clamp(0, size)
    if flat.numel() == 0 or int(k.max()) == 0:
        return torch.zeros_like(values, dtype=torch.bool)
    # One value more than needed tells, without a pass over all pixels, where a tie is cut.
    top = flat.topk(min(int(k.max()) + 1, size), dim=1).values
    threshold = top.gather(1, (k - 1).clamp(min=0)[:, None])
    following = top.gather(1, k.clamp(max=top.shape[1] - 1)[:, None])
    keep = flat >= threshold
    cut = ((following == threshold).squeeze(1) & (k < size)) | (k == 0)
    if bool(cut.any()):
        rows = cut.nonzero().squeeze(1)
        keep[rows] = _cut_ties(
            flat[rows], threshold[rows], k[rows], None if order is None else order[rows]
        )
    return keep.view_as(values)


def share_threshold(values: Tensor, inside: Tensor, share: float) -> Tensor:
    """Return the level above which a share of each member's inside lies, `(N, 1, ..., 1)`.

    It lies between two values, half way between the last that is kept and the first that is not
    where the share falls between them, and moves linearly from one such middle to the next.

    Args:
        values: `(N, ...)`, finite.
        inside: boolean like `values`, somewhere true in each member.
        share: how much is to lie above, from 0 to 1.

    >>> values = torch.tensor([[1.0, 2.0, 3.0, 4.0, 99.0]])
    >>> inside = torch.tensor([[True, True, True, True, False]])
    >>> share_threshold(values, inside, 0.5)
    tensor([[2.5000]])
    """
    down = values.masked_fill(~inside, -torch.inf).flatten(1).sort(dim=1, descending=True).values
    last = inside.flatten(1).sum(1, keepdim=True) - 1
    # the k-th value is the middle of its own step, so k values lie above the place k - 1/2
    place = (share * (last + 1).to(values.dtype) - 0.5).clamp(min=0.0)
    place = torch.minimum(place, last.to(values.dtype))
    above = place.long()
    upper, lower = down.gather(1, above), down.gather(1, torch.minimum(above + 1, last))
    level = torch.lerp(upper, lower, place - above)
    return level.view(-1, *[1] * (values.dim() - 1))


def ranked(values: Tensor, support: Tensor) -> Tensor:
    """Return the share of the support that lies below each pixel, in row-major order if equal.

    >>> ranked(torch.tensor([[[[5.0, 7.0, 6.0]]]]), torch.tensor([[[[True, True, False]]]]))
    tensor([[[[0.0000, 0.5000, 0.0000]]]])
    """
    flat = values.masked_fill(~support, torch.inf).flatten(1)
    places = flat.sort(dim=1, stable=True).indices.argsort(dim=1).to(values.dtype)
    share = places / support.flatten(1).sum(1, keepdim=True)
    return share.view_as(values).masked_fill(~support, 0.0)


def _cut_ties(flat: Tensor, threshold: Tensor, k: Tensor, order: Tensor | None) -> Tensor:
    """Keep all above the threshold, and of those that equal it the first ones in order."""
    above, equal = flat > threshold, flat == threshold
    above &= (k > 0)[:, None]
    places = (k - above.sum(1))[:, None]
    if order is None:
        return above | (equal & (equal.cumsum(1) <= places))
    equal_in_order = equal.gather(1, order)
    chosen_in_order = equal_in_order & (equal_in_order.cumsum(1) <= places)
    return above | torch.zeros_like(equal).scatter(1, order, chosen_in_order)
