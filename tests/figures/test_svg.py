"""Figures for pages: true to the data, readable by everybody, nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from ccperf.present.figures import FIGURES, Axis, Figure, Panel, Series, Subject, svg
from recordings import Dumbbell
from sawtooth import RUNS, figure

SVG = "{http://www.w3.org/2000/svg}"


def one(series: Series, x: Axis | None = None) -> Figure:
    panel = Panel(x or Axis("Time", "s"), Axis("Value", lower=0, upper=100), (series,))
    return Figure("one", "One", "One series.", (panel,), (Subject("flow_1"),))


def parsed(described: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(svg.draw(described))


def corners(path: str) -> list[list[tuple[int, int]]]:
    """Return the corners of each part of a path of M, l, h and v."""
    parts: list[list[tuple[int, int]]] = []
    for command, arguments in re.findall("([Mlhv])([-0-9 ]*)", path):
        numbers = [int(word) for word in arguments.split()]
        if command == "M":
            parts.append([(numbers[0], numbers[1])])
            numbers = numbers[2:]
            assert not numbers
        x, y = parts[-1][-1]
        if command == "h":
            parts[-1].append((x + numbers[0], y))
        elif command == "v":
            parts[-1].append((x, y + numbers[0]))
        elif command == "l":
            for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
                x, y = x + dx, y + dy
                parts[-1].append((x, y))
    return parts


def drawn(described: Figure) -> tuple[list[list[tuple[int, int]]], int, int]:
    """Return the corners of the only series, and the plot's width and height."""
    root = parsed(described)
    plot = root.find(f"{SVG}svg")
    assert plot is not None
    (line,) = [path for path in plot.iter(f"{SVG}path") if "c0" in path.attrib["class"]]
    width, height = (int(plot.attrib[name]) - 2 * 15 for name in ("width", "height"))
    return corners(line.attrib["d"]), width, height


def test_a_line_goes_through_every_sample() -> None:
    x = np.arange(200) * 0.03
    y = np.abs(100 * np.sin(x))
    axis = Axis("Time", "s", lower=0, upper=float(x[-1]))
    (part,), width, height = drawn(one(Series(x, y, "line", "subject"), axis))
    assert len(part) == 200
    for (at, up), a, b in zip(part, x.tolist(), y.tolist(), strict=True):
        assert abs(at - width * a / x[-1]) <= 0.51
        assert abs((height - up) - height * b / 100) <= 0.51


def test_a_step_holds_over_the_interval_that_ends_at_its_point() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.0, 50.0, 100.0])
    axis = Axis("Time", "s", lower=1, upper=3)
    (part,), width, height = drawn(one(Series(x, y, "step", "subject"), axis))
    half = height - round(height / 2)
    middle = round(width / 2)
    assert part == [(0, height), (0, half), (middle, half), (middle, 0), (width, 0)]


def test_an_ecdf_holds_from_its_point_on() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.0, 50.0, 100.0])
    axis = Axis("Time", "s", lower=1, upper=3)
    (part,), width, height = drawn(one(Series(x, y, "ecdf", "subject"), axis))
    half, middle = height - round(height / 2), round(width / 2)
    assert part == [(0, height), (middle, height), (middle, half), (width, half), (width, 0)]


def test_where_values_are_missing_the_line_has_a_gap() -> None:
    y = np.array([np.nan, 1.0, 2.0, np.nan, np.nan, 3.0, 4.0, 5.0])
    parts, _, _ = drawn(one(Series(np.arange(8.0), y, "line", "subject")))
    assert [len(part) for part in parts] == [2, 3]


def test_a_single_value_between_gaps_is_seen() -> None:
    y = np.array([np.nan, 1.0, np.nan])
    parts, _, _ = drawn(one(Series(np.arange(3.0), y, "line", "subject")))
    assert parts == [[parts[0][0], parts[0][0]]]


