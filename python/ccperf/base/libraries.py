"""Libraries that ccperf can do without: what they are for says which one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ccperf.errors import UsageError


def library(name: str, install: str = "") -> Any:
    """Return a module of a library that may not be there.

    Raises `UsageError`, which says what to install (the library itself, if not given), or what
    keeps it from being loaded: a setting of the user's, say.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        install = install or missing.partition(".")[0]
        raise UsageError("", f"{missing} is not installed: pip install {install}") from error
    except Exception as error:
        message = f"{name} cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError("", message) from error


def frame(columns: Any, name: str) -> Any:
    """Return columns as a data frame of `pandas` or `polars`. Raises as `library` does."""
    return library(name).DataFrame(columns)
