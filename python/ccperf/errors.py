"""The ways in which a request can fail, and their exit statuses.

:class:`UsageError` and :class:`ScenarioError` mean that what was asked for cannot be (exit 2,
nothing written); :class:`RunError` that it could not be done (exit 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from errno import ENOENT
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple


class CcperfError(Exception):
    """Base of the errors that are reported to users without a traceback."""

    exit_status = 1


class UsageError(CcperfError, ValueError):
    """Wrong input. ``field`` names the option or the path of the field that is wrong."""

    exit_status = 2

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class UnknownKey(CcperfError, KeyError):
    """A name that a mapping has not; the message has those that it has."""

    exit_status = 2

    def __str__(self) -> str:  # not quoted, as that of KeyError is
        return str(self.args[0])


class MissingFile(CcperfError, FileNotFoundError):
    """A file of the user's that is not there."""

    exit_status = 2

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(ENOENT, "there is no such file", str(path))

    def __str__(self) -> str:
        return f"there is no file {self.filename}"


class Problem(NamedTuple):
    """One thing wrong with a scenario: the field's path (``flows[0].stop``), and what to do."""

    path: str
    message: str
    #: Where the field stands, e.g. ``dumbbell.toml:12``, if the scenario came from a file.
    place: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.path, self.message) if part)


class ScenarioError(CcperfError):
    """A scenario that makes no sense; ``problems`` has everything that is wrong with it.

    Not a :class:`ValueError`: pydantic would take it for one of its own and lose the paths.
    """

    exit_status = 2

    def __init__(self, problems: Iterable[Sequence[str]]) -> None:
        self.problems = [Problem(*problem) for problem in problems]
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class RunError(CcperfError):
    """A run or a check failed."""

    #: Tables whose rows have a time, as far as the run came, from a backend that keeps them:
    #: name, then column, then values.
    unfinished: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    #: The mistake is not the simulator's, but in what ccperf runs it with.
    is_own: bool = False


#: More words than that are not listed in an error, but by ``ccperf list``.
_MANY = 20
#: Nor are more than that listed at all: of names with a group before a slash the groups, else some.
_TOO_MANY = 60
#: So many words have another one inside before they are no help.
_FEW = 5
_LISTED = {"experiment": "experiments", "metric": "metrics"}


def suggestion(word: str, known: Iterable[str]) -> str:
    """`` (did you mean `x`?)`` for the nearest known word, or for those that have it inside; or an
    empty text."""
    import difflib  # where something is wrong

    by_lower = {name.lower(): name for name in known}
    inside = [name for name in by_lower if len(word) > 3 and word.lower() in name]
    # Of several that have it inside one is meant if it has little else.
    cutoff = 0.8 if inside[1:] else 0.6
    near = difflib.get_close_matches(word.lower(), inside or by_lower, n=1, cutoff=cutoff)
    near = near or inside[:_FEW]
    meant = [f"`{by_lower[name]}`" for name in near]
    *others, last = meant or [""]
    return (
        f" (did you mean {' or '.join(filter(None, (', '.join(others), last)))}?)" if near else ""
    )


def unknown(what: str, word: object, known: Iterable[str]) -> str:
    """The message for a word that is not in a list: the nearest one, then the list, or the command
    that prints it."""
    names = list(known)
    meant = suggestion(str(word), names)
    if len(names) > _MANY and what in _LISTED:
        listed = f"`ccperf list {_LISTED[what]}` has all"
        return f"unknown {what} `{word}`{meant}; {listed}"
    return f"unknown {what} `{word}`{meant}; known: {', '.join(_listed(names))}"


def _listed(names: Iterable[str]) -> list[str]:
    listed = sorted(names)
    if len(listed) > _TOO_MANY and all("/" in name for name in listed):
        listed = list(dict.fromkeys(f"{name.partition('/')[0]}/*" for name in listed))
    if len(listed) > 2 * _TOO_MANY:
        listed = [*listed[:_MANY], f"... ({len(listed):,} in all)"]
    return listed
