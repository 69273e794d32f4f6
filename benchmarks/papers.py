"""The figures of the papers on ECN# and Hermes, measured: ``python -m benchmarks.papers``.

Runs what each figure needs, seed by seed, and writes ``benchmarks/papers.json``: for each value
that the paper prints the mean of ours with its 95 % interval, of a ratio the geometric mean over
equal seeds. `make docs` makes ``docs/papers.md`` of it.

    python -m benchmarks.papers                       # all: an hour of one core
    python -m benchmarks.papers --only ecn-8,hermes-16 --seeds 10
    python -m benchmarks.papers --kept runs.jsonl     # goes on where it was stopped
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ccperf.evidence.summary import summarise
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import QUEUES
from ccperf.experiments.catalogue.printed import Printed
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario

RESULTS = Path(__file__).parent / "papers.json"


@dataclass(frozen=True)
class Figure:
    """What is run for one figure, of all points that the paper prints."""

    name: str
    experiment: str
    seeds: int
    #: Values of parameters that are run, of those printed; the others have their defaults.
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: What a run has besides.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    schemes: Sequence[str] = ()
    metrics: Sequence[str] = ()


LOADS = (0.1, 0.3, 0.5, 0.7, 0.9)
WEB, MINING = ("web_search",), ("data_mining",)
#: As long as the machine allows; the paper does not say how long its runs are.
HERMES = {"arrivals": "60ms", "stop_time": "600ms"}
LONG = {"arrivals": "100ms", "stop_time": "3s"}
#: Large flows of data mining take most of a second alone: only here do they meet.
LONGER = {"arrivals": "400ms", "stop_time": "4s"}
FIGURES: Sequence[Figure] = (
    Figure("ecn-6", "testbed", 5, {"load": LOADS, "workload": ("web_search",)}),
    Figure(
        "ecn-6-open",
        "testbed",
        5,
        {"load": (0.3, 0.5, 0.7, 0.9), "workload": WEB},
        {"connections": 1000},
    ),
    Figure("ecn-7", "testbed", 3, {"load": (0.5, 0.8), "workload": ("data_mining",)}),
    Figure("ecn-8", "rtt_variation", 5, {"load": (0.1, 0.5, 0.9), "variation": (3, 4, 5)}),
    Figure("ecn-9", "leaf_spine", 3, {"load": (0.5,)}, {"arrivals": "200ms"}),
    Figure("ecn-10", "query_burst", 10),
    Figure("ecn-11", "query_completion", 5, {"answers": (50, 100, 200)}),
    Figure(
        "ecn-12",
        "ecn_sharp_sensitivity",
        5,
        {"interval": ("100us", "150us", "250us"), "target": ("6us", "20us")},
        {"load": 0.5},
    ),
    Figure("ecn-13", "dwrr", 10),
    Figure("hermes-12", "hermes_symmetric", 10, {"load": (0.5,), "workload": WEB}, HERMES),
    Figure("hermes-12b", "hermes_symmetric", 3, {"load": (0.7,), "workload": MINING}, LONGER),
    Figure(
        "hermes-13",
        "hermes_asymmetric",
        10,
        {"load": (0.5,), "workload": WEB},
        HERMES,
        schemes=("hermes", "conga", "letflow"),
    ),
    Figure(
        "hermes-14",
        "hermes_asymmetric",
        10,
        {"load": (0.7,), "workload": MINING},
        LONG,
        schemes=("hermes", "conga", "letflow"),
    ),
    Figure("hermes-15", "hermes_flowlet_timeout", 10, fixed=HERMES),
    Figure(
        "hermes-16",
        "hermes_random_drops",
        3,
        {"load": (0.5,)},
        HERMES,
        schemes=("hermes", "letflow", "conga", "ecmp"),
    ),
    Figure(
        "hermes-17",
        "hermes_black_hole",
        3,
        {"load": (0.3, 0.5, 0.7)},
        HERMES,
        schemes=("hermes", "letflow", "conga", "ecmp"),
    ),
    Figure("hermes-18", "hermes_parts", 10, {"load": (0.6,)}, LONG),
)

#: What makes figure 16 of Hermes: one thing at a time is other than there, at a load of 0.5.
CAUSES: Mapping[str, Mapping[str, Any]] = {
    "as in figure 16": {},
    "arrivals for 200 ms": {"arrivals": "200ms", "stop_time": "1s"},
    "nothing is lost": {"faults": ()},
    "the spine is gone": {"faults": (), "without": "spine_0"},
    "losses are repaired with SACK": {"tcp": {"Sack": True}},
    "a lost SYN costs 1 ms": {"tcp": {"ConnTimeout": "1ms"}},
    "timers of 50 ms": {"tcp": {"MinRto": "50ms", "ConnTimeout": "50ms"}},
    "timers of 200 ms": {"tcp": {"MinRto": "200ms", "ConnTimeout": "200ms"}},
    "a loss cuts by DCTCP's share": {"transport": "TcpDctcp"},
}
CAUSES_SEEDS = 3
CAUSES_SCHEMES = ("hermes", "conga", "letflow", "ecmp")

#: What receivers acknowledge at once, as with GRO, and so what leaves at once, as with TSO.
BURSTS = {"tcp": {"DelAckCount": 44, "DelAckTimeout": "50us"}}
OPEN = {"connections": 1000}
#: TCP as in Linux, with the bursts that it makes itself, and with the timers of the experiment.
LINUX = {"profile": "linux", "tcp": {"MinRto": "5ms", "ConnTimeout": "5ms"}}


@dataclass(frozen=True)
class Question:
    """What is looked into at one point of a figure: one thing at a time is other than there."""

    figure: str
    experiment: str
    point: Mapping[str, Any]
    metrics: Sequence[str]
    schemes: Sequence[str]
    causes: Mapping[str, Mapping[str, Any]]
    #: The scheme that values are ratios to; empty: they are values.
    base: str = ""
    seeds: int = 5

    @property
    def name(self) -> str:
        """In the file of results."""
        return f"{self.figure}-causes"


QUESTIONS: Sequence[Question] = (
    Question(
        "ecn-6",
        "testbed",
        {"load": 0.5},
        ("small.mean_fct_l4", "small.p99_fct_l4", "mean_fct_l4"),
        ("MarkingCoDelQueueDisc",),
        {
            "as in figure 6": {},
            "connections stay open": OPEN,
            "bursts of 64 kB": BURSTS,
            "both": {**OPEN, **BURSTS},
            "Linux's TCP": LINUX,
            "and connections stay open": {**OPEN, **LINUX},
        },
        "RED-tail",
    ),
    Question(
        "ecn-8",
        "rtt_variation",
        {"load": 0.9, "variation": 5},
        ("small.p99_fct_l4", "small.mean_fct_l4"),
        ("ECNSharpQueueDisc",),
        {
            "as in figure 8": {},
            "5,000 flows": {"flows": 5000},
            "connections stay open": OPEN,
            "bursts of 64 kB": BURSTS,
            "both": {**OPEN, **BURSTS},
            "Linux's TCP": LINUX,
            "DCTCP halves on a loss": {"transport": "TcpDctcpReno"},
            "timers of 200 ms": {"tcp": {"MinRto": "200ms"}},
        },
        "RED-tail",
    ),
    Question(
        "ecn-11",
        "query_completion",
        {"answers": 100},
        ("query.mean_fct_l4", "query.p99_fct_l4"),
        ("RED-tail", "ECNSharpQueueDisc", "MarkingCoDelQueueDisc"),
        {
            "as in figure 11, a load of 0.9": {},
            "a load of 0.45": {"load": 0.45},
            "a load of 0.1": {"load": 0.1},
            "no background (0.01)": {"load": 0.01},
            "windows of 10 to begin with": {"window": 10},
        },
    ),
)

#: Queue of figure 10 of ECN#: none of these is a metric of the catalogue.
Measure = Callable[[Recording], float]


def _queue(recording: Recording) -> dict[str, float]:
    """In packets, when the query is asked after 4 s: the queue of the last second, and the peak."""
    samples = recording.queue_samples
    assert samples is not None
    seconds, packets = samples.array("time_ns") / 1e9, samples.array("qdisc_packets")
    standing = packets[(seconds >= 3) & (seconds < 4)]
    # Where a long flow is under way, as in the paper's figure.
    return {
        "queue.standing": float(standing[standing > 0].mean()) if (standing > 0).any() else 0.0,
        "queue.peak": float(packets[seconds >= 4].max()),
    }


def values(figure: Figure) -> list[Printed]:
    """What the paper prints, of what is run."""
    printed = catalogue.get(figure.experiment).printed
    assert printed is not None
    found = [
        each
        for each in printed.values
        if all(each.point.get(name, at[0]) in at for name, at in figure.axes.items())
        and (not figure.schemes or each.algorithm in figure.schemes)
        and (not figure.metrics or each.metric in figure.metrics)
    ]
    if figure.experiment == "query_burst":
        found += [
            Printed(scheme, f"queue.{name}", low, high, {"answers": 100})
            for scheme, ((least, most), peak, _) in QUEUES.items()
            for name, low, high in (("standing", least, most), ("peak", peak, None))
        ]
    return found


@dataclass(frozen=True)
class Job:
    """One run."""

    experiment: str
    scheme: str
    parameters: tuple[tuple[str, Any], ...]
    seed: int
    #: Of :data:`CAUSES` or :data:`QUESTIONS`; empty: none.
    cause: str = ""


def job(figure: Figure, value: Printed, seed: int, *, base: bool = False) -> Job:
    """The run that a printed value, or what it is a ratio to, is compared with."""
    differing = dict(value.base or {}) if base else {}
    scheme = str(differing.pop("algorithm", value.algorithm))
    parameters = {**figure.fixed, **value.point, **differing}
    return Job(figure.experiment, scheme, tuple(sorted(parameters.items())), seed)


def run(asked: Job) -> tuple[Job, dict[str, float]]:
    """All metrics of classes of transfers, and the queue's, by name."""
    experiment = catalogue.get(asked.experiment)
    scenario = experiment.scenario(asked.scheme, seed=asked.seed, **dict(asked.parameters))
    scenario = _with_cause(scenario, _CHANGES[asked.cause]) if asked.cause else scenario
    recording = backends.get("native").simulate(scenario)
    metrics = compute(scenario, recording)
    found = {
        metric if name == "all" else f"{name}.{metric}": value
        for name, own in metrics.classes.items()
        for metric, value in own.items()
    }
    found["total_qdisc_drops_l2"] = float(recording.links.array("qdisc_dropped").sum())
    if asked.experiment == "query_burst":
        found |= _queue(recording)
    if found.get("unfinished_share_l4", 0) > 0:
        if asked.experiment == "hermes_black_hole":
            found["unfinished_share_l4"] = _stranded(scenario, recording)
        _with_unfinished(found, scenario.stop_time, recording)
    return asked, found


