"""Work that is done once: results on disk under what they were made from, maps and measures."""

from ssplain.run.evaluations import evaluate_once
from ssplain.run.maps import Maps, explain_once
from ssplain.run.scene import Scene, bundled_scene
from ssplain.run.store import Store

__all__ = ["Maps", "Scene", "Store", "bundled_scene", "evaluate_once", "explain_once"]
