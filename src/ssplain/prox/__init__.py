"""Pure tensor maths: Euclidean projections and total variation. No model, no image file.

Every function takes a batch `(N, ...)`, treats each of its N members by itself, and lets each have
a size of its own (`k`, `radius`). Nothing is changed in place.
"""

from ssplain.prox.box import project_box
from ssplain.prox.feasible import project_l0_box, project_l1_box
from ssplain.prox.l0 import project_l0, soften_l0
from ssplain.prox.l1 import project_l1
from ssplain.prox.ranking import ranked, share_threshold, top_k
from ssplain.prox.segments import project_segments
from ssplain.prox.support import project_support
from ssplain.prox.variation import total_variation, total_variation_gradient

__all__ = [
    "project_box",
    "project_l0",
    "project_l0_box",
    "project_l1",
    "project_l1_box",
    "project_segments",
    "project_support",
    "ranked",
    "share_threshold",
    "soften_l0",
    "top_k",
    "total_variation",
    "total_variation_gradient",
]
