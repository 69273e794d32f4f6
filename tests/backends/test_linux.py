"""The kernel's own TCP: what it is known to do, and that it does the same wherever it runs."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ccperf import Scenario
from ccperf.base.folders import Temporary
from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue
from ccperf.present.exporters import export
from ccperf.runs import flow_monitor
from ccperf.runs.backends.linux import backend, build
from ccperf.runs.recording import Recording
from ccperf.runs.result import Result
from recordings import hash_of

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("linux_kernel")]
LINUX = backend.Linux()
NOBODY = 65534


def dumbbell(
    cc: str = "TcpCubic", stop: str = "10s", acks: int = 2, ecn: bool = False, **attributes: Any
) -> Scenario:
    """16 Mbps, 15 ms, 20 packets; 2 stands for Linux's own ACKs."""
    qdisc = "CoDelQueueDisc" if ecn else "FifoQueueDisc"
    made = catalogue.get("dumbbell").scenario(
        cc, rate="16Mbps", rtt="15ms", buffer="20p", qdisc=qdisc, stop_time=stop
    )
    data = made.canonical()
    (flow,) = data["flows"]
    flow["tcp"] |= {"DelAckCount": str(acks), "UseEcn": "On" if ecn else "Off"}
    flow["cc"]["attributes"] |= attributes
    if ecn:
        data["links"][0]["forward"]["qdisc"]["attributes"] |= {
            "UseEcn": "true", "CeThreshold": "1ms"
        }  # fmt: skip
    return Scenario.model_validate(data)


def first(recording: Recording, table: str, column: str) -> int:
    return int(recording.tables[table].array(column)[0])


def test_cubic_on_the_dumbbell_is_what_an_independent_guest_measured() -> None:
    """Of Linux 7.3: packets, and the window's range from two seconds on. An application that wrote
    256 kB at a time there had 16 drops; one that writes all that there is room for has one more.
    """
    recording = LINUX.simulate(dumbbell())
    assert first(recording, "links", "tx_packets") == 13_285
    assert first(recording, "links", "qdisc_dropped") == 17
    samples = recording.tables["flow_samples"]
    late = samples.array("time_ns") > 2e9
    windows = samples.array("cwnd_bytes")[late] / 1448
    assert (windows.min(), windows.max()) == (30, 43)


def test_without_the_reno_friendly_region_losses_are_as_far_apart_as_the_cubic_is_wide() -> None:
    """After slow start at 1.61, 6.75 and 8.64 s, as an independent guest has it, to the grid."""
    recording = LINUX.simulate(dumbbell(TcpFriendliness="false"))
    samples = recording.tables["link_samples"]
    bottleneck = samples.array("link") == 0
    dropped = samples.array("qdisc_dropped")[bottleneck]
    times = samples.array("time_ns")[bottleneck][1:][dropped[1:] > dropped[:-1]] / 1e9
    assert times[times > 1] == pytest.approx([1.61, 6.75, 8.64], abs=0.03)


def test_packets_that_reach_two_hosts_at_one_nanosecond_come_one_after_another() -> None:
    """At 1.642495851 s, on a parking lot: of two flows whose last links are of other lengths."""
    experiment = catalogue.get("parking_lot")
    made = experiment.scenario(
        "TcpCubic", **{**dict(next(iter(experiment.grid()))), "stop_time": "1.7s"}
    )
    recording = LINUX.simulate(made)
    assert first(recording, "links", "tx_packets") > 1000


def test_a_receiver_that_is_told_so_acknowledges_each_segment() -> None:
    acks = {
        count: LINUX.simulate(dumbbell(stop="2s", acks=count)).tables["links"].array("tx_packets")
        for count in (1, 2)
    }
    each, usual = ((links[1] / links[0]) for links in acks.values())
    assert each > 0.95
    assert 0.5 < usual < 0.7


