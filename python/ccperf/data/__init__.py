"""Data files of the package."""

from __future__ import annotations

from pathlib import Path

#: Where they are.
FOLDER = Path(__file__).parent


def text(name: str) -> str:
    """Return the text of the file of this name."""
    return (FOLDER / name).read_text(encoding="utf-8")


def exists(name: str) -> bool:
    """Whether there is a file of this name."""
    return (FOLDER / name).exists()
