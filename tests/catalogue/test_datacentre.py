"""The experiments on queue disciplines, and what the papers say of them."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf import _native
from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue.datacentre import many_to_one, schemes
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from ccperf.runs.recording import Recording

#: A discipline of one's own, which marks above a threshold.
MINE = Path(__file__).parents[2] / "examples" / "python" / "myqdisc.py"


def simulated(experiment: str, scheme: str, **given: Any) -> Recording:
    scenario = catalogue.get(experiment).scenario(scheme, **given)
    return backends.get("native").simulate(scenario)


def queue(recording: Recording, begin_ms: float, end_ms: float) -> np.ndarray[Any, Any]:
    """Packets in the bottleneck's queue, every 10 us."""
    samples = recording.queue_samples
    assert samples is not None
    time = samples.array("time_ns") / 1e6
    return samples.array("qdisc_packets")[(time >= begin_ms) & (time < end_ms)]


def drops(recording: Recording) -> int:
    return int(recording.links.array("qdisc_dropped").sum())


@pytest.mark.parametrize("scheme", [*schemes.USUAL, "TCN", "TCN-average", "RedQueueDisc", "fifo"])
def test_traffic_does_not_depend_on_the_scheme(scheme: str) -> None:
    base, other = (
        catalogue.get("testbed").scenario(name, flows=20).canonical()
        for name in ("ECNSharp", scheme)
    )
    for part in ("workloads", "stacks", "seed", "stop_time"):
        assert base[part] == other[part]


def test_thresholds_are_the_papers_and_follow_the_round_trips() -> None:
    at = many_to_one.thresholds(3.0)
    assert (at.tail, at.average, at.target) == ("200000ns", "64000ns", "85000ns")
    assert (at.packets(at.tail), at.packets(at.average)) == (167, 53)  # 250 kB and 80 kB
    wider = many_to_one.thresholds(5.0)
    assert wider.tail == "330000ns"
    names = {"RED-tail": "167p", "RED-average": "53p", "dctcp_red": "167p"}
    for name, threshold in names.items():
        made = schemes.discipline(schemes.resolve(name), at)
        assert made == {
            "type": "StepRedQueueDisc",
            "attributes": {"MaxSize": "600p", "MarkingThreshold": threshold},
        }


def test_ecn_sharp_follows_the_paper_not_the_readme() -> None:
    made = schemes.discipline(schemes.resolve("ECNSharp"), many_to_one.thresholds(3.0))
    assert made["attributes"]["Law"] == "paper"


CONTROLLERS = {
    "PieQueueDisc": (
        "15ms",
        {"Tupdate": 15e6, "MaxBurstAllowance": 150e6},
        {"A": 0.125, "B": 1.25},
    ),
    "FqPieQueueDisc": (
        "15ms",
        {"Tupdate": 15e6, "MaxBurstAllowance": 150e6},
        {"A": 0.125, "B": 1.25},
    ),
    "MarkingPieQueueDisc": ("20ms", {"Tupdate": 30e6}, {"A": 0.125, "B": 1.25}),
    "DualPi2QueueDisc": ("15ms", {"Tupdate": 16e6}, {"Alpha": 0.16, "Beta": 3.2}),
}


@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize("faster", [1, 50, 100])
def test_a_controller_of_the_delay_is_as_fast_as_the_round_trips(name: str, faster: float) -> None:
    """Its law has no time but these: p' = A (d - d0) + B (d - d1) each Tupdate is the same with all
    times divided by a number, and A and B multiplied by it."""
    target, times, gains = CONTROLLERS[name]
    tail = f"{round(_native.parse_time(target) / faster)}ns"
    at = replace(many_to_one.thresholds(3.0), tail=tail)
    made = schemes.discipline(name, at)["attributes"]
    assert {each: _native.parse_time(made[each]) for each in times} == {
        each: round(time / faster) for each, time in times.items()
    }
    assert {each: made[each] for each in gains} == pytest.approx(
        {each: gain * faster for each, gain in gains.items()}
    )
    assert tail in (made.get("QueueDelayReference"), made.get("Target"))


