"""Fingerprints of what the engine records for every scenario of the matrix.

    python tools/fingerprints.py              compare tables with the record
    python tools/fingerprints.py --packets    and all that a receiver could see of packets
    python tools/fingerprints.py --write      record the scenarios that the record does not have
    python tools/fingerprints.py --answers    ask ns-3 for the daily slice, and keep that it agrees
    python tools/fingerprints.py --profile ns3-dev      the same as another release of ns-3

Exit status 1 where one differs.  A scenario is recorded when real ns-3 has agreed with it; after
that a change that means to leave behaviour alone is checked in seconds, without ns-3.  There are
three fingerprints: of all tables with each change of the senders' state; of the packet trace, which
has the order of events at one time, too; and of everything that the comparison with ns-3 looks at:
the tables, the changes, and the packets with their headers.  Tables count with the columns, changes
with the variables that the record names, so that a new one changes no fingerprint.

What ns-3 answers depends on its release, on the driver's sources and on the scenario. `--answers`
keeps a hash of these (`tests/verify/answers.json`), so that tests let ns-3 run only where one of
them is another one, and for a tenth in any case. After a change of the driver: `--answers`.

What is recorded stays: `--write` adds and never replaces. Of releases after 3.44 there is one
fingerprint a scenario, of everything, for what their record (`make record NS3=PATH`) says that ns-3
agreed with.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.base.process import cores
from ccperf.runs import backends
from ccperf.runs.recording import Recording
from ccperf.verify import matrix, of_releases, packets, record
from ccperf.verify.case import with_release

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

RECORD = Path(__file__).parents[1] / "tests" / "verify" / "fingerprints.json"
#: Of releases after 3.44: by profile and scenario.
OF_RELEASES = RECORD.with_name("fingerprints-releases.json")

#: Columns by table, and the variables that `changes` follows.
Columns = dict[str, list[str]]
Followed = list[str]


def fingerprint(recording: Recording, columns: Columns, followed: Followed) -> Any:
    """Return a SHA-256 over the named columns of each table there is."""
    digest = hashlib.sha256()
    for name, wanted in columns.items():
        table = recording.tables.get(name)
        if table is None:
            continue
        rows = None
        if name == "changes":
            variables = table.strings("name")
            if not set(variables) <= set(followed):
                rows = [row for row, variable in enumerate(variables) if variable in followed]
        digest.update(f"{name} {table.rows if rows is None else len(rows)}\n".encode())
        for column in wanted:
            data: Any = table[column]
            if isinstance(data, list):
                digest.update("\n".join(data if rows is None else (data[r] for r in rows)).encode())
            else:
                digest.update((data if rows is None else data[rows]).tobytes())
    return digest


def _short(digest: Any) -> str:
    return str(digest.hexdigest()[:16])


def with_changes(case: matrix.Case) -> Scenario:
    """A case's scenario that records every change of the senders' state."""
    recording = case.scenario.recording.model_copy(update={"changes": True})
    return case.scenario.model_copy(update={"recording": recording})


def of_tables(scenario: Scenario, columns: Columns, followed: Followed) -> str:
    """Run a scenario for its tables."""
    recording = backends.get("native").simulate(scenario)
    return _short(fingerprint(recording, columns, followed))


def of_packets(case: matrix.Case) -> str:
    """Run a case with its packets recorded."""
    with TemporaryDirectory(prefix="ccperf-fingerprints-") as folder:
        trace, digest = Path(folder) / "packets.csv", hashlib.sha256()
        with packets.piped(trace, digest.update):
            backends.get("native").simulate(case.scenario, packets=trace)
        return _short(digest)


def of_all(scenario: Scenario, columns: Columns, followed: Followed) -> str:
    """Run a scenario for everything that the comparison with ns-3 looks at."""
    tables, packets_seen = _native.run_for_digest(scenario.lowered())
    digest = fingerprint(Recording(tables), columns, followed)
    digest.update(packets_seen.encode())
    return _short(digest)


def views(record: dict[str, Any]) -> dict[str, Callable[[matrix.Case], str]]:
    """How each kind of fingerprint in the record is taken."""
    all_columns, all_followed = record["all_columns"], record["all_followed"]
    return {
        "tables": lambda case: of_tables(with_changes(case), record["columns"], record["followed"]),
        "packets": of_packets,
        "all": lambda case: of_all(with_changes(case), all_columns, all_followed),
    }


def measure(cases: list[matrix.Case], of: Callable[[matrix.Case], str]) -> dict[str, str]:
    """Fingerprint cases side by side, by name."""
    with ThreadPoolExecutor(cores()) as executor:
        return dict(zip((case.name for case in cases), executor.map(of, cases), strict=True))


def main(words: Sequence[str] | None = None) -> int:
    """Compare or record, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="record what the record does not have")
    parser.add_argument("--packets", action="store_true", help="compare packets as well")
    parser.add_argument("--answers", action="store_true", help="keep what ns-3 agrees with")
    parser.add_argument("--pattern", default="*", help="only the cases of these names: loss/*")
    parser.add_argument("--profile", help="as this release of ns-3, after 3.44: ns3-3.48")
    parser.add_argument("--every", type=int, default=1, help="of a profile, each nth only")
    arguments = parser.parse_args(words)
    kept = json.loads(RECORD.read_text())
    taken_by = views(kept)
    if arguments.profile:
        return of_release(arguments, taken_by["all"])
    if arguments.answers:
        return ask_ns3(kept["all"])
    cases = matrix.cases(arguments.pattern)
    if arguments.write:
        for what, of in taken_by.items():
            absent = [case for case in cases if case.name not in kept[what]]
            kept[what].update(measure(absent, of))
            print(f"{len(absent)} new, {what}")
        RECORD.write_text(json.dumps(kept, indent=1) + "\n")
        return 0
    known = [case for case in cases if case.name in kept["tables"]]
    found = {"tables": measure(known, taken_by["tables"])}
    if arguments.packets:
        # Those of all have the tables and the packets, too.
        whole = [case for case in known if case.name in kept["all"]]
        rest = [case for case in known if case.name not in kept["all"]]
        found = {what: measure(rest, taken_by[what]) for what in ("tables", "packets")}
        found["all"] = measure(whole, taken_by["all"])
    different = [
        (what, name)
        for what, values in found.items()
        for name, value in values.items()
        if value != kept[what][name]
    ]
    for what, name in different:
        print(f"{what} differ: {name}")
    new = len(cases) - len(known)
    print(f"{len(known)} scenarios compared, {len(different)} differ, {new} new")
    return bool(different)


