"""The figure and the tables of docs/l4s.md: Prague beside CUBIC, and what packets wait alone.

python -m benchmarks.l4s             # writes docs/images/l4s.svg and prints the first tables
python -m benchmarks.l4s --parts     # where the coupled laws are off, part by part
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np

import ccperf
from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell
from ccperf.runs.backends import get
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario, profiles

mpl.use("svg")
from matplotlib import pyplot as plt

# Ids of elements that are the same each time.
mpl.rcParams["svg.hashsalt"] = "ccperf"

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "l4s.svg"
RATES = ("10Mbps", "40Mbps", "100Mbps", "200Mbps")
RTTS = ("5ms", "10ms", "25ms", "50ms", "100ms")
SEEDS = (1, 2, 3)
BEGIN = 10e9
#: Of a window: Prague's with p_L, CUBIC's with the root of p_C (tests/catalogue/test_l4s.py).
PRAGUE_LAW, CUBIC_LAW = 1 + math.sqrt(3), math.sqrt(1.5)
#: Of the rates of both at the same round trip, with the coupling of two.
LAW = PRAGUE_LAW / (2 * CUBIC_LAW)
ALONE = {"Prague": "prague", "DCTCP, ECT(1)": "dctcp:UseEct0=false", "CUBIC": "cubic"}


def rates_and_trips(
    rate: str, rtt: str, seed: int, begin: float
) -> tuple[list[float], list[float]]:
    """From `begin` on, in ns: bytes and smoothed round trips in ns of Prague and of CUBIC."""
    result = ccperf.run(
        "l4s", cc="prague", rate=rate, rtts=f"[{rtt},{rtt}]", seed=seed, stop_time="60s"
    )
    samples = result.recording.flow_samples
    rates, trips = [], []
    for flow in (0, 1):
        of = (samples["time_ns"] >= begin) & (samples["flow"] == flow)
        acked = samples["acked_bytes"][of]
        rates.append(float(acked[-1] - acked[0]))
        trips.append(float(np.mean(samples["srtt_ns"][of])))
    return rates, trips


def beside_cubic(rate: str, rtt: str, seed: int) -> tuple[float, float]:
    """The ratio of rates, Prague's over CUBIC's, and the law's."""
    rates, trips = rates_and_trips(rate, rtt, seed, BEGIN)
    virtual = max(trips[0], 25e6)
    return rates[0] / rates[1], LAW * trips[1] / virtual


END = 60


@dataclass(frozen=True)
class Parts:
    """The ratio of rates over that of the laws, and what it is the product of."""

    ratio: float
    #: Prague's window over its law's with the marks that it got.
    prague: float
    #: CUBIC's law's with the losses that it got over its window.
    cubic: float
    #: The root of p_C over p_L / 2.
    coupling: float


def many(rtt: str, flows: int, seed: int) -> Scenario:
    """So many of each kind, with 100 Mbps for two."""
    rng = random.Random(seed)
    return dumbbell(
        Bottleneck(f"{100 * flows}Mbps", None, "DualPi2QueueDisc"),
        [
            DumbbellFlow(
                cc, rtt, start=f"{rng.randint(0, 25_000_000)}ns", tcp=profiles.tcp("linux")
            )
            for cc in ("prague", "cubic")
            for _ in range(flows)
        ],
        stop_time=f"{END}s",
        seed=seed,
        recording={"interval": "100ms"},
    )


def signals(recording: Recording) -> tuple[int, int]:
    """Marks and drops at the bottleneck from 10 s on: the ones are all Prague's, the others all
    CUBIC's.
    """
    samples = recording.link_samples
    link = list(recording.links["name"]).index("btl_forward")
    of = (samples["link"] == link) & (samples["time_ns"] >= BEGIN)
    marked, dropped = (samples[name][of] for name in ("qdisc_marked", "qdisc_dropped"))
    return int(marked[-1] - marked[0]), int(dropped[-1] - dropped[0])


