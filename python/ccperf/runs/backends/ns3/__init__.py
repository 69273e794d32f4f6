"""Real ns-3: a C++ driver of ours, linked with the wheel `ns3` or another tree, in a process."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ccperf.algorithms import releases
from ccperf.algorithms.user_code import names
from ccperf.algorithms.user_code.content import check
from ccperf.base.folders import Temporary
from ccperf.errors import RunError, UsageError
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import build, release
from ccperf.runs.backends.tables import Tables, read_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario
    from ccperf.scenario.canonical import Runnable

#: How long to wait for its progress at a time.
_LOOK_S = 0.1
#: Exit status of the driver for a scenario that it cannot run.
_STATUS_REFUSED = 2
#: What a user's class derives from.
_CC, _QDISC = "ns3::TcpCongestionOps", "ns3::QueueDisc"
#: What ns-3 prints before it gives up: the condition, what it says, when, where.
_ABORT = re.compile(
    r'(?:cond="(?P<condition>[^\n]*?)", (?=msg=|\+|file=))?(?:msg="(?P<message>.*?)", )?'
    r"(?:\+(?P<seconds>[0-9.e-]+)s (?:-?\d+ )?)?file=(?P<file>[^,\n]+), line=(?P<line>\d+)$",
    re.MULTILINE | re.DOTALL,
)
#: What the driver prints last: the library, or the driver, and the function that was running.
_CULPRIT = re.compile(r"^ended in (?P<file>[^\s:]*)(?:: (?P<function>.*))?\n?\Z", re.MULTILINE)


class Ns3Aborted(RunError):
    """ns-3 gave up in the middle of a run: an assertion of its own failed.

    That is not a difference between backends; fidelity checks count it apart.  A packet trace
    that was asked for holds what happened until then, and so do the error's own tables.
    """

    def __init__(self, text: str, done: float | None = None) -> None:
        """`text` is what ns-3 printed on standard error; `done` the part of the run, if known."""
        found = _ABORT.search(text)
        self.text = text.strip()
        self.condition: str | None = found["condition"] if found else None
        self.message: str | None = found["message"] if found else None
        self.location: str | None = f"{Path(found['file']).name}:{found['line']}" if found else None
        self.time_s: float | None = float(found["seconds"]) if found and found["seconds"] else None
        self.done = done
        super().__init__(f"ns-3 aborted: {self._summary()}")

    def _summary(self) -> str:
        if self.location is None:
            where = "" if self.done is None else f" after {100 * self.done:.0f} % of the run"
            return self.text or f"abort() was called{where}, and nothing printed"
        what = " ".join(filter(None, (self.condition, self.message and f"({self.message})")))
        when = "" if self.time_s is None else f" at {self.time_s:.9g} s"
        return f"{what or 'no condition given'}, {self.location}{when}"


class Ns3:
    """Runs scenarios on ns-3; the driver is compiled when it is first needed.

    An algorithm may be a user's own ns-3 class, a congestion control or a queue discipline, named
    by its files: `/home/ann/my-cca.cc:TcpMine`, `/home/ann/my-cca.cc:/home/ann/util.cc:TcpMine`.
    They are compiled into the driver; what they include in quotes is looked for beside them.
    """

    name = "ns3"
    abilities = backends.Abilities(
        summary="real ns-3",
        cites="ns3",
        user_code=frozenset({names.NS3}),
        speed=0.1e6,
        overhead_s=0.3,
    )

    def __init__(self, cpu_limit_s: int | None = None) -> None:
        """`cpu_limit_s`: processor time after which a run is ended: ns-3 can hang."""
        self.cpu_limit_s = cpu_limit_s

    @property
    def version(self) -> str:
        """Part of a run's provenance and id: ns-3's release and a hash of the driver's sources.

        Of a tree that is not the wheel's, also a hash of its libraries.
        """
        driver = build.driver_digest()[:12]
        if release.is_wheel():
            return f"{release.VERSION}+{driver}"
        found = release.find()
        return f"{found.version}-{found.digest[:12]}+{driver}"

    def available(self) -> str | None:
        """None if it can be used here, or one sentence on what is missing."""
        try:
            build.toolchain()
        except release.Unavailable as missing:
            return str(missing)
        return None

    def simulate(
        self,
        scenario: Runnable,
        *,
        packets: Path | None = None,
        progress: Callable[[float], None] | None = None,
        user_code: Mapping[str, str] | None = None,
    ) -> Recording:
        """Run a scenario; ``packets`` names a file for the packet trace.

        Raises:
            ScenarioError: if the scenario makes no sense.
            UsageError: if it names user code of the native engine, or a capture is asked for.
            Ns3Aborted: if ns-3 gives up.
            RunError: if the run fails in another way.
        """
        from ccperf.runs.recording import Recording

        if packets is not None and packets.suffix == ".pcapng":
            message = f"`{packets}`: captures are made by the backend native only; here it is CSV"
            raise UsageError("packets", message)
        _refuse_settings(scenario)
        expected = user_code or backends.user_code(scenario.user_code, self)
        lowered = scenario.lowered()
        if expected:
            # What is compiled from here on is found by its content.
            build.driver(_user_classes(lowered)[1])
            check(expected)
        return Recording(self.run_lowered(lowered, packets=packets, progress=progress))

    def prepare(self, scenario: Scenario) -> None:
        """Compile the driver and the user's classes in a scenario, and look the classes up.

        Raises:
            ScenarioError: if a file is not there.
            UsageError: if a class is not in its files, or ns-3 lacks something in the scenario.
            RunError: if something does not compile.
        """
        backends.user_code(scenario.user_code, self)
        _refuse_settings(scenario)
        lowered, sources = _user_classes(scenario.lowered())
        build.driver(sources)
        _refuse_algorithms(json.loads(lowered))

    def run_lowered(
        self,
        lowered: str,
        *,
        packets: Path | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Tables:
        """Run a lowered scenario (JSON) and return the recording's tables.

        Raises:
            Ns3Aborted: if ns-3 gives up.
            RunError: if the run fails in another way.
        """
        lowered, sources = _user_classes(_of_this_release(lowered))
        program = build.driver(sources)
        with Temporary("ns3-") as scratch:
            scenario = Path(scratch) / "scenario.json"
            tables = Path(scratch) / "tables"
            scenario.write_text(lowered, encoding="utf-8")
            command = [str(program), str(scenario), str(tables)]
            if packets is not None:
                command += ["--packets", str(packets)]
            with (Path(scratch) / "output").open("w+b") as output:
                done = 0.0

                def advance(part: float) -> None:
                    nonlocal done
                    done = part
                    if progress:
                        progress(part)

                status = _run(command, output, advance, self.cpu_limit_s)
                output.seek(0)
                try:
                    _report(status, output.read().decode(errors="replace"), done)
                except RunError as error:
                    error.unfinished = _unfinished(tables)
                    # A user's classes are compiled into the driver.
                    error.is_own = error.is_own and not sources
                    raise
            return read_tables(tables)


def _refuse_settings(scenario: Runnable) -> None:
    """Raise `UsageError` for what the driver cannot be told."""
    for i, link in enumerate(scenario.parsed["links"]):
        for way in ("forward", "reverse"):
            if link.get(way, {}).get("pfc"):
                message = "pauses (pfc) are the backend native's; leave it out"
                raise UsageError(f"links[{i}].{way}.pfc", message)
    for i, flow in enumerate(scenario.parsed["flows"]):
        if (transport := flow.get("transport")) in ("ROCE", "TRIMMING"):
            message = f"{transport} is the backend native's; write TCP"
            raise UsageError(f"flows[{i}].transport", message)
    for i, workload in enumerate(scenario.parsed.get("workloads", ())):
        if workload["arrivals"]["type"] in ("After", "Answers"):
            message = "transfers that wait for others are the backend native's"
            raise UsageError(f"workloads[{i}].arrivals", f"{message}; give times")
        if workload.get("connections"):
            message = "connections that stay open are the backend native's; leave it out"
            raise UsageError(f"workloads[{i}].connections", message)
        if workload.get("gap"):
            message = "writes at equal distances are the backend native's; leave it out"
            raise UsageError(f"workloads[{i}].gap", message)


def _refuse_algorithms(lowered: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an algorithm that neither ns-3 nor the driver has a class for."""
    classes = {name.rpartition("::")[2] for name in build.classes_of("ns3::Object")}
    for name in dict.fromkeys(_algorithms(lowered)):
        # What paths are without a balancer is no class.
        if not name.startswith("::") and name not in (*classes, "static"):
            message = f"`ns3` cannot run {name}: ns-3 {release.find().version} has no such class"
            raise UsageError("backend", f"{message}; leave it to the backend `{backends.DEFAULT}`")


