"""One run to make, as data that travels: to another thread, process or machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.runs.result import Identity, provenance
from ccperf.scenario.canonical import Canonical, Runnable
from ccperf.store.packing import PackedRun, packed

if TYPE_CHECKING:
    from ccperf.campaign.points import Point
    from ccperf.runs.backends import Backend
    from ccperf.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """A run: plain texts and numbers only, wherever it is sent."""

    #: What the run will be stored under.
    id: str
    #: The scenario's canonical form, as `canonical_json` writes it.
    scenario: str = field(repr=False)
    #: The backend's name.
    backend: str
    #: SHA-256 of each user's algorithm; see :class:`~ccperf.algorithms.user_code.content.Contents`.
    user_code: Mapping[str, str] = field(default_factory=dict)
    experiment: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: The hash of the scenario; empty: found out when it is asked for.
    scenario_hash: str = ""
    #: What `scenario` was written of: it saves reading where the job was made, and stays there.
    made_of: Scenario | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """What travels."""
        return {**self.__dict__, "made_of": None}

    @classmethod
    def of(cls, point: Point, identity: Identity, backend: Backend) -> Job:
        """The job that makes the run of a point."""
        return cls(
            id=identity.id,
            scenario=point.alike.text(point.scenario),
            backend=backend.name,
            user_code=dict(identity.user_code),
            experiment=point.experiment,
            parameters=dict(point.parameters),
            scenario_hash=point.alike.hash(point.scenario),
            made_of=point.scenario,
        )


def perform(
    job: Job,
    progress: Callable[[float], None] | None = None,
    backend: Backend | None = None,
) -> PackedRun:
    """Make a run and pack it, here; whatever the backend raises goes through.

    `backend` is the one of the job's name unless given.
    """
    scenario = job.made_of or _read(job)
    backend = backend or backends.get(job.backend)
    start = time.perf_counter()
    recording = backend.simulate(scenario, progress=progress, user_code=job.user_code)
    wall_seconds = time.perf_counter() - start
    return packed(
        job.id,
        scenario,
        recording,
        compute(scenario, recording),
        provenance(scenario, backend, Identity(job.id, job.user_code)),
        experiment=job.experiment,
        parameters=job.parameters,
        wall_seconds=wall_seconds,
        text=job.scenario,
    )


def _read(job: Job) -> Runnable:
    if not job.user_code:
        return Canonical(job.scenario, job.scenario_hash)
    from ccperf.scenario import Scenario

    return Scenario.from_canonical(job.scenario)
