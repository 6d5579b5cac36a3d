"""Pictures: arrays first, figures on top. Pictures know results, results no pictures."""

from ssplain.report.compare import comparison
from ssplain.report.evaluation import evaluation_csv, evaluation_figure
from ssplain.report.figure import figure
from ssplain.report.render import enlarge, grey, heat, mask_view, overlay, top_view, write_png
from ssplain.report.roc import roc_figure
from ssplain.report.sanity import sanity_figure
from ssplain.report.save import save, write_figure

__all__ = [
    "comparison",
    "enlarge",
    "evaluation_csv",
    "evaluation_figure",
    "figure",
    "grey",
    "heat",
    "mask_view",
    "overlay",
    "roc_figure",
    "sanity_figure",
    "save",
    "top_view",
    "write_figure",
    "write_png",
]
