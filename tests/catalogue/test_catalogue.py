"""The experiments of the catalogue."""

from __future__ import annotations

import itertools
import shlex

import pytest

from ccperf import catalogue, programs
from ccperf.catalogue import REGISTRY, Experiment, PublishedExperiment, published_scenarios
from ccperf.errors import UsageError
from ccperf.published import published

EXPERIMENTS = list(REGISTRY.values())
PUBLISHED = [each for each in EXPERIMENTS if isinstance(each, PublishedExperiment)]
every_published = pytest.mark.parametrize("experiment", PUBLISHED, ids=lambda e: e.name)
every_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)

#: The grids as the catalogue promises them.
GRIDS = {
    "ecn": {"k": [1, 2, 5, 10], "ce_threshold": ["1ms", "2ms", "5ms", "10ms"]},
    "aqm": {
        "k": [1, 2, 5, 10],
        "qdisc": ["FifoQueueDisc", "CoDelQueueDisc", "FqCoDelQueueDisc"],
    },
    "scalability": {
        "bw": ["32Mbps", "64Mbps", "128Mbps", "256Mbps", "512Mbps"],
        "rtt": ["15ms", "60ms"],
    },
    "ack_compression": {
        "interval": ["1ms", "5ms", "10ms", "20ms"],
        "quota": [1, 5, 10, 20],
    },
}


def published_experiment(name: str) -> PublishedExperiment:
    (experiment,) = [each for each in PUBLISHED if each.name == name]
    return experiment


def test_the_grids() -> None:
    assert list(REGISTRY) == list(GRIDS)
    for name, axes in GRIDS.items():
        points = [
            dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())
        ]
        assert list(REGISTRY[name].grid()) == points


@every_experiment
def test_every_value_of_the_grid_is_canonical(experiment: Experiment) -> None:
    for point in experiment.grid():
        assert experiment.point(point) == point


@every_published
def test_the_published_command_makes_the_same_run(experiment: PublishedExperiment) -> None:
    for point in experiment.grid():
        for recovery in ("PrrRfc6937", "TcpClassicRecovery"):
            scenario = experiment.scenario("TcpNewReno", recovery=recovery, seed=7, **point)
            line = programs.parse(
                [experiment.command("newreno", recovery=recovery, seed=7, **point)]
            )
            again, warnings = programs.scenario(line)
            assert again == scenario
            assert warnings == []


def test_the_published_commands_are_reproduced_letter_by_letter() -> None:
    for page in published():
        experiment = published_experiment(page.experiment)
        assert experiment.command("TcpNewReno", **page.parameters) == page.command
        # The published point is what one gets without saying anything.
        assert experiment.command("TcpNewReno") == page.command
        assert published_scenarios()[experiment.scenario("TcpNewReno").hash] == page


def test_published_points_outside_the_tables() -> None:
    """Further command lines that were published without their tables."""
    assert published_experiment("aqm").command("TcpNewReno", k=1, qdisc="FifoQueueDisc") == (
        "ns3-dev-ccperf-static-dumbbell-default --experiment-name=aqm "
        "--db-path=benchmark_TcpNewReno.db "
        "'--parameters={aut:TcpNewReno,k:1,qdisc:FifoQueueDisc}' --aut=TcpNewReno "
        "--stop-time=15s --seed=42 --qdisc=FifoQueueDisc --bw=16Mbps --loss=0.0 --qlen=20p "
        "--rtts=15ms --sources=src_0 --destinations=dst_0 --protocols=TCP --algs=TcpNewReno "
        "--recoveries=TcpPrrRecovery --start-times=0s --stop-times=15s "
        "'--traffic-models=Greedy(bytes=0)'"
    )
    line = published_experiment("scalability").command("TcpNewReno", bw="32Mbps", rtt="15ms")
    assert "--qlen=40p" in line
    assert "--rate-series=16Mbps,32Mbps" in line


def test_the_buffer_of_scalability_is_one_bandwidth_delay_product() -> None:
    for point in REGISTRY["scalability"].grid():
        scenario = REGISTRY["scalability"].scenario("TcpNewReno", **point)
        rate = int(str(point["bw"]).removesuffix("Mbps")) * 1_000_000
        rtt = int(str(point["rtt"]).removesuffix("ms")) / 1000
        assert (
            scenario.links[0].forward.qdisc.attributes["MaxSize"]
            == f"{int(rate * rtt / 8 / 1500)}p"
        )


@pytest.mark.parametrize(
    ("name", "parameters", "field", "says"),
    [
        ("aqm", {"k": 0}, "k", "at least 1"),
        ("aqm", {"k": "two"}, "k", "whole number"),
        ("aqm", {"k": 1.5}, "k", "whole number"),
        ("aqm", {"qdisc": "codle"}, "qdisc", "CoDelQueueDisc"),
        ("aqm", {"kk": 1}, "kk", "did you mean `k`"),
        ("scalability", {"bw": 32}, "bw", "no unit"),
        ("scalability", {"bw": "32mbps"}, "bw", "bytes"),
        ("scalability", {"bw": "0Mbps"}, "bw", "above 0"),
        ("ecn", {"ce_threshold": "-1ms"}, "ce_threshold", "negative"),
        ("ack_compression", {"interval": "0s"}, "interval", "above 0"),
        ("ack_compression", {"quota": 0}, "quota", "at least 1"),
    ],
)
def test_wrong_values_are_refused_by_name(
    name: str, parameters: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises(UsageError) as caught:
        REGISTRY[name].scenario("TcpNewReno", **parameters)
    assert caught.value.field == field
    assert says in caught.value.message


def test_values_may_be_written_in_other_units_and_names() -> None:
    assert REGISTRY["ecn"].point({"ce_threshold": "0.001s", "k": "5"}) == {
        "k": 5,
        "ce_threshold": "1ms",
    }
    assert REGISTRY["aqm"].point({"qdisc": "fq_codel"})["qdisc"] == "FqCoDelQueueDisc"
    assert REGISTRY["scalability"].point({"bw": "0.256Gbps"})["bw"] == "256Mbps"


def test_unknown_experiments_and_algorithms() -> None:
    with pytest.raises(UsageError, match="did you mean `aqm`"):
        catalogue.get("aqn")
    with pytest.raises(UsageError, match="TcpNewReno"):
        REGISTRY["aqm"].scenario("TcpNewRno")
    with pytest.raises(UsageError, match="PrrRfc6937"):
        REGISTRY["aqm"].scenario("TcpNewReno", recovery="PrrRfc")


@every_experiment
def test_the_short_command_makes_the_same_run(experiment: Experiment) -> None:
    given = {"seed": 7, "recovery": "TcpClassicRecovery", "stop_time": "0.1s"}
    for point in [{}, *experiment.grid()]:
        words = shlex.split(experiment.reproduce("newreno", **given, **point))
        assert words[:3] == ["ccperf", "run", experiment.name]
        options = dict(zip(words[3::2], words[4::2], strict=True))
        again = {name.removeprefix("--").replace("-", "_"): v for name, v in options.items()}
        scenario = experiment.scenario("TcpNewReno", **given, **point)
        assert experiment.scenario(again.pop("cc"), **{**again, "seed": int(again["seed"])}) == (
            scenario
        )


def test_a_point_that_makes_no_sense_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        REGISTRY["scalability"].scenario("TcpNewReno", rtt="1ms")
    assert caught.value.field == "scalability"
    assert caught.value.message.startswith("at aut=TcpNewReno bw=256Mbps rtt=1ms: flows[0].rtt: ")
