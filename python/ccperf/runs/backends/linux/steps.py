"""Edits a kernel's source for exact and repeatable virtual time; `steps.toml` says what and why."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ccperf.errors import RunError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).parent / "steps.toml"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One edit: what `find` matches in the first of `files` that is there becomes `replace`."""

    name: str
    why: str
    files: tuple[str, ...]
    find: str
    replace: str

    def apply(self, tree: Path) -> None:
        """Edit the file, which is replaced by another one: it may be a link to somebody else's.

        Raises:
            RunError: if the tree has not the text that the step is about, or has it twice.
        """
        path = next((tree / name for name in self.files if (tree / name).is_file()), None)
        if path is None:
            raise RunError(
                f"the step `{self.name}` does not fit this kernel: it has no {self.files[0]}"
            )
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        edited, count = re.subn(self.find, self.replace, text)
        if count != 1:
            found = "is not there" if count == 0 else f"is there {count} times"
            raise RunError(
                f"the step `{self.name}` does not fit this kernel: its text {found} in "
                f"{path.relative_to(tree)} (without the step {self.why})"
            )
        made = path.with_name(f"{path.name}.ccperf")
        made.write_text(edited, encoding="utf-8", errors="surrogateescape")
        made.replace(path)


@cache
def steps() -> tuple[Step, ...]:
    """All steps, in their order."""
    found = tomllib.loads(DATA.read_text())["step"]
    return tuple(Step(**{**step, "files": tuple(step["files"])}) for step in found)


def apply(tree: Path) -> None:
    """Edit a tree that nobody else uses; raises `RunError` for the first step that does not fit."""
    for step in steps():
        step.apply(tree)
