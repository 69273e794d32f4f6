"""Handovers between satellites or cells: when a link's path becomes another one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from ccperf import _native
from ccperf.experiments.bounds import few_enough
from ccperf.scenario import Change


@dataclass(frozen=True)
class Handovers:
    """At equal distances the delay of a link becomes another one, drawn between two bounds, after a
    while in which packets are lost. Where it becomes shorter, packets overtake those before."""

    #: From one to the next.
    every: str = "15s"
    #: One way.
    least: str = "10ms"
    most: str = "30ms"
    #: How long packets are lost before each, and the probability.
    outage: str = "60ms"
    loss: float = 0.5

    def delays(self, stop_time: str, seed: int) -> list[tuple[int, int]]:
        """When each path begins, and its delay, in ns; the first from the start on."""
        rng = random.Random(f"{seed}/handovers")
        least, most = _native.parse_time(self.least), _native.parse_time(self.most)
        every, stop = _native.parse_time(self.every), _native.parse_time(stop_time)
        fix = "lengthen it, or end the run sooner"
        few_enough("changes", 2 * len(range(0, stop, every)), fix=fix, every=self.every)
        return [(time, rng.randint(least, most)) for time in range(0, stop, every)]

    def changes(self, link: str, stop_time: str, seed: int) -> Iterator[Change]:
        """The changes of a link up to a time, after the first path."""
        outage = _native.parse_time(self.outage)
        for time, delay in self.delays(stop_time, seed)[1:]:
            if self.loss:
                before = _native.format_time(time - outage)
                yield Change(time=before, link=link, loss=self.loss)
            yield Change(
                time=_native.format_time(time),
                link=link,
                delay=_native.format_time(delay),
                loss=0.0 if self.loss else None,
            )
