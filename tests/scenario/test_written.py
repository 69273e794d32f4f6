"""Networks in ten lines, and scenarios that are checked when they are made."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Optional

import pytest

from ccperf.cli.app import invoke
from ccperf.errors import CcperfError, ScenarioError
from ccperf.experiments.topologies import (
    SwitchPort,
    leaf_spine,
    parking_lot,
    star,
    written,
)
from ccperf.experiments.topologies.leaf_spine import SlowLinks
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.scenario import Scenario, ScenarioWarning

DUMBBELL = """
stop_time = "300ms"
[dumbbell]
rate = "16Mbps"
qlen = "20p"
rtts = ["15ms", "30ms"]
cc = ["cubic", "bbr"]
"""
PARKING_LOT = """
stop_time = "300ms"
[parking_lot]
rate = "16Mbps"
rtt = "30ms"
qlen = "20p"
hops = 3
cc = "cubic"
"""
STAR = """
stop_time = "10ms"
[star]
hosts = 9
link = { rate = "1Gbps", delay = "5us" }
[[flows]]
source = "h_0"
destination = "h_8"
cc = "dctcp"
"""
LEAF_SPINE = """
stop_time = "5ms"
routing = "ecmp"
[leaf_spine]
leaves = 2
spines = 2
servers = 2
[[workloads]]
name = "web"
stack = "dc"
sizes = "WebSearch"
arrivals = { type = "Poisson", load = 0.5 }
[[stacks]]
name = "dc"
cc = "dctcp"
"""


def slow(fields: str) -> str:
    return LEAF_SPINE.replace("servers = 2", f"servers = 2\nslow = {{ {fields} }}")


def read(folder: Path, text: str) -> Scenario:
    path = folder / "mine.toml"
    path.write_text(text)
    return written.read(path)


@pytest.mark.parametrize("text", [DUMBBELL, PARKING_LOT, STAR, LEAF_SPINE])
def test_networks_in_ten_lines_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    read(tmp_path, text)
    assert invoke(["run", "mine.toml"]) == 0


def test_they_are_what_python_makes_of_the_same(tmp_path: Path) -> None:
    common: dict[str, Any] = {"stop_time": "300ms", "rate": "16Mbps", "qlen": "20p"}
    flows = {"rtts": ["15ms", "30ms"], "cc": ["cubic", "bbr"]}
    assert read(tmp_path, DUMBBELL) == dumbbell(**common, **flows)
    assert read(tmp_path, PARKING_LOT) == parking_lot(**common, rtt="30ms", hops=3, cc="cubic")
    assert read(tmp_path, STAR).nodes == star(9).nodes
    parts = 'share = 0.5, rate = "1Gbps", seed = 3 }\nfabric_port = { device_queue = "3p"'
    slower, port = SlowLinks(0.5, "1Gbps", 3), SwitchPort(device_queue="3p")
    flow = {"source": "h_0_0", "destination": "h_1_0", "cc": "dctcp"}
    same = leaf_spine(2, 2, 2, slow=slower, fabric_port=port).scenario([flow], stop_time="5ms")
    assert read(tmp_path, slow(parts)).links == same.links


@pytest.mark.parametrize("text", [DUMBBELL, PARKING_LOT, STAR, LEAF_SPINE])
def test_sysctls_of_hosts_stand_beside_any_network(tmp_path: Path, text: str) -> None:
    made = read(tmp_path, text + "[linux]\ntcp_sack = 0\n")
    assert made.linux == {"net.ipv4.tcp_sack": "0"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DUMBBELL.replace("qlen", "qlenn"), "mine.toml:5: dumbbell.qlenn: unknown setting"),
        (DUMBBELL.replace('qlen = "20p"\n', ""), "mine.toml:3: dumbbell: lacks `qlen`"),
        (DUMBBELL + '[[flows]]\nsource = "a"\n', "flows: unknown field beside [dumbbell]"),
        (DUMBBELL + STAR.partition("\n")[2].partition("\n")[2], "star: a file has one network"),
        (STAR.replace("rate", "rat"), "star.link.rat: unknown field"),
        (STAR.replace("hosts = 9", "hosts = 1"), "hosts: 1 makes no network"),
        (LEAF_SPINE.replace("spines = 2", "spins = 2"), "did you mean `spines`?"),
        (STAR.replace("hosts = 9", ""), "mine.toml:3: star: lacks `hosts`"),
        (STAR.replace("9", '"9"'), "mine.toml:4: star.hosts: is '9'; write a whole number"),
        (STAR.replace("9", "true"), "star.hosts: is True; write a whole number"),
        (STAR.replace("9", '9\ndelays = "5us"'), "star.delays: is '5us'; write a list, [...]"),
        (STAR.replace("9", "9\nport = 3"), "star.port: is 3; write a table, {...}"),
        (STAR.replace('"1Gbps"', "1"), "mine.toml:5: star.link.rate: `1` has no unit"),
        (slow("share = 0.5"), "leaf_spine.slow: lacks `rate`"),
        (slow('share = "a", rate = "1Gbps"'), "slow.share: is 'a'; write a number"),
        (slow('share = 1, rat = "1Gbps"'), "leaf_spine.slow.rat: unknown field `rat`"),
        (slow('share = 2, rate = "1Gbps"'), "mine.toml:8: leaf_spine.slow.share: 2 is not a share"),
        (LEAF_SPINE.replace("leaves = 2", "leaves = 0"), "leaf_spine.leaves: 0 makes no network"),
        (PARKING_LOT.replace("hops = 3", ""), "parking_lot: lacks `hops`"),
        (PARKING_LOT.replace("3\n", '"3"\n'), "parking_lot.hops: is '3'; write a whole number"),
        (PARKING_LOT.replace('"30ms"', "30"), "rtt: `30` has no unit"),
        (DUMBBELL.replace("rtts", "access_delay = 3\nrtts"), "access.delay: `3` has no unit"),
        (DUMBBELL + 'flows = "2"\n', "dumbbell.flows: is '2'; write a whole number"),
        (DUMBBELL + "tcp = 2\n", "dumbbell.tcp: is 2; write a table, {...}"),
    ],
)
def test_mistakes_name_the_setting(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(tmp_path, text)
    assert says in str(error.value)


def plain(**changes: Any) -> dict[str, Any]:
    link = {"name": "wire", "ends": ["a", "b"], "rate": "20Mbps", "delay": "5ms"}
    flow = {"source": "a", "destination": "b", "cc": "cubic"}
    return {"stop_time": "2s", "nodes": ["a", "b"], "links": [link], "flows": [flow], **changes}


def test_a_scenario_that_makes_no_sense_cannot_be_made() -> None:
    link = {"name": "wire", "ends": ["a", "b"], "rate": "20mbps", "delay": "5"}
    flow = {"source": "a", "destination": "c", "cc": "cubicc"}
    with pytest.raises(ScenarioError) as error:
        Scenario(**plain(stop_time="2", links=[link], flows=[flow]))
    paths = {problem.path for problem in error.value.problems}
    wrong = {"stop_time", "links[0].rate", "links[0].delay", "flows[0].cc.type"}
    assert wrong <= paths
    assert "flows[0].destination" in paths


def test_misspelt_fields_do_not_hide_what_else_is_wrong() -> None:
    link = {"name": "wire", "ends": ["a", "b"], "rate": "20mbps", "delay": "5ms", "los": 0.1}
    with pytest.raises(ScenarioError) as error:
        Scenario(**plain(links=[link], lable="x"))
    assert {problem.path for problem in error.value.problems} == {
        "lable",
        "links[0].los",
        "links[0].rate",
    }


def test_a_change_of_both_directions_that_differ_is_warned_about() -> None:
    link = {**plain()["links"][0], "reverse": {"rate": "1Mbps"}}
    change = {"time": "1s", "link": "wire", "rate": "5Mbps"}
    with pytest.warns(ScenarioWarning, match=r"both directions of `wire` 5Mbps.*20Mbps forward"):
        Scenario(**plain(links=[link], changes=[change]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for harmless in (
            plain(links=[link], changes=[{**change, "direction": "both"}]),
            plain(links=[link], changes=[{"time": "1s", "link": "wire", "loss": 0.1}]),
            plain(changes=[change]),
        ):
            made = Scenario(**harmless)
            Scenario.model_validate_json(made.model_dump_json())


@pytest.mark.filterwarnings("default")
def test_the_command_line_says_it_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(
        'stop_time = "2s"\nnodes = ["a", "b"]\n'
        '[[links]]\nname = "wire"\nends = ["a", "b"]\nrate = "20Mbps"\ndelay = "5ms"\n'
        'reverse = { rate = "1Mbps" }\n'
        '[[changes]]\ntime = "1s"\nlink = "wire"\nrate = "5Mbps"\n'
        '[[flows]]\nsource = "a"\ndestination = "b"\ncc = "cubic"\n'
    )
    assert invoke(["run", "s.toml", "-n"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: changes[0]: gives both directions of `wire` 5Mbps")
    assert err.count("warning:") == 1


def test_the_limit_of_a_discipline_may_stand_in_place_of_the_queues(tmp_path: Path) -> None:
    def bottleneck(queue: str) -> Any:
        text = DUMBBELL.replace('qlen = "20p"', queue)
        return read(tmp_path, text).canonical()["links"][0]["forward"]["qdisc"]["attributes"]

    with_limit = bottleneck('qlen = "7p"\nqdisc = "codel"')
    assert with_limit["MaxSize"] == "7p"
    assert bottleneck('qdisc = "codel(limit=7p)"') == with_limit
    assert bottleneck('qdisc = "codel"\nqdisc_attributes = { MaxSize = "7p" }') == with_limit
    with pytest.raises(ScenarioError, match="lacks `qlen`"):
        bottleneck('qdisc = "codel"')
    with pytest.raises(ScenarioError, match="qlen: `20p`, and codel has a limit, too, MaxSize=7p"):
        bottleneck('qlen = "20p"\nqdisc = "codel"\nqdisc_attributes = { limit = "7p" }')


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (slow('share = 0.5, rate = "1Gbs"'), "leaf_spine.slow.rate"),
        (
            slow('share = 0.5, rate = "1Gbps" }\nfabric_link_of = { delay = "9"'),
            "leaf_spine.fabric_link_of.delay",
        ),
        (STAR.replace("= 9", '= 3\ndelays = ["1us", "x", "2us"]'), "star.delays[1]"),
    ],
)
def test_a_mistake_in_links_is_told_at_the_setting_that_has_it(
    tmp_path: Path, text: str, path: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        read(tmp_path, text)
    said = {each.path for each in error.value.problems if "links[" in each.path or "." in each.path}
    assert path in said
    assert not any(each.startswith("links[") for each in said)


def test_a_mistake_in_a_port_is_told_once(tmp_path: Path) -> None:
    """And not of each of the links that have such a port."""
    wrong = {"type": "codel", "attributes": {"Target": "-5ms", "Nothing": "1"}}
    written_out = '{ type = "codel", attributes = { Target = "-5ms", Nothing = "1" } }'
    text = LEAF_SPINE.replace("servers = 2", f"servers = 2\nport = {{ qdisc = {written_out} }}")
    with pytest.raises(ScenarioError) as error:
        read(tmp_path, text)
    assert sorted(each.path for each in error.value.problems) == [
        "leaf_spine.port.qdisc.attributes.Nothing",
        "leaf_spine.port.qdisc.attributes.Target",
    ]
    assert {each.place for each in error.value.problems} == {"mine.toml:8"}
    flow = {"source": "h_0_0", "destination": "h_1_0", "cc": "dctcp"}
    made = leaf_spine(2, 2, 2, port=SwitchPort(wrong))
    with pytest.raises(ScenarioError) as error:
        made.scenario([flow], stop_time="5ms")
    # Four hosts' links have it on one side, four others on both.
    assert [each.path for each in error.value.problems] == [
        "links[0].reverse.qdisc.attributes.Nothing",
        "links[0].reverse.qdisc.attributes.Target",
    ]
    assert all("(as in 11 more)" in each.message for each in error.value.problems)


def test_a_file_that_is_not_there_is_an_error_of_both_kinds(tmp_path: Path) -> None:
    for read_file in (Scenario.from_toml, written.read):
        with pytest.raises(CcperfError) as error:
            read_file(tmp_path / "gone.toml")
        assert isinstance(error.value, FileNotFoundError)
        assert str(error.value) == f"there is no file {tmp_path / 'gone.toml'}"
        assert error.value.filename == str(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("qdisc", "fate"), [("tbf", "wait without end"), ("police", "are dropped")]
)
def test_a_bucket_that_holds_no_packet_is_pointed_out(qdisc: str, fate: str) -> None:
    """It makes sense where packets are small, as ns-3 takes it."""

    def over(burst: str, **fields: Any) -> Scenario:
        own = {"type": qdisc, "attributes": {"burst": burst}}
        (link,) = plain()["links"]
        return Scenario.model_validate(plain(links=[{**link, "reverse": {"qdisc": own, **fields}}]))

    says = f"links\\[0\\].reverse.qdisc.attributes.burst: packets of more than 1499 B {fate}, and"
    with pytest.warns(ScenarioWarning, match=says):
        over("1499")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        over("1500")
        over("576", mtu="576B")


@pytest.mark.parametrize(
    ("qdisc", "says"),
    [
        ("fifo(limit=1499B)", "limit: packets of more than 1499 B are dropped, and"),
        ("codel(MaxSize=1kB)", "MaxSize: packets of more than 1000 B are dropped, and"),
        ("red(limit=100kB)", "MaxTh: 15 is in bytes, as MaxSize is, 100000B, and less"),
        ("red(limit=100p,MinTh=30000,MaxTh=90000)", "MinTh: 30000 is in packets, as MaxSize"),
        ("red(limit=5p)", "MinTh: 5 is in packets, as MaxSize is, and not below it, 5p"),
        ("step_red(limit=20p)", "MarkingThreshold: 65p is not below MaxSize, 20p"),
        ("step_red(limit=20p,k=20p)", "k: 20p is not below MaxSize, 20p"),
        (
            "marking_red(KMin=30kB,KMax=40kB,limit=30kB)",
            "KMin: 30000B is not below MaxSize, 30000B",
        ),
        ("codel(ce_threshold=1ms)", "ce_threshold: marks nothing without UseEcn = true"),
        ("fq_codel(ecn=0,CeThreshold=1ms)", "CeThreshold: marks nothing without UseEcn = true"),
        ("pie(ce_threshold=1ms,ecn=1)", "ce_threshold: marks L4S packets only, and these"),
        ("fq_pie(ce_threshold=1ms)", "ce_threshold: marks L4S packets only, and these"),
        ("codel(ce_threshold=1ms,ecn=1)", ""),
        ("fq_cobalt(ce_threshold=1ms)", ""),
        ("pie(ce_threshold=1ms,UseL4s=true)", ""),
        (
            "pie(limit=20p)",
            "QueueDelayReference: 15ms is about as long as a full queue",
        ),
        (
            "codel(limit=20p,target=20ms)",
            "target: 20ms is about as long as a full queue",
        ),
        (
            "tcn(limit=3kB,threshold=2ms)",
            "threshold: 2ms is about as long as a full queue",
        ),
        ("pie(limit=20p,target=5ms)", ""),
        ("codel(limit=20p)", ""),
        ("fq_codel(limit=20p,target=20ms)", ""),
        ("codel(target=20s)", ""),
        ("fifo(limit=1500B)", ""),
        ("red(limit=100kB,MinTh=7500,MaxTh=22500)", ""),
        ("red(limit=100kB,MinTh=0,MaxTh=0)", ""),
        ("red(limit=100kB,ARED=true)", ""),
        ("red", ""),
        ("step_red(limit=20p,k=19p)", ""),
        ("step_red(limit=20p,K=60kB)", ""),
        ("prio", ""),
    ],
)
def test_a_length_that_leaves_a_discipline_nothing_to_do_is_pointed_out(
    qdisc: str, says: str
) -> None:
    (link,) = plain()["links"]
    one = plain(links=[{**link, "reverse": {"qdisc": qdisc}}])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Scenario.model_validate(one)
    texts = [str(each.message) for each in found]
    assert len(texts) == bool(says), texts
    assert all(f"links[0].reverse.qdisc.attributes.{says}" in text for text in texts)


def test_how_long_a_full_queue_lasts_is_said() -> None:
    (link,) = plain()["links"]
    with pytest.warns(ScenarioWarning, match=r"lasts \(20p at 20Mbps: 12 ms\), or longer"):
        Scenario.model_validate(plain(links=[{**link, "forward": {"qdisc": "pie(limit=20p)"}}]))
    later = [{"link": "wire", "time": "1s", "rate": "1Mbps"}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        queue = {"qdisc": "pie(limit=20p)"}
        Scenario.model_validate(plain(links=[{**link, "forward": queue}], changes=later))
        slow = {**queue, "rate": "1Mbps"}
        Scenario.model_validate(plain(links=[{**link, "forward": slow}]))


def test_what_many_ports_have_is_pointed_out_once() -> None:
    made = leaf_spine(2, 2, 2, port=SwitchPort({"type": "fifo", "attributes": {"limit": "1kB"}}))
    flow = {"source": "h_0_0", "destination": "h_1_0", "cc": "dctcp"}
    with pytest.warns(ScenarioWarning, match=r"\(as in 11 more\)") as found:
        made.scenario([flow], stop_time="5ms")
    assert len(found) == 1


def test_parts_are_read_where_python_3_10_says_optional(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It puts `Optional` around the hints of what has None for a default."""
    hints = written.get_type_hints

    def as_there(of: Any) -> dict[str, Any]:
        return {name: Optional[hint] for name, hint in hints(of).items()}  # noqa: UP045

    monkeypatch.setattr(written, "get_type_hints", as_there)
    made = read(tmp_path, STAR)
    assert made.links[0].rate == "1Gbps"