#: All changes by the names that jobs have for them.
_CHANGES: Mapping[str, Mapping[str, Any]] = {
    **CAUSES,
    **{f"{q.figure} {cause}": changes for q in QUESTIONS for cause, changes in q.causes.items()},
}


def _with_cause(scenario: Scenario, changes: Mapping[str, Any]) -> Scenario:
    """What no parameter of the experiment says: faults, a spine that is gone, sockets."""
    fields = scenario.model_dump()
    fields |= {name: value for name, value in changes.items() if name == "faults"}
    if gone := changes.get("without"):
        links = [link["name"] for link in fields["links"] if gone in link["ends"]]
        fields["failures"] = [{"link": link, "down": "1ns"} for link in links]
    for stack in fields["stacks"]:
        stack["tcp"] |= changes.get("tcp", {})
    return Scenario.model_validate(fields)


def _stranded(scenario: Scenario, recording: Recording) -> float:
    """Unfinished transfers from the rack whose packets the spine drops, in per cent of all.

    Others do not end since their acknowledgements come from there: the paper does not count them.
    """
    lowered = json.loads(scenario.lowered())
    sources = set(lowered["faults"][0]["sources"])
    [workload] = lowered["workloads"]
    table = recording.completions
    assert table is not None
    rows = zip(table.array("flow").tolist(), table.array("finished").tolist(), strict=True)
    lost = sum(
        not is_finished and lowered["pairs"][workload["pair"][flow]]["source"] in sources
        for flow, is_finished in rows
    )
    return 100.0 * lost / table.rows


