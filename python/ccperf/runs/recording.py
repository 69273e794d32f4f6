"""What a run leaves behind: named tables of NumPy columns, the same from every backend.

`TABLES` is the schema: every column with its kind, unit and meaning, as the engine declares them
(`crates/engine/src/run/recording/tables.rs`).  A backend hands its columns to `Recording`, which
checks them against the schema; metrics, figures and the store read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from ccperf import _native
from ccperf.base.libraries import frame
from ccperf.base.wording import counted
from ccperf.errors import RunError, UnknownKey, unknown

if TYPE_CHECKING:
    import arro3.core as arrow

ColumnData: TypeAlias = npt.NDArray[Any] | list[str]

_DTYPES = {"int": np.dtype(np.int64), "float": np.dtype(np.float64)}


class RecordingError(ValueError):
    """A backend's tables do not have the shape that `TABLES` asks for."""


class Column(NamedTuple):
    """One column of the schema.

    `kind` is `int` (int64), `float` (float64, NaN where there is no value yet) or `str`.
    """

    name: str
    kind: Literal["int", "float", "str"]
    unit: str
    description: str


_SCHEMA: list[dict[str, Any]] = json.loads(_native.schema())

#: The columns of each table, as the engine declares them.
TABLES: dict[str, tuple[Column, ...]] = {
    table["name"]: tuple(Column(**column) for column in table["columns"]) for table in _SCHEMA
}

#: What a row of each table is, and how rows are ordered.
ROWS: dict[str, str] = {table["name"]: table["row"] for table in _SCHEMA}

#: Tables that a recording has only if the scenario asks for them.
OPTIONAL_TABLES = frozenset(table["name"] for table in _SCHEMA if table["optional"])


class Table(dict[str, ColumnData]):
    """Equal-length columns by name; each a read-only NumPy array or a list of strings.

    A `dict` that does not change, since `pandas.DataFrame(table)` takes no other mapping for
    columns; `polars.DataFrame(table)` and `pyarrow.table(table)` work, too. Implements the Arrow
    PyCapsule stream interface, which shares the numeric columns' memory. `polars.from_arrow` takes
    whatever has that for a `Series`: of structs here, whose `struct.unnest()` is the frame.
    """

    def __init__(
        self,
        name: str,
        columns: Mapping[str, npt.ArrayLike | Sequence[str]],
        left_out: Sequence[str] = (),
    ) -> None:
        """Check `columns` against `TABLES[name]`, of which some may be left out.

        Raises `RecordingError` for a column that is missing, unknown, of another kind or of
        another length.
        """
        schema = TABLES[name]
        known = [column.name for column in schema]
        if unknown := [given for given in columns if given not in known]:
            raise RecordingError(
                f"table `{name}`: unknown column `{unknown[0]}`; its columns are {', '.join(known)}"
            )
        self.name = name
        checked: dict[str, ColumnData] = {}
        for column in schema:
            if column.name in left_out:
                continue
            if column.name not in columns:
                raise RecordingError(f"table `{name}`: column `{column.name}` is missing")
            checked[column.name] = _column_data(name, column, columns[column.name])
        lengths = {key: len(data) for key, data in checked.items()}
        if len(set(lengths.values())) > 1:
            raise RecordingError(f"table `{name}`: columns of unequal length: {lengths}")
        super().__init__(checked)
        self.left_out = left_out
        #: The number of rows; that of columns is `len`, as for any mapping.
        self.rows = next(iter(lengths.values()))

    def __reduce__(self) -> tuple[type[Table], tuple[str, dict[str, ColumnData], Sequence[str]]]:
        """Travel between processes, and be copied, as what it is made of."""
        return Table, (self.name, dict(self), self.left_out)

    def __missing__(self, column: str) -> NoReturn:
        raise UnknownKey(unknown(f"column of table {self.name}", column, self))

    def _stays(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"table `{self.name}` does not change; take dict(table)")

    __setitem__ = __delitem__ = update = setdefault = _stays
    pop = popitem = clear = __ior__ = _stays

    def array(self, column: str) -> npt.NDArray[Any]:
        """Return a numeric column; TypeError for a column of strings."""
        data = self[column]
        if isinstance(data, list):
            raise TypeError(f"column `{column}` of table `{self.name}` holds strings")
        return data

    def strings(self, column: str) -> list[str]:
        """Return a column of strings; TypeError for a numeric column."""
        data = self[column]
        if not isinstance(data, list):
            raise TypeError(f"column `{column}` of table `{self.name}` holds numbers")
        return data

    def equals(self, other: Table) -> bool:
        """Whether both tables hold the same values; NaN equals NaN."""
        return (
            self.name == other.name
            and self.rows == other.rows
            and all(_same(self[column], other[column]) for column in self)
        )

    def arrow(self) -> arrow.Table:
        """Return the table as Arrow, sharing the numeric columns' memory.

        A NaN stays a NaN (it does not become a null).  Each field's metadata holds its unit.
        """
        import arro3.core as arrow

        of = arrow.DataType
        kinds = {"int": of.int64(), "float": of.float64(), "str": of.string()}
        fields, arrays = [], []
        for column in TABLES[self.name]:
            data = self[column.name]
            kind = kinds[column.kind]
            fields.append(
                arrow.Field(column.name, kind, nullable=False, metadata={"unit": column.unit})
            )
            # arro3 before 0.9, the last for Python 3.10, takes no empty NumPy array.
            if isinstance(data, list) or not len(data):
                arrays.append(arrow.Array(list(data), kind))
            else:
                arrays.append(arrow.Array.from_numpy(data))
        return arrow.Table.from_arrays(arrays, schema=arrow.Schema(fields))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export through the Arrow PyCapsule interface."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`, sharing the numeric columns' memory.

        Raises `UsageError` without polars.
        """
        return frame(self.arrow(), "polars")

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`; `UsageError` without it."""
        return frame(self, "pandas")

    @classmethod
    def from_arrow(cls, name: str, stream: Any) -> Table:
        """Build from anything with the Arrow PyCapsule stream interface."""
        import arro3.core as arrow

        table = arrow.Table(stream)
        return cls(name, {column: _from_chunks(table[column]) for column in table.column_names})

    def __repr__(self) -> str:
        return f"<Table {self.name}: {counted(self.rows, 'row')} x {counted(len(self), 'column')}>"

    def _repr_html_(self) -> str:
        """Show the first rows, with units."""
        from html import escape

        shown = min(self.rows, 5)
        head = "".join(
            f"<th>{escape(c.name)}{f'<br><small>{escape(c.unit)}</small>' * bool(c.unit)}</th>"
            for c in TABLES[self.name]
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(self[c][i]))}</td>" for c in self) + "</tr>"
            for i in range(shown)
        )
        return (
            f"<table><caption>{self.name}: {shown} of {counted(self.rows, 'row')}</caption>"
            f"<tr>{head}</tr>{body}</table>"
        )


