"""What ns-3's test suites of fair queue disciplines expect, asked of the engine's (see
`test_disciplines.py`).

How many packets wait in the queue of a flow is told by how many of that flow leave in the end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from disciplines import DROP, NOT_CAPABLE, Happened, Make, Queue
from sockets import ASKED, MS, asks

ECT1, ECT0 = 1, 2
FAIR = ["FqCoDelQueueDisc", "FqCobaltQueueDisc", "FqPieQueueDisc"]
#: Of each suite a case of room, turns, TCP's ports, UDP's ports and L4S.
for _suite in ("fq-codel-queue-disc", "fq-cobalt-queue-disc", "fq-pie-queue-disc"):
    ASKED[_suite] = ASKED.get(_suite, 0) + 5
each = pytest.mark.parametrize("kind", FAIR)
#: With their header.
SIZE = 120
NEVER = "9223372036854775807ns"


def to(address: int) -> str:
    """Packets of a protocol without ports."""
    return f"10.10.1.1 10.10.1.{address} 0 0 7"


@dataclass
class Outcome:
    """Of which flows packets leave, and what is counted."""

    left: list[str | None]
    #: How many that leave are marked, by their flow.
    marked: Counter[str]
    #: How many wait when the last has arrived.
    waiting: int
    happened: Happened

    def count(self, reason: str) -> int:
        """What the disciplines of all flows count."""
        return self.happened.count(f"(Dropped by child queue disc) {reason}")


class Flows:
    """A discipline at which flows arrive."""

    def __init__(self, made: Queue) -> None:
        self._queue = made
        #: When packets arrive, with their keys and ECN bits.
        self._arrivals: list[tuple[int, str, int]] = []

    def arrive(self, key: str, count: int = 1, ecn: int = NOT_CAPABLE, at: int = 0) -> None:
        self._arrivals += [(at, key, ecn)] * count

    def run(self, departures: list[int]) -> Outcome:
        """Let packets leave at these times."""
        self._arrivals.sort(key=lambda arrival: arrival[0])
        for at, key, ecn in self._arrivals:
            self._queue.arrive(at, SIZE, key=key, ecn=ecn)
        for at in departures:
            self._queue.depart(at)
        run = self._queue.run()
        left = [None if number is None else self._arrivals[number][1] for number in run.left]
        marked = Counter(key for key, mark in zip(left, run.marked, strict=True) if key and mark)
        return Outcome(left, marked, run.sizes[len(self._arrivals) - 1]["p"], run)


@each
def test_the_fattest_flow_loses_packets_where_there_is_no_room(kind: str, queue: Make) -> None:
    flows = Flows(queue(kind, MaxSize="4p"))
    flows.arrive(to(2), 3)
    flows.arrive(to(7), 2)
    outcome = flows.run([0] * 4)
    assert outcome.waiting == 3
    assert Counter(outcome.left) == {to(2): 1, to(7): 2, None: 1}


@each
def test_flows_take_turns_by_their_deficits(kind: str, queue: Make) -> None:
    # A quantum of 90, less than a packet.  The first leaves a deficit of -30, with which its flow
    # waits for the other's turn.
    first, second = to(2), to(10)
    made = queue(kind, mtu=90)
    made.arrive(0, SIZE, key=first)
    made.depart(0)
    for key in (first, first, second, second):
        made.arrive(0, SIZE, key=key)
    for _ in range(5):
        made.depart(0)
    assert made.run().left == [0, 3, 1, 4, 2, None]


@each
@pytest.mark.parametrize("protocol", [6, 17])
def test_flows_are_told_apart_by_ports(kind: str, protocol: int, queue: Make) -> None:
    def key(source: int, destination: int) -> str:
        return f"10.10.1.1 10.10.1.2 {source} {destination} {protocol}"

    keys = [key(7, 27)] * 3 + [key(8, 27), key(8, 28), key(7, 28), key(7, 28)]
    for quantum in (1500, 90):
        flows = Flows(queue(kind, mtu=quantum, MaxSize="10p"))
        for each_key in keys:
            flows.arrive(each_key)
        outcome = flows.run([0] * 7)
        assert outcome.waiting == 7
        assert Counter(outcome.left) == Counter(keys)
    # With a small quantum they alternate: each flow has its own queue.
    assert outcome.left[:4] == [key(7, 27), key(8, 27), key(8, 28), key(7, 28)]


def five_flows(made: Queue) -> Flows:
    """20 packets each; those of the last two are not capable of marks."""
    flows = Flows(made)
    for address in FIVE:
        flows.arrive(to(address), 20, ECT0 if address < 30 else NOT_CAPABLE)
    return flows


FIVE = (2, 10, 20, 30, 40)


@asks("fq-codel-queue-disc", "marks", [[6, 6, 6, 0, 0]])
def test_codel_marks_in_each_flow(marks: list[int], queue: Make) -> None:
    flows = five_flows(queue("FqCoDelQueueDisc", mtu=1514, UseEcn="true", Perturbation=0))
    outcome = flows.run([(i + 1) * 110 * MS for i in range(60)])
    assert [outcome.marked[to(address)] for address in FIVE] == marks
    assert outcome.count(DROP) == 4 + 4
    assert above_a_threshold(queue, "FqCoDelQueueDisc").count(DROP) == 0


@asks("fq-cobalt-queue-disc", "marks", [[19, 16, 12, 0, 0]])
def test_cobalt_marks_in_each_flow(marks: list[int], queue: Make) -> None:
    settings = {"UseEcn": "true", "Perturbation": 0, "BlueThreshold": NEVER}
    flows = five_flows(queue("FqCobaltQueueDisc", mtu=1514, **settings))
    outcome = flows.run([(i + 1) * 110 * MS for i in range(60)])
    assert [outcome.marked[to(address)] for address in FIVE] == marks
    above_a_threshold(queue, "FqCobaltQueueDisc")


def above_a_threshold(queue: Make, kind: str) -> Outcome:
    """A quantum is 13 packets; the eighth of the second flow waits for 2.1 ms."""
    settings = {"UseEcn": "true", "CeThreshold": "2ms", "Perturbation": 0}
    outcome = five_flows(queue(kind, mtu=1514, **settings)).run(
        [(i + 1) * MS // 10 for i in range(60)]
    )
    assert [outcome.marked[to(address)] for address in FIVE] == [0, 6, 13, 0, 0]
    return outcome


#: The marks of packets with ECT(0): in a flow of their own, and in one with packets of L4S.
CLASSIC = {"FqCoDelQueueDisc": (1, 1), "FqCobaltQueueDisc": (2, 1), "FqPieQueueDisc": (0, 0)}


@each
def test_l4s_marks_by_a_threshold_of_delay(kind: str, queue: Make) -> None:
    settings = {"UseEcn": "true", "UseL4s": "true", "CeThreshold": "2ms", "Perturbation": 0}
    leaving = [(i + 1) * MS for i in range(140)]
    alone, together = CLASSIC[kind]
    apart = Flows(queue(kind, mtu=1514, **settings))
    for i in range(70):
        apart.arrive(to(2), 1, ECT1, at=(i + 1) * MS // 2)
        apart.arrive(to(10), 1, ECT0, at=(i + 1) * MS // 2)
    outcome = apart.run(leaving)
    assert (outcome.marked[to(2)], outcome.marked[to(10)]) == (66, alone)
    assert outcome.count(DROP) == 0
    mixed = Flows(queue(kind, mtu=1514, **settings))
    for i in range(70):
        mixed.arrive(to(2), 1, ECT1, at=MS // 2 + i * MS)
        mixed.arrive(to(2), 1, ECT0, at=(i + 1) * MS)
    outcome = mixed.run(leaving)
    assert outcome.marked[to(2)] == 68 + together
    assert outcome.count(DROP) == 0
