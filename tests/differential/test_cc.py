"""Every congestion control algorithm against ns-3's class of the same name, call by call.

A random script of calls runs in the engine (``crates/engine/examples/cc_replay.rs``) and in real
ns-3 (``cc_driver.cc``).  After each call both print time, call, cwnd, ssthresh, pacing, pacing rate
(bit/s), ECN use, mode, state and code point, and what the call returned; all must be equal.

A script's head is ``algorithm NAME``, ``attribute NAME VALUE`` and ``seed NUMBER``; each further
line is ``TIME_NS CALL ARGUMENT...``, with the calls of the engine's trait ``CongestionControl`` and
``tcb FIELD=VALUE...``, which sets fields of the control block.  A value is a number or one of
``+n`` (the old value plus n), ``%n`` (n thousandths of cwnd), ``@n`` (the last acknowledged
sequence number plus n thousandths of cwnd) and ``$`` (what the last ``ssthresh`` call returned).
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ccperf.algorithms import registry

MS = 1_000_000
OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
TX_START, COMPLETE_CWR, EVENT_LOSS, NO_CE, IS_CE, DELAYED_ACK, NON_DELAYED_ACK = 0, 2, 3, 4, 5, 6, 7
ECE_RCVD = 4
SCRIPTS = 6

# Besides its defaults, each algorithm is tried with these attributes.
ATTRIBUTES: dict[str, list[dict[str, str]]] = {
    "TcpNewReno": [],
    "TcpLinuxReno": [],
    "TcpCubic": [
        {"HyStart": "false", "TcpFriendliness": "false", "CubicDelta": "3ms"},
        {"FastConvergence": "false", "Beta": "0.5", "C": "1.3", "HyStartDetect": "DELAY"},
        {
            "HyStartDetect": "PACKET_TRAIN",
            "HyStartLowWindow": "2",
            "HyStartAckDelta": "30ms",
            "CntClamp": "5",
            "CubicDelta": "2s",
        },
        {
            "HyStartDetect": "DELAY",
            "HyStartMinSamples": "2",
            "HyStartDelayMin": "1ms",
            "HyStartDelayMax": "8ms",
            "HyStartLowWindow": "4",
        },
    ],
    "TcpDctcp": [
        {"DctcpShiftG": "0.25", "DctcpAlphaOnInit": "0.3"},
        {"UseEct0": "false", "DctcpShiftG": "1"},
    ],
    "TcpVegas": [{"Alpha": "1", "Beta": "1", "Gamma": "0"}, {"Alpha": "10", "Beta": "30"}],
    "TcpBbr": [
        {"HighGain": "2", "BwWindowLength": "3", "Stream": "9"},
        {"RttWindowLength": "700ms", "ProbeRttDuration": "50ms", "ExtraAckedRttWindowLength": "2"},
        {"RttWindowLength": "2s", "AckEpochAckedResetThresh": "10000000", "BwWindowLength": "25"},
    ],
    "TcpVeno": [{"Beta": "1"}, {"Beta": "20"}],
    "TcpWestwoodPlus": [{"FilterType": "None"}],
    "TcpHtcp": [
        {"DefaultBackoff": "0.8", "ThroughputRatio": "2", "DeltaL": "100ms"},
        {"ThroughputRatio": "1", "DeltaL": "10s"},
    ],
    "TcpHybla": [{"RRTT": "25ms"}, {"RRTT": "7ms"}],
    "TcpHighSpeed": [],
    "TcpIllinois": [
        {"AlphaMax": "20", "AlphaMin": "0.1", "Theta": "2"},
        {"BetaMin": "0.1", "BetaMax": "0.7", "WinThresh": "40000", "AlphaBase": "2"},
    ],
    "TcpScalable": [{"AIFactor": "100", "MDFactor": "0.5"}, {"AIFactor": "1"}],
    "TcpYeah": [
        {"Alpha": "5", "Phy": "1", "Rho": "2", "Zeta": "3"},
        {"Alpha": "1", "Gamma": "3", "Delta": "1", "Epsilon": "2", "StcpAiFactor": "10"},
    ],
    "TcpBic": [
        {"FastConvergence": "false", "Beta": "0.5", "LowWnd": "0"},
        {"MaxIncr": "4", "SmoothPart": "20", "BinarySearchCoefficient": "2"},
    ],
    "TcpLedbat": [
        {"TargetDelay": "25ms", "Gain": "2.5", "SSParam": "no"},
        {"BaseHistoryLen": "2", "NoiseFilterLen": "1", "MinCwnd": "4"},
    ],
    "TcpLp": [],
}
DEFAULTS: dict[str, str] = {}
CASES = [(name, given) for name, several in ATTRIBUTES.items() for given in [DEFAULTS, *several]]


class Script:
    """A sender over a path with a changing RTT: ACKs, losses, timeouts, marks, pauses."""

    def __init__(self, algorithm: str, attributes: dict[str, str], seed: int) -> None:
        self.random = random.Random(f"{algorithm} {sorted(attributes.items())} {seed}")
        self.lines = [f"algorithm {algorithm}", f"seed {self.random.randint(1, 5)}"]
        self.lines += [f"attribute {name} {value}" for name, value in attributes.items()]
        self.has_cong_control = algorithm == "TcpBbr"
        self.now = self.random.choice([0, 1_234_567_891])
        self.mss = self.random.choice([536, 1000, 1448, 8948])
        self.base_rtt = self.random.choice([1, 5, 20, 60, 200]) * MS + self.random.choice([0, 37])
        self.queueing = 0
        self.unit = MS
        self.min_rtt: int | None = None
        self.delivered = 0
        self.rate = 10_000_000
        self.state = OPEN
        self.call(
            "tcb",
            f"segment_size={self.mss}",
            f"cwnd={10 * self.mss}",
            f"ssthresh={self.random.choice([2**32 - 1, 40 * self.mss, 300 * self.mss])}",
            "initial_cwnd=10",
            f"initial_ssthresh={2**32 - 1}",
            "pacing_rate=4000000000",
            f"max_pacing_rate={self.random.choice([4_000_000_000, 30_000_000])}",
            "is_cwnd_limited=1",
        )
        self.call("init")
        self.call("tcb", "last_acked_seq=1", "next_tx_seq=1", "high_tx_mark=1")
        self.sample_rtt()
        self.call("set_state", OPEN)

    def call(self, name: str, *arguments: object) -> None:
        self.lines.append(" ".join(map(str, (self.now, name, *arguments))))

    def sample_rtt(self) -> int:
        """Whole milliseconds or nanoseconds, with a queue that fills and drains."""
        r = self.random
        self.queueing = max(0, self.queueing + r.choice([-3, -1, 0, 0, 0, 1, 2]) * self.unit)
        if r.random() < 0.01:
            self.unit = r.choice([0, 0, 1000, MS])
            self.queueing = r.choice([0, self.base_rtt // 10, 3 * self.base_rtt])
        rtt = self.base_rtt + self.queueing + r.choice([0, 0, r.randint(0, MS)])
        if r.random() < 0.3:
            rtt = max(rtt // MS * MS, 1000)
        self.min_rtt = min(rtt, self.min_rtt or rtt)
        now_ms = self.now // MS
        owd = (rtt // 2 + self.queueing) // MS
        self.call(
            "tcb",
            f"srtt={rtt}",
            f"last_rtt={r.choice([rtt, self.base_rtt])}",
            f"min_rtt={self.min_rtt}",
            f"rcv_timestamp={now_ms + r.choice([owd, owd, 0])}",
            f"rcv_timestamp_echo={max(0, now_ms - r.choice([0, rtt // MS]))}",
        )
        return rtt

    def ack(self) -> None:
        r = self.random
        self.now += r.choice(
            [0, r.randint(1, 2 * MS), MS, 2 * MS, self.base_rtt // 4, self.base_rtt]
        )
        segments = r.choice([1, 1, 1, 2, 2, 3, r.randint(0, 40)])
        size = segments * self.mss
        rtt = self.sample_rtt()
        in_flight = r.choice([1000, 1000, 900, r.randint(0, 1100)])
        self.call(
            "tcb",
            f"last_acked_seq=+{size}",
            f"next_tx_seq=@{in_flight}",
            f"high_tx_mark=@{in_flight}",
            f"bytes_in_flight=%{in_flight}",
            f"last_acked_sacked={size}",
            f"is_cwnd_limited={int(r.random() < 0.95)}",
        )
        if r.random() < 0.05:
            self.call("tcb", f"ecn_state={r.choice([1, ECE_RCVD])}")
        self.call("pkts_acked", segments, rtt if r.random() < 0.98 else 0)
        if self.has_cong_control:
            self.rate_sample(size)
        elif self.state in (OPEN, DISORDER):
            self.call("cong_avoid", segments)

    def rate_sample(self, size: int) -> None:
        r = self.random
        self.delivered += size
        if r.random() < 0.02:
            self.rate = r.choice([2, 10, 50]) * 1_000_000
        self.rate -= r.randint(0, self.rate // 100)
        rate = r.choice([self.rate, self.rate, self.rate * 9 // 10, self.rate * 13 // 10])
        self.call(
            "cong_control",
            f"delivered={self.delivered}",
            f"rate={rate if r.random() < 0.97 else 0}",
            f"interval={r.choice([self.base_rtt, self.base_rtt, 0])}",
            f"sample_delivered={r.choice([20 * self.mss, 20 * self.mss, 0, 2**64 - 1])}",
            f"prior_delivered={max(0, self.delivered - r.randint(0, 60) * self.mss)}",
            f"prior_in_flight=%{r.randint(0, 1400)}",
            f"bytes_loss={r.choice([0, 0, 0, self.mss, 5 * self.mss])}",
            f"acked_sacked={size}",
            f"is_app_limited={int(r.random() < 0.1)}",
        )

    def set_state(self, state: int) -> None:
        self.call("set_state", state)
        self.state = state

    def reduction(self) -> None:
        state = self.random.choice([CWR, RECOVERY, RECOVERY])
        self.call("ssthresh", f"%{self.random.choice([1000, 1000, 700, 30])}")
        self.call("tcb", "ssthresh=$")
        self.set_state(state)
        if not self.has_cong_control:
            self.call("tcb", "cwnd=$")
        for _ in range(self.random.randint(0, 10)):
            self.ack()
        self.call("cwnd_event", COMPLETE_CWR)
        self.set_state(OPEN)

    def timeout(self) -> None:
        self.now += self.random.choice([200 * MS, 1000 * MS, 7000 * MS])
        if self.random.random() < 0.8:
            self.call("ssthresh", f"%{self.random.choice([1000, 500])}")
            self.call("tcb", "ssthresh=$")
        self.call("cwnd_event", EVENT_LOSS)
        self.set_state(LOSS)
        self.call("tcb", f"cwnd={self.mss}", "bytes_in_flight=0")
        for _ in range(self.random.randint(0, 3)):
            self.ack()
            self.call("cong_avoid", 1)
        self.set_state(OPEN)

    def pause(self) -> None:
        self.now += self.random.choice([30 * MS, 500 * MS, 11_000 * MS, 70_000 * MS])
        self.call("tcb", "bytes_in_flight=0")
        self.call("cwnd_event", TX_START)

    def receive(self) -> None:
        """What a receiver tells its algorithm (DCTCP)."""
        r = self.random
        for _ in range(r.randint(1, 12)):
            self.call("cwnd_event", r.choice([NO_CE, IS_CE]))
            self.call("tcb", f"next_rx_seq=+{self.mss}")
            self.call("cwnd_event", r.choice([DELAYED_ACK, NON_DELAYED_ACK]))

    def other_window(self) -> None:
        """Somewhere else: so that large and tiny windows are met as well."""
        r = self.random
        segments = r.choice([1, 2, 3, r.randint(4, 100), r.randint(100, 30_000)])
        ssthresh = r.choice([2, segments, segments * 2, segments + 7])
        byte = r.choice([0, 0, r.randint(0, self.mss - 1)])
        cwnd = segments * self.mss + byte
        self.call("tcb", f"cwnd={cwnd}", f"ssthresh={ssthresh * self.mss}")

    def wild_step(self) -> None:
        """Any call at any time with any value: what wraps and overflows must do so alike."""
        r = self.random

        def number(most: int) -> int:
            return int(most ** r.random())

        self.now += number(10**12) if r.random() < 0.7 else 0
        rtt = number(10**11) + 1000
        self.min_rtt = min(rtt, self.min_rtt or rtt)
        numbers = ("last_acked_seq", "next_tx_seq", "high_tx_mark")
        stamps = ("rcv_timestamp", "rcv_timestamp_echo")
        # Values are drawn for the call that is drawn alone.
        calls: list[Callable[[], tuple[object, ...]]] = [
            lambda: ("tcb", f"cwnd={max(self.mss, number(2**32) - 1)}"),
            lambda: (
                "tcb",
                f"ssthresh={number(2**32) - 1}",
                f"bytes_in_flight={number(2**32) - 1}",
            ),
            lambda: (
                "tcb",
                *(f"{name}={number(2**32)}" for name in numbers),
                *(f"{name}={number(2**32) - 1}" for name in stamps),
            ),
            lambda: ("tcb", f"srtt={rtt}", f"last_rtt={rtt}", f"min_rtt={self.min_rtt}"),
            lambda: ("set_state", r.randrange(5)),
            lambda: ("ssthresh", number(2**32) - 1),
            lambda: (
                "cwnd_event",
                r.choice([TX_START, *range(COMPLETE_CWR, NON_DELAYED_ACK + 1)]),
            ),
            *[lambda: ("pkts_acked", number(5000), r.choice([rtt, self.min_rtt]))] * 3,
        ]
        if self.has_cong_control:
            self.delivered += number(10**7)
            self.call(
                "cong_control",
                f"delivered={self.delivered}",
                f"rate={number(10**13) - 1}",
                f"interval={number(10**10) - 1}",
                f"sample_delivered={number(2**31) - 1}",
                f"prior_delivered={r.randint(0, self.delivered) % 2**32}",
                f"prior_in_flight={number(2**32) - 1}",
                f"bytes_loss={number(10**6) - 1}",
                f"acked_sacked={number(10**7) - 1}",
            )
        else:
            calls += [lambda: ("cong_avoid", number(5000) - r.randint(0, 1))] * 4
        name, *arguments = r.choice(calls)()
        self.call(str(name), *arguments)
        if name in ("ssthresh", "cong_avoid"):
            self.call("tcb", f"cwnd=+{self.mss}", "ssthresh=$")

    def run(self, steps: int) -> str:
        for _ in range(steps):
            self.step()
        return "\n".join(self.lines) + "\n"

    def run_wild(self, steps: int) -> str:
        for _ in range(steps):
            self.wild_step()
        return "\n".join(self.lines) + "\n"

    def step(self) -> None:
        r = self.random
        events = [self.reduction, self.timeout, self.pause, self.receive, self.other_window]
        if r.random() < 0.02:
            r.choices(events, weights=[5, 1, 1, 2, 2])[0]()
        elif r.random() < 0.003:
            self.set_state(DISORDER)
        else:
            self.ack()


def replay(program: Path, script: str) -> list[str]:
    done = subprocess.run([program], input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{program.name} failed: {done.stderr[-2000:]}"
    return done.stdout.splitlines()


def compare(script: str, ours: Path, theirs: Path) -> list[str]:
    """Returns what both have printed; fails at the first call that differs."""
    got, want = replay(ours, script), replay(theirs, script)
    calls = [line for line in script.splitlines() if line[0].isdigit()]
    for number, (call, a, b) in enumerate(zip(calls, got, want, strict=True)):
        assert a == b, f"call {number}: {call}"
    return want


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("algorithm", "attributes"),
    CASES,
    ids=[" ".join([name, *(f"{k}={v}" for k, v in given.items())]) for name, given in CASES],
)
def test_every_call_leaves_what_ns3_leaves(
    algorithm: str, attributes: dict[str, str], our_cc: Path, ns3_cc: Path
) -> None:
    windows: set[str] = set()
    for seed in range(SCRIPTS):
        script = Script(algorithm, attributes, seed).run(1500)
        windows.update(line.split()[2] for line in compare(script, our_cc, ns3_cc))
        compare(Script(algorithm, attributes, seed).run_wild(3000), our_cc, ns3_cc)
    # The scripts have moved the algorithm about: a comparison of constants would prove nothing.
    assert len(windows) > 100


def test_every_registered_algorithm_is_compared() -> None:
    """But for those that ns-3 lacks; the driver's own class is compared packet by packet."""
    named = {name for name, spec in registry.algorithms("cc").items() if not spec["is_own"]}
    assert named - {*ATTRIBUTES} == {"TcpDctcpReno"}
