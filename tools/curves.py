"""What algorithms do, as curves in small text files under `tests/curves/`, reviewed as diffs.

    python tools/curves.py            compare the engine with the files
    python tools/curves.py --write    write them anew (`make curves`)

Exit status 1 where one differs. Each kind of curve is an entry of `KINDS`: a function that yields
files, each with a curve for each of a few standard situations. Agreement with ns-3 is checked
elsewhere, to the packet; here one sees what a change does to an algorithm's behaviour, and whether
that was meant, also where ns-3 is no judge.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments import catalogue
from ccperf.runs import backends, metrics
from ccperf.scenario import Scenario
from ccperf.verify.case import case

FOLDER = Path(__file__).parents[1] / "tests" / "curves"
VALUES_A_LINE = 10


@dataclass(frozen=True)
class Curve:
    """One situation: `about` it, and a value for each step."""

    situation: str
    about: str
    values: Sequence[int]

    def text(self) -> str:
        """Ten values a line, after the number of the first."""
        lines = [f"{self.situation}: {self.about}"]
        for start in range(0, len(self.values), VALUES_A_LINE):
            part = self.values[start : start + VALUES_A_LINE]
            lines.append(f"{start:5}:" + "".join(f"{value:6}" for value in part))
        return "\n".join(lines)


@dataclass(frozen=True)
class File:
    """The curves of one algorithm."""

    name: str
    title: str
    curves: Sequence[Curve]

    def text(self) -> str:
        """The whole file."""
        return "\n\n".join([self.title, *(curve.text() for curve in self.curves)]) + "\n"


@dataclass(frozen=True)
class Situation:
    """A dumbbell, sampled every `rtt`; `settings` are those of `ccperf.verify.case`."""

    name: str
    about: str
    rtt: str
    steps: int
    settings: dict[str, Any]

    def scenario(self, **algorithm: Any) -> Scenario:
        """With this algorithm, sampled after each step: a round trip without queue."""
        length = _native.format_time(_native.parse_time(self.rtt) * self.steps)
        settings = {"recording": {"interval": self.rtt}, **self.settings, **algorithm}
        return case(self.name, rtts=self.rtt, stop=length, **settings).scenario


#: What every congestion control meets.
WINDOWS = (
    Situation(
        "slow start",
        "into a queue of 80 packets that overflows; 20 Mbps, 100 ms",
        "100ms",
        100,
        {"rate": "20Mbps", "qlen": "80p"},
    ),
    Situation(
        "one loss",
        "of packet 400 and no other: recovery, then growth; 200 Mbps, 50 ms",
        "50ms",
        200,
        {"rate": "200Mbps", "qlen": "2000p", "drop": [400]},
    ),
    Situation(
        "marks",
        "by CoDel instead of losses; 16 Mbps, 40 ms",
        "40ms",
        150,
        {
            "rate": "16Mbps",
            "qlen": "500p",
            "qdisc": "CoDelQueueDisc",
            "qdisc_attributes": {"UseEcn": "true"},
            "tcp": {"UseEcn": "On"},
        },
    ),
    Situation(
        "changes",
        "from 16 to 6 Mbps after 50 round trips, from 40 to 100 ms after 100; 60 packets",
        "40ms",
        200,
        {
            "rate": "16Mbps",
            "qlen": "60p",
            "changes": [{"time": "2s", "rate": "6Mbps"}, {"time": "4s", "delay": "48ms"}],
        },
    ),
)


def windows() -> Iterator[File]:
    """The congestion window of each congestion control, in segments, once a round trip."""
    for cc in registry.algorithms("cc"):
        curves = [Curve(each.name, each.about, window(each.scenario(cc=cc))) for each in WINDOWS]
        yield File(f"window-{cc}", f"{cc}: cwnd in segments after each round trip", curves)


def window(scenario: Scenario) -> list[int]:
    """Return cwnd in segments at every sample."""
    segment = int(scenario.canonical()["flows"][0]["tcp"]["SegmentSize"])
    recording = backends.get("native").simulate(scenario)
    return [round(int(bytes_) / segment) for bytes_ in recording.flow_samples["cwnd_bytes"]]


#: What every slow start meets: a queue that overflows, and one that is too long to.
OPENINGS = (
    WINDOWS[0],
    Situation(
        "long queue",
        "of 1,000 packets; 20 Mbps, 100 ms",
        "100ms",
        40,
        {"rate": "20Mbps", "qlen": "1000p"},
    ),
    Situation(
        "jitter",
        "of 0 to 40 ms, in order, 300 packets; 20 Mbps, 100 ms",
        "100ms",
        40,
        {
            "rate": "20Mbps",
            "qlen": "300p",
            "forward": {"jitter": {"delay": "Uniform(min=0s,max=40ms)"}},
        },
    ),
)


def slow_starts() -> Iterator[File]:
    """NewReno's congestion window with each slow start, in segments, once a round trip."""
    for name in registry.slow_starts():
        algorithm = {"cc": "TcpNewReno", "tcp": {"SlowStart": name}}
        curves = [
            Curve(each.name, each.about, window(each.scenario(**algorithm))[:40])
            for each in OPENINGS
        ]
        title = f"Slow start {name}, with NewReno: cwnd in segments after each round trip"
        yield File(f"slow-start-{name}", title, curves)


