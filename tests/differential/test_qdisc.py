"""Every queue discipline against ns-3's class: the same arrivals and departures, the same fate of
each packet at the same nanosecond, in the same order."""

from __future__ import annotations

import itertools
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

OPERATIONS = 6000

pytestmark = pytest.mark.ns3


@dataclass(frozen=True)
class Case:
    """A discipline with attributes, and what arrives at it."""

    qdisc: str
    attributes: dict[str, str] = field(default_factory=dict)
    flows: int = 6
    # Chances of NotECT, ECT(1), ECT(0), CE.
    ecn: tuple[int, int, int, int] = (1, 1, 2, 1)
    priorities: tuple[int, ...] = (0,)
    # How the device takes packets: one by one, or as many as the discipline gives.
    take: str = "dequeue"
    # Mean gaps between arrivals and between departures in microseconds, drawn anew for each phase.
    gaps_us: tuple[int, ...] = (50, 200, 1000, 5000)

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.attributes.items())
        return f"{self.qdisc}({given})"


def script(case: Case, seed: int) -> str:
    """Phases of overload, balance and idleness; some operations fall on the same nanosecond."""
    rng = random.Random(seed)
    lines = [f"qdisc {case.qdisc}", "mtu 1500", "stream 4096", f"run {seed}"]
    lines += [f"attribute {name} {value}" for name, value in case.attributes.items()]
    for i in range(case.flows):
        priority = rng.choice(case.priorities)
        lines.append(f"flow 10.0.0.{4 * i + 1} 20.0.{i}.1 {49152 + i} 5001 6 {priority}")
    now, departure = 0, 0
    for operation in range(OPERATIONS):
        if operation % 300 == 0:
            arrival_gap = rng.choice(case.gaps_us) * 1000
            departure_gap = rng.choice(case.gaps_us) * 1000
            grid = rng.choice([1, 1, 1000, 1_000_000])
        if departure <= now:
            lines.append(f"at {departure} {case.take}")
            departure += max(1, int(departure_gap * rng.uniform(0.8, 1.2)))
            continue
        flow, backward = rng.randrange(case.flows), rng.random() < 0.2
        size = rng.choice([40, 52, 552, 1500, 1500, 1500])
        ecn = rng.choices(range(4), case.ecn)[0]
        lines.append(f"at {now} enqueue {flow} {int(backward)} {size} {ecn}")
        if rng.random() > 0.1:
            now += int(rng.expovariate(1 / arrival_gap)) // grid * grid
        if departure < now - 20 * departure_gap:
            departure = now - departure_gap
    at = [line for line in lines if line.startswith("at ")]
    at.sort(key=lambda line: int(line.split()[1]))
    return "\n".join(lines[: len(lines) - len(at)] + at) + "\n"


ECN = {"UseEcn": "true"}
L4S = {"UseEcn": "true", "UseL4s": "true", "CeThreshold": "1ms"}

SETS = {"EnableSetAssociativeHash": "true", "Flows": "16", "SetWays": "4", "MaxSize": "500p"}
# Congested enough for PIE and RED to drop early, not so much that they only overflow.
BUSY = (200, 260, 300, 1000)

