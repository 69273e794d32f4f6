"""``ccperf verify``: the validation, again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ccperf.base.process import cores
from ccperf.base.wording import counted
from ccperf.cli.options import Json, Running, open_backend, writable_file
from ccperf.cli.output import note, print_json, progress_bar, say, table
from ccperf.cli.parameter import Parameter
from ccperf.cli.trust import ask
from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ccperf.runs.backends import Backend
    from ccperf.scenario import Scenario
    from ccperf.verify import Comparison
    from ccperf.verify.case import Case
    from ccperf.verify.packets import Divergence
    from ccperf.verify.shrinking import Finding


#: Processor time of ns-3 for a random scenario. One takes a second or two; with some attributes
#: it never returns.
_FUZZ_LIMIT_S = 60


@dataclass
class Selection:
    """Which scenarios are compared with ns-3, a representative part if nothing is said, or with
    Linux.
    """

    scenario: Annotated[
        Path | None, Parameter(help="ns3, linux: this scenario only, TOML or JSON.")
    ] = None
    full: Annotated[bool, Parameter(help="ns3: the whole matrix.")] = False
    pattern: Annotated[
        str,
        Parameter(help="ns3: the cases of these names, e.g. `loss/*,drop/*`; linux: experiments."),
    ] = ""
    fuzz: Annotated[
        int,
        Parameter(help="ns3, linux: this many random scenarios; for --record, besides the matrix."),
    ] = 0
    seed: Annotated[int, Parameter(help="ns3, linux: seed of the random scenarios.")] = 1
    record: Annotated[
        Path | None,
        Parameter(
            help="ns3: write which scenarios were identical, as JSON, to this file, or in this "
            "folder to verified.json, verified-3.48.json, ... by the release. Interrupted, the "
            "same command goes on: what ns-3 agreed with is remembered."
        ),
    ] = None
    trust: Annotated[
        bool, Parameter(help="ns3: run the code that the file of --scenario names, if any.")
    ] = False

    def __post_init__(self) -> None:
        given = [self.scenario is not None, self.full, bool(self.pattern)]
        if sum(given) + (self.fuzz > 0 and self.record is None) > 1:
            raise UsageError("verify", "give one of --scenario, --full, --pattern, --fuzz")
        if self.fuzz < 0 or self.seed < 0:
            raise UsageError("--fuzz", "and --seed must not be negative")
        if self.record and self.scenario:
            raise UsageError("--record", "is of the matrix; leave out --scenario")

    def cases(self, recovery: str | None, profile: str | None = None) -> list[Case]:
        """The cases of the matrix, or the one scenario, with the TCP of this release."""
        from fnmatch import fnmatchcase

        from ccperf.verify import of_releases
        from ccperf.verify.case import with_release

        more = of_releases.cases(profile) if profile and not self.scenario else []
        pattern = self.pattern or ("*" if self.full else "release/*-TcpCubic")
        more = [c for c in more if any(fnmatchcase(c.name, one) for one in pattern.split(","))]
        found = self._cases(recovery, must_be=not more)
        return [*(with_release(each, profile) for each in found), *more] if profile else found

    def _cases(self, recovery: str | None, *, must_be: bool = True) -> list[Case]:
        from ccperf.verify import matrix

        if self.scenario is not None:
            scenario = _read(self.scenario, recovery)
            ask(self.scenario, scenario.user_code, self.trust)
            return [matrix.Case(scenario)]
        if self.pattern or self.full:
            chosen: dict[str, Case] = {}
            for pattern in (self.pattern or "*").split(","):
                found = matrix.cases(pattern)
                if not found and must_be:
                    names = [case.name for case in matrix.cases()]
                    raise UsageError("--pattern", unknown("case", pattern, names))
                chosen |= {case.name: case for case in found}
            return list(chosen.values())
        return matrix.representative()


def command(
    what: Annotated[
        Literal["seeds", "ns3", "linux"],
        Parameter(help="seeds: the published tables; ns3: real ns-3; linux: Linux's TCP."),
    ] = "seeds",
    /,
    *,
    selection: Selection | None = None,
    running: Running | None = None,
    json: Json = False,
) -> int:
    """Repeat the validation and print its table; exit status 1 if anything differs.

    seeds runs the published command lines and compares every published value. ns3 runs scenarios on
    both backends and compares every packet, every table and every metric, without tolerance. linux
    runs experiments (--pattern; three seconds of each, for CUBIC) on the engine and on Linux's TCP
    and says where the segments of each source part: a comparison of two TCPs, so that exit status
    is 0 however far they agree. With --fuzz it compares every packet of random dumbbells under the
    profile linux, and exit status is 1 if one differs.
    """
    running = running or Running()
    if running.ns3_source:
        raise UsageError("--ns3-source", "classes of your own run on ns-3 only: nothing to compare")
    if what == "seeds":
        if selection is not None:
            raise UsageError("verify seeds", "is of all published tables; leave out what selects")
        running.declare_sources()
        return seeds(running, json)
    judge = {"ns3": ns3, "linux": linux}[what]
    if judge is ns3:
        running.declare_ns3(is_used=True)
    return judge(selection or Selection(), running, json)


def seeds(running: Running, json: bool) -> int:
    """Compare with the published tables."""
    from dataclasses import asdict

    from ccperf.verify.seeds import compare

    backend = running.open_backend()
    rows = list(
        compare(
            backend,
            recovery=running.recovery_name(),
            jobs=running.job_count(),
            done=lambda page: note(f"{page.experiment} #{page.number} done"),
        )
    )
    equal = sum(row.equal for row in rows)
    if json:
        print_json(
            [{**asdict(row), "difference": row.difference, "equal": row.equal} for row in rows]
        )
    else:
        head = ["experiment", "column", "metric", "published", "ours", "difference", "verdict"]
        say(
            table(
                head,
                [
                    [
                        f"{row.experiment} #{row.number}",
                        row.column,
                        row.metric,
                        f"{row.published:.2f}",
                        "" if row.ours is None else f"{row.ours:.4f}",
                        "" if row.difference is None else f"{row.difference:+.4f}",
                        "equal" if row.equal else "DIFFERENT",
                    ]
                    for row in rows
                ],
            )
        )
        say(f"\n{equal} of {counted(len(rows), 'value')} equal at the printed digits")
    return 0 if equal == len(rows) else 1


def linux(selection: Selection, running: Running, json: bool) -> int:
    """Say where the segments of the engine's senders and of Linux's part, or compare random
    scenarios packet by packet.
    """
    from fnmatch import fnmatch

    from ccperf.experiments.catalogue import REGISTRY
    from ccperf.verify.linux import described, parting

    if selection.full or selection.record:
        raise UsageError("verify linux", "takes one of --scenario, --pattern, --fuzz, nothing else")
    if selection.fuzz:
        return _linux_at_random(selection, running, json)
    if selection.scenario:
        scenarios = {str(selection.scenario): selection.cases(None)[0].scenario}
    else:
        wanted = [name for name in REGISTRY if fnmatch(name, selection.pattern or "*")]
        if not wanted:
            raise UsageError("--pattern", unknown("experiment", selection.pattern, REGISTRY))
        scenarios = {
            name: REGISTRY[name].scenario("TcpCubic", stop_time="3s", **next(REGISTRY[name].grid()))
            for name in wanted
        }
    ours, theirs = open_backend("native"), open_backend("linux")
    found = {}
    with progress_bar("verify linux") as progress:
        for done, (name, scenario) in enumerate(scenarios.items()):
            progress(done, len(scenarios))
            found[name] = parting(scenario, ours, theirs)
    if json:
        print_json({name: [one.json() for one in flows] for name, flows in found.items()})
    else:
        for name, flows in found.items():
            say(name)
            for one in flows:
                say(f"  {described(one)}")
    return 0


def _linux_at_random(selection: Selection, running: Running, json: bool) -> int:
    """Compare random scenarios with Linux, packet by packet."""
    from itertools import islice

    from ccperf.scenario import profiles
    from ccperf.verify import fuzz_linux, linux_packets, many

    jobs = running.job_count() or cores()
    recovery, profile = running.recovery_name(), running.profile_name()
    is_others = profile is not None and profile not in profiles.TCPS
    for option, given in (("--recovery", recovery), ("--profile", profile if is_others else None)):
        if given:
            raise UsageError(option, f"`{given}`: random scenarios have Linux's; leave it out")
    backends = open_backend("native"), open_backend("linux")
    drawn = islice(fuzz_linux.draws(selection.seed), selection.fuzz)
    with progress_bar("verify linux") as progress:
        findings = many.examine_all(drawn, *backends, jobs, linux_packets.compare)
        found = _smallest(findings, lambda done: progress(done, selection.fuzz))
    return _judged([], found, selection, json, "linux", "the kernel")


def ns3(selection: Selection, running: Running, json: bool) -> int:
    """Compare with real ns-3, packet by packet."""
    from ccperf.base import outputs
    from ccperf.runs.backends.ns3 import release
    from ccperf.verify import record

    # What is asked for is checked before what is installed.
    jobs = running.job_count() or cores()
    profile = running.profile_name() or _of_the_ns3()
    is_matrix = not selection.fuzz or selection.record
    cases = selection.cases(running.recovery_name(), profile) if is_matrix else []
    path = selection.record
    if path:
        path = path / record.file(profile) if path.is_dir() else path
        writable_file(path, "--record")
        outputs.may_write(path, record.KIND, "--record")
    backends = open_backend("native"), open_backend("ns3")
    matrix, random = _compared(selection, cases, backends, jobs, profile)
    if path:
        drawn = [(selection.seed, comparison) for comparison in random]
        ours, theirs = (backend.version for backend in backends)
        judge = record.judge(release.find(), profile)
        seeds = [selection.seed] if drawn else []
        made = record.of_comparisons(matrix, ours, theirs, judge, record.random(seeds, drawn))
        record.write(made, path)
        note(f"written to {path}")
    return _judged(matrix, random, selection, json, "ns3", "ns-3", profile)


def _judged(
    matrix: Sequence[Comparison],
    random: Sequence[Comparison],
    selection: Selection,
    json: bool,
    what: str,
    judge: str,
    profile: str | None = None,
) -> int:
    """Print what came of the comparisons with a judge; return the exit status.

    `what` is the command's word for it.
    """
    found = [*matrix, *random]
    # ns-3 itself does not get to the end of some legal random scenarios: that is no difference.
    aborted = [c for c in random if c.errors and not c.different]
    different = [c for c in found if not c.identical and c not in aborted]
    if json:
        print_json([_facts(comparison) for comparison in found])
        return 1 if different else 0
    if matrix:
        say(table(["scenario", "trace rows", judge, "engine", "verdict"], map(_line, matrix)))
        say()
    for comparison in different:
        say(comparison.report() + "\n")
        if any(comparison is one for one in random):
            say("the scenario, for a file of `--scenario FILE.json`:")
            print_json(comparison.scenario.canonical())
    for comparison in aborted:
        say(f"seed {selection.seed}, {_end_of(comparison)}")
    if selection.fuzz and different:
        again = f"--fuzz {selection.fuzz} --seed {selection.seed}"
        again += f" --profile {profile}" if profile else ""
        say(f"again: ccperf verify {what} {again}")
    identical = len(found) - len(different) - len(aborted)
    more = f"; in {len(aborted)} {judge} aborted, crashed or did not return" if aborted else ""
    under = f" under {profile}" if profile else ""
    say(f"{identical} of {counted(len(found), 'scenario')} packet-identical{under}{more}")
    return 1 if different else 0


def _compared(
    selection: Selection,
    cases: Sequence[Case],
    backends: tuple[Backend, Backend],
    jobs: int,
    profile: str | None,
) -> tuple[list[Comparison], list[Comparison]]:
    """Those of the matrix, in its order, and of random scenarios.

    For a record what ns-3 agreed with is remembered.
    """
    from ccperf.runs.backends.ns3 import Ns3
    from ccperf.verify import agreed, many
    from ccperf.verify.compare import compare as compare_both

    compare = agreed.compare if selection.record else compare_both
    ours, theirs = backends
    limited = Ns3(cpu_limit_s=_FUZZ_LIMIT_S)
    matrix: dict[str, Comparison] = {}
    total = len(cases) + selection.fuzz
    with progress_bar("verify ns3") as progress:
        progress(0, total)
        for case, comparison in many.compare_all(cases, ours, theirs, jobs, compare):
            matrix[case.name] = comparison
            progress(len(matrix), total)
        findings = many.fuzz_all(
            selection.seed, selection.fuzz, ours, limited, jobs, profile, compare
        )
        random = _smallest(findings, lambda done: progress(len(matrix) + done, total))
    return [matrix[case.name] for case in cases], random


def _smallest(findings: Iterable[Finding], progress: Callable[[int], None]) -> list[Comparison]:
    """What came of random scenarios, in their order: of one that differs the smallest that does."""
    found: dict[int, Comparison] = {}
    progress(0)
    for finding in findings:
        found[finding.number] = finding.smallest or finding.comparison
        progress(len(found))
    return [found[number] for number in sorted(found)]


def _facts(comparison: Comparison) -> dict[str, Any]:
    """What JSON says of a comparison."""
    from dataclasses import asdict

    return {
        "scenario": comparison.scenario.label,
        "verdict": comparison.verdict,
        "rows": comparison.rows,
        "seconds": comparison.seconds,
        "packets": comparison.divergence and _rows(comparison.divergence),
        "tables": [asdict(difference) for difference in comparison.tables],
        "metrics": [asdict(difference) for difference in comparison.metrics],
    }


def _rows(divergence: Divergence) -> dict[str, Any]:
    """The first rows in which packet traces differ."""
    sides = {"ours": divergence.ours, "theirs": divergence.theirs}
    return {"row": divergence.row} | {
        side: row and {name: value for name, value in row._asdict().items() if value}
        for side, row in sides.items()
    }


def _of_the_ns3() -> str | None:
    """The release that a tree in place of the wheel is compared with: the newest that it has."""
    from ccperf.algorithms import releases
    from ccperf.runs.backends.ns3 import release

    if release.is_wheel():
        return None
    try:
        found = release.find()
    except release.Unavailable:
        return None  # said when the backend is opened
    profile = releases.of_version(found.version)
    note(f"ns-3 {found.version} is compared with the profile {profile} (--profile names another)")
    return None if profile == releases.default() else profile


def _end_of(comparison: Comparison) -> str:
    """What ended a run that is no difference: the scenario's number, and why."""
    why = "; ".join(map(str, comparison.errors.values()))
    return f"{comparison.scenario.label}: {why}; {comparison.rows:,} packet-trace rows in common"


def _line(comparison: Comparison) -> list[str]:
    seconds = comparison.seconds
    return [
        comparison.scenario.label,
        str(comparison.rows),
        *(f"{seconds[name]:.2f}s" if name in seconds else "" for name in ("ns3", "native")),
        comparison.verdict,
    ]


def _read(path: Path, recovery: str | None) -> Scenario:
    """The scenario in a file: TOML, or JSON as ``exec --dry-run`` prints it."""
    import json

    from ccperf.experiments.topologies import written
    from ccperf.scenario import Scenario

    try:
        if path.suffix == ".json":
            scenario = Scenario.model_validate(json.loads(path.read_text(encoding="utf-8-sig")))
        else:
            scenario = written.read(path)
    except OSError as error:
        raise UsageError("--scenario", f"`{path}` cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UsageError("--scenario", f"`{path}` is not JSON: {error}") from None
    update: dict[str, object] = {"label": scenario.label or path.stem}
    if recovery:
        update["flows"] = tuple(
            flow.model_copy(update={"recovery": recovery}) for flow in scenario.flows
        )
    return scenario.model_copy(update=update)
