"""pcapng, for Wireshark, tshark and tcptrace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.present.exporters.again import simulated_again
from ccperf.present.exporters.registry import exporter

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.result import Result


@exporter("pcapng", b"\x0a\x0d\x0d\x0a")
def pcapng(result: Result, path: Path) -> None:
    """What the hosts where flows begin send and receive, all headers and TCP options included.

    A run does not keep its packets: they are simulated again, which the same engine does exactly.
    """
    simulated_again(result, packets=path)
