"""The folder of a site: only what changed is written, only what is ours is removed."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from ccperf.base.outputs import unwritable, whole
from ccperf.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: A file of a site: its name, and what is in it.
File: TypeAlias = "tuple[str, str | bytes]"
#: Marks a folder as one that a site may be written to, and has the names of the site's files. What
#: is not named there is someone else's (`CNAME`, `.git`) and stays.
MARKER = ".ccperf-site"
_NOTE = "The files that `ccperf site build` wrote here; it removes no others."


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
            text = marker.read_text(encoding="utf-8") if marker.exists() else ""
            note, *names = text.splitlines() or [""]
            if note != _NOTE:
                marker.write_text(f"{_NOTE}\n", encoding="utf-8")
                names = []
            #: The files that this build and earlier ones wrote.
            self._known = {name for name in names if _is_inside(name)}

    def path(self, name: str) -> Path:
        """Return the path of a file of the site, which then is not removed.

        Raises ValueError for a name that leads out of the folder.
        """
        self._claim(name)
        return self.folder / name

    def _claim(self, name: str) -> None:
        # Of thousands of files that stay as they are, so without paths, which take their time.
        if not _is_inside(name):
            raise ValueError(f"`{name}` is no file in the site's folder")
        self._files.add(name)

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
            if name not in self._known:
                # Before the file, so that one of a build which is killed is known as well.
                with (self.folder / MARKER).open("a", encoding="utf-8") as marker:
                    marker.write(f"{name}\n")
                self._known.add(name)
            if path.parent not in self._folders:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._folders.add(path.parent)
            with whole(path) as draft:
                draft.write_bytes(data)
            self.written += 1

    def finish(self) -> None:
        """Remove what an earlier build wrote and this one did not."""
        with _writing(self.folder):
            for name in sorted(self._known - self._files):
                self._remove(name)
            self._remove_drafts()
            text = "".join(f"{name}\n" for name in (_NOTE, *sorted(self._files)))
            marker = self.folder / MARKER
            if marker.read_text(encoding="utf-8") != text:
                with whole(marker) as draft:
                    draft.write_text(text, encoding="utf-8")

    def _remove(self, name: str) -> None:
        path = self.folder / name
        folders = [each for each in path.parents if each.is_relative_to(self.folder)]
        # A link leads to what is not the site's.
        if any(folder.is_symlink() for folder in folders[:-1]):
            return
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            path.unlink()
            self.removed += 1
        for folder in folders[:-1]:
            if not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()

    def _remove_drafts(self) -> None:
        """Remove the half of a file that a build which was killed may have left."""
        for folder in {os.path.dirname(name) for name in self._files}:
            for draft in (self.folder / folder).glob(".new-*"):
                _, _, name = draft.name.removeprefix(".new-").partition(".")
                if (f"{folder}/{name}" if folder else name) in self._known | {MARKER}:
                    draft.unlink()


def _is_inside(name: str) -> bool:
    """Whether a name is that of a file in the site's folder."""
    parts = name.split("/")
    return all(parts) and ".." not in parts and parts[-1] != MARKER and not os.path.isabs(name)


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
        raise unwritable(error.filename or path, error) from error
