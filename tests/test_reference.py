"""The reference of Python: complete, made of docstrings that say what everything is."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf.evidence.compare import Comparison
from ccperf.present.notebook import Plot

ROOT = Path(__file__).parents[1]
INDEX = (ROOT / "docs/index.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs/reference.md").read_text(encoding="utf-8")

FUNCTIONS = (ccperf.run, ccperf.simulate, ccperf.grid, ccperf.bench, ccperf.compare)
METHODS = (ccperf.Runs.compare, ccperf.Runs.plot, ccperf.Runs.where, ccperf.Result.plot, Plot.save)


def test_everything_that_the_package_offers_is_in_the_reference() -> None:
    for name in set(ccperf.__all__) - {"__version__"}:
        assert re.search(
            rf"^\.\. (?:auto\w+|py:data):: ccperf\.{name}\b", REFERENCE, re.MULTILINE
        ), name


def test_everything_in_the_reference_exists() -> None:
    for path, members in re.findall(
        r"^\.\. auto\w+:: (ccperf[\w.]+).*\n(?:   :members:(.*)\n)?", REFERENCE, re.MULTILINE
    ):
        module, _, name = path.rpartition(".")
        found = getattr(importlib.import_module(module), name)
        assert inspect.getdoc(found), path
        for member in filter(None, map(str.strip, members.split(","))):
            assert inspect.getdoc(getattr(found, member)), f"{path}.{member}"


@pytest.mark.parametrize("function", FUNCTIONS + METHODS, ids=lambda f: f.__qualname__)
def test_a_docstring_says_what_every_argument_is_and_what_is_raised(
    function: Callable[..., Any],
) -> None:
    text = inspect.getdoc(function) or ""
    _, _, arguments = text.partition("Args:")
    arguments, _, raised = arguments.partition("Raises:")
    assert raised, "no `Raises:`"
    told = {
        word.strip(" *")
        for names in re.findall(r"^    ([\w, *]+):", arguments, re.MULTILINE)
        for word in names.split(",")
    }
    wanted = {name for name in inspect.signature(function).parameters if name != "self"}
    assert told == wanted


def test_every_public_method_of_what_is_returned_says_what_it_does() -> None:
    for cls in (ccperf.Runs, ccperf.Result, Comparison, Plot, ccperf.Store, ccperf.Recording):
        for name, value in vars(cls).items():
            if not name.startswith("_") and callable(value):
                assert inspect.getdoc(value), f"{cls.__name__}.{name}"


def test_every_document_is_on_the_site() -> None:
    """By the table of contents of `docs/index.md`."""
    listed = {
        line.strip()
        for block in re.findall(r"```\{toctree\}\n(.*?)```", INDEX, re.DOTALL)
        for line in block.splitlines()
        if line and not line.startswith(":")
    }
    documents = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for pattern in ("*.md", "*.ipynb", "design/*.md")
        for path in (ROOT / "docs").glob(pattern)
    } - {"index"}
    assert documents == {name for name in listed if not name.startswith("..")}
    for name in listed:
        assert any((ROOT / "docs" / f"{name}{end}").is_file() for end in (".md", ".ipynb")), name


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """The notebook is run by `make docs-site`, and its code by `test_notebook.py`."""
    if importlib.util.find_spec("myst_nb") is None:
        pytest.skip("needs what docs/requirements.lock has: make docs-site installs it")
    line = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    options = ["-D", "nb_execution_mode=off", "-c", "docs", ".", str(tmp_path / "site")]
    done = subprocess.run([*line, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/docs/reference.html").read_text(encoding="utf-8")
    assert "ccperf.grid" in page
    assert "one a core" in page
