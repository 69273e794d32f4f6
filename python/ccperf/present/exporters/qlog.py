"""qlog (draft-ietf-quic-qlog-main-schema-02, version 0.3), for qvis."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.present.exporters.registry import exporter
from ccperf.present.exporters.sampled import sampled

if TYPE_CHECKING:
    from ccperf.runs.result import Result


@exporter("qlog", b"{", of_stored=True)
def qlog(result: Result, path: Path) -> None:
    """One trace a flow, from its sender: window, bytes in flight, RTT, threshold, pacing rate.

    An event has those values that changed since the grid's point before, as the schema asks for.
    """
    flows = sampled(result)
    samples = result.recording.flow_samples
    count = len(flows.names)
    columns = {
        "congestion_window": _matrix(samples.array("cwnd_bytes"), count),
        "bytes_in_flight": _matrix(samples.array("in_flight_bytes"), count),
        "smoothed_rtt": _matrix(samples.array("srtt_ns"), count) / 1e6,
        "ssthresh": _matrix(samples.array("ssthresh_bytes"), count),
        "pacing_rate": _matrix(samples.array("pacing_rate_bps"), count),
    }
    times = _matrix(samples.array("time_ns"), count)[:, 0] / 1e6
    document = {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": result.title,
        "description": f"ccperf {result.provenance.ccperf_version}, run {result.id}",
        "traces": [
            {
                "title": name,
                "vantage_point": {"name": name, "type": "client"},
                "common_fields": {
                    "group_id": name,
                    "protocol_type": ["TCP"],
                    "time_format": "relative",
                    "reference_time": 0,
                },
                "events": _events(times.tolist(), {k: v[:, flow] for k, v in columns.items()}),
            }
            for flow, name in enumerate(flows.names)
        ],
    }
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")


def _matrix(values: Any, count: int) -> Any:
    return np.asarray(values, dtype=float).reshape(-1, count)


def _events(times: list[float], columns: dict[str, Any]) -> list[dict[str, Any]]:
    events = []
    before: dict[str, float] = {}
    for index, time in enumerate(times):
        values = {name: float(values[index]) for name, values in columns.items()}
        # What is not known yet (no RTT) or not limited (ssthresh, pacing) is left out.
        known = {
            name: value if name == "smoothed_rtt" else int(value)
            for name, value in values.items()
            if np.isfinite(value) and not (name in _UNLIMITED and value in _UNLIMITED[name])
        }
        changed = {name: value for name, value in known.items() if before.get(name) != value}
        before |= changed
        if changed:
            events.append({"time": time, "name": "recovery:metrics_updated", "data": changed})
    return events


#: Values that stand for "no limit".
_UNLIMITED = {"ssthresh": {2.0**32 - 1, 2.0**31 - 1, 0.0}, "pacing_rate": {0.0}}
