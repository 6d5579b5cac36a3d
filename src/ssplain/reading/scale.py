"""At which scale the network sees an eye: that of the cameras it learned from.

These cameras see a wide field, across which the optic disc fits 11 to 15 times. A camera with a
narrower field shows vessels larger, and so less wound for each pixel, than the network knows; the
disc tells by how much. Such an eye is set smaller into the network's picture, with black around it.

Tried on 16 photographs cut to six tenths of their field and enlarged: their mean severity is 1.7 as
they are and 2.0 so set, where the same cut without enlarging gives 2.4; the second opinion says 6.1
and 3.4, and 3.1 of the whole field.
"""

DISC = 0.08  # disc diameters per side of the square: the median of 80 photographs of two cameras
_LARGEST = 0.105  # the largest disc found in 160 photographs has 0.095

Disc = tuple[float, float, float]  # row, column, radius


def side_for(side: float, disc: Disc | None) -> float:
    """Return the side of the square that the network is to see, in px of the picture.

    Args:
        side: of the square around the field of view.
        disc: row, column and radius; None if none is known.

    >>> side_for(600.0, (300.0, 200.0, 25.0)), side_for(600.0, (300.0, 200.0, 36.0))
    (600.0, 900.0)
    """
    if disc is None or not is_narrow(side, disc):
        return side
    return 2 * disc[2] / DISC


def is_narrow(side: float, disc: Disc) -> bool:
    """Say whether the field of view is narrower than that of the cameras learned from."""
    return 2 * disc[2] > _LARGEST * side


def narrow_field(side: float, disc: Disc) -> str:
    """Say in a sentence what a narrow field means.

    >>> narrow_field(600.0, (300.0, 200.0, 36.0))[:62]
    'The field of view is narrow: the optic disc takes 12 % of its '
    """
    share = 200 * disc[2] / side
    return (
        f"The field of view is narrow: the optic disc takes {share:.0f} % of its width, where it "
        "took 7 to 9 % in the photographs that were learned from. The grade is of the part that is "
        "seen, brought to their scale; no eye of such a camera was learned from."
    )
