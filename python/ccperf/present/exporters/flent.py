"""Flent's data file (format version 4), for Flent's plots and its GUI."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.base.outputs import stem
from ccperf.present.exporters.registry import exporter
from ccperf.present.exporters.sampled import sampled

if TYPE_CHECKING:
    from ccperf.runs.result import Result

#: Simulated time begins here; nothing in a run depends on the clock.
EPOCH = datetime(2000, 1, 1, tzinfo=timezone.utc)


@exporter("flent", b"{", of_stored=True)
def flent(result: Result, path: Path) -> None:
    """The flows as those of Flent's test `tcp_nup`: throughput, RTT and window over time."""
    flows = sampled(result)
    results: dict[str, list[float | None]] = {}
    meta: dict[str, dict[str, Any]] = {}
    for number in range(len(flows.names)):
        name = f"TCP upload::{number + 1}"
        for suffix, units, values in (
            ("", "Mbits/s", flows.throughput_l4[:, number]),
            ("::tcp_rtt", "ms", flows.srtt[:, number]),
            ("::tcp_cwnd", "segments", flows.cwnd[:, number]),
        ):
            results[name + suffix] = [
                None if np.isnan(value) else value for value in values.tolist()
            ]
            meta[name + suffix] = {"UNITS": units}
        if algorithm := flows.algorithms[number]:
            meta[name]["CONG_CONTROL"] = algorithm
    x_values = flows.time.tolist()
    start = EPOCH.timestamp()
    step = x_values[0] if x_values else 0.0
    document = {
        "version": 4,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": result.title,
            "NOTE": f"ccperf {result.provenance.ccperf_version}, run {result.id}",
            "TIME": _time(0.0),
            "T0": _time(0.0),
            "HOST": flows.senders[0].get("destination", ""),
            "LOCAL_HOST": "ccperf",
            "LENGTH": x_values[-1] if x_values else 0.0,
            "TOTAL_LENGTH": x_values[-1] if x_values else 0.0,
            "STEP_SIZE": step,
            "TEST_PARAMETERS": {"upload_streams": str(len(flows.names))},
            "FLENT_VERSION": "2.1.1",
            "IP_VERSION": 4,
            "DATA_FILENAME": f"{stem(result)}.flent",
            "SERIES_META": meta,
        },
        "x_values": x_values,
        "results": results,
        "raw_values": {
            name: [
                {"t": start + at, "val": value}
                for at, value in zip(x_values, values, strict=True)
                if value is not None
            ]
            for name, values in results.items()
        },
    }
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")


def _time(seconds: float) -> str:
    return (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