class Tables(Mapping[str, Table]):
    """A recording's tables by name, in order; one of a long run is read when it is asked for.

    Until then it lies in a temporary file. Raises `RunError` if that cannot be read.
    """

    def __init__(self, tables: Mapping[str, Table | _native.LongTable]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> Table:
        table = self._tables[name]
        if not isinstance(table, Table):
            try:
                table = self._tables[name] = Table(name, table.read())
            except OSError as error:
                raise RunError(str(error)) from error
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def rows(self, name: str) -> int:
        """How many rows a table has, without reading it."""
        return self._tables[name].rows

    def __reduce__(self) -> tuple[type[Tables], tuple[dict[str, Table]]]:
        """Travel between processes, and be copied, as what it holds."""
        return Tables, (dict(self),)


class Recording:
    """The tables of one run; each is an attribute, None if it is optional and was not recorded."""

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, npt.ArrayLike | Sequence[str]] | _native.LongTable],
        left_out: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Check the tables that a backend hands over; `left_out` are columns that are not there.

        A long table of the engine's is checked when it is read.

        Raises `RecordingError` where they differ from `TABLES`.
        """
        if unknown := [name for name in tables if name not in TABLES]:
            raise RecordingError(
                f"unknown table `{unknown[0]}`; a recording has {', '.join(TABLES)}"
            )
        for name in TABLES:
            if name not in tables and name not in OPTIONAL_TABLES:
                raise RecordingError(f"table `{name}` is missing")
        checked: dict[str, Table | _native.LongTable] = {}
        for name in TABLES:
            if name in tables:
                table = tables[name]
                if not isinstance(table, _native.LongTable):
                    table = Table(name, table, (left_out or {}).get(name, ()))
                checked[name] = table
        self.tables = Tables(checked)

    @property
    def flows(self) -> Table:
        """One row a flow: counters and what does not change."""
        return self.tables["flows"]

    @property
    def links(self) -> Table:
        """One row a direction: counters."""
        return self.tables["links"]

    @property
    def drops(self) -> Table:
        """One row per direction, verdict and reason."""
        return self.tables["drops"]

    @property
    def flow_samples(self) -> Table:
        """The flows' state on the grid, rows ordered by (time, flow)."""
        return self.tables["flow_samples"]

    @property
    def link_samples(self) -> Table:
        """The directions' state on the grid, rows ordered by (time, direction)."""
        return self.tables["link_samples"]

    @property
    def queue_samples(self) -> Table | None:
        """The queues that were watched more closely, if any were."""
        return self.tables.get("queue_samples")

    @property
    def deliveries(self) -> Table | None:
        """When the last data of each flow came to its destination, if that was asked for."""
        return self.tables.get("deliveries")

    @property
    def answers(self) -> Table | None:
        """The transfers that answer others, if there are such."""
        return self.tables.get("answers")

    @property
    def flow_monitor(self) -> Table | None:
        """What ns-3's FlowMonitor would count, a row for each direction of a flow, if asked for."""
        return self.tables.get("flow_monitor")

    @property
    def flow_histograms(self) -> Table | None:
        """The bins of the flow monitor's histograms, if it was asked for."""
        return self.tables.get("flow_histograms")

    @property
    def reordering(self) -> Table | None:
        """In which order packets came and how often flows switched ways, if it was recorded."""
        return self.tables.get("reordering")

    @property
    def probing(self) -> Table | None:
        """What hosts' probes took, if hosts probe and it was recorded."""
        return self.tables.get("probing")

    @property
    def pauses(self) -> Table | None:
        """How often and how long links paused, if some can (PFC)."""
        return self.tables.get("pauses")

    @property
    def ways(self) -> Table | None:
        """The ways that followed flows took, if any were followed."""
        return self.tables.get("ways")

    @property
    def paths(self) -> Table | None:
        """Each change of a followed flow's way, if any were followed."""
        return self.tables.get("paths")

    @property
    def failed_paths(self) -> Table | None:
        """The paths that a balancer found to have failed, if they were recorded."""
        return self.tables.get("failed_paths")

    @property
    def completions(self) -> Table | None:
        """The end of each transfer, if it was recorded."""
        return self.tables.get("completions")

    @property
    def has_ended(self) -> npt.NDArray[np.bool_]:
        """Which rows of `completions` are of transfers that ended with all of their bytes.

        A flow that was stopped before has an end there: when what it had written until then was
        acknowledged.
        """
        table = self.tables["completions"]
        size, acked = table.array("size_bytes"), table.array("acked_bytes")
        has_all: npt.NDArray[np.bool_] = (
            (table.array("finished") == 1) & (acked >= size) & (size > 0)
        )
        return has_all

    @property
    def workloads(self) -> Table | None:
        """What was asked of each workload and what came of it, if the scenario has some."""
        return self.tables.get("workloads")

    @property
    def pings(self) -> Table | None:
        """The echo requests of each ping, if the scenario has pings."""
        return self.tables.get("pings")

    @property
    def changes(self) -> Table | None:
        """Every change of the senders' state in order of execution, if it was recorded."""
        return self.tables.get("changes")

    def arrow(self, table: str) -> arrow.Table:
        """Return one table as Arrow; KeyError with the tables' names if there is no such table."""
        if table not in self.tables:
            raise UnknownKey(unknown("table", table, self.tables))
        return self.tables[table].arrow()

    def equals(self, other: Recording) -> bool:
        """Whether both recordings hold the same tables with the same values."""
        return self.tables.keys() == other.tables.keys() and all(
            table.equals(other.tables[name]) for name, table in self.tables.items()
        )

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {self.tables.rows(name)}" for name in self.tables)
        return f"<Recording: {shapes} rows>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{table.rows}</td><td>{', '.join(table)}</td></tr>"
            for name, table in self.tables.items()
        )
        return f"<table><tr><th>table</th><th>rows</th><th>columns</th></tr>{rows}</table>"


