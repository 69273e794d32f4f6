"""What reads a stranger's input in Python, as functions of bytes: read, or refused in our words.

`guided.py` runs one guided by coverage, the tests on what `draw` makes of the examples.
"""

from __future__ import annotations

import json
import random
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ccperf import _native, simulate
from ccperf.campaign import plan
from ccperf.errors import RunError, ScenarioError, UsageError
from ccperf.experiments import programs, traces
from ccperf.experiments.catalogue import own
from ccperf.experiments.published import published
from ccperf.experiments.topologies import written
from ccperf.runs import flow_monitor, parquet
from ccperf.runs.backends.tables import read_tables
from ccperf.runs.recording import TABLES, Recording, RecordingError
from ccperf.scenario import Scenario
from ccperf.scenario.toml import Document
from ccperf.store import Store, StoreError

ROOT = Path(__file__).parents[1]
#: An edge of something, as text.
WORDS = (
    *("0", "-1", "1e999", "nan", "99999999999999999999", "1ns", "0p", "16Mbps", "1_0", "٣", "é"),
    *("\x00", "\x1b[2J", '"', "'", "[", "]]", "{", "}", "=", ",", "\n", "#", "<!--", "&#0;"),
)


def command_line(data: bytes) -> None:
    """A published command, a word a line: a run, or a message about one of its options."""
    try:
        words = data.decode().split("\n")
        scenario, _ = programs.scenario(programs.parse(words))
    except UnicodeDecodeError:
        return
    except UsageError as error:
        if not (error.field and error.message):
            raise AssertionError("it does not say what is wrong") from error
        return
    scenario.lowered()


def scenario_file(data: bytes) -> None:
    with suppress(ScenarioError, UsageError):
        written.read(_file(data, ".toml"))


def cdf(data: bytes) -> None:
    """The file of a workload's sizes."""
    described = json.loads((ROOT / "fuzz" / "corpus" / "scenario" / "workload.json").read_text())
    described["workloads"][0]["sizes"] = {"type": "Cdf", "file": _file(data, ".txt").name}
    with suppress(ScenarioError):
        Scenario.model_validate(described, context={"folder": _folder()}).lowered()


def plan_file(data: bytes) -> None:
    """A plan, or a scenario file that is an experiment of its own."""
    path = _file(data, ".toml")
    with suppress(ScenarioError, UsageError):
        document = Document.read(path)
        if plan.is_plan(document.data):
            plan.from_document(document)
        elif own.is_one(document.data):
            own.read(path)


def kernel_tables(data: bytes) -> None:
    """What the guest in a Linux kernel, or the driver of ns-3, hands over."""
    with suppress(RunError, RecordingError):
        Recording(read_tables(_file(data, ".tables")))


def trace(data: bytes) -> None:
    """The file of a link's schedule, in both formats."""
    for suffix in (".csv", ".trace"):
        with suppress(UsageError):
            traces.load(str(_file(data, suffix))).schedules(1_000_000_000)


def flow_trace(data: bytes) -> None:
    """A file of transfers, over a fabric: read in each format, or refused with the line."""
    described = json.loads((ROOT / "fuzz" / "corpus" / "scenario" / "workload.json").read_text())
    workload = described["workloads"][0]
    for said in ("arrivals", "pairs", "sizes", "sources", "destinations", "apart"):
        workload.pop(said, None)
    workload["trace"] = _file(data, ".flows").name
    with suppress(ScenarioError):
        Scenario.model_validate(described, context={"folder": _folder()}).lowered()


def monitor_file(data: bytes) -> None:
    with suppress(RunError):
        flow_monitor.read(_file(data, ".xml"))


def stored_series(data: bytes) -> None:
    """A table of a stranger's database."""
    store, _ = _stored()
    with suppress(StoreError), store._reading():
        parquet.decode_table("flow_samples", data, _recording().flow_samples.rows)


def plug_in(data: bytes) -> None:
    """A user's algorithms that answer anything: a run, or one that says what they did."""
    module, lowered = _plug_in()
    module.answers = _answers(data or b"\0")
    with suppress(RunError):
        _native.Simulation(lowered).run_for(20_000)


TARGETS: dict[str, Callable[[bytes], None]] = {
    function.__name__: function
    for function in (
        command_line,
        scenario_file,
        cdf,
        plan_file,
        kernel_tables,
        trace,
        flow_trace,
        monitor_file,
        stored_series,
        plug_in,
    )
}


@cache
def _folder() -> Path:
    _holder.append(tempfile.TemporaryDirectory(prefix="ccperf-fuzz-"))
    return Path(_holder[0].name)


_holder: list[tempfile.TemporaryDirectory[str]] = []


def _file(data: bytes, suffix: str) -> Path:
    path = _folder() / f"input{suffix}"
    path.write_bytes(data)
    return path


@cache
def _example() -> Scenario:
    return written.read(ROOT / "examples" / "scenarios" / "two_bottlenecks.toml")


