"""The XML of ns-3's FlowMonitor, as its own and other people's scripts read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.present.exporters.again import simulated_again
from ccperf.present.exporters.registry import exporter
from ccperf.runs import flow_monitor

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.result import Result


@exporter("flowmon.xml", b"<?xml")
def flowmonitor(result: Result, path: Path) -> None:
    """Each direction of each flow at the IP layer of its ends, with ns-3's histograms.

    A run whose scenario did not ask for `recording.flow_monitor` is simulated again.
    """
    recording, scenario = result.recording, result.scenario
    if recording.flow_monitor is None:
        recording = simulated_again(result, asked=flow_monitor.asked)
    flow_monitor.write(scenario, recording, path)
