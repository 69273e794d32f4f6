"""Transfers that wait for transfers: closed forms, and the order that they keep."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import ccperf
from ccperf import Scenario
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import collectives
from ccperf.experiments.collectives import Transfers
from ccperf.experiments.topologies import leaf_spine, star
from ccperf.experiments.topologies.fabric import FabricLink
from ccperf.runs import backends
from ccperf.runs.result import Result

DELAY_MS = 0.02
LINK = FabricLink("10Gbps", "10us")
#: A window that holds a whole transfer: nothing but propagation and transmission is left.
STACK = {"name": "dc", "profile": "datacentre", "tcp": {"InitialCwnd": 5000}}
DATA = 4_000_000


def on(network: Any, made: Transfers, **fields: Any) -> Scenario:
    workload = made.workload(name="coll", stack="dc", write="1448B")
    own = {"stop_time": "1s", "recording": {"deliveries": True}, **fields}
    return network.scenario([], stacks=[STACK], workloads=[workload], **own)  # type: ignore[no-any-return]


def idle(count: int) -> tuple[Any, list[str]]:
    network = star(count, LINK)
    return network, list(network.hosts)


def step_ms(size: int, *, acks: bool = True) -> float:
    """From the start of a transfer until all has come: connect, send all, and the last hop.

    Who receives meanwhile sends an ACK for each segment over the same link.
    """
    segments = -(-size // 1448)
    wire = 8 * (size + 54 * segments * (2 if acks else 1)) / 10e9 * 1e3
    last = 8 * min(size, 1502) / 10e9 * 1e3
    return 3 * DELAY_MS + wire + last


def makespan(result: Result) -> float:
    return result.metrics.classes["coll"]["makespan_l4"]


@pytest.mark.parametrize("count", [2, 5, 8])
def test_a_ring_takes_two_rounds_of_parts(count: int) -> None:
    network, ranks = idle(count)
    result = ccperf.simulate(on(network, collectives.ring_all_reduce(ranks, DATA)))
    expected = 2 * (count - 1) * step_ms(-(-DATA // count)) + DELAY_MS
    assert makespan(result) == pytest.approx(expected, rel=0.02)


def test_every_step_of_a_ring_takes_as_long() -> None:
    network, ranks = idle(5)
    result = ccperf.simulate(on(network, collectives.ring_all_reduce(ranks, DATA)))
    starts = sorted({start for _, start in _column(result, "completions", "start_ns")})
    assert len(starts) == 8
    steps = [after - before for before, after in itertools.pairwise(starts)]
    # The first one meets no acknowledgements of a step before.
    assert max(steps[1:]) == min(steps[1:]) == pytest.approx(steps[0], rel=0.005)


def test_halving_and_doubling_takes_twice_each_half() -> None:
    network, ranks = idle(8)
    result = ccperf.simulate(on(network, collectives.halving_doubling_all_reduce(ranks, DATA)))
    expected = 2 * sum(step_ms(DATA >> step) for step in (1, 2, 3)) + DELAY_MS
    assert makespan(result) == pytest.approx(expected, rel=0.02)


def test_all_to_all_takes_a_round_for_each_other_rank() -> None:
    network, ranks = idle(6)
    result = ccperf.simulate(on(network, collectives.all_to_all(ranks, DATA)))
    assert makespan(result) == pytest.approx(5 * step_ms(-(-DATA // 6)) + DELAY_MS, rel=0.02)
    assert result.metrics.classes["coll"]["straggling_l4"] == pytest.approx(1, abs=0.001)


def test_a_batch_goes_through_a_pipeline_stage_by_stage() -> None:
    network, ranks = idle(4)
    made = collectives.pipeline(ranks, 100_000, batches=1, work="300us")
    expected = 3 * (0.3 + step_ms(100_000, acks=False)) - 0.3 + DELAY_MS
    assert makespan(ccperf.simulate(on(network, made))) == pytest.approx(expected, rel=0.001)


def test_batches_between_two_hosts_follow_each_other() -> None:
    """Nothing comes back but acknowledgements: the closed form is exact but for those of SYNs."""
    network, ranks = idle(2)
    made = collectives.pipeline(ranks, 100_000, batches=5, work="300us")
    result = ccperf.simulate(on(network, made))
    expected = 5 * (0.3 + step_ms(100_000, acks=False)) - 0.3 + DELAY_MS
    assert makespan(result) == pytest.approx(expected, rel=0.001)


def test_each_transfer_begins_when_the_last_that_it_waits_for_has_come() -> None:
    """To the nanosecond, with losses, marks and different ways on the way."""
    network = leaf_spine(4, 2, 2, port=None)
    made = Transfers()
    hosts = network.hosts
    for i in range(60):
        source, destination = hosts[(3 * i) % 8], hosts[(5 * i + 1 + i // 8) % 8]
        if source == destination:
            destination = hosts[(hosts.index(source) + 1) % 8]
        after = [n for n in (i - 2, i - 7, i // 2) if 0 < n <= i]
        made.add(source, destination, 3000 * (1 + i % 40), after, f"{i % 3}us")
    faults = [{"node": "spine_0", "loss": 0.02}]
    result = ccperf.simulate(on(network, made, routing="ecmp", faults=faults))
    starts = dict(_column(result, "completions", "start_ns"))
    came = dict(_column(result, "deliveries", "last_rx_ns"))
    assert len(starts) == len(came) == 60
    for i, (after, delay) in enumerate(zip(made.after, made.delays, strict=True)):
        last = max((came[number - 1] for number in after), default=0)
        assert starts[i] == last + int(delay.removesuffix("us")) * 1000


def _column(result: Result, table: str, column: str) -> zip[tuple[int, int]]:
    rows = getattr(result.recording, table)
    return zip(rows.array("flow").tolist(), rows.array(column).tolist(), strict=True)


def test_who_waits_in_vain_is_unfinished_and_the_collective_without_an_end() -> None:
    network, ranks = idle(3)
    made = collectives.ring_all_reduce(ranks, DATA)
    result = ccperf.simulate(on(network, made, stop_time="3ms"))
    all_of_them = result.metrics.classes["coll"]
    assert 0 < all_of_them["total_unfinished_l4"] < all_of_them["total_transfers_l4"] == 12
    assert (
        "makespan_l4" not in all_of_them or all_of_them["makespan_l4"] != all_of_them["makespan_l4"]
    )


@pytest.mark.parametrize(
    ("arrivals", "message"),
    [
        ({"after": [[], [2]]}, r"after\[1\]\[0\]: 2 is no transfer before transfer 2"),
        ({"after": [[], [1, 1]]}, r"after\[1\]\[1\]: 1 is named twice"),
        ({"after": [[], [1]], "delays": ["1us"]}, "delays: are 1, and after 2"),
        ({"after": []}, "after: are none"),
    ],
)
def test_what_is_wrong_is_named(arrivals: dict[str, Any], message: str) -> None:
    network, _ = idle(3)
    workload = {
        "name": "w",
        "stack": "dc",
        "arrivals": {"type": "After", **arrivals},
        "sizes": {"type": "Constant", "bytes": "1kB"},
    }
    with pytest.raises(ScenarioError, match=rf"workloads\[0\].arrivals.{message}"):
        network.scenario([], stop_time="1s", stacks=[STACK], workloads=[workload])
    several = {**workload, "arrivals": {"type": "After", "after": [[]]}, "pairs": "Incast"}
    with pytest.raises(ScenarioError, match="list the pairs"):
        network.scenario([], stop_time="1s", stacks=[STACK], workloads=[several])


def test_ns3_and_wrong_ranks_are_refused() -> None:
    network, ranks = idle(3)
    with pytest.raises(UsageError, match="no power of two"):
        collectives.halving_doubling_all_reduce(ranks, DATA)
    with pytest.raises(UsageError, match="at least two"):
        collectives.ring_all_reduce(ranks[:1], DATA)
    made = on(network, collectives.ring_all_reduce(ranks, DATA))
    with pytest.raises(UsageError, match="the backend native's"):
        backends.get("ns3").simulate(made)
