"""The backend `linux`: the kernel's own TCP at the ends of the engine's network, in virtual time.

A run is one process: the kernel, whose init is the guest (`crates/guest`). It reads the lowered
scenario and what `stack` says of it, and leaves a recording.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ccperf
from ccperf import _native
from ccperf.algorithms.user_code import names
from ccperf.algorithms.user_code.content import check
from ccperf.base.folders import Temporary
from ccperf.errors import RunError, UsageError, unknown
from ccperf.runs import backends
from ccperf.runs.backends import keeper
from ccperf.runs.backends.linux import build, disciplines, module, stack
from ccperf.runs.backends.tables import read_tables

if TYPE_CHECKING:
    from ccperf.runs.backends import Progress
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario
    from ccperf.scenario.canonical import Runnable

#: The kernel's only program, as `make guest` leaves it and wheels for Linux have it.
GUEST = Path(ccperf.__file__).parent / "data" / "guest"
#: Seconds of processor time without any simulated: only a loop in the kernel takes that long.
PATIENCE_S = 30.0
_POLL_S = 0.05
#: What a kernel says before it gives up.
_OOPS = re.compile(r"(Kernel panic|BUG:|Oops|Segfault|divide error|Call Trace|EIP:|RIP:)")
#: What the kernel says of users' modules, before the guest gives up.
_OF_MODULES = re.compile(r"taints kernel\.\s*\n(.+?)^guest: ", re.MULTILINE | re.DOTALL)
_GUEST = re.compile(r"^guest: (.*)$", re.MULTILINE)
_SIGNAL = re.compile(r"Kernel mode signal (\d+)")
_SHOWN_LINES = 12
_TICKS = os.sysconf("SC_CLK_TCK")


class Linux:
    """Runs scenarios with the TCP of a Linux kernel, which `ccperf linux build` has built."""

    name = "linux"
    abilities = backends.Abilities(
        summary="the Linux kernel's own TCP, in virtual time",
        user_code=frozenset({names.KERNEL}),
        packets=(".csv", ".pcapng"),
        speed=0.14e6,
        overhead_s=0.3,
        has_sysctls=True,
    )

    @property
    def version(self) -> str:
        """Linux's version, what the kernel was built from, and the guest."""
        kernel = build.current()
        if kernel is None:
            return "none"
        guest = hashlib.sha256()
        for part in (GUEST, disciplines.PORT):
            guest.update(_digest(*_stamp(part)).encode())
        return f"{kernel.version}-{kernel.key[:8]}+{guest.hexdigest()[:12]}"

    def available(self) -> str | None:
        """None if it can be used here, or one sentence on what is missing."""
        try:
            self._kernel()
        except build.Unavailable as missing:
            return str(missing)
        return None

    def prepare(self, scenario: Scenario) -> None:
        """Compile the user's modules of a scenario.

        Raises:
            ScenarioError: if a file is not there.
            UsageError: if Linux has no setting for something in the scenario.
            RunError: if a file does not compile.
        """
        backends.user_code(scenario.user_code, self)
        _modules(stack.of(scenario.lowered()), self._kernel())

    def settings(self, scenario: Runnable) -> Mapping[str, str]:
        """The sysctls of a run that differ from what a distribution boots with."""
        try:
            return stack.of(scenario.lowered()).variables
        except UsageError:  # of another version, perhaps, which could be told it
            return {}

    def simulate(
        self,
        scenario: Runnable,
        *,
        packets: Path | None = None,
        progress: Progress | None = None,
        user_code: Mapping[str, str] | None = None,
    ) -> Recording:
        """Run a scenario; ``packets`` names a file for the packet trace.

        Raises:
            UsageError: if Linux has no setting for something in the scenario.
            RunError: if the run fails.
        """
        from ccperf.runs.recording import Recording

        expected = user_code or backends.user_code(scenario.user_code, self)
        lowered = scenario.lowered()
        if expected:
            # What is compiled from here on is found by its content.
            _modules(stack.of(lowered), self._kernel())
            check(expected)
        return Recording(self.run_lowered(lowered, packets, progress))

    def run_lowered(
        self,
        lowered: str,
        packets: Path | None = None,
        progress: Progress | None = None,
        words: tuple[str, ...] = (),
        statistics: tuple[Path, int] | None = None,
    ) -> dict[str, Any]:
        """The tables of a run; `words` go to the kernel's command line, after all others.

        `statistics`: a file for what the kernel's queue disciplines say of themselves, and how
        often, in ns. Each line has the time, the discipline's number and a structure of
        <linux/pkt_sched.h> in hexadecimal digits.
        """
        told = stack.of(lowered)
        kernel = self._kernel()
        with Temporary("linux-") as made:
            job = Path(made)
            for name in ("out", "proc", "dev", "tmp"):
                (job / name).mkdir()
            shutil.copyfile(GUEST, job / "init")
            (job / "init").chmod(0o755)
            (job / "scenario.json").write_text(lowered, encoding="utf-8")
            modules = _modules(told, kernel)
            loaded = [
                {"path": f"/{one.file.name}", "parameters": told.modules[one.source]}
                for one in modules
            ]
            for one in modules:
                shutil.copyfile(one.file, job / one.file.name)
            more = {"modules": loaded, "statistics_ns": statistics[1] if statistics else 0}
            (job / "stack.json").write_text(json.dumps({**told.settings, **more}))
            if packets is not None:
                (job / "packets").write_text(_within(packets))
            command = [str(kernel.program), *_words(told), *words]
            said = _run(command, job, json.loads(lowered)["stop_ns"], progress, modules)
            _report(job, said, modules)
            if packets is not None:
                shutil.move(job / "out" / _within(packets), packets)
            if statistics is not None:
                shutil.move(job / "out" / "statistics", statistics[0])
            return read_tables(job / "out" / "tables")

    def _kernel(self) -> build.Kernel:
        build.check_host()
        # Before the kernel, which takes minutes to build and is of no use without it.
        if not GUEST.is_file():
            raise build.Unavailable(
                "this ccperf has no guest for the kernel: in a checkout, `make guest` builds it"
            )
        kernel = build.current()
        if kernel is None:
            raise build.Unavailable("there is no Linux kernel yet: `ccperf linux build` makes one")
        if kernel.recipe != build.recipe():
            raise build.Unavailable(
                "the Linux kernel was built by another ccperf, with other options or steps: "
                "`ccperf linux build` builds it anew"
            )
        if (found := _engine_of(*_stamp(GUEST))) != _native.ENGINE_HASH:
            what = "does not run" if found is None else "is of another engine"
            raise build.Unavailable(f"the guest in {GUEST} {what}: `make guest` builds it anew")
        return kernel