CASES = [
    Case("FifoQueueDisc", {"MaxSize": "20p"}),
    Case("FifoQueueDisc", {"MaxSize": "20000B"}),
    Case("CoDelQueueDisc"),
    Case("CoDelQueueDisc", {"MaxSize": "50p"} | ECN),
    Case("CoDelQueueDisc", {"MaxSize": "30000B", "CeThreshold": "3ms"} | ECN),
    Case("CoDelQueueDisc", {"Interval": "20ms", "Target": "1ms"}),
    Case("CoDelQueueDisc", {"Interval": "20ms", "Target": "1ms", "MinBytes": "4000"} | L4S),
    Case("FqCoDelQueueDisc"),
    Case("FqCoDelQueueDisc", {"MaxSize": "40p", "Flows": "4", "UseEcn": "false"}),
    Case("FqCoDelQueueDisc", {"MaxSize": "40p"}, flows=1),
    Case("FqCoDelQueueDisc", {"MaxSize": "200p", "CeThreshold": "2ms", "Perturbation": "77"}),
    Case("FqCoDelQueueDisc", {"MaxSize": "300p", "DropBatchSize": "3", "Interval": "10ms"} | L4S),
    Case("FqCoDelQueueDisc", SETS, flows=40),
    Case("PfifoFastQueueDisc", {"MaxSize": "30p"}, priorities=tuple(range(16))),
    Case("PrioQueueDisc", priorities=(0, 4, 6, 8), gaps_us=(50, 5000)),
    Case("PrioQueueDisc", {"Priomap": "0 1 0 1 0 1 0 1 1 1 1 1 0 0 0 0"}, priorities=(0, 1, 2, 15)),
    Case("RedQueueDisc"),
    Case("RedQueueDisc", ECN, gaps_us=BUSY),
    Case("RedQueueDisc", {"MaxSize": "60p", "QW": "0.05"} | ECN, gaps_us=BUSY),
    Case("RedQueueDisc", {"MaxSize": "60p", "QW": "0.05", "Gentle": "false"}, gaps_us=BUSY),
    Case(
        "RedQueueDisc",
        {"MaxSize": "60p", "QW": "0.1", "UseHardDrop": "false", "Wait": "false"} | ECN,
        gaps_us=BUSY,
    ),
    Case("RedQueueDisc", {"MaxSize": "90p", "QW": "0.1", "Ns1Compat": "true"}, gaps_us=BUSY),
    Case(
        "RedQueueDisc",
        {"MaxSize": "60000B", "MinTh": "7500", "MaxTh": "22500", "QW": "0.05"},
        gaps_us=BUSY,
    ),
    Case("RedQueueDisc", {"MaxSize": "100p", "ARED": "true", "LinkBandwidth": "20Mbps"}),
    Case(
        "RedQueueDisc",
        {"MaxSize": "100000B", "ARED": "true", "LinkBandwidth": "3Mbps", "Interval": "20ms"} | ECN,
        gaps_us=BUSY,
    ),
    Case("RedQueueDisc", {"MaxSize": "60p", "AdaptMaxP": "true", "QW": "-1"}, gaps_us=BUSY),
    Case("RedQueueDisc", {"MaxSize": "60p", "FengAdaptive": "true", "QW": "-2"}, gaps_us=BUSY),
    Case("RedQueueDisc", {"MaxSize": "60p", "NLRED": "true", "QW": "0"}, gaps_us=BUSY),
    Case("PieQueueDisc"),
    Case("PieQueueDisc", {"MaxSize": "300p"}, gaps_us=BUSY),
    Case("PieQueueDisc", {"MaxSize": "300p", "Supdate": "7ms"} | ECN, gaps_us=BUSY),
    Case("PieQueueDisc", {"MaxSize": "300p", "MarkEcnThreshold": "0.9"} | L4S, gaps_us=BUSY),
    Case("PieQueueDisc", {"MaxSize": "200000B", "UseDerandomization": "true"}, gaps_us=BUSY),
    Case(
        "PieQueueDisc",
        {"MaxSize": "300p", "UseDequeueRateEstimator": "true", "DequeueThreshold": "6000"},
        gaps_us=BUSY,
    ),
    Case(
        "PieQueueDisc",
        {"MaxSize": "300p", "ActiveThreshold": "10ms", "UseCapDropAdjustment": "false"},
    ),
    Case("PieQueueDisc", {"MaxSize": "100p", "Tupdate": "3ms", "MaxBurstAllowance": "10ms"}),
    Case("FqPieQueueDisc", {"MaxSize": "400p"}, gaps_us=BUSY),
    Case(
        "FqPieQueueDisc",
        {"MaxSize": "400p", "UseDerandomization": "true", "MarkEcnThreshold": "0.9", "A": "1"},
        gaps_us=BUSY,
    ),
    Case("FqPieQueueDisc", SETS | L4S, flows=40),
    Case("FqPieQueueDisc", {"UseDequeueRateEstimator": "true", "DequeueThreshold": "6000"}),
    Case("CobaltQueueDisc"),
    Case("CobaltQueueDisc", {"MaxSize": "40p", "CeThreshold": "2ms"} | ECN),
    Case("CobaltQueueDisc", {"MaxSize": "400p", "BlueThreshold": "15ms", "Increment": "0.1"}),
    Case("CobaltQueueDisc", {"Pdrop": "0.2", "Decrement": "0.05", "Interval": "20ms"} | L4S),
    Case("FqCobaltQueueDisc"),
    Case("FqCobaltQueueDisc", {"MaxSize": "80p", "Pdrop": "0.3", "Target": "1ms"}),
    Case("FqCobaltQueueDisc", SETS | L4S | {"BlueThreshold": "9ms"}, flows=40),
    Case("TbfQueueDisc", take="run"),
    Case("TbfQueueDisc", {"Rate": "10Mbps", "Burst": "6000", "MaxSize": "50p"}, take="run"),
    Case(
        "TbfQueueDisc",
        {"Rate": "20Mbps", "PeakRate": "30Mbps", "Burst": "20000", "MaxSize": "60000B"},
        take="run",
    ),
    Case("TbfQueueDisc", {"Rate": "7Mbps", "PeakRate": "9Mbps", "Mtu": "3000"}, take="run"),
]


def replay(program: Path, script: Path) -> list[str]:
    done = subprocess.run([program, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_packet_fares_as_in_ns3(
    case: Case, seed: int, ns3_qdisc: Path, our_qdisc: Path, tmp_path: Path
) -> None:
    path = tmp_path / "script"
    path.write_text(script(case, seed))
    theirs, ours = replay(ns3_qdisc, path), replay(our_qdisc, path)
    for number, (their, our) in enumerate(itertools.zip_longest(theirs, ours)):
        context = "\n".join(theirs[max(0, number - 5) : number])
        assert their == our, f"line {number}, after\n{context}"
