"""What holds a run back is said, and nothing is said of a run that nothing holds back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.algorithms import registry, releases
from ccperf.cli.app import invoke
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import FabricLink, SwitchPort, star
from ccperf.runs.diagnoses import RULES, Note, ecn, grouped, unfilled
from ccperf.runs.result import Result
from ccperf.scenario import Scenario

#: Buffers and segments that hold nothing back, and the recovery of the catalogue.
FREE = {"SegmentSize": 1448, "SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}


def path(tcp: dict[str, Any], *, stop: str = "12s", queue: str = "250kB", **flow: Any) -> Result:
    """One flow over 100 Mbps, 20 ms."""
    scenario = {
        "stop_time": stop,
        "nodes": ["a", "r", "b"],
        "links": [
            {"name": "access", "ends": ["a", "r"], "rate": "10Gbps", "delay": "0s"},
            {
                "name": "btl",
                "ends": ["r", "b"],
                "rate": "100Mbps",
                "delay": "10ms",
                "forward": {
                    "device_queue": "1p",
                    "qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": queue}},
                },
            },
        ],
        "flows": [{"source": "a", "destination": "b", "cc": "cubic", "tcp": tcp, **flow}],
    }
    return ccperf.simulate(Scenario.model_validate(scenario))


def found(result: Result) -> dict[str, Note]:
    return {note.rule: note for note in result.notes}


def test_a_marking_discipline_over_a_longer_device_queue_is_pointed_out() -> None:
    """100 packets at 10 Gbps are 120 us, and TCN's threshold is 48."""
    tcn = {"type": "TcnQueueDisc", "attributes": {"Threshold": "48us"}}
    for queue, is_said in (("100p", True), ("1p", False)):
        fabric = star(2, port=SwitchPort(tcn, queue))
        flow = {"source": "h_0", "destination": "h_1", "stack": "dc"}
        scenario = fabric.scenario(
            [flow], stop_time="2ms", stacks=[{"name": "dc", "profile": "datacentre"}]
        )
        notes = found(ccperf.simulate(scenario))
        assert ("marking-below" in notes) == is_said


def test_a_device_queue_of_one_packet_cannot_be_shorter() -> None:
    """At 16 Mbps it holds 751 us, and TCN's threshold is 10."""
    assert "marking-below" not in found(ccperf.run("dumbbell", qdisc="TCN", stop_time="1s"))


def test_a_port_that_pauses_has_no_device_queue_to_point_out() -> None:
    tcn = {"type": "TcnQueueDisc", "attributes": {"Threshold": "48us"}}
    written = (
        star(2, port=SwitchPort(tcn, "100p"))
        .scenario(
            [{"source": "h_0", "destination": "h_1", "stack": "dc"}],
            stop_time="2ms",
            stacks=[{"name": "dc", "profile": "datacentre"}],
        )
        .canonical()
    )
    assert "marking-below" in found(ccperf.simulate(Scenario.model_validate(written)))
    for link in written["links"]:
        link["forward"]["pfc"] = {"xoff": "60kB"}
    assert "marking-below" not in found(ccperf.simulate(Scenario.model_validate(written)))


def test_segments_that_do_not_fit_into_a_packet_are_pointed_out() -> None:
    note = found(path({**FREE, "SegmentSize": 8948}))["fragments"]
    assert "cuts into 7 packets" in note.text
    assert "SegmentSize = 1448" in note.text


def test_round_trips_that_timestamps_are_too_coarse_for_are_pointed_out() -> None:
    """Of 40 us and a queue ns-3's sockets say 1 us, as it does."""
    tcp = {**FREE, "SndBufSize": 200_000}
    for own, is_said in (
        ({}, True),
        ({"Timestamp": "false"}, False),
        ({"Profile": "linux"}, False),
    ):
        flow = {"source": "h_0", "destination": "h_1", "cc": "dctcp", "tcp": {**tcp, **own}}
        scenario = star(2).scenario([flow], stop_time="5ms", recording={"interval": "1ms"})
        result = ccperf.simulate(scenario)
        assert ("coarse-rtt" in found(result)) == is_said
        if is_said:
            # What two roundings would hide: 80 ms beside 80 ms.
            said = found(result)["coarse-rtt"].text
            base = result.recording.flows["base_rtt_ns"][0]
            assert f"{(base - 1000) / 1e3:.3g} us below the {base / 1e3:.3g} us" in said
        assert (result.flow_metrics["flow_1"]["mean_est_qdelay_l4"] < 0) == is_said
    assert "coarse-rtt" not in found(path({**FREE}))