#: The folder that a kernel is started in, without the name: a space in it would end a word.
_JOB = "/proc/self/cwd"


def _modules(told: stack.Stack, kernel: build.Kernel) -> list[module.Module]:
    """The user's modules, compiled.

    Raises:
        UsageError: for a parameter that a module lacks: the kernel would leave it out.
    """
    made = [module.compiled(file, kernel) for file in told.modules]
    for one in made:
        known = module.parameters(one.file)
        for word in told.modules[one.source].split():
            _check_parameter(word, one.source.name, known)
    for word in told.boot:
        name, _, rest = word.partition(".")
        if name.startswith("tcp_"):
            _check_parameter(rest, name, module.built_in_parameters(kernel.program, name))
    return made


def _check_parameter(word: str, whose: str, known: frozenset[str]) -> None:
    name = word.partition("=")[0]
    if name not in known:
        raise UsageError("cc", unknown(f"parameter of {whose}", name, known))


def _words(told: stack.Stack) -> list[str]:
    """The kernel's command line."""
    return [
        f"mem={told.megabytes}M",
        "rootfstype=hostfs",
        f"rootflags={_JOB}",
        "rw",
        "init=/init",
        # Virtual time, which begins with the first second of 1970.
        "time-travel=inf-cpu",
        "time-travel-start=0",
        "seccomp=auto",
        "loglevel=5",
        "con=null",
        "con0=null,fd:2",
        "panic=-1",
        "oops=panic",
        f"uml_dir={_JOB}",
        "umid=run",
        *told.boot,
    ]