def ask_ns3(known: dict[str, str]) -> int:
    """Record the questions of the daily slice that ns-3 answers as the engine does."""
    sys.path.insert(0, str(RECORD.parents[1]))
    import agreed

    asked = [case for case in matrix.representative() if case.name in known]
    with ThreadPoolExecutor(cores()) as executor:
        for _ in executor.map(lambda case: agreed.assert_identical_to_ns3(case.scenario), asked):
            pass
    answers = {case.name: agreed.question(case.scenario) for case in asked}
    agreed.ANSWERS.write_text(json.dumps(answers, indent=0) + "\n")
    print(f"{len(answers)} answers")
    return 0


def of_release(arguments: argparse.Namespace, of: Callable[[matrix.Case], str]) -> int:
    """Compare or record a release after 3.44."""
    profile = arguments.profile
    found = json.loads(OF_RELEASES.read_text()) if OF_RELEASES.exists() else {}
    known = found.setdefault(profile, {})
    cases = [with_release(each, profile) for each in matrix.cases()]
    cases += of_releases.cases(profile)
    if arguments.write:
        agreed = record.of_release(profile)
        assert agreed, f"make record NS3=PATH for {profile} first"
        new = [
            case
            for case in cases
            if case.name not in known
            and case.name not in agreed.different
            and agreed.holds(case.scenario)
        ]
        known.update(measure(new, of))
        OF_RELEASES.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(new)} new")
        return 0
    chosen = [case for case in cases if case.name in known][:: arguments.every]
    different = [name for name, value in measure(chosen, of).items() if value != known[name]]
    for name in different:
        print(f"{profile} differs: {name}")
    print(f"{len(chosen)} scenarios compared as {profile}, {len(different)} differ")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
