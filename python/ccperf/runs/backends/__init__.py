"""What runs a scenario: this project's engine, real ns-3, Linux, or what another package registers.

A backend declares what it can (:class:`Abilities`), and whoever depends on that asks for the
ability, never for a name.  Another package registers one in the entry point group
``ccperf.backends``: ``name = "its.module:Class"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ccperf.algorithms.user_code import names
from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.algorithms.user_code.content import Contents
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario
    from ccperf.scenario.canonical import Runnable

#: Called with the part of the run that is done, from 0 to 1.
Progress = Callable[[float], None]


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What a backend can, and what it costs."""

    #: For lists, in a few words.
    summary: str
    #: The kinds of user code that it runs; see :data:`ccperf.algorithms.user_code.names.KINDS`.
    user_code: frozenset[str] = frozenset()
    #: Suffixes of the files that it can write packets to.
    packets: tuple[str, ...] = (".csv",)
    #: Packet-hops a second of one core, measured on a small virtual machine.
    speed: float
    #: Seconds that a run takes besides: start, metrics, encoding.
    overhead_s: float
    #: Runs need this process's interpreter: many of them are worth processes of their own.
    is_in_process: bool = False
    #: Hosts have Linux's sysctls, which a scenario may set.
    has_sysctls: bool = False
    #: Whose packets it makes, where they are those of another simulator.
    equals: str = ""
    #: The key, among ccperf's BibTeX entries, of the simulator that its runs owe their results to.
    cites: str = ""


class Backend(Protocol):
    """One way of running scenarios."""

    @property
    def name(self) -> str: ...

    @property
    def abilities(self) -> Abilities: ...

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
        :class:`~ccperf.algorithms.user_code.content.Contents` found it; what runs is exactly
        that, or nothing. None stands for what is in the files now.

        Raises:
            ScenarioError: if the scenario makes no sense.
            RunError: if the run fails; ChangedError if a file is not what `user_code` says.
        """
        ...


@runtime_checkable
class Threaded(Protocol):
    """A backend whose runs threads can share."""

    #: So many share each run.
    threads: int
    #: Told why one of them makes a run after all.
    tell: Callable[[str], None]


def settings(name: str, scenario: Runnable) -> Mapping[str, str]:
    """What a backend sets for a scenario that its users may not expect, by name.

    Linux's sysctls that differ from a distribution's are some; nothing of backends without any,
    and of one that is not here.
    """
    find = getattr(get(name), "settings", None) if name in known() else None
    found: Mapping[str, str] = find(scenario) if find else {}
    return found


#: The backend of whoever names none.
DEFAULT = "native"
#: Class of each backend, by module, so that one is not loaded for the other's sake.
_BUILT_IN = {
    DEFAULT: "ccperf.runs.backends.native:Native",
    "ns3": "ccperf.runs.backends.ns3:Ns3",
    "linux": "ccperf.runs.backends.linux.backend:Linux",
}


def known() -> dict[str, str]:
    """Module and class of each backend, by name; those of other packages after ours."""
    from importlib.metadata import entry_points

    others = {each.name: each.value for each in entry_points(group="ccperf.backends")}
    return _BUILT_IN | {name: place for name, place in others.items() if name not in _BUILT_IN}


def get(name: str) -> Backend:
    """The backend of this name.

    Raises:
        UsageError: if there is none.
    """
    # To look what other packages register takes longer than to load ours.
    place = _BUILT_IN.get(name) or known().get(name)
    if place is None:
        raise UsageError("backend", unknown("backend", name, known()))
    module, _, cls = place.partition(":")
    backend: Backend = getattr(import_module(module), cls)()
    return backend


def share(
    backend: Backend, threads: int, field: str, tell: Callable[[str], None] | None = None
) -> None:
    """Let so many threads share each run; `tell` is told why one of them makes a run after all.

    Raises:
        UsageError: names the field, if that cannot be.
    """
    if not hasattr(threads, "__index__") or isinstance(threads, bool) or threads < 1:
        raise UsageError(field, f"`{threads}` must be at least 1")
    if threads > 1:
        if not isinstance(backend, Threaded):
            raise UsageError(field, f"`{backend.name}` runs on one thread; leave it out")
        backend.threads = threads
        backend.tell = tell or backend.tell


def needs_sysctls(name: str, field: str = "sysctl") -> None:
    """Raise `UsageError`, which names the field, for a backend whose hosts have no sysctls."""
    if not get(name).abilities.has_sysctls:
        able = [other for other in known() if get(other).abilities.has_sysctls]
        message = f"`{name}` has no sysctls; they need the backend {' or '.join(able)}"
        raise UsageError(field, f"{message} (--backend {able[0]})")


def is_registered(backend: Backend) -> bool:
    """Whether another process finds this backend by its name."""
    return backend.name in known() and type(get(backend.name)) is type(backend)


def user_code(
    used: Mapping[str, str], backend: Backend, contents: Contents | None = None
) -> dict[str, str]:
    """SHA-256 of each user's algorithm by name; `used` has the path of a field that names it.

    Files that `contents` has read are not read again.

    Raises:
        UsageError: if `backend` cannot run one.
        ScenarioError: with each one that is not there.
    """
    if not used:
        return {}
    for name in used:
        kind = names.kind(name)
        if kind not in backend.abilities.user_code:
            able = [other for other in known() if kind in get(other).abilities.user_code]
            needed = " or ".join(f"`{other}`" for other in able)
            message = f"`{backend.name}` cannot run {name}: it needs the backend {needed}"
            if not able[1:]:
                message += f" (--backend {able[0]})"
            raise UsageError("backend", message)
    from ccperf.algorithms.user_code.content import Contents

    return (contents or Contents()).of(used)
