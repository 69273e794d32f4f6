"""Flow traces: a file of transfers, one a line, as the workloads of a scenario.

Three formats are read, told apart by their first line.

* *CSV* with a header: the start as ``start`` (a time with its unit), ``start_s``, ``start_us`` or
  ``start_ns`` (a number), then ``source``, ``destination``, ``bytes``, and ``class`` if there are
  some. Columns may come in any order.
* *HPCC's* ``flow.txt`` (Y. Li et al., SIGCOMM 2019), which its successors read as well: a line with
  the number of flows, then ``source destination priority-group port bytes start``, in seconds.
  Priority group and port are those of RDMA and are not used.
* *htsim's* connection matrix: ``Nodes n``, ``Connections n``, then ``1->2 start 0 size 2000000``
  with the start in picoseconds; `id` and `prio` are not used.

A host is its name, or its number from 0 among the nodes with one link, in the scenario's order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.errors import Problem, ScenarioError, unknown

#: Fields of a workload that the trace says.
_SAID = ("arrivals", "pairs", "sizes")
#: What a number in the start's column is worth, in ns.
_STARTS = {"start": None, "start_s": 10**9, "start_us": 1000, "start_ns": 1}
#: What a trace calls what a workload is made of.
_FIELDS = {"name": "class", "arrivals": "start", "pairs": "destination", "sizes": "bytes"}
#: So many lines are named in which the same field is wrong.
_SAID_OF_ONE = 3
_LATEST = 10**18
_LARGEST = 2**50
_NAME = "trace"


class Transfer(NamedTuple):
    """A line of a trace."""

    start_ns: int
    source: str
    destination: str
    bytes: int
    group: str = ""
    #: Of the file, from 1.
    line: int = 0


def read(path: Path) -> list[Transfer]:
    """The transfers of a file, in the order of their starts, then of its lines.

    Raises:
        ValueError: with the file's name, and the line that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"`{path.name}` cannot be read as text ({error})") from None
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"`{path.name}`, {error}") from None


def parse(text: str) -> list[Transfer]:
    """The transfers of a trace's text; raises as :func:`read`, with the line alone."""
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise ValueError("line 1: there is no transfer")
    number, first = lines[0]
    if "," in first:
        reader = _csv
    elif first.split()[0] in ("Nodes", "Connections"):
        reader = _htsim
    elif first.isascii() and first.isdigit():
        reader = _hpcc
    else:
        raise ValueError(
            f"line {number}: `{first[:60]}` begins no trace; write a header like "
            "start,source,destination,bytes or the number of flows (HPCC) or `Nodes 16` (htsim)"
        )
    found = list(reader(lines))
    if not found:
        raise ValueError(f"line {lines[-1][0]}: there is no transfer")
    return sorted(found, key=lambda transfer: transfer.start_ns)


_Lines = Sequence[tuple[int, str]]


def _csv(lines: _Lines) -> Iterator[Transfer]:
    import csv

    (number, header), *rest = lines
    names = [name.strip() for name in header.split(",")]
    known = (*_STARTS, "source", "destination", "bytes", "class")
    for name in names:
        if name not in known:
            raise ValueError(f"line {number}: {unknown('column', name, known)}")
    starts = [name for name in names if name in _STARTS]
    missing = [name for name in ("source", "destination", "bytes") if name not in names]
    if len(starts) != 1 or missing or len(set(names)) < len(names):
        raise ValueError(
            f"line {number}: write each of start, source, destination and bytes once, as in "
            "start_s,source,destination,bytes"
        )
    worth = _STARTS[starts[0]]
    for number, line in rest:
        with _at(number):
            cells = next(csv.reader([line]))
            if len(cells) != len(names):
                raise ValueError(f"has {len(cells)} cells, and the header {len(names)}")
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            start = row[starts[0]]
            yield Transfer(
                _native.parse_time(start) if worth is None else _start(start, worth),
                row["source"],
                row["destination"],
                _bytes(row["bytes"]),
                row.get("class", ""),
                number,
            )


