"""Command lines as other programs spell them, and what is said of those that cannot be meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from ccperf.errors import UsageError

#: What other programs call an option: Flent, iperf3 and ns-3's.
SYNONYMS = {"--stop-time": ("--duration", "--time")}


def usual(arguments: Sequence[str]) -> list[str]:
    """The words with `-j4` in two, and `--stop-time -1s` in one; what follows `--` is not ours.

    A value that begins like a negative number is one: who reads it says what is wrong with it.
    Raises :class:`~ccperf.errors.UsageError` for an empty value: in a script that is a variable
    which is not set.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    words: list[str] = []
    for word in arguments[:end]:
        option = words[-1] if words else ""
        if option.startswith("--") and not word:
            raise UsageError(option, "is empty; give a value, or leave it out")
        if re.fullmatch("--[a-z][a-z-]*=", word):
            raise UsageError(word[:-1], "is empty; give a value, or leave it out")
        if re.fullmatch("--[a-z][a-z0-9-]*", option) and re.match("-[0-9.]", word):
            words[-1] = f"{option}={word}"
            continue
        jobs = re.fullmatch("-j([0-9]+)", word)
        words += ["-j", jobs[1]] if jobs else [word]
    return [*words, *arguments[end:]]


def as_typed(message: str, arguments: Sequence[str]) -> str:
    """An error about an option by the name that was typed: ``--duration`` for ``--stop-time``."""
    for option, others in SYNONYMS.items():
        given = (word.partition("=")[0] for word in arguments)
        typed = next((word for word in given if word in (option, *others)), option)
        if message.startswith(f"{option}:"):
            return typed + message.removeprefix(option)
    return message


def is_database(word: str) -> bool:
    """Whether a word is meant for one: no run, algorithm or experiment is called so."""
    return Path(word).suffix == ".db"


def with_databases(arguments: Sequence[str], files: Sequence[str]) -> str:
    """The command line with these databases, which it has elsewhere, where they belong."""
    words = [word for word in arguments if word not in files]
    at = words.index("--db") if "--db" in words else len(words)
    words[at : at + 2] = ["--db", ",".join([*words[at + 1 : at + 2], *files])]
    return f"`{shlex.join(['ccperf', *words])}`"


def too_much(
    unused: Sequence[str],
    arguments: Sequence[str],
    takes_several: Callable[[str], bool],
    *,
    has_databases: bool,
) -> str:
    """What to say of words that belong to nothing: most are the rest of a list with blanks.

    `takes_several` tells whether an option has lists with commas, and `has_databases` whether --db
    is one.
    """
    first = arguments.index(unused[0]) if unused and unused[0] in arguments else 0
    option, value = arguments[first - 2 : first] if first >= 2 else ("", "")
    if option.startswith("--") and not value.startswith("-"):
        if not takes_several(option):
            return f"{option}: takes one value; `{' '.join(unused)}` is too much"
        values = ",".join([value, *unused])
        return f"{option}: several values have commas between them: {option} {values}"
    if has_databases and unused and all(map(is_database, unused)):
        files = unused if takes_several("--db") else unused[:1]
        rest = [word for word in arguments if word not in unused]
        return f"`{unused[0]}` is a database; write {with_databases(rest, files)}"
    return f"`{' '.join(unused)}` is too much here; see `ccperf {arguments[0]} --help`"
