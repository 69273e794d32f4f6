"""The kernel's own `dualpi2` judges the engine's DualPI2 (RFC 9332): the same packets come to both.

Nothing answers here, so that what arrives is the same to the nanosecond, whatever a discipline
does. Where neither draws a random number, both must do the same to each packet. Where they draw,
the probability of each decision follows from what was in the queue before, and both must have
decided so often.
"""

from __future__ import annotations

import csv
import struct
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf import Scenario
from ccperf.runs import backends
from ccperf.runs.backends.linux.backend import Linux

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("linux_kernel")]
LINUX = Linux()
NATIVE = backends.get("native")
#: Of the ECN field.
ECT1, ECT0, NOT = 1, 2, 0
UPDATE_NS = 16_000_000
MTU = 1500
Row = dict[str, str]


def source(tos: int, rate: str, size: str, on: str, off: str) -> tuple[int, dict[str, str]]:
    kind = {"type": "OnOff", "rate": rate, "write": size, "on_time": on, "off_time": off}
    return tos, kind


#: 20 Mbps are just enough for these on average, and not while they are on. All can be marked.
MARKABLE = (
    source(ECT1, "31Mbps", "700B", "20ms", "30ms"),
    source(ECT0, "17Mbps", "1200B", "37ms", "67ms"),
)
#: For these they are not enough.
TOO_MUCH = (
    source(ECT1, "30Mbps", "700B", "20ms", "30ms"),
    source(ECT0, "17Mbps", "1200B", "37ms", "41ms"),
    source(NOT, "9Mbps", "1000B", "71ms", "53ms"),
)


def scenario(qdisc: object, sources: tuple[tuple[int, dict[str, str]], ...], stop: str) -> Scenario:
    """Sources of UDP behind one link of 20 Mbps."""
    hosts = [f"h{number}" for number in range(len(sources))]
    fast: dict[str, Any] = {"rate": "1Gbps", "delay": "1ms"}
    links: list[dict[str, Any]] = [{"name": host, "ends": [host, "left"], **fast} for host in hosts]
    own = {"qdisc": qdisc, "device_queue": "1p"}
    links.append({"name": "btl", "ends": ["left", "right"], **fast, "rate": "20Mbps"})
    links[-1]["forward"] = own
    flows = [
        {"source": host, "destination": "right", "transport": "UDP", "tos": tos}
        | {"start": f"{1 + number}.123457ms", "application": application}
        for number, (host, (tos, application)) in enumerate(zip(hosts, sources, strict=True))
    ]
    return Scenario.model_validate(
        {"stop_time": stop, "nodes": [*hosts, "left", "right"], "links": links, "flows": flows}
    )


def read(file: Path) -> list[Row]:
    with file.open() as lines:
        return [row for row in csv.DictReader(lines) if row["link"] == "btl_forward"]


def kernels(made: Scenario, folder: Path) -> list[Row]:
    LINUX.run_lowered(made.lowered(), folder / "kernel.csv")
    return read(folder / "kernel.csv")


def ours(made: Scenario, folder: Path) -> list[Row]:
    NATIVE.simulate(made, packets=folder / "ours.csv")
    return read(folder / "ours.csv")


def dual(**attributes: str) -> dict[str, Any]:
    return {"type": "DualPi2QueueDisc", "attributes": attributes}


#: A target of 1000 s keeps the probability at 0: what is left is deterministic.
NO_CHANCE: dict[str, tuple[str, dict[str, Any]]] = {
    "step": ("linux:dualpi2 target 1000s", dual(Target="1000s")),
    "later step, other weights": (
        "linux:dualpi2 target 1000s step_thresh 3ms classic_protection 25%",
        dual(Target="1000s", StepThreshold="3ms", ClassicProtection="25"),
    ),
    "limit": ("linux:dualpi2 target 1000s limit 40", dual(Target="1000s", MaxSize="40p")),
    "classic first": (
        "linux:dualpi2 target 1000s classic_protection 80% limit 60",
        dual(Target="1000s", ClassicProtection="80", MaxSize="60p"),
    ),
}


@pytest.mark.parametrize("what", NO_CHANCE)
def test_without_chance_both_do_the_same_to_each_packet(what: str, tmp_path: Path) -> None:
    """Step marks, weighted round robin, limit: each row of the packet trace."""
    theirs, own = NO_CHANCE[what]
    found = [
        [tuple(value for name, value in row.items() if name != "reason") for row in rows]
        for rows in (
            kernels(scenario(theirs, TOO_MUCH, "2s"), tmp_path),
            ours(scenario(own, TOO_MUCH, "2s"), tmp_path),
        )
    ]
    assert len(found[0]) > 15_000
    assert found[0] == found[1]
    decisions = {row[2] for row in found[1]} & {"mark", "drop"}
    assert decisions == ({"mark", "drop"} if "limit" in theirs else {"mark"})


@dataclass
class Visit:
    """A packet in the discipline: when it came and left, and what became of it."""

    came: int
    is_l: bool
    size: int
    left: int = 1 << 62
    is_sent: bool = False
    is_marked: bool = False


def visits(rows: list[Row]) -> list[Visit]:
    """In the order in which they left. The device has one place, which is free when what was in it
    is sent: so a packet has left when the one before it is sent, or when it came."""
    found: dict[tuple[str, str], Visit] = {}
    sent = 0
    for row in rows:
        packet, now = (row["flow"], row["seq"]), int(row["time_ns"])
        match row["event"]:
            case "enqueue":
                is_l = row["ecn"] in ("ECT1", "CE")
                found[packet] = Visit(now, is_l, int(row["wire_bytes"]) - 2)
            case "mark":
                found[packet].is_marked = True
            case "drop" if packet in found:
                found[packet].left = now
            case "tx":
                visit = found[packet]
                visit.left, visit.is_sent = max(visit.came, sent), True
                sent = now
    return sorted(found.values(), key=lambda visit: (visit.left, visit.is_sent))


