"""Plain command lines, read without a library: those that are what a command declares.

Most lines are words in their places, `--option value` and `--flag`. To load cyclopts and let it
read one takes a quarter of a short run. Whatever else there is, mistakes and help among it, is
cyclopts' (`whole`), and what is read here it reads alike (`tests/cli/test_plain.py`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError

_OPTION = re.compile("--[a-z][a-z0-9-]*")
#: Of each command, and nowhere declared.
_EVERYWHERE = ("--help", "--version")
_NUMBER = re.compile("0|[1-9][0-9]*")


class Call(NamedTuple):
    """What a command is called with."""

    words: list[Any]
    options: dict[str, Any]


class _NotPlain(Exception):
    """Something that is not read here."""


class _Option(NamedTuple):
    """Where the value of an option goes: a parameter, or a field of one that is a dataclass."""

    name: str
    hint: Any
    group: str


class _Signature:
    """What a command takes."""

    def __init__(self, command: Callable[..., object]) -> None:
        self.places: list[Any] = []
        self.least = 0
        self.rest: Any = None
        self.others: Any = None
        self.options: dict[str, _Option] = {}
        self.groups: dict[str, type] = {}
        hints = hints_of(command)
        for name, parameter in inspect.signature(command).parameters.items():
            hint = hints[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                self.rest = hint
            elif parameter.kind is parameter.VAR_KEYWORD:
                self.others = hint
            elif parameter.kind is parameter.KEYWORD_ONLY:
                self._add(name, hint)
            else:
                self.places.append(hint)
                self.least += parameter.default is parameter.empty

    def _add(self, name: str, hint: Any) -> None:
        group, _ = _bare(hint)
        if not (isinstance(group, type) and is_dataclass(group)):
            self._name(name, hint, "")
            return
        self.groups[name] = group
        hints = hints_of(group)
        for field in fields(group):
            self._name(field.name, hints[field.name], name)

    def _name(self, name: str, hint: Any, group: str) -> None:
        _, said = _bare(hint)
        for spelt in (said.names if said else ()) or (f"--{name.replace('_', '-')}",):
            self.options[spelt] = _Option(name, hint, group)


def hints_of(described: Any) -> dict[str, Any]:
    """Return what the parameters of a command, or the fields of a group of options, are said to be.

    Python 3.10 puts `Optional` around what has None for a default, so around what is said of it.
    """
    found = get_type_hints(described, include_extras=True)
    return {name: _said(hint) for name, hint in found.items()}


def _said(hint: Any) -> Any:
    kinds = get_args(hint) if get_origin(hint) is Union else ()
    return next((kind for kind in kinds if get_origin(kind) is Annotated), hint)


def read(command: Callable[..., object], words: Sequence[str]) -> Call | None:
    """Return what a command is called with, or None if that is not plain.

    Raises :class:`~ccperf.errors.UsageError` for what would be taken for a group of options: its
    name is a parameter of the command, but no option.
    """
    takes = _Signature(command)
    groups = {f"--{name}" for name in takes.groups if takes.others}
    for spelt in (word.partition("=")[0] for word in words):
        if spelt in groups:
            raise UsageError(spelt, "there is no such option; `--help` has them")
    try:
        return _read(takes, list(words))
    except _NotPlain:
        return None


def takes(command: Callable[..., object], spelt: str) -> bool:
    """Whether a command declares an option."""
    return spelt in _Signature(command).options


def takes_several(command: Callable[..., object], spelt: str) -> bool:
    """Whether an option of a command has lists with commas: of words, or of files."""
    takes = _Signature(command)
    if spelt not in takes.options:
        return takes.others is not None
    kind, _ = _bare(takes.options[spelt].hint)
    return kind is str or get_origin(kind) is list


def _read(takes: _Signature, words: list[str]) -> Call:
    places: list[str] = []
    options: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            places.append(word)
            continue
        spelt, is_joined, value = word.partition("=")
        if spelt in takes.options:
            option = takes.options[spelt]
        elif takes.others and _OPTION.fullmatch(spelt) and spelt not in _EVERYWHERE:
            option = _Option(spelt[2:], takes.others, "")
        else:
            raise _NotPlain
        kind, said = _bare(option.hint)
        given = groups.setdefault(option.group, {}) if option.group else options
        is_list = get_origin(kind) is list
        if (option.name in given and not is_list) or (is_joined and kind is bool):
            raise _NotPlain
        if kind is bool:
            given[option.name] = True
            continue
        if not is_joined:
            value = words.pop(0) if words else ""
        if is_list:
            if said is not None and said.consume_multiple and words and words[0][0:1] != "-":
                raise _NotPlain
            given.setdefault(option.name, []).append(_value(get_args(kind)[0], value))
        else:
            given[option.name] = _value(kind, value)
    if len(places) < takes.least or (len(places) > len(takes.places) and takes.rest is None):
        raise _NotPlain
    hints = [*takes.places, *[takes.rest] * (len(places) - len(takes.places))]
    found = [_value(_bare(hint)[0], word) for hint, word in zip(hints, places, strict=False)]
    for name, values in groups.items():
        options[name] = takes.groups[name](**values)
    return Call(found, options)


def _bare(hint: Any) -> tuple[Any, Parameter | None]:
    """Return a type without what is said of it and without None, and what is said of it."""
    said = None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        said = next((note for note in notes if isinstance(note, Parameter)), None)
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    return hint, said


def _value(kind: Any, word: str) -> Any:
    if not word or word.startswith("-"):
        raise _NotPlain
    if kind is str or kind is Path:
        return kind(word)
    if kind is int and _NUMBER.fullmatch(word):
        return int(word)
    if get_origin(kind) is Literal and word in get_args(kind):
        return word
    raise _NotPlain