def over_two_ways(routing: str, **fields: Any) -> Result:
    """A flow over 60 ms or over 2 ms one way: the longer one is the first of the links."""
    ways = [("left", "up", "30ms"), ("up", "right", "30ms")]
    ways += [("left", "down", "1ms"), ("down", "right", "1ms")]
    hosts = [("a", "left", "10us"), ("b", "right", "10us")]
    scenario = {
        "stop_time": "1s",
        "nodes": ["a", "b", "left", "right", "up", "down"],
        "links": [
            {"name": f"{one}-{other}", "ends": [one, other], "rate": "100Mbps", "delay": delay}
            for one, other, delay in hosts + ways
        ],
        "routing": routing,
        "flows": [{"source": "a", "destination": "b", "cc": "cubic", "tcp": FREE}],
        **fields,
    }
    return ccperf.simulate(Scenario.model_validate(scenario))


@pytest.mark.parametrize(
    ("routing", "fields"),
    [
        ("ecmp(Seed=2)", {}),
        ("random", {}),
        ("static", {"failures": [{"node": "up", "down": "0s", "up": "900ms"}]}),
    ],
)
def test_a_shorter_way_than_the_first_is_no_clock_too_coarse_for_it(
    routing: str, fields: dict[str, Any]
) -> None:
    result = over_two_ways(routing, **fields)
    samples = result.recording.flow_samples
    assert np.nanmin(samples.array("srtt_ns")) < result.recording.flows.array("base_rtt_ns")[0]
    assert "coarse-rtt" not in found(result)


def transfers(recording: dict[str, Any], **tcp: Any) -> Result:
    """Of 1 MB, one after the other, of DCTCP over a star of 40 us."""
    stack = {"name": "dc", "profile": "datacentre", "tcp": {**FREE, **tcp}}
    workload = {
        "name": "web",
        "stack": "dc",
        "sizes": {"type": "Constant", "bytes": "1MB"},
        "arrivals": {"type": "Times", "times": ["0s", "2ms"]},
    }
    scenario = star(2).scenario(
        [], stop_time="5ms", stacks=[stack], workloads=[workload], recording=recording
    )
    return ccperf.simulate(scenario)


def test_transfers_that_are_sampled_have_notes_as_flows_have() -> None:
    sampled = {"flows": ["web"], "interval": "50us"}
    result = transfers(sampled)
    assert result.flow_metrics["web_1"]["mean_srtt_l4"] < 0.04
    notes = [note for note in result.notes if note.rule == "coarse-rtt"]
    assert [note.subject for note in notes] == ["web_1", "web_2"]
    assert "coarse-rtt" not in found(transfers(sampled, Timestamp="false"))
    assert "coarse-rtt" not in found(transfers({}))
    held = transfers(sampled, SndBufSize=20_000, Timestamp="false")
    assert "SndBufSize = 20000 B" in found(held)["buffers"].text
    assert "unsampled" in found(transfers({"flows": ["web"], "interval": "5ms"}))
    assert "unsampled" not in found(transfers({"interval": "5ms"}))


@pytest.mark.parametrize("delays", [("10ms", "2ms"), ("2ms", "10ms")])
def test_a_path_that_changes_its_delay_has_no_clock_too_coarse_for_it(
    delays: tuple[str, str],
) -> None:
    """A smoothed round-trip time below that of the path at time 0, but not below its least."""
    written = path(FREE, stop="3s").scenario.canonical()
    written["links"][1]["delay"] = delays[0]
    written["changes"] = [{"time": "1s", "link": "btl", "delay": delays[1]}]
    result = ccperf.simulate(Scenario.model_validate(written))
    srtt = result.recording.flow_samples.array("srtt_ns") / 1e6
    assert srtt[srtt > 0].min() >= 4
    assert "coarse-rtt" not in found(result)


