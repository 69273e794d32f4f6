"""Topologies that are tedious to write out: one file each, one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ccperf.topologies.dumbbell import Access, Bottleneck, DumbbellFlow, dumbbell

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

#: In the order in which they are listed.
TOPOLOGIES: dict[str, Callable[..., Scenario]] = {"dumbbell": dumbbell}

__all__ = ["TOPOLOGIES", "Access", "Bottleneck", "DumbbellFlow", "dumbbell"]
