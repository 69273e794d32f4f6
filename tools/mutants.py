"""Plants one-line mistakes in the engine and counts those that the comparison with ns-3 notices.

    python tools/mutants.py               the review's mistakes and a random tenth of the others
    python tools/mutants.py --share 1     all of them
    python tools/mutants.py --seed 7      the tenth that seed 7 draws

All mistakes are built into one copy of the engine and switched on one at a time, at run time.  A
mistake is killed when the engine, with it, records another table or another packet than what real
ns-3 confirmed for some scenario of the matrix (`tests/verify/fingerprints.json`), never ends or
breaks off.  First scenarios run without a mistake, to see which places each of them reaches; a
mistake is then tried on those that could notice it, the likely and the short ones first.  A share
is shown to those scenarios first that noticed a mistake the last time: all are asked about what
they let through for no recorded reason, and when a measurement is kept.
Mistakes that nothing can notice have a reason in `tools/mutants.toml`; any other survivor fails.

    python tools/mutants.py --share 1 --record     keeps the measurement, for the page on fidelity
    python tools/mutants.py --choose 12            chooses the daily slice anew by what it notices
    python tools/mutants.py --unit                 asks the unit tests, but for the slow ones
    python tools/mutants.py --fuzz 300             asks so many random scenarios
    python tools/mutants.py --own --rest           asks the unit tests about what ns-3 does not have
                                                   and has not been measured yet

Of the profile `linux`, L4S and BBRv3 (`places.OWN`) there is no comparison: unit tests must notice
mistakes there, or tests of whole runs (`mutation/whole_runs.py`), or `tools/mutants.toml` says why
they cannot.  `--unit` and `--fuzz` ask about the survivors and a random tenth of the others, and
keep each answer; with the same seed about the same tenth.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from mutation import engine, places, record, unit_tests, whole_runs

# The engine with the mistakes, not the one of the environment.
sys.path.insert(0, str(engine.WORK / "python"))

if TYPE_CHECKING:
    from mutation.scenarios import Judge
    from mutation.trials import Verdict


def main() -> int:
    """Plant, judge, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--share", type=float, default=0.1, help="of those not written by hand")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--name", default="", help="only mistakes with this in their names")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for a mistake")
    parser.add_argument("--rest", action="store_true", help="only those not measured yet")
    parser.add_argument("--list", action="store_true", help="print the mistakes and stop")
    parser.add_argument("--record", action="store_true", help="keep what is measured of all")
    parser.add_argument("--choose", type=float, metavar="SECONDS", help="choose the slice anew")
    parser.add_argument("--unit", action="store_true", help="ask the unit tests")
    parser.add_argument("--own", action="store_true", help="what ns-3 does not have: unit tests")
    parser.add_argument("--fuzz", type=int, metavar="COUNT", help="ask so many random scenarios")
    options = parser.parse_args()
    everything = places.catalogue()
    if options.list:
        for mutant in everything:
            print(f"line {mutant.line} of {mutant.name}")
        print(f"{len(everything)} mistakes")
        return 0
    print(f"seed {options.seed}; building an engine with {len(everything)} mistakes", flush=True)
    return measure(options, everything)


