"""What the engine's unit tests notice of a mistake."""

from __future__ import annotations

import math
import os
import re
import resource
import signal
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation.places import Mutant

#: So many times what all tests take without a mistake.
LONGER = 5
#: Left out, for they take over a second each and 39 of 41 together: whole runs, many times over.
SLOW = (
    "simulate::tests::queueing_every_event_changes_nothing",
    "simulate::tests::transfers::transfers_send_what_flows_send",
    "simulate::tests::windows_and_bytes_stay_in_bounds",
    "simulate::tests::a_schedule_is_as_many_changes",
    "scenario::properties::no_attribute_gets_past_the_checks_and_fails",
    "scenario::properties::no_scenario_gets_past_the_checks_and_fails",
)


def ask(
    program: Path, mutants: Sequence[tuple[int, Mutant]], jobs: int
) -> Iterator[tuple[Mutant, str]]:
    """Run all tests but the slow ones with each mistake; yield it with the first that fails, if one
    does.
    """
    began = _processor_s()
    if failed := _failed(program, "", None):
        raise SystemExit(f"without a mistake {failed} fails")
    limit = 1 + LONGER * (_processor_s() - began)

    def work(item: tuple[int, Mutant]) -> tuple[Mutant, str]:
        number, mutant = item
        return mutant, _failed(program, str(number), limit)

    with ThreadPoolExecutor(jobs) as executor:
        yield from executor.map(work, mutants)


def _processor_s() -> float:
    """What all programs that ended have taken: the machine may be busy with others."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _failed(program: Path, mistake: str, limit_s: float | None) -> str:
    skipped = [word for name in SLOW for word in ("--skip", name)]
    words = [str(program), "--test-threads", "1", *skipped]
    if limit_s is not None:
        words = ["sh", "-c", f'ulimit -t {math.ceil(limit_s)}; exec "$0" "$@"', *words]
    done = subprocess.run(
        words,
        cwd=program.parents[3] / "crates" / "engine",
        env=_environment(mistake),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return ""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "never ends"
    found = re.search(r"^test (\S+) .*FAILED", done.stdout, re.MULTILINE)
    return found[1] if found else "breaks off"


def _environment(mistake: str) -> dict[str, str]:
    """What a mistake breaks is no case for later."""
    known = {**os.environ, "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true"}
    return {**known, "CCPERF_MISTAKE": mistake} if mistake else known
