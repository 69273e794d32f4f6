"""Queue disciplines of the kernel's: what they are told, and that the engine's links ask them when
they would ask their own, to the nanosecond."""

from __future__ import annotations

import csv
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf import Scenario
from ccperf.algorithms import registry
from ccperf.base import expression
from ccperf.errors import RunError, ScenarioError, UsageError
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.backends.linux import disciplines, stack, tc
from recordings import hash_of

LINUX = backends.get("linux")
#: One of each, with words where it cannot be without.
EACH: dict[str, dict[str, str]] = {name: {} for name in disciplines.DISCIPLINES} | {
    "red": {"avpkt": "1500", "limit": "60000", "min": "7500", "max": "22500"},
    "tbf": {"rate": "8Mbit", "burst": "3000", "latency": "20ms"},
    "netem": {"delay": "3ms 1ms 25%", "loss": "1%", "reorder": "2%", "limit": "30"},
    "cake": {"bandwidth": "9Mbit", "rtt": "20ms"},
}


def attributes(options: bytes) -> dict[int, bytes]:
    """The netlink attributes in some bytes: netlink(7)."""
    found = {}
    while options:
        length, kind = struct.unpack_from("=HH", options)
        found[kind] = options[4:length]
        options = options[(length + 3) // 4 * 4 :]
    return found


def number(value: bytes) -> int:
    return int.from_bytes(value, "little")


def numbers(options: bytes) -> dict[int, int]:
    return {kind: number(value) for kind, value in attributes(options).items()}


def told(qdisc: object) -> list[dict[str, Any]]:
    """What the guest is told of a dumbbell's bottleneck."""
    data = catalogue.get("dumbbell").scenario("TcpCubic").canonical()
    data["links"][0]["forward"]["qdisc"] = qdisc
    settings = stack.of(Scenario.model_validate(data).lowered()).settings
    found: list[dict[str, Any]] = settings["disciplines"]
    return found


@pytest.mark.parametrize(
    "qdisc",
    [
        "linux:fq_codel limit 1000 target 5ms ecn",
        "linux:fq_codel(limit=1000,target=5000us,ecn=true)",
        "linux:fq_codel:limit=1000:target=5000:ecn=true",
        {"type": "linux:fq_codel", "attributes": {"limit": 1000, "target": "5ms", "ecn": True}},
    ],
)
def test_all_spellings_of_a_discipline_say_the_same(qdisc: object) -> None:
    """The numbers are those of <linux/pkt_sched.h>: target 1, limit 2, ecn 4."""
    (found,) = told(qdisc)
    assert found["kind"] == "fq_codel"
    assert numbers(bytes(found["options"])) == {2: 1000, 1: 5000, 4: 1}


def test_words_without_values_stand_alone_and_others_have_several() -> None:
    assert expression.parse("linux:netem delay 10ms 2ms 25% loss 1% ecn") == (
        "linux:netem",
        {"delay": "10ms 2ms 25%", "loss": "1%", "ecn": "true"},
    )


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("tc qdisc add dev eth0 root fq_codel limit 1000 ecn", "linux:fq_codel limit 1000 ecn"),
        ("sudo tc qdisc replace root dev eth0 handle 1: codel", "linux:codel"),
        ("tc qdisc change dev eth0 parent 1:1 pie target 10ms", "linux:pie target 10ms"),
    ],
)
def test_a_whole_command_of_tcs_is_its_discipline(command: str, plain: str) -> None:
    assert expression.parse(command) == expression.parse(plain)
    assert expression.bare(command) == expression.bare(plain)
    # What is no such command stays a name, which nobody knows.
    assert expression.parse("tc class add dev eth0 root htb")[0].startswith("tc class")


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (tc.us, "5ms", 5000),
        (tc.us, "250", 250),
        (tc.ns, "1.5us", 1500),
        (tc.rate, "10Mbit", 1_250_000),
        (tc.rate, "64kbit", 8000),
        (tc.rate, "8000", 1000),
        (tc.rate, "2Mibit", 2 * 1024 * 1024 / 8),
        (tc.size, "1500", 1500),
        (tc.size, "15kb", 15 * 1024),
        (tc.size, "32kbit", 4096),
        (tc.size, "1gb", 1024**3),
        (tc.share, "2%", 0.02),
        (tc.probability, "0.02", 0.02),
    ],
)
def test_units_are_those_of_tc(read: Any, text: str, value: float) -> None:
    assert read(text) == pytest.approx(value, rel=1e-12)


