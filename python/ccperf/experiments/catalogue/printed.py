"""Values that a paper prints for points of an experiment, to be shown beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.parameter import Value


@dataclass(frozen=True)
class Printed:
    """One value, or the range in which several lie."""

    #: By our name.
    algorithm: str
    #: As tables call it: a metric of a class but `all` has the class in front.
    metric: str
    #: In the metric's unit; a ratio if there is a `base`.
    low: float
    #: Of a range; None: `low` alone.
    high: float | None = None
    #: The parameters that it was printed for; it holds for all values of the others.
    point: Mapping[str, Value] = field(default_factory=dict)
    #: Where the point that it is a ratio to differs, `algorithm` included; None: it is no ratio.
    base: Mapping[str, Value] | None = None

    @property
    def text(self) -> str:
        """``4.1`` or ``5.9 to 9.7``."""
        return f"{self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class PrintedValues:
    """What a paper prints for an experiment."""

    #: The paper and its figure, how the values were read, and what is different about them.
    source: str
    values: tuple[Printed, ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that the values are told apart by."""
        return tuple(dict.fromkeys(name for value in self.values for name in value.point))


def over(
    parameter: str,
    values: Iterable[tuple[Value, float]],
    algorithm: str,
    metric: str,
    **point: Value,
) -> tuple[Printed, ...]:
    """A line of a figure: a value for each of one parameter."""
    return tuple(
        Printed(algorithm, metric, value, point={**point, parameter: at}) for at, value in values
    )
