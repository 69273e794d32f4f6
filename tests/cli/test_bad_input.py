"""What makes no sense ends with status 2 and one sentence: the field, the value, what to write."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ccperf.cli.app import invoke
from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import written
from ccperf.scenario import Scenario, ScenarioWarning

FABRIC = """
stop_time = "5ms"
routing = "ecmp"
{failures}
[leaf_spine]
leaves = 2
spines = 2
servers = 2
[[workloads]]
name = "web"
stack = "dc"
sizes = {sizes}
arrivals = {{ type = "Poisson", load = {load} }}
[[stacks]]
name = "dc"
cc = "dctcp"
"""
LINK = """
stop_time = "10ms"
nodes = ["a", "b"]
[[links]]
name = "one"
ends = ["a", "b"]
rate = "1Gbps"
delay = "5us"
forward = {{ qdisc = {{ type = "{qdisc}", attributes = {{ {attribute} = "{value}" }} }} }}
[[flows]]
source = "a"
destination = "b"
cc = "dctcp"
"""
FAILING = LINK.format(qdisc="TCN", attribute="Threshold", value="20us").replace(
    "nodes", 'failures = [{ link = "one", down = "2ms", up = "8ms" }]\nnodes'
)
APART = """
stop_time = "10ms"
nodes = ["a", "b", "c", "d"]
[[links]]
name = "one"
ends = ["a", "b"]
rate = "1Gbps"
delay = "5us"
[[links]]
name = "two"
ends = ["c", "d"]
rate = "1Gbps"
delay = "5us"
[[flows]]
source = "a"
destination = "d"
cc = "dctcp"
"""

pytestmark = pytest.mark.usefixtures("own_folder")


def fabric(sizes: str = '"WebSearch"', load: str = "0.5", failures: str = "") -> str:
    return FABRIC.format(sizes=sizes, load=load, failures=failures)


def refusal(capsys: pytest.CaptureFixture[str], text: str) -> str:
    Path("mine.toml").write_text(text)
    assert invoke(["run", "mine.toml"]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1, err
    assert list(Path().glob("*.db")) == []
    return err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"0 0\n1000 0.7\n2000 0.5\n3000 1\n", "(2000, 0.5) comes after (1000, 0.7), but neither"),
        (b"0 0\n2000 0.5\n1000 0.7\n3000 1\n", "(1000, 0.7) comes after (2000, 0.5), but neither"),
        (b"0 0\n1000 0.5\n2000 0.9\n", "the last probability is 0.9, not 1"),
        (b"", "there are no points; write [bytes, probability]"),
        (b"\n\n", "there are no points; write [bytes, probability]"),
        (b"\x80\x00\xff\x1f", "`sizes.txt` cannot be read as text"),
        (b"0 0\nten 1\n", "line 2: `ten 1` is not two numbers"),
        (b"0 0\n0 1\n", "all sizes are 0"),
    ],
)
def test_a_bad_cdf_file(capsys: pytest.CaptureFixture[str], content: bytes, says: str) -> None:
    Path("sizes.txt").write_bytes(content)
    err = refusal(capsys, fabric(sizes='{ type = "Cdf", file = "sizes.txt" }'))
    assert "workloads[0].sizes" in err
    assert says in err


def test_a_cdf_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    err = refusal(capsys, fabric(sizes='{ type = "Cdf", file = "sizes.txt" }'))
    assert "workloads[0].sizes" in err
    assert "sizes.txt" in err


@pytest.mark.parametrize("load", ["0", "1", "-0.2", "1.5", "60"])
def test_a_load_outside_0_and_1(capsys: pytest.CaptureFixture[str], load: str) -> None:
    err = refusal(capsys, fabric(load=load))
    assert f"workloads[0].arrivals.load: {load} is not between 0 and 1, as 0.6 for 60 %" in err


@pytest.mark.parametrize("load", ["0", "1.5"])
def test_a_load_of_an_experiment(capsys: pytest.CaptureFixture[str], load: str) -> None:
    assert invoke(["run", "testbed", "--load", load]) == 2
    err = capsys.readouterr().err
    assert "load" in err
    assert load in err


def test_no_path_between_two_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "flows[0].destination: no links lead from `a` to `d`; add some" in refusal(capsys, APART)


@pytest.mark.parametrize(
    ("failing", "what"),
    [
        ('{ node = "leaf_0", down = "0s" }', "node `leaf_0` down from 0s cuts"),
        ('{ link = "h_1_0", down = "0s", up = "6ms" }', "link `h_1_0` down from 0s cuts"),
        (
            '{ node = "spine_0", down = "1ms" }, { node = "leaf_1", down = "0s" }',
            "node `leaf_1` down from 0s cuts",
        ),
    ],
)
def test_a_failure_that_cuts_off_a_host_for_good(
    capsys: pytest.CaptureFixture[str], failing: str, what: str
) -> None:
    err = refusal(capsys, fabric(failures=f"failures = [{failing}]"))
    number = failing[: failing.index("down")].count("},") + failing.count("leaf_1")
    assert f"failures[{number}]: {what}" in err
    assert "nothing of `web`" in err
    assert "let it be `up` in time, or leave that out" in err


def test_a_flow_that_is_cut_off_for_all_its_life(capsys: pytest.CaptureFixture[str]) -> None:
    err = refusal(capsys, FAILING + 'start = "3ms"\nstop = "7ms"\n')
    assert "failures[0]: link `one` down from 2ms cuts `a` off from `b`" in err
    assert "`flow_1` (3ms to 7ms)" in err


def test_a_failure_that_ends_in_time_is_none_of_that(capsys: pytest.CaptureFixture[str]) -> None:
    for life in ("", 'start = "3ms"\n', 'stop = "3ms"\n'):
        Path("mine.toml").write_text(FAILING + life)
        assert invoke(["run", "mine.toml"]) == 0
    assert "cuts" not in capsys.readouterr().err


def test_a_failure_without_an_end_is_warned_of() -> None:
    Path("mine.toml").write_text(FAILING.replace(', up = "8ms"', ""))
    with pytest.warns(ScenarioWarning, match=r"failures\[0\]: from 2ms .* nothing reaches `b`"):
        Scenario.from_toml("mine.toml")
    Path("mine.toml").write_text(fabric(failures='failures = [{ node = "leaf_1", down = "2ms" }]'))
    with pytest.warns(ScenarioWarning, match=r"nothing reaches `h_1_0`, `h_1_1`; write `up`"):
        written.read(Path("mine.toml"))


def test_failures_that_cut_off_together_are_warned_of() -> None:
    late, early = '{ node = "spine_0", down = "4ms" }', '{ node = "spine_1", down = "3ms" }'
    Path("mine.toml").write_text(fabric(failures=f"failures = [{late}, {early}]"))
    with pytest.warns(ScenarioWarning, match=r"failures\[0\]: from 4ms .* nothing reaches `h_"):
        written.read(Path("mine.toml"))


@pytest.mark.parametrize(
    ("qdisc", "attribute", "says"),
    [
        ("TCN", "Threshold", "0s would mark every packet; write a time above 0"),
        ("ECNSharp", "InstantaneousMarkingThreshold", "0s would mark every packet"),
        ("ECNSharp", "PersistentMarkingTarget", "0s would mark every packet"),
        ("ECNSharp", "PersistentMarkingInterval", "0s would repeat without end"),
        ("MarkingCoDel", "Target", "0s would mark every packet"),
        ("MarkingCoDel", "Interval", "0s would repeat without end"),
        ("MarkingPIE", "QueueDelayReference", "0s would mark every packet"),
        ("MarkingPIE", "Tupdate", "0s would repeat without end"),
    ],
)
def test_a_threshold_of_zero(
    capsys: pytest.CaptureFixture[str], qdisc: str, attribute: str, says: str
) -> None:
    err = refusal(capsys, LINK.format(qdisc=qdisc, attribute=attribute, value="0s"))
    assert f"qdisc.attributes.{attribute}: {says}" in err


@pytest.mark.parametrize(
    ("qdisc", "attribute", "value", "says"),
    [
        ("StepRed", "MarkingThreshold", "0p", "0p would mark every packet; write a length above 0"),
        ("shared_buffer", "PoolBytes", "0", "`0` is not a whole number from 1"),
        ("shared_buffer", "Alpha", "0", "0 is not between"),
        ("DWRR", "Quanta", "1500 0", "0 is not from 1"),
        ("WFQ", "Weights", "0 1", "0 is not from 1"),
    ],
)
def test_a_size_of_zero(
    capsys: pytest.CaptureFixture[str], qdisc: str, attribute: str, value: str, says: str
) -> None:
    err = refusal(capsys, LINK.format(qdisc=qdisc, attribute=attribute, value=value))
    assert f"qdisc.attributes.{attribute}: {says}" in err


@pytest.mark.parametrize(
    ("qdisc", "attribute"), [("CoDel", "Target"), ("CoDel", "Interval"), ("PIE", "MaxBurst")]
)
def test_what_ns_3_takes_is_taken(qdisc: str, attribute: str) -> None:
    attribute = {"MaxBurst": "MaxBurstAllowance"}.get(attribute, attribute)
    Path("mine.toml").write_text(LINK.format(qdisc=qdisc, attribute=attribute, value="0s"))
    assert invoke(["run", "mine.toml"]) == 0


PLAIN = """{"stop_time": "10ms", "nodes": ["a", "b"], "label": "x", "links": [{"name": "one",
"ends": ["a", "b"], "rate": "10Mbps", "delay": "1ms"}],
"flows": [{"source": "a", "destination": "b", "cc": "newreno"}]}"""


@pytest.mark.parametrize(
    ("name", "before", "after", "says"),
    [
        ("mine.json", '"x"', '"\\ud800"', "label: '\\ud800' is no Unicode text"),
        ("mine.json", '"one"', '"\\uDFFF"', "links[0].name: '\\udfff' is no Unicode text"),
        ("mine.json", '"label"', '"\\ud800"', "the name '\\ud800' is no Unicode text"),
        (
            "mine.json",
            '"rate": "10Mbps"',
            '"rate": "10Mbps", "rate": "1Mbps"',
            "links[0].rate: is written twice in one object; leave one out",
        ),
        (
            "mine.json",
            '"cc": "newreno"',
            '"cc": {"type": "newreno", "attributes": {"a": 1, "b": 2, "a": 1}}',
            "flows[0].cc.attributes.a: is written twice in one object; leave one out",
        ),
        ("mine.json", '"label": "x"', f'"seed": {"7" * 6000}', "seed: a number of 6,000 digits"),
        (
            "mine.toml",
            PLAIN,
            f"\nseed = {'1_2' * 3000}",
            "mine.toml:2: seed: a num",
        ),
        ("mine.toml", PLAIN, f"{'a.' * 5000}a = 1", "is nested too deeply"),
        ("mine.toml", PLAIN, f"linux.{'a.' * 5000}a = 1", "is nested too deeply"),
    ],
)
def test_what_no_field_can_hold(
    capsys: pytest.CaptureFixture[str], name: str, before: str, after: str, says: str
) -> None:
    assert PLAIN.count(before) == 1
    Path(name).write_text(PLAIN.replace(before, after))
    assert invoke(["run", name]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1, err
    assert name in err
    assert says in err
    assert len(err) < 200
    assert list(Path().glob("*.db")) == []


def test_a_whole_surrogate_pair_is_text() -> None:
    Path("mine.json").write_text(PLAIN.replace('"x"', '"\\ud83d\\ude00"'))
    assert Scenario.from_toml("mine.json").label == "\N{GRINNING FACE}"


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": "\ud800"}, "label: '\\ud800' is no Unicode text"),
        ({"nodes": ["a", "\ud800"]}, "nodes[1]: '\\ud800' is no Unicode text"),
        ({"linux": {"tcp_ecn": "\ud800"}}, "linux.tcp_ecn: '\\ud800' is no Unicode text"),
        ({"label": 10**6000}, "label: a number of 6,001 digits; none has more than 4,300"),
        ({"seed": -(10**6000)}, "seed: a number of 6,001 digits; none has more than 4,300"),
        ({"a": nested(5000)}, "a: is nested too deeply"),
        ({"routing": {"type": "ecmp", "attributes": nested(5000)}}, "routing: is nested too deep"),
    ],
)
def test_what_no_field_can_hold_in_python(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(says)) as refused:
        Scenario(**{**json.loads(PLAIN), **change})
    assert len(refused.value.problems) == 1


def test_a_copy_with_text_that_is_none_is_refused() -> None:
    copy = Scenario(**json.loads(PLAIN)).model_copy(update={"label": "\ud800"})
    with pytest.raises(ScenarioError, match=r"label: .* is no Unicode text"):
        copy.canonical()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["aqm", "--k", "100000000"], "k: `100000000` must be a whole number from 1 to 65,535"),
        (["aqm", "--k", "0"], "k: `0` must be a whole number from 1 to 65,535"),
        (["aqm", "--k", "9" * 5000], "must be a whole number from 1 to 65,535"),
        (["ack_compression", "--quota", "1000001"], "must be a whole number from 1 to 1,000,000"),
        (["buffer_sizing", "--buffer", "2e9"], "must be a number from 0 to 1,000,000,000"),
    ],
)
def test_both_bounds_of_a_number_are_named(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert invoke(["run", *words]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["run", "dumbbell", "--cc", "cubic:Beta", "--time", "1s"],
            "a parameter of cubic needs a value: cubic:Beta=VALUE",
        ),
        (
            ["run", "dumbbell", "--cc", "cubic", "--buffer", "0p"],
            "error: --buffer: `0p` would drop everything; it must be above 0, as 1p",
        ),
        (["bench", "cubic", "-j", "-1", "-n"], "error: --jobs: `-1` must be at least 1"),
    ],
)
def test_the_option_is_named_with_what_to_write(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert invoke(words) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("class Other: pass\n", "TypeError: mine.py has no class Mine; it has Other"),
        ("class Mine\n", "SyntaxError: "),
    ],
)
def test_code_that_cannot_be_loaded_has_not_failed_at_a_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    own = tmp_path / "mine.py"
    own.write_text(text)
    database = tmp_path / "x.db"
    words = ["run", "dumbbell", "--cc", f"{own}:Mine", "--db", str(database)]
    assert invoke(words) == 2
    assert f"{own}:Mine cannot be used: {says}" in capsys.readouterr().err
    assert not database.exists()


@pytest.mark.parametrize(
    ("qdisc", "own"),
    [
        ("fq_codel:limit=100p", "FqCoDelQueueDisc(MaxSize=100p) has a limit, too"),
        ("fifo:MaxSize=20p", "FifoQueueDisc(MaxSize=20p) has a limit, too"),
        ("linux:fq_codel limit 100", "linux:fq_codel(limit=100) has a limit, too"),
    ],
)
def test_a_buffer_beside_a_limit_of_the_discipline(
    capsys: pytest.CaptureFixture[str], qdisc: str, own: str
) -> None:
    """Else two buffers would be one."""
    assert invoke(["run", "dumbbell", "--buffer", "1bdp,4bdp", "--qdisc", qdisc]) == 2
    err = capsys.readouterr().err
    assert "--buffer: `1bdp`" in err
    assert own in err
    assert "leave out the buffer, or " in err
    assert list(Path().glob("*.db")) == []


@pytest.mark.parametrize("network", ["dumbbell", "parking_lot"])
def test_a_network_beside_a_limit_of_its_discipline(
    capsys: pytest.CaptureFixture[str], network: str
) -> None:
    own = 'rtts = ["15ms"]' if network == "dumbbell" else 'rtt = "15ms"\nhops = 1'
    text = f"""
stop_time = "100ms"
[{network}]
rate = "16Mbps"
qlen = "40p"
qdisc = "codel(limit=20p)"
cc = "cubic"
{own}
"""
    err = refusal(capsys, text)
    assert "qlen: `40p`, and codel(limit=20p) has a limit, too, MaxSize=20p; leave out" in err
