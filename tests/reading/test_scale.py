"""Eyes seen by cameras with a narrower field than those that were learned from."""

import pytest

from ssplain.reading.image import open_image
from ssplain.reading.scale import DISC, wider
from tests.reading.eyes import SIDE, cross, reader

MIDDLE = (SIDE / 2, SIDE / 2)


def test_a_narrow_field_is_set_into_a_picture_of_the_usual_scale() -> None:
    network = reader()
    wide = network.read(open_image(cross()), disc=(*MIDDLE, 3.0))
    narrow = network.read(open_image(cross()), disc=(*MIDDLE, 5.0))
    assert wide.frame.side == SIDE
    assert narrow.frame.side == 125  # 10 px of disc are 8 % of it
    assert narrow.second_opinion.unit == pytest.approx(DISC * network.size, rel=0.01)
    told = [
        warning for warning in narrow.warnings if "narrow: the optic disc takes 16 %" in warning
    ]
    assert len(told) == 1
    assert not any("narrow" in warning for warning in wide.warnings)
    # laid back, the explanation lies where the vessels are, as before
    assert narrow.relevance.shape == cross().shape
    assert (narrow.relevance[cross() == 0] == 0).all()
    assert narrow.relevance.max() > 0


def test_the_scale_of_ordinary_photographs_stays() -> None:
    """Discs of 5 to 9.5 % of the side were found in the photographs of both cameras."""
    for share in (0.05, 0.08, 0.095):
        assert wider(640.0, (300.0, 300.0, share * 640 / 2)) == 1
    assert wider(640.0, None) == 1
