"""Scenarios in Python: what may be written, what comes back, what is said about mistakes."""

from __future__ import annotations

import codecs
import json
import pickle
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from ccperf import _native
from ccperf.errors import ScenarioError
from ccperf.scenario import Algorithm, Change, Direction, Flow, Greedy, Link, Scenario


def small(**fields: Any) -> dict[str, Any]:
    """The least that makes a scenario."""
    return {
        "stop_time": "1s",
        "nodes": ["a", "b"],
        "links": [{"name": "wire", "ends": ["a", "b"], "rate": "16Mbps", "delay": "5ms"}],
        "flows": [{"source": "a", "destination": "b", "cc": "newreno"}],
        **fields,
    }


def problems(data: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        Scenario(**data).lowered()
    return [str(problem) for problem in caught.value.problems]


def test_python_and_the_engine_have_the_same_defaults() -> None:
    shortest = small()
    shortest["flows"][0]["cc"] = {"type": "newreno"}
    assert Scenario(**shortest).canonical() == json.loads(_native.canonical(json.dumps(shortest)))
    change = {"time": "0s", "link": "wire", "rate": "1Mbps"}
    for part, engine in [
        (Change(**change).model_dump(), _canonical(changes=[change])["changes"][0]),
        (Direction().model_dump(mode="json"), _canonical()["links"][0]["forward"]),
        (Greedy().model_dump(), _canonical()["flows"][0]["application"]),
    ]:
        assert part == engine


def _canonical(**fields: Any) -> Any:
    return json.loads(_native.canonical(Scenario(**small(**fields)).model_dump_json()))


def test_an_answer_to_a_ping_has_to_fit_as_the_request_does() -> None:
    scenario = small(pings=[{"source": "a", "destination": "b", "size": "1472B"}])
    Scenario(**scenario).lowered()
    for way in ("forward", "reverse"):
        link = {**scenario["links"][0], way: {"mtu": "576B"}}
        [problem] = problems({**scenario, "links": [link]})
        assert problem == "pings[0].size: 1472B is not between 16B and 548B"


def test_impairments_are_checked_and_left_out_where_there_are_none() -> None:
    scenario = small()
    scenario["links"][0]["forward"] = {
        "gilbert_elliott": {"to_bad": 2, "to_good": 0.5},
        "jitter": {"delay": "Uniform(min=2s,max=1s)"},
        "reordering": {"probability": -1, "delay": "2000s"},
    }
    assert problems(scenario) == [
        "links[0].forward.gilbert_elliott.to_bad: 2 is not a probability from 0 to 1",
        "links[0].forward.jitter.delay: `Uniform(min=2s,max=1s)`: min is above max",
        "links[0].forward.reordering.probability: -1 is not a probability from 0 to 1",
        "links[0].forward.reordering.delay: `2000s` is more than 1000s; lower it",
    ]
    plain = _canonical()["links"][0]["forward"]
    assert not {"gilbert_elliott", "jitter", "reordering"} & plain.keys()
    scenario["links"][0]["forward"] = {
        "gilbert_elliott": {"to_bad": 0.1, "to_good": 0.5},
        "jitter": {"delay": "uniform(max=1000ms)"},
        "reordering": {"probability": 0.1, "delay": "1000us"},
    }
    forward = Scenario(**scenario).canonical()["links"][0]["forward"]
    assert forward["jitter"] == {"delay": "Uniform(min=0s,max=1s)", "keep_order": True}
    assert forward["reordering"] == {"probability": 0.1, "delay": "1ms"}
    assert forward["gilbert_elliott"]["loss_in_bad"] == 1.0


def test_every_spelling_of_the_same_scenario_is_the_same() -> None:
    """Models, dictionaries and texts; ns-3's names and Linux's; numbers and texts; any unit."""
    fifo = Algorithm(type="ns3::FifoQueueDisc", attributes={"MaxSize": "30000B"})
    one = Scenario(
        stop_time="1s",
        nodes=("a", "b"),
        links=(
            Link(
                name="wire",
                ends=("a", "b"),
                rate="16Mbps",
                delay="5ms",
                forward=Direction(qdisc=fifo, loss=0.5, drop=(3, 1)),
            ),
        ),
        flows=(
            Flow(
                source="a",
                destination="b",
                cc=Algorithm(type="TcpNewReno"),
                tcp={"Sack": "t", "Timestamp": "t"},
            ),
        ),
    )
    forward = {
        "qdisc": {"type": "BFIFO", "attributes": {"limit": "30kB"}},
        "loss": 0.5,
        "drop": [1, 3],
        "device_queue": "0.1kp",
    }
    link = {"name": "wire", "ends": ["a", "b"], "rate": "16000kbps", "delay": "0.005s"}
    two = Scenario.model_validate(
        small(
            stop_time="1000ms",
            links=[{**link, "forward": forward}],
            flows=[
                {
                    "source": "a",
                    "destination": "b",
                    "cc": "NewReno",
                    "recovery": "prr",
                    "tcp": {"tcp_sack": True, "ns3::TcpSocketBase::Timestamp": "TRUE"},
                    "application": "Greedy",
                }
            ],
        )
    )
    assert one.canonical() == two.canonical()
    assert one.lowered() == two.lowered()
    assert one.hash == two.hash


def test_the_canonical_form_is_a_scenario_and_its_own_canonical_form() -> None:
    scenario = Scenario(**small(seed=7))
    again = Scenario(**scenario.canonical())
    assert again.canonical() == scenario.canonical()
    assert again.hash == scenario.hash


def test_the_hash_is_of_what_runs() -> None:
    base = Scenario(**small()).hash
    assert Scenario(**small(label="mine")).hash == base
    assert Scenario(**small(seed=2)).hash != base
    assert Scenario(**small(stop_time="2s")).hash != base


def test_no_queue_discipline_differs_from_the_default() -> None:
    link = {**small()["links"][0], "forward": {"qdisc": None}}
    canonical = Scenario(**small(links=[link])).canonical()
    assert canonical["links"][0]["forward"]["qdisc"] is None
    assert canonical["links"][0]["reverse"]["qdisc"]["type"] == "FifoQueueDisc"


def test_a_scenario_cannot_be_changed() -> None:
    scenario = Scenario(**small())
    with pytest.raises(ValueError, match="frozen"):
        scenario.seed = 3


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("stop_time", 15, "stop_time: `15` has no unit; write a time like 15ms"),
        ("stop_time", None, "stop_time: is None; write a text, in quotes"),
        ("stoptime", "1s", "stoptime: is not a field here (did you mean `stop_time`?)"),
        ("seed", -1, "seed: input should be greater than or equal to 0, not -1"),
        ("seed", "7", "seed: input should be a valid integer, not '7'"),
        ("nodes", "ab", "nodes: is 'ab'; write a list, [...]"),
        ("recording", "all", "recording: is 'all'; write a table, {...}"),
        ("routing", 3, "routing: is 3; write its name, or a table with `type`"),
        (
            "flows",
            small()["flows"][0],
            "flows: is a table; write a list of tables, in TOML [[flows]] with two brackets",
        ),
    ],
)
def test_shape_of_the_scenario(field: str, value: object, expected: str) -> None:
    assert problems(small(**{field: value})) == [expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"rate": 16}, "links[0].rate: `16` has no unit; write a rate like 16Mbps"),
        ({"ends": ["a"]}, "links[0].ends[1]: is missing"),
        ({"ends": ["a", "b", "c"]}, "links[0].ends: has 3 entries; write at most 2"),
        ({"forwards": {}}, "links[0].forwards: is not a field here (did you mean `forward`?)"),
        (
            {"forward": {"los": 0.1}},
            "links[0].forward.los: is not a field here (did you mean `loss`?)",
        ),
        (
            {"forward": {"ErrorRate": 0.1}},
            "links[0].forward.ErrorRate: is not a field here (did you mean `loss`?)",
        ),
        # It has another direction's, not its own.
        ({"ErrorRate": 0.1}, "links[0].ErrorRate: is not a field here"),
        (
            {"forward": {"loss": "lots"}},
            "links[0].forward.loss: input should be a valid number, not 'lots'",
        ),
        (
            {"forward": {"loss": float("nan")}},
            "links[0].forward.loss: input should be a finite number, not nan",
        ),
        (
            {"forward": {"qdisc": {"typ": "fifo"}}},
            "links[0].forward.qdisc.type: is missing",
        ),
        (
            {"reverse": {"qdisc": {"type": "fifo", "attributes": {"limit": ["20p"]}}}},
            "links[0].reverse.qdisc.attributes.limit: is a list; write a text, in quotes",
        ),
    ],
)
def test_shape_of_a_link(fields: dict[str, Any], expected: str) -> None:
    link = {**small()["links"][0], **fields}
    assert expected in problems(small(links=[link]))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cc": "TcpCubik"}, "flows[0].cc.type: `TcpCubik` is not a congestion control algorithm"),
        (
            {"cc": "dcqcn"},
            "flows[0].cc.type: `dcqcn` is a rate control of RoCE, no congestion control algorithm; "
            'a flow with transport = "ROCE" takes it',
        ),
        (
            {"cc": "codel"},
            "flows[0].cc.type: `codel` is a queue discipline, no congestion control algorithm; "
            "`qdisc` of a link takes it",
        ),
        # It is not missing as well.
        ({"cc": 3}, "flows[0].cc: is 3; write its name, or a table with `type`"),
        ({"application": "Gredy"}, "flows[0].application.type: unknown application `Gredy`"),
        ({"source_port": 0}, "flows[0].source_port: input should be greater than or equal to 1"),
        ({"tcp": {"Mss": 9}}, "flows[0].tcp.Mss: TcpSocket has no attribute `Mss`"),
        (
            {"tcp": {"ns3::TcpL4Protocol::RecoveryType": "ns3::TcpPrrRecovery"}},
            "flows[0].tcp.ns3::TcpL4Protocol::RecoveryType: `ns3::TcpL4Protocol::RecoveryType` is "
            "no attribute of a socket; `recovery` of a flow takes it",
        ),
        ({"SocketType": "x"}, "flows[0].SocketType: is not a field here (did you mean `cc`?)"),
        (
            {"application": {"type": "ns3::BulkSendApplication"}},
            "flows[0].application.type: `ns3::BulkSendApplication` is ns-3's; write",
        ),
        (
            {"transport": "ns3::UdpSocketFactory"},
            'flows[0].transport: `ns3::UdpSocketFactory` is ns-3\'s; write "UDP"',
        ),
        ({"stop": "0s"}, "flows[0].stop: 0s is not after start (0s)"),
        ({"destination": "c"}, "flows[0].destination: there is no node `c`"),
    ],
)
def test_mistakes_in_a_flow(fields: dict[str, Any], expected: str) -> None:
    flow = {**small()["flows"][0], **fields}
    [problem] = problems(small(flows=[flow]))
    assert problem.startswith(expected)


