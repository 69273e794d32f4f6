"""An algorithm with parameters of its own, in one word: ``cubic(Beta=0.5)``.

Brackets are for people, figures and files. A shell wants quotes around them; it takes
``cubic:Beta=0.5:HyStart=false`` as it is. Several values of a parameter, ``cubic:Beta=0.5/0.7`` or
``cubic(Beta=0.5|0.7)``, are several algorithms. What is stored and shown has brackets and one
value each. What ns-3 prints and reads, ``ns3::TcpCubic[Beta=0.5|HyStart=false]`` and
``ns3::TcpCubic::Beta=0.5``, is read as well.

Queue disciplines of Linux's are written as for ``tc``, too: ``linux:fq_codel limit 1000 ecn``. What
begins with a letter is a parameter there, what follows is its value, and one without is ``true``. A
whole command, ``tc qdisc add dev eth0 root fq_codel limit 1000``, is the same, whatever its device.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import product

_BRACKETS = re.compile(r"(?P<name>[^()]*[^()\s])\s*\((?P<inside>.*)\)", re.DOTALL)
_COLONS = re.compile(r"(?P<name>.+?)(?P<pairs>(?:::?[A-Za-z_]\w*=[^:]*)+)")
_NS3 = re.compile(r"\s*(?P<name>(?:ns3::)?\w+)\[(?P<inside>[^][]*)\]\s*")
_WORDS = re.compile(r"(?P<name>linux:\w+)\s+(?P<words>[A-Za-z].*\S)\s*", re.DOTALL)
_TC = re.compile(
    r"\s*(?:sudo\s+)?tc\s+qdisc\s+(?:add|change|replace)\s+"
    r"(?:root\s+|(?:dev|parent|handle)\s+\S+\s+)+(?P<words>\w.*\S)\s*",
    re.DOTALL,
)
_DECIMAL = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d{1,3})?", re.ASCII)
_PAIR = re.compile(r"\s*((?:\w+::)*[A-Za-z_][\w-]*)\s*=\s*(.*\S)\s*", re.DOTALL)


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Name and parameters; a name alone has none.

    Raises :class:`ValueError` for brackets that hold something else.
    """
    if text.isidentifier():  # as most are
        return text, {}
    text = _plain(text)
    if found := _WORDS.fullmatch(text):
        pairs = [f"{name}={value}" for name, value in _pairs(found["words"].split())]
    elif found := _BRACKETS.fullmatch(text):
        pairs = split(found["inside"]) if found["inside"].strip() else []
    elif found := _COLONS.fullmatch(text):
        pairs = list(filter(None, found["pairs"].split(":")))
    else:
        return text, {}
    attributes: dict[str, str] = {}
    for pair in pairs:
        if not (both := _PAIR.fullmatch(pair)):
            name = found["name"]
            raise ValueError(f"`{text}`: `{pair}` is no parameter; write {name}(Name=value)")
        if both[1] in attributes:
            raise ValueError(f"`{text}`: `{both[1]}` is given twice")
        attributes[both[1]] = both[2]
    return found["name"], attributes


def _plain(text: str) -> str:
    """The discipline of a command of tc's, which names a device, too, and what ns-3 writes with
    brackets of its own, with ours; any other text as it is."""
    if found := _TC.fullmatch(text):
        return f"linux:{found['words']}"
    found = _NS3.fullmatch(text)
    return f"{found['name']}({found['inside'].replace('|', ',')})" if found else text


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    """Parameters as ``tc`` has them."""
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if word[0].isalpha():
            found.append((word, []))
        else:
            found[-1][1].append(word)
    return [(name, " ".join(values) or "true") for name, values in found]


def is_pair(text: str) -> bool:
    """Whether this is a parameter with its value: ``Beta=0.5``."""
    return _PAIR.fullmatch(text) is not None


def bare(text: str) -> str:
    """The name alone, however the parameters are written."""
    text = _plain(text)
    found = _WORDS.fullmatch(text) or _BRACKETS.fullmatch(text) or _COLONS.fullmatch(text)
    return found["name"] if found else text


def write(name: str, attributes: Mapping[str, str]) -> str:
    """What :func:`parse` reads, with brackets."""
    inside = ",".join(f"{attribute}={value}" for attribute, value in attributes.items())
    return f"{name}({inside})" if inside else name


def number(value: str) -> str:
    """A decimal fraction as Python writes it: ``.7`` and ``0.70`` are ``0.7``; others as they are.

    One value has one text, and so an algorithm of a user's one name. What a parameter means only
    its owner knows: a whole number stays one.
    """
    if not _DECIMAL.fullmatch(value):
        return value
    found = float(value)
    return repr(found) if math.isfinite(found) else value


def cut(text: str) -> tuple[str, str]:
    """The name, and the brackets as they are written, if there are some."""
    found = _BRACKETS.fullmatch(text) if text.endswith(")") else None
    return (found["name"], text[found.end("name") :]) if found else (text, "")


def each(text: str) -> list[str]:
    """One text for each combination of the parameters' values; any other text as it is."""
    if not (_BRACKETS.fullmatch(text) or _COLONS.fullmatch(text)):
        return [text]
    try:
        name, attributes = parse(text)
    except ValueError:
        return [text]  # who reads it says what is wrong
    values = (re.split(r"\s*[|/]\s*", value) for value in attributes.values())
    return [write(name, dict(zip(attributes, point, strict=True))) for point in product(*values)]


def split(text: str) -> list[str]:
    """The entries of a comma list, bare; commas inside brackets separate nothing."""
    return [entry.strip() for entry in pieces(text)]


def pieces(text: str) -> list[str]:
    """The same with the spaces around them: joined by commas they are the text."""
    if "(" not in text and "[" not in text:
        return text.split(",")
    entries, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth <= 0:
            entries.append("")
        else:
            entries[-1] += character
    return entries
