"""Work that is done once: results on disk under what they were made from, and maps in pieces."""

from ssplain.run.maps import Maps, maps_in_pieces
from ssplain.run.measured import evaluate_once
from ssplain.run.store import Store

__all__ = ["Maps", "Store", "evaluate_once", "maps_in_pieces"]
