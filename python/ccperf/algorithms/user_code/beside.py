"""What a user's Python file imports from beside it: as much part of the algorithm as the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast


def with_imports(file: Path, text: bytes, root: Path | None) -> dict[Path, bytes]:
    """Return a file's text, and those of all files beside it that it imports, and so on.

    What is imported by its whole name is looked for below `root`, if there is one. Only what is
    written as an import is found, nothing that a run imports by a computed name.
    """
    import ast

    found = {file: text}
    for path in (waiting := [file]):
        try:
            tree = ast.parse(found[path])
        except (SyntaxError, ValueError):
            continue  # whoever loads it says so
        for node in ast.walk(tree):
            for folder, parts in _imported(node, path, root):
                for other in _files(folder, parts):
                    if other not in found:
                        found[other] = other.read_bytes()
                        waiting.append(other)
    return found


def _imported(node: ast.AST, file: Path, root: Path | None) -> Iterator[tuple[Path, list[str]]]:
    """Yield where each module is looked for that a statement may import, and its name's parts."""
    import ast

    if isinstance(node, ast.Import):
        if root:
            yield from ((root, alias.name.split(".")) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        folder = file.parents[node.level - 1] if 0 < node.level <= len(file.parents) else root
        parts = node.module.split(".") if node.module else []
        if folder:
            # What is imported from a package may be a module of it.
            yield from ((folder, [*parts, alias.name]) for alias in node.names)


def _files(folder: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the files of a module and of the packages that it is in, as far as there are any.

    Those of ccperf are not the user's, even in a checkout.
    """
    for part in [] if parts[0] == "ccperf" else parts:
        module = folder / f"{part}.py"
        folder = folder / part
        for path in (folder / "__init__.py", module):
            if path.is_file():
                yield path
                break