@pytest.mark.parametrize("name", ["PIE", "MarkingPIE", "dualpi2", "MarkingRED"])
def test_what_marks_by_a_threshold_marks_more_than_it_drops(name: str) -> None:
    links = simulated("testbed", name, load=0.9, flows=100).links
    port = links.strings("name").index("bottleneck_reverse")
    marks, dropped = (links.array(f"qdisc_{what}")[port] for what in ("marked", "dropped"))
    assert marks > dropped


def test_one_s_own_discipline_gets_its_limit() -> None:
    made = schemes.discipline("/home/ann/mine.py:Mine", many_to_one.thresholds(3.0))
    assert made == {"type": "/home/ann/mine.py:Mine", "attributes": {"MaxSize": "600p"}}


def test_one_s_own_discipline_gets_the_thresholds_that_it_asks_for(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "class Base:\n    def __init__(self, MaxSize, tail, *, interval='1ms'):\n        pass\n"
        "class Mine(Base):\n    pass\n"
    )
    made = schemes.discipline(f"{mine}:Mine", many_to_one.thresholds(3.0))
    asked = {"MaxSize": "600p", "tail": "200000ns", "interval": "200000ns"}
    assert made == {"type": f"{mine}:Mine", "attributes": asked}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("RED-tial", "RED-tail"),
        ("no-such", "RED-tail"),
        ("TcpCubic", "`TcpCubic` is a congestion control, no queue discipline; `cc` takes it"),
    ],
)
def test_an_unknown_scheme_is_refused(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        catalogue.get("testbed").scenario(name)


def test_sensitivity_is_on_ecn_sharp_only() -> None:
    with pytest.raises(UsageError, match="ECNSharp"):
        catalogue.get("ecn_sharp_sensitivity").scenario("TCN")


def burst(scheme: str, seed: int) -> Recording:
    """A tenth of the paper's wait for the query; in seeds 1 and 8 a long flow is there then."""
    return simulated("query_burst", scheme, asked="400ms", seed=seed)


def test_the_queue_before_the_burst_and_its_peak_are_as_in_the_paper() -> None:
    """Figure 10: RED-tail stands at its threshold of 183 packets, ECN# below 10 % of that."""
    before = {
        scheme: queue(burst(scheme, 1), 390, 400).mean() for scheme in ("RED-tail", "ECNSharp")
    }
    assert before["RED-tail"] == pytest.approx(183, rel=0.15)
    assert before["ECNSharp"] < 0.25 * before["RED-tail"]
    for scheme in before:
        recording = burst(scheme, 1)
        assert queue(recording, 400, 440).max() > 300
        assert drops(recording) == 0


def test_codel_overflows_on_a_burst_that_ecn_sharp_has_room_for() -> None:
    lost = {scheme: drops(burst(scheme, 8)) for scheme in ("ECNSharp", "MarkingCoDel")}
    assert lost["ECNSharp"] == 0
    assert lost["MarkingCoDel"] > 0


def test_answers_come_from_sixteen_senders_and_are_a_class_of_their_own() -> None:
    scenario = catalogue.get("query_completion").scenario("TCN", answers=25, asked="50ms")
    recording = backends.get("native").simulate(scenario)
    classes = compute(scenario, recording).classes
    assert classes["query"]["total_transfers_l4"] == 25
    assert len(scenario.nodes) == 16 + 1 + 1


@pytest.mark.parametrize("scheme", ["ECNSharp", "TCN"])
def test_marking_inside_the_classes_keeps_the_scheduler_s_shares(scheme: str) -> None:
    samples = simulated("dwrr", scheme).flow_samples
    received = samples.array("received_bytes").reshape(-1, 3)
    gbps = (received[1:] - received[:-1]) * 8 / 20e6
    # Windows of 20 ms, from 40 ms after the last long flow has begun.
    assert gbps[2:5].mean(axis=0) == pytest.approx([9.63, 0, 0], rel=0.02)
    assert gbps[7:10].mean(axis=0) == pytest.approx([6.42, 3.21, 0], rel=0.02)
    assert gbps[12:].mean(axis=0) == pytest.approx([4.815, 2.4075, 2.4075], rel=0.02)


def test_short_flows_are_faster_with_ecn_sharp_than_with_tcn_in_the_classes() -> None:
    means = [
        compute(catalogue.get("dwrr").scenario(scheme, seed=seed), recording).classes["small"][
            "mean_fct_l4"
        ]
        for seed in (1, 2)
        for scheme in ("ECNSharp", "TCN")
        for recording in (simulated("dwrr", scheme, seed=seed),)
    ]
    assert means[0] < 0.8 * means[1]
    assert means[2] < 0.8 * means[3]


def test_bench_compares_the_schemes_with_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = f"bench --datacentre ECNSharp,TCN,{MINE}:MyQueue --experiments query_burst --no-site"
    assert invoke([*shlex.split(line), "--stop-time", "40ms"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    (head,) = [row for row in rows if row[:1] == ["where"]]
    # A row for each scheme beside the first.
    assert head[3:5] == ["ECNSharpQueueDisc", "side"]
    sides = {"TcnQueueDisc", "myqdisc.py:MyQueue"}
    assert all(len(sides.intersection(row)) == 1 for row in rows if "mean_fct_l4" in row)
    assert sides <= {word for row in rows for word in row}
    assert {"mean_fct_l4", "small.p99_fct_l4"} <= {word for row in rows for word in row}
    assert (tmp_path / "datacentre.db").exists()


def test_bench_leaves_out_what_a_scheme_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["bench", "--datacentre", "TCN,ECNSharp", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("testbed --qdisc TcnQueueDisc" in line for line in lines)
    assert any("ecn_sharp_sensitivity --qdisc ECNSharpQueueDisc" in line for line in lines)
    assert not any("ecn_sharp_sensitivity --qdisc TcnQueueDisc" in line for line in lines)


def test_bench_takes_the_names_of_schemes(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["bench", "--datacentre", "RED-tail,TCN-average", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("dwrr --qdisc TCN-average" in line for line in lines)
    assert not any("schedulers" in line for line in lines)
    assert invoke(["bench", "--datacentre", "PIAS", "--experiments", "schedulers", "-n"]) == 0
    assert "schedulers --qdisc PIAS" in capsys.readouterr().out
    assert invoke(["bench", "--datacentre", "TCN", "--experiments", "schedulers", "-n"]) == 2
    assert "`TCN` is no scheduler" in capsys.readouterr().err


def test_the_two_catalogues_are_not_mixed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["bench", "--datacentre", "TCN", "--experiments", "aqm"]) == 2
    assert "congestion control" in capsys.readouterr().err
    assert invoke(["bench", "TcpNewReno", "--experiments", "testbed"]) == 2
    assert "--datacentre" in capsys.readouterr().err
    assert invoke(["run", "testbed", "--cc", "TcpCubic"]) == 2
    assert "--qdisc" in capsys.readouterr().err


def test_short_flows_get_slower_as_load_rises() -> None:
    means = []
    for load in (0.2, 0.5, 0.8):
        scenario = catalogue.get("testbed").scenario("ECNSharp", load=load, seed=1)
        recording = backends.get("native").simulate(scenario)
        means.append(compute(scenario, recording).classes["small"]["mean_fct_l4"])
    assert means == sorted(means)


def test_hardly_a_flow_waits_for_its_timer_where_nothing_is_lost() -> None:
    """Those that do had a window below a segment, for which ns-3's TcpDctcp has no floor."""
    recording = simulated("testbed", "ECNSharp", load=0.7, seed=1)
    assert drops(recording) == 0
    assert recording.flows.array("rtos").sum() <= 0.01 * recording.flows.rows


def test_what_the_schemes_cost_and_gain_is_as_in_the_paper() -> None:
    """Over three seeds at a load of 0.9: RED-average slows large flows down, ECN# does not, and
    short flows gain with both."""
    ratios: dict[str, list[list[float]]] = {"ECNSharp": [], "RED-average": []}
    for seed in (1, 2, 3):
        found = {}
        for scheme in ("RED-tail", *ratios):
            scenario = catalogue.get("testbed").scenario(scheme, load=0.9, seed=seed)
            classes = compute(scenario, backends.get("native").simulate(scenario)).classes
            found[scheme] = [classes[name]["mean_fct_l4"] for name in ("small", "large")]
        for scheme, all_of in ratios.items():
            all_of.append([a / b for a, b in zip(found[scheme], found["RED-tail"], strict=True)])
    means = {scheme: np.mean(all_of, axis=0) for scheme, all_of in ratios.items()}
    assert means["ECNSharp"][0] < 0.95
    assert means["RED-average"][0] < means["ECNSharp"][0]
    assert means["ECNSharp"][1] == pytest.approx(1, abs=0.05)
    assert means["RED-average"][1] > 1.03


def ports(scenario: Any, link: str) -> tuple[str, str, str]:
    """Of a link the rate, and the room and the threshold of the switch's port before it."""
    [found] = [each for each in scenario.canonical()["links"] if each["name"] == link]
    attributes = found["reverse"]["qdisc"]["attributes"]
    return found["rate"], attributes["MaxSize"], attributes["MarkingThreshold"]


@pytest.mark.parametrize("experiment", ["leaf_spine", "load_balancing", "all_reduce"])
def test_each_tier_has_the_room_and_the_threshold_of_its_own_rate(experiment: str) -> None:
    scheme = "RED-tail" if experiment == "leaf_spine" else "ecmp"
    made = catalogue.get(experiment)

    def of(**given: str) -> list[tuple[str, str, str]]:
        scenario = made.scenario(scheme, **given)
        return [ports(scenario, "h_0_0"), ports(scenario, "leaf_0_spine_0")]

    (rate, room, threshold), between = of()
    assert (rate, room, threshold) == between
    room, threshold = (str(int(size.removesuffix("p"))) for size in (room, threshold))
    below, above = of(rate="40Gbps", fabric_rate="100Gbps")
    assert below[0] == "40Gbps"
    assert above[0] == "100Gbps"
    for port, times in ((below, 4), (above, 10)):
        assert int(port[1].removesuffix("p")) == times * int(room)
        assert int(port[2].removesuffix("p")) == pytest.approx(times * int(threshold), abs=times)


def test_a_load_is_one_of_the_links_between_switches() -> None:
    here, faster = (
        catalogue.get("leaf_spine").scenario("TCN", fabric_rate=rate).workloads[0].arrivals
        for rate in ("10Gbps", "40Gbps")
    )
    assert (here.capacity, faster.capacity) == (f"{160 * 10**9}bps", f"{640 * 10**9}bps")


@pytest.mark.parametrize("experiment", ["query_burst", "query_completion", "dwrr", "schedulers"])
def test_a_rate_scales_queues_of_one_bottleneck(experiment: str) -> None:
    made = catalogue.get(experiment)
    scheme = "DwrrQueueDisc" if experiment == "schedulers" else "TCN"
    of = {
        rate: made.scenario(scheme, rate=rate).canonical()["links"][-1]
        for rate in ("10Gbps", "100Gbps")
    }
    assert of["100Gbps"]["rate"] == "100Gbps"
    rooms = {}
    for rate, link in of.items():
        qdisc = link["reverse"]["qdisc"]
        qdisc = qdisc["children"][0] if qdisc.get("children") else qdisc
        rooms[rate] = int(qdisc["attributes"]["MaxSize"].removesuffix("p"))
    assert rooms["100Gbps"] == 10 * rooms["10Gbps"]


def test_bursts_come_on_top_of_an_unchanged_load() -> None:
    given: dict[str, Any] = {"load": 0.3, "arrivals": "20ms", "stop_time": "60ms"}
    plain = catalogue.get("leaf_spine").scenario("TCN", **given)
    more = catalogue.get("leaf_spine").scenario("TCN", incast=8, **given)
    assert more.workloads[:1] == plain.workloads
    classes = compute(more, backends.get("native").simulate(more)).classes
    assert classes["burst"]["total_transfers_l4"] % 8 == 0
    assert classes["burst"]["mean_qct_l4"] > classes["burst"]["mean_fct_l4"]


def test_flows_over_open_connections_are_those_that_open_one_each() -> None:
    given: dict[str, Any] = {"flows": 60, "load": 0.5}
    plain, kept = (
        simulated("testbed", "ECNSharp", connections=each, **given) for each in ("none", 1000)
    )
    sizes = [table.completions.array("size_bytes").sum() for table in (plain, kept)]
    assert sizes[0] == sizes[1]
    assert (kept.completions.array("finished") == 1).all()
