"""Drawing: the same bytes every time, embeddable fonts, nothing hidden, nothing lost."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf.errors import UsageError
from ccperf.present.figures import (
    FIGURES,
    Axis,
    Figure,
    Panel,
    Series,
    Subject,
    adjusted,
    save,
)
from ccperf.present.figures.figure import MANY_FLOWS
from recordings import Dumbbell
from sawtooth import RUNS, Sawtooth, figure

pytest.importorskip("matplotlib", reason="figures need matplotlib: pip install 'ccperf[figures]'")

from matplotlib.transforms import Bbox

from ccperf.present.figures import mpl

_DRAW = """
import sys
from ccperf.present.figures import describe, save
from recordings import Dumbbell
from sawtooth import Sawtooth
run = Sawtooth(flows=5, rate_bps=80_000_000, queue_packets=100, points=120).dumbbell()
for name in sys.argv[2:]:
    save(run.figure(name), *(f"{sys.argv[1]}/{name}.{suffix}" for suffix in ("svg", "pdf")))
"""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_same_run_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    files = [f"{name}.{suffix}" for name in FIGURES for suffix in ("svg", "pdf")]
    for name in FIGURES:
        save(figure(name, 5), *(ours / file for file in files if file.startswith(f"{name}.")))
    # Settings of the user's own, another locale, time zone and hash seed must not matter.
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: False\nsvg.fonttype: none\n")
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
        "PYTHONPATH": os.pathsep.join([str(root / "tests"), *sys.path]),
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Tokyo",
        "SOURCE_DATE_EPOCH": "1",
    }
    subprocess.run([sys.executable, "-c", _DRAW, theirs, *FIGURES], check=True, env=environment)
    for file in files:
        assert digest(theirs / file) == digest(ours / file), file


@pytest.mark.parametrize("name", FIGURES)
def test_pdf_embeds_true_type_fonts_and_no_date(name: str, tmp_path: Path) -> None:
    save(figure(name, 1), tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/FontFile2" in content
    assert b"CreationDate" not in content


@pytest.mark.parametrize("name", FIGURES)
def test_svg_is_self_contained(name: str, tmp_path: Path) -> None:
    save(figure(name, 5), tmp_path / "figure.svg")
    svg = (tmp_path / "figure.svg").read_text()
    references = re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', svg)
    assert references
    assert all((first or second).startswith("#") for first, second in references)
    assert "<script" not in svg
    assert "<dc:date>" not in svg


@pytest.mark.parametrize("flows", RUNS)
@pytest.mark.parametrize("name", FIGURES)
def test_nothing_covers_data_and_everything_is_on_the_page(name: str, flows: int) -> None:
    described = figure(name, flows)
    with mpl.settings():
        canvas = mpl.draw(described)
        page = Bbox.from_bounds(0, 0, *canvas.canvas.get_width_height())
        axes = canvas.axes[: len(described.panels)]
        plots = [one.get_window_extent() for one in axes]
        outside = [legend.get_window_extent() for legend in canvas.legends]
        outside += [bar.get_tightbbox() for bar in canvas.axes[len(described.panels) :]]
        for box in outside:
            assert not any(box.overlaps(plot) for plot in plots)
            assert page.x0 <= box.x0 < box.x1 <= page.x1
            assert page.y0 <= box.y0 < box.y1 <= page.y1
        for one, plot in zip(axes, plots, strict=True):
            box = one.get_tightbbox()
            assert page.x0 - 1 <= box.x0 < box.x1 <= page.x1 + 1
            assert page.y0 - 1 <= box.y0 < box.y1 <= page.y1 + 1
            # Neither legend nor labels crowd the data out.
            assert plot.width > 0.35 * page.width
            assert plot.height > 0.15 * page.height
        assert canvas.get_figheight() < 6


@pytest.mark.parametrize("name", FIGURES)
def test_a_silent_run_is_drawn_too(name: str, tmp_path: Path) -> None:
    """No throughput, no RTT sample, nothing in flight, no propagation delay."""
    run = Dumbbell(flows=2, points=5, counters={"base_rtt_ns": [0, 1000]})
    save(run.figure(name), tmp_path / "silent.svg")
    run = Dumbbell(points=2, base_rtt_ns=0)
    save(run.figure(name), tmp_path / "short.svg")


def styles_of(flows: int) -> list[dict[str, Any]]:
    run = Sawtooth(flows=flows, points=20).dumbbell()
    drawn = run.figure("time_series")
    return [mpl.subject_style(drawn, index) for index in range(flows)]


@pytest.mark.parametrize("flows", [2, 5, MANY_FLOWS])
def test_flows_differ_in_colour_and_in_marker(flows: int) -> None:
    styles = styles_of(flows)
    assert len({style["color"] for style in styles}) == flows
    assert len({style["marker"] for style in styles}) == flows


def test_the_legend_explains_dashes_and_ticks() -> None:
    """In the colour of the flow, or in none where there are several."""
    for flows, colour in ((1, "#0072b2"), (5, "#555555")):
        with mpl.settings():
            canvas = mpl.draw(figure("window", flows))
        (legend,) = canvas.legends
        named = [text.get_text() for text in legend.get_texts()]
        found = dict(zip(named, legend.get_lines(), strict=True))
        assert named[-2:] == ["ssthresh", "retransmissions"]
        assert len(named) == 2 + (flows if flows > 1 else 0)
        assert found["ssthresh"].get_linestyle() == "--"
        assert found["retransmissions"].get_marker() == "|"
        assert {found[name].get_color() for name in named[-2:]} == {colour}


def test_two_kinds_of_ticks_are_as_different_in_the_legend_as_in_the_panel() -> None:
    series = [
        Series(np.array([1.0]), np.array([1.0]), "ticks", "subject", rank=rank, label=label)
        for rank, label in enumerate(("drops", "marks"))
    ]
    panel = Panel(Axis("Time", "s"), Axis("Queue", "packets"), tuple(series))
    drawn = Figure("queue", "Queue", "Ticks.", (panel,), (Subject("a"),))
    with mpl.settings():
        (legend,) = mpl.draw(drawn).legends
    drops, marks = legend.get_lines()
    assert marks.get_markersize() == 2 * drops.get_markersize()
    words = adjusted(drawn, labels={"drops": "lost packets"})
    assert [key.label for key in words.keys] == ["lost packets", "marks"]


def test_many_flows_differ_in_colour_and_are_named_by_a_bar() -> None:
    assert len({style["color"] for style in styles_of(50)}) == 50
    with mpl.settings():
        canvas = mpl.draw(figure("time_series", 50))
        labels = [text.get_text() for text in canvas.axes[3].get_xticklabels()]
    assert labels[0] == "flow_1"
    assert labels[-1] == "flow_50"


def test_svg_of_a_long_run_stays_small(tmp_path: Path) -> None:
    points = 50_000
    draw = np.random.default_rng(1)
    run = Dumbbell(
        points=points,
        samples={
            "in_flight_bytes": draw.integers(0, 100_000, points),
            "srtt_ns": draw.uniform(15e6, 30e6, points),
            "received_bytes": np.cumsum(draw.integers(0, 60_000, points)),
        },
    )
    save(run.figure("time_series"), tmp_path / "long.svg")
    assert (tmp_path / "long.svg").stat().st_size < 1_000_000


def test_an_unknown_format_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown format `\.jpg`; known: \.pdf, \.svg, \.png"):
        save(figure("time_series", 1), tmp_path / "a.svg", tmp_path / "a.jpg")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        save(figure("time_series", 1), tmp_path / "absent" / "a.svg")


@pytest.mark.parametrize(
    ("width", "points"),
    [("column", 244.8), ("ieee", 252), ("ieee-page", 515.52), ("acm", 239.76), ("acm-page", 504)],
)
def test_a_figure_is_as_wide_as_the_column_it_is_for(
    width: str, points: float, tmp_path: Path
) -> None:
    save(figure("time_series", 5), tmp_path / "wide.pdf", width=width)
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", (tmp_path / "wide.pdf").read_bytes())
    assert box is not None
    assert float(box[1]) == pytest.approx(points, abs=0.01)


def test_a_width_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="acm-page"):
        save(figure("time_series", 1), tmp_path / "wide.pdf", width="acm-pag")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("flows", [5, 50])
def test_what_the_legend_has_dashed_is_drawn_dashed(flows: int) -> None:
    described = figure("window", flows)
    with mpl.settings():
        canvas = mpl.draw(described)
        axes = canvas.axes[0]
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    windows = sum(series.is_dashed for series in described.panels[0].series)
    assert windows == flows
    assert len(dashed) == windows


@pytest.mark.parametrize(("width", "height"), [(3.4, 1.3), (1.8, 2.5), (3.4, None)])
def test_labels_of_axes_stay_within_the_figure(width: float, height: float | None) -> None:
    """A long one is broken into lines, which the user cannot see to be cut until it is printed."""
    x = Axis("a point of which the label says flows=2 buffer=1bdp qdisc=FifoQueueDisc")
    y = Axis("Smoothed RTT of all flows, over that of TcpNewReno", "ms")
    series = Series(np.arange(3.0), np.arange(3.0), "line", "subject", 0)
    figure = Figure("one", "One", "One.", (Panel(x, y, (series,)),), (Subject("flow_1"),))
    with mpl.settings():
        canvas = mpl.draw(figure, width, height)
        (axes,) = canvas.axes
        for label in (axes.xaxis.label, axes.yaxis.label):
            box = label.get_window_extent()
            assert 0 <= box.x0 < box.x1 <= canvas.bbox.width
            assert 0 <= box.y0 < box.y1 <= canvas.bbox.height
        words = axes.get_xlabel().split() + axes.get_ylabel().split()
        assert words == f"{x.title} {y.title}".split()
