"""The comparison of packet traces finds the first row that differs, wherever it is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccperf.verify import packets
from ccperf.verify.packets import HEADER, compare, compare_by_time, report


def line(number: int, **changed: object) -> str:
    fields: dict[str, object] = {
        "time_ns": 1000 * number,
        "link": ("btl_forward", "btl_reverse")[number % 2],
        "event": ("tx", "rx")[number // 2 % 2],
        "flow": f"flow_{1 + number % 3}",
        "seq": 1448 * number,
        "ack": 1,
        "payload_bytes": 1448,
        "wire_bytes": 1502,
        "flags": "ACK",
        "ecn": "NotECT",
        "reason": "",
        "protocol": 6,
        "source": "10.0.0.1:49152",
        "destination": "10.0.0.5:5001",
        "service": 0,
        "window": 32768,
        "window_shift": "",
        "sack_permitted": "",
        "ts_val": 1000 + number,
        "ts_ecr": 990 + number,
        "sacks": "",
    }
    return ",".join(str(value) for value in (fields | changed).values())


def trace(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join([HEADER, *lines, ""]))
    return path


def test_equal_traces(tmp_path: Path) -> None:
    lines = [line(i) for i in range(1000)]
    result = compare(trace(tmp_path / "a", lines), trace(tmp_path / "b", lines))
    assert result == (1000, None)


@pytest.mark.parametrize("rows", [0, 1])
def test_the_shortest_traces(tmp_path: Path, rows: int) -> None:
    lines = [line(i) for i in range(rows)]
    assert compare(trace(tmp_path / "a", lines), trace(tmp_path / "b", lines)) == (rows, None)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("window", 32767),
        ("ts_ecr", 989),
        ("sacks", "2897-4345"),
        ("window_shift", 7),
        ("sack_permitted", 1),
        ("service", 8),
        ("source", "10.0.0.1:49153"),
        ("protocol", 17),
    ],
)
def test_whatever_a_receiver_could_see_is_compared(
    tmp_path: Path, column: str, value: object
) -> None:
    lines = [line(i) for i in range(10)]
    other = [*lines[:5], line(5, **{column: value}), *lines[6:]]
    _, found = compare(trace(tmp_path / "a", lines), trace(tmp_path / "b", other))
    assert found is not None
    assert (found.row, found.fields) == (6, (column,))


# Some of them on the edges of the blocks in which the files are read.
@pytest.mark.parametrize("position", [0, 1, 499, 13_000, 13_001, 29_999])
def test_one_field_of_one_row(tmp_path: Path, position: int) -> None:
    lines = [line(i) for i in range(30_000)]
    other = [*lines]
    other[position] = line(position, ecn="CE", seq=7)
    common, found = compare(trace(tmp_path / "a", lines), trace(tmp_path / "b", other))
    assert found is not None
    assert (common, found.row) == (position, position + 1)
    assert found.fields == ("seq", "ecn")
    assert found.ours is not None
    assert found.theirs is not None
    assert (found.ours.ecn, found.theirs.ecn) == ("NotECT", "CE")
    assert found.time_ns == 1000 * position
    # The context before is of this link and flow, in order, and ends right before.
    assert all(row.link == found.ours.link and row.flow == found.ours.flow for row in found.before)
    expected = [i for i in range(position) if i % 6 == position % 6][-12:]
    assert [int(row.time_ns) for row in found.before] == [1000 * i for i in expected]
    assert found.ours_after[0] == found.ours
    assert found.theirs_after[0] == found.theirs


@pytest.mark.parametrize("shorter", ["ours", "theirs"])
def test_a_trace_that_ends_early(tmp_path: Path, shorter: str) -> None:
    lines = [line(i) for i in range(100)]
    files = [trace(tmp_path / "a", lines[:60]), trace(tmp_path / "b", lines)]
    if shorter == "theirs":
        files.reverse()
    common, found = compare(*files)
    assert found is not None
    assert (common, found.row) == (60, 61)
    assert getattr(found, shorter) is None
    assert "has ended" in report(found)
    assert found.fields == ()


def test_a_row_cut_short(tmp_path: Path) -> None:
    whole = trace(tmp_path / "a", [line(i) for i in range(10)])
    cut = tmp_path / "b"
    cut.write_bytes(whole.read_bytes()[:-20])
    _, found = compare(whole, cut)
    assert found is not None
    assert found.row == 10
    assert found.ours is not None
    assert found.theirs is None


@given(st.data())
def test_the_first_of_many_differences(tmp_path_factory: pytest.TempPathFactory, data) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("traces")
    count = data.draw(st.integers(1, 200))
    changed = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    lines = [line(i) for i in range(count)]
    other = [line(i, wire_bytes=54) if i in changed else lines[i] for i in range(count)]
    block = data.draw(st.sampled_from([128, 1000, 1 << 20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packets, "_BLOCK", block)
        common, found = compare(trace(folder / "a", lines), trace(folder / "b", other))
    assert found is not None
    assert common == min(changed)
    assert found.fields == ("wire_bytes",)


def test_the_report_can_be_read(tmp_path: Path) -> None:
    lines = [line(i) for i in range(40)]
    other = [*lines[:30], line(30, event="drop", reason="Queue disc limit exceeded"), *lines[31:]]
    _, found = compare(trace(tmp_path / "a", lines), trace(tmp_path / "b", other))
    assert found is not None
    text = report(found, "native", "ns3")
    first = text.splitlines()[:4]
    assert first[0] == "row 31, 30,000 ns:"
    assert first[1] == "  differs in event, reason"
    assert first[2].startswith("  native           30,000 btl_forward      rx")
    assert first[3].endswith("Queue disc limit exceeded window 32768")
    assert "before that, on both sides, flow_1 on btl_forward:" in text
    assert "ns3 from there on, all links:" in text


def at_once(*numbers: int, time_ns: int = 5_000) -> list[str]:
    """Rows of one nanosecond."""
    return [line(number, time_ns=time_ns) for number in numbers]


def test_rows_of_one_nanosecond_may_stand_in_any_order(tmp_path: Path) -> None:
    ours = [line(1), *at_once(2, 3, 4, 3), line(6)]
    theirs = [line(1), *at_once(3, 4, 3, 2), line(6)]
    a, b = trace(tmp_path / "a", ours), trace(tmp_path / "b", theirs)
    assert compare_by_time(a, b) == (6, None)
    assert compare(a, b)[1] is not None
    assert compare_by_time(a, trace(tmp_path / "c", [*theirs[:-1], line(7)]))[0] == 5


@pytest.mark.parametrize(
    ("ours", "theirs", "common", "first", "second"),
    [
        # Another row, one more, the same row once more, and rows of other times.
        (at_once(2, 3, 4), at_once(4, 3, 5), 3, 2, 5),
        (at_once(2, 3, 4), at_once(4, 2), 3, 3, 6),
        (at_once(2, 3, 3), at_once(3, 2), 3, 3, 6),
        (at_once(2, 3), at_once(2, 3, time_ns=5_001), 1, 2, 2),
    ],
    ids=["another", "more", "twice", "later"],
)
def test_what_is_not_there_at_that_nanosecond_is_found(
    tmp_path: Path, ours: list[str], theirs: list[str], common: int, first: int, second: int
) -> None:
    """Beside it the other side's row that is not there, or its next one."""
    files = [
        trace(tmp_path / name, [line(1), *rows, line(6)])
        for name, rows in (("a", ours), ("b", theirs))
    ]
    for sides, one, other in ((files, first, second), (files[::-1], second, first)):
        rows, found = compare_by_time(*sides)
        assert found is not None
        assert (rows, found.row) == (common, common + 1)
        assert found.ours is not None
        assert found.theirs is not None
        assert (found.ours.seq, found.theirs.seq) == (str(1448 * one), str(1448 * other))
        assert found.time_ns == 5_000


def test_a_trace_that_ends_before_the_other_has_no_row(tmp_path: Path) -> None:
    short, long = trace(tmp_path / "a", [line(1)]), trace(tmp_path / "b", [line(1), line(2)])
    common, found = compare_by_time(short, long)
    assert found is not None
    assert (common, found.ours) == (1, None)
    assert "has ended" in report(found)
    assert compare_by_time(short, short) == (1, None)


def test_random_bytes_do_not_break_it(tmp_path: Path) -> None:
    draw = random.Random(1)
    for size in (0, 1, 1000):
        ours, theirs = tmp_path / "a", tmp_path / "b"
        ours.write_bytes(draw.randbytes(size))
        theirs.write_bytes(draw.randbytes(size + 1))
        _, found = compare(ours, theirs)
        assert found is not None
