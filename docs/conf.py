"""How `make docs-site` builds all documents, the reference and the notebook into one site.

The source folder is the whole repository, so that links between documents need no change.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "python"))

import ccperf  # noqa: E402

project = "ccperf"
author = "The ccperf authors"
version = release = ccperf.__version__
copyright = "the ccperf authors, Apache-2.0"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks/decisions.md",
    "fuzz/README.md",
]
exclude_patterns = ["docs/conf.py", "docs/requirements.*", "docs/images/**"]

html_theme = "furo"
html_title = f"ccperf {version}"
html_show_sphinx = False
# Nothing is loaded from a network.
html_theme_options = {"source_view_link": ""}

# Anchors as repositories make them.
myst_heading_anchors = 4
myst_enable_extensions = ["fieldlist"]
# `console` has a prompt before what is typed, which is not copied.
copybutton_prompt_text = "$ "

# The notebook is run as the site is built; a mistake in it fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
napoleon_google_docstring = True
napoleon_numpy_docstring = False


def _code(_app: Any, _what: str, _name: str, _of: Any, _options: Any, lines: list[str]) -> None:
    """What stands between single backquotes is code, as everywhere in this repository."""
    lines[:] = [re.sub(r"(?<![`:\w])`([^`\n]+)`(?![`_])", r"``\1``", line) for line in lines]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _code)
