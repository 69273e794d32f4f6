"""docs/bbr.md: BBR's share beside CUBIC over queues, next to what is published, and random losses.

    python -m benchmarks.bbr

writes the page and docs/images/bbr.svg; `--without-kernel` leaves the column of Linux's own BBR as
it is in benchmarks/bbr_kernel.json.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

from ccperf import _native
from ccperf.evidence.summary import Summary, summarise
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs.backends import get
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario, profiles

mpl.use("svg")
from matplotlib import pyplot as plt

# Ids of elements that are the same each time.
mpl.rcParams["svg.hashsalt"] = "ccperf"

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "bbr.md"
IMAGE = ROOT / "docs" / "images" / "bbr.svg"
PUBLISHED = Path(__file__).with_name("bbr.json")
KERNEL = Path(__file__).with_name("bbr_kernel.json")

NAMES = {"bbr": "BBRv1", "bbr3": "BBRv3"}
PATHS = (("10Mbps", "40ms"), ("50Mbps", "30ms"))
#: In bandwidth-delay products; those below 1 have no published number.
BUFFERS = (0.1, 0.2, 0.5, 1, 2, 4, 8, 10, 16, 32, 64)
SEEDS = range(1, 6)
STOP, BEGIN = 300, 60
#: Of shares: the median error of Ware et al.'s model, which the field takes for exact enough.
ERROR = 0.05
#: The Linux kernel takes fifty times as long: only the slower path, and one run each.
KERNEL_PATH, KERNEL_SEED = PATHS[0], 1
PACKET = 1500
#: Buffers that limit nothing, and half of the largest that Linux's autotuning gives a sender: the
#: profile's hold twice what is asked for.
LARGE, LINUX_MOST = 64_000_000, 2_000_000

#: Of the table of random losses, on 100 Mbps and 20 ms.
LOSSES = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05)
LOSS_RATE, LOSS_RTT, LOSS_STOP = "100Mbps", "20ms", 30
#: Payload of what a link carries: 1448 of 1502 bytes.
GOODPUT = 1448 / 1502
THRESHOLD = 0.02


def bdp_bytes(rate: str, rtt: str) -> float:
    """The bandwidth-delay product, in bytes."""
    return _native.parse_rate(rate) * _native.parse_time(rtt) / 8e9


#: Packets that a probe of 1.25 BDP sends in a round.
PROBE = round(1.25 * bdp_bytes(LOSS_RATE, LOSS_RTT) / 1502)


def competition(
    cc: str, rate: str, rtt: str, buffer: float, seed: int, send_buffer: int = LARGE
) -> Scenario:
    """One flow of BBR and one of CUBIC, with Linux's TCP; who starts first depends on the seed."""
    packets = max(1, round(buffer * bdp_bytes(rate, rtt) / PACKET))
    starts = [f"{137 * seed}ms", "0s"] if seed % 2 else ["0s", f"{137 * seed}ms"]
    return dumbbell(
        rate=rate,
        qlen=f"{packets}p",
        rtts=[rtt, rtt],
        cc=[cc, "cubic"],
        starts=starts,
        tcp=profiles.tcp("linux", SndBufSize=send_buffer, RcvBufSize=LARGE),
        stop_time=f"{STOP}s",
        seed=seed,
        recording={"interval": "1s"},
    )


def acked(recording: Recording, flow: int, begin: float) -> float:
    """Bytes from a time on, in s."""
    samples = recording.flow_samples
    of = (samples["time_ns"] >= begin * 1e9) & (samples["flow"] == flow)
    counted = samples["acked_bytes"][of]
    return float(counted[-1] - counted[0])


def share(backend: str, scenario: Scenario) -> float:
    """Of the first flow."""
    recording = get(backend).simulate(scenario)
    ours, other = (acked(recording, flow, BEGIN) for flow in (0, 1))
    return ours / (ours + other)


def model(rate: str, rtt: str, buffer: float) -> float | None:
    """BBRv1's share by Ware et al., IMC 2019, equations 9 to 11, for a queue that is mostly full.

    p is CUBIC's; BBR sends nothing for a while each 10 s.
    """
    if buffer < 1:
        return None
    packets = buffer * bdp_bytes(rate, rtt) / PACKET
    p = max(0.0, 0.5 - 1 / (2 * buffer) - 4 / packets)
    round_trip = _native.parse_time(rtt) / 1e9
    return (1 - p) * (1 - (buffer * round_trip + 0.2 + round_trip) / 10)