def measure(options: argparse.Namespace, everything: Sequence[places.Mutant]) -> int:
    """Build, then do what is asked for."""
    began = time.monotonic()
    known_refused = set(record.measured()["refused"])
    built = engine.Builder([m for m in everything if m.name not in known_refused]).build()
    refused = {m.name for m in everything} - {m.name for m in built}
    print(f"{len(built)} of them compile; {time.monotonic() - began:.0f} s", flush=True)
    if options.own:
        return judge_own(built, options)
    if options.unit:
        return ask_unit_tests(built, options)

    from mutation import daily, scenarios, trials

    from ccperf.verify import matrix

    switches = engine.Switches(len(built))
    if options.fuzz:
        return ask_random_scenarios(built, switches, options)
    judges = scenarios.judges()
    slice_ = {case.name for case in matrix.representative()}
    chosen, verdicts = drawn(built, options), []
    if options.choose is None and not options.record:
        verdicts = asked_again(chosen, judges, switches, options)
        settled = {verdict.mutant.name for verdict in verdicts}
        chosen = [item for item in chosen if item[1].name not in settled]
        if not chosen:
            print(f"{time.monotonic() - began:.0f} s")
            return report(verdicts, record.reasons(), slice_)
    surveys = scenarios.kept_survey(judges, switches, options.jobs)
    seconds = [survey.seconds for survey in surveys]
    print(
        f"{len(judges)} scenarios take {sum(seconds):.0f} s of processor time without a mistake;"
        f" {time.monotonic() - began:.0f} s",
        flush=True,
    )
    last = record.measured()
    if options.choose is not None:
        names = daily.choose(judges, seconds, last["by"], options.choose)
        daily.write(names)
        caught = sum(by in names for by in last["by"].values())
        print(f"{len(names)} scenarios notice {caught} of {len(last['by'])} mistakes")
        record.summarise(built, names)
        return 0
    reasons = record.reasons()
    court = trials.Court(judges, surveys, switches, last["by"], slice_, reasons, options.budget)
    for verdict in court.verdicts(chosen, options.jobs):
        verdicts.append(verdict)
        tell(verdict, reasons)
        # Now and then, for it may take an hour.
        if options.record and len(verdicts) % 25 == 0:
            record.write(verdicts, built, refused)
    if options.record:
        record.write(verdicts, built, refused)
        record.summarise(built, slice_)
    print(f"{time.monotonic() - began:.0f} s")
    return report(verdicts, reasons, slice_)


def asked_again(
    chosen: Sequence[tuple[int, places.Mutant]],
    judges: Sequence[Judge],
    switches: engine.Switches,
    options: argparse.Namespace,
) -> list[Verdict]:
    """What is settled by the few scenarios that noticed a mistake last time: a mistake that they
    notice, or of which it is known why nobody does.
    """
    from mutation import scenarios, trials

    known, reasons = record.measured()["by"], record.reasons()
    names = {name for name in known.values() if name}
    few = [judge for judge in judges if judge.name in names]
    surveys = scenarios.survey(few, switches, options.jobs)
    court = trials.Court(few, surveys, switches, known, (), reasons, options.budget)
    settled = []
    for verdict in court.verdicts(chosen, options.jobs):
        if verdict.killed or verdict.mutant.name in reasons:
            settled.append(verdict)
            tell(verdict, reasons)
    return settled


def drawn(
    built: Sequence[places.Mutant], options: argparse.Namespace
) -> list[tuple[int, places.Mutant]]:
    """Those written by hand and a share of the others, by their numbers."""
    known = record.measured()["by"] if options.rest else {}
    numbered = [
        item
        for item in enumerate(built)
        if options.name in item[1].name and item[1].name not in known and not item[1].is_own
    ]
    by_hand = [item for item in numbered if item[1].about]
    others = [item for item in numbered if not item[1].about]
    count = round(options.share * len(others))
    chosen = random.Random(options.seed).sample(others, count)
    return by_hand + sorted(chosen, key=lambda item: item[0])


def tell(verdict: Verdict, reasons: Mapping[str, str]) -> None:
    """Print what became of a mistake."""
    mutant = verdict.mutant
    fate = f"{verdict.by}: {verdict.how}" if verdict.killed else f"SURVIVES, {verdict.how}"
    if not verdict.killed and mutant.name in reasons:
        fate += f": {reasons[mutant.name]}"
    print(f"{mutant.name} (line {mutant.line}): {fate} ({verdict.seconds:.1f} s)", flush=True)