def _algorithms(lowered: Mapping[str, Any]) -> Iterator[str]:
    """The algorithms in a lowered scenario, as it names them."""
    for sender in (*lowered["flows"], *lowered["stacks"]):
        if sender["congestion_control"]:
            yield sender["congestion_control"]["type"]
            yield sender["recovery"]
    disciplines = [
        direction["qdisc"]
        for link in lowered["links"]
        for direction in link["directions"]
        if direction.get("qdisc")
    ]
    while disciplines:
        discipline = disciplines.pop()
        disciplines += discipline.get("children", ())
        yield discipline["type"]
    yield lowered["routing"]["type"]


def _of_this_release(lowered: str) -> str:
    """The scenario without the names of releases, which are no attributes of ns-3's.

    Raises:
        UsageError: if a release is named that is newer than the ns-3 that is here.
    """
    scenario = json.loads(lowered)
    of_senders = [sender["socket"] for sender in (*scenario["flows"], *scenario["stacks"])]
    wanted = {socket.pop(releases.ATTRIBUTE, None) for socket in of_senders} - {None}
    if not wanted:
        return lowered
    if others := sorted(wanted - releases.releases().keys()):
        raise UsageError(
            "profile",
            f"`{others[0]}` is no release of ns-3; leave it to the backend native",
        )
    version = release.find().version
    for name in sorted(wanted):
        if not releases.is_in(name, version):
            raise UsageError(
                "profile",
                f"`{name}` is not in ns-3 {version}; name a tree of it by --ns3 or "
                f"{release.VARIABLE}, or leave the profile to the backend native",
            )
    return json.dumps(scenario)


