"""Laws of conservation, in random scenarios of what ns-3 does not have.

They are those of `profile_scenarios.py`, under the TCP of the profile `linux`, and those of
`lossless_scenarios.py`, with RoCE over links that pause.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import lossless_scenarios
import profile_scenarios
from ccperf.runs.backends import get
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario


def check(scenario: Scenario, recording: Recording) -> None:
    samples = recording.flow_samples
    flows = json.loads(scenario.lowered())["flows"]
    of = np.asarray(samples["flow"])
    for flow in dict.fromkeys(samples["flow"]):
        column = {
            name: np.asarray(samples[name], np.int64)[of == flow]
            for name in (
                *("sent_bytes", "received_bytes", "acked_bytes", "written_bytes", "read_bytes"),
                *("in_flight_bytes", "cwnd_bytes", "retransmissions"),
            )
        }
        for name in ("sent_bytes", "received_bytes", "acked_bytes", "written_bytes", "read_bytes"):
            assert (np.diff(column[name]) >= 0).all(), f"{name} of {flow} falls"
        # What is read has arrived, what has arrived has been sent.
        assert (column["read_bytes"] <= column["received_bytes"]).all(), flow
        assert (column["received_bytes"] <= column["sent_bytes"]).all(), flow
        # What is acknowledged has been read (in order) and written.
        assert (column["acked_bytes"] <= column["read_bytes"]).all(), flow
        assert (column["read_bytes"] <= column["written_bytes"]).all(), flow
        # The pipe: never negative, never more than is sent and not acknowledged.
        out = column["sent_bytes"] - column["acked_bytes"]
        assert (column["in_flight_bytes"] >= 0).all(), flow
        # (That of a transfer whose end is acknowledged stays what it was, as ns-3's does.)
        end = recording.flows["completion_ns"][flow]
        goes_on = ~(np.asarray(samples["time_ns"])[of == flow] > end)
        in_flight = column["in_flight_bytes"][goes_on]
        socket = flows[flow]["socket"] if flow < len(flows) else {}
        if socket.get("Profile") == "linux":
            # In whole segments, however short they are: each has a byte at least, but a FIN.
            size = int(socket["SegmentSize"])
            assert (in_flight % size == 0).all(), flow
            assert (in_flight <= size * (out[goes_on] + 1)).all(), flow
        else:
            assert (in_flight <= out[goes_on]).all(), flow
        assert (column["cwnd_bytes"] >= 0).all(), flow
    links = recording.link_samples
    for name in ("tx_bytes", "qdisc_dropped", "qdisc_marked"):
        for link in dict.fromkeys(links["link"]):
            values = np.asarray(links[name], np.int64)[np.asarray(links["link"]) == link]
            assert (np.diff(values) >= 0).all(), f"{name} of {link} falls"
    assert (np.asarray(links["qdisc_packets"]) >= 0).all()


def check_all(scenarios: list[Scenario]) -> None:
    native = get("native")
    for scenario in scenarios:
        try:
            check(scenario, native.simulate(scenario))
        except Exception as error:
            raise AssertionError(f"{scenario.label}: {error}") from error


@pytest.mark.parametrize("part", range(profile_scenarios.PARTS))
def test_bytes_and_packets_are_conserved(part: int) -> None:
    scenarios = profile_scenarios.scenarios(part)
    assert len(scenarios) == profile_scenarios.SCENARIOS // profile_scenarios.PARTS
    check_all(scenarios)


@pytest.mark.parametrize("part", range(lossless_scenarios.PARTS))
def test_bytes_and_packets_are_conserved_where_links_pause(part: int) -> None:
    scenarios = lossless_scenarios.scenarios(part)
    assert len(scenarios) == lossless_scenarios.SCENARIOS // lossless_scenarios.PARTS
    check_all(scenarios)