def test_a_run_that_ends_before_its_first_sample_says_what_is_missing() -> None:
    for stop, is_said in (("30ms", True), ("31ms", False), ("60ms", False)):
        result = path(FREE, stop=stop)
        assert ("unsampled" in found(result)) == is_said
        assert ("mean_throughput_l4" in result.flow_metrics.get("flow_1", {})) != is_said
    assert (
        "sampled every 30ms, and the run ends after 30ms"
        in found(path(FREE, stop="30ms"))["unsampled"].text
    )


def test_a_run_that_nothing_holds_back_has_no_notes() -> None:
    assert path(FREE, recovery="PrrRfc6937").notes == []


def test_the_least_timeout_of_linux_is_a_trap_of_the_defaults() -> None:
    """0.66 of 100 Mbps, as real ns-3 3.44 has it; nothing but the sentence says why."""
    result = path({**FREE, "MinRto": "200ms"}, stop="30s")
    assert result.flow_metrics["flow_1"]["mean_throughput_l4"] < 2
    notes = found(result)
    assert "loop" in notes["timeout-loop"].text
    assert "MinRto = 200 ms is below DelAckTimeout + base RTT" in notes["least-rto"].text


@pytest.mark.parametrize(
    "mended",
    [
        {"tcp": {**FREE, "MinRto": "200ms", "DelAckTimeout": "40ms"}},
        {"tcp": {**FREE, "MinRto": "200ms"}, "recovery": "PrrRfc6937"},
    ],
)
def test_what_the_note_advises_helps(mended: dict[str, Any]) -> None:
    result = path(**mended)
    assert result.flow_metrics["flow_1"]["mean_throughput_l4"] > 85
    assert "timeout-loop" not in found(result)


@pytest.mark.parametrize(
    ("small", "named"),
    [
        ({}, "SndBufSize and RcvBufSize = 131072 B"),
        ({"SndBufSize": 16_000_000}, "RcvBufSize = 131072 B"),
        ({"RcvBufSize": 16_000_000}, "SndBufSize = 131072 B"),
    ],
)
def test_the_buffer_that_holds_a_flow_back_is_named(small: dict[str, Any], named: str) -> None:
    notes = found(path(small))
    assert f": {named} is less" in notes["buffers"].text
    assert "never left slow start" in notes["unfilled"].text


def test_what_has_no_sockets_is_not_held_back_by_their_buffers() -> None:
    """A sender of trimmed packets has more in flight than a socket of TCP would hold."""
    cuts = SwitchPort({"type": "NdpQueueDisc"}, "1p")
    flow = {
        "source": "h_0",
        "destination": "h_1",
        "transport": "TRIMMING",
        "cc": "Nscc",
        "application": {"type": "Greedy", "bytes": "0B", "write": "1436B"},
    }
    fabric = star(2, FabricLink("40Gbps", "20us"), port=cuts)
    written = fabric.scenario([flow], stop_time="5ms", recording={"interval": "100us"})
    result = ccperf.simulate(written)
    in_flight = result.recording.flow_samples.array("in_flight_bytes")
    assert in_flight.max() > 131_072
    assert "buffers" not in found(result)


def test_a_file_that_says_nothing_is_ns3_3_44_and_its_notes_name_the_catalogue() -> None:
    """As docs/design/decisions.md has it: a note names the fix, and nothing applies it."""
    bare = path({})
    assert 'profile = "catalogue"' in found(bare)["buffers"].text
    written = bare.scenario.canonical()
    for name, is_same in (("ns3-3.44", True), ("catalogue", False)):
        again = ccperf.simulate(Scenario.model_validate({**written, "profile": name}))
        assert (again.flow_metrics == bare.flow_metrics) == is_same
        assert ("buffers" in found(again)) == is_same


def test_a_delay_based_algorithm_that_stands_below_the_rate_is_said_not_to_fill() -> None:
    """TcpVegas takes the receiver's wait for a queue."""
    assert "does not fill" in found(path(FREE, cc="vegas"))["unfilled"].text


def test_the_least_timeout_of_linux_is_no_trap_of_its_own_profile() -> None:
    """There it is the least of the variance term, and acknowledgements wait for less."""
    written = path(FREE, stop="6s").scenario.canonical()
    written["flows"][0]["tcp"] = {**FREE, "Profile": "linux", "MinRto": "200ms"}
    written["failures"] = [{"link": "btl", "down": "2s", "up": "3s"}]
    result = ccperf.simulate(Scenario.model_validate(written))
    assert result.recording.flows.array("rtos")[0] > 0
    assert "least-rto" not in found(result)


