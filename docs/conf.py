"""How the site is built: Sphinx with MyST, furo and sphinx-gallery; offline, warnings are errors.

Sphinx rather than MkDocs: cross-references and links inside the site are checked while it is built,
sphinx-gallery runs the examples and keeps their figures, and all parts are still being cared for.
Pages stay Markdown. Formulas become MathML here, so that no page asks a network for anything.
"""

import re
import warnings
from typing import Any

from latex2mathml.converter import convert

from ssplain import __version__

warnings.filterwarnings("ignore")

project, author, copyright = "ssplain", "the ssplain developers", "MIT licence"  # noqa: A001
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "notebooks", "gallery/README.*"]
html_theme = "furo"
html_title = f"ssplain {release}"
html_math_renderer = "mathml"
html_copy_source = False
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring, napoleon_numpy_docstring = True, False
suppress_warnings = ["myst.xref_missing", "config.cache", "autodoc.duplicate_object"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(?:^|/)(?!plot_)[^/]+\.py$",  # others are imported, or run by hand
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 3600,
    "abort_on_example_error": True,
    "download_all_examples": False,
}


_PARTS = re.compile(
    r"(\\\(.*?\\\)|`[^`]*`|^ *\.\. math::[^\n]*$|^ *(?:>>>|\.\.\. )[^\n]*$)",
    re.MULTILINE | re.DOTALL,
)


def _formulas(*event: Any) -> None:  # noqa: ANN401 - as Sphinx calls it; the lines come last
    """Turn the Markdown of our docstrings into what Sphinx reads: formulas, stars, bars."""
    lines: list[str] = event[-1]
    text = "\n".join(lines)
    text = re.sub(
        r"\n( *)\\\[(.*?)\\\]",
        lambda m: f"\n\n{m[1]}.. math:: {' '.join(m[2].split())}\n",
        text,
        flags=re.DOTALL,
    )
    parts = _PARTS.split(text)
    for i, part in enumerate(parts):
        if part.startswith("\\("):
            parts[i] = f":math:`{' '.join(part[2:-2].split())}`"
        elif i % 2 == 0:
            parts[i] = re.sub(r"(?<!\\)([*|])", r"\\\1", part)
    lines[:] = "".join(parts).split("\n")


def _inline(self: Any, node: Any) -> None:  # noqa: ANN401
    from docutils import nodes  # noqa: PLC0415

    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(self: Any, node: Any) -> None:  # noqa: ANN401
    from docutils import nodes  # noqa: PLC0415

    self.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise nodes.SkipNode


def setup(app: Any) -> None:  # noqa: ANN401
    """Connect the above."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("autodoc-process-docstring", _formulas, priority=100)
