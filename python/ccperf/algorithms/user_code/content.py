"""What is in the files of users' algorithms: part of a run's id, so that versions stay apart.

The files of a campaign are read once. Whoever runs them compares what was loaded with what was read
then, and refuses with :class:`ChangedError`: an edit in between must not give the old code's result
to the new code, nor the other way round.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ccperf.algorithms.user_code import names
from ccperf.errors import RunError, ScenarioError

_OWN_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class ChangedError(RunError):
    """A file of user code is not what it was when the command began."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{names.label(name)} has changed since this command began, so its result would belong "
            "to neither version; run the command again (what is stored so far is of the old one)"
        )

    def __reduce__(self) -> tuple[type[ChangedError], tuple[str]]:
        """Travel between processes."""
        return ChangedError, (self.name,)


class Contents:
    """The content of user code, read when it is first asked for and then remembered."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def of(self, used: Mapping[str, str]) -> dict[str, str]:
        """SHA-256 of each one's files, by name. `used` has the path of a field that names it.

        Raises:
            ScenarioError: with each one that is not there.
        """
        problems: list[tuple[str, str]] = []
        for name, path in used.items():
            try:
                if name not in self._digests:
                    self._digests[name] = digest(name)
            except (ValueError, OSError) as error:
                problems.append((path, str(error)))
        if problems:
            raise ScenarioError(problems)
        return {name: self._digests[name] for name in used}


def digest(name: str) -> str:
    """SHA-256 of an algorithm's files. Raises :class:`ValueError` if one is not there."""
    if names.is_ns3_class(name):
        return digest_of_files(with_includes(names.files(name)))
    return digest_of_texts(texts(name))


def texts(name: str, own: bytes | None = None) -> dict[Path, bytes]:
    """What the files of an algorithm hold, with what its Python file imports from beside it.

    `own` is what the algorithm's own file holds, if that has been read. Raises
    :class:`ValueError` if a file is not there.
    """
    files = names.files(name)
    if [path.suffix for path in files] != [".py"]:
        return {path: path.read_bytes() for path in files}
    from ccperf.algorithms.user_code.beside import with_imports

    (path,) = files
    text = path.read_bytes() if own is None else own
    return with_imports(path, text, names.import_root(name, path))


def digest_of_texts(texts: Mapping[Path, bytes]) -> str:
    """SHA-256 of one file as it is, of several with their names."""
    if len(texts) < 2:
        return hashlib.sha256(b"".join(texts.values())).hexdigest()
    return _digest_of_several((path.name, text) for path, text in texts.items())


def check(expected: Mapping[str, str]) -> None:
    """Raises :class:`ChangedError` if a file is not what it was."""
    for name, content in expected.items():
        try:
            found = digest(name)
        except (ValueError, OSError):
            found = ""
        if found != content:
            raise ChangedError(name)


def with_includes(files: Sequence[Path]) -> list[Path]:
    """C++ files, all that they include in quotes from beside any of them, and so on."""
    found = [file.resolve() for file in files]
    folders = folders_of(files)
    for file in found:
        for name in _OWN_INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace")):
            places = (folder / name for folder in (file.parent, *folders))
            included = next((place.resolve() for place in places if place.is_file()), None)
            if included and included not in found:
                found.append(included)
    return found


def folders_of(files: Iterable[Path]) -> list[Path]:
    """Where what the files include in quotes is looked for, in this order."""
    return list(dict.fromkeys(file.parent for file in files))


def digest_of_files(files: Iterable[Path]) -> str:
    """SHA-256 of the files' names and contents."""
    return _digest_of_several((path.name, path.read_bytes()) for path in files)


def _digest_of_several(files: Iterable[tuple[str, bytes]]) -> str:
    hash_ = hashlib.sha256()
    for name, content in files:
        hash_.update(f"{name} {len(content)}\n".encode())
        hash_.update(content)
    return hash_.hexdigest()
