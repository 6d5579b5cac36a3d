"""At which scale an eye is read: that of the cameras that the networks learned from.

These cameras see a wide field, across which the optic disc fits 11 to 15 times. A camera with a
narrower field shows vessels larger, and so less wound for each pixel, than the networks know; the
disc tells by how much. Such an eye is taken for the middle of a wider field, with black around it:
its vessels are looked for, and graded, as large as they are in other photographs.

Tried on 20 photographs cut to six tenths of their field and enlarged, against the same cut without
enlarging; see docs/read.md.
"""

DISC = 0.08  # disc diameters per side of the square: the median of 80 photographs of two cameras
_LARGEST = 0.105  # the largest disc found in 160 photographs has 0.095

Disc = tuple[float, float, float]  # row, column, radius


def wider(side: float, disc: Disc | None) -> float:
    """Return by what factor a field is to be taken for wider than it is; 1 for those known.

    Args:
        side: of the square around the field of view, in px.
        disc: row, column and radius; None if none is known.

    >>> wider(600.0, (300.0, 200.0, 25.0)), wider(600.0, (300.0, 200.0, 36.0))
    (1.0, 1.5)
    """
    if disc is None or 2 * disc[2] <= _LARGEST * side:
        return 1.0
    return 2 * disc[2] / (DISC * side)


def narrow_field(factor: float) -> list[str]:
    """Say in a sentence what it means that a field was taken for wider than it is.

    >>> narrow_field(1.0)
    []
    >>> narrow_field(1.5)[0][:62]
    'The field of view is narrow: the optic disc takes 12 % of its '
    """
    told = (
        f"The field of view is narrow: the optic disc takes {100 * DISC * factor:.0f} % of its "
        "width, where it took 7 to 9 % in the photographs that were learned from. The grade is of "
        "the part that is seen, brought to their scale; no eye of such a camera was learned from."
    )
    return [told] if factor > 1 else []