def _run(
    command: list[str],
    job: Path,
    stop_ns: int,
    progress: Progress | None,
    modules: Sequence[module.Module],
) -> str:
    """Run a kernel to its end, and return what it said; whatever interrupts us ends it, too."""
    with (job / "said").open("w+b") as said:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", keeper.__file__, *command],
            stdin=subprocess.PIPE,  # ends with this process, and with it the kernel
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=job,
        )
        try:
            _watch(process, job, stop_ns, progress)
        except _HangsError:
            raise RunError(_hung(job, modules)) from None
        finally:
            _end(process)
        if process.returncode == -signal.SIGKILL:
            raise RunError(
                f"something outside has killed the kernel at {_now(job) / 1e9:.6f} s of simulated "
                "time; the system does so where memory is short"
            )
        said.seek(0)
        return said.read().decode(errors="replace")


class _HangsError(Exception):
    """The kernel takes processor time, and none passes in it."""


def _watch(
    process: subprocess.Popen[bytes], job: Path, stop_ns: int, progress: Progress | None
) -> None:
    seen, since = -1, 0.0
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_POLL_S)
            return
        now_ns = _now(job)
        if now_ns != seen:
            seen, since = now_ns, _seconds(process.pid)
        elif _seconds(process.pid) - since > PATIENCE_S:
            raise _HangsError
        if progress:
            progress(min(now_ns / stop_ns, 0.99))


def _now(job: Path) -> int:
    """How far the run is, in ns."""
    try:
        return int((job / "out" / "progress").read_text() or 0)
    except (OSError, ValueError):
        return 0


def _seconds(keeper_pid: int) -> float:
    """Processor time of what the keeper keeps."""
    try:
        children = Path(f"/proc/{keeper_pid}/task/{keeper_pid}/children").read_text().split()
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in children]
    except OSError:
        return 0.0
    words = [stat.rpartition(")")[2].split() for stat in stats]
    return sum(int(each[11]) + int(each[12]) for each in words) / _TICKS


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a run with all its processes: their keeper does that when its input ends."""
    assert process.stdin is not None
    process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2 * keeper.PATIENCE_S)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _hung(job: Path, modules: Sequence[module.Module]) -> str:
    whose = " or ".join(one.source.name for one in modules) or "it"
    return (
        f"the kernel has computed for {PATIENCE_S:.0f} s at {_now(job) / 1e9:.6f} s of simulated "
        f"time, and no time passed: an endless loop in {whose}"
    )


def _report(job: Path, said: str, modules: Sequence[module.Module]) -> None:
    """Raise what went wrong, in the guest's or the kernel's words."""
    error = job / "out" / "error"
    if error.exists():
        # On a full disk it is empty; the guest has said it as well.
        words = error.read_text(errors="replace").strip() or "\n".join(_GUEST.findall(said))
        about = _OF_MODULES.search(said)
        raise RunError(f"Linux: {words}" + (f"\n{about[1].rstrip()}" if about else ""))
    if (job / "out" / "tables").exists() and not _OOPS.search(said):
        return
    lines = [line.rstrip() for line in said.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if _OOPS.search(line)), -_SHOWN_LINES)
    shown = "\n".join(lines[first:][:_SHOWN_LINES]) or "it said nothing"
    shown = _SIGNAL.sub(lambda found: f"{found[0]} ({_signal(int(found[1]))})", shown)
    loaded = job / "out" / "modules"
    for one in modules:
        shown = module.placed(shown, one, loaded.read_text() if loaded.exists() else "")
    raise RunError(f"the kernel ended at {_now(job) / 1e9:.6f} s of simulated time:\n{shown}")


def _signal(number: int) -> str:
    """What a signal of the processor's is called, and stands for."""
    meaning = {
        signal.SIGFPE: ": a division by zero",
        signal.SIGILL: ": no instruction",
        signal.SIGBUS: ": no room for its memory, in TMPDIR or else in /dev/shm",
    }
    name = signal.Signals(number)
    return f"{name.name}{meaning.get(name, '')}"


def _stamp(path: Path) -> tuple[Path, int, int]:
    """A file with what changes when it does."""
    try:
        found = path.stat()
    except OSError:
        return path, 0, 0
    return path, found.st_size, found.st_mtime_ns


@cache
def _digest(path: Path, _size: int, _time: int) -> str:
    return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()


@cache
def _engine_of(path: Path, _size: int, _time: int) -> str | None:
    """The hash of the engine that is in the guest: it says so where it is no kernel's init."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        done = subprocess.run([path], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _within(packets: Path) -> str:
    """What the file of a packet trace is called inside: its ending says which columns it has."""
    return "packets" + "".join(packets.suffixes[-2:])
