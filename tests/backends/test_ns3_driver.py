"""The C++ driver against what its scenario says must happen, independent of our engine."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from ccperf.experiments.published import Published, published
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs.backends.ns3 import Ns3
from ccperf.scenario import Scenario
from ccperf.verify import seeds
from lowered_files import written_out

from .ns3_runs import at_grid, run, run_lowered

pytestmark = [
    pytest.mark.ns3,
    pytest.mark.skipif(Ns3().available() is not None, reason=str(Ns3().available())),
]

MSS = 1448
WIRE = MSS + 54

PAGES = [
    pytest.param(
        page,
        id=page.experiment,
        marks=[pytest.mark.sweep] if page.experiment in ("aqm", "scalability") else [],
    )
    for page in published()
]


@pytest.mark.parametrize("page", PAGES)
def test_every_published_value(page: Published) -> None:
    rows = list(seeds.compare(Ns3(), pages=[page]))
    assert len(rows) == len(list(page.values()))
    assert [row for row in rows if not row.equal] == []


def small(**settings: object) -> Scenario:
    defaults: dict[str, object] = {
        "rate": "10Mbps",
        "rtts": "20ms",
        "qlen": "20p",
        "cc": "TcpNewReno",
        "stop_time": "2s",
    }
    return dumbbell(**{**defaults, **settings})  # type: ignore[arg-type]


def test_first_packets_are_where_arithmetic_puts_them() -> None:
    result = run(small(rate="8Mbps", rtts="20ms", access_rate="800Mbps", stop_time="100ms"))
    path = ["src_0_forward", "btl_forward", "dst_0_forward"]
    # A SYN has 58 B on the wire: 580 ns at 800 Mbps, 58 us at 8 Mbps; delays 1, 8 and 1 ms.
    arrivals = [1_000_580, 9_058_580, 10_059_160]
    syn = [row for row in result.packets if row.flags == "SYN"]
    assert [(row.link, row.event) for row in syn] == [
        (link, event) for link in path for event in ("enqueue", "tx", "rx")
    ]
    assert [row.time_ns for row in syn if row.event == "rx"] == arrivals
    # The first data leaves one nanosecond after the SYN-ACK has arrived, ten segments of it.
    synack = next(row for row in result.rows("src_0_reverse", "rx") if row.flags == "SYN|ACK")
    first = [row for row in result.rows("src_0_forward", "enqueue") if row.payload_bytes]
    window = [row for row in first if row.time_ns == synack.time_ns + 1]
    assert synack.time_ns == 2 * arrivals[2]
    assert [row.seq for row in window] == [1 + MSS * i for i in range(10)]
    assert {row.wire_bytes for row in window} == {WIRE}


def test_packets_are_conserved_and_counted() -> None:
    result = run(small(rtts=["20ms"] * 3, cc="TcpNewReno"))
    dropped = 0
    for name in result.recording.links.strings("name"):
        enqueued, sent = result.rows(name, "enqueue"), result.rows(name, "tx")
        drops = result.rows(name, "drop")
        assert len(enqueued) == result.counter(name, "qdisc_enqueued")
        assert len(sent) == result.counter(name, "tx_packets")
        assert sum(row.wire_bytes for row in sent) == result.counter(name, "tx_bytes")
        assert len(drops) == result.counter(name, "qdisc_dropped")
        # A FIFO: what was sent is what came, in that order; the rest waits.
        assert [row[3:] for row in sent] == [row[3:] for row in enqueued[: len(sent)]]
        assert 0 <= len(enqueued) - len(sent) <= 21
        dropped += len(drops)
    drops_table = result.recording.drops
    assert dropped == drops_table.array("packets").sum() > 0
    assert set(drops_table.strings("reason")) == {"Queue disc limit exceeded"}
    assert drops_table.array("bytes").sum() == dropped * (MSS + 52)


def test_samples_are_the_values_after_the_last_change() -> None:
    scenario = small(
        qlen="10p",
        recording={"changes": True, "interval": "7ms"},
        changes=[{"time": "700ms", "rate": "2Mbps"}],
    )
    result = run(scenario)
    grid = result.flow("time_ns")
    assert list(grid) == list(range(0, 2_000_000_000, 7_000_000))

    changes = result.recording.changes
    assert changes is not None
    names = np.array(changes.strings("name"))
    for name, column, before in (
        ("cwnd", "cwnd_bytes", 0),
        ("ssthresh", "ssthresh_bytes", 0),
        ("in_flight", "in_flight_bytes", 0),
        ("srtt_ns", "srtt_ns", np.nan),
    ):
        chosen = names == name
        assert chosen.sum() > 3
        expected = at_grid(
            changes.array("time_ns")[chosen], changes.array("value")[chosen], grid, before
        )
        np.testing.assert_array_equal(result.flow(column), expected)

    sent = result.rows("btl_forward", "tx")
    np.testing.assert_array_equal(
        result.link("btl_forward", "tx_bytes"),
        at_grid([r.time_ns for r in sent], np.cumsum([r.wire_bytes for r in sent]), grid, 0),
    )
    arrived = [row for row in result.rows("dst_0_forward", "rx") if row.payload_bytes]
    np.testing.assert_array_equal(
        result.flow("received_bytes"),
        at_grid(
            [r.time_ns for r in arrived], np.cumsum([r.payload_bytes for r in arrived]), grid, 0
        ),
    )
    # The rate of the interval that ends at the grid point: 700 ms still belongs to the old one.
    rates = result.link("btl_forward", "rate_bps")
    assert set(rates[grid <= 700_000_000]) == {10_000_000}
    assert set(rates[grid > 700_000_000]) == {2_000_000}


def test_retransmissions_and_episodes_follow_from_the_packets() -> None:
    result = run(small(qlen="8p", recording={"changes": True}))
    sent = [row for row in result.rows("src_0_forward", "enqueue") if row.payload_bytes]
    highest, again = 0, 0
    for row in sent:
        again += row.seq < highest
        highest = max(highest, row.seq + row.payload_bytes)
    flows, changes = result.recording.flows, result.recording.changes
    assert changes is not None
    assert flows.array("segments_sent")[0] == len(sent)
    assert flows.array("retransmissions")[0] == again > 0

    recovery, loss = 3, 4
    states = np.array(changes.strings("name")) == "cong_state"
    total, count, rtos, start = 0, 0, 0, None
    for time, state in zip(
        changes.array("time_ns")[states], changes.array("value")[states], strict=True
    ):
        rtos += state == loss
        if state == recovery and start is None:
            start = time
        elif state not in (recovery, loss) and start is not None:
            total, count, start = total + time - start, count + 1, None
    assert flows.array("recovery_episodes")[0] == count > 0
    assert flows.array("recovery_time_ns")[0] == total
    assert flows.array("rtos")[0] == rtos


def test_listed_losses_hit_these_arrivals_only() -> None:
    listed = (12, 40, 41, 42)
    result = run(small(drop=listed, qlen="1000p", stop_time="1s"))
    arrivals = [
        row for row in result.packets if row.link == "btl_forward" and row.event in ("rx", "drop")
    ]
    lost = [i for i, row in enumerate(arrivals) if row.event == "drop"]
    assert lost == list(listed)
    assert {arrivals[i].reason for i in lost} == {"Link loss"}
    assert result.counter("btl_forward", "loss_dropped") == len(listed)
    for i in lost:
        assert any(row.seq == arrivals[i].seq for row in arrivals[i + 1 :])


def test_random_losses_repeat_with_the_seed_and_spare_nothing_listed() -> None:
    def lost(**settings: object) -> list[int]:
        result = run(small(loss=0.02, qlen="1000p", **settings))
        arrivals = [
            row.event
            for row in result.packets
            if row.link == "btl_forward" and row.event in ("rx", "drop")
        ]
        return [i for i, event in enumerate(arrivals) if event == "drop"]

    plain = lost()
    assert plain == lost()
    assert plain != lost(seed=43)
    assert len(plain) > 5
    # A listed packet draws no number: the draws of all later packets move up by one.
    listed = lost(drop=[1])
    assert listed[:2] == [1, plain[0] + 1]


def test_without_a_discipline_packets_meet_the_stopped_device() -> None:
    lowered = json.loads(small(device_queue="5p", stop_time="1s").lowered())
    lowered["links"][0]["directions"][0]["qdisc"] = None
    result = run_lowered(json.dumps(lowered))
    assert result.rows("btl_forward", "enqueue") == []
    drops = result.rows("btl_forward", "drop")
    assert {row.reason for row in drops} == {"Device stopped"}
    assert result.counter("btl_forward", "device_dropped") == len(drops) > 0
    assert result.counter("btl_forward", "qdisc_dropped") == 0


def test_a_fragment_is_dropped_while_the_one_before_it_waits_unseen() -> None:
    straight = {"qdisc": None, "device_queue": "2p"}
    link = {"name": "link", "ends": ["a", "b"], "rate": "1Mbps", "delay": "1ms"}
    flow = {"source": "a", "destination": "b", "cc": "newreno", "tcp": {"SegmentSize": 1472}}
    fields = {"nodes": ["a", "b"], "links": [{**link, "forward": straight}], "flows": [flow]}
    result = run(Scenario.model_validate({**fields, "stop_time": "1s"}))
    drops = result.rows("link_forward", "drop")
    sent = {row.seq for row in result.rows("link_forward", "tx")}
    assert {row.flow for row in drops} == {"flow_1"}
    assert any(row.seq in sent and row.payload_bytes < MSS for row in drops)


def test_what_a_file_leaves_out_of_a_link_is_what_the_engine_takes_it_to_be() -> None:
    short = small(stop_time="1s", loss=0.01, access_rate="11Mbps").lowered()
    one, other = (run_lowered(text) for text in (short, json.dumps(written_out(short))))
    assert one.packets == other.packets
    assert "dst_0_reverse" in one.recording.links.strings("name")


@pytest.mark.parametrize("size", [1, 512, 100_000])
def test_a_finite_transfer_ends(size: int) -> None:
    result = run(small(applications={"type": "Greedy", "bytes": f"{size}B"}, qlen="100p"))
    assert result.flow("written_bytes")[-1] == size
    assert result.flow("read_bytes")[-1] == size
    assert result.flow("acked_bytes")[-1] == size
    acks = result.rows("src_0_reverse", "rx")
    completed = next(row.time_ns for row in acks if row.ack > size)
    assert result.recording.flows.array("completion_ns")[0] == completed
    fins = [row for row in result.rows("src_0_forward", "tx") if "FIN" in row.flags]
    assert len(fins) == 1
    assert fins[0].seq + fins[0].payload_bytes == size + 1
    assert any("FIN" in row.flags for row in acks)


def test_a_stopped_flow_still_sends_its_buffer() -> None:
    stop = 500_000_000
    result = run(small(stops="500ms", buffer=200_000))
    written = result.flow("written_bytes")[-1]
    assert written == result.flow("read_bytes")[-1] == result.flow("acked_bytes")[-1]
    sent = [row for row in result.rows("src_0_forward", "enqueue") if row.payload_bytes]
    assert max(row.time_ns for row in sent) > stop
    assert written > max(row.seq for row in sent if row.time_ns <= stop) + 100_000
    assert result.recording.flows.array("completion_ns")[0] > stop
    assert "FIN" in sent[-1].flags


def test_a_stop_at_the_end_of_the_run_shows_nowhere() -> None:
    stopped, endless = (run(small(stops=stops, stop_time="1s")) for stops in ("1s", "3s"))
    assert stopped.packets == endless.packets
    assert np.isnan(stopped.recording.flows.array("completion_ns")[0])


def test_packets_overtake_when_the_delay_is_lowered() -> None:
    result = run(small(changes=[{"time": "500ms", "delay": "1ms"}], stop_time="1s"))
    sent = [row.seq for row in result.rows("btl_forward", "tx") if row.payload_bytes]
    arrived = [row.seq for row in result.rows("btl_forward", "rx") if row.payload_bytes]
    assert sorted(arrived) == sorted(sent)[: len(arrived)]
    assert arrived != sent[: len(arrived)]


def test_loss_rates_change() -> None:
    result = run(small(changes=[{"time": "1s", "loss": 1.0, "direction": "forward"}]))
    lost = result.rows("btl_forward", "drop")
    late = [row for row in result.rows("btl_forward", "rx") if row.time_ns >= 1_000_000_000]
    assert late == []
    assert result.counter("btl_forward", "loss_dropped") > 0
    assert result.counter("btl_reverse", "loss_dropped") == 0
    assert max(row.time_ns for row in lost) > 1_000_000_000


def test_the_burst_release_queue_keeps_to_its_slots() -> None:
    interval, quota = 7_000_000, 3
    reverse = {
        "rate": "1Gbps",
        "qdisc": {
            "type": "BurstReleaseQueueDisc",
            "attributes": {"Interval": "7ms", "Quota": str(quota)},
        },
        "device_queue": "1000p",
    }
    result = run(small(reverse=reverse))
    sent = result.rows("btl_reverse", "tx")
    came = result.rows("btl_reverse", "enqueue")
    slots: dict[int, int] = {}
    for row in sent:
        slot = row.time_ns // interval
        slots[slot] = slots.get(slot, 0) + 1
        # One after the other from the slot's beginning on.
        place = slots[slot] - 1
        first = next(other for other in sent if other.time_ns // interval == slot)
        assert first.time_ns % interval == 0
        assert row.time_ns - first.time_ns <= place * row.wire_bytes * 12
    assert max(slots.values()) == quota
    # A slot leaves packets behind only if its quota is used up.
    for slot, used in slots.items():
        begin = slot * interval
        waiting = sum(row.time_ns < begin for row in came)
        gone = sum(row.time_ns < begin for row in sent)
        assert used == min(quota, waiting - gone)


def test_hosts_are_shared_and_each_flow_keeps_its_settings() -> None:
    """Two senders to one host and port, two receivers for one sender: other settings on each."""
    nodes = ("a", "b", "hub", "x", "y")
    link = {"rate": "10Mbps", "delay": "5ms"}
    flows = [
        ("a", "x", "TcpNewReno", {"SegmentSize": "1448", "DelAckCount": "1"}),
        ("b", "x", "TcpCubic", {"SegmentSize": "1000", "DelAckCount": "2"}),
        ("a", "y", "TcpDctcp", {"SegmentSize": "536", "UseEcn": "On"}),
    ]
    scenario = Scenario(
        stop_time="1s",
        nodes=nodes,
        links=[{"name": n, "ends": [n, "hub"], **link} for n in nodes if n != "hub"],  # type: ignore[arg-type]
        flows=[
            {"source": s, "destination": d, "cc": cc, "tcp": tcp}  # type: ignore[misc]
            for s, d, cc, tcp in flows
        ],
    )
    result = run(scenario)
    for i, (_, destination, cc, tcp) in enumerate(flows):
        name = f"flow_{i + 1}"
        data = [
            row
            for row in result.rows(f"{destination}_reverse", "rx")
            if row.flow == name and row.payload_bytes
        ]
        assert max(row.payload_bytes for row in data) == int(tcp["SegmentSize"])
        assert ("ECT0" in {row.ecn for row in data}) == (cc == "TcpDctcp")
        acks = [row for row in result.rows(f"{destination}_forward", "enqueue") if row.flow == name]
        steps = [b.ack - a.ack for a, b in pairwise(acks) if b.ack > a.ack > 1]
        expected = int(tcp["SegmentSize"]) * int(tcp.get("DelAckCount", "2"))
        assert max(steps) == expected


def test_ecn_marks_are_recorded() -> None:
    result = run(
        small(
            qdisc="CoDelQueueDisc",
            qlen="100p",
            qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
            tcp={"UseEcn": "On"},
        )
    )
    marks = result.rows("btl_forward", "mark")
    assert len(marks) == result.counter("btl_forward", "qdisc_marked") > 0
    assert {row.ecn for row in marks} == {"CE"}
    assert {row.reason for row in marks} <= {
        "CE threshold exceeded mark",
        "Target exceeded mark",
    }
    arrived = [row for row in result.rows("btl_forward", "rx") if row.ecn == "CE"]
    assert [row.seq for row in arrived] == [row.seq for row in marks][: len(arrived)]


def test_a_run_is_repeated_to_the_last_byte() -> None:
    first, second = (run(small(loss=0.01, recording={"changes": True})) for _ in range(2))
    assert first.packets == second.packets
    assert first.recording.equals(second.recording)
