"""The folder of a site: only what changed is written, only what is ours is removed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ccperf.errors import RunError, UsageError
from ccperf.outputs import whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Marks a folder as one that a site may be written to.
MARKER = ".ccperf-site"
_NOTE = "This folder is written by `ccperf site build`; what is not of the site is removed.\n"


class Output:
    """The folder that a site is written to.

    A file is replaced as a whole, so that a build which is interrupted leaves no half of one.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder a site's.

        Raises `UsageError` if it cannot be written to, or holds files but no site.
        """
        self.folder = folder
        self.written = 0
        self.unchanged = 0
        self.removed = 0
        self._files: set[Path] = set()
        with _errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / MARKER).exists():
                if any(folder.iterdir()):
                    raise UsageError(
                        str(folder), "holds files but no ccperf site; name another folder"
                    )
                (folder / MARKER).write_text(_NOTE, encoding="utf-8")

    def path(self, name: str) -> Path:
        """Return the path of a file of the site, which then is not removed.

        Raises ValueError for a name that leads out of the folder.
        """
        path = self.folder / name
        if not name or path.name == MARKER or ".." in path.parts[len(self.folder.parts) :]:
            raise ValueError(f"`{name}` is no file of a site")
        if not path.is_relative_to(self.folder):
            raise ValueError(f"`{name}` is not in the site's folder")
        self._files.add(path)
        return path

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file unless it has this content already."""
        data = content.encode() if isinstance(content, str) else content
        path = self.path(name)
        with _writing(path):
            if path.is_file() and path.read_bytes() == data:
                self.unchanged += 1
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole(path) as draft:
                draft.write_bytes(data)
            self.written += 1

    def finish(self) -> None:
        """Remove what an earlier build wrote and this one did not."""
        with _writing(self.folder):
            for path in sorted(self.folder.rglob("*"), reverse=True):
                if path.is_dir() and not path.is_symlink():
                    if not any(path.iterdir()):
                        path.rmdir()
                elif path not in self._files and path.name != MARKER:
                    path.unlink()
                    self.removed += 1


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{error.filename or path}: cannot be written: {error.strerror or error}"
        raise RunError(f"{message}; the same command goes on where it was") from error


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            str(error.filename or path), f"cannot be written: {error.strerror or error}"
        ) from error
