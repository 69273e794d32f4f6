"""Small recordings made by hand, the scenarios they belong to, and a backend that serves them."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ccperf.present.figures import describe
from ccperf.runs.metrics import compute
from ccperf.runs.recording import TABLES, Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ccperf.present.figures import Figure
    from ccperf.runs.metrics import MetricTables

INTERVAL_NS = 30_000_000


@dataclass
class SmallScenario:
    """Just what metrics read of a scenario: flows with segment sizes, directions with qdiscs."""

    flows: list[dict[str, Any]]
    links: list[dict[str, Any]]
    stop_time: str
    changes: list[dict[str, Any]] = field(default_factory=list)
    warm_up: str | None = None

    @property
    def parsed(self) -> dict[str, Any]:
        return {
            "flows": self.flows,
            "links": self.links,
            "stop_time": self.stop_time,
            "changes": self.changes,
            "recording": {"warm_up": self.warm_up} if self.warm_up else {},
        }


@dataclass
class Dumbbell:
    """n flows over one bottleneck `btl`; every column constant unless given, per grid point."""

    flows: int = 1
    points: int = 500
    segment: int = 1448
    #: What each flow has to carry; without end, if 0.
    size: str = "0B"
    rate_bps: int | Sequence[int] = 16_000_000
    base_rtt_ns: int = 15_000_000
    interval_ns: int = INTERVAL_NS
    qdisc: bool = True
    #: When the flows start, at 0 if not given, and when the bottleneck changes.
    starts: Sequence[str] = ()
    changes: Sequence[str] = ()
    warm_up: str | None = None
    #: Sample columns, each of shape (points,) or (points, flows), or one value.
    samples: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    link_samples: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    counters: Mapping[str, Sequence[float]] = field(default_factory=dict)
    link_counters: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [f"flow_{i + 1}" for i in range(self.flows)]

    @property
    def stop_ns(self) -> int:
        return self.points * self.interval_ns

    def scenario(self) -> Any:
        qdisc = {"type": "FifoQueueDisc", "attributes": {}} if self.qdisc else None
        direction = {"rate": None, "qdisc": qdisc}
        rate = self.rate_bps if isinstance(self.rate_bps, int) else self.rate_bps[0]
        return SmallScenario(
            [
                {
                    "name": name,
                    "start": start,
                    "application": {"type": "Greedy", "bytes": self.size},
                    "tcp": {"SegmentSize": str(self.segment)},
                }
                for name, start in zip(self.names, self.starts or ["0s"] * self.flows, strict=True)
            ],
            [{"name": "btl", "rate": f"{rate}bps", "forward": direction, "reverse": direction}],
            stop_time=f"{self.stop_ns}ns",
            changes=[
                {"time": time, "link": "btl", "direction": "both", "rate": None}
                for time in self.changes
            ],
            warm_up=self.warm_up,
        )

    def recording(self) -> Recording:
        n, k = self.points, self.flows
        grid = np.arange(n) * self.interval_ns
        flow_samples = {"time_ns": np.repeat(grid, k), "flow": np.tile(np.arange(k), n)}
        for column in TABLES["flow_samples"][2:]:
            flow_samples[column.name] = self._column(column.kind, self.samples, column.name, k)
        link_samples = {"time_ns": np.repeat(grid, 2), "link": np.tile([0, 1], n)}
        both = {"rate_bps": self.rate_bps, **self.link_samples}
        for column in TABLES["link_samples"][2:]:
            link_samples[column.name] = self._column(column.kind, both, column.name, 2)
        flows: dict[str, Any] = {column.name: [0] * k for column in TABLES["flows"]}
        flows |= {
            "name": self.names,
            "bottleneck": ["btl_forward"] * k,
            "stop_ns": [self.stop_ns] * k,
            "completion_ns": [np.nan] * k,
            "base_rtt_ns": [self.base_rtt_ns] * k,
            **self.counters,
        }
        links: dict[str, Any] = {column.name: [0, 0] for column in TABLES["links"]}
        links |= {"name": ["btl_forward", "btl_reverse"], **self.link_counters}
        return Recording(
            {
                "flows": flows,
                "links": links,
                "drops": {column.name: [] for column in TABLES["drops"]},
                "flow_samples": flow_samples,
                "link_samples": link_samples,
            }
        )

    def metrics(self) -> MetricTables:
        """What the package makes of it."""
        return compute(self.scenario(), self.recording())

    def figure(self, name: str) -> Figure:
        """What the package draws of it."""
        return describe(name, self.scenario(), self.recording())

    def _column(
        self, kind: str, given: Mapping[str, npt.ArrayLike], name: str, width: int
    ) -> npt.NDArray[Any]:
        dtype = np.float64 if kind == "float" else np.int64
        missing = np.nan if kind == "float" else 0
        values = np.asarray(given.get(name, missing))
        if values.ndim == 1:
            values = values[:, np.newaxis]
        return np.broadcast_to(values, (self.points, width)).astype(dtype).ravel()


def small_scenario(flows: int = 1, seed: int = 42, label: str = "small") -> Any:
    """Return a complete scenario of `flows` flows over one bottleneck link `btl`."""
    from ccperf.scenario import Scenario

    fifo = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}}
    direction = {"qdisc": fifo, "device_queue": "1p"}
    return Scenario.model_validate(
        {
            "label": label,
            "stop_time": "15s",
            "seed": seed,
            "nodes": ["left", "right"],
            "links": [
                {
                    "name": "btl",
                    "ends": ["left", "right"],
                    "rate": "16Mbps",
                    "delay": "7.5ms",
                    "forward": direction,
                    "reverse": direction,
                }
            ],
            "flows": [
                {
                    "name": f"flow_{i + 1}",
                    "source": "left",
                    "destination": "right",
                    "start": "0s",
                    "stop": "15s",
                    "application": {"type": "Greedy", "bytes": "0B", "write": "512B"},
                    "cc": {"type": "TcpNewReno", "attributes": {}},
                    "recovery": "TcpPrrRecovery",
                    "tcp": {"SegmentSize": "1448"},
                }
                for i in range(flows)
            ],
        }
    )


@dataclass
class ScriptedBackend:
    """A backend whose runs are random walks drawn from the scenario's seed; a seed may fail."""

    name: str = "scripted"
    version: str = "1"
    #: Wall time of a run.
    seconds: float = 0.0
    failing_seeds: frozenset[int] = frozenset()
    #: The seeds simulated to the end.
    simulated: list[int] = field(default_factory=list)

    def available(self) -> str | None:
        return None

    def simulate(
        self,
        scenario: Any,
        *,
        packets: Path | None = None,  # noqa: ARG002
        progress: Callable[[float], None] | None = None,
        user_code: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Recording:
        for step in range(20):
            time.sleep(self.seconds / 20)
            if progress is not None:
                progress(step / 20)
        if scenario.seed in self.failing_seeds:
            raise RuntimeError(f"seed {scenario.seed} fails")
        flows = len(scenario.flows)
        draw = np.random.default_rng(scenario.seed)
        steps = draw.integers(0, 100_000, size=(500, flows))
        window = np.abs(np.cumsum(draw.integers(-1448, 1500, size=(500, flows)), axis=0))
        srtt = draw.integers(15_000, 40_000, size=(500, flows)) * 1e3
        srtt[0] = np.nan
        samples = {
            "received_bytes": np.cumsum(steps, axis=0) - steps[0],
            "cwnd_bytes": window,
            "srtt_ns": srtt,
        }
        self.simulated.append(scenario.seed)
        return Dumbbell(flows=flows, samples=samples).recording()


def hash_of(recording: Recording, *files: Path) -> str:
    """Of all tables, and of files that the run has written."""
    digest = hashlib.sha256()
    for name, table in recording.tables.items():
        for column, values in table.items():
            digest.update(f"{name}.{column}: {list(values)}".encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