def _hpcc(lines: _Lines) -> Iterator[Transfer]:
    (number, count), *rest = lines
    if int(count[:12]) != len(rest) or len(count) > 12:
        raise ValueError(f"line {number}: says {count[:20]} flows, and {len(rest)} follow")
    for number, line in rest:
        with _at(number):
            words = line.split()
            if len(words) != 6:
                raise ValueError(
                    f"`{line[:60]}` is not `source destination group port bytes start`, 6 numbers"
                )
            source, destination, _, _, size, start = words
            yield Transfer(_start(start, 10**9), source, destination, _bytes(size), "", number)


def _htsim(lines: _Lines) -> Iterator[Transfer]:
    announced: dict[str, tuple[int, int]] = {}
    count = 0
    for number, line in lines:
        with _at(number):
            first, *words = line.split()
            if first in ("Nodes", "Connections", "Triggers", "Failures") and len(words) == 1:
                announced[first] = (number, _whole(words[0], "number", 10**9))
                continue
            if first in ("trigger", "failure"):
                raise ValueError(f"a {first} has no meaning here; leave it out")
            source, arrow, destination = first.partition("->")
            if not arrow:
                raise ValueError(f"`{line[:60]}` is no connection like `1->2 start 0 size 2000000`")
            said = _htsim_words(words)
            count += 1
            start = _start(said["start"], 1e-3)
            yield Transfer(start, source, destination, _bytes(said["size"]), "", number)
    number, expected = announced.get("Connections", (1, count))
    if expected != count:
        raise ValueError(f"line {number}: says {expected} connections, and {count} follow")


def _htsim_words(words: Sequence[str]) -> dict[str, str]:
    known = ("start", "size", "id", "prio")
    said = dict(zip(words[::2], words[1::2], strict=False))
    for word in words[::2]:
        if word in ("trigger", "send_done_trigger", "recv_done_trigger"):
            raise ValueError(f"`{word}`: transfers that wait for others are not read; give a start")
        if word not in known:
            raise ValueError(unknown("word", word, known))
    if len(words) % 2 or "start" not in said or "size" not in said:
        raise ValueError("a connection has a start and a size, like `start 0 size 2000000`")
    return said


class _at:
    """Names the line of what is wrong inside."""

    def __init__(self, number: int, file: str = "") -> None:
        self._place = f"`{file}`, line {number}" if file else f"line {number}"

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        import csv

        if isinstance(error, ValueError | csv.Error):
            raise ValueError(f"{self._place}: {error}") from None


def _whole(text: str, what: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= most):
        raise ValueError(f"{what} `{text[:40]}` is not a whole number up to {most}")
    return int(text)


def _bytes(text: str) -> int:
    size = _whole(text, "bytes", _LARGEST)
    if not size:
        raise ValueError("bytes `0` would carry nothing; write at least 1")
    return size


def _start(text: str, worth: float) -> int:
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value * worth <= _LATEST:
        raise ValueError(f"start `{text[:40]}` is not a number of at least 0")
    return round(value * worth)


class Origin(NamedTuple):
    """Where a workload comes from."""

    #: Its place among the workloads that are written.
    workload: int
    file: str = ""
    #: What it was made of, if that is a trace.
    transfers: Sequence[Transfer] = ()

    def problem(self, path: str, message: str) -> Problem:
        """What is wrong with it, where that is written: `path` is behind the workload's place."""
        own = f"workloads[{self.workload}]"
        place = re.match(r"\.(?:(name)|(arrivals|pairs|sizes)\.\w+\[(\d+)\])", path)
        if not (self.transfers and place):
            return Problem(own + path, message)
        transfer = self.transfers[int(place[3] or 0)]
        field = _FIELDS[place[1] or place[2]]
        if field == "class" and not transfer.group:
            return Problem(own + path, message)
        said = f"`{self.file}`, line {transfer.line}: {field} {message}"
        return Problem(f"{own}.trace", said)


