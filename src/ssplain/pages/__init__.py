"""Self-contained HTML pages from templates: they open from disk and need no network."""

from ssplain.pages.page import Section, page
from ssplain.pages.results import Explained, results_page
from ssplain.pages.studies import studies_page

__all__ = ["Explained", "Section", "page", "results_page", "studies_page"]