def report(verdicts: Sequence[Verdict], reasons: Mapping[str, str], slice_: set[str]) -> int:
    """Print the table; 1 if a mistake survives for no recorded reason."""
    print("\nnoticed by")
    by = Counter(
        "survives" if not v.killed else "the slice" if v.by in slice_ else "the rest of the matrix"
        for v in verdicts
    )
    for what, count in by.most_common():
        print(f"  {what:24}{count:6}")
    killed = sum(verdict.killed for verdict in verdicts)
    unexplained = [v.mutant for v in verdicts if not v.killed and v.mutant.name not in reasons]
    for mutant in unexplained:
        print(f"survives without a reason: {mutant.name} (line {mutant.line})")
    print(f"{len(verdicts)} planted, {killed} killed")
    return bool(unexplained)


def asked(
    built: Sequence[places.Mutant], options: argparse.Namespace
) -> list[tuple[int, places.Mutant]]:
    """The mistakes that no scenario notices, and a random share of those that one does."""
    by = record.measured()["by"]
    noticed = [item for item in enumerate(built) if by.get(item[1].name)]
    count = round(options.share * len(noticed))
    return record.survivors(built) + random.Random(options.seed).sample(noticed, count)


def ask_unit_tests(built: Sequence[places.Mutant], options: argparse.Namespace) -> int:
    """Run the engine's unit tests with each mistake that is asked about."""
    from ccperf.verify import matrix

    found = {}
    program = engine.build_tests()
    for mutant, test in unit_tests.ask(program, asked(built, options), options.jobs):
        print(f"{mutant.name} (line {mutant.line}): {test or 'no test fails'}", flush=True)
        found[mutant.name] = test
        record.add("unit", {mutant.name: test})
    record.summarise(built, {case.name for case in matrix.representative()})
    print(f"{len(found)} asked about, {sum(map(bool, found.values()))} noticed by a unit test")
    return 0


def judge_own(built: Sequence[places.Mutant], options: argparse.Namespace) -> int:
    """Run the unit tests with a share of the mistakes in what ns-3 does not have, and whole runs
    with those that they let through; 1 if one is not noticed for no recorded reason.
    """
    known = record.measured()["own"] if options.rest else {}
    named = [
        item
        for item in record.own(built)
        if options.name in item[1].name and item[1].name not in known
    ]
    count = round(options.share * len(named))
    chosen = sorted(random.Random(options.seed).sample(named, count), key=lambda item: item[0])
    program, reasons = engine.build_tests(), record.reasons("unnoticed")
    numbers = {mutant.name: number for number, mutant in chosen}
    found = {}
    for mutant, unit_test in unit_tests.ask(program, chosen, options.jobs):
        test = unit_test or whole_runs.failing(mutant, numbers[mutant.name])
        fate = test or f"SURVIVES: {reasons.get(mutant.name, 'nobody says why')}"
        print(f"{mutant.name} (line {mutant.line}): {fate}", flush=True)
        found[mutant.name] = test
    if options.record:
        record.write_own(found, built)
        record.summarise_own()
    unexplained = [name for name, test in found.items() if not test and name not in reasons]
    for name in unexplained:
        print(f"survives without a reason: {name}")
    print(f"{len(found)} planted, {sum(map(bool, found.values()))} killed")
    return bool(unexplained)


def ask_random_scenarios(
    built: Sequence[places.Mutant], switches: engine.Switches, options: argparse.Namespace
) -> int:
    """Run random scenarios with each mistake that is asked about."""
    from mutation import scenarios, trials

    from ccperf.verify import matrix

    judges = scenarios.random_judges(options.seed, options.fuzz)
    surveys = scenarios.survey(judges, switches, options.jobs)
    court = trials.Court(judges, surveys, switches, {}, (), (), options.budget)
    found = {}
    for verdict in court.verdicts(asked(built, options), options.jobs):
        tell(verdict, record.reasons())
        found[verdict.mutant.name] = verdict.by
        record.add("fuzz", {verdict.mutant.name: verdict.by})
    record.summarise(built, {case.name for case in matrix.representative()})
    print(f"{len(found)} asked about, {sum(map(bool, found.values()))} noticed at random")
    return 0


if __name__ == "__main__":
    sys.exit(main())