def _with_unfinished(found: dict[str, float], stop_time: str, recording: Recording) -> None:
    """Means over all transfers: those without an end with the time until the end of the run."""
    from ccperf import _native

    table = recording.completions
    assert table is not None
    start, end = table.array("start_ns"), table.array("end_ns")
    until = [
        (_native.parse_time(stop_time) if math.isnan(last) else last) - first
        for first, last in zip(start.tolist(), end.tolist(), strict=True)
    ]
    found["mean_fct_l4"] = sum(until) / len(until) / 1e6


def measured(figure: Figure, runs: Mapping[Job, Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    """Each printed value with ours."""
    for value in values(figure):
        seeds = range(1, figure.seeds + 1)
        own = [runs[job(figure, value, seed)].get(value.metric, math.nan) for seed in seeds]
        row = {
            "algorithm": value.algorithm,
            "metric": value.metric,
            "point": dict(value.point),
            "published": [value.low] if value.high is None else [value.low, value.high],
        }
        if value.base is not None:
            bases = [
                runs[job(figure, value, seed, base=True)].get(value.metric, math.nan)
                for seed in seeds
            ]
            logs = [math.log(a / b) for a, b in zip(own, bases, strict=True) if a > 0 and b > 0]
            if not logs:
                continue
            of = summarise(logs)
            half = of.half_width if len(logs) > 1 else math.nan
            bounds = [math.exp(of.mean - half), math.exp(of.mean + half)]
            row |= {"base": dict(value.base), "ours": math.exp(of.mean), "interval": bounds}
        else:
            known = [each for each in own if not math.isnan(each)]
            if not known:
                continue
            of = summarise(known)
            half = of.half_width if len(known) > 1 else math.nan
            row |= {"ours": of.mean, "interval": [of.mean - half, of.mean + half]}
        yield {k: _rounded(v) for k, v in row.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def cause_jobs() -> dict[tuple[str, str, int], Job]:
    """The runs of :data:`CAUSES`, by cause, scheme and seed."""
    return {
        (cause, scheme, seed): Job(
            "hermes_random_drops",
            scheme,
            tuple(sorted({**HERMES, "load": 0.5, **_parameters(changes)}.items())),
            seed,
            cause,
        )
        for cause, changes in CAUSES.items()
        for scheme in CAUSES_SCHEMES
        for seed in range(1, CAUSES_SEEDS + 1)
    }


def _parameters(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in changes.items() if k not in ("faults", "without", "tcp")}


def causes(runs: Mapping[Job, Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    """Mean completion times of each scheme, and Hermes' over CONGA's, over equal seeds."""
    every = cause_jobs()
    for cause in CAUSES:
        of = {
            scheme: [
                runs[every[cause, scheme, seed]]["mean_fct_l4"]
                for seed in range(1, CAUSES_SEEDS + 1)
            ]
            for scheme in CAUSES_SCHEMES
        }
        over = summarise([math.log(a / b) for a, b in zip(of["hermes"], of["conga"], strict=True)])
        bounds = [math.exp(over.mean + sign * over.half_width) for sign in (-1, 1)]
        row = {
            "cause": cause,
            "mean_fct_l4": {scheme: sum(each) / len(each) for scheme, each in of.items()},
            "hermes_over_conga": math.exp(over.mean),
            "interval": bounds,
        }
        yield {k: _rounded(v) for k, v in row.items()}


def question_job(question: Question, cause: str, scheme: str, seed: int) -> Job:
    """One run of a question."""
    own = {**question.point, **_parameters(question.causes[cause])}
    return Job(
        question.experiment, scheme, tuple(sorted(own.items())), seed, f"{question.figure} {cause}"
    )


def question_jobs(question: Question) -> list[Job]:
    """All runs of a question."""
    schemes = [*question.schemes, *([question.base] if question.base else ())]
    return [
        question_job(question, cause, scheme, seed)
        for cause in question.causes
        for scheme in schemes
        for seed in range(1, question.seeds + 1)
    ]


def answered(
    question: Question, runs: Mapping[Job, Mapping[str, float]]
) -> Iterator[dict[str, Any]]:
    """A row for each cause: of each scheme and metric the mean, and its interval."""
    for cause in question.causes:
        cells = []
        for scheme in question.schemes:
            for metric in question.metrics:

                def of(who: str, cause: str = cause, metric: str = metric) -> list[float]:
                    return [
                        runs[question_job(question, cause, who, seed)][metric]
                        for seed in range(1, question.seeds + 1)
                    ]

                if question.base:
                    pairs = zip(of(scheme), of(question.base), strict=True)
                    over = summarise([math.log(a / b) for a, b in pairs])
                    mean, low, high = (
                        math.exp(over.mean + sign * over.half_width) for sign in (0, -1, 1)
                    )
                else:
                    own = summarise(of(scheme))
                    mean, low, high = (own.mean + sign * own.half_width for sign in (0, -1, 1))
                cells.append(
                    {"algorithm": scheme, "metric": metric, "ours": mean, "interval": [low, high]}
                )
        yield {"cause": cause, "cells": [_rounded(cell) for cell in cells]}


def jobs(figures: Iterable[Figure]) -> list[Job]:
    """Every run once."""
    return list(
        dict.fromkeys(
            job(figure, value, seed, base=base)
            for figure in figures
            for value in values(figure)
            for seed in range(1, figure.seeds + 1)
            for base in ((False, True) if value.base is not None else (False,))
        )
    )


class Kept:
    """Runs that are done, a line each, so that one can go on where one was stopped."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file is not None and file.exists() else ()
        self._known = {each["job"]: each["found"] for each in map(json.loads, lines)}

    def all(self, asked: Iterable[Job], pool: ProcessPoolExecutor) -> dict[Job, dict[str, float]]:
        """Those asked for, run where they are not known."""
        asked = list(dict.fromkeys(asked))
        for done, found in pool.map(run, [job for job in asked if repr(job) not in self._known]):
            self._known[repr(done)] = found
            if self._file is not None:
                with self._file.open("a") as out:
                    out.write(json.dumps({"job": repr(done), "found": found}) + "\n")
        return {job: self._known[repr(job)] for job in asked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of figures, in a list with commas")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, help="of each figure, in place of its own number")
    parser.add_argument("--kept", type=Path, help="file of runs that are done; is written to")
    given = parser.parse_args()
    order = [*(each.name for each in FIGURES), "causes", *(each.name for each in QUESTIONS)]
    names = given.only.split(",") if given.only else order
    stored: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept = Kept(given.kept)

    def write(name: str, what: dict[str, Any]) -> None:
        stored[name] = what
        ordered = {each: stored[each] for each in order if each in stored}
        RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")

    with ProcessPoolExecutor(given.workers) as pool:
        for figure in FIGURES:
            if figure.name not in names:
                continue
            begun = time.monotonic()
            asked = replace(figure, seeds=given.seeds or figure.seeds)
            runs = kept.all(jobs([asked]), pool)
            write(
                figure.name,
                {
                    "experiment": figure.experiment,
                    "seeds": asked.seeds,
                    "fixed": dict(figure.fixed),
                    "rows": list(measured(asked, runs)),
                },
            )
            print(f"{figure.name}: {len(runs)} runs, {time.monotonic() - begun:.0f} s", flush=True)
        if "causes" in names:
            runs = kept.all(cause_jobs().values(), pool)
            write("causes", {"seeds": CAUSES_SEEDS, "rows": list(causes(runs))})
        for question in QUESTIONS:
            if question.name not in names:
                continue
            question = replace(question, seeds=given.seeds or question.seeds)
            runs = kept.all(question_jobs(question), pool)
            rows = list(answered(question, runs))
            about = {"point": dict(question.point), "base": question.base}
            write(question.name, {"seeds": question.seeds, **about, "rows": rows})
            print(f"{question.name}: {len(runs)} runs", flush=True)


if __name__ == "__main__":
    main()
