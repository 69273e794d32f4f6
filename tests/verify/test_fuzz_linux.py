"""Random scenarios for the profile `linux` and the kernel: both can be told them, and what differs
is found, made small and said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ccperf.cli.verify
from ccperf import Scenario, _native
from ccperf.cli.app import invoke
from ccperf.runs import backends
from ccperf.runs.backends.linux import backend, build, stack
from ccperf.verify import fuzz_linux, linux_packets, shrinking
from ccperf.verify.fuzz import Draw
from ccperf.verify.fuzz_linux import CONTROLS, LinuxDraw, draws
from ccperf.verify.packets import Row

from .mutant import Mutant

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

NATIVE = backends.get("native")
SOURCE, DESTINATION, WINDOW, TS_VAL, TS_ECR, SACKS = map(
    Row._fields.index, ("source", "destination", "window", "ts_val", "ts_ecr", "sacks")
)


def test_the_same_seed_draws_the_same_and_none_depends_on_another() -> None:
    drawn = list(islice(draws(1), 20))
    assert drawn == list(islice(draws(1), 20))
    assert drawn != list(islice(draws(2), 20))
    assert fuzz_linux.draw(1, 13) == drawn[13]


def test_the_kernel_can_be_told_whatever_is_drawn_and_what_it_is_shrunk_to() -> None:
    """`stack.of` raises where Linux has no setting."""
    shrunk = 0
    for number, drawn in enumerate(islice(draws(3), 300)):
        stack.of(drawn.scenario().lowered())
        for smaller in drawn.smaller() if number % 20 == 0 else ():
            if shrinking.valid(smaller):
                stack.of(smaller.scenario().lowered())
                shrunk += 1
    assert shrunk > 300


def test_draws_have_what_both_sides_have_and_are_diverse() -> None:
    scenarios = [drawn.scenario() for drawn in islice(draws(4), 300)]
    flows = [flow for one in scenarios for flow in one.flows if flow.transport == "TCP"]
    assert {flow.cc.type for flow in flows if flow.cc} == set(CONTROLS)
    assert {flow.recovery for flow in flows} == {"TcpPrrRecovery"}
    assert {flow.tcp["Profile"] for flow in flows} == {"linux"}
    assert {flow.tcp["DelAckCount"] for flow in flows} == {"1", "2"}
    assert {flow.tcp["RcvBufSize"] for flow in flows} == {str(each) for each in _BUFFERS}
    sizes = {int(flow.tcp["SegmentSize"]) for flow in flows}
    assert min(sizes) == 536
    assert max(sizes) <= 1460
    assert len(sizes) > 10
    for name in ("UseEcn", "Timestamp", "WindowScaling"):
        assert len({flow.tcp.get(name) for flow in flows}) > 1, name
    assert not any(flow.receiver_stop for flow in flows)
    assert {flow.transport for one in scenarios for flow in one.flows} == {"TCP", "UDP"}
    assert any(one.pings for one in scenarios)
    ways = [way for one in scenarios for link in one.links for way in (link.forward, link.reverse)]
    assert {way.mtu for way in ways} == {"1500B"}
    for impairment in ("gilbert_elliott", "jitter", "reordering"):
        assert any(getattr(way, impairment) for way in ways), impairment


_BUFFERS = (131_072, 262_144, 1_000_000, 4_000_000, 16_000_000)


def test_a_full_segment_fits_the_mtu_with_its_timestamps() -> None:
    """What hosts cut into fragments is no comparison of two TCPs."""
    for drawn in islice(draws(6), 100):
        for flow in drawn.scenario().flows:
            if flow.transport == "TCP":
                options = 0 if flow.tcp.get("Timestamp") == "false" else 12
                assert int(flow.tcp["SegmentSize"]) + options + 40 <= 1500


def test_no_two_hosts_do_the_same_at_once() -> None:
    """Flows start apart, and timers that end on one tick are heard one after another."""
    most = 0
    for drawn in islice(draws(8), 100):
        scenario = drawn.scenario()
        starts = [flow.start for flow in scenario.flows if flow.transport == "TCP"]
        assert len({_native.parse_time(each) for each in starts}) == len(starts)
        sources = {flow.source for flow in scenario.flows}
        lengths = [
            _native.parse_time(link.delay) for link in scenario.links if link.name in sources
        ]
        assert len(set(lengths)) == len(lengths)
        most = max(most, len(lengths))
    assert most > 5


class Edited:
    """The engine, of whose packet trace lines are changed."""

    name, version = "edited", "1"

    def __init__(self, edit: Callable[[list[str]], Iterable[str]]) -> None:
        self.edit = edit

    def simulate(self, scenario: Scenario, *, packets: Path, progress: Any = None) -> Recording:
        recording = NATIVE.simulate(scenario, packets=packets, progress=progress)
        with packets.open() as file:
            lines = list(file)
        packets.write_text("".join(self.edit(lines)))
        return recording


def test_the_order_within_a_nanosecond_is_free() -> None:
    moved = 0

    def in_order_of_links(lines: list[str]) -> list[str]:
        nonlocal moved
        ordered = sorted(lines[1:], key=lambda row: (int(row.split(",")[0]), row))
        moved += sum(one != other for one, other in zip(lines[1:], ordered, strict=True))
        return [lines[0], *ordered]

    for drawn in islice(draws(2), 10):
        other = Edited(in_order_of_links)
        assert linux_packets.compare(drawn.scenario(), NATIVE, other).identical  # type: ignore[arg-type]
    assert moved > 10_000


def timestamps_moved(lines: list[str], by: int) -> Iterator[str]:
    """Each end counts from another number, close to where timestamps begin again."""
    yield lines[0]
    for line in lines[1:]:
        row = line.split(",")
        if row[TS_VAL]:
            own, other = (2**32 - by * int(row[end][:2]) for end in (SOURCE, DESTINATION))
            is_first = row[8].startswith("SYN") and "ACK" not in row[8]
            row[TS_VAL] = str((int(row[TS_VAL]) + own) % 2**32)
            row[TS_ECR] = "0" if is_first else str((int(row[TS_ECR]) + other) % 2**32)
        yield ",".join(row)


def test_timestamps_may_begin_anywhere_and_all_else_of_the_headers_is_compared() -> None:
    with_sacks = fuzz_linux.draw(2, 8).scenario()
    other = Edited(partial(timestamps_moved, by=3))
    assert linux_packets.compare(with_sacks, NATIVE, other).identical  # type: ignore[arg-type]

    def last(column: int, lines: list[str]) -> list[str]:
        """The last packet that has something there has it otherwise."""
        for at in reversed(range(1, len(lines))):
            row = lines[at].split(",")
            if row[column].strip():
                row[column] = "7-8\n" if column == SACKS else str(int(row[column]) + 1)
                return [*lines[:at], ",".join(row), *lines[at + 1 :]]
        raise AssertionError(column)

    for column, name in (
        (WINDOW, "window"),
        (TS_VAL, "ts_val"),
        (TS_ECR, "ts_ecr"),
        (SACKS, "sacks"),
    ):
        found = linux_packets.compare(with_sacks, NATIVE, Edited(partial(last, column)))  # type: ignore[arg-type]
        assert found.divergence is not None
        assert found.divergence.fields == (name,)


def test_a_flag_that_differs_is_found_and_made_small() -> None:
    """Without one of the last segments' PSH: nothing but the flags of a row differs."""

    def pushed(lines: list[str]) -> list[str]:
        return [line.replace("PSH|", "") for line in lines]

    drawn = next(one for one in draws(9) if len(one.drawn.flows) > 2)
    finding = shrinking.examine(3, drawn, NATIVE, Edited(pushed), None, linux_packets.compare)  # type: ignore[arg-type]
    small = finding.smallest
    assert small is not None
    assert small.divergence is not None
    assert small.divergence.fields == ("flags",)
    assert small.verdict == "packets differ"
    assert len(small.scenario.flows) == 1
    assert small.scenario.label == "fuzz/3"
    assert "PSH|ACK" in small.report()
    # What both senders were, in their last samples.
    assert small.state.splitlines()[0].startswith(
        "native, sender of flow_1, last sample before: cwnd"
    )
    assert len(small.state.splitlines()) == 2
    # It shows the same when it is run again.
    again = Scenario.model_validate(small.scenario.canonical())
    assert linux_packets.compare(again, NATIVE, Edited(pushed)).divergence == small.divergence  # type: ignore[arg-type]


