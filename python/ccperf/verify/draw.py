"""What random scenarios of every kind are drawn with."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ccperf import _native

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence


def draw_attributes(
    rng: random.Random, params: Sequence[Mapping[str, Any]], probability: float
) -> dict[str, Any]:
    """Draw some of an algorithm's attributes that ns-3 3.44 has, around their defaults."""
    return {
        param["ns3"]: value
        for param in params
        if not param["since"]
        and now_and_then(rng, probability)
        and (value := _value(rng, param)) is not None
    }


def _value(rng: random.Random, param: Mapping[str, Any]) -> Any:
    """Draw a value for a parameter of the registry; None for a kind that is drawn elsewhere."""
    kind, default = param["kind"], param["default"]
    factor = 10 ** rng.uniform(-0.7, 0.7)
    if kind == "bool":
        return "false" if default == "true" else "true"
    if kind == "enum":
        return rng.choice(param["words"])
    if kind in ("time", "period", "threshold"):
        ns = _native.parse_time(default)
        # A default of "never", or none to be around.
        around = ns if 0 < ns < 10**12 else 5_000_000
        return f"{max(1, round(around * factor))}ns"
    if kind in ("uint", "real"):
        usual = float(default) if 0 < float(default) < 2**31 else 4
        # What every release of ns-3 takes.
        low, high = param["least_later"] or param["min"], param["max"]
        value: float = max(usual * factor, -inf if low is None else low)
        value = min(value, inf if high is None else high)
        return round(value) if kind == "uint" else round(value, 6)
    if kind == "numbers":
        least, most = param["min"], param["max"]
        numbers = [max(1, int(word)) * 10 ** rng.uniform(-0.7, 0.7) for word in default.split()]
        return " ".join(str(min(max(round(number), least), most)) for number in numbers)
    return None


def now_and_then(rng: random.Random, probability: float = 0.2) -> bool:
    """Whether something that has this probability is so."""
    return rng.random() < probability


def shorter_times(time: int) -> list[int]:
    """Shorter times to try in place of one: half of it, then larger parts; none below 1."""
    return [part for part in (time // 2, time * 7 // 8, time * 9 // 10) if 0 < part < time]