def _user_classes(lowered: str) -> tuple[str, list[Path]]:
    """Separate a user's classes from their files, and give them the names that ns-3 knows."""
    scenario = json.loads(lowered)
    directions = [direction for link in scenario["links"] for direction in link["directions"]]
    algorithms = [(_QDISC, used) for direction in directions if (used := direction.get("qdisc"))]
    senders = (*scenario["flows"], *scenario["stacks"])
    of_senders = (sender["congestion_control"] for sender in senders)
    algorithms += [(_CC, used) for used in of_senders if used]
    own = [(parent, used) for parent, used in algorithms if names.is_ns3_class(used["type"])]
    if not own:
        return lowered, []
    files = (file for _, used in own for file in names.files(used["type"]))
    sources = list(dict.fromkeys(files))
    for parent, used in own:
        used["type"] = "::" + _registered(used["type"], parent, sources)
    return json.dumps(scenario), sources


def _registered(name: str, parent: str, sources: list[Path]) -> str:
    """The whole name of a user's class in ns-3's registry, without or with `ns3::` before it."""
    made = build.classes(sources, parent)
    _, _, wanted = name.rpartition(":")
    for whole in made:
        if whole.rpartition("::")[2] == wanted:
            return whole
    known = ", ".join(made) or "none (NS_OBJECT_ENSURE_REGISTERED registers one)"
    where = ", ".join(file.name for file in sources)
    raise UsageError(
        wanted, f"is no class derived from {parent} that {where} registers; registered: {known}"
    )


def event_loop_seconds(lowered: str) -> float:
    """Wall time of ns-3's event loop for a lowered scenario, with nothing traced or recorded.

    Raises:
        RunError: if the run fails.
    """
    with Temporary("ns3-") as scratch:
        scenario, timing = Path(scratch) / "scenario.json", Path(scratch) / "timing"
        scenario.write_text(lowered, encoding="utf-8")
        command = [str(build.driver([])), str(scenario), "-", "--timing", str(timing)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        _report(done.returncode, done.stderr)
        return float(timing.read_text())


def _run(
    command: list[str],
    output: IO[bytes],
    progress: Callable[[float], None] | None,
    cpu_limit_s: int | None,
) -> int:
    """Run the driver to its end; whatever interrupts us ends it too."""
    readable, writable = os.pipe()
    with os.fdopen(readable, "rb", buffering=0) as reader:
        try:
            process = subprocess.Popen(
                [*command, "--progress", str(writable)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[writable],
            )
        finally:
            os.close(writable)
        try:
            if cpu_limit_s is not None:
                resource.prlimit(process.pid, resource.RLIMIT_CPU, (cpu_limit_s, cpu_limit_s + 1))
            done = 0.0
            ready = select.poll()  # `select` takes no file from 1024 on
            ready.register(reader, select.POLLIN)
            while True:
                # Also while ns-3 says nothing, the caller may want to end it.
                if progress:
                    progress(done)
                if ready.poll(1000 * _LOOK_S):
                    if not (line := reader.readline()):
                        break
                    done = float(line)
            return process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _report(status: int, output: str, done: float | None = None) -> None:
    """Raise what the driver's exit status means; pass on what user code printed."""
    found = _CULPRIT.search(output)
    text = output[: found.start()] if found else output
    if status == 0:
        sys.stderr.write(output)
        return
    if status == -signal.SIGABRT and (not found or _ABORT.search(text)):
        raise Ns3Aborted(text, done)
    if status == _STATUS_REFUSED:
        error = RunError(f"ns-3's driver cannot run this: {text.strip()}")
        error.is_own = True
        raise error
    if status == -signal.SIGXCPU:
        raise RunError("ns-3 was ended: it hangs, or takes longer than it may")
    if status > 0:
        raise RunError(f"ns-3's driver failed with status {status}: {text.strip()}")
    is_own = found is None or not found["file"].startswith("libns3")
    what = "ns-3's driver" if is_own else "ns-3"
    where = f" in {found['function'] or found['file']}" if found else ""
    name = signal.Signals(-status).name
    error = RunError(": ".join(filter(None, (f"{what} ended by {name}{where}", text.strip()))))
    error.is_own = is_own
    raise error


def _unfinished(path: Path) -> Tables:
    """The tables of a run that failed; a driver that crashed may have written part of a file."""
    try:
        return read_tables(path)
    except RunError:
        return {}