def as_written(problems: Iterable[Problem], origins: Sequence[Origin]) -> list[Problem]:
    """Problems of an expanded scenario by what is written: in a trace by its line.

    Of a field that is wrong in many lines the first ones are said.
    """
    found: dict[Problem, None] = {}
    alike: Counter[tuple[int, str]] = Counter()
    for problem in problems:
        place = re.match(r"workloads\[(\d+)\]", problem.path)
        if not place:
            found[problem] = None
            continue
        origin = origins[int(place[1])]
        there = origin.problem(problem.path[place.end() :], problem.message)
        if there.path.endswith(".trace") and there not in found:
            key = (origin.workload, re.sub(r"\[\d+\].*", "", problem.path[place.end() :]))
            alike[key] += 1
            if alike[key] > _SAID_OF_ONE:
                continue
        found[there] = None
    for (index, _), count in alike.items():
        if more := max(0, count - _SAID_OF_ONE):
            said = f"`{_file(origins, index)}`, {counted(more, 'line')} more of that kind"
            found[Problem(f"workloads[{index}].trace", said)] = None
    return list(found)


def _file(origins: Sequence[Origin], index: int) -> str:
    return next(origin.file for origin in origins if origin.workload == index)


def expanded(data: Any, folder: Path) -> tuple[Any, list[Origin]]:
    """The scenario with a workload for each class of each trace that its workloads name; and where
    each of its workloads comes from, if there is a trace.

    Raises:
        ScenarioError: with the path of the field, and the line of the file.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("workloads"), list | tuple):
        return data, []
    if not any(isinstance(each, Mapping) and "trace" in each for each in data["workloads"]):
        return data, []
    nodes = _Nodes(data)
    problems, workloads, origins = [], [], []
    for i, workload in enumerate(data["workloads"]):
        if not isinstance(workload, Mapping) or "trace" not in workload:
            workloads.append(workload)
            origins.append(Origin(i))
            continue
        own = {name: value for name, value in workload.items() if name != "trace"}
        problems += [
            (f"workloads[{i}].{name}", "is the trace's; leave one out")
            for name in (*_SAID, "sources", "destinations", "apart")
            if name in own
        ]
        try:
            path = folder / str(workload["trace"])
            for made, transfers in _workloads(own, path.name, read(path), nodes):
                workloads.append(made)
                origins.append(Origin(i, path.name, transfers))
        except ValueError as error:
            problems.append((f"workloads[{i}].trace", str(error)))
    if problems:
        raise ScenarioError(problems)
    return {**data, "workloads": workloads}, origins


def _workloads(
    own: Mapping[str, Any], file: str, transfers: Sequence[Transfer], nodes: _Nodes
) -> Iterator[tuple[dict[str, Any], list[Transfer]]]:
    groups: dict[str, list[Transfer]] = {}
    for transfer in transfers:
        name = "_".join(filter(None, (str(own.get("name", "")), transfer.group))) or _NAME
        groups.setdefault(name, []).append(transfer)
    for group, of in groups.items():
        pairs = []
        for each in of:
            with _at(each.line, file):
                pairs.append((nodes.named(each.source), nodes.named(each.destination)))
        made = {
            **own,
            "name": group,
            "arrivals": {"type": "Times", "times": [f"{each.start_ns}ns" for each in of]},
            "pairs": {"type": "Listed", "pairs": pairs},
            "sizes": {"type": "Listed", "bytes": [f"{each.bytes}B" for each in of]},
        }
        yield made, of


class _Nodes:
    """The nodes of a scenario's data, which may be anything, by name and hosts by number."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        nodes, links = (
            given if isinstance(given := data.get(name), list | tuple) else ()
            for name in ("nodes", "links")
        )
        ends: Counter[str] = Counter()
        for link in links:
            given = link.get("ends") if isinstance(link, Mapping) else getattr(link, "ends", None)
            ends.update(map(str, given if isinstance(given, list | tuple) else ()))
        self._names = dict.fromkeys(map(str, nodes))
        self._hosts = [name for name in self._names if ends[name] == 1]

    def named(self, given: str) -> str:
        """The name of a node, or of the host with a number."""
        if given in self._names:
            return given
        if not (given.isascii() and given.isdigit()):
            raise ValueError(unknown("node", given, self._names))
        if len(given) > 9 or int(given) >= len(self._hosts):
            raise ValueError(f"there is no host {given[:20]} of {len(self._hosts)}, from 0 on")
        return self._hosts[int(given)]
