"""``fct_parser.py``: completion times of the data flows in files of ns-3's FlowMonitor.

A completion time is that from the first packet sent, the SYN, to the last one received, which
carries the FIN. The file does not say whether a flow had more to send: what the end of a run cut
off counts as finished here, as in the original.
"""

from __future__ import annotations

import glob
import math
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.runs.flow_monitor import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.runs.flow_monitor import MonitoredFlow

#: Bytes with headers and retransmissions: flows below the first are small, above the second large.
SMALL_BYTES, LARGE_BYTES = 100_000, 10_000_000
#: IP bytes of an acknowledgement, and what the other packets of a direction without data add.
_ACK, _CONTROL = 52, range(4, 25)


@dataclass(frozen=True)
class Completion:
    """A flow that ended: its bytes at the IP layer, and the time it took in s."""

    size: int
    seconds: float


def asked_for(words: Sequence[str]) -> list[str] | None:
    """The arguments, if the command line is one of the parser's, with ``python`` or without."""
    rest = [word for one in words for word in one.split()] if len(words) == 1 else list(words)
    if rest and Path(rest[0]).name.startswith("python"):
        rest = rest[1:]
    if not rest or Path(rest[0]).name != "fct_parser.py":
        return None
    return rest[1:]


def parse(patterns: Sequence[str]) -> list[str]:
    """The parser's lines for the files that fit, the means of their means if there are several.

    Raises:
        UsageError: if no file does.
        RunError: for a file that is not of a flow monitor.
    """
    if not patterns:
        raise UsageError("fct_parser.py", "has no file; name one of a FlowMonitor")
    paths = sorted({Path(p) for pattern in patterns for p in glob.glob(pattern)})
    if not paths:
        raise UsageError("fct_parser.py", f"`{patterns[0]}` is not there")
    lines: list[str] = []
    summaries = []
    flows = sent = received = 0
    for path in paths:
        data = [flow for flow in read(path) if is_data(flow)]
        completions = [completion(flow) for flow in data]
        lines += [
            f"Flow {flow.id}: {each.size} B, FCT {each.seconds:.6f}"
            for flow, each in zip(data, completions, strict=True)
        ]
        summaries.append(means(completions))
        flows += len(completions)
        sent += sum(flow.tx_packets for flow in data)
        received += sum(flow.rx_packets for flow in data)
    overall = [_mean([one[i] for one in summaries if not math.isnan(one[i])]) for i in range(4)]
    return [
        *lines,
        *named(overall),
        f"Total Flow: {flows}",
        f"Total TX: {sent}",
        f"Total RX: {received}",
    ]


def named(values: Sequence[float]) -> list[str]:
    """The lines of the means of all, large and small flows and of the small ones' percentile."""
    names = ("AVG FCT", "AVG Large flow FCT", "AVG Small flow FCT", "AVG Small flow 99 FCT")
    return [f"{name}: {value:.6f}" for name, value in zip(names, values, strict=True)]


def means(completions: Sequence[Completion]) -> list[float]:
    """Of all, large and small flows the mean time in s, and the small ones' 99th percentile: the
    value at rank floor(0.99 n), from 0. NaN where there is no flow."""
    small = sorted(each.seconds for each in completions if each.size < SMALL_BYTES)
    return [
        _mean([each.seconds for each in completions]),
        _mean([each.seconds for each in completions if each.size > LARGE_BYTES]),
        _mean(small),
        small[int(0.99 * len(small))] if small else math.nan,
    ]


def is_data(flow: MonitoredFlow) -> bool:
    """Whether a direction carries data, and more than one packet."""
    if flow.tx_bytes - _ACK * flow.tx_packets in _CONTROL:
        return False
    lasts = (flow.last_tx_ns - flow.first_tx_ns, flow.last_rx_ns - flow.first_rx_ns)
    return flow.last_rx_ns > flow.first_tx_ns and all(lasts)


def completion(flow: MonitoredFlow) -> Completion:
    """The completion of a data flow."""
    return Completion(flow.tx_bytes, (flow.last_rx_ns - flow.first_tx_ns) / 1e9)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else math.nan