def with_sysctls(**sysctls: Any) -> Scenario:
    data = dumbbell("TcpNewReno", "3s").canonical()
    return Scenario.model_validate({**data, "linux": sysctls})


def test_a_sysctl_of_a_scenario_is_what_the_kernel_goes_by() -> None:
    """Without SACK, what a burst has lost is found one round trip at a time (RFC 6582)."""
    found = {sack: LINUX.simulate(with_sysctls(tcp_sack=sack)) for sack in (0, 1)}
    without, usual = (first(found[sack], "flows", "recovery_time_ns") for sack in (0, 1))
    assert without > 2 * usual
    assert hash_of(found[1]) == hash_of(LINUX.simulate(dumbbell("TcpNewReno", "3s")))


@pytest.mark.parametrize(
    ("sysctls", "said"),
    [
        ({"tcp_nonsense": 1}, "linux.net.ipv4.tcp_nonsense: this kernel has no such sysctl"),
        ({"tcp_sack": "x"}, "linux.net.ipv4.tcp_sack: the kernel does not take `x`"),
    ],
)
def test_what_the_kernel_does_not_take_is_said(sysctls: dict[str, Any], said: str) -> None:
    with pytest.raises(RunError, match=said):
        LINUX.simulate(with_sysctls(**sysctls))


def test_the_packets_of_a_flow_carry_its_code_points(tmp_path: Path) -> None:
    """Expedited forwarding there, AF11 back: the second bytes of their IP headers (RFC 2474)."""
    data = dumbbell("TcpNewReno", "1s").canonical()
    data["flows"][0] |= {"dscp": 46, "return_dscp": 10}
    capture = tmp_path / "packets.pcapng"
    LINUX.simulate(Scenario.model_validate(data), packets=capture)
    services = Counter(packet[1] for packet in captured(capture.read_bytes()))
    assert services.keys() == {46 << 2, 10 << 2}
    assert min(services.values()) > 500


@pytest.mark.parametrize("format", ["pcapng", "flowmonitor"])
def test_what_an_export_simulates_again_is_linux_s(format: str, tmp_path: Path) -> None:
    scenario = dumbbell(stop="1s")
    result = Result.of(scenario, LINUX.simulate(scenario), LINUX)
    [path] = export(format, [result], tmp_path)
    sent = first(result.recording, "flows", "segments_sent")
    if format == "pcapng":
        LINUX.simulate(scenario, packets=tmp_path / "again.pcapng")
        assert path.read_bytes() == (tmp_path / "again.pcapng").read_bytes()
    else:
        # SYN and ACK carry no data.
        assert flow_monitor.read(path)[0].tx_packets - sent in (1, 2)


def test_a_run_of_another_kernel_is_not_simulated_again(tmp_path: Path) -> None:
    scenario = dumbbell(stop="100ms")
    result = Result.of(scenario, LINUX.simulate(scenario), LINUX)
    of_another = replace(result.provenance, backend_version="6.1")
    with pytest.raises(UsageError, match=r"`linux` was 6\.1, and is"):
        export("pcapng", [replace(result, id="0" * 16, provenance=of_another)], tmp_path)
    assert not list(tmp_path.iterdir())