def _column_data(table: str, column: Column, data: Any) -> ColumnData:
    if column.kind == "str":
        strings = list(data)
        if not all(map(isinstance, strings, repeat(str))):  # there may be millions
            raise RecordingError(f"table `{table}`: column `{column.name}` wants strings")
        return strings
    array = np.asarray(data)
    wanted = _DTYPES[column.kind]
    if array.ndim != 1:
        raise RecordingError(
            f"table `{table}`: column `{column.name}` has {array.ndim} dimensions, wants 1"
        )
    # An empty list has no dtype of its own.
    if array.dtype != wanted or not array.flags.c_contiguous:
        if array.size and not np.can_cast(array.dtype, wanted, casting="same_kind"):
            raise RecordingError(
                f"table `{table}`: column `{column.name}` is {array.dtype}, wants {wanted}"
            )
        array = np.ascontiguousarray(array, dtype=wanted)
    view: npt.NDArray[Any] = array.view()
    view.setflags(write=False)
    return view


def _from_chunks(column: arrow.ChunkedArray) -> Any:
    # A table without rows has no chunks, and those have no NumPy array.
    if column.num_chunks == 0:
        return []
    import arro3.core as arrow

    if column.type == arrow.DataType.string():
        return column.to_pylist()
    # Older ones of arro3 do not hand out the memory of an array.
    has_buffers = hasattr(arrow.Array, "buffer")
    is_plain = column.num_chunks == 1 and column.null_count == 0 and has_buffers
    if is_plain and column.type == arrow.DataType.int64():
        # Its own memory, which `to_numpy` copies; it hands out that of whole numbers only.
        memory: Any = column.chunk(0)
        return np.frombuffer(memory.buffer(), _DTYPES["int"])
    return column.to_numpy()


def _same(ours: ColumnData, theirs: ColumnData) -> bool:
    if isinstance(ours, list) or isinstance(theirs, list):
        return ours is theirs or list(ours) == list(theirs)
    return np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
