"""Sysctls of Linux's network, as a scenario has them and as they stand on a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ccperf.errors import UsageError


def named(value: object) -> object:
    """Sysctls with whole names, and texts as values: ``tcp_ecn = 1``.

    As sysctl(8) has it, slashes may stand for dots; several numbers are a list or a text.
    """
    return _named(value) if isinstance(value, Mapping) else value


def one_spelling(given: str | Mapping[str, object], field: str = "sysctl") -> str:
    """``tcp_ecn=1 tcp_rmem=4096 131072 6291456``, of sysctls by name or of such a text.

    A text may have commas between them. Raises `UsageError`, which names the field.
    """
    try:
        found = _named(given if isinstance(given, Mapping) else _words(given))
    except ValueError as error:
        raise UsageError(field, str(error)) from None
    short = {name.removeprefix("net.ipv4."): value for name, value in found.items()}
    return " ".join(f"{name}={value}" for name, value in sorted(short.items()))


def read(text: str) -> dict[str, str]:
    """By their whole names what :func:`one_spelling` wrote."""
    return _named(_words(text))


def _named(given: Mapping[str, object]) -> dict[str, str]:
    found = {}
    for name, setting in given.items():
        dotted = str(name).replace("/", ".")
        whole = dotted if "." in dotted else f"net.ipv4.{dotted}"
        if not re.fullmatch(r"net(\.[a-z0-9_]+){2,}", whole):
            raise ValueError(
                f"`{name}` is no sysctl of the network: tcp_ecn, or net.ipv4.tcp_ecn in quotes"
            )
        numbers = list(setting) if isinstance(setting, list | tuple) else [setting]
        if not numbers or any(isinstance(n, bool) or not isinstance(n, int | str) for n in numbers):
            raise ValueError(f"{name} = {setting!r}: a sysctl is a number, several, or a text")
        if whole in found:
            raise ValueError(f"`{name}` is there twice")
        found[whole] = " ".join(map(str, numbers))
    return found


def _words(text: str) -> dict[str, list[str]]:
    """The values of each name, as they are written. Raises `ValueError`."""
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for word in text.replace(",", " ").split():
        name, equals, value = word.partition("=")
        if not equals and not found:
            raise ValueError(f"`{word}` has no value: {word}=1")
        if equals and name in found:
            raise ValueError(f"`{name}` is there twice")
        if equals:
            values = found[name] = []
        values += [value if equals else word] if value or not equals else []
    if missing := [name for name, numbers in found.items() if not numbers]:
        raise ValueError(f"`{missing[0]}` has no value: {missing[0]}=1")
    if not found:
        raise ValueError("names no sysctl: tcp_sack=0")
    return found