def test_the_limit_of_every_backend_is_one_in_the_words_of_each_discipline() -> None:
    """`MaxSize`, which experiments set; where Linux counts bytes, of packets of full size."""
    for kind, expected in (("pie", {2: 20}), ("dualpi2", {1: 20}), ("cake", {10: 20 * 2304})):
        (found,) = told({"type": f"linux:{kind}", "attributes": {"MaxSize": "20p"}})
        assert numbers(bytes(found["options"])) == expected
    (found,) = told({"type": "linux:bfifo", "attributes": {"MaxSize": "20p"}})
    assert number(bytes(found["options"])) == 20 * 1500
    (found,) = told({"type": "linux:pfifo_fast", "attributes": {"MaxSize": "20p"}})
    assert (found["options"], found["queue"]) == ([], 20)
    both = {"MaxSize": "20p", "limit": "7"}
    (found,) = told({"type": "linux:pfifo", "attributes": both})
    assert number(bytes(found["options"])) == 7, "what is said in tc's words counts more"


def test_red_has_the_weight_for_its_burst_and_tcs_shifts_for_idle_time() -> None:
    """Floyd and Jacobson, section 5: min 5 packets, a burst of 8: 1/8 lets it pass, 1/4 does not.

    After so many cells the average shrinks by -ln(1 - 1/8) for each packet that could have been
    sent at tc's 10 Mbit, 1.2 ms or 18,750 ticks of 64 ns each.
    """
    words = {"limit": "60000", "min": "7500", "max": "22500", "avpkt": "1500", "burst": "8"}
    found = attributes(disciplines.options_of("red", words, "red"))
    weight, cell_log = found[1][12], found[1][14]
    assert weight == 3
    for cell in (1, 100, 254):
        packets = (cell << cell_log) / 18_750
        assert found[2][cell] == min(31, int(packets * 0.1335313926))


@pytest.mark.parametrize(
    ("qdisc", "field", "fix"),
    [
        ("linux:fq_codel limt 3", "qdisc.limt", "did you mean `limit`?"),
        ("linux:fq_codel limit 3ms", "qdisc.limit", "a number of packets"),
        ("linux:fq_codel target 5Mbit", "qdisc.target", "5ms"),
        ("linux:fq_codel ecn 1", "qdisc.ecn", "has no value"),
        ("linux:cake bandwidth 10Mbps", "qdisc.bandwidth", "Mbps are megabytes to tc"),
        ("linux:dualpi2 coupling_factor 300", "qdisc.coupling_factor", "255"),
        ("linux:netem corrupt 1%", "qdisc.corrupt", "leave it out"),
        ("linux:netem loss 200%", "qdisc.loss", "100% is the most"),
        # In tc these are 0.02 %, 100 ns and 200 %.
        ("linux:netem loss 0.02", "qdisc.loss", "2%, with the sign"),
        ("linux:netem delay 100", "qdisc.delay", "5ms, with its unit"),
        ("linux:red limit 60000 avpkt 1000 probability 2%", "qdisc.probability", "0.02, without"),
        ("linux:tbf rate 1Mbit", "qdisc", "`burst`"),
        ("linux:red", "qdisc", "`limit`"),
        ({"type": "linux:pie", "attributes": {"MaxSize": "9kB"}}, "qdisc.MaxSize", "in packets"),
    ],
)
def test_what_cannot_be_told_is_an_error_with_field_and_fix(
    qdisc: object, field: str, fix: str
) -> None:
    with pytest.raises(UsageError) as error:
        told(qdisc)
    assert str(error.value).startswith(f"btl.forward.{field}: ")
    assert fix in str(error.value)