@pytest.mark.parametrize("flows", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_names_itself_and_loads_nothing(name: str, flows: int) -> None:
    described = figure(name, flows)
    text = svg.draw(described)
    root = ElementTree.fromstring(text)
    assert root.attrib["role"] == "img"
    assert root[0].text == described.title
    assert root[1].text == described.alt
    assert not re.search(r"href|url\(|<script|@import", text)
    assert text == svg.draw(figure(name, flows))


@pytest.mark.parametrize("flows", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_texts_are_on_the_page_and_name_axes_and_entries(name: str, flows: int) -> None:
    described = figure(name, flows)
    root = parsed(described)
    height = int(root.attrib["viewBox"].split()[3])
    shown = [text.text for text in root.iter(f"{SVG}text")]
    for panel in described.panels:
        assert panel.x.title in shown
        assert panel.y.title in shown
    if described.is_crowded:
        assert {described.entries[0], described.entries[-1]} <= set(shown)
    elif len(described.entries) > 1 or described.roles:
        assert set(described.entries) <= set(shown)
    for element in root:
        for text in element.iter(f"{SVG}text"):
            x, y = _place(element, text)
            half = svg._text_width(text.text or "") / 2
            anchor = text.attrib.get("class")
            left = x - {"m": half, "e": 2 * half}.get(anchor or "", 0)
            if "rotate" not in text.attrib.get("transform", ""):
                assert left >= 0, text.text
                assert left + 2 * half <= svg.WIDTH, text.text
            assert y - 100 >= 0
            assert y + 30 <= height


def _place(element: ElementTree.Element, text: ElementTree.Element) -> tuple[float, float]:
    x, y = float(text.attrib.get("x", 0)), float(text.attrib.get("y", 0))
    for each in {element, text}:
        moved = re.match(r"translate\((-?\d+) (-?\d+)\)", each.attrib.get("transform", ""))
        if moved:
            x, y = x + int(moved[1]), y + int(moved[2])
    return x, y


def test_names_of_users_are_text() -> None:
    hostile = replace(
        figure("time_series", 5),
        title="<script>alert('x')</script>",
        subjects=tuple(Subject(f'</style><b a="{i}">&') for i in range(5)),
    )
    root = parsed(hostile)
    assert not root.findall(f".//{SVG}script")
    assert {f'</style><b a="{i}">&' for i in range(5)} <= {
        text.text for text in root.iter(f"{SVG}text")
    }


@pytest.mark.parametrize("name", FIGURES)
def test_a_silent_run_is_drawn_too(name: str) -> None:
    """No throughput, no RTT sample, nothing in flight, no propagation delay."""
    run = Dumbbell(flows=2, points=5, counters={"base_rtt_ns": [0, 1000]})
    parsed(run.figure(name))
    run = Dumbbell(points=2, base_rtt_ns=0)
    parsed(run.figure(name))


def test_a_long_run_and_many_flows_stay_small() -> None:
    draw = np.random.default_rng(1)

    def noisy(flows: int, points: int) -> Dumbbell:
        shape = (points, flows)
        return Dumbbell(
            flows=flows,
            points=points,
            rate_bps=10**9,
            samples={
                "in_flight_bytes": draw.integers(0, 100_000, shape),
                "srtt_ns": draw.uniform(15e6, 30e6, shape),
                "received_bytes": np.cumsum(draw.integers(0, 60_000, shape), axis=0),
            },
        )

    for run in (noisy(1, 50_000), noisy(200, 500)):
        described = run.figure("time_series")
        assert len(svg.draw(described)) < 2_000_000


@pytest.mark.parametrize("flows", [5, 50])
def test_thresholds_are_dashed_also_where_there_are_many(flows: int) -> None:
    drawn = ElementTree.fromstring(svg.draw(figure("window", flows)))
    dashed = [path for path in drawn.iter(f"{SVG}path") if "h" in path.get("class", "").split()]
    assert len(dashed) >= flows
