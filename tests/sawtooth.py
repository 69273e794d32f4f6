"""Recordings as AIMD flows over one bottleneck leave them, from a fluid model: quick and exact.

All flows of a run grow by one segment a round trip and halve when the queue overflows, so windows
draw the well-known saw-tooth; sRTT and throughput follow from the queue. The numbers are those of
no real transport, but shapes, units and sizes are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recordings import Dumbbell

if TYPE_CHECKING:
    from ccperf.present.figures import Figure

SEGMENT = 1448
WIRE = SEGMENT + 54


@dataclass(frozen=True)
class Sawtooth:
    """`flows` AIMD flows; `rate_bps` changes to `later_rate_bps` at a quarter of the run."""

    flows: int = 1
    rate_bps: int = 16_000_000
    later_rate_bps: int | None = None
    base_rtt_ns: int = 15_000_000
    queue_packets: int = 20
    points: int = 500
    stagger_ns: int = 0

    def dumbbell(self) -> Dumbbell:
        rng = np.random.default_rng(1)
        step_ns, interval_ns = 1_000_000, 30_000_000
        per_interval = interval_ns // step_ns
        window = np.full(self.flows, 10.0)
        threshold = np.full(self.flows, np.inf)
        start = np.arange(self.flows) * self.stagger_ns
        acked = np.zeros(self.flows)
        dropped = np.zeros(self.flows)
        rows: dict[str, list[Any]] = {
            key: [] for key in ("cwnd", "srtt", "acked", "lost", "queue", "rate")
        }
        srtt = np.full(self.flows, np.nan)
        queue = 0.0
        for step in range(self.points * per_interval):
            now = step * step_ns
            later = self.later_rate_bps is not None and step > self.points * per_interval // 4
            rate = self.later_rate_bps if later else self.rate_bps
            if step % per_interval == 0:
                rows["cwnd"].append(np.where(now >= start, window, 0))
                rows["srtt"].append(srtt.copy())
                rows["acked"].append(acked.copy())
                rows["lost"].append(dropped.copy())
                rows["queue"].append(queue)
                rows["rate"].append(rate)
            active = now >= start
            bdp = rate * self.base_rtt_ns / 1e9 / 8 / WIRE
            total = window[active].sum()
            queue = max(0.0, total - bdp)
            rtt_ns = self.base_rtt_ns + queue * WIRE * 8 / rate * 1e9
            speed = window / rtt_ns * step_ns
            acked += np.where(active, np.minimum(speed, window / total * bdp), 0) * SEGMENT
            sample = rtt_ns * (1 + 0.01 * rng.standard_normal(self.flows))
            srtt = np.where(
                active, np.where(np.isnan(srtt), sample, srtt * 0.9 + sample * 0.1), srtt
            )
            if queue > self.queue_packets:
                hit = active & (rng.random(self.flows) < max(0.5, 1 / self.flows))
                hit[int(np.argmax(window))] = True
                threshold = np.where(hit, window / 2, threshold)
                window = np.where(hit, np.maximum(window / 2, 2), window)
                dropped += hit
                queue = max(0.0, float(window[active].sum()) - bdp)
            growth = np.where(window < threshold, speed, speed / window)
            window = window + np.where(active, growth, 0)
        cwnd = np.array(rows["cwnd"])
        acked_bytes = np.array(rows["acked"]).astype(np.int64)
        lost = np.array(rows["lost"]).astype(np.int64)
        flow_samples = {
            "cwnd_bytes": (cwnd * SEGMENT).astype(np.int64),
            "in_flight_bytes": np.floor(cwnd).astype(np.int64) * SEGMENT,
            "srtt_ns": np.array(rows["srtt"]),
            "sent_bytes": acked_bytes + lost * SEGMENT,
            "received_bytes": acked_bytes,
            "acked_bytes": acked_bytes,
            "read_bytes": acked_bytes,
            "written_bytes": acked_bytes + 4_000_000,
            "retransmissions": lost,
            "idt_ewma_ns": np.full(cwnd.shape, 1.1e6),
            "one_way_delay_ns": np.full(cwnd.shape, 2e9),
        }
        queue_packets = np.array(rows["queue"]).astype(np.int64)
        wire = (acked_bytes.sum(axis=1) * WIRE) // SEGMENT
        return Dumbbell(
            flows=self.flows,
            points=self.points,
            base_rtt_ns=self.base_rtt_ns,
            samples=flow_samples,
            link_samples={
                "rate_bps": np.array(rows["rate"]),
                "tx_bytes": wire,
                "qdisc_packets": queue_packets,
                "sojourn_ns": queue_packets * WIRE * 8 / np.array(rows["rate"]) * 1e9,
            },
            counters={
                "retransmissions": lost[-1].tolist(),
                "segments_sent": (acked_bytes[-1] // SEGMENT + lost[-1]).tolist(),
                "recovery_episodes": lost[-1].tolist(),
                "recovery_time_ns": (lost[-1] * 24_000_000).tolist(),
                "start_ns": start.tolist(),
            },
            link_counters={"qdisc_dropped": [int(lost[-1].sum()), 0]},
        )


#: One flow and many, each with the same share of the bottleneck and of its queue.
RUNS = {
    1: Sawtooth(points=120),
    5: Sawtooth(flows=5, rate_bps=80_000_000, queue_packets=100, points=120),
    50: Sawtooth(flows=50, rate_bps=800_000_000, queue_packets=1000, points=120),
}


def figure(name: str, flows: int) -> Figure:
    """A figure of one of these runs."""
    return RUNS[flows].dumbbell().figure(name)