def test_a_device_with_several_queues_and_children_are_refused() -> None:
    data = catalogue.get("dumbbell").scenario("TcpCubic").canonical()
    data["links"][0]["forward"] |= {"qdisc": "linux:pfifo", "device_queues": 2}
    with pytest.raises(UsageError, match="a device with one queue"):
        stack.of(Scenario.model_validate(data).lowered())
    inside = {"type": "linux:prio", "children": [{"type": "fifo"}, {"type": "fifo"}]}
    with pytest.raises(UsageError, match="cannot have children"):
        told(inside)


def test_the_engine_knows_their_names() -> None:
    for name in disciplines.DISCIPLINES:
        assert registry.resolve("qdisc", f"linux:{name}") == f"linux:{name}"
    with pytest.raises(ValueError, match="there are ") as error:
        registry.resolve("qdisc", "linux:htb")
    assert str(error.value).endswith(f"there are {', '.join(disciplines.DISCIPLINES)}")
    with pytest.raises(ScenarioError, match="did you mean `fq_codel`"):
        told("linux:fq_codle")


@pytest.mark.parametrize("name", ["native", "ns3"])
def test_other_backends_refuse_it(name: str) -> None:
    data = catalogue.get("dumbbell").scenario("TcpCubic").canonical()
    data["links"][0]["forward"]["qdisc"] = "linux:fq_codel"
    with pytest.raises(UsageError, match="cannot run linux:fq_codel: it needs the backend `linux`"):
        backends.get(name).prepare(Scenario.model_validate(data))


def mixed(qdisc: object, stop: str) -> Scenario:
    """TCP, UDP with three kinds of ECN field and a ping over a bottleneck of 16 Mbps."""
    hosts = [f"h{number}" for number in range(4)]
    links: list[dict[str, Any]] = [
        {"name": host, "ends": [host, "left"], "rate": "1Gbps", "delay": "1ms"} for host in hosts
    ]
    own = {"qdisc": qdisc, "device_queue": "1p"}
    bottleneck = {"name": "btl", "ends": ["left", "right"], "rate": "16Mbps", "delay": "4ms"}
    links.append({**bottleneck, "forward": own, "reverse": own})
    links.append({"name": "d", "ends": ["right", "sink"], "rate": "1Gbps", "delay": "1ms"})
    to_sink = {"destination": "sink"}
    app = {"type": "OnOff", "rate": "9Mbps", "write": "900B", "on_time": "43ms", "off_time": "59ms"}
    udp: dict[str, Any] = {
        **to_sink,
        "transport": "UDP",
        "application": app,
        "start": "10.000123ms",
    }
    tcp = {"SegmentSize": "1448", "SndBufSize": "200000", "RcvBufSize": "1000000"}
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "nodes": [*hosts, "left", "right", "sink"],
            "links": links,
            "flows": [
                {**to_sink, "source": "h0", "cc": "TcpCubic", "tcp": tcp},
                {"source": "sink", "destination": "h0", "cc": "TcpNewReno", "tcp": tcp},
                *({**udp, "source": f"h{tos + 1}", "tos": tos} for tos in (0, 1, 2)),
            ],
            "pings": [{**to_sink, "source": "h1", "interval": "7ms"}],
        }
    )


def rows(made: Scenario, folder: Path, link: str = "") -> list[dict[str, str]]:
    """The packet trace of a run, of one direction or of all."""
    file = folder / "packets.csv"
    LINUX.simulate(made, packets=file)
    with file.open() as lines:
        return [row for row in csv.DictReader(lines) if not link or row["link"] == link]


def without_reasons(found: list[dict[str, str]]) -> list[tuple[str, ...]]:
    return [tuple(value for name, value in row.items() if name != "reason") for row in found]


#: The kernel's, and the engine's that does the same.
ALIKE = {
    "a limit in packets": ("linux:pfifo limit 20", "FifoQueueDisc(MaxSize=20p)"),
    "a limit in bytes": ("linux:bfifo limit 20000", "FifoQueueDisc(MaxSize=20000B)"),
    "CoDel": ("linux:codel limit 90", "CoDelQueueDisc(MaxSize=90p)"),
}


