"""The Python interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments.published import published

AQM = next(page for page in published() if page.experiment == "aqm")


def test_a_point_of_the_catalogue() -> None:
    result = ccperf.run("aqm", cc="TcpNewReno", k=5, qdisc="FqCoDelQueueDisc")
    assert round(result.flow_metrics["flow_1"]["mean_throughput_l4"], 2) == 14.91
    assert result.link_metrics["btl_forward"]["total_qdisc_drops_l2"] == 333
    assert round(result.network_metrics["net"]["mean_agg_throughput_l4"], 2) == 74.54
    assert result.parameters == {"aut": "TcpNewReno", **AQM.parameters}
    samples = result.recording.flow_samples
    assert isinstance(samples["cwnd_bytes"], np.ndarray)
    assert len(samples["cwnd_bytes"]) == 500 * 5
    assert "flow_1" in result._repr_html_()
    assert ccperf.run("aqm", cc="newreno").id == result.id


def test_settings_and_packets(tmp_path: Path) -> None:
    done: list[float] = []
    result = ccperf.run(
        "ecn",
        cc="TcpNewReno",
        seed=7,
        recovery="TcpClassicRecovery",
        stop_time="1s",
        packets=tmp_path / "p.csv",
        progress=done.append,
    )
    assert result.scenario.seed == 7
    assert result.scenario.flows[0].recovery == "TcpClassicRecovery"
    assert result.scenario.stop_time == "1s"
    assert (tmp_path / "p.csv").read_text().startswith("time_ns,")
    assert done == sorted(done)


@pytest.mark.parametrize("packets", ["", "no/p.csv", "p.pcap"])
def test_packets_that_cannot_be_written_are_refused_before_the_run(
    tmp_path: Path, packets: str
) -> None:
    with pytest.raises(UsageError) as error:
        ccperf.run("ecn", cc="TcpNewReno", packets=tmp_path / packets)
    assert error.value.field == "packets"


def test_a_scenario_of_ones_own() -> None:
    scenario = ccperf.Scenario(
        stop_time="1s",
        nodes=["a", "b"],
        links=[{"name": "wire", "ends": ["a", "b"], "rate": "16Mbps", "delay": "5ms"}],
        flows=[{"source": "a", "destination": "b", "cc": "newreno"}],
    )
    result = ccperf.simulate(scenario)
    assert result.link_metrics.keys() == {"wire_forward"}
    assert result.experiment is None
    assert ccperf.simulate(scenario).id == result.id
    number: Any = 0
    with pytest.raises(KeyError, match="unknown flow `0`; known: flow_1"):
        result.flow_metrics[number]


def test_a_scenario_is_also_a_file_or_what_one_would_have(tmp_path: Path) -> None:
    dumbbell = {"rate": "10Mbps", "qlen": "40p", "rtts": ["20ms", "80ms"], "cc": "newreno"}
    result = ccperf.simulate({"stop_time": "1s", "dumbbell": dumbbell})
    assert list(result.flow_metrics) == ["flow_1", "flow_2"]
    file = tmp_path / "two.toml"
    file.write_text(
        'stop_time = "1s"\n[dumbbell]\nrate = "10Mbps"\nqlen = "40p"\n'
        'rtts = ["20ms", "80ms"]\ncc = "newreno"\n'
    )
    same = ccperf.simulate(file)
    assert (same.id, same.called) == (result.id, "two")
    with pytest.raises(UsageError, match=r'declares no \[parameters\]; `ccperf.simulate\("'):
        ccperf.run(file)
    with pytest.raises(ScenarioError, match=r"^dumbell: is not a field here \(did you mean `dumbb"):
        ccperf.simulate({"stop_time": "1s", "dumbell": dumbbell})
    with pytest.raises(FileNotFoundError):
        ccperf.simulate(tmp_path / "none.toml")
    number: Any = 3
    with pytest.raises(UsageError, match="scenario: `3` is no"):
        ccperf.simulate(number)


def test_wrong_arguments() -> None:
    with pytest.raises(UsageError, match="did you mean `aqm`"):
        ccperf.run("aqn", cc="TcpNewReno")
    with pytest.raises(UsageError, match="kk"):
        ccperf.run("aqm", cc="TcpNewReno", kk=1)
    with pytest.raises(UsageError, match="backend"):
        ccperf.run("aqm", cc="TcpNewReno", backend="ns2")
    with pytest.raises(UsageError, match="no unit"):
        ccperf.run("aqm", cc="TcpNewReno", stop_time="1")
    with pytest.raises(ScenarioError, match="links"):
        ccperf.Scenario(stop_time="1s", nodes=["a"], flows=[])
    with pytest.raises(AttributeError):
        ccperf.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("what", "given", "field"),
    [
        ("aqm", {"cc": []}, "cc"),
        ("aqm", {"cc": ["cubic"], "k": ()}, "k"),
        ("aqm", {"cc": ["cubic"], "seed": range(0)}, "seed"),
        ("testbed", {"qdisc": []}, "qdisc"),
        ("load_balancing", {"routing": []}, "routing"),
    ],
)
def test_a_list_that_came_out_empty_asks_for_no_default(
    what: str, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(UsageError, match=f"^{field}: is empty; leave it out for "):
        ccperf.grid(what, **given)
    if field in ("cc", "qdisc", "routing"):
        with pytest.raises(UsageError, match=f"^{field}: is empty; leave it out for "):
            ccperf.bench(**{field: []})


def test_a_store_is_opened_to_read_or_to_add(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^mode: `w` must be `r` to read, or `a` to add"):
        ccperf.Store(tmp_path / "x.db", "w")  # type: ignore[arg-type]
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"experiment": 5}, "experiment: `5` is no experiment; name one, as aqm, or a file"),
        ({"experiment": None}, "experiment: `None` is no experiment"),
        ({"stop_time": 5}, 'stop_time: `5` has no unit; write "5s" for seconds'),
        ({"stop_time": 0}, "stop_time: `0` has no unit"),
        ({"stop_time": ["1s"]}, "stop_time: `['1s']` is not a time; write one like 15ms"),
        ({"jitter": 0.5}, 'jitter: `0.5` has no unit; write "0.5s" for seconds'),
        ({"recovery": 5}, "recovery: `5` must be a text"),
        ({"profile": 5}, "profile: `5` must be a text"),
        ({"backend": 5}, "backend: `5` must be a text"),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_named_with_what_to_write(
    given: dict[str, Any], says: str
) -> None:
    for call in (ccperf.run, ccperf.grid):
        with pytest.raises(UsageError) as caught:
            call(**{"experiment": "aqm", "k": 1, **given})
        assert str(caught.value).startswith(says)


def test_so_are_those_of_one_call_alone() -> None:
    for call, words, given, says in (
        (ccperf.run, ["aqm"], {"threads": "2"}, "threads: `2` must be"),
        (ccperf.run, ["aqm"], {"packets": 5}, "packets: `5` must be a text or a path"),
        (ccperf.grid, ["aqm"], {"jobs": "2"}, "jobs: `2` must be a whole number"),
        (ccperf.grid, ["aqm"], {"db": 5}, "db: `5` must be a text or a path"),
        (ccperf.compare, ["cubic"], {"db": 5}, "db: `5` must be a text or a path"),
        (ccperf.score, ["cubic"], {"budget": "1"}, "budget: `1` must be a number of seconds"),
        (ccperf.score, ["cubic"], {"jobs": None}, "jobs: `None` must be a whole number"),
        (ccperf.simulate, [5], {}, "scenario: `5` is no ccperf.Scenario"),
    ):
        with pytest.raises(UsageError) as caught:
            call(*words, **given)  # type: ignore[operator]
        assert str(caught.value).startswith(says)


def test_the_package_has_what_it_says() -> None:
    assert ccperf.__version__.count(".") == 2
    for name in ccperf.__all__:
        assert getattr(ccperf, name)
    assert dir(ccperf) == sorted(ccperf.__all__)
