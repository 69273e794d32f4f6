"""The figure and the table of docs/l4s.md: Prague beside CUBIC, and what packets wait alone.

    python -m benchmarks.l4s

writes docs/images/l4s.svg and prints the table.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np

import ccperf

mpl.use("svg")
from matplotlib import pyplot as plt

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "l4s.svg"
RATES = ("10Mbps", "40Mbps", "100Mbps", "200Mbps")
RTTS = ("5ms", "10ms", "25ms", "50ms", "100ms")
SEEDS = (1, 2, 3)
BEGIN = 10e9
#: Of Prague and Reno-friendly CUBIC at the same round trip: tests/catalogue/test_l4s.py.
LAW = (1 + math.sqrt(3)) / (2 * math.sqrt(1.5))
ALONE = {"Prague": "prague", "DCTCP, ECT(1)": "dctcp:UseEct0=false", "CUBIC": "cubic"}


def beside_cubic(rate: str, rtt: str, seed: int) -> tuple[float, float]:
    """The ratio of rates, Prague's over CUBIC's, and the law's."""
    result = ccperf.run(
        "l4s", cc="prague", rate=rate, rtts=f"[{rtt},{rtt}]", seed=seed, stop_time="60s"
    )
    samples = result.recording.flow_samples
    rates, trips = [], []
    for flow in (0, 1):
        of = (samples["time_ns"] >= BEGIN) & (samples["flow"] == flow)
        acked = samples["acked_bytes"][of]
        rates.append(float(acked[-1] - acked[0]))
        trips.append(float(np.mean(samples["srtt_ns"][of])))
    virtual = max(trips[0], 25e6)
    return rates[0] / rates[1], LAW * trips[1] / virtual


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
    left.set_yticks([0.1, 0.25, 0.5, 1, 2, 4], ["0.1", "0.25", "0.5", "1", "2", "4"])
    left.minorticks_off()
    left.legend(fontsize="small")
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
