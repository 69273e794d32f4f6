"""This project's engine, in this process."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import __version__, _native
from ccperf.algorithms.user_code.names import PLUGIN
from ccperf.errors import RunError, UsageError
from ccperf.runs import backends

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ccperf.runs.backends import Progress
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario
    from ccperf.scenario.canonical import Runnable

#: After so many events the run is handed back to Python, for progress and for Ctrl-C: some tens of
#: milliseconds, however much happens in a simulated second.
EVENTS = 500_000
#: With a packet trace, which takes most of the time then.
EVENTS_TRACED = 50_000
#: What is said of user code that cannot be loaded.
_AT_START = re.compile(r" failed at 0\.0+ s of simulated time: ")


class Native:
    """Runs scenarios on the engine; other threads go on meanwhile."""

    name = backends.DEFAULT
    abilities = backends.Abilities(
        summary="the engine of ccperf",
        user_code=frozenset({PLUGIN}),
        packets=(".csv", ".pcapng"),
        speed=8e6,
        overhead_s=0.008,
        is_in_process=True,
        equals="ns-3 3.44",
        cites="ns3",
    )

    @property
    def version(self) -> str:
        return f"{__version__}+{_native.ENGINE_HASH[:12]}"

    def available(self) -> str | None:
        # Of a checkout, Python may have been updated and the module not.
        stub = Path(__file__).parents[2] / "_native.pyi"
        names = re.findall(r"^(?:def|class) (\w+)", stub.read_text(), re.MULTILINE)
        if missing := [name for name in names if not hasattr(_native, name)]:
            return (
                f"the engine is older and lacks {', '.join(missing)}; `make setup` builds it anew"
            )
        return None

    def __init__(self) -> None:
        #: So many threads share each run of a network of several racks.
        self.threads = 1
        #: Told why one thread makes a run after all.
        self.tell: Callable[[str], None] = _warn
        self._told: set[str] = set()
        #: What was loaded by `prepare`: names with their digests and attributes.
        self._loads: set[str] = set()

    def prepare(self, scenario: Scenario) -> None:
        user_code = backends.user_code(scenario.user_code, self)
        if not user_code:
            return
        used = [flow.cc for flow in scenario.flows if flow.cc]
        used += [
            direction.qdisc
            for link in scenario.links
            for direction in (link.forward, link.reverse)
            if direction.qdisc
        ]
        used += [stack.cc for stack in scenario.stacks] + [scenario.routing]
        own = sorted({one.model_dump_json() for one in used if one.type in user_code})
        key = repr((user_code, own))
        if key in self._loads:
            return
        from ccperf.runs.backends import sandbox

        try:
            sandbox.load(scenario, user_code)
        except RunError as error:
            # Nothing has run yet: who loads it says the time at which it was.
            raise UsageError("", _AT_START.sub(" cannot be used: ", str(error), count=1)) from None
        self._loads.add(key)

    def simulate(
        self,
        scenario: Runnable,
        *,
        packets: Path | None = None,
        progress: Progress | None = None,
        user_code: Mapping[str, str] | None = None,
    ) -> Recording:
        from ccperf.runs.recording import Recording

        if not user_code:
            user_code = backends.user_code(scenario.user_code, self)
        if user_code:
            from ccperf.runs.backends import sandbox

            found = sandbox.simulate(scenario, user_code, packets=packets, progress=progress)
            if progress:
                progress(1.0)
            return _of_user_code(found, scenario)
        lowered = scenario.lowered()
        if self.threads > 1 and not packets and (tables := self._in_parts(lowered, progress)):
            if progress:
                progress(1.0)
            return Recording(tables)
        try:
            simulation = _native.Simulation(lowered, packets)
            stop_ns = simulation.stop_ns
            step = EVENTS_TRACED if packets else EVENTS
            while (now_ns := simulation.run_for(step)) is not None:
                if progress:
                    progress(min(now_ns / stop_ns, 1.0))
            tables = simulation.finish()
        except OSError as error:
            raise RunError(str(error)) from error
        if progress:
            progress(1.0)
        return Recording(tables)

    def _in_parts(self, lowered: str, progress: Progress | None) -> Mapping[str, Any] | None:
        """The tables, if threads can share this run; or else a warning says why not."""
        try:
            found = _native.run_in_parts(lowered, self.threads, progress or (lambda _: None))
        except OSError as error:
            raise RunError(str(error)) from error
        if isinstance(found, str):
            if found not in self._told:
                self._told.add(found)
                self.tell(f"one thread runs it: this run {found}")
            return None
        return found


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _of_user_code(tables: Mapping[str, Any], scenario: Runnable) -> Recording:
    """What the process of user code has left, which anything in it may have written."""
    from ccperf.runs.consistency import Expected
    from ccperf.runs.recording import Recording, RecordingError

    try:
        recording = Recording(tables)
        Expected(scenario.parsed).check(recording)
    except RecordingError as error:
        names = " or ".join(scenario.user_code)
        raise RunError(
            f"{names} failed: what its process left is no recording ({error})"
        ) from error
    return recording