def test_a_delayed_acknowledgement_of_one_segment_is_no_trap() -> None:
    notes = found(path({**FREE, "MinRto": "200ms", "DelAckCount": 1}, queue="30kB"))
    assert "least-rto" not in notes


@pytest.mark.parametrize(("start", "stop"), [("0s", "7s"), ("9s", "12s")])
def test_a_flow_that_is_not_there_is_not_said_not_to_fill(start: str, stop: str) -> None:
    """Half of the run is without it, and what it has it fills."""
    result = path({**FREE, "SndBufSize": 300_000}, start=start, stop="12s", queue="1MB")
    written = result.scenario.canonical()
    written["flows"][0]["stop"] = stop
    assert "unfilled" not in found(ccperf.simulate(Scenario.model_validate(written)))


@pytest.mark.parametrize(
    ("inner", "more", "is_said"),
    [
        # The flow is hashed to the path that is not static routing's, and fills it.
        ("10Mbps", {"routing": {"type": "ecmp"}}, False),
        ("10Mbps", {"failures": [{"link": "on", "down": "3s", "up": "11s"}]}, False),
        # On the only link of a host there is no other way.
        ("1Gbps", {"routing": {"type": "ecmp"}}, True),
    ],
)
def test_a_flow_on_another_path_is_not_said_not_to_fill_that_of_static_routing(
    inner: str, more: dict[str, Any], is_said: bool
) -> None:
    rates = {"one": inner, "two": inner, "on": inner, "off": inner, "in": "50Mbps", "out": "1Gbps"}
    ends = ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("h", "a"), ("d", "k")
    buffer = 16_000_000 if inner == "10Mbps" else 20_000
    scenario = {
        "stop_time": "12s",
        "nodes": list("habcdk"),
        "links": [
            {"name": name, "ends": both, "rate": rate, "delay": "1ms"}
            for (name, rate), both in zip(rates.items(), ends, strict=True)
        ],
        "flows": [
            {
                "source": "h",
                "destination": "k",
                "cc": "cubic",
                "profile": "catalogue",
                "tcp": {"SndBufSize": buffer},
            }
        ],
        **more,
    }
    result = ccperf.simulate(Scenario.model_validate(scenario))
    of_bottleneck = result.link_metrics[result.recording.flows.strings("bottleneck")[0]]
    assert of_bottleneck["mean_utilization_l1"] < 50
    assert is_said or result.flow_metrics["flow_1"]["mean_throughput_l4"] > 9.6
    assert ("unfilled" in found(result)) == is_said


@pytest.mark.parametrize(("rate", "is_said"), [("100Mbps", False), ("1Gbps", True)])
def test_flows_that_fill_their_receivers_link_are_not_said_not_to_fill_their_own(
    rate: str, is_said: bool
) -> None:
    """Of links that are alike the first is the bottleneck of a recording, and queues are elsewhere.
    With more room for the receiver nothing but their buffers holds them."""
    hosts = ("a", "b", "c")
    tcp = {"SndBufSize": 20_000} if is_said else {}
    scenario = {
        "stop_time": "12s",
        "nodes": [*hosts, "switch"],
        "links": [
            {
                "name": f"to_{host}",
                "ends": ["switch", host],
                "rate": rate if host == "c" else "100Mbps",
                "delay": "1ms",
            }
            for host in hosts
        ],
        "flows": [
            {
                "source": host,
                "destination": "c",
                "cc": "cubic",
                "profile": "catalogue",
                "tcp": tcp,
            }
            for host in ("a", "b")
        ],
    }
    result = ccperf.simulate(Scenario.model_validate(scenario))
    assert set(result.recording.flows.strings("bottleneck")) == {"to_a_reverse", "to_b_reverse"}
    assert ("unfilled" in found(result)) == is_said


def test_a_source_that_is_silent_limits_its_flow() -> None:
    source = {"type": "OnOff", "rate": "50Mbps", "on_time": "100ms", "off_time": "900ms"}
    notes = found(path(FREE, application=source))
    assert "application limits" in notes["application"].text
    assert "unfilled" not in notes


