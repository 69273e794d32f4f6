"""The experiments of the catalogue."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments import catalogue, programs
from ccperf.experiments.catalogue import (
    REGISTRY,
    Experiment,
    PublishedExperiment,
    published_scenarios,
)
from ccperf.experiments.published import published

EXPERIMENTS = list(REGISTRY.values())
LINES = json.loads(Path(__file__).with_name("command_lines.json").read_text())
PUBLISHED = [each for each in EXPERIMENTS if isinstance(each, PublishedExperiment)]
every_published = pytest.mark.parametrize("experiment", PUBLISHED, ids=lambda e: e.name)
every_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)

#: The grids of the experiments whose tables are published, as the catalogue promises them.
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


@pytest.mark.parametrize("page", LINES, ids=lambda page: page["experiment"])
def test_every_command_line_that_was_published_is_made(page: dict[str, Any]) -> None:
    """Those without their tables, too; of some we only know how they begin."""
    made = published_experiment(page["experiment"]).command("TcpNewReno", **page["parameters"])
    assert made == page["command"] if page["is_whole"] else made.startswith(page["command"])


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
        ("aqm", {"k": 0}, "k", "from 1 to 65,535"),
        ("aqm", {"k": "two"}, "k", "whole number"),
        ("aqm", {"k": 1.5}, "k", "whole number"),
        ("aqm", {"qdisc": "codle"}, "qdisc", "CoDelQueueDisc"),
        ("aqm", {"kk": 1}, "kk", "did you mean `k`"),
        ("scalability", {"bw": 32}, "bw", "no unit"),
        ("scalability", {"bw": "32mbps"}, "bw", "bytes"),
        ("scalability", {"bw": "0Mbps"}, "bw", "above 0"),
        ("ecn", {"ce_threshold": "-1ms"}, "ce_threshold", "negative"),
        ("ack_compression", {"interval": "0s"}, "interval", "above 0"),
        ("ack_compression", {"quota": 0}, "quota", "from 1 to 1,000,000"),
        ("steady_state_single_flow", {"path": "static.india"}, "path", "did you mean"),
        ("steady_state_start_time_fairness", {"start_times": "[0s]"}, "start_times", "1 entry"),
        ("steady_state_rtt_fairness", {"rtts": "97ms,76ms"}, "rtts", "[97ms,76ms]"),
        ("steady_state_rtt_fairness", {"rtts": "[97ms,76]"}, "rtts", "no unit"),
        ("loss_resilience", {"loss": "2%"}, "loss", "probability"),
        ("loss_resilience", {"loss": 1.5}, "loss", "probability"),
        ("responsiveness_step", {"target": "rate", "upper": "60ms"}, "upper", "no rate"),
        ("responsiveness_step", {"direction": "left"}, "direction", "up"),
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
    for point in [{}, *experiment.product({}, "0.1s")]:
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


def test_what_is_left_open_follows_from_the_rest() -> None:
    fairness = REGISTRY["steady_state_rtt_fairness"]
    assert fairness.point({"k": 3})["rtts"] == "[10ms,55ms,100ms]"
    assert fairness.point({"k": 1})["rtts"] == "[10ms]"
    starts = REGISTRY["steady_state_start_time_fairness"].point({"k": 3})["start_times"]
    assert starts == "[0s,1.87s,3.74s]"
    step = REGISTRY["responsiveness_step"]
    assert [step.point({"target": t})["upper"] for t in ("rate", "rtt", "loss")] == [
        "16Mbps",
        "60ms",
        0.02,
    ]


def test_a_step_and_a_wave_change_what_they_say() -> None:
    step = REGISTRY["responsiveness_step"].scenario("TcpNewReno", target="rtt", direction="down")
    assert [(c.time, c.rate, c.delay) for c in step.changes] == [
        ("0s", "16Mbps", "28ms"),
        ("7.5s", "16Mbps", "5.5ms"),
    ]
    wave = REGISTRY["responsiveness_pulse_wave"].scenario("TcpNewReno", target="loss", period="4s")
    assert [(c.time, c.loss) for c in wave.changes if c.loss is not None] == [
        (f"{2 * i}s", 0.02 if i % 2 else 0.0) for i in range(8)
    ]


def test_another_seed_walks_elsewhere_and_another_algorithm_on_the_same_way() -> None:
    walk = REGISTRY["random_walk"]

    def ways(cc: str, **given: object) -> list[object]:
        return [s.model_dump() for s in walk.scenario(cc, **given).links[0].schedules]

    assert ways("TcpNewReno") == ways("TcpBbr")
    for first, second in zip(ways("TcpNewReno"), ways("TcpNewReno", seed=1), strict=True):
        assert first != second
    rates, delays, losses = walk.scenario("TcpNewReno").links[0].schedules
    assert rates.rates_bps is not None
    assert delays.delays_ns is not None
    assert losses.losses is not None
    assert 4_000_000 <= min(rates.rates_bps) < max(rates.rates_bps) <= 28_000_000
    assert 3_000_000 <= min(delays.delays_ns) < max(delays.delays_ns) <= 23_000_000
    assert 0 <= min(losses.losses) < max(losses.losses) <= 0.02


@every_experiment
def test_what_a_seed_changes_is_said(experiment: Experiment) -> None:
    """Another seed changes the scenario beside its number, or random losses are drawn, where the
    experiment says that a seed changes something; elsewhere neither."""

    def has_chance(point: dict[str, Any]) -> bool:
        one, other = (experiment.scenario("TcpNewReno", seed=seed, **point) for seed in (1, 2))
        draws = any(
            direction.loss
            or direction.gilbert_elliott
            or direction.jitter
            or direction.reordering
            or any(schedule.losses or () for schedule in link.schedules)
            for link in one.links
            for direction in (link.forward, link.reverse)
        )
        steps = any(change.loss for change in one.changes)
        return draws or steps or one.model_copy(update={"seed": 2}).hash != other.hash

    words = {each.name: each.words for each in experiment.parameters if each.words}
    assert any(map(has_chance, experiment.product(words))) == bool(experiment.seeded)


def _starts(name: str, **given: Any) -> list[int]:
    scenario = REGISTRY[name].scenario("TcpNewReno", **given)
    return [_native.parse_time(flow.start) for flow in scenario.flows]


def test_jitter_is_drawn_from_the_seed_and_nothing_if_not_asked_for() -> None:
    published = "steady_state_synchronous_fairness"
    assert _starts(published, k=3) == [0, 0, 0]
    drawn = _starts(published, k=3, jitter="10ms")
    assert len(set(drawn)) == 3
    assert all(0 <= start <= 10_000_000 for start in drawn)
    assert (
        _starts(published, k=3, jitter="10ms")
        == drawn
        != _starts(published, k=3, jitter="10ms", seed=7)
    )


def test_jitter_replaces_that_of_experiments_of_our_own() -> None:
    assert _starts("parking_lot", jitter="0s") == [0] * 4
    assert max(_starts("parking_lot", jitter="1ms")) <= 1_000_000 < max(_starts("parking_lot"))


def test_a_point_with_jitter_is_another_point_and_says_how_to_make_it() -> None:
    experiment = REGISTRY["aqm"]
    assert experiment.setup("cubic", jitter="0.01s").labels["jitter"] == "10ms"
    assert "jitter" not in experiment.setup("cubic").labels
    assert "--jitter 10ms" in experiment.reproduce("cubic", jitter="10ms")
    with pytest.raises(UsageError, match="jitter"):
        experiment.scenario("cubic", jitter="10")


@pytest.mark.parametrize("name", [name for name in catalogue.NAMED if name != "dumbbell"])
def test_what_an_experiment_is_about_is_what_it_declares(name: str) -> None:
    """Those that are in no benchmark had the usual metrics everywhere."""
    assert catalogue.answer(name) is catalogue.get(name).answer


def test_a_limit_of_the_discipline_is_the_buffer_if_none_is_given() -> None:
    dumbbell = catalogue.get("dumbbell")
    for qdisc, limit in (("codel:MaxSize=7p", "7p"), ("codel", "20p")):
        (queue,) = (
            link["forward"]["qdisc"]
            for link in dumbbell.scenario("cubic", qdisc=qdisc).canonical()["links"]
            if link["name"] == "btl"
        )
        assert queue["attributes"]["MaxSize"] == limit
    # The command that makes it again has what it had.
    again = shlex.split(dumbbell.reproduce("cubic", qdisc="codel:MaxSize=7p"))
    given = dict(zip(again[3::2], again[4::2], strict=True))
    assert given["--buffer"] == "auto"
    point = dumbbell.point({"qdisc": given["--qdisc"], "buffer": given["--buffer"]})
    assert point == dumbbell.point({"qdisc": "codel:MaxSize=7p"})
    assert dumbbell.point({})["buffer"] == "1bdp"


def test_an_axis_has_whole_words() -> None:
    """A number is not cut at its point, and what stands alone names what it is of."""

    def label(experiment: str, parameter: str) -> str:
        (found,) = (p for p in catalogue.get(experiment).parameters if p.name == parameter)
        return found.label

    assert label("scalability", "bw") == "Rate of the bottleneck from 3.75 s on"
    assert label("handover", "loss") == "Share of packets lost before a handover"
    assert label("ecn", "ce_threshold") == "CE threshold"
    assert label("competition", "rtts") == "RTTs"
