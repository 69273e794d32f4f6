"""What runs a scenario: this project's engine, real ns-3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.canonical import Runnable
    from ccperf.recording import Recording
    from ccperf.scenario import Scenario

#: Called with the part of the run that is done, from 0 to 1.
Progress = Callable[[float], None]


class Backend(Protocol):
    """One way of running scenarios."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Part of a run's provenance and id."""
        ...

    def available(self) -> str | None:
        """None if it can be used here, or one sentence on what is missing."""
        ...

    def prepare(self, scenario: Scenario) -> None:
        """Find what is wrong with a scenario's user code before its first run.

        Raises:
            ScenarioError: if a file is not there.
            UsageError: if this backend cannot run it.
            RunError: if it does not compile.
        """
        ...

    def simulate(
        self,
        scenario: Runnable,
        *,
        packets: Path | None = None,
        progress: Progress | None = None,
        user_code: Mapping[str, str] | None = None,
    ) -> Recording:
        """Run a scenario; ``packets`` names a file for the packet trace.

        ``user_code`` has the SHA-256 of each user's algorithm by its name, as
        :class:`~ccperf.user_code.content.Contents` found it; what runs is exactly that, or nothing.
        None stands for what is in the files now.

        Raises:
            ScenarioError: if the scenario makes no sense.
            RunError: if the run fails; ChangedError if a file is not what `user_code` says.
        """
        ...


#: Class of each backend, by module, so that one is not loaded for the other's sake.
_BACKENDS = {
    "native": ("ccperf.backends.native", "Native"),
    "ns3": ("ccperf.backends.ns3", "Ns3"),
}
NAMES = tuple(_BACKENDS)


def get(name: str) -> Backend:
    """The backend of this name.

    Raises:
        UsageError: if there is none.
    """
    if name not in _BACKENDS:
        raise UsageError("backend", unknown("backend", name, _BACKENDS))
    module, cls = _BACKENDS[name]
    backend: Backend = getattr(import_module(module), cls)()
    return backend