def captured(data: bytes) -> Iterator[bytes]:
    """The packets of a capture: blocks of kind 6 (draft-ietf-opsawg-pcapng section 4.3)."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            yield data[at + 28 :][: struct.unpack_from("<I", data, at + 20)[0]]
        at += length


def flags(capture: Path) -> list[tuple[bool, int]]:
    """Of each segment on the path, whether its source is the sender, and its flags (RFC 9293)."""
    packets = list(captured(capture.read_bytes()))
    sender = packets[0][12:16]
    return [(packet[12:16] == sender, packet[33]) for packet in packets]


FIN, RST = 1, 4


def with_flow(stop: str, **fields: Any) -> Scenario:
    data = dumbbell("TcpCubic", stop).canonical()
    for name, value in fields.items():
        known = data["flows"][0].get(name)
        data["flows"][0][name] = {**known, **value} if isinstance(value, dict) else value
    return Scenario.model_validate(data)


def test_packets_larger_than_a_links_mtu_arrive_whole() -> None:
    """1,500 bytes make three fragments on 600 (RFC 791), and the kernel takes what they were."""
    data = dumbbell(stop="2s").canonical()
    for side in ("forward", "reverse"):
        data["links"][0][side]["mtu"] = "600B"
    recording = LINUX.simulate(Scenario.model_validate(data))
    links = recording.tables["links"]
    sent = dict(zip(links.strings("name"), links.array("tx_packets"), strict=True))
    dropped = first(recording, "links", "qdisc_dropped")
    assert dropped > 0
    # Some are in the queue or on the wire, and the first two packets have no data.
    assert sent["btl_forward"] + dropped == pytest.approx(3 * sent["src_0_forward"], abs=60)
    acked = recording.tables["flow_samples"].array("acked_bytes")[-1]
    assert acked > 0.75 * 2 * 16e6 / 8 * 1448 / 1560  # a lost fragment costs a packet


def test_what_a_socket_takes_a_part_of_is_written_on() -> None:
    """17 writes of 60 kB into 60 kB of room, each faster than the path."""
    source = {"type": "OnOff", "rate": "100Mbps", "write": "60000B", "bytes": "1MB"}
    recording = LINUX.simulate(with_flow("10s", application=source, tcp={"SndBufSize": "60000"}))
    samples = recording.tables["flow_samples"]
    for column in ("written_bytes", "acked_bytes", "read_bytes"):
        assert samples.array(column)[-1] == 17 * 60_000, column


@pytest.mark.parametrize("bytes_", ["1B", "100kB"])
def test_a_transfer_that_ends_closes_both_ends_once(bytes_: str, tmp_path: Path) -> None:
    capture = tmp_path / "packets.pcapng"
    scenario = with_flow("2s", application={"bytes": bytes_, "write": "1B"})
    LINUX.simulate(scenario, packets=capture)
    ends = Counter(is_source for is_source, flag in flags(capture) if flag & FIN)
    assert ends.keys() == {True, False}
    assert not any(flag & RST for _, flag in flags(capture))


def test_what_a_receiver_that_has_closed_is_sent_is_answered_by_a_reset(tmp_path: Path) -> None:
    """RFC 9293 section 3.6.1; the sender sends nothing after."""
    capture = tmp_path / "packets.pcapng"
    recording = LINUX.simulate(with_flow("3s", receiver_stop="1s"), packets=capture)
    assert any(flag & RST for is_source, flag in flags(capture) if not is_source)
    samples = recording.tables["flow_samples"]
    late = samples.array("time_ns") > 1.1e9
    assert len(set(samples.array("sent_bytes")[late])) == 1


def test_a_connection_that_is_given_up_ends_no_run() -> None:
    """After three timeouts (net.ipv4.tcp_retries2); samples of 300 s are more than memory keeps."""
    data = dumbbell(stop="300s").canonical()
    data["failures"] = [{"link": data["links"][0]["name"], "down": "1s", "up": "200s"}]
    data["linux"] = {"tcp_retries2": "3"}
    recording = LINUX.simulate(Scenario.model_validate(data))
    samples = recording.tables["flow_samples"]
    assert samples.array("rtos")[-1] == first(recording, "flows", "rtos") == 3
    assert samples.array("time_ns")[-1] > 299e9
    late = samples.array("time_ns") > 10e9
    assert len(set(samples.array("sent_bytes")[late])) == 1


@pytest.fixture(name="elsewhere")
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Makes runs those of a copy of the kernel elsewhere, as another user if we are root."""
    place = Path(tempfile.mkdtemp(prefix="ccperf-test-"))
    mask = os.umask(0)

    def move() -> None:
        kernel = build.current()
        assert kernel is not None
        place.chmod(0o777)
        shutil.copy(kernel.program, place)
        program, who = place / kernel.program.name, place / "as-nobody"
        who.write_text(
            f"#!/bin/sh\nexec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "
            f'{program} "$@"\n'
        )
        who.chmod(0o755)
        other = replace(kernel, program=who if os.getuid() == 0 else program)

        def made(what: str) -> Temporary:
            found = Temporary(what)
            Path(found.name).chmod(0o777)
            return found

        monkeypatch.setattr(build, "current", lambda: other)
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        monkeypatch.setattr(backend, "Temporary", made)

    yield move
    os.umask(mask)
    monkeypatch.undo()
    shutil.rmtree(place)


