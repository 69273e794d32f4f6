"""Options that several commands share, and the small languages of their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from ccperf.cli.output import arguments, note
from ccperf.cli.parameter import Parameter
from ccperf.cli.spelling import SYNONYMS, is_database, with_databases
from ccperf.errors import UsageError
from ccperf.experiments.grid import expand
from ccperf.runs import backends

if TYPE_CHECKING:
    from ccperf.algorithms import registry
    from ccperf.campaign import Executor, JobProgress, Processes
    from ccperf.experiments.catalogue import Experiment
    from ccperf.runs.backends import Backend
    from ccperf.runs.result import Result
    from ccperf.store import Store

#: Stands for the id of the run that finished last.
LATEST = "latest"
#: Where runs go that are no algorithm's benchmark.
DEFAULT_DB = Path("ccperf.db")

StopTime = Annotated[
    str,
    Parameter(
        name=["--stop-time", *SYNONYMS["--stop-time"]],
        help="Length of each run instead of the experiment's own (most: 15s).",
    ),
]
Sysctl = Annotated[
    str,
    Parameter(
        help="Sysctls of all hosts on --backend linux: tcp_sack=0,tcp_ecn=1 (docs/linux.md)."
    ),
]
Sandbox = Annotated[
    bool,
    Parameter(
        help="Your code writes in its run's folder only and reaches no network (Linux; "
        "docs/bring-your-own.md)."
    ),
]
Json = Annotated[bool, Parameter(help="Print JSON to stdout.")]
Databases = Annotated[
    list[Path] | None,
    Parameter(help="Databases: a.db,b.db, or --db again for each. Default: those here."),
]
Database = Annotated[Path, Parameter(name=["--db"], help="Database file (SQLite).")]
Folder = Annotated[Path, Parameter(name=["--output", "-o"], help="Folder to write to.")]


class MadeBy(NamedTuple):
    """What makes the runs of a command: a cluster's executor, or processes that stay."""

    executor: Callable[[JobProgress], Executor] | None = None
    processes: Processes | None = None


