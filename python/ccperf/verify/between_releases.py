"""What the releases of ns-3 change in results, as measured: `make releases` writes the numbers.

Each algorithm ran the catalogue under each release, with the release's own loss recovery, and was
compared with itself under ns-3 3.44, point by point.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ccperf import data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = "releases.json"


@dataclass(frozen=True)
class Effect:
    """A headline of an experiment, for one algorithm under one release against ns-3 3.44."""

    experiment: str
    algorithm: str
    metric: str
    #: `ratio` or `difference`: what `mean`, `least` and `largest` are.
    kind: str
    points: int
    #: At so many of them it differs by more than 1 %.
    changed: int
    #: Over the points; None where there is no mean, as of factors from 0.
    mean: float | None
    least: float | None
    largest: float | None


@dataclass(frozen=True)
class Conclusion:
    """Two algorithms compared by one headline of an experiment, under two releases.

    Means over the experiment's points; the second of a pair is `other`'s.
    """

    experiment: str
    metric: str
    one: str
    other: str
    before: tuple[float, float]
    after: tuple[float, float]
    #: `turns`, `vanishes`, `appears`, `stands`, `weakens` or `grows`.
    word: str
    #: Whether no seed changes any of these values.
    is_exact: bool


@dataclass(frozen=True)
class Measured:
    """All that was measured."""

    #: The engine's version.
    engine: str
    #: Those that all algorithms have, then those of some.
    seeds: tuple[int, ...]
    algorithms: tuple[str, ...]
    #: By release: how many pairs of experiment and algorithm ran, and what changed.
    ran: Mapping[str, int]
    effects: Mapping[str, tuple[Effect, ...]]
    conclusions: tuple[Conclusion, ...]
    #: By release and algorithm: Mbps of the matrix' cases `cc/*-deep`, and timeouts there.
    deep: Mapping[str, Mapping[str, tuple[float, int]]]
    #: By release: Mbps and timeouts in 60 s of CUBIC with the least timeout of Linux.
    trap: Mapping[str, tuple[float, int]]
    #: By release and algorithm: `used_capacity_l1` over the points of `scalability`, in %.
    capacity: Mapping[str, Mapping[str, float]]

    def json(self) -> str:
        """The text of the file: a row a line."""
        whole = asdict(self)
        rows = {
            "effects": {
                release: [list(row.values()) for row in found]
                for release, found in whole["effects"].items()
            },
            "conclusions": [list(row.values()) for row in whole["conclusions"]],
        }
        text = json.dumps({**whole, **rows}, separators=(",", ":"))
        return text.replace('["', '\n["').replace('"],"', '"],\n"') + "\n"


@cache
def last() -> Measured:
    """What this version of ccperf carries."""
    found: dict[str, Any] = json.loads(data.text(FILE))
    return Measured(
        engine=found["engine"],
        seeds=tuple(found["seeds"]),
        algorithms=tuple(found["algorithms"]),
        ran=found["ran"],
        effects={
            release: tuple(Effect(*row) for row in rows)
            for release, rows in found["effects"].items()
        },
        conclusions=tuple(
            Conclusion(experiment, metric, one, other, (a[0], a[1]), (b[0], b[1]), word, is_exact)
            for experiment, metric, one, other, a, b, word, is_exact in found["conclusions"]
        ),
        deep={
            release: {name: (rate, timeouts) for name, (rate, timeouts) in values.items()}
            for release, values in found["deep"].items()
        },
        trap={release: (rate, timeouts) for release, (rate, timeouts) in found["trap"].items()},
        capacity=found["capacity"],
    )


def lines(release: str) -> list[str]:
    """What a release changes, a line for each experiment that does; none for ns-3 3.44."""
    by_experiment: dict[str, list[Effect]] = {}
    for effect in last().effects.get(release, ()):
        by_experiment.setdefault(effect.experiment, []).append(effect)
    found = []
    for experiment, effects in by_experiment.items():
        names = list(dict.fromkeys(effect.algorithm for effect in effects))
        most = largest(effects)
        what = ", ".join(names) if len(names) < 4 else f"{len(names)} algorithms"
        found.append(
            f"{experiment}: {what}; most {most.algorithm}'s {most.metric}, {text(most)} "
            f"({most.changed} of {most.points} points)"
        )
    return found


def text(effect: Effect) -> str:
    """How large: `x1.063`, `+0.56`; `from or to 0` where there is no mean."""
    if effect.mean is None:
        return "from or to 0"
    if effect.kind == "ratio":
        return f"x{effect.mean:.3g}"
    return f"{effect.mean:+.3g}".replace("-", "−")


def largest(effects: Sequence[Effect]) -> Effect:
    """The largest change among them: of factors, as far as there are; differences have no unit."""
    return max(effects, key=_weight)


def _weight(effect: Effect) -> float:
    is_factor = effect.kind == "ratio" and effect.mean is not None and effect.mean > 0
    return abs(math.log(effect.mean)) if is_factor and effect.mean else 0.0
