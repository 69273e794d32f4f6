"""Runs that are simulated again for what they do not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.errors import CcperfError, RunError, UsageError
from ccperf.runs import backends
from ccperf.runs.result import Result, identify, provenance
from ccperf.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ccperf.runs.backends import Backend
    from ccperf.runs.recording import Recording


def simulated_again(
    result: Result,
    *,
    asked: Callable[[Scenario], Scenario] | None = None,
    packets: Path | None = None,
) -> Recording:
    """The run simulated again, with what its scenario is `asked` for besides.

    Raises what :func:`again` does, and `RunError` if user code did not do the same again: what is
    seen now was not in the run.
    """
    engine, scenario = again(result)
    recording = engine.simulate(asked(scenario) if asked else scenario, packets=packets)
    code = ", ".join(result.provenance.user_code)
    if code and not _is_alike(result.recording, recording):
        raise RunError(
            f"run {result.id} went otherwise when it was simulated again: {code} depends on more "
            "than the scenario and its seed (docs/bring-your-own.md#when-it-goes-wrong)"
        )
    return recording


def _is_alike(one: Recording, other: Recording) -> bool:
    """Whether flows and links of two recordings have the same counters."""
    return all(
        np.array_equal(column, theirs[name], equal_nan=not isinstance(column, list))
        for mine, theirs in ((one.flows, other.flows), (one.links, other.links))
        for name, column in mine.items()
    )


def again(result: Result) -> tuple[Backend, Scenario]:
    """What makes the run again: its own backend, and for ns-3 our engine, whose packets are ns-3's;
    and the scenario, of which a database has no folders of user code: it is in the present one.

    Raises `UsageError` if it cannot be used here, or if it or the user code are not what made the
    run, with what differs: its packets may differ.
    """
    engine, own = backends.get("native"), backends.get(result.provenance.backend)
    if own.abilities.cites != engine.abilities.cites:
        engine = own
    if missing := engine.available():
        raise UsageError("run", f"`{result.id}` is of `{engine.name}`, but {missing}")
    if engine.name == own.name and (different := _different(result, engine)):
        raise UsageError(
            "run",
            f"`{result.id}` would be simulated with something else than it was:"
            f" {'; '.join(different)}. Its packets may differ; run it again first",
        )
    if not result.scenario.user_code:
        return engine, result.scenario
    return engine, Scenario.model_validate(result.scenario.canonical())


def _different(result: Result, engine: Backend) -> list[str]:
    """What is not as it was when the run was made."""
    made = result.provenance
    try:
        identity = identify(result.scenario, engine)
    except CcperfError as error:
        return [str(error)]
    if identity.id == result.id:
        return []
    here = provenance(result.scenario, engine, identity)
    found = [
        f"{name} has changed since (it was @{digest[:4]}, and is @{now[:4]})"
        for name, digest in made.user_code.items()
        if (now := here.user_code.get(name, "")) != digest
    ]
    if made.engine_hash != here.engine_hash:
        found.append(f"the engine was {made.engine_hash[:12]}, and is {here.engine_hash[:12]}")
    if made.ccperf_version != here.ccperf_version:
        found.append(f"ccperf was {made.ccperf_version}, and is {here.ccperf_version}")
    if not found and made.backend_version != here.backend_version:
        found = [f"`{engine.name}` was {made.backend_version}, and is {here.backend_version}"]
    return found or ["its id says so, and its scenario is all that is left"]