@dataclass(frozen=True)
class Published:
    """Shares of trials."""

    least: float
    mean: float
    most: float


def published(data: Mapping[str, Any], cc: str, rate: str, rtt: str) -> dict[float, Published]:
    """By the queue."""
    found = {}
    for buffer, trials in data[f"{rate}, {rtt}"][cc].items():
        shares = [bbr / (bbr + cubic) for bbr, cubic in trials]
        found[float(buffer)] = Published(min(shares), sum(shares) / len(shares), max(shares))
    return found


def verdict(ours: Summary, printed: Published | None) -> str:
    if printed is None:
        return "not comparable: no number"
    spread = (ours.half_width or 0) + ERROR
    if printed.least - spread <= ours.mean <= printed.most + spread:
        return "agrees"
    return f"**differs** by {ours.mean - printed.mean:+.2f}"


def table(
    cc: str,
    path: tuple[str, str],
    ours: Mapping[float, Summary],
    printed: Mapping[float, Published],
    kernel: Mapping[float, float],
) -> list[str]:
    others = ["model", *(["Linux 7.3"] if kernel else [])] if cc == "bbr" else []
    head = ["queue [BDP]", "ours", "published (least to most)", *others, "verdict"]
    rows = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for buffer, found in ours.items():
        of = printed.get(buffer)
        cells = [
            f"{buffer:g}",
            f"{found.mean:.2f} ± {found.half_width or 0:.2f}",
            f"{of.mean:.2f} ({of.least:.2f} to {of.most:.2f})" if of else "-",
        ]
        if others:
            predicted = model(*path, buffer)
            cells.append("-" if predicted is None else f"{predicted:.2f}")
        if len(others) > 1:
            cells.append(f"{kernel[buffer]:.2f}")
        rows.append(f"| {' | '.join([*cells, verdict(found, of)])} |")
    return rows


def with_small_buffers(data: Mapping[str, Any]) -> list[str]:
    """The deepest queues where no sender may have more than Linux's in flight."""
    path = PATHS[1]
    rows = ["| queue [BDP] | algorithm | ours | published |", "| --- | --- | --- | --- |"]
    for buffer in (32, 64):
        for cc, name in NAMES.items():
            found = summarise(
                [
                    share("native", competition(cc, *path, buffer, seed, LINUX_MOST))
                    for seed in SEEDS
                ]
            )
            printed = published(data, cc, *path)[buffer].mean
            ours = f"{found.mean:.2f} ± {found.half_width or 0:.2f}"
            rows.append(f"| {buffer} | {name} | {ours} | {printed:.2f} |")
    return rows


def spoiled(loss: float) -> float:
    """That a probe of one round loses more than the threshold by chance: a binomial's tail."""
    few = range(int(THRESHOLD * PROBE) + 1)
    return 1 - sum(math.comb(PROBE, n) * loss**n * (1 - loss) ** (PROBE - n) for n in few)


def under_losses(cc: str, loss: float, seed: int) -> float:
    """Share of what the link could carry."""
    scenario = dumbbell(
        rate=LOSS_RATE,
        qlen=f"{round(bdp_bytes(LOSS_RATE, LOSS_RTT) / PACKET)}p",
        rtts=[LOSS_RTT],
        cc=[cc],
        loss=loss,
        tcp=profiles.tcp("linux"),
        stop_time=f"{LOSS_STOP}s",
        seed=seed,
    )
    bits = acked(get("native").simulate(scenario), 0, 2) * 8
    return bits / (_native.parse_rate(LOSS_RATE) * GOODPUT * (LOSS_STOP - 2))


def losses() -> list[str]:
    rows = [
        "| random loss | BBRv3 | BBRv1 | CUBIC | P(a probe of one round loses more than 2 %) |",
        "| --- | --- | --- | --- | --- |",
    ]
    for loss in LOSSES:
        cells = []
        for cc in ("bbr3", "bbr", "cubic"):
            found = summarise([under_losses(cc, loss, seed) for seed in SEEDS])
            cells.append(f"{100 * found.mean:.0f} ± {100 * (found.half_width or 0):.0f} %")
        rows.append(f"| {100 * loss:g} % | {' | '.join(cells)} | {spoiled(loss):.2f} |")
    return rows