def test_a_type_of_service_takes_ecn_away() -> None:
    assert "sends no ECT" in found(path({**FREE, "UseEcn": "On"}, tos=4))["tos"].text
    assert "tos" not in found(path({**FREE, "UseEcn": "On"}, dscp=4))


@pytest.mark.parametrize(
    ("asked", "tcp"),
    [
        ("on", {"UseEcn": "On"}),
        ("abe", {"UseAbe": True, "Profile": "ns3-3.48"}),
        ("off", {}),
        ("accept", {"UseEcn": "AcceptOnly"}),
        ("linux", {"UseEcn": "On", "Profile": "linux"}),
    ],
)
def test_ecn_taken_away_is_noticed_however_it_was_asked_for(
    asked: str, tcp: dict[str, Any], tmp_path: Path
) -> None:
    """Each says what its packets say: ECN asked for in the SYN, and no ECT on data."""
    for cc in ("cubic", "dctcp", "TcpDctcpReno") if asked == "off" else ("cubic",):
        run = path({**FREE, **tcp}, stop="200ms", tos=4, cc=cc)
        rows = _sent(run.scenario, tmp_path / f"{cc}.csv")
        is_asked = "ECE" in rows[0]["flags"]
        is_used = any(row["ecn"] == "ECT0" for row in rows)
        assert is_asked == (asked in ("on", "abe", "linux") or cc != "cubic")
        assert ("tos" in found(run)) == (is_asked and not is_used)


def test_the_rule_knows_which_algorithms_ask_for_ecn_themselves(tmp_path: Path) -> None:
    asking = set()
    for name in registry.algorithms("cc"):
        run = path(FREE, stop="60ms", cc=name)
        if "ECE" in _sent(run.scenario, tmp_path / f"{name}.csv")[0]["flags"]:
            asking.add(name)
    assert asking == set(ecn.ASKING)


def _sent(scenario: Scenario, trace: Path) -> list[dict[str, str]]:
    """What the sender sends: rows of the packet trace."""
    ccperf.simulate(scenario, packets=trace)
    rows = csv.DictReader(trace.read_text().splitlines())
    return [row for row in rows if row["link"] == "access_forward" and row["event"] == "tx"]


def test_a_window_without_bound_and_a_queue_that_nobody_sees() -> None:
    long = catalogue.get("steady_state_single_flow")
    bbr = long.scenario("TcpBbr", path="static.aws_korea_to_china", stop_time="3s")
    assert "window" in found(ccperf.simulate(bbr))
    point = {"k": "1", "qdisc": "FifoQueueDisc", "stop_time": "2s"}
    written = catalogue.get("aqm").scenario("TcpCubic", **point).canonical()
    (bottleneck,) = [link for link in written["links"] if link["name"] == "btl"]
    bottleneck["forward"]["device_queue"] = "1000p"
    (note,) = ccperf.simulate(Scenario.model_validate(written)).notes
    assert (note.rule, note.subject) == ("device-queue", "btl_forward")


def test_flows_without_samples_and_transfers_are_passed_over() -> None:
    result = ccperf.run("incast", cc="TcpCubic", n=8, size="20kB", stop_time="500ms")
    assert {note.rule for note in result.notes} <= RULES.keys()


@pytest.mark.parametrize("profile", releases.releases())
def test_the_trap_is_said_where_a_release_falls_into_it(profile: str) -> None:
    """As docs/releases.md has it: 3.44 and 3.48 stand in timeouts, the development tree fills."""
    result = path({**FREE, "MinRto": "200ms", "Profile": profile})
    is_caught = profile != "ns3-dev"
    assert ("timeout-loop" in found(result)) == is_caught
    (values,) = result.flow_metrics.values()
    assert (values["mean_throughput_l4"] < 5) == is_caught
    assert (values["mean_throughput_l4"] > 90) != is_caught


def test_every_rule_has_its_sentence_in_the_documents_and_a_test_beside_this_one() -> None:
    habits = (Path(__file__).parents[2] / "docs" / "what-ns3-does.md").read_text(encoding="utf-8")
    words = " ".join(habits.split())
    files = Path(__file__).parent.glob("test_*.py")
    tests = "".join(file.read_text(encoding="utf-8") for file in files)
    for rule in RULES.values():
        assert f'<a id="{rule.name}"></a>**{rule.what}** {rule.text}' in words, rule.name
        assert f'"{rule.name}"' in tests, rule.name


