"""The engine's profile ``linux`` beside the kernel itself: where their segments part."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from copy import deepcopy
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools import linux_and_ns3

from ccperf.experiments.catalogue import REGISTRY
from ccperf.runs.backends import Backend, get
from ccperf.runs.backends.linux import backend
from ccperf.scenario import Scenario
from ccperf.verify import linux

from .linux_paths import OF_LINUX, SIZES, scenario

#: What a path may do that costs a timeout: its delay grows tenfold or more, and all is only late;
#: the same, and a third is lost, as at a handover; nothing gets through, for a while.
TIMEOUTS: dict[str, list[dict[str, Any]]] = {
    "step": [{"time": "1s", "delay": "200ms"}],
    "leap": [{"time": "1s", "delay": "400ms"}],
    "handover": [
        {"time": "1s", "delay": "200ms", "loss": 0.3},
        {"time": "1.1s", "loss": 0.0},
    ],
    "outage": [{"time": "1s", "loss": 1.0}, {"time": "1.1s", "loss": 0.0}],
    # Timeouts of half a second and more, which end on coarser ticks.
    "silence": [{"time": "1s", "loss": 1.0}, {"time": "2.3s", "loss": 0.0}],
}


def test_cubic_on_a_fast_path_loses_what_linux_loses_and_never_waits_for_a_timeout() -> None:
    """100 Mbps, 20 ms, 250 kB: Linux 6.12 retransmitted 29 segments in 60 s, ns-3's CUBIC 147 (the
    review of the field, section 2): HyStart ends slow start before the queue is full.
    """
    flows = get("native").simulate(scenario("fast", "TcpCubic", "60s", OF_LINUX)).flows
    assert flows["retransmissions"][0] < 45
    assert flows["rtos"][0] == 0


def sawtooth(run: Scenario, on: Backend) -> tuple[list[tuple[float, float, float]], int]:
    """When the window is reduced, in seconds, from and to how many segments, and how many segments
    are retransmitted.
    """
    watched = {**run.canonical(), "recording": {"interval": "5ms"}}
    recording = on.simulate(Scenario.model_validate(watched))
    samples = recording.tables["flow_samples"]
    windows = samples.array("cwnd_bytes") / SIZES["SegmentSize"]
    falls = np.diff(windows) < 0
    begins = np.flatnonzero(falls & ~np.concatenate([[False], falls[:-1]]))
    ends = np.flatnonzero(falls & ~np.concatenate([falls[1:], [False]])) + 1
    seconds = samples.array("time_ns")[begins] / 1e9
    found = list(zip(seconds, windows[begins], windows[ends], strict=True))
    return found, int(recording.flows["retransmissions"][0])


@pytest.mark.sweep
@pytest.mark.kernel
def test_the_sawtooth_of_cubic_is_the_kernels() -> None:
    """The same path for a minute: each reduction in the same 5 ms, from and to the same window, and
    as many retransmissions.
    """
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    ours, again = sawtooth(scenario("fast", "TcpCubic", "60s", OF_LINUX), get("native"))
    kernels, retransmitted = sawtooth(scenario("fast", "TcpCubic", "60s", {}), theirs)
    assert again == retransmitted
    assert ours == kernels
    assert len(ours) > 10


@pytest.mark.parametrize("cc", ["TcpCubic", "bbr"])
def test_lost_retransmissions_cost_no_timeout(cc: str) -> None:
    """RACK finds them (RFC 8985), which RFC 6675 does not: one segment in fifty is lost."""
    lossy = scenario("fast", cc, "5s", OF_LINUX, loss=0.02)
    flows = get("native").simulate(lossy).flows
    assert flows["retransmissions"][0] > 20
    assert flows["rtos"][0] == 0


def of_linux(kernels: dict[str, Any], cc: str) -> dict[str, Any]:
    """The engine's scenario for the kernel's."""
    ours = deepcopy(kernels)
    for flow in ours["flows"]:
        flow["tcp"].update(OF_LINUX)
        flow["recovery"] = "TcpPrrRecovery"
        if cc == "TcpNewReno":
            flow["cc"]["type"] = "TcpLinuxReno"
    return ours


def both(ours: Scenario, kernels: Scenario) -> tuple[linux.Parting, list[list[linux.Segment]]]:
    """Where the only flow parts, and what the engine and the kernel send."""
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    sides = [linux.traced(ours, get("native")), linux.traced(kernels, theirs)]
    (found,) = linux.partings(*sides)
    return found, [next(iter(side.segments.values())) for side in sides]


@pytest.mark.kernel
@pytest.mark.parametrize("path", ["dumbbell", "fast", "long"])
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpLinuxReno"])
def test_segments_are_those_of_the_kernel(cc: str, path: str) -> None:
    """To the end, what the full queue drops and recovery repairs included."""
    found, sides = both(scenario(path, cc, "1s", OF_LINUX), scenario(path, cc, "1s", {}))
    assert found.is_equal
    assert found.common == len(sides[1])


@pytest.mark.kernel
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpLinuxReno"])
@pytest.mark.parametrize(
    "lost",
    [[12], [40, 41], [40, 45, 50], range(30, 35), [20, 62], [54, 200, 400]],
    ids=["one", "two", "apart", "burst", "twice", "thrice"],
)
def test_losses_of_the_same_packets_are_repaired_as_by_the_kernel(
    lost: Sequence[int], cc: str
) -> None:
    """Detection, reduction, the order of retransmissions and new data, and growth afterwards: each
    segment of a second, of 1,100 at least.
    """
    ours, kernels = (
        scenario("wide", cc, "1s", {"DelAckCount": 1, **tcp}, drop=lost) for tcp in (OF_LINUX, {})
    )
    found, sides = both(ours, kernels)
    assert found.common == min(map(len, sides)) > 1100


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cc", "what", "timestamps"),
    [
        (cc, what, timestamps)
        for cc in ("TcpCubic", "TcpLinuxReno")
        for what in TIMEOUTS
        for timestamps in (True, False)
        # What CUBIC does a second after the end is one segment another there.
        if (cc, what, timestamps) != ("TcpCubic", "outage", False)
    ]
    + [("TcpDctcp", what, True) for what in ("leap", "handover", "silence")],
)
def test_timeouts_are_those_of_the_kernel_and_what_was_spurious_is_undone(
    cc: str, what: str, timestamps: bool
) -> None:
    """RTO, its restarts, probes and F-RTO (RFC 5682): each segment of three seconds, of 1,200 at
    least, and the order in which lost and new ones leave. Without timestamps new data tells.
    """
    tcp = {"Timestamp": timestamps}
    ours, kernels = (
        scenario("deep", cc, "3s", {**tcp, **of}, changes=TIMEOUTS[what]) for of in (OF_LINUX, {})
    )
    found, sides = both(ours, kernels)
    assert found.common == min(map(len, sides)) > 1200


@pytest.mark.kernel
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpNewReno"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jitter", {"spread": "20ms", "order": "free"}),
        ("jitter", {"spread": "20ms", "order": "kept"}),
        ("reordering", {"detour": "20ms"}),
    ],
    ids=["free", "kept", "detour"],
)
def test_what_paths_reorder_is_repaired_as_by_the_kernel(
    name: str, words: dict[str, str], cc: str
) -> None:
    """Late timestamps, what is dropped for them (PAWS), what is undone and what is doubtful: each
    segment of the experiment's 15 s, of which the kernel's second send buffer has half.
    """
    ours, kernels = (
        REGISTRY[name].scenario(cc, **words).canonical() for _ in ("profile linux", "kernel")
    )
    ours["flows"][0]["tcp"].update(OF_LINUX)
    ours["flows"][0]["recovery"] = "TcpPrrRecovery"
    if cc == "TcpNewReno":
        ours["flows"][0]["cc"]["type"] = "TcpLinuxReno"
    found, sides = both(Scenario.model_validate(ours), Scenario.model_validate(kernels))
    assert found.is_equal
    assert found.common > 17_000
    again = [segment.seq for segment in sides[0]]
    assert len(set(again)) < len(again)


CODEL = {"type": "CoDelQueueDisc", "attributes": {"UseEcn": "true"}}


def step(packets: int) -> dict[str, Any]:
    """A queue that marks what comes when so many wait."""
    return {"type": "StepRedQueueDisc", "attributes": {"MarkingThreshold": f"{packets}p"}}


def marked(
    cc: str, queue: dict[str, Any], stop: str, tcp: dict[str, Any], folder: Path, **path: Any
) -> tuple[list[list[tuple[str, ...]]], list[list[int]]]:
    """The segments and ACKs of both sides with their flags, and when they leave."""
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    times, packets = [], []
    for of, on in ((OF_LINUX, get("native")), ({}, theirs)):
        run = scenario("dumbbell", cc, stop, {**tcp, **of, "UseEcn": "On"}, **path).canonical()
        run["links"][1]["forward"]["qdisc"] = queue
        on.simulate(Scenario.model_validate(run), packets=folder / on.name)
        with (folder / on.name).open(newline="") as file:
            passed = [row for row in csv.DictReader(file) if row["event"] == "enqueue"]
        rows = [
            *(row for row in passed if row["link"] == "in_forward" and row["payload_bytes"] != "0"),
            *(row for row in passed if row["link"] == "bottleneck_reverse"),
        ]
        times.append([int(row["time_ns"]) for row in rows])
        packets.append([(row["seq"], row["ack"], row["ecn"], row["flags"]) for row in rows])
    return packets, times


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cc", "queue", "stop"),
    [
        ("TcpCubic", CODEL, "1400ms"),
        ("TcpCubic", step(15), "1400ms"),
        ("TcpLinuxReno", step(15), "1400ms"),
        ("TcpDctcp", CODEL, "1400ms"),
        ("TcpDctcp", step(5), "1200ms"),
    ],
)
def test_marks_are_answered_as_by_the_kernel(
    cc: str, queue: dict[str, Any], stop: str, tmp_path: Path
) -> None:
    """RFC 3168 and RFC 8257: each segment and ACK with its flags, at its nanosecond."""
    packets, times = marked(cc, queue, stop, {}, tmp_path)
    assert sum("CWR" in flags for *_, flags in packets[0]) > 2
    assert packets[0] == packets[1]
    assert times[0] == times[1]


@pytest.mark.kernel
@pytest.mark.parametrize("cc", ["TcpNewReno", "TcpWestwoodPlus"])
@pytest.mark.parametrize(
    ("receive", "send", "size"),
    [
        # What holds a flow back: the receive buffer, without and with a scale of its window, or
        # the send buffer; segments that take more memory than they have data.
        (20_000, 131_072, 1448),
        (50_000, 400_000, 1000),
        (80_000, 400_000, 1448),
        (100_000, 131_072, 1000),
        (200_000, 400_000, 1448),
    ],
)
def test_small_buffers_are_the_kernels(cc: str, receive: int, send: int, size: int) -> None:
    """What is offered and written, and when: each segment of three seconds over a queue that
    marks.
    """
    marks = REGISTRY["ecn"]
    kernels = marks.scenario(cc, **next(iter(marks.grid()))).canonical()
    kernels["stop_time"] = "3s"
    buffers = {"RcvBufSize": str(receive), "SndBufSize": str(send), "SegmentSize": str(size)}
    kernels["flows"][0]["tcp"].update(buffers)
    ours = of_linux(kernels, cc)
    found, sides = both(Scenario.model_validate(ours), Scenario.model_validate(kernels))
    assert found.is_equal
    assert found.common == len(sides[1]) > 1500


@pytest.mark.kernel
def test_changes_of_marks_are_acknowledged_as_by_the_kernel(tmp_path: Path) -> None:
    """DCTCP with ACKs that wait: what came before a change has one with the old mark."""
    packets, times = marked("TcpDctcp", step(5), "470ms", {"RcvBufSize": 400_000}, tmp_path)
    assert packets[0] == packets[1]
    assert times[0] == times[1]
    acks = [(at, packet) for at, packet in zip(times[0], packets[0], strict=True)][-300:]
    pairs = [(one[3], other[3]) for (at, one), (then, other) in pairwise(acks) if at == then]
    assert ("ACK|ECE", "ACK") in pairs


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cc", "packets", "lost"),
    [
        *(
            (cc, 15, [40, 41, 45, 200, 300, 301, 302])
            for cc in ("TcpCubic", "TcpLinuxReno", "TcpDctcp")
        ),
        # The queue overflows at the end of slow start.
        ("TcpLinuxReno", 40, []),
        ("TcpDctcp", 40, []),
    ],
)
def test_losses_beside_marks_are_repaired_as_by_the_kernel(
    cc: str, packets: int, lost: Sequence[int], tmp_path: Path
) -> None:
    """CWR of losses, too, losses in CWR, echoes in Recovery and with its end: each segment of 1.1 s
    and its ACK.
    """
    rows, times = marked(cc, step(packets), "1100ms", {}, tmp_path, drop=lost)
    sent = [seq for seq, ack, *_ in rows[0] if ack == "1"]
    assert len(set(sent)) < len(sent)
    assert rows[0] == rows[1]
    assert times[0] == times[1]


@pytest.mark.kernel
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpDctcp", "TcpVegas"])
@pytest.mark.parametrize(
    "name", ["steady_state_single_flow", "ecn", "bursty_loss", "application_limited"]
)
def test_experiments_of_the_catalogue_are_the_kernels(cc: str, name: str) -> None:
    """Each segment to the end."""
    kernels = REGISTRY[name].scenario(cc, **next(iter(REGISTRY[name].grid()))).canonical()
    ours = deepcopy(kernels)
    ours["flows"][0]["tcp"].update(OF_LINUX)
    ours["flows"][0]["recovery"] = "TcpPrrRecovery"
    found, _ = both(Scenario.model_validate(ours), Scenario.model_validate(kernels))
    assert found.is_equal
    assert found.common > 6_000


@pytest.mark.kernel
@pytest.mark.parametrize("cc", linux_and_ns3.OTHERS)
@pytest.mark.parametrize("name", ["loss_resilience", "application_limited"])
def test_nine_more_algorithms_are_the_kernels(cc: str, name: str) -> None:
    """Each segment to the end, through losses, timeouts, silences and what is undone."""
    kernels = linux_and_ns3.scenario(cc, name)
    ours = linux_and_ns3.scenario(cc, name, linux_and_ns3.PROFILE[cc])
    found, _ = both(ours, kernels)
    assert found.is_equal
    assert found.common > 6_000


SHORT = ("short_against_long", {"size": "15kB"}, 31, 24_000)
#: SYNs that are dropped twice.
MEDIUM = ("short_against_long", {"size": "500kB", "buffer": 4.0}, 31, 26_000)
#: Losses within microseconds, short last segments among them.
INCAST = ("incast", {"n": 32, "size": "200kB"}, 32, 4000)
#: A round trip of 0.8 s, whose timeouts depend on the first sample; more than 4 MB in flight, in a
#: window that ends within a segment; 17 sockets, each with its whole buffer.
SATELLITE = (
    "steady_state_synchronous_fairness",
    {"k": 5, "path": "static.winds_satellite"},
    5,
    5_000,
)
WIDE = ("ack_compression", {"interval": "5ms", "quota": 1}, 1, 5_000)
#: Retransmissions in the microsecond in which new data left.
TOGETHER = ("ack_compression", {"interval": "10ms", "quota": 20}, 1, 10_000)
#: A loss that the reordering timer finds while marks reduce the window.
#: The window that is offered differs with each ACK at first, by which Westwood+ counts.
OFFERED = ("loss_resilience", {"loss": 0.05}, 1, 1_000)
MARKED = ("ecn", {"k": 5, "ce_threshold": "10ms"}, 5, 50_000)
#: A recovery that is undone before its end: no round of the algorithm's begins by that.
UNDONE = (
    "responsiveness_pulse_wave",
    {"target": "rtt", "period": "5s", "lower": "15ms", "upper": "60ms"},
    1,
    10_000,
)
SEVENTEEN = ("n_against_one", {"n": 16, "against": "TcpNewReno"}, 17, 100_000)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cc", "which"),
    [
        *((cc, SHORT) for cc in ("TcpCubic", "TcpNewReno", "TcpHighSpeed", "TcpHybla", "TcpVeno")),
        ("TcpIllinois", MEDIUM),
        ("TcpBic", MARKED),
        ("TcpWestwoodPlus", OFFERED),
        ("TcpYeah", UNDONE),
        *((cc, INCAST) for cc in ("TcpCubic", "TcpNewReno", "TcpIllinois")),
        *(("TcpNewReno", which) for which in (SATELLITE, WIDE, TOGETHER, SEVENTEEN)),
    ],
)
def test_points_beyond_the_first_are_the_kernels(
    cc: str, which: tuple[str, dict[str, Any], int, int]
) -> None:
    """Each segment of all flows: SYNs that are dropped, first windows, timeouts of short ones; FINs
    that are repeated or complete a handshake.
    """
    name, point, flows, common = which
    kernels = REGISTRY[name].scenario(cc, **point).canonical()
    ours = of_linux(kernels, cc)
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    found = linux.partings(
        linux.traced(Scenario.model_validate(ours), get("native")),
        linux.traced(Scenario.model_validate(kernels), theirs),
    )
    assert len(found) == flows
    assert all(flow.is_equal for flow in found)
    # CUBIC's K is the kernel's: a window that grows an ACK later puts a burst off by 0.6 ms.
    assert max(flow.apart_ns for flow in found) == 0
    assert sum(flow.common for flow in found) > common


@pytest.mark.kernel
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpNewReno"])
@pytest.mark.parametrize(
    ("write", "rate"),
    [
        ("500B", "2Mbps"),
        ("1448B", "18Mbps"),
        ("2896B", "25Mbps"),
        ("4000B", "30Mbps"),
        ("20000B", "40Mbps"),
    ],
)
def test_what_an_application_writes_now_and_then_leaves_as_from_the_kernel(
    cc: str, write: str, rate: str
) -> None:
    """Each segment, however short."""
    kernels = linux_and_ns3.scenario(cc, "application_limited").canonical()
    ours = linux_and_ns3.scenario(cc, "application_limited", linux_and_ns3.PROFILE[cc]).canonical()
    runs = []
    for run in (ours, kernels):
        run["stop_time"] = "5s"
        source = run["flows"][0]["application"]
        source.update(write=write, rate=rate, on_time="1s", off_time="1s")
        runs.append(Scenario.model_validate(run))
    found, _ = both(*runs)
    assert found.is_equal
    assert found.common > 900


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cc", "size"),
    # Others part after 900 segments at least, by a burst that is one longer.
    [("TcpCubic", 1448), ("TcpLinuxReno", 536), ("TcpLinuxReno", 1000)],
)
def test_the_kernels_own_acks_are_as_many_after_losses(cc: str, size: int) -> None:
    """The offered window has grown after 1,400 full segments, some of them beyond a hole and some
    that fill one, and from then on every second one is acknowledged; of small ones at once.
    """
    lost = [40, 41, 300, 302, 900]
    ours, kernels = (
        scenario("dumbbell", cc, "3s", {"SegmentSize": size, **tcp}, drop=lost)
        for tcp in (OF_LINUX, {})
    )
    found, sides = both(ours, kernels)
    assert found.common == min(map(len, sides)) > 3000


def duplicates(run: Scenario, on: Backend, path: Path) -> list[int]:
    """When the receiver repeats an ACK for the first time, and as often as it does then."""
    on.simulate(run, packets=path)
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["link"] == "bottleneck_reverse"]
    acks = [
        (int(row["time_ns"]), row["ack"])
        for row in rows
        if row["event"] == "enqueue" and row["payload_bytes"] == "0"
    ]
    episodes = (list(group) for _, group in groupby(acks, key=lambda ack: ack[1]))
    return next([at for at, _ in group[1:]] for group in episodes if len(group) > 3)


@pytest.mark.kernel
def test_acks_beyond_a_hole_are_compressed_as_by_the_kernel(tmp_path: Path) -> None:
    """Four leave one by one, then one stands for those of 1.01 ms, each at its nanosecond."""
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    small, lost = {"RcvBufSize": 100_000}, [100]
    ours, kernels = (
        duplicates(
            scenario("long", "TcpLinuxReno", "1s", {**small, **of}, drop=lost), on, tmp_path / name
        )
        for of, on, name in ((OF_LINUX, get("native"), "a.csv"), ({}, theirs, "b.csv"))
    )
    segment = 751_000  # ns on this path
    gaps = list(np.diff(ours[:22]))
    assert gaps[:4] == [segment, segment, segment, segment + 1_010_000]
    assert set(gaps[4:]) == {2 * segment}
    # Its window grows to more than ours: that is measured for larger ones.
    assert ours[:22] == kernels[:22]


@pytest.mark.kernel
@pytest.mark.parametrize("loss", [0.01, 0.05])
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpLinuxReno"])
def test_random_losses_leave_the_throughput_that_the_kernel_has(cc: str, loss: float) -> None:
    theirs = backend.Linux()
    if missing := theirs.available():
        pytest.skip(missing)
    sent, lost = np.zeros(2), np.zeros(2)
    for seed in range(1, 5):
        for side, tcp in enumerate((OF_LINUX, {})):
            run = scenario("wide", cc, "20s", {"DelAckCount": 1, **tcp}, loss=loss, seed=seed)
            flows = (theirs if side else get("native")).simulate(run).flows
            lost[side] += flows["retransmissions"][0]
            sent[side] += flows["segments_sent"][0] - flows["retransmissions"][0]
    # Three standard errors. Throughput is as the root of the distance between losses, which is
    # geometric, as wide as it is long: half the relative error of their number.
    assert sent[0] == pytest.approx(sent[1], rel=3 * np.sqrt(np.sum(1 / lost)) / 2)
