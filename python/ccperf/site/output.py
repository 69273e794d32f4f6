"""The folder of a site: only what changed is written, only what is ours is removed."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from ccperf.base.outputs import whole
from ccperf.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: A file of a site: its name, and what is in it.
File: TypeAlias = "tuple[str, str | bytes]"
#: Marks a folder as one that a site may be written to.
MARKER = ".ccperf-site"
_NOTE = b"This folder is written by `ccperf site build`; what is not of the site is removed.\n"


class Output:
    """The folder that a site is written to.

    A file is replaced as a whole, so that a build which is interrupted leaves no half of one.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder a site's.

        Raises `UsageError` if it cannot be written to, or holds files but no site.
        """
        self.folder = folder
        self._root = str(folder)
        self.written = 0
        self.unchanged = 0
        self.removed = 0
        self._files: set[str] = set()
        self._folders: set[Path] = set()
        with _errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            marker = folder / MARKER
            if not marker.exists() and any(folder.iterdir()):
                raise UsageError(str(folder), "holds files but no ccperf site; name another folder")
            # Its name marks the folder; the text may be missing where a build was killed.
            if not marker.exists() or marker.read_bytes() != _NOTE:
                marker.write_bytes(_NOTE)

    def path(self, name: str) -> Path:
        """Return the path of a file of the site, which then is not removed.

        Raises ValueError for a name that leads out of the folder.
        """
        self._claim(name)
        return self.folder / name

    def _claim(self, name: str) -> None:
        # Of thousands of files that stay as they are, so without paths, which take their time.
        parts = name.split("/")
        if not parts[-1] or parts[-1] == MARKER or ".." in parts:
            raise ValueError(f"`{name}` is no file of a site")
        if not parts[0] or os.path.isabs(name):
            raise ValueError(f"`{name}` is not in the site's folder")
        self._files.add(os.path.join(self._root, *parts))

    def keep(self, files: Sequence[tuple[str, int, int]]) -> bool:
        """Keep files as an earlier build has left them; False if one is missing or was touched.

        Of each the name, and its size and time as `stamp` has given them.
        """
        if any(self.stamp(name) != (size, time) for name, size, time in files):
            return False
        for name, _, _ in files:
            self._claim(name)
        self.unchanged += len(files)
        return True

    def stamp(self, name: str) -> tuple[int, int] | None:
        """Return size and time of a file, by which a change is noticed; None if there is none."""
        try:
            status = os.stat(f"{self._root}/{name}")
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file unless it has this content already."""
        data = content.encode() if isinstance(content, str) else content
        path = self.path(name)
        with _writing(path):
            if path.is_file() and path.read_bytes() == data:
                self.unchanged += 1
                return
            if path.parent not in self._folders:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._folders.add(path.parent)
            with whole(path) as draft:
                draft.write_bytes(data)
            self.written += 1

    def finish(self) -> None:
        """Remove what an earlier build wrote and this one did not."""
        with _writing(self.folder):
            for folder, folders, names in os.walk(self.folder, topdown=False):
                links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
                kept = False
                for name in (*names, *links):
                    path = os.path.join(folder, name)
                    own = folder == str(self.folder) and name == MARKER
                    if path in self._files or own:
                        kept = True
                        continue
                    os.unlink(path)
                    self.removed += 1
                if not kept and folder != str(self.folder) and not os.listdir(folder):
                    os.rmdir(folder)


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
