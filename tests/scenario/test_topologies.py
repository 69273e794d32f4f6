"""The dumbbell: the settings with which ns-3 reproduces the published tables."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccperf import _native
from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import parking_lot
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.scenario import Algorithm
from lowered_files import written_out


def lowered(**options: Any) -> Any:
    given = {"rate": "16Mbps", "rtts": "15ms", "qlen": "20p", "cc": "newreno", **options}
    return written_out(dumbbell(**given).lowered())


def test_the_published_settings() -> None:
    run = lowered(
        flows=2, qdisc="codel", qdisc_attributes={"UseEcn": True}, tcp={"UseEcn": "On"}, loss=0.25
    )
    assert (run["stop_ns"], run["seed"], run["recording"]["interval_ns"]) == (
        15 * 10**9,
        42,
        30 * 10**6,
    )
    assert run["nodes"] == ["src_0", "src_1", "dst_0", "dst_1", "left", "right"]
    names = [link["name"] for link in run["links"]]
    assert names == ["btl", "src_0", "dst_0", "src_1", "dst_1"]

    bottleneck, *access = run["links"]
    assert bottleneck["ends"] == [4, 5]
    assert bottleneck["delay_ns"] == 5_500_000
    assert bottleneck["addresses"] == ["10.255.255.1", "10.255.255.2"]
    forward, reverse = bottleneck["directions"]
    assert forward["name"], reverse["name"] == ("btl_forward", "btl_reverse")
    assert forward["rate_bps"] == reverse["rate_bps"] == 16_000_000
    assert forward["device_queue"] == reverse["device_queue"] == {"packets": 1}
    assert forward["qdisc"]["type"] == "CoDelQueueDisc"
    assert forward["qdisc"]["attributes"] == {"MaxSize": "20p", "UseEcn": "true"}
    assert reverse["qdisc"]["type"] == "FifoQueueDisc"
    assert reverse["qdisc"]["attributes"] == {"MaxSize": "10000p"}
    assert (forward["loss"], reverse["loss"]) == (0.25, 0)

    for link in access:
        assert link["delay_ns"] == 1_000_000
        for direction in link["directions"]:
            assert direction["rate_bps"] == 8 * 10**9
            assert direction["device_queue"] == {"packets": 100}
            assert direction["qdisc"]["type"] == "FifoQueueDisc"
    assert [link["addresses"] for link in access] == [
        ["10.0.0.1", "10.0.0.2"],
        ["20.0.0.2", "20.0.0.1"],
        ["10.0.0.5", "10.0.0.6"],
        ["20.0.0.6", "20.0.0.5"],
    ]

    flow = run["flows"][1]
    assert (flow["source_address"], flow["source_port"]) == ("10.0.0.5", 49152)
    assert (flow["destination_address"], flow["destination_port"]) == ("20.0.0.5", 5001)
    # Forward on every link, back against them.
    assert flow["path"] == [[3, 0], [0, 0], [4, 0]]
    assert flow["return_path"] == [[4, 1], [0, 1], [3, 1]]
    assert (flow["start_ns"], flow["stop_ns"]) == (0, 15 * 10**9)
    greedy = {"type": "greedy", "bytes": 0, "write_bytes": 512, "eager": False}
    assert flow["application"] == greedy
    assert flow["recovery"] == "TcpPrrRecovery"
    assert flow["socket"] == {
        "DelAckCount": "1",
        "InitialCwnd": "10",
        "RcvBufSize": "4000000",
        "SegmentSize": "1448",
        "SndBufSize": "4000000",
        "UseEcn": "On",
    }


def test_many_flows_get_networks_of_their_own() -> None:
    run = lowered(flows=100)
    assert run["flows"][99]["source_address"] == "10.0.1.141"
    addresses = [address for link in run["links"] for address in link["addresses"]]
    assert len(set(addresses)) == len(addresses)


@given(st.lists(st.integers(2_000_000, 10**9), min_size=1, max_size=8), st.integers(0, 10**6))
def test_each_flow_has_its_round_trip(half_rtts: list[int], access: int) -> None:
    rtts = [_native.format_time(2 * half) for half in half_rtts]
    if 4 * access > 2 * min(half_rtts):
        return
    run = lowered(rtts=rtts, access_delay=_native.format_time(access))
    for flow, half in zip(run["flows"], half_rtts, strict=True):
        assert sum(run["links"][link]["delay_ns"] for link, _ in flow["path"]) == half
        assert run["links"][flow["path"][0][0]]["delay_ns"] == access
    delays = [run["links"][flow["path"][2][0]]["delay_ns"] for flow in run["flows"]]
    assert min(delays) == access


def test_the_heavy_benchmarks_delays() -> None:
    """Access delay RTT/8 on each side leaves RTT/4 for the bottleneck."""
    run = lowered(rtts="20ms", access_delay="2.5ms", access_rate="40Gbps", buffer=16_000_000)
    assert [link["delay_ns"] for link in run["links"]] == [5_000_000, 2_500_000, 2_500_000]
    assert run["links"][1]["directions"][0]["rate_bps"] == 40 * 10**9
    assert run["flows"][0]["socket"]["SndBufSize"] == "16000000"


def test_what_differs_between_flows() -> None:
    run = lowered(
        rtts=["15ms", "30ms"],
        cc=["newreno", Algorithm(type="ns3::TcpNewReno")],
        recovery=["TcpClassicRecovery", "PrrRfc6937"],
        starts=["0s", "1.87s"],
        stops=["10s", "15s"],
        applications=["Greedy", {"bytes": "1MB"}],
        sources=["alice", "bob"],
        destinations=["server", "mirror"],
    )
    first, second = run["flows"]
    assert run["nodes"] == ["alice", "bob", "server", "mirror", "left", "right"]
    assert [first["recovery"], second["recovery"]] == ["TcpClassicRecovery", "PrrRfc6937"]
    assert [first["start_ns"], second["start_ns"]] == [0, 1_870_000_000]
    assert [first["stop_ns"], second["stop_ns"]] == [10 * 10**9, 15 * 10**9]
    assert [first["application"]["bytes"], second["application"]["bytes"]] == [0, 1_000_000]


def test_flows_may_share_their_ends() -> None:
    run = lowered(sources=["a", "a"], destinations=["b", "c"])
    assert run["nodes"] == ["a", "b", "c", "left", "right"]
    assert [link["name"] for link in run["links"]] == ["btl", "a", "b", "c"]
    assert [flow["source_port"] for flow in run["flows"]] == [49152, 49153]


def test_a_rate_step_and_a_way_back_of_its_own() -> None:
    steps = [{"time": "0s", "rate": "16Mbps"}, {"time": "3.75s", "rate": "256Mbps"}]
    back = {"rate": "1Gbps", "qdisc": "fifo", "device_queue": "1000p"}
    run = lowered(changes=steps, reverse=back, drop=[3])
    rates = [(change["time_ns"], change["rate_bps"]) for change in run["changes"]]
    assert rates == [(0, [16_000_000] * 2), (3_750_000_000, [256_000_000] * 2)]
    forward, reverse = run["links"][0]["directions"]
    assert (forward["rate_bps"], reverse["rate_bps"]) == (16_000_000, 10**9)
    assert reverse["device_queue"] == {"packets": 1000}
    assert (forward["drops"], reverse["drops"]) == ([3], [])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rtts": "3.9ms"}, "flows[0].rtt: 3.9ms is less than the 4ms of the access links"),
        ({"rtts": ["15ms", "-1ms"]}, "flows[1].rtt: `-1ms` is negative"),
        ({"rtts": ["15ms", "15"]}, "flows[1].rtt: `15` has no unit"),
        ({"rtts": "15000001ns"}, "flows[0].rtt: 15000001ns does not split into two ways"),
        (
            {"rtts": ["9ms"] * 2, "starts": ["0s"] * 3},
            "starts: has 3 entries where rtts asks",
        ),
        ({"rtts": ["15ms"] * 2, "flows": 3}, "rtts: has 2 entries where flows asks for 3"),
        ({"flows": 0}, "flows: asks for no flow"),
        ({"rtts": []}, "flows: asks for no flow"),
        ({"sources": ["a"], "destinations": ["a"]}, "flows[0].destination: `a` is a source, too"),
        ({"access_delay": "soon"}, "access.delay: `soon` is not a time"),
        (
            {"rtts": ["15ms", "20ms"], "destinations": ["b", "b"]},
            "flows[1].rtt: 20ms is not the round trip of an earlier flow to `b`",
        ),
        ({"rate": 16}, "links[0].rate: `16` has no unit"),
        ({"qlen": "0p"}, "links[0].forward.qdisc.attributes.MaxSize: 0p would drop everything"),
        ({"loss": -0.5}, "links[0].forward.loss: -0.5 is not a probability"),
        ({"changes": [{"time": "1s"}]}, "changes[0]: changes nothing"),
        ({"mss": 65484}, "flows[0].tcp.SegmentSize: 65484 bytes and 52 of headers exceed"),
        ({"starts": "2s", "stops": "1s"}, "flows[0].stop: 1s is not after start (2s)"),
    ],
)
def test_mistakes(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        lowered(**options)
    assert str(caught.value.problems[0]).startswith(expected)


def test_a_parking_lot_has_one_round_trip_for_all() -> None:
    scenario = parking_lot(rate="20Mbps", rtt="41ms", qlen="60p", hops=3, cc="newreno")
    run = json.loads(scenario.lowered())
    delays = [link["delay_ns"] for link in run["links"]]

    def way(hops: list[list[int]]) -> int:
        return sum(delays[link] for link, _ in hops)

    assert [way(flow["path"]) for flow in run["flows"]] == [20_500_000] * 4
    assert [way(flow["return_path"]) for flow in run["flows"]] == [20_500_000] * 4
    bottlenecks = [
        [run["links"][link]["name"] for link, _ in flow["path"][1:-1]] for flow in run["flows"]
    ]
    assert bottlenecks == [["btl_1", "btl_2", "btl_3"], ["btl_1"], ["btl_2"], ["btl_3"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hops": 0}, "hops: 0 makes no network"),
        ({"rtt": "2ms"}, "rtt: 2ms is less than"),
        ({"starts": ["0s"]}, "starts: has 1 entry for 3 flows"),
    ],
)
def test_mistakes_in_a_parking_lot(options: dict[str, Any], expected: str) -> None:
    settings = {"rate": "20Mbps", "rtt": "40ms", "qlen": "60p", "hops": 2, "cc": "newreno"}
    with pytest.raises(ScenarioError) as caught:
        parking_lot(**{**settings, **options})
    assert str(caught.value.problems[0]).startswith(expected)
