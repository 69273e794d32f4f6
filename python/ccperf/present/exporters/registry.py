"""The formats there are: one file and one registered function each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ccperf.base.outputs import Kind
from ccperf.runs.result import Result

Write: TypeAlias = Callable[[Result, Path], None]


@dataclass(frozen=True)
class Exporter:
    """A format: its name, its files' suffix, how they are recognised, and what writes one.

    Where a run as it is stored is not enough, it is simulated again, with the code that it names.
    """

    name: str
    suffix: str
    kind: Kind
    doc: str
    write: Write
    of_stored: bool


#: Every format by name.
EXPORTERS: dict[str, Exporter] = {}


def exporter(
    suffix: str,
    *begins: bytes,
    holds: tuple[bytes, ...] = (b"ccperf",),
    of_stored: bool = False,
) -> Callable[[Write], Write]:
    """Register a function as the format of its name; its files begin so and name ccperf.

    What `holds` says instead stands in files of a format that has no room for names.
    """

    def register(function: Write) -> Write:
        name = function.__name__
        if name in EXPORTERS:
            raise ValueError(f"format `{name}` is defined twice")
        kind = Kind(f"{name} file of ccperf", begins, holds)
        doc = inspect.cleandoc(function.__doc__ or "")
        EXPORTERS[name] = Exporter(name, suffix, kind, doc, function, of_stored)
        return function

    return register