@cache
def _recording() -> Recording:
    return simulate(_example()).recording


@cache
def _stored() -> tuple[Store, bytes]:
    table = _recording().tables["flow_samples"]
    return Store(_folder() / "stored.db", "a"), parquet.encode_table(table)


@cache
def _plug_in() -> tuple[ModuleType, str]:
    sys.path.insert(0, str(Path(__file__).parent))
    import answers

    described = json.loads((ROOT / "fuzz" / "scenarios" / "user_code.json").read_text())
    for flow in described["flows"]:
        flow["cc"]["type"] = "answers:Control"
    described["links"][0]["forward"]["qdisc"]["type"] = "answers:Queue"
    return answers, Scenario.model_validate(described).lowered()


def _answers(data: bytes) -> Iterator[Any]:
    odd: Sequence[Any] = (
        *(None, True, False, 0, 1, 2, 3, 4, -1, 2**31, 2**32, 2**63, 2**64, -(2**63)),
        *(0.5, 1e300, float("nan"), float("inf"), "", "cwnd", "ssthresh", "no_such", "é\0", [], ()),
    )
    return (odd[byte] if byte < len(odd) else 37 * byte for byte in cycle(data))


def examples(target: str) -> list[bytes]:
    """Inputs that are as they should be."""
    texts: dict[str, Callable[[], list[str]]] = {
        "command_line": lambda: ["\n".join(shlex.split(page.command)) for page in published()],
        "scenario_file": lambda: [p.read_text() for p in sorted(ROOT.glob("examples/**/*.toml"))],
        "cdf": lambda: ["0 0\n1000 0.5\n30000 0.9\n1e6 1\n", "# sizes\n100 0.5\n100 0.75\n300 1\n"],
        "trace": lambda: [
            "0\n1\n1\n5\n",
            "time_s,rate_mbps,delay_ms,loss\n0,16,10,0\n1.5,4,20,0.01\n",
        ],
        "flow_trace": lambda: [
            "start_us,source,destination,bytes,class\n0,h_0_0,2,1000,mice\n1.5,1,3,3000000,big\n",
            "2\n0 2 3 100 1000 0.0\n1 3 3 100 3000000 0.0000015\n",
            "Nodes 4\nConnections 2\n0->2 id 1 start 0 size 1000\n1->3 start 15e5 size 3000\n",
        ],
        "monitor_file": lambda: [_monitor_file()],
    }
    if target in texts:
        return [text.encode() for text in texts[target]()]
    if target == "plan_file":
        files = [*ROOT.glob("examples/**/*.toml"), *ROOT.glob("tests/**/*.toml")]
        return [path.read_bytes() for path in sorted(files)] + [text.encode() for text in _PLANS]
    if target == "kernel_tables":
        return [_handed_over()]
    if target == "stored_series":
        return [_stored()[1]]
    return [bytes(range(0, 250, 7)), bytes(range(200))]


_PLANS = (
    'experiment = "aqm"\ncc = ["TcpNewReno"]\nseed = "1..3"\nstop_time = "15s"\n'
    '[parameters]\nk = [1, 5]\nqdisc = "codel"\n',
    'cc = ["TcpNewReno", "TcpBbr"]\nseed = "1..10"\n[[experiments]]\nexperiment = "aqm"\n'
    "parameters = { k = [1, 2], qdisc = 'codel' }\n"
    '[[experiments]]\nexperiment = "competition"\ncc = "TcpBbr"\n',
    'experiment = "load_balancing"\nrouting = ["ecmp", "conga"]\nseed = [1, 2]\n',
)


def _handed_over() -> bytes:
    """A recording as those programs write it."""
    head: list[dict[str, Any]] = []
    body = bytearray()
    for table in _recording().tables.values():
        for column in TABLES[table.name]:
            values = table[column.name]
            words = list(dict.fromkeys(values)) if isinstance(values, list) else []
            codes = [words.index(value) for value in values] if words else values
            kind = column.kind
            about = {"table": table.name, "column": column.name, "rows": table.rows}
            head.append({**about, "kind": kind, "words": words})
            body += np.asarray(codes, "<f8" if kind == "float" else "<i8").tobytes()
    return json.dumps(head).encode() + b"\n" + body


def _monitor_file() -> str:
    path = _folder() / "example.xml"
    monitored = flow_monitor.asked(_example())
    flow_monitor.write(monitored, simulate(monitored).recording, path)
    return path.read_text()


def draw(inputs: Sequence[bytes], random: random.Random) -> bytes:
    """One of the examples with a few places changed."""
    data = bytearray(random.choice(inputs))
    for _ in range(random.randint(1, 4)):
        start = random.randrange(len(data) + 1)
        end = start + random.choice([0, 0, 1, 4, 30])
        other = random.choice(inputs)
        begin = random.randrange(len(other) + 1)
        data[start:end] = random.choice(
            [random.choice(WORDS).encode(), random.randbytes(1), other[begin : begin + 20], b""]
        )
    return bytes(data)
