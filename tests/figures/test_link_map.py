"""Maps of links over time: what is drawn is what was sent, where and when."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

from ccperf.experiments.topologies import dumbbell, leaf_spine
from ccperf.experiments.topologies.dumbbell import Bottleneck, DumbbellFlow
from ccperf.present.figures import link_map
from ccperf.runs import backends
from ccperf.scenario import Scenario

SVG = "{http://www.w3.org/2000/svg}"
ENGINE = backends.get("native")


def drawn(scenario: Scenario) -> ET.Element:
    made = link_map.draw(scenario, ENGINE.simulate(scenario))
    assert made is not None
    return ET.fromstring(f"<svg xmlns='http://www.w3.org/2000/svg'>{made.body}</svg>")


def cells(document: ET.Element, kind: str) -> dict[tuple[int, int], float]:
    """Column and row of each cell that is not empty, with its level."""
    [group] = [each for each in document.iter(f"{SVG}g") if each.get("class") == kind]
    found = {}
    for path in group:
        for first, row, length in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path.get("d", "")):
            for column in range(int(first), int(first) + int(length)):
                assert (column, int(row)) not in found
                found[column, int(row)] = float(path.get("fill-opacity", "nan"))
    return found


def fabric(**flow: Any) -> Scenario:
    network = leaf_spine(2, 2, 2)
    sent = {
        "source": "h_0_0",
        "destination": "h_1_0",
        "transport": "UDP",
        "start": "10ms",
        "stop": "20ms",
        "application": {"type": "CBR", "rate": "4.5Gbps", "write": "1400B"},
        **flow,
    }
    links = {"interval": "1ms", "flows": "none", "links": network.between_switches}
    return network.scenario([sent], stop_time="40ms", recording=links)


def test_a_flow_is_on_its_links_at_its_times_with_its_rate() -> None:
    document = drawn(fabric())
    names = [text.text for text in document.iter(f"{SVG}text") if text.get("class") == "e"]
    rows = names[: len(names) // 2]
    assert len(rows) == 8
    used = cells(document, "use")
    assert {rows[row] for _, row in used} == {"leaf_0 > spine_0", "spine_0 > leaf_1"}
    # 4.5 of 10 Gbps and headers of 2 % fill five of ten levels; what is under way at the end comes
    # into the interval after it.
    assert {level for (column, _), level in used.items() if column < 20} == {0.5}
    assert {column for column, _ in used} | {20} == set(range(10, 21))
    assert not cells(document, "queue")


def test_the_longest_queue_is_the_darkest() -> None:
    network = leaf_spine(2, 2, 4)
    flows = [
        {"source": f"h_0_{i}", "destination": f"h_1_{i}", "cc": "cubic", "stop": "20ms"}
        for i in range(4)
    ]
    links = {"interval": "1ms", "flows": "none", "links": "all"}
    document = drawn(network.scenario(flows, stop_time="20ms", recording=links))
    names = [text.text for text in document.iter(f"{SVG}text") if text.get("class") == "e"]
    queues = cells(document, "queue")
    darkest = {row for (_, row), level in queues.items() if level == 1}
    assert {names[len(names) // 2 + row] for row in darkest} == {"leaf_0 > spine_0"}


def test_who_has_few_links_or_sends_nothing_has_no_map() -> None:
    small = dumbbell(Bottleneck("10Mbps", "20p"), [DumbbellFlow("cubic", "10ms")], stop_time="1s")
    bottleneck = small.model_copy(
        update={"recording": small.recording.model_copy(update={"links": ("btl",)})}
    )
    assert link_map.draw(bottleneck, ENGINE.simulate(bottleneck)) is None
    idle = fabric(start="39.9ms", stop="40ms")
    assert link_map.draw(idle, ENGINE.simulate(idle)) is None