def parts(rtt: str, flows: int, seed: int) -> Parts:
    """From 10 s on."""
    recording = get("native").simulate(many(rtt, flows, seed))
    samples = recording.flow_samples
    packets, trips = [0.0, 0.0], [0.0, 0.0]
    for flow in range(2 * flows):
        of = (samples["time_ns"] >= BEGIN) & (samples["flow"] == flow)
        acked = samples["acked_bytes"][of]
        packets[flow // flows] += float(acked[-1] - acked[0]) / 1448
        trips[flow // flows] += float(np.mean(samples["srtt_ns"][of])) / 1e9 / flows
    marked, lost = (count / sent for count, sent in zip(signals(recording), packets, strict=True))
    seconds = (samples["time_ns"][-1] - BEGIN) / 1e9
    windows = [sent / seconds / flows * trip for sent, trip in zip(packets, trips, strict=True)]
    virtual = max(trips[0], 0.025)
    return Parts(
        packets[0] / packets[1] / (LAW * trips[1] / virtual),
        windows[0] * marked / PRAGUE_LAW * virtual / trips[0],
        CUBIC_LAW / (windows[1] * math.sqrt(lost)),
        2 * math.sqrt(lost) / marked,
    )


def table_of_parts() -> None:
    print("| RTT | flows of each | ratio / law | Prague's law | CUBIC's law | coupling |")
    print("| --- " * 6 + "|")
    for rtt, flows, seeds in (
        ("20ms", 1, 6),
        ("25ms", 1, 6),
        ("35ms", 1, 6),
        ("50ms", 1, 6),
        ("25ms", 4, 4),
        ("25ms", 16, 4),
    ):
        found = [parts(rtt, flows, seed) for seed in range(1, seeds + 1)]
        cells = [
            mean_of([getattr(of, name) for of in found])
            for name in ("ratio", "prague", "cubic", "coupling")
        ]
        print(f"| {rtt} | {flows} | {' | '.join(cells)} |", flush=True)


def mean_of(values: Sequence[float]) -> str:
    """The geometric mean with its standard error."""
    logs = np.log(values)
    mean = math.exp(float(np.mean(logs)))
    return f"{mean:.2f} ± {mean * float(np.std(logs, ddof=1)) / math.sqrt(len(values)):.2f}"


def waits(cc: str) -> np.ndarray:
    """Of each packet alone on 100 Mbps and 25 ms, in ms, from 10 s on."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "packets.csv"
        ccperf.run("l4s", cc=cc, mix="1:0", packets=trace)
        came: dict[str, int] = {}
        found = []
        with trace.open() as lines:
            for line in lines:
                time, link, event, _, seq, *_ = line.split(",")
                if link != "btl_forward":
                    continue
                if event == "enqueue":
                    came[seq] = int(time)
                elif event == "tx" and int(time) >= BEGIN:
                    found.append((int(time) - came.pop(seq)) / 1e6)
    return np.sort(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.l4s", description=__doc__)
    parser.add_argument("--parts", action="store_true")
    if parser.parse_args().parts:
        table_of_parts()
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    print("| RTT | " + " | ".join(RATES) + " | law |")
    print("| --- " * (len(RATES) + 2) + "|")
    means: dict[str, list[float]] = {rate: [] for rate in RATES}
    laws = []
    for rtt in RTTS:
        row = []
        for rate in RATES:
            pairs = [beside_cubic(rate, rtt, seed) for seed in SEEDS]
            means[rate].append(float(np.mean([pair[0] for pair in pairs])))
            row.append(f"{means[rate][-1]:.2f}")
        laws.append(float(np.mean([pair[1] for pair in pairs])))
        print(f"| {rtt} | " + " | ".join(row) + f" | {laws[-1]:.2f} |")
    trips = [float(rtt.removesuffix("ms")) for rtt in RTTS]
    for rate in RATES:
        left.plot(trips, means[rate], marker="o", label=rate.replace("Mbps", " Mbps"))
    left.plot(trips, laws, color="black", linestyle="--", label="coupled laws")
    left.set(
        xscale="log",
        yscale="log",
        xlabel="round trip without queues [ms]",
        ylabel="rate of Prague / rate of CUBIC",
    )
    left.set_xticks(trips, [f"{trip:g}" for trip in trips])
    left.set_yticks([0.05, 0.1, 0.25, 0.5, 1, 2, 4], ["0.05", "0.1", "0.25", "0.5", "1", "2", "4"])
    left.minorticks_off()
    left.set_ylim(0.04, 4)
    left.legend(fontsize="small", loc="lower left", ncols=2)
    for name, cc in ALONE.items():
        found = waits(cc)
        shares = np.linspace(0, 1, 201)
        right.plot(np.quantile(found, shares), shares, label=name)
        print(f"{name}: median {np.median(found):.2f} ms, 99 % {np.percentile(found, 99):.2f} ms")
    right.set(xscale="log", xlim=(0.05, 50), xlabel="time in the queue [ms]", ylabel="packets")
    right.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    right.legend(fontsize="small")
    figure.savefig(IMAGE, metadata={"Date": None})


if __name__ == "__main__":
    main()