@dataclass
class Running:
    """How runs are made."""

    backend: Annotated[str, Parameter(help="What simulates: native, ns3 or linux.")] = (
        backends.DEFAULT
    )
    jobs: Annotated[
        int, Parameter(name=["--jobs", "-j"], help="Parallel runs; 0: one per core.")
    ] = 0
    threads: Annotated[
        int,
        Parameter(
            help="Threads that share each run, one after the other, of a network of several racks; "
            "results are the same (docs/speed.md)."
        ),
    ] = 1
    on: Annotated[
        str,
        Parameter(
            help="Where to run: here; dask, dask://HOST:PORT or tls://HOST:PORT (docs/cluster.md)."
        ),
    ] = "here"
    recovery: Annotated[
        str, Parameter(help="Loss recovery of all flows instead of each run's own.")
    ] = ""
    profile: Annotated[
        str,
        Parameter(
            help="TCP profile of all flows, with its own loss recovery: a release of ns-3 "
            "(ns3-3.44, ns3-3.48, ...), or linux (`ccperf list profiles`)."
        ),
    ] = ""
    ns3_source: Annotated[
        str,
        Parameter(
            help="C++ files of your ns-3 classes, e.g. my-cca.cc,my-cca.h, compiled into ns-3."
        ),
    ] = ""
    ns3: Annotated[
        str,
        Parameter(
            help="Your ns-3 in place of the wheel: a built tree or an installed prefix, 3.44 or "
            "newer; CCPERF_NS3 says the same (docs/ns3.md)."
        ),
    ] = ""
    sandbox: Sandbox = False

    def declare_ns3(self, *, is_used: object) -> None:
        """Take the ns-3 that is named; processes that are started inherit it.

        Raises :class:`~ccperf.errors.UsageError`.
        """
        if not self.ns3:
            return
        if not is_used:
            raise UsageError("--ns3", f"needs --backend ns3, not `{self.backend}`")
        from ccperf.runs.backends.ns3 import release

        os.environ[release.VARIABLE] = str(Path(self.ns3).expanduser().absolute())
        try:
            release.find()
        except release.Unavailable as error:
            raise UsageError("--ns3", str(error)) from None

    def declare_sources(self) -> None:
        """Let the classes of `--ns3-source` be named; to be called before names are looked up.

        Raises :class:`~ccperf.errors.UsageError`.
        """
        from ccperf.algorithms.user_code import names

        known_backend(self.backend)
        is_asked = self.ns3_source or self.ns3
        is_ns3 = is_asked and names.NS3 in backends.get(self.backend).abilities.user_code
        self.declare_ns3(is_used=is_ns3)
        if self.ns3_source and not is_ns3:
            raise UsageError("--ns3-source", f"needs --backend ns3, not `{self.backend}`")
        try:
            names.declare_ns3(self.ns3_source)
        except ValueError as error:
            raise UsageError("--ns3-source", str(error)) from None

    def is_place(self) -> bool:
        """Whether `on` names where runs are made, and not the value of some parameter `on`."""
        return self.on in ("here", "dask") or "://" in self.on

    def open_backend(self) -> Backend:
        """The backend, if it is usable. Raises :class:`~ccperf.errors.UsageError`."""
        self.job_count()
        if self.sandbox:
            if self.on not in ("here", "dask"):
                raise UsageError("--sandbox", f"does not reach to {self.on}; leave one of them out")
            confine(self.backend)
        backend = open_backend(self.backend)
        elsewhere = self.is_place() and self.on != "here"
        if self.threads > 1 and (self.jobs > 1 or elsewhere):
            wrong = "--on" if elsewhere else "--jobs"
            raise UsageError("--threads", f"is for runs here, one at a time; leave out {wrong}")
        backends.share(backend, self.threads, "--threads", note)
        return backend

    @contextmanager
    def made_by(self, backend: Backend) -> Iterator[MadeBy]:
        """What makes the runs of all campaigns of a command.

        Raises :class:`~ccperf.errors.UsageError`.
        """
        if self.on == "here":
            from ccperf.campaign import Processes

            with Processes() as processes:
                yield MadeBy(processes=processes)
            return
        from ccperf.campaign.on_dask import Cluster

        with Cluster(self.on, backend, self.job_count()) as cluster:
            yield MadeBy(executor=cluster.executor)

    def again(self) -> list[str]:
        """What of this a command needs that makes one of the runs again."""
        words = ["--ns3-source", self.ns3_source] if self.ns3_source else []
        words += ["--ns3", self.ns3] if self.ns3 else []
        words += ["--sandbox"] if self.sandbox else []
        return words + (["--on", self.on] if self.on != "here" else [])

    def job_count(self) -> int | None:
        """As the campaign takes it: None is one a core."""
        if self.jobs < 0:
            raise UsageError("--jobs", f"`{self.jobs}` must be at least 1, or 0 for one a core")
        return 1 if self.threads > 1 else self.jobs or None

    def recovery_name(self) -> str | None:
        """The ns-3 name, or None if not given."""
        if not self.recovery:
            return None
        return resolve("recovery", "--recovery", self.recovery)

    def profile_name(self) -> str | None:
        """The TCP that is asked for, or None. Raises :class:`~ccperf.errors.UsageError`."""
        from ccperf.scenario import profiles

        try:
            return profiles.resolve_tcp(self.profile) if self.profile else None
        except ValueError as error:
            raise UsageError("--profile", str(error)) from None


def known_backend(name: str) -> Backend:
    """The backend of this name. Raises :class:`~ccperf.errors.UsageError`."""
    try:
        return backends.get(name)
    except (KeyError, ValueError) as error:
        message = error.message if isinstance(error, UsageError) else str(error.args[0])
        raise UsageError("--backend", message) from None


def open_backend(name: str) -> Backend:
    """The backend of this name, if it is usable. Raises :class:`~ccperf.errors.UsageError`."""
    backend = known_backend(name)
    missing = backend.available()
    if missing:
        raise UsageError("--backend", f"`{name}` cannot be used here: {missing}")
    return backend


def confine(backend: str) -> None:
    """Shut in user code of this process and of those that it starts.

    Raises :class:`~ccperf.errors.UsageError`.
    """
    from ccperf.runs.backends import sandbox

    if backend != backends.DEFAULT:
        raise UsageError("--sandbox", f"is of `{backends.DEFAULT}`, not `{backend}`")
    if missing := sandbox.confinement_missing():
        raise UsageError("--sandbox", f"this system has no such thing ({missing})")
    os.environ[sandbox.CONFINED] = "1"


def resolve(kind: registry.Kind, option: str, name: str) -> str:
    """An algorithm's ns-3 name. Raises :class:`~ccperf.errors.UsageError` naming the option."""
    from ccperf.algorithms import registry

    try:
        return registry.resolve(kind, name)
    except ValueError as error:
        raise UsageError(option, str(error)) from None


