"""What a metric is, and the table of all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from ccperf.metrics.series import SAMPLING

Scope: TypeAlias = Literal["flow", "link", "network"]
Better: TypeAlias = Literal["higher", "lower"] | None

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """One metric: its name `<stat>_<metric>_<layer>`, and all there is to know about it.

    `compute` takes the `FlowSeries` (scopes `flow` and `network`) or `LinkSeries` (scope `link`)
    and returns one value per flow or direction, or one for the network; NaN where there is none.
    `better` is None where neither direction is.
    """

    name: str
    scope: Scope
    unit: str
    better: Better
    formula: str
    definition: str
    compute: Callable[..., Any]

    @property
    def layer(self) -> str:
        """`l1` wire, `l2` queue discipline, `l4` transport or `l7` application."""
        return self.name.rsplit("_", 1)[1]


#: Every metric by name; by scope, in the order in which tables show them.
METRICS: dict[str, Metric] = {}


def metric(
    scope: Scope, *, unit: str, better: Better, formula: str, sampled: bool = True
) -> Callable[[Function], Function]:
    """Register a function as the metric of its name; its docstring is the definition's text.

    `sampled` tells that it is taken from the grid, so that the definition explains the grid.
    """

    def register(function: Function) -> Function:
        name = function.__name__
        if name in METRICS:
            raise ValueError(f"metric `{name}` is defined twice")
        parts = [inspect.cleandoc(function.__doc__ or ""), formula]
        if sampled:
            parts.append(SAMPLING)
        METRICS[name] = Metric(name, scope, unit, better, formula, "\n\n".join(parts), function)
        return function

    return register
