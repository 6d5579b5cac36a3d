"""One eye, from a photograph or its segmented vessels to an explained grade."""

from ssplain.reading.eye import Reading, read
from ssplain.reading.opinion import Opinion, SecondOpinion
from ssplain.reading.quadrants import Quadrant
from ssplain.reading.stability import Stability

__all__ = ["Opinion", "Quadrant", "Reading", "SecondOpinion", "Stability", "read"]
