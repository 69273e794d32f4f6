"""TOML files whose errors name the line.

The parser of the standard library forgets where a value stood, so the text is looked through once
more for table headers and keys; a value that this misses gets the line of what is around it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccperf.errors import MissingFile, Problem, ScenarioError
from ccperf.scenario.readable import DEPTH, DIGITS, too_deep, too_long, unreadable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*(?:\.|$)""")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*')
_STEP = re.compile(r"[.\[]?([^.\[\]]+)\]?")
_LONG = re.compile(rf"(?<![\w.])\d(?:_?\d){{{DIGITS},}}")
_JSON_KEY = re.compile(r'"([^"]*)"\s*:\s*-?$')
#: Half of a pair, or the whole.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Document:
    """A TOML file: its data, and the line of each key."""

    name: str
    #: Where relative paths in it start.
    folder: Path
    data: dict[str, Any]
    lines: dict[tuple[str, ...], int]

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read and parse a file, of JSON if its name ends so.

        Raises:
            ScenarioError: if it is no TOML, with the line, or no JSON.
            MissingFile: if it is not there, which is a `FileNotFoundError`, too.
            OSError: if it cannot be read.
        """
        try:
            text = path.read_bytes().decode("utf-8-sig")
            if path.suffix == ".json":
                data, lines = _object(path, text), {}
            else:
                data, lines = tomllib.loads(text), dict(_lines(text))
            if not _is_flat(data) or (path.suffix == ".json" and _SURROGATE.search(text)):
                problems = [each._replace(place=path.name) for each in unreadable(data)]
                if problems:
                    raise ScenarioError(problems)
            return cls(path.name, path.absolute().parent, data, lines)
        except FileNotFoundError:
            raise MissingFile(path) from None
        except UnicodeDecodeError as error:
            problem = Problem("", f"not UTF-8 at byte {error.start}", path.name)
            raise ScenarioError([problem]) from None
        except RecursionError:
            raise ScenarioError([Problem("", too_deep(), path.name)]) from None
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            line = re.search(r" \(at line (\d+), column \d+\)", message)
            place = f"{path.name}:{line[1]}" if line else path.name
            raise ScenarioError([Problem("", message, place)]) from None
        except json.JSONDecodeError as error:
            raise ScenarioError([Problem("", str(error), path.name)]) from None
        except ValueError as error:
            raise ScenarioError([_too_long(path, text) or ("", str(error), path.name)]) from None

    def place(self, path: str) -> str:
        """``file.toml:12`` of a field, or of the nearest thing around it that has a line."""
        line = self._line(path)
        return f"{self.name}:{line}" if line else self.name

    def _line(self, path: str) -> int:
        steps = tuple(_STEP.findall(path))
        while steps and steps not in self.lines:
            steps = steps[:-1]
        return self.lines.get(steps, 0)

    @contextmanager
    def placing_errors(self) -> Iterator[None]:
        """Adds its place to each problem of a :class:`ScenarioError`, and puts them in order."""
        try:
            yield
        except ScenarioError as error:
            inside = sorted(error.problems, key=lambda problem: self._line(problem.path))
            problems = [p._replace(place=self.place(p.path)) for p in inside]
            raise ScenarioError(problems) from None


def _object(path: Path, text: str) -> dict[str, Any]:
    """A scenario as JSON, alone or within a run as pages and `--json` have it."""
    data = json.loads(text, object_pairs_hook=_unique)
    if twice := list(_written_twice(data)):
        message = "is written twice in one object; leave one out"
        raise ScenarioError([Problem(name, message, path.name) for name in twice])
    inner = data.get("scenario", data) if isinstance(data, dict) else None
    if not isinstance(inner, dict):
        raise ScenarioError([Problem("", "is not an object with a scenario's fields", path.name)])
    return inner


class _Ambiguous(dict[str, Any]):
    """An object of JSON with keys that are there twice, of which one value is lost."""

    twice: tuple[str, ...] = ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    ambiguous = _Ambiguous(made)
    counts = Counter(name for name, _ in pairs)
    ambiguous.twice = tuple(name for name, count in counts.items() if count > 1)
    return ambiguous


def _written_twice(data: Any, path: str = "") -> Iterator[str]:
    """The paths of the keys that are there twice."""
    if isinstance(data, dict):
        if isinstance(data, _Ambiguous):
            yield from (f"{path}.{name}" if path else name for name in data.twice)
        for name, value in data.items():
            if isinstance(value, dict | list):
                yield from _written_twice(value, f"{path}.{name}" if path else name)
    elif isinstance(data, list):
        for i, value in enumerate(data):
            if isinstance(value, dict | list):
                yield from _written_twice(value, f"{path}[{i}]")


def _is_flat(data: Any) -> bool:
    """Whether nothing is nested deeper than a field can be."""
    level = [data]
    for _ in range(DEPTH):
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [value for part in inside for value in part if isinstance(value, dict | list)]
        if not level:
            return True
    return False


def _too_long(path: Path, text: str) -> Problem | None:
    """What to say of a number that is too long to be read."""
    names = {line: ".".join(steps) for steps, line in _lines(text)}
    for number, line in enumerate(text.splitlines(), 1):
        if found := _LONG.search(line):
            key = _JSON_KEY.search(line[: found.start()])
            name = key[1] if key else names.get(number, "")
            digits = len(found[0].replace("_", ""))
            return Problem(name, too_long(digits), f"{path.name}:{number}")
    return None


def _lines(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """The line of each table header and of each key at the start of a line."""
    table: tuple[str, ...] = ()
    elements: dict[tuple[str, ...], int] = {}
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        inside, bare = depth > 0, _STRING.sub("", line)
        depth += sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))
        if inside:
            continue
        if header := _HEADER.match(line):
            table = _resolved(_parts(header[2]), elements)
            if header[1] == "[[":
                plain = table
                elements[plain] = elements.get(plain, -1) + 1
                table = (*plain, str(elements[plain]))
                yield plain, number
            yield table, number
        elif key := _KEY.match(line):
            yield (*table, *_parts(key[1])), number


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple("".join(match.groups(default="")) for match in _PART.finditer(dotted))


def _resolved(path: tuple[str, ...], elements: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Puts the number of the present element behind each array of tables on the way."""
    resolved: tuple[str, ...] = ()
    for part in path[:-1]:
        resolved = (*resolved, part)
        if resolved in elements:
            resolved = (*resolved, str(elements[resolved]))
    return (*resolved, *path[-1:])
