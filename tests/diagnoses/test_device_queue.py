"""What waits below a discipline is said where it is more than what the discipline shows."""

from __future__ import annotations

import csv
import re
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf.runs.result import Result
from ccperf.scenario import Scenario

#: 16 Mbps: a full packet takes 0.751 ms, and 50 of them 38 ms.
PIE = {"type": "PieQueueDisc", "attributes": {"MaxSize": "200p", "QueueDelayReference": "5ms"}}


def over(qdisc: dict[str, Any], trace: Path | None = None, **port: Any) -> Result:
    written = ccperf.run("aqm", cc="cubic", k=1, qdisc="fifo", stop_time="4s").scenario.canonical()
    (bottleneck,) = [link for link in written["links"] if link["name"] == "btl"]
    bottleneck["forward"].update(qdisc=qdisc, **port)
    return ccperf.simulate(Scenario.model_validate(written), packets=trace)


def said(result: Result) -> list[tuple[str, str]]:
    return [(note.subject, note.text) for note in result.notes if note.rule == "device-queue"]


def waits_ms(trace: Path) -> list[float]:
    """From the discipline's queue to the wire, of all packets of the bottleneck that are sent."""
    arrived, found = defaultdict[tuple[str, ...], deque[int]](deque), []
    for row in csv.DictReader(trace.read_text().splitlines()):
        if row["link"] != "btl_forward":
            continue
        packet = (row["flow"], row["seq"], row["flags"])
        if row["event"] == "enqueue":
            arrived[packet].append(int(row["time_ns"]))
        elif row["event"] == "tx":
            found.append((int(row["time_ns"]) - arrived[packet].popleft()) / 1e6)
    return found


def test_a_queue_that_a_discipline_hardly_sees_is_pointed_out(tmp_path: Path) -> None:
    """The delay that is said to be below is there: packets wait for both on the whole."""
    trace = tmp_path / "packets.csv"
    result = over(PIE, trace, device_queue="50p")
    ((subject, text),) = said(result)
    assert subject == "btl_forward"
    numbers = re.match(r"has a mean delay of (\S+) ms in its .*least (\S+) ms in the device", text)
    assert numbers, text
    shown, hidden = map(float, numbers.groups())
    assert shown == pytest.approx(result.link_metrics[subject]["mean_sojourn_l2"] / 1e3, rel=5e-3)
    waits = waits_ms(trace)
    assert shown < hidden < 37.6
    assert shown + hidden <= sum(waits) / len(waits)


def test_a_device_queue_of_one_packet_or_with_limits_is_not() -> None:
    assert not said(over(PIE, device_queue="1p"))
    assert not said(over(PIE, device_queue="50p", queue_limits={"hold_time": "100ms"}))


def test_a_longer_queue_above_it_is_not() -> None:
    fifo = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "200p"}}
    assert not said(over(fifo, device_queue="50p"))


def test_nothing_waits_below_a_token_bucket() -> None:
    """It holds packets back while the device is idle, here for a fifteenth of the time."""
    bucket = {"Rate": "15Mbps", "Burst": "3000", "MaxSize": "20p"}
    assert not said(over({"type": "TbfQueueDisc", "attributes": bucket}, device_queue="50p"))
