"""Numbers in sentences, and what many points say alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: So many parameters that all points have alike are said once, not with each.
_MANY = 4


def counted(number: int, noun: str) -> str:
    """Return ``1 run``, ``2 runs``, ``5,209 runs``, ``3 entries``, ``2 switches``."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}{'e' * noun.endswith('ch')}s"
    return f"{number:,} {noun if number == 1 else several}"


def duration(seconds: float) -> str:
    """Return ``12 s``, ``5 min``, ``2.5 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 1 else "1 s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def alike(points: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return by experiment the parameters that its points have in common, where these are many and
    there is more than one point."""
    first: dict[str, Mapping[str, Any]] = {}
    common: dict[str, dict[str, Any]] = {}
    several = set()
    for experiment, point in points:
        if point != first.setdefault(experiment, point):
            several.add(experiment)
        shared = common.setdefault(experiment, dict(point))
        for name in [name for name, value in shared.items() if point.get(name) != value]:
            del shared[name]
    return {of: shared for of, shared in common.items() if of in several and len(shared) >= _MANY}


def all_at(experiment: str, common: Mapping[str, Any]) -> str:
    """Return the sentence that says it: ``all points of leaf_spine: leaves=2 spines=2``."""
    return f"all points of {experiment}: {' '.join(f'{n}={v}' for n, v in common.items())}"
