"""The figures there are: one file and one registered function each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ccperf.present.figures.figure import Figure
from ccperf.runs.metrics import FlowSeries

Describe: TypeAlias = Callable[[FlowSeries], Figure]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure: its name, title, what it shows, and the function that describes one."""

    name: str
    title: str
    caption: str
    describe: Describe


#: Every figure by name, in the order in which pages show them.
FIGURES: dict[str, FigureKind] = {}


def figure(title: str) -> Callable[[Describe], Describe]:
    """Register a function as the figure of its name; its docstring is the figure's caption."""

    def register(function: Describe) -> Describe:
        name = function.__name__
        if name in FIGURES:
            raise ValueError(f"figure `{name}` is defined twice")
        caption = " ".join(inspect.cleandoc(function.__doc__ or "").split())
        FIGURES[name] = FigureKind(name, title, caption, function)
        return function

    return register