@pytest.mark.parametrize("what", ALIKE)
@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_discipline_of_the_kernels_is_one_of_the_engines_packet_by_packet(
    what: str, tmp_path: Path
) -> None:
    """So each packet comes and goes at the same nanosecond as if the kernel had no part in it."""
    theirs, ours = (without_reasons(rows(mixed(qdisc, "3s"), tmp_path)) for qdisc in ALIKE[what])
    assert any("drop" in row for row in ours)
    assert theirs == ours


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_each_discipline_keeps_account_of_its_packets_and_repeats_itself(kind: str) -> None:
    """After the last packet has come each is sent or dropped; a second run has the same bytes."""
    data = mixed({"type": f"linux:{kind}", "attributes": EACH[kind]}, "2s").canonical()
    for sender in [*data["flows"], *data["pings"]]:
        sender["stop"] = "400ms"
    made = Scenario.model_validate(data)
    first, again = (LINUX.simulate(made) for _ in range(2))
    assert hash_of(first) == hash_of(again)
    links, drops = first.tables["links"], first.tables["drops"]
    for way in ("btl_forward", "btl_reverse"):
        (place,) = np.flatnonzero(np.array(links["name"]) == way)
        taken_out = (np.array(drops["link"]) == way) & (
            np.array(drops["verdict"]) == "drop_after_dequeue"
        )
        sent, dropped = links.array("tx_packets")[place], drops.array("packets")[taken_out].sum()
        assert links.array("qdisc_enqueued")[place] == sent + dropped
        assert sent > 100


def alone(qdisc: object, rate: str, stop: str = "1s") -> Scenario:
    """One source of UDP over a link of 1 Gbps."""
    application = {"type": "CBR", "rate": rate, "write": "972B"}
    flow = {"source": "a", "destination": "b", "transport": "UDP", "application": application}
    link = {"name": "btl", "ends": ["a", "b"], "rate": "1Gbps", "delay": "1ms"}
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "nodes": ["a", "b"],
            "links": [{**link, "forward": {"qdisc": qdisc, "device_queue": "1p"}}],
            "flows": [flow],
        }
    )


def times(found: list[dict[str, str]], event: str) -> dict[str, int]:
    """When it happened to each packet, by its number."""
    return {row["seq"]: int(row["time_ns"]) for row in found if row["event"] == event}


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_what_waits_for_a_time_of_its_own_leaves_at_that_nanosecond(tmp_path: Path) -> None:
    """`netem delay 10ms`, while the link is idle."""
    found = rows(alone("linux:netem delay 10ms", "3Mbps"), tmp_path, "btl_forward")
    came, left = times(found, "enqueue"), times(found, "tx")
    assert len(left) > 300
    assert {left[packet] - came[packet] for packet in left} == {10_000_000}


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_token_bucket_lets_no_more_pass_than_its_law_says(tmp_path: Path) -> None:
    """`rate 8Mbit burst 3000`: of packets of 1000 bytes one a millisecond, after a burst.

    In t ms no more than 3 + t of them pass, and once the bucket is empty exactly one each.
    """
    made = alone("linux:tbf rate 8Mbit burst 3000 limit 20000", "20Mbps")
    left = np.array(sorted(times(rows(made, tmp_path, "btl_forward"), "tx").values()))
    assert np.all(np.arange(1, len(left) + 1) <= 3 + (left - left[0]) / 1e6)
    assert set(np.diff(left[10:]).tolist()) == {1_000_000}


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_netem_loses_the_share_that_it_is_told() -> None:
    recording = LINUX.simulate(alone("linux:netem loss 5%", "40Mbps", "4s"))
    links = recording.tables["links"]
    sent, lost = links.array("tx_packets")[0], links.array("qdisc_dropped")[0]
    expected = 0.05 * (sent + lost)
    assert abs(lost - expected) < 4 * math.sqrt(0.95 * expected)


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_what_the_kernel_refuses_it_says_itself() -> None:
    made = alone("linux:fq_codel flows 70000", "1Mbps")
    with pytest.raises(RunError, match="the kernel does not take this discipline"):
        LINUX.simulate(made)
