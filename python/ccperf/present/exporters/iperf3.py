"""The JSON that `iperf3 --json` prints, for the tools that read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.present.exporters.registry import exporter
from ccperf.present.exporters.sampled import sampled

if TYPE_CHECKING:
    from ccperf.runs.metrics import FlowSeries
    from ccperf.runs.result import Result


@exporter("json", b'{"start": {', of_stored=True)
def iperf3(result: Result, path: Path) -> None:
    """One stream a flow, one interval for each of the grid.

    Bytes are those that applications write and read, once each: iperf3 does not see what TCP sends
    again, nor what comes twice.
    What a simulation does not have (processor load, RTT variance) is 0, as iperf3 prints it where
    the system does not tell.
    """
    flows = sampled(result)
    samples = result.recording.flow_samples
    count = len(flows.names)

    def matrix(column: str) -> Any:
        return np.asarray(samples.array(column), dtype=float).reshape(-1, count)

    times = matrix("time_ns")[:, 0] / 1e9
    sent, received = matrix("written_bytes"), matrix("read_bytes")
    again, cwnd, srtt = matrix("retransmissions"), matrix("cwnd_bytes"), matrix("srtt_ns")
    intervals = []
    for index in range(1, times.size):
        span = _span(float(times[index - 1]), float(times[index]))
        streams = [
            {
                "socket": flow + 1,
                **span,
                **_amount(sent[index, flow] - sent[index - 1, flow], span["seconds"]),
                "retransmits": int(again[index, flow] - again[index - 1, flow]),
                "snd_cwnd": int(cwnd[index, flow]),
                "snd_wnd": 0,
                "rtt": int(np.nan_to_num(srtt[index, flow]) / 1e3),
                "rttvar": 0,
                "pmtu": 1500,
                "omitted": False,
                "sender": True,
            }
            for flow in range(count)
        ]
        intervals.append({"streams": streams, "sum": _sum(streams, span)})
    whole = _span(0.0, float(times[-1]) if times.size else 0.0)
    ends = [
        {
            "sender": _end(flow, sent, whole, again),
            "receiver": _end(flow, received, whole),
        }
        for flow in range(count)
    ]
    algorithms = ",".join(dict.fromkeys(filter(None, flows.algorithms)))
    document = {
        "start": _start(result, flows, whole),
        "intervals": intervals,
        "end": {
            "streams": ends,
            "sum_sent": _sum([end["sender"] for end in ends], whole),
            "sum_received": _sum([end["receiver"] for end in ends], whole),
            "cpu_utilization_percent": dict.fromkeys(
                (
                    "host_total",
                    "host_user",
                    "host_system",
                    "remote_total",
                    "remote_user",
                    "remote_system",
                ),
                0.0,
            ),
            "sender_tcp_congestion": algorithms,
            "receiver_tcp_congestion": algorithms,
        },
    }
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")


def _start(result: Result, flows: FlowSeries, whole: dict[str, float]) -> dict[str, Any]:
    """What iperf3 says before the first interval."""
    return {
        "connected": [
            {
                "socket": number,
                # Of transfers of workloads nobody has written the ends.
                "local_host": flow.get("source", ""),
                "local_port": flow.get("source_port", 0),
                "remote_host": flow.get("destination", ""),
                "remote_port": flow.get("destination_port", 0),
            }
            for number, flow in enumerate(flows.senders, start=1)
        ],
        "version": f"ccperf {result.provenance.ccperf_version}",
        "system_info": f"ccperf run {result.id}: {result.title}",
        "timestamp": {"time": "Sat, 01 Jan 2000 00:00:00 GMT", "timesecs": 946684800},
        "connecting_to": {
            "host": flows.senders[0].get("destination", ""),
            "port": flows.senders[0].get("destination_port", 0),
        },
        "cookie": result.id,
        "tcp_mss_default": int(flows.segment_bytes[0]),
        "test_start": {
            "protocol": "TCP",
            "num_streams": len(flows.names),
            "blksize": 131072,
            "omit": 0,
            "duration": round(whole["seconds"]),
            "bytes": 0,
            "blocks": 0,
            "reverse": 0,
            "tos": 0,
        },
    }


def _span(start: float, end: float) -> dict[str, float]:
    return {"start": start, "end": end, "seconds": end - start}


def _amount(amount: float, seconds: float) -> dict[str, Any]:
    return {"bytes": int(amount), "bits_per_second": 8 * amount / seconds if seconds else 0.0}


def _end(flow: int, counted: Any, whole: dict[str, float], again: Any = None) -> dict[str, Any]:
    total = float(counted[-1, flow]) if len(counted) else 0.0
    end = {"socket": flow + 1, **whole, **_amount(total, whole["seconds"])}
    if again is None:
        return {**end, "sender": False}
    return {**end, "retransmits": int(again[-1, flow]) if len(again) else 0, "sender": True}


def _sum(streams: list[dict[str, Any]], span: dict[str, float]) -> dict[str, Any]:
    total: dict[str, Any] = {
        **span,
        "bytes": sum(stream["bytes"] for stream in streams),
        "bits_per_second": sum(stream["bits_per_second"] for stream in streams),
    }
    if streams and "retransmits" in streams[0]:
        total["retransmits"] = sum(stream["retransmits"] for stream in streams)
    if streams and "omitted" in streams[0]:
        total["omitted"] = False
    return {**total, "sender": bool(streams) and streams[0]["sender"]}