def kernel_shares(run: bool) -> dict[float, float]:
    """Of BBRv1 in Linux's own TCP, by the queue: measured, or as it was last."""
    if run:
        found = {}
        for buffer in BUFFERS:
            scenario = competition("bbr", *KERNEL_PATH, buffer, KERNEL_SEED)
            found[str(buffer)] = round(share("linux", scenario), 3)
        KERNEL.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = json.loads(KERNEL.read_text(encoding="utf-8"))
    return {float(buffer): of for buffer, of in kept.items()}


@dataclass(frozen=True)
class Panel:
    """Shares by the queue in BDP; `modelled` is the path of those that have a closed form."""

    title: str
    modelled: tuple[str, str] | None
    ours: Mapping[float, Summary]
    printed: Mapping[float, Published]


def draw(panels: Sequence[Panel]) -> None:
    figure, axes = plt.subplots(1, len(panels), figsize=(11, 3), sharey=True, layout="constrained")
    for axis, panel in zip(axes, panels, strict=True):
        ours, printed = panel.ours, panel.printed
        axis.errorbar(
            list(ours),
            [found.mean for found in ours.values()],
            [found.half_width or 0 for found in ours.values()],
            marker="o",
            capsize=3,
            label="ccperf",
        )
        axis.errorbar(
            list(printed),
            [of.mean for of in printed.values()],
            [
                [of.mean - of.least for of in printed.values()],
                [of.most - of.mean for of in printed.values()],
            ],
            marker="s",
            linestyle="--",
            capsize=3,
            label="FABRIC, published",
        )
        if panel.modelled:
            curve = {buffer: model(*panel.modelled, buffer) for buffer in BUFFERS if buffer >= 1}
            axis.plot(list(curve), list(curve.values()), color="black", label="Ware et al.")
        axis.axhline(0.5, color="grey", linewidth=0.5)
        axis.set(xscale="log", ylim=(0, 1), xlabel="queue [BDP]", title=panel.title)
        axis.set_xticks([0.1, 1, 10, 64], ["0.1", "1", "10", "64"])
        axis.title.set_fontsize("medium")
    axes[0].set_ylabel("share of BBR beside CUBIC")
    axes[0].legend(fontsize="small")
    figure.savefig(IMAGE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.bbr", description=__doc__)
    parser.add_argument("--without-kernel", action="store_true")
    parser.add_argument("--only-kernel", action="store_true", help="writes the file of that alone")
    options = parser.parse_args()
    kernel = kernel_shares(not options.without_kernel)
    if options.only_kernel:
        return
    data = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    panels: list[Panel] = []
    tables: list[str] = []
    verdicts: list[str] = []
    for cc in NAMES:
        for path in PATHS:
            ours = {
                buffer: summarise(
                    [share("native", competition(cc, *path, buffer, seed)) for seed in SEEDS]
                )
                for buffer in BUFFERS
            }
            printed = published(data, cc, *path)
            title = f"{NAMES[cc]}, {path[0]}, {path[1]}"
            panels.append(Panel(title, path if cc == "bbr" else None, ours, printed))
            verdicts += [verdict(ours[buffer], printed[buffer]) for buffer in printed]
            tables += ["", f"### {title}", ""]
            tables += table(cc, path, ours, printed, kernel if path == KERNEL_PATH else {})
    draw(panels)
    text = TEXT.format(
        shares="\n".join(tables),
        small="\n".join(with_small_buffers(data)),
        losses="\n".join(losses()),
        path=f"{LOSS_RATE} and {LOSS_RTT}",
        probe=PROBE,
        agreed=verdicts.count("agrees"),
        comparable=len(verdicts),
    )
    PAGE.write_text(text, encoding="utf-8")


TEXT = """\
# BBR beside CUBIC, and random losses

(Made by `python -m benchmarks.bbr`: four minutes of processor time, a quarter of it the Linux
kernel's.)

## Shares over the queue

![Share of BBR beside CUBIC over the size of the queue, ours and published](images/bbr.svg)

One flow of BBR and one of CUBIC meet at a drop-tail queue. The share is BBR's part of what both
get, from 60 s to 300 s. Ours is the mean of five seeds (who starts, and when) with its 95 %
interval; both flows have the TCP of the [profile `linux`](linux-profile.md).

Published numbers:

* F. B. Sarpkaya, A. Srivastava, F. Fund, S. Panwar, "BBR's Sharing Behavior with CUBIC and Reno",
  IFIP Networking 2025 ([arXiv 2505.07741](https://arxiv.org/abs/2505.07741)): Linux hosts on the
  testbed FABRIC, three trials, from the data behind figures 2 (BBRv1) and 5 (BBRv3).
* R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Modeling BBR's Interactions with Loss-Based
  Congestion Control", IMC 2019: the column "model", a closed form for BBRv1. With a queue of X
  BDP and q packets CUBIC gets p = 1/2 - 1/(2 X) - 4/q. Of the rest BBR loses what it is
  silent, q/c + 0.2 s + l every 10 s. The paper gives a median error of 5 %.
* Below 1 BDP we found figures only, and no numbers: D. Zeynali et al., "Promises and
  Potential of BBRv3", PAM 2024, says that BBRv3 struggles to share equitably with CUBIC over a
  wide range of conditions. These rows are ours alone.

A row agrees if our mean is within the published trials, widened by our interval and that 5 %.
{agreed} rows of {comparable} do.
{shares}

BBRv1 is Linux's here, by number ([the profile](linux-profile.md#bbr)). Up to 16 BDP our means are
within 0.03 of the testbed's, whose hosts ran Linux, and nothing was fitted to them. With ns-3's
class in its place they were up to 0.10 higher.

Why others differ, as far as we know:

* *32 and 64 BDP.* Such a queue holds up to 12 MB, and Linux's autotuning gives a sender 4 MB
  at most, so that CUBIC cannot fill it. Ours may have 64 MB. A send buffer of 4 MB at 50 Mbps does
  not show what the testbed's does: the profile's application writes all that cwnd lets leave at
  once, also beyond the buffer, so that CUBIC has up to 13 MB in flight. So does Linux 7.3.4 where
  its buffer is set: with 131,072 B both have 2,374,720 B in flight after 8 s
  ([profile](linux-profile.md#how-far-it-agrees-with-a-kernel)). BBRv1 then gets nothing:

{small}

* *BBRv3 with 32 BDP or more.* The testbed ran Google's code of 2023; ours is version 06 of the
  draft, of 2026, which changed DRAIN, probing and bounds since. Which change does it is open: there
  is no kernel with BBRv3 here to take apart. With 1 BDP at 50 Mbps its share was 0.80 as long as
  segments were paced one by one; by bursts, as Linux paces, it is 0.63 (testbed 0.58).

## Random losses

The draft's own goal is 1 % of random loss (section 2.1). Its threshold of 2 % is for what one
round loses, not for a mean. On {path}, five seeds, share of what the link can carry:

{losses}

The last column is a closed form. A probe sends 1.25 BDP, {probe} packets, in a round. It
ends if more than 2 % of them are lost: a tail of the binomial distribution. At 1 % chance spoils
one probe in seventeen, at 2 % two of five, at 3 % three of four. A spoiled probe lowers the bound
on what may be in flight (`inflight_longterm`), to 0.7 of the target at the least, and the next
one begins from there: at 2 % it falls about as often as it can rise. Between probes each round
with a loss takes the pacing margin of 1 % and what its best sample lacks, another 1 % or so at 2
% loss, for up to 63 rounds. 0.98^63 = 0.28 of the rate is left at the end, 0.57 on average. So a
draft-conforming BBRv3 cannot keep 90 % of this link at 2 % loss. BBRv1, which asks no loss, does.

## CUBIC's response function

RFC 9438 (section 5.1, table 1) gives CUBIC's mean window for losses at equal distances, a round
trip of 100 ms. Random losses are geometric in their distance, and the window at a loss is another
each time. With W = (RTT / p)^(3/4) w and t = (RTT / p)^(1/4) s neither RTT nor p is left in the
law of the window, so that the correction is one number: 1.12 with fast convergence. Where Reno's
window is larger, as at 1e-3, it is that of both laws.

| p | RFC 9438 | corrected for random losses | ccperf |
| --- | --- | --- | --- |
| 1e-3 | 38 | 42.9 | 43.8 |
| 1e-4 | 187 | 210 | 219 |
| 1e-5 | 1,054 | 1,185 | 1,113 |

`tests/scenario/test_cubic_response.py` derives the correction and holds the engine to it, within
three standard errors.
"""

if __name__ == "__main__":
    main()
