"""What a metric is, and the table of all of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from ccperf.runs.metrics.grid import SAMPLING
from ccperf.runs.metrics.transfers import CLASSES
from ccperf.runs.metrics.windows import STEADY, STEADY_PREFIX, Window
from ccperf.runs.metrics.wording import title

Scope: TypeAlias = Literal["flow", "link", "network", "class"]
Better: TypeAlias = Literal["higher", "lower"] | None
#: A number of things, which is whole, or a measured quantity.
Kind: TypeAlias = Literal["count", "real"]
#: How two values are compared: by a ratio, or by a difference in the metric's unit.
Effect: TypeAlias = Literal["ratio", "difference"]
Reduction: TypeAlias = Literal["mean", "sum", "max"]

REDUCTIONS: Mapping[Reduction, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "sum": math.fsum,
    "max": max,
}

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """One metric: its name `<stat>_<metric>_<layer>`, and all there is to know about it.

    One of the steady state has `steady_` before that.

    `compute` takes the `FlowSeries` (scopes `flow` and `network`), `LinkSeries` (scope `link`) or
    `Transfers` (scope `class`) and returns one value per flow or direction, or one for the network
    or the class; NaN where there is none.
    `better` is None where neither direction is.  `over_flows` is what makes one value of a run of
    those of its flows (or links).  `effect` is `ratio` for rates, times and counts, which lie above
    zero, and `difference` for what is often zero, may be negative, or has an end of its scale that
    a ratio hides (queueing delays, shares of losses, fairness).
    """

    name: str
    scope: Scope
    unit: str
    better: Better
    kind: Kind
    over_flows: Reduction
    formula: str
    definition: str
    compute: Callable[..., Any]
    effect: Effect = "ratio"
    #: Which class's value stands for a run, of a metric of classes.
    of_class: str = "all"
    #: What of the run it is taken over.
    window: Window = "whole"
    #: Whether it is taken from the grid.
    is_sampled: bool = True
    #: Of what need not come to pass within a run: another metric, which has a value wherever this
    #: one is asked for.
    asked_with: str = ""
    #: Of a mean over transfers that have ended: the metric of its class that says how many have
    #: not. Who leaves more of them has less in the mean.
    unfinished: str = ""

    def of_run(self, columns: Mapping[str, Mapping[str, float]]) -> float | None:
        """Return one value of the columns of its scope, None if none of them has one.

        Of the classes of transfers, which have flows in common, it is that of `of_class`. What
        never came to pass in some column has no mean over the others: they are the quick ones.
        """
        if self.scope == "class":
            return columns.get(self.of_class, {}).get(self.name.rpartition(".")[2])
        values = [values[self.name] for values in columns.values() if self.name in values]
        if not values or self.without_value(columns.values()):
            return None
        return REDUCTIONS[self.over_flows](values)

    def is_never(self, values: Mapping[str, float]) -> bool:
        """Whether what it measures did not come to pass in a run with these values."""
        if not self.asked_with or self.name in values:
            return False
        return self._in_its_class(self.asked_with) in values

    def without_value(self, columns: Iterable[Mapping[str, float]]) -> str:
        """What stands where there is no value: `never` if what it measures did not come to pass."""
        return "never" if any(map(self.is_never, columns)) else ""

    def left(self, values: Mapping[str, float]) -> float:
        """How much is unfinished, and not in the mean, in a run with these values."""
        return values.get(self._in_its_class(self.unfinished), 0.0) if self.unfinished else 0.0

    def _in_its_class(self, name: str) -> str:
        return self.name.removesuffix(self.name.rpartition(".")[2]) + name

    @property
    def title(self) -> str:
        """What it is called in words."""
        return title(self.name)

    @property
    def shown_unit(self) -> str:
        """Its unit as people see it: nothing behind a ratio or a number without one."""
        return "" if self.unit == "1" else self.unit

    def with_unit(self, text: str) -> str:
        """What stands for it, with its unit as heads of tables have it: `RTT [ms]`."""
        return f"{text} [{self.shown_unit}]" if self.shown_unit else text

    @property
    def layer(self) -> str:
        """`l1` wire, `l2` queue discipline, `l3` ways, `l4` transport or `l7` application."""
        return self.name.rsplit("_", 1)[1]


#: Every metric by name; by scope, in the order in which tables show them.
METRICS: dict[str, Metric] = {}


def census() -> str:
    """Say how many metrics there are, and why they have more names."""
    whole = sum(metric.window == "whole" for metric in METRICS.values())
    return (
        f"{whole} metrics, {len(METRICS) - whole} of them also of the steady state alone "
        f"(`{STEADY_PREFIX}...`): {len(METRICS)} names"
    )


def named(name: str) -> Metric | None:
    """Return the metric that is called so: `mean_fct_l4`, of a class also `small.mean_fct_l4`, of a
    group of flows `tested.mean_srtt_l4`."""
    of_class, dot, plain = name.rpartition(".")
    found = METRICS.get(plain)
    if not dot or found is None:
        return found
    # What is of flows is of those of a group that never end, too.
    is_of_classes = found.scope in ("class", "flow")
    return replace(found, name=name, of_class=of_class, scope="class") if is_of_classes else None


def metric_named(name: str) -> Metric:
    """Return the metric that is called so. Raises KeyError if there is none."""
    found = named(name)
    if found is None:
        raise KeyError(name)
    return found


def metric(
    scope: Scope,
    *,
    unit: str,
    better: Better,
    formula: str,
    kind: Kind = "real",
    over_flows: Reduction = "mean",
    effect: Effect = "ratio",
    sampled: bool = True,
    steady: bool | None = None,
    asked_with: str = "",
    unfinished: str = "",
) -> Callable[[Function], Function]:
    """Register a function as the metric of its name; its docstring is the definition's text.

    `sampled` tells that it is taken from the grid, so that the definition explains the grid; that
    of a class explains classes.  `steady` tells that there is a second one of the steady state;
    there is if it is taken from the grid.  `asked_with` and
    `unfinished`: see `Metric`.
    """

    def register(function: Function) -> Function:
        name = function.__name__
        if name in METRICS:
            raise ValueError(f"metric `{name}` is defined twice")
        parts = [inspect.cleandoc(function.__doc__ or ""), formula]
        if scope == "class":
            parts.append(CLASSES)
        elif sampled:
            parts.append(SAMPLING)
        definition = "\n\n".join(parts)
        whole = METRICS[name] = Metric(
            name,
            scope,
            unit,
            better,
            kind,
            over_flows,
            formula,
            definition,
            function,
            effect,
            is_sampled=sampled,
            asked_with=asked_with,
            unfinished=unfinished,
        )
        if (sampled and scope != "class") if steady is None else steady:
            later = STEADY_PREFIX + name
            METRICS[later] = replace(
                whole, name=later, definition=f"{definition}\n\n{STEADY}", window="steady"
            )
        return function

    return register
