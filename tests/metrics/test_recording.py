"""Recordings: the schema is enforced, and Arrow shares the columns' memory."""

from __future__ import annotations

import copy
import gc
import operator
import pickle

import numpy as np
import pytest

from ccperf.runs.recording import OPTIONAL_TABLES, TABLES, Recording, RecordingError, Table
from recordings import Dumbbell

pa = pytest.importorskip("pyarrow")


def drops(**columns: object) -> Table:
    row = {"link": ["a"], "verdict": ["mark"], "reason": ["r"], "packets": [1], "bytes": [1500]}
    return Table("drops", row | columns)  # type: ignore[arg-type]


def test_tables_are_attributes_with_the_schema_s_columns() -> None:
    recording = Dumbbell(flows=3, points=4).recording()
    for name, columns in TABLES.items():
        table = getattr(recording, name)
        if name in OPTIONAL_TABLES:
            assert table is None
        else:
            assert list(table) == [column.name for column in columns]
    assert recording.flow_samples.rows == 12
    assert recording.flows.strings("name") == ["flow_1", "flow_2", "flow_3"]
    with pytest.raises(TypeError, match="strings"):
        recording.flows.array("name")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"packets": [1, 2]}, "unequal length"),
        ({"packets": [1.5]}, "`packets` is float64, wants int64"),
        ({"packets": [[1]]}, "2 dimensions"),
        ({"link": [3]}, "wants strings"),
        ({"size": [1]}, "unknown column `size`"),
    ],
)
def test_a_backend_s_mistake_is_named(columns: dict[str, object], message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        drops(**columns)


def test_missing_and_unknown_tables_are_named() -> None:
    tables = dict(Dumbbell(points=2).recording().tables)
    with pytest.raises(RecordingError, match="unknown table `pakets`"):
        Recording({**tables, "pakets": {}})
    del tables["links"]
    with pytest.raises(RecordingError, match="`links` is missing"):
        Recording(tables)


def test_arrow_shares_memory_and_outlives_the_recording() -> None:
    recording = Dumbbell(points=1000, samples={"sent_bytes": np.arange(1000)}).recording()
    column = recording.flow_samples.array("sent_bytes")
    exported = pa.table(recording.arrow("flow_samples"))
    chunk = exported["sent_bytes"].chunk(0)
    assert chunk.buffers()[1].address == column.__array_interface__["data"][0]
    del recording, column
    gc.collect()
    assert chunk.to_pylist() == list(range(1000))
    assert exported.schema.field("sent_bytes").metadata == {b"unit": b"B"}


def test_a_table_is_itself_an_arrow_stream_and_comes_back_the_same() -> None:
    table = Dumbbell(flows=2, points=7).recording().flow_samples
    assert Table.from_arrow("flow_samples", pa.table(table)).equals(table)


def test_arrow_names_the_tables_when_asked_for_another() -> None:
    with pytest.raises(KeyError, match="flow_samples"):
        Dumbbell(points=2).recording().arrow("flow_sample")


def test_columns_cannot_be_changed() -> None:
    column = Dumbbell(points=2).recording().flow_samples.array("time_ns")
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 1


def test_equality_sees_one_value_and_takes_nan_as_equal() -> None:
    ours, theirs = Dumbbell(points=5), Dumbbell(points=5)
    assert ours.recording().equals(theirs.recording())
    theirs.samples = {"cwnd_bytes": [0, 0, 1, 0, 0]}
    assert not ours.recording().equals(theirs.recording())


def test_representations_are_short() -> None:
    recording = Dumbbell(points=500).recording()
    assert repr(recording) == (
        "<Recording: flows 1, links 2, drops 0, flow_samples 500, link_samples 1000 rows>"
    )
    html = recording.flow_samples._repr_html_()
    assert "5 of 500 rows" in html
    assert "bit/s" in html
    assert "link_samples" in recording._repr_html_()


def test_a_table_is_a_dict_that_does_not_change() -> None:
    """`pandas.DataFrame(table)` takes nothing but a `dict` for columns."""
    table = Dumbbell(flows=3, points=4).recording().flows
    assert isinstance(table, dict)
    assert pa.table(table).column_names == list(table)
    for change in (
        lambda: operator.setitem(table, "cc", []),
        lambda: table.update(cc=[]),
        lambda: table.pop("cc"),
        table.clear,
        lambda: table.setdefault("cc", []),
    ):
        with pytest.raises(TypeError, match="does not change"):
            change()
    for again in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert again.equals(table)
        assert (again.name, again.rows) == (table.name, table.rows)
