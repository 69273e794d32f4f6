"""Where scenarios differ."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def differences(a: Any, b: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """``(path, left, right)`` of every field that differs; None for one that is not there."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(a.get(key), b.get(key), inner)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            yield from differences(left, right, f"{path}[{i}]")
    elif a != b:
        yield path, a, b


def told_apart(scenarios: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """For each scenario its values of the fields in which not all are alike, by the field's name.

    What several flows or links have is said once, and all values where they differ: `rate` is
    `50Mbps,20Mbps`. Fields of the whole come first, then in the order in which scenarios have
    them, whichever two differ.
    """
    first, *others = scenarios
    found_in = {path for other in others for path, _, _ in differences(first, other)}
    leaves_of = [dict(_leaves(scenario)) for scenario in scenarios]
    there = dict.fromkeys(path for leaves in leaves_of for path in leaves)
    differing = sorted((path for path in there if path in found_in), key=lambda p: p.count("."))
    plain = dict.fromkeys(_plain(path) for path in differing)
    names = Counter(_short(name) for name in plain)
    found = []
    for leaves in leaves_of:
        values: dict[str, dict[str, None]] = defaultdict(dict)
        for path in differing:
            if path in leaves:
                values[_plain(path)][str(leaves[path])] = None
        found.append(
            {
                _short(name) if names[_short(name)] == 1 else name: ",".join(each)
                for name, each in values.items()
            }
        )
    return found


def _leaves(fields: Any, path: str = "") -> list[tuple[str, Any]]:
    """Each value with its path, as `differences` writes it."""
    if isinstance(fields, Mapping):
        inner = ((f"{path}.{key}" if path else str(key), value) for key, value in fields.items())
    elif isinstance(fields, list) and fields:
        inner = ((f"{path}[{i}]", value) for i, value in enumerate(fields))
    else:
        return [(path, fields)]
    return [leaf for name, value in inner for leaf in _leaves(value, name)]


def _plain(path: str) -> str:
    """`flows.recovery` of `flows[3].recovery`."""
    return re.sub(r"\[\d+\]", "", path)


def _short(name: str) -> str:
    return name.rpartition(".")[2]
