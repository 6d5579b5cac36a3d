"""Pictures: arrays first, figures and pages on top. Pictures know results, results no pictures."""

from ssplain.report.compare import comparison
from ssplain.report.evaluation import evaluation_csv, evaluation_figure
from ssplain.report.figure import figure
from ssplain.report.page import page
from ssplain.report.render import enlarge, grey, heat, mask_view, overlay, top_view, write_png
from ssplain.report.roc import roc_figure
from ssplain.report.sanity import sanity_figure
from ssplain.report.save import save, write_figure
from ssplain.report.studies import studies_page

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
    "page",
    "roc_figure",
    "sanity_figure",
    "save",
    "studies_page",
    "top_view",
    "write_figure",
    "write_png",
]
