"""Fundus photographs: field of view, vessels, optic disc and quality."""

from ssplain.fundus.disc import find_disc
from ssplain.fundus.field import Field, field
from ssplain.fundus.quality import Quality, quality
from ssplain.fundus.segment import FAINT, SURE, segment

__all__ = ["FAINT", "SURE", "Field", "Quality", "field", "find_disc", "quality", "segment"]
