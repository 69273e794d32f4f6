"""What a figure's file says of its runs, to readers who have nothing but the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Of more runs the rest is counted: a file has room for these.
_MOST = 400


class _Provenance(Protocol):
    @property
    def seed(self) -> int: ...
    @property
    def ccperf_version(self) -> str: ...
    @property
    def engine_hash(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def backend_version(self) -> str: ...


class Run(Protocol):
    """A run, with its recording or without."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def provenance(self) -> _Provenance: ...


def origin(runs: Iterable[Run]) -> str:
    """Return the points, seeds and ids of these runs, and who made them, each once.

    The text depends on nothing but the runs, whatever their order.
    """
    found = {run.id: run for run in runs}
    ordered = sorted(found.values(), key=lambda run: (run.title, run.provenance.seed, run.id))
    points: dict[str, list[str]] = {}
    for run in ordered[:_MOST]:
        points.setdefault(run.title, []).append(f"{run.id} (seed {run.provenance.seed})")
    drawn = [f"{title}: {', '.join(ids)}" for title, ids in points.items()]
    if len(ordered) > _MOST:
        drawn.append(f"and {len(ordered) - _MOST} more runs")
    makers = {
        f"ccperf {made.ccperf_version}, engine {made.engine_hash[:12]},"
        f" backend {made.backend} {made.backend_version}"
        for made in (run.provenance for run in ordered)
    }
    return f"Runs: {'; '.join(drawn)}. Made by {'; '.join(sorted(makers))}."
