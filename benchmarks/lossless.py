"""The figure and the tables of docs/lossless.md: laws of RoCE beside each other.

    python -m benchmarks.lossless

writes docs/images/lossless.svg and prints the tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

import ccperf
from ccperf.algorithms import registry

mpl.use("svg")
from matplotlib import pyplot as plt

# Ids of elements that are the same each time.
mpl.rcParams["svg.hashsalt"] = "ccperf"

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "lossless.svg"
LAWS = tuple(law["linux"][0] for law in registry.tables()["rate_control"])
#: When the short flow begins, in ms.
JOINS = 1.0
#: Times in ms, and values at them.
Line = tuple[np.ndarray, np.ndarray]


def run(experiment: str, law: str, **given: Any) -> Recording:
    return ccperf.run(experiment, transport=law, **given).recording


def queue(recording: Recording) -> Line:
    """What waits in front of the receiver, in kB."""
    samples = recording.link_samples
    return samples.array("time_ns") / 1e6, samples.array("qdisc_bytes") / 1e3


def rate(recording: Recording, flow: int) -> Line:
    """Payload that arrives, in Gbps over 50 us."""
    samples = recording.flow_samples
    of = samples.array("flow") == flow
    times, received = samples.array("time_ns")[of], samples.array("received_bytes")[of]
    step = 5
    return times[step:] / 1e6, (received[step:] - received[:-step]) * 8 / np.diff(times)[0] / step


def back(recording: Recording) -> float:
    """How long after the short flow's end the long one has nine tenths of the link again, in ms."""
    ended = recording.flows.array("completion_ns")[1] / 1e6
    times, rates = rate(recording, 0)
    there = times[(times > ended) & (rates > 0.9 * 40 * 1000 / 1046)]
    return float(there[0] - ended) if len(there) else np.inf


def completion(recording: Recording) -> np.ndarray:
    flows = recording.flows
    return (flows.array("completion_ns") - flows.array("start_ns")) / 1e6


def paused(recording: Recording) -> float:
    assert recording.pauses is not None
    return float(recording.pauses.array("paused_ns").max()) / 1e6


def mice(law: str) -> list[str]:
    """How long mice take beside two elephants, in us, and the queue that they meet, in kB."""
    recording = run("pfc_mice", law)
    took = completion(recording)[2:] * 1e3
    times, waiting = queue(recording)
    while_they_come = (times > 2) & (times < 7)
    return [
        f"{took.mean():.1f} us",
        f"{np.percentile(took, 99):.1f} us",
        f"{waiting[while_they_come].mean():.1f} kB",
    ]


def shares_while(recording: Recording, step_ns: float, senders: int) -> Any:
    """Bytes of each sender in the second half of each step: a row a step."""
    samples = recording.flow_samples
    received = samples.array("received_bytes").reshape(-1, senders)
    times = samples.array("time_ns").reshape(-1, senders)[:, 0]
    ends = np.arange(1, 2 * senders) * step_ns
    last, first = (received[np.searchsorted(times, at) - 1] for at in (ends, ends - step_ns / 2))
    return (last - first).astype(float)


def jain(shares: Any) -> float:
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def joining(law: str) -> list[str]:
    """Jain's index of two, three and four senders in the second half of a step, and what the last
    one has when it is alone again, in Gbps."""
    step, senders = 5e6, 4
    had = shares_while(run("pfc_joining", law), step, senders)
    indices = [jain(had[n - 1, :n]) for n in range(2, senders + 1)]
    return [*(f"{each:.3f}" for each in indices), f"{had[-1, -1] * 8 / (step / 2):.1f} Gbps"]


def main() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    heads = "incast: last | paused | short: took | long: back | queue"
    print(f"| law | {heads} |\n| --- | --- | --- | --- | --- | --- |")
    for law in LAWS:
        incast = run("pfc_incast", law)
        pair = run("pfc_long_short", law)
        times, waiting = queue(pair)
        ended = completion(pair)[1]
        print(
            f"| `{law}` | {completion(incast).max():.1f} ms | {paused(incast):.2f} ms "
            f"| {ended:.2f} ms | {back(pair):.2f} ms "
            f"| {waiting[(times > JOINS) & (times < JOINS + ended)].mean():.0f} kB |"
        )
        left.plot(*rate(pair, 0), label=law, linewidth=1.2)
        right.plot(times, waiting, linewidth=1.2)
    left.set(xlabel="time [ms]", ylabel="long flow's rate [Gbps]", xlim=(0.9, 5), ylim=(0, 42))
    left.legend(fontsize="small", loc="lower right")
    right.set(xlabel="time [ms]", ylabel="queue [kB]", xlim=(0.9, 2.2), ylim=(-5, 210))
    figure.savefig(IMAGE, metadata={"Date": None})
    heads = "mice: mean | 99th percentile | queue | two senders | three | four | the last one alone"
    print(f"\n| law | {heads} |\n|{' --- |' * 8}")
    for law in LAWS:
        print(f"| `{law}` | {' | '.join([*mice(law), *joining(law)])} |")


if __name__ == "__main__":
    main()