#: What every queue discipline meets, with ECN where it marks and at most 100 packets.
QUEUES = (
    Situation(
        "long flows",
        "three of NewReno, 40, 60 and 80 ms at 16 Mbps; every 50 ms",
        "50ms",
        120,
        {"cc": "TcpNewReno", "rtts": ["40ms", "60ms", "80ms"], "tcp": {"UseEcn": "On"}},
    ),
    Situation(
        "burst",
        "of 16 transfers of 30 kB after 10 ms over 2 long flows; 1 Gbps, 200 us; every 250 us",
        "250us",
        120,
        {
            "rate": "1Gbps",
            "cc": "TcpDctcp",
            "rtts": ["200us"] * 18,
            "access_rate": "10Gbps",
            "access_delay": "20us",
            "dscps": [i % 2 for i in range(18)],
            "starts": ["0s", "0s", *["10ms"] * 16],
            "applications": ["Greedy"] * 2 + [{"type": "Greedy", "bytes": "30000B"}] * 16,
        },
    ),
)


def queues() -> Iterator[File]:
    """The length of each queue discipline's queue, in packets, at equal distances."""
    for qdisc in registry.algorithms("qdisc"):
        curves = [Curve(each.name, each.about, queue(each, qdisc)) for each in QUEUES]
        yield File(f"queue-{qdisc}", f"{qdisc}: packets in the queue", curves)


def queue(situation: Situation, qdisc: str) -> list[int]:
    """Return the bottleneck's queue in packets at every sample."""
    known = registry.parameters("qdisc", qdisc)
    wanted = {"MaxSize": "100p", "UseEcn": "true"}
    attributes = {name: value for name, value in wanted.items() if name in known}
    forward: dict[str, Any] = {"qdisc": {"type": qdisc, "attributes": attributes}}
    forward["device_queue"] = "1p"
    if "Priorities" in known:  # classes, by code points
        marking = {"MaxSize": "100p", "MarkingThreshold": "20p"}
        forward["qdisc"]["children"] = [{"type": "StepRedQueueDisc", "attributes": marking}]
    if qdisc == "MqQueueDisc":
        forward["device_queues"] = 3
    length = _native.format_time(_native.parse_time(situation.rtt) * situation.steps)
    settings = {"recording": {"interval": situation.rtt}, **situation.settings}
    scenario = case(situation.name, stop=length, forward=forward, **settings).scenario
    recording = backends.get("native").simulate(scenario)
    samples = recording.link_samples
    bottleneck = samples["link"] == recording.links["name"].index("btl_forward")
    return [int(packets) for packets in samples["qdisc_packets"][bottleneck]]


#: What every load balancer meets: completion times over these loads.
LOADS = (0.3, 0.5, 0.7, 0.9)
FABRICS = {
    "symmetric": "2 leaves, 4 spines, 4 servers a leaf, web search, flows begin for 5 ms; us",
    "slow_links": "the same with a fifth of the links at a fifth of their rate; us",
}


def balancers() -> Iterator[File]:
    """Mean completion times of each load balancer, and what it does to order."""
    for scheme in registry.algorithms("routing"):
        runs = {
            condition: [_metrics(scheme, condition, load) for load in LOADS]
            for condition in FABRICS
        }
        curves = [
            Curve(
                condition.replace("_", " "),
                f"{about}, at loads of {', '.join(map(str, LOADS))}",
                [round(1e3 * run["mean_fct_l4"]) for run in runs[condition]],
            )
            for condition, about in FABRICS.items()
        ]
        for metric, about, factor in (
            ("reordering_rate_l3", "of 10,000 packets, symmetric", 100),
            ("mean_path_switches_l3", "of 10 flows, symmetric", 10),
        ):
            values = [round(factor * run[metric]) for run in runs["symmetric"]]
            curves.append(Curve(metric, f"{about}, at the same loads", values))
        yield File(f"balancing-{scheme}", f"{scheme}: mean completion times, and order", curves)


def _metrics(scheme: str, condition: str, load: float) -> dict[str, float]:
    """Return the metrics of all transfers of one run."""
    scenario = catalogue.get("load_balancing").scenario(
        scheme,
        condition=condition,
        load=load,
        leaves=2,
        spines=4,
        servers=4,
        arrivals="5ms",
        stop_time="1s",
    )
    recording = backends.get("native").simulate(scenario)
    return metrics.compute(scenario, recording).classes["all"]


KINDS: Sequence[Callable[[], Iterator[File]]] = (windows, slow_starts, queues, balancers)


def main() -> int:
    """Compare or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write instead of comparing")
    write = parser.parse_args().write
    found = {f"{file.name}.txt": file.text() for kind in KINDS for file in kind()}
    known = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")}
    different = sorted(
        name for name in found.keys() | known.keys() if found.get(name) != known.get(name)
    )
    for name in different:
        if write:
            if name in found:
                (FOLDER / name).write_text(found[name], encoding="utf-8")
            else:
                (FOLDER / name).unlink()
        before, after = (texts.get(name, "").splitlines() for texts in (known, found))
        print(
            "\n".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", "", "", 0, ""))
        )
    print(f"{len(found)} files, {len(different)} {'written' if write else 'differ'}")
    return bool(different) and not write


if __name__ == "__main__":
    sys.exit(main())
