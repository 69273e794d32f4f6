"""The scenarios that judge: what each leaves without a mistake, costs and reaches.

A process that imports this must have the engine with the mistakes on its path.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import fingerprints

from ccperf import _native
from ccperf.scenario import Scenario
from ccperf.verify import fuzz, matrix
from mutation.engine import SAME, WATCHED, WORK, Switches

T = TypeVar("T")
RECORD: dict[str, Any] = json.loads(fingerprints.RECORD.read_text())


@dataclass(frozen=True)
class Judge:
    """A scenario that notices mistakes."""

    name: str
    #: With every change recorded.
    scenario: Scenario
    #: What ns-3 confirmed, by the views below; None of a random scenario.
    confirmed: tuple[str, str] | None = None

    def tables(self) -> str:
        """The fingerprint of tables and changes: cheap, and mostly enough."""
        return fingerprints.of_tables(self.scenario, RECORD["columns"], RECORD["followed"])

    def everything(self) -> str:
        """The fingerprint of all that is compared with ns-3."""
        columns, followed = RECORD["all_columns"], RECORD["all_followed"]
        return fingerprints.of_all(self.scenario, columns, followed)

    @property
    def views(self) -> tuple[Callable[[], str], Callable[[], str]]:
        """The fingerprints, the cheap one first."""
        return self.tables, self.everything


@dataclass(frozen=True)
class Survey:
    """What a run without mistakes showed."""

    #: Of processor time, for the tables.
    seconds: float
    #: By the number of a mistake: `OFF` where it could make a difference, `SAME` where the place
    #: was reached and it could not, `WATCHED` where it was not reached.
    seen: bytes
    #: The fingerprints, as the judge's views.
    expected: tuple[str, str]


def judges() -> list[Judge]:
    """All scenarios that ns-3 has agreed with."""
    return [
        Judge(
            case.name,
            fingerprints.with_changes(case),
            (RECORD["tables"][case.name], RECORD["all"][case.name]),
        )
        for case in matrix.cases()
        if case.name in RECORD["all"] and case.name in RECORD["tables"]
    ]


def random_judges(seed: int, count: int) -> list[Judge]:
    """The first random scenarios of a seed."""
    drawn = (matrix.Case(each.scenario()) for each in islice(fuzz.draws(seed), count))
    return [Judge(f"{seed}/{i}", fingerprints.with_changes(case)) for i, case in enumerate(drawn)]


def kept_survey(judges: Sequence[Judge], switches: Switches, jobs: int) -> list[Survey]:
    """The survey of the last time, if the engine and the scenarios are the same."""
    key = hashlib.sha256(Path(_native.__file__).read_bytes())
    for judge in judges:
        key.update(f"{judge.name} {judge.scenario.lowered()} {judge.confirmed}".encode())
    kept = WORK / f"survey-{key.hexdigest()[:16]}.pickle"
    if kept.exists():
        surveys: list[Survey] = pickle.loads(kept.read_bytes())
        return surveys
    surveys = survey(judges, switches, jobs)
    for old in WORK.glob("survey-*.pickle"):
        old.unlink()
    kept.write_bytes(pickle.dumps(surveys))
    return surveys


def survey(judges: Sequence[Judge], switches: Switches, jobs: int) -> list[Survey]:
    """Run each once without a mistake.

    Raises:
        SystemExit: if one is not as ns-3 confirmed it.
    """

    def run(judge: Judge) -> Survey:
        began = time.process_time()
        switches.watch()
        tables = judge.tables()
        seconds, seen = time.process_time() - began, switches.seen()
        return Survey(seconds, seen, (tables, (judge.confirmed or ("", judge.everything()))[1]))

    found = dict(in_children(judges, run, jobs))
    wrong = [
        judge.name
        for i, judge in enumerate(judges)
        if judge.confirmed not in (None, found[i].expected)
    ]
    if wrong:
        raise SystemExit(f"without a mistake the record does not hold: {', '.join(wrong[:5])}")
    return [found[i] for i in range(len(judges))]


def in_children(
    items: Sequence[Any], work: Callable[[Any], T], jobs: int
) -> Iterator[tuple[int, T]]:
    """Work in `jobs` processes, each with every so manyth item; yield results with their places."""
    pipes = []
    for job in range(jobs):
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                results = [(i, work(items[i])) for i in range(job, len(items), jobs)]
                with os.fdopen(write, "wb") as out:
                    pickle.dump(results, out)
            finally:
                os._exit(0)
        os.close(write)
        pipes.append(read)
    for pipe in pipes:
        with os.fdopen(pipe, "rb") as written:
            yield from pickle.load(written)
        os.wait()


def differing(surveys: Sequence[Survey], number: int) -> list[int]:
    """The places of the judges in which a mistake could make a difference."""
    return [i for i, survey in enumerate(surveys) if survey.seen[number] not in (WATCHED, SAME)]


def reaching(surveys: Sequence[Survey], number: int) -> int:
    """In how many scenarios the place of a mistake is reached."""
    return sum(survey.seen[number] != WATCHED for survey in surveys)