def probabilities(all_of: list[Visit], stop: int, gains: tuple[float, float]) -> np.ndarray:
    """p' after each update, by RFC 9332's appendix A with the older head of both queues."""
    alpha, beta = gains
    in_order = sorted(all_of, key=lambda visit: visit.came)
    queues = [[visit for visit in in_order if visit.is_l is is_l] for is_l in (True, False)]
    heads, base, old, found = [0, 0], 0.0, 0.0, []
    for now in range(UPDATE_NS, stop, UPDATE_NS):
        delay = 0
        for number, queue in enumerate(queues):
            while heads[number] < len(queue) and queue[heads[number]].left < now:
                heads[number] += 1
            if heads[number] < len(queue):
                delay = max(delay, now - queue[heads[number]].came)
        change = alpha * (delay / 1e9 - 0.015) + beta * (delay / 1e9 - old)
        base, old = min(1.0, max(0.0, base + change)), delay / 1e9
        found.append(base)
    return np.array(found)


def scaled(gain: float) -> float:
    """A gain in 1/s as the kernel has it: in 256ths, then in steps of 2^-32 for each 64 ns."""
    return int(round(gain * 256) * (2**32 - 1) / 4 / 1e9) * 1e9 / 64 / 2**32


def test_the_kernels_probability_is_that_of_the_law_after_each_update(tmp_path: Path) -> None:
    """Its own figures (`tc -s`), up to the rounding of 32 bits at each update.

    The kernel's gains are whole numbers, so that they are 0.16007 and 3.19780 in place of 41/256
    and 819/256. The engine has RFC 9332's 0.16 and 3.2.
    """
    made = scenario("linux:dualpi2", MARKABLE, "4s")
    file = tmp_path / "statistics"
    LINUX.run_lowered(made.lowered(), tmp_path / "kernel.csv", statistics=(file, UPDATE_NS // 10))
    lines = [line.split() for line in file.read_text().splitlines()]
    # `struct tc_dualpi2_xstats` begins with the probability.
    shown = {int(at): struct.unpack_from("=I", bytes.fromhex(data))[0] for at, _, data in lines}
    gains = scaled(0.16), scaled(3.2)
    expected = probabilities(visits(read(tmp_path / "kernel.csv")), 4_000_000_000, gains)
    theirs = np.array(
        [shown[UPDATE_NS * n + UPDATE_NS // 10] / 2**32 for n in range(1, len(expected) + 1)]
    )
    assert expected.max() > 0.2
    assert np.abs(theirs - expected).max() < len(expected) * 2**-30
    assert gains == pytest.approx((0.16, 3.2), rel=1e-3)


@dataclass
class Tally:
    """How often something was decided, how often it should have been, and the variance of that."""

    seen: int = 0
    expected: float = 0.0
    variance: float = 0.0

    def add(self, happened: bool, probability: float) -> None:
        self.seen += happened
        self.expected += probability
        self.variance += probability * (1 - probability)

    @property
    def deviations(self) -> float:
        return abs(self.seen - self.expected) / max(1.0, self.variance) ** 0.5


def tallies(rows: list[Row], stop: int) -> dict[str, Tally]:
    """The coupled laws (section 2.1 and 4.2) at each departure."""
    all_of = visits(rows)
    bases = probabilities(all_of, stop, (0.16, 3.2))
    found: dict[str, Tally] = defaultdict(Tally)
    events = sorted(
        [(v.came, 0, 0, v) for v in all_of] + [(v.left, 1, n, v) for n, v in enumerate(all_of)],
        key=lambda event: event[:3],
    )
    backlog = 0
    for now, is_departure, _, visit in events:
        if not is_departure:
            backlog += visit.size
            continue
        if now >= stop:
            break
        backlog -= visit.size
        update = now // UPDATE_NS
        base = float(bases[update - 1]) if update else 0.0
        base *= backlog >= 2 * MTU
        is_overload = 2 * base > 1
        is_late = visit.is_l and now - visit.came > 1_000_000
        if visit.is_l:
            lost = base**2 if is_overload else 0.0
            found["L dropped"].add(not visit.is_sent, lost)
            if visit.is_sent:
                marked = 1.0 if is_late or is_overload else min(1.0, 2 * base)
                found["L marked"].add(visit.is_marked, marked)
        else:
            found["C dropped or marked"].add(not visit.is_sent or visit.is_marked, base**2)
    return found


@pytest.mark.parametrize("name", ["kernel", "engine"])
@pytest.mark.parametrize("sources", [MARKABLE, TOO_MUCH], ids=["marks", "drops"])
def test_decisions_are_as_frequent_as_the_coupled_laws_say(
    name: str, sources: tuple[tuple[int, dict[str, str]], ...], tmp_path: Path
) -> None:
    """L is marked with 2 p' and behind the step, C with p'^2; above p' = 1/2 L is dropped, too."""
    made = scenario("linux:dualpi2" if name == "kernel" else dual(), sources, "8s")
    rows = (kernels if name == "kernel" else ours)(made, tmp_path)
    found = tallies(rows, 8_000_000_000)
    assert found["C dropped or marked"].seen > 50
    assert found["L marked"].seen > 1000
    for what, tally in found.items():
        assert tally.deviations < 4, (what, tally)