def under_test(experiments: Sequence[Experiment], text: str, option: str) -> list[str]:
    """``newreno,TcpCubic`` as one of the experiments names what it tests, each once."""
    from ccperf.experiments.catalogue.experiment import known_to

    try:
        names = [known_to(experiments, word) for word in expand(option, text)]
    except UsageError as error:
        raise UsageError(option, error.message) from None
    return list(dict.fromkeys(names))


def writable_folder(path: Path, option: str = "--output") -> Path:
    """The folder itself, after a test that files can be written there; nothing is created.

    Raises :class:`~ccperf.errors.UsageError`.
    """
    existing = path.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise UsageError(option, f"`{existing}` is a file, not a folder; name another")
    _try_writing(existing, option)
    return path


def writable_file(path: Path, option: str) -> Path:
    """The file itself, after a test that it can be written; nothing is created."""
    import os

    if path.is_dir():
        raise UsageError(option, f"`{path}` is a folder; name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageError(option, f"`{path}` is not writable; name another file")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise UsageError(option, f"the folder `{folder}` does not exist; create it first")
    _try_writing(folder, option)
    return path


def packets_file(path: Path, backend: str, others: Iterable[Path]) -> None:
    """A test that a packet trace or capture can be written; nothing is created.

    Raises :class:`~ccperf.errors.UsageError`.
    """
    from ccperf.base import outputs

    writable_file(path, "--packets")
    able = backends.get(backend).abilities.packets
    outputs.may_write_packets(path, backend, able, "--packets", others)


def _try_writing(folder: Path, option: str) -> None:
    """A file without a name comes and goes: what permissions say is not the whole truth."""
    if hasattr(os, "O_TMPFILE"):
        with suppress(OSError):
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
            return
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"the folder `{folder}` is not writable ({error.strerror}); name another"
        raise UsageError(option, message) from None


def databases(given: Path | Sequence[Path] | None, runs: Sequence[str] = ()) -> list[Path]:
    """Those given, also `a.db,b.db`, or those here that `bench`, `run` and `exec` write to.

    Raises :class:`~ccperf.errors.UsageError` if there is none, or one is among the names of runs.
    """
    if astray := [name for name in runs if is_database(name) or Path(name).is_file()]:
        advice = with_databases(arguments(), astray)
        raise UsageError("runs", f"`{astray[0]}` is a database, not a run; write {advice}")
    if given is not None:
        if isinstance(given, Path):
            files = [given]
        else:
            files = [file for each in given for file in _each(each)]
        for file in files:
            if not file.exists():
                raise UsageError("--db", f"there is no database `{file}`")
        # One that is named twice has its runs once.
        return list({file.resolve(): file for file in reversed(files)}.values())[::-1]
    found = sorted(Path().glob("benchmark_*.db"))
    found += [DEFAULT_DB] if DEFAULT_DB.exists() else []
    if not found:
        message = f"is missing, and there is no benchmark_*.db or {DEFAULT_DB} here"
        raise UsageError("--db", message)
    return found


def _each(given: Path) -> list[Path]:
    """A file, or the files of a comma list."""
    return [given] if given.exists() else [Path(word) for word in str(given).split(",") if word]


def load_runs(names: Sequence[str], databases: Sequence[Path]) -> list[Result]:
    """The runs that :func:`find_runs` finds in databases."""
    from contextlib import ExitStack

    from ccperf.store import Store

    with ExitStack() as stack:
        stores = [stack.enter_context(Store(path, "r")) for path in databases]
        return [store.load(run) for store, run in find_runs(names, stores)]


def find_runs(names: Sequence[str], stores: Sequence[Store]) -> list[tuple[Store, str]]:
    """Runs by id or the beginning of one, each with the first store that has it.

    `latest` is the one that finished last.

    Raises :class:`~ccperf.errors.UsageError`.
    """
    runs = []
    for name in names:
        found: dict[str, Store] = {}
        if name == LATEST:
            ends = [(*last, store) for store in stores if (last := store.latest())]
            for _, run, store in sorted(ends, key=lambda end: end[0])[-1:]:
                found[run] = store
        for store in stores:
            for run in store.beginning_with(name):
                found.setdefault(run, store)
        if not found:
            where = ", ".join(str(store.path) for store in stores)
            message = f"no run `{name}` in {where}; `ccperf runs --db FILE` lists them"
            raise UsageError("run", message)
        if len(found) > 1 or not name:
            some = ", ".join(sorted(found)[:3])
            raise UsageError("run", f"`{name}` is the beginning of several runs: {some}, ...")
        runs += [(store, run) for run, store in found.items()]
    return runs


def option_of(name: str) -> str:
    """What the command line calls a parameter or a setting."""
    return f"--{name.replace('_', '-')}"