def test_a_sender_that_differs_is_found_and_made_small() -> None:
    """Each segment is acknowledged: the smallest that shows it is one plain flow of Reno."""
    several = (one for one in draws(7) if len(one.drawn.flows) > 1)
    drawn = next(one for one in several if one.drawn.path["delayed_ack_count"] == 2)
    finding = shrinking.examine(0, drawn, NATIVE, Mutant(), None, linux_packets.compare)
    assert finding.smallest is not None
    (flow,) = finding.smallest.scenario.flows
    assert flow.cc is not None
    assert flow.cc.type == "TcpLinuxReno"
    assert finding.smallest.divergence is not None


def stand_in(monkeypatch: pytest.MonkeyPatch, judge: Any) -> None:
    """Let `verify` take something else for the kernel."""
    known = {"native": NATIVE, "linux": judge}
    monkeypatch.setattr(ccperf.cli.verify, "open_backend", known.__getitem__)


def test_status_0_if_all_are_identical(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, NATIVE)
    assert invoke(["verify", "linux", "--fuzz", "5", "--seed", "3", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == "5 of 5 scenarios packet-identical\n"


def test_status_1_and_what_differs_if_one_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, Mutant())
    words = ["verify", "linux", "--fuzz", "4", "--seed", "7"]
    assert invoke(words) == 1
    out = capsys.readouterr().out
    *_, again, last = out.splitlines()
    assert again == "again: ccperf verify linux --fuzz 4 --seed 7"
    count, *others = last.split()
    assert others == ["of", "4", "scenarios", "packet-identical"]
    # The scenario is there, to be run again.
    found = out[out.index("FILE.json`:\n") + len("FILE.json`:\n") :]
    scenario, _ = json.JSONDecoder().raw_decode(found)
    assert Scenario.model_validate(scenario).flows[0].tcp["Profile"] == "linux"
    assert invoke([*words, "--json"]) == 1
    entries = json.loads(capsys.readouterr().out)
    assert [entry["scenario"] for entry in entries] == [f"fuzz/{number}" for number in range(4)]
    same = [entry for entry in entries if entry["verdict"] == "identical"]
    assert len(same) == int(count) < 4
    assert all(entry["packets"] is None for entry in same)
    (first, *_) = (entry["packets"] for entry in entries if entry["packets"])
    assert first["ours"] != first["theirs"]


def test_a_kernel_that_does_not_get_to_the_end_is_no_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, Mutant(fails=True))
    assert invoke(["verify", "linux", "--fuzz", "2"]) == 0
    out = capsys.readouterr().out
    assert "seed 1, fuzz/0: aborted" in out
    assert out.endswith(
        "0 of 2 scenarios packet-identical; in 2 the kernel aborted, crashed or did not return\n"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--fuzz=-1"], "--fuzz"),
        (["--fuzz", "3", "--pattern", "ecn"], "one of --scenario, --full, --pattern, --fuzz"),
        (["--fuzz", "3", "--record", "x.json"], "takes one of --scenario, --pattern, --fuzz"),
        (["--fuzz", "3", "--jobs=-1"], "--jobs"),
        (["--fuzz", "3", "--profile", "ns3-3.48"], "--profile: `ns3-3.48`: random scenarios have"),
        (["--fuzz", "3", "--recovery", "TcpClassicRecovery"], "--recovery: `TcpClassicRecovery`"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert invoke(["verify", "linux", *words]) == 2
    assert says in capsys.readouterr().err


def test_without_a_kernel_the_message_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "check_host", lambda: None)
    monkeypatch.setattr(build, "current", lambda: None)
    monkeypatch.setattr(backend, "GUEST", Path(__file__))
    assert invoke(["verify", "linux", "--fuzz", "1"]) == 2
    assert "`ccperf linux build` makes one" in capsys.readouterr().err
    # Who has installed a wheel without one is not to build a kernel before that is said.
    monkeypatch.setattr(backend, "GUEST", Path("absent"))
    assert invoke(["verify", "linux", "--fuzz", "1"]) == 2
    assert "`make guest` builds it" in capsys.readouterr().err


PLAIN: dict[str, Any] = {"recovery": "TcpPrrRecovery"}
#: Drawn once, and written down: later draws of the same seed may be others.
EQUAL = {
    "rack": Draw(
        {
            "rate": "100000000bps",
            "seed": 785020,
            "access_delay": "2us",
            "qdisc": "BurstReleaseQueueDisc",
            "qlen": "1p",
            "qdisc_attributes": {"Interval": "10ms", "Quota": 14},
            "device_queue": "11p",
            "reverse": {"device_queue": "1p", "loss": 0.00217, "drop": [78, 94, 139, 183]},
            "stop_time": "961ms",
            "mss": 1448,
            "delayed_ack_count": 2,
            "buffer": 4_000_000,
            "tcp": {"UseEcn": "AcceptOnly"},
        },
        (
            {"rtts": "108us", "cc": "TcpLinuxReno", "tos": 8, "return_tos": 16, **PLAIN},
            {"rtts": "108us", "cc": "TcpLinuxReno", "starts": "1775182ns", **PLAIN},
        ),
    ),
    "lot": Draw(
        {
            "rate": "14818423bps",
            "seed": 668280,
            "qdisc": "BurstReleaseQueueDisc",
            "qlen": "19p",
            "qdisc_attributes": {"Interval": "6ms", "Quota": 18},
            "stop_time": "1622ms",
            "lot": {"hops": 4, "ways": [(0, 4), (0, 4), (0, 1), (2, 3)]},
            "mss": 1448,
            "delayed_ack_count": 2,
            "buffer": 16_000_000,
        },
        (
            {"rtts": "6720us", "cc": "TcpHybla", "starts": "273ms", "dscps": 1, **PLAIN},
            {"rtts": "8184us", "cc": "TcpLinuxReno", "starts": "2158728ns", **PLAIN},
            {
                "rtts": "9342us",
                "cc": "TcpHybla",
                "starts": "88008972ns",
                "applications": {"type": "Poisson", "write": "4000B", "rate": "951712bps"},
                **PLAIN,
            },
            {"rtts": "7076us", "cc": "TcpHybla", "starts": "5692520ns", "dscps": 1, **PLAIN},
        ),
    ),
    "datagrams": Draw(
        {
            "rate": "100000000bps",
            "seed": 219613,
            "qdisc": "BurstReleaseQueueDisc",
            "qlen": "9p",
            "qdisc_attributes": {"Interval": "5ms", "Quota": 1},
            "reverse": {
                "device_queue": "1p",
                "loss": 0.135809,
                "drop": [5, 38, 40, 43, 51, 67, 68, 90, 117, 120, 138, 140, 153, 159, 176],
                "rate": "36571399bps",
            },
            "stop_time": "961ms",
            "port": 65535,
            "mss": 1448,
            "delayed_ack_count": 2,
            "buffer": 4_000_000,
        },
        (
            {"rtts": "7442us", "cc": "TcpBic", "starts": "384ms", **PLAIN},
            {
                "rtts": "2512us",
                "transports": "UDP",
                "cc": None,
                "applications": {"type": "CBR", "write": "1473B", "rate": "429177bps"},
                "destinations": "shared",
            },
            {
                "rtts": "5414us",
                "cc": "TcpVegas",
                "applications": {"type": "CBR", "write": "4000B", "rate": "265096bps"},
                "starts": "4127452ns",
                **PLAIN,
            },
            {
                "rtts": "2512us",
                "transports": "UDP",
                "cc": None,
                "applications": {"type": "CBR", "write": "4000B", "rate": "6759625bps"},
                "destinations": "shared",
            },
        ),
    ),
    "echoes": Draw(
        {
            "rate": "32000000bps",
            "seed": 434040,
            "qdisc": "StepRedQueueDisc",
            "qlen": "252p",
            "forward": {"queue_limits": {"hold_time": "43796us"}},
            "stop_time": "1s",
            "pings": [
                {"source": "src_0", "destination": "dst_0", "interval": "360397us", "size": "56B"},
                {"source": "src_2", "destination": "dst_2", "interval": "651334us", "size": "56B"},
            ],
            "mss": 1448,
            "delayed_ack_count": 2,
            "buffer": 16_000_000,
            "tcp": {"UseEcn": "On"},
        },
        (
            {"rtts": "33184us", "cc": "TcpWestwoodPlus", **PLAIN},
            {"rtts": "33184us", "cc": "TcpCubic", "starts": "2261403ns", **PLAIN},
            {"rtts": "33184us", "cc": "TcpBic", "starts": "4055503ns", **PLAIN},
        ),
    ),
    "changes": Draw(
        {
            "rate": "150941904bps",
            "seed": 114324,
            "qdisc": "CobaltQueueDisc",
            "qlen": "293p",
            "device_queue": "12p",
            "stop_time": "311ms",
            "changes": [
                {
                    "time": "260ms",
                    "rate": "56068344bps",
                    "delay": "27267us",
                    "direction": "both",
                },
                {"time": "213ms", "rate": "308611890bps", "direction": "reverse"},
            ],
            "mss": 1000,
            "delayed_ack_count": 1,
            "buffer": 262_144,
        },
        ({"rtts": "11304us", "cc": "TcpHtcp", **PLAIN},),
    ),
}


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
@pytest.mark.parametrize(
    ("name", "rows"), list(zip(EQUAL, (1_000, 19_000, 3_000, 30_000, 50_000), strict=True))
)
def test_random_scenarios_whose_packets_are_the_kernels(name: str, rows: int) -> None:
    """All rows to the end, PSH included."""
    scenario = LinuxDraw(EQUAL[name]).scenario(name)
    comparison = linux_packets.compare(scenario, NATIVE, backends.get("linux"))
    assert comparison.identical, comparison.report()
    assert comparison.rows > rows
