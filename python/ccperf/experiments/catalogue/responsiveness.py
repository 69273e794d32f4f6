"""What the two experiments on a path that changes have in common: what changes, between which
levels."""

from __future__ import annotations

from typing import Any

from ccperf.errors import UsageError
from ccperf.experiments.catalogue.parameter import AUTO, Parameter, Value
from ccperf.experiments.programs.published.run import Step

#: The path where it is not the target: a buffer of one bandwidth-delay product.
RATE, RTT, LOSS, QLEN = "16Mbps", "15ms", 0.0, "20p"

#: Lower and upper level of each target, if not given.
LEVELS: dict[str, tuple[Value, Value]] = {
    "rate": ("4Mbps", "16Mbps"),
    "rtt": ("15ms", "60ms"),
    "loss": (0.0, 0.02),
}

TARGET = Parameter(
    "target",
    "word",
    tuple(LEVELS),
    "rate",
    "What changes: the bottleneck's rate, the round trip or the random loss.",
    words=tuple(LEVELS),
)
LOWER, UPPER = (
    Parameter(
        name,
        "level",
        (AUTO,),
        AUTO,
        f"The {name} level; if not given, "
        + ", ".join(f"{levels[i]} for {target}" for target, levels in LEVELS.items())
        + ".",
    )
    for i, name in enumerate(("lower", "upper"))
)


def settled(values: dict[str, Value]) -> dict[str, Value]:
    """The values with the levels of their target.

    Raises:
        UsageError: for a level of another kind than the target's.
    """
    target = str(values["target"])
    for name, usual in zip(("lower", "upper"), LEVELS[target], strict=True):
        if values[name] == AUTO:
            values = {**values, name: usual}
        elif _kind(values[name]) != target:
            message = f"`{values[name]}` is no {target}; write it like {usual}"
            raise UsageError(name, message)
    return values


def _kind(level: Value) -> str:
    if not isinstance(level, str):
        return "loss"
    return "rate" if level.endswith("bps") else "rtt"


def step(time: str, target: str, level: Any) -> Step:
    """From `time` on, the path has this level."""
    path = {"rate": RATE, "rtt": RTT, "loss": LOSS, target: level}
    return Step(time, **path)