@pytest.mark.slow
@pytest.mark.parametrize("cc", ["TcpCubic", "TcpBbr", "TcpNewReno", "TcpDctcp"])
def test_a_run_is_the_same_to_the_byte_for_another_user_elsewhere_with_ptrace_and_with_seccomp(
    cc: str, tmp_path: Path, elsewhere: Callable[[], None]
) -> None:
    lowered = dumbbell(cc, "20s", ecn=cc == "TcpDctcp").lowered()
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    one = Recording(LINUX.run_lowered(lowered, here, words=("seccomp=on",)))
    elsewhere()
    other = Recording(LINUX.run_lowered(lowered, there, words=("seccomp=off",)))
    assert hash_of(one, here) == hash_of(other, there)


def test_a_run_is_the_same_in_a_folder_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel's command line ends words at spaces, and its options have commas and quotes."""
    usual = hash_of(LINUX.simulate(dumbbell(stop="1s")))
    place = tmp_path / 'my runs, "new"=1'
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    assert hash_of(LINUX.simulate(dumbbell(stop="1s"))) == usual
    assert not list(place.iterdir())


def test_another_seed_is_another_course_of_bbr() -> None:
    """It draws its first phase of eight."""
    hashes = {
        hash_of(LINUX.simulate(dumbbell("TcpBbr", "2s").model_copy(update={"seed": seed})))
        for seed in range(1, 4)
    }
    assert len(hashes) > 1


def test_nothing_is_left_of_a_run_that_is_interrupted() -> None:
    def interrupt(part: float) -> None:
        if part > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LINUX.run_lowered(dumbbell().lowered(), progress=interrupt)
    command = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True).stdout
    kernel = build.current()
    assert kernel is not None
    own = [line for line in command.splitlines() if line.split()[0] == str(os.getpid())]
    assert not [line for line in own if str(kernel.program) in line]


def test_a_kernel_that_something_outside_kills_is_reported_so() -> None:
    """As the system does where memory is short; what the kernel has said is of no use then."""

    def end(part: float) -> None:
        if part > 0:
            for pid in (pid for keeper in children(os.getpid()) for pid in children(keeper)):
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(RunError, match=r"something outside has killed the kernel at \d"):
        LINUX.run_lowered(dumbbell(stop="60s").lowered(), progress=end)


def test_a_guest_that_finds_no_room_for_its_words_is_heard_all_the_same(tmp_path: Path) -> None:
    """On a full disk `out/error` is empty, and so is a kernel's memory where /dev/shm is full."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "error").touch()
    with pytest.raises(RunError, match=r"^Linux: No space left on device$"):
        backend._report(tmp_path, "booting\nguest: No space left on device\n", [])
    (tmp_path / "out" / "error").unlink()
    with pytest.raises(RunError, match="SIGBUS: no room for its memory, in TMPDIR or else in /dev"):
        backend._report(tmp_path, "Kernel panic - not syncing: Kernel mode signal 7\n", [])


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_kernel_that_ends_in_a_panic_is_reported_in_its_own_words() -> None:
    with pytest.raises(
        RunError, match=r"the kernel ended at 0.000000 s of simulated time:\n.*panic"
    ):
        LINUX.run_lowered(dumbbell().lowered(), words=("init=/none",))