def test_all_mistakes_come_together_whether_of_shape_or_of_meaning() -> None:
    link, flow = small()["links"][0], small()["flows"][0]
    found = problems(
        small(
            stop_time=1,
            seed=-1,
            links=[{**link, "rate": "3Mbs"}],
            flows=[{**flow, "cc": "cubik", "destination": "nobody", "strat": "1s"}],
        )
    )
    assert [each.partition(": ")[0] for each in found] == [
        "seed",
        "flows[0].strat",
        "stop_time",
        "links[0].rate",
        "flows[0].cc.type",
        "flows[0].destination",
    ]


def test_mistakes_in_a_file_are_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = TOML.replace('"1s"', '"soon"').replace('cc = "newreno"', 'cc = "x"')
    text = text.replace("loss = 0.1", "los = 0.1").replace('rate = "8Mbps"', 'rate = "fast"')
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(write(tmp_path, text))
    lines = [int(problem.place.rpartition(":")[2]) for problem in caught.value.problems]
    assert lines == [3, 15, 21, 31]


def test_the_error_survives_a_process_boundary() -> None:
    error = ScenarioError([("flows[0].stop", "too early"), ("seed", "negative", "x.toml:3")])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == "flows[0].stop: too early\nx.toml:3: seed: negative"


TOML = """\
# A comment with = and [brackets]
label = "dumb [[bell"
stop_time = "1s"
nodes = [
  "a",
  "b",   # here
]

[[links]]
name = "one"
ends = ["a", "b"]
rate = "16Mbps"
delay = "5ms"
[links.forward]
loss = 0.1
qdisc = { type = "fifo", attributes = { MaxSize = "20p" } }

[[links]]
name = "two"
ends = ["a", "b"]
rate = "8Mbps"
delay = "5ms"
[links.forward.qdisc]
type = "fifo"
[links.forward.qdisc.attributes]
limit = "20p"

[[flows]]
source = "a"
destination = "b"
cc = "newreno"
tcp.SegmentSize = 1448

[[flows]]
source = "a"
destination = "b"
cc.type = "newreno"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text)
    return path


def test_a_toml_file(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(write(tmp_path, TOML))
    assert [link.name for link in scenario.links] == ["one", "two"]
    assert scenario.canonical()["flows"][0]["tcp"] == {"SegmentSize": "1448"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('stop_time = "1s"', 'stop_time = "1"', "my.toml:3: stop_time: `1` has no unit"),
        ('stop_time = "1s"', "stop_time = 1", "my.toml:3: stop_time: `1` has no unit"),
        ('"b",   # here', '"a",', "my.toml:4: nodes[1]: `a` is already the name of nodes[0]"),
        ('rate = "8Mbps"', 'rate = "8mbps"', "my.toml:21: links[1].rate: `8mbps` is ambiguous"),
        ('rate = "8Mbps"\n', "", "my.toml:18: links[1].rate: is missing"),
        ("loss = 0.1", "loss = 2", "my.toml:15: links[0].forward.loss: 2 is not a probability"),
        ('MaxSize = "20p"', 'MaxSize = "0p"', "my.toml:16: links[0].forward.qdisc.attributes."),
        (
            'limit = "20p"',
            'limit = "0p"',
            "my.toml:26: links[1].forward.qdisc.attributes.",
        ),
        ("SegmentSize = 1448", "SegmentSize = 70000", "my.toml:32: flows[0].tcp.SegmentSize: 7"),
        ('cc.type = "newreno"', 'cc.type = "x"', "my.toml:37: flows[1].cc.type: `x` is not a"),
        ('cc.type = "newreno"', 'c = "x"', "my.toml:37: flows[1].c: is not a field here"),
        ('rate = "8Mbps"', "rate = 8Mbps", "my.toml:21: "),
    ],
)
def test_mistakes_in_a_file_name_the_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert TOML.count(old) == 1
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(write(tmp_path, TOML.replace(old, new)))
    assert any(line.startswith(expected) for line in str(caught.value).splitlines()), caught.value


def test_a_plan_is_not_a_scenario(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"my\.toml:1: experiment: this is a plan"):
        Scenario.from_toml(write(tmp_path, 'experiment = "ecn"\n'))


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(ScenarioError, match=r"my\.toml: not UTF-8"):
        Scenario.from_toml(path)


def test_a_file_that_windows_has_written(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(codecs.BOM_UTF8 + TOML.replace("\n", "\r\n").encode())
    assert Scenario.from_toml(path).hash == Scenario.from_toml(write(tmp_path, TOML)).hash


def test_the_registry_describes_every_parameter() -> None:
    tables = json.loads(_native.registry())
    kinds = ("cc", "qdisc", "recovery", "routing", "rate_control", "trimming")
    assert set(tables) == {*kinds, "socket", "changes", "releases"}
    specs = [spec for kind in kinds for spec in tables[kind]] + [tables["socket"]]
    for spec in specs:
        assert spec["doc"].endswith("."), spec["ns3"]
        for param in spec["params"]:
            assert {"ns3", "linux", "kind", "default", "doc"} <= set(param), (spec["ns3"], param)


@pytest.mark.parametrize("name", ["TcpNewReno", "ns3::TcpNewReno", "newreno", "NEWRENO"])
def test_an_algorithm_is_found_under_any_name(name: str) -> None:
    assert _native.resolve("cc", name) == "TcpNewReno"


def test_socket_attributes_are_those_of_ns3() -> None:
    """Against the attributes that were read out of ns-3 3.44; objects are none of a user's."""
    ns3 = json.loads((files("ccperf") / "data" / "ns3_attributes.json").read_text())
    classes = ("TcpSocket", "TcpSocketBase", "TcpSocketState")
    theirs = {name for cls in classes for name in ns3[cls][1]}
    objects = {"IcmpCallback", "IcmpCallback6", "TxBuffer", "RxBuffer"}
    objects |= {"CongestionOps", "RecoveryOps"}
    params = json.loads(_native.registry())["socket"]["params"]
    old = {param["ns3"] for param in params if not (param["is_own"] or param["since"])}
    assert old == theirs - objects
    assert {param["ns3"]: param["since"] for param in params if param["since"]} == {
        "Fack": "3.47",
        "UseAbe": "3.47",
    }
    own = {param["ns3"] for param in params if param["is_own"]}
    assert own == {
        "AccEcnOption",
        "EcnFeedback",
        "Profile",
        "ReorderingTolerance",
        "ResequencingTimeout",
        "SlowStart",
    }