def test_notes_are_in_the_json_and_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bare.toml").write_text(
        'stop_time = "6s"\nnodes = ["a", "b"]\n[[links]]\nname = "wire"\nends = ["a", "b"]\n'
        'rate = "100Mbps"\ndelay = "10ms"\n[[flows]]\nsource = "a"\ndestination = "b"\n'
        'cc = "cubic"\n'
    )
    assert invoke(["run", "bare.toml", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert {note["rule"] for note in run["notes"]} == {"buffers", "unfilled"}
    assert invoke(["run", "bare.toml"]) == 0
    said = capsys.readouterr().err
    assert "note: flow_1: its buffers hold it back" in said
    assert "docs/what-ns3-does.md#buffers" in said


def test_notes_of_one_rule_are_said_once() -> None:
    notes = [Note("a", "flow_1", "x"), Note("b", "flow_1", "y"), Note("a", "flow_2", "z")]
    assert grouped(notes) == [(notes[0], 1), (notes[1], 0)]


@pytest.mark.parametrize("given", [{"rtt": "100000s"}, {"stop_time": "1ns"}])
def test_a_run_in_which_nothing_arrives_says_so(given: dict[str, str]) -> None:
    (note,) = ccperf.run("dumbbell", **given).notes
    assert note.rule == "nothing"
    assert f"after {given.get('stop_time', '15s')}" in note.text
    assert given.get("rtt", "15ms") in note.text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"buffer": "1024B"}, "lets nothing through"),
        ({"qdisc": "tbf:Burst=1000"}, "lets nothing through"),
        ({"jitter": "1000000s"}, "let it run longer"),
        ({"rtt": "2s"}, "let it run longer"),
    ],
)
def test_a_longer_run_is_advised_where_that_helps(given: dict[str, str], says: str) -> None:
    (note,) = ccperf.run("dumbbell", **given, stop_time="2s").notes
    assert note.rule == "nothing"
    assert says in note.text


def test_a_flow_that_stops_at_once_may_run_longer() -> None:
    given = path({}, stop="2s").scenario.canonical()
    given["flows"][0].update(start="1s", stop="1s")
    notes = found(ccperf.simulate(Scenario.model_validate(given)))
    assert "let it run longer" in notes["nothing"].text


@pytest.mark.parametrize(
    ("stop", "interval", "says"),
    [
        # Far more is sent than the initial window.
        ("5s", "5s", ""),
        ("5s", "10s", ""),
        # The first data, sent after 20 ms and more, arrives after 30.
        ("35ms", "1s", ""),
        ("39ms", "25ms", "after 25ms"),
        ("45ms", "40ms", ""),
        # Not even the handshake is over, whatever the samples say.
        ("19ms", "1s", "after 19ms"),
    ],
)
def test_nothing_has_arrived_as_far_as_is_known(stop: str, interval: str, says: str) -> None:
    """Samples may be too few to say that nothing has arrived; then the totals do, or nobody."""
    given = path({}, stop=stop).scenario.canonical()
    given["recording"]["interval"] = interval
    notes = found(ccperf.simulate(Scenario.model_validate(given)))
    assert ("nothing" in notes) is bool(says)
    assert not says or f"nothing of it has arrived {says}," in notes["nothing"].text


@pytest.mark.parametrize(
    ("carried", "offered", "said"),
    [(2.28e9, 8e9, "2.28 of 8 Gbps"), (5e6, 1e7, "5 of 10 Mbps"), (1e3, 5e5, "0.001 of 0.5 Mbps")],
)
def test_rates_have_the_unit_of_the_link(carried: float, offered: float, said: str) -> None:
    assert unfilled.share_text(carried, offered) == said


def test_a_port_without_a_queue_below_its_discipline_is_not_told_to_shorten_it() -> None:
    """NDP's receiver asks for what its link carries: nothing waits, and there is no such queue."""
    result = ccperf.run("permutation", transport="ndp", leaves=2, servers=2, stop_time="3ms")
    (link,) = result.link_metrics.values()
    assert link["mean_utilization_l1"] > 90
    assert link["mean_sojourn_l2"] == 0
    assert "device-queue" not in found(result)
