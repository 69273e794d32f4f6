"""The XML of ns-3's FlowMonitor, as its own and other people's scripts read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import flow_monitor
from ccperf.exporters.again import engine_of
from ccperf.exporters.registry import exporter

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.result import Result


@exporter("flowmon.xml", b"<?xml")
def flowmonitor(result: Result, path: Path) -> None:
    """Each direction of each flow at the IP layer of its ends, with ns-3's histograms.

    A run whose scenario did not ask for `recording.flow_monitor` is simulated again.
    """
    recording, scenario = result.recording, result.scenario
    if recording.flow_monitor is None:
        recording = engine_of(result).simulate(flow_monitor.asked(scenario))
    flow_monitor.write(scenario, recording, path)