def test_a_scenario_is_read_by_the_engine_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("lower", "canonical"):
        made = getattr(_native, name)
        monkeypatch.setattr(
            _native, name, lambda text, name=name, made=made: calls.append(name) or made(text)
        )
    scenario = Scenario(**small())
    for _ in range(2):
        scenario.lowered()
        scenario.canonical()["label"] = "changed by somebody"
        assert scenario.hash
    assert calls == ["canonical", "lower"]
    assert scenario.canonical()["label"] == ""
    assert scenario == Scenario(**small())
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_a_changed_copy_is_read_anew() -> None:
    scenario = Scenario(**small())
    scenario.lowered()
    changed = scenario.model_copy(update={"seed": 7})
    assert changed.canonical()["seed"] == 7
    assert json.loads(changed.lowered())["seed"] == 7
    assert changed.hash != scenario.hash


def test_a_file_is_read_in_time_linear_in_its_flows(tmp_path: Path) -> None:
    """300,000 flows took more than a minute, for a message about each."""

    def once(flows: int) -> float:
        path = tmp_path / f"{flows}.toml"
        flow = '[[flows]]\nsource = "a"\ndestination = "b"\ncc = "cubic"\n'
        link = '[[links]]\nname = "l"\nends = ["a", "b"]\nrate = "1Mbps"\ndelay = "1ms"\n'
        path.write_text(f'stop_time = "1s"\nnodes = ["a", "b"]\n{link}{flow * flows}')
        started = time.process_time()
        Scenario.from_toml(path).lowered()
        return time.process_time() - started

    def seconds(flows: int) -> float:
        """The least of three: garbage collection and other processes add to some of them."""
        return min(once(flows) for _ in range(3))

    once(50)
    assert seconds(2000) < 4 * 2.5 * seconds(500)
