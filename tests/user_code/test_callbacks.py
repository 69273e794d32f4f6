"""Each function of a congestion control is called alike in Python and C; the texts say so."""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf import _native
from ccperf.algorithms.callbacks import Callbacks
from ccperf.errors import RunError
from ccperf.runs.backends import get
from user_scenarios import EXAMPLES, ROOT, scenario

DECLARED = json.loads(_native.interface())
SAMPLE = [field["name"] for field in DECLARED["sample"] if "how" in field]


def interface_tool() -> Any:
    spec = importlib.util.spec_from_file_location("interface", ROOT / "tools" / "interface.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_header_stub_and_base_class_are_those_of_the_declaration() -> None:
    for path, text in interface_tool().documents().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make docs`"


def test_the_base_class_has_each_function_with_its_arguments() -> None:
    for of in DECLARED["callbacks"]:
        given = [name + ("_ns" if kind == "Time" else "") for name, kind in of["arguments"]]
        found = inspect.signature(getattr(Callbacks, of["name"])).parameters
        assert list(found) == ["self", "tcb", *given]


#: Answers as the class in C does: what would differ is not the subject.
PYTHON = f"""
import json

import ccperf
from ccperf import _native

DECLARED = json.loads(_native.interface())
SAMPLE = {SAMPLE}


def text(kind, value):
    if "Sample" in kind:
        values = [getattr(value, field) for field in SAMPLE]
        return " ".join(str(-1 if value is None else int(value)) for value in values)
    words = DECLARED["words"].get(kind)
    return str(words.index(value) if words else int(value))


class Window(ccperf.CongestionControl):
    def __init__(self, log):
        self.log = log


class Rate(Window):
    pass


def logged(name, kinds):
    def call(self, tcb, *arguments):
        values = [text(kind, value) for kind, value in zip(kinds, arguments)]
        with open(self.log, "a") as log:
            print(name, tcb.now_ns, tcb.cwnd, *values, file=log)
        if name == "cong_avoid":
            tcb.cwnd += tcb.segment_size
        if name == "ssthresh":
            return max(arguments[0] // 2, 2 * tcb.segment_size)
        if name == "cong_control":
            tcb.cwnd = 30 * tcb.segment_size

    return call


for of in DECLARED["callbacks"]:
    call = logged(of["name"], [kind for _, kind in of["arguments"]])
    setattr(Rate if of["name"] == "cong_control" else Window, of["name"], call)
"""


def c_source() -> str:
    """The same in C."""
    lines = [
        "#include <ccperf.h>",
        "#include <inttypes.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        "struct self { char log[512]; int rate; };",
        "static void *create(ccperf_config *config) {",
        "    struct self *self = calloc(1, sizeof *self);",
        "    for (int64_t i = 0; i < config->attribute_count; i++) {",
        '        if (strcmp(config->attributes[i].name, "log") == 0)',
        '            snprintf(self->log, sizeof self->log, "%s", config->attributes[i].value);',
        "        else self->rate = 1;",
        "    }",
        "    return self;",
        "}",
        "static uint32_t hears(void *self) {",
        "    return ((struct self *)self)->rate ? ~0u : ~(uint32_t)CCPERF_HEARS_CONG_CONTROL;",
        "}",
    ]
    tool = interface_tool()
    for of in DECLARED["callbacks"]:
        name = of["name"]
        lines.append(f"static {tool.pointer(of).replace(f'(*{name})', name)} {{")
        formats, values = ["%" + '" PRId64 "'] * 2, ["tcb->now_ns", "tcb->cwnd"]
        for argument, kind in of["arguments"]:
            if "Sample" in kind:
                formats += ['%" PRId64 "'] * len(SAMPLE)
                values += [f"(int64_t)sample->{field}" for field in SAMPLE]
            else:
                formats.append('%" PRId64 "')
                values.append(f"(int64_t){argument}{'_ns' if kind == 'Time' else ''}")
        lines += [
            '    FILE *log = fopen(((struct self *)self)->log, "a");',
            f'    fprintf(log, "{name} {" ".join(formats)}\\n", {", ".join(values)});',
            "    fclose(log);",
        ]
        if of["out"]:
            lines.append(f"    (void){of['out']};")
        lines.append(
            {
                "cong_avoid": "    tcb->cwnd += tcb->segment_size;",
                "cong_control": "    tcb->cwnd = 30 * tcb->segment_size;",
                "ssthresh": "    int64_t least = 2 * tcb->segment_size;\n"
                "    return bytes_in_flight / 2 > least ? bytes_in_flight / 2 : least;",
                "undo": "    return prior_cwnd > tcb->cwnd ? prior_cwnd : tcb->cwnd;",
            }.get(name, "")
        )
        lines.append("}")
    entries = "".join(f" .{of['name']} = {of['name']}," for of in DECLARED["callbacks"])
    lines.append(
        "CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {CCPERF_CCA_HEADER, .create = create, "
        f".destroy = free, .hears = hears,{entries} }};"
    )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("manages", ["Window", "Rate"])
def test_python_and_c_are_called_with_the_same(
    tmp_path: Path, compile_c: Callable[[Path], Path], manages: str
) -> None:
    (tmp_path / "logs.py").write_text(PYTHON)
    (tmp_path / "logs.c").write_text(c_source())
    rate = {"rate": "1"} if manages == "Rate" else {}
    logs = []
    for cc, attributes in [
        (f"{tmp_path}/logs.py:{manages}", {}),
        (str(compile_c(tmp_path / "logs.c")), rate),
    ]:
        log = tmp_path / f"log{len(logs)}"
        given = {"type": cc, "attributes": {"log": str(log), **attributes}}
        get("native").simulate(scenario(given))
        logs.append(log.read_text().splitlines())
    assert logs[0] == logs[1]
    called = {line.split()[0] for line in logs[0]}
    never = {"undo", "cong_control"} if manages == "Window" else {"undo", "cong_avoid"}
    assert called == set(_native.callbacks()) - never  # ns-3 3.44 undoes nothing


PROBE = """
import ccperf


class Probe(ccperf.CongestionControl):
    def __init__(self, log):
        self.log = log
        self.sent = self.lost = self.acked = self.rounds = 0
        self.sizes = {}

    def on_sent(self, tcb, bytes, is_retransmission):
        self.sent += 1
        assert tcb.bytes_in_flight >= bytes

    def on_loss(self, tcb, bytes):
        self.lost += bytes

    def on_ack(self, tcb, sample):
        self.acked += sample.acked_sacked
        assert sample.total_delivered == self.acked
        assert sample.total_lost <= self.lost
        if sample.rtt_ns is not None:
            assert sample.rtt_ns >= 24_000_000
            self.rounds += sample.rtt_ns % 1_000_000 != 0
        with open(self.log, "w") as log:
            print(self.sent, self.lost, self.acked, self.rounds, file=log)
"""


def test_what_is_told_of_segments_losses_and_acks_adds_up(tmp_path: Path) -> None:
    """Round trips are not below twice the delay of the path (12 ms), nor in whole milliseconds."""
    (tmp_path / "probe.py").write_text(PROBE)
    given = {"type": f"{tmp_path}/probe.py:Probe", "attributes": {"log": str(tmp_path / "log")}}
    wanted = scenario(given)
    recording = get("native").simulate(wanted.model_copy(update={"flows": wanted.flows[:1]}))
    sent, lost, acked, rounds = map(int, (tmp_path / "log").read_text().split())
    assert 0 <= recording.flows["segments_sent"][0] - sent < 20  # after the last ACK
    assert 0 < lost < acked
    assert 0 <= recording.flow_samples["sent_bytes"][-1] - acked < 40 * 536 + lost
    assert rounds > 100


@pytest.mark.parametrize(("profile", "unit"), [("ns3-3.44", 1_000_000), ("linux", 1_000)])
def test_what_profiles_tell_of_acknowledgements_is_what_the_page_says(
    profile: str, unit: int, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    (tmp_path / "mine.py").write_text(
        "import ccperf\n\nclass Mine(ccperf.CongestionControl):\n"
        "    def pkts_acked(self, tcb, segments_acked, rtt_ns):\n"
        f"        with open({str(told)!r}, 'a') as file:\n"
        "            print(segments_acked, rtt_ns, tcb.srtt_ns, tcb.last_rtt_ns, file=file)\n"
    )
    mine = f"{tmp_path}/mine.py:Mine"
    ccperf.run("reordering", cc=mine, profile=profile, detour="5ms", stop_time="3s")
    calls = [list(map(int, line.split())) for line in told.read_text().splitlines()]
    is_linux = profile == "linux"
    assert all(rtt == (last if is_linux else smoothed) for _, rtt, smoothed, last in calls)
    assert any(smoothed != last for _, _, smoothed, last in calls)
    assert all(last % unit == 0 for _, _, _, last in calls)
    assert min(segments for segments, *_ in calls) == (1 if is_linux else 0)


def test_a_class_of_a_later_interface_is_refused(tmp_path: Path) -> None:
    later = ccperf.INTERFACE + 1
    (tmp_path / "later.py").write_text(
        f"import ccperf\nclass Later(ccperf.CongestionControl):\n    interface = {later}\n"
    )
    with pytest.raises(RunError, match=f"version {later} of the interface of user code"):
        get("native").simulate(scenario(f"{tmp_path}/later.py:Later"))


def test_copa_of_the_page_keeps_the_queue_that_its_paper_says() -> None:
    """A queue of 2.5 / delta packets at most, 1.25 / delta on average (section 2.2), link full.

    The first three seconds are slow start and what it leaves behind.
    """
    wanted = scenario(f"{EXAMPLES}/python/copa.py:Copa", stop_time="12s")
    data = wanted.model_dump()
    data["links"][1]["forward"] = {
        "qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "200p"}},
        "device_queue": "1p",
    }
    data["flows"] = [
        data["flows"][0] | {"tcp": {"SegmentSize": 1448, "SndBufSize": 10**7, "RcvBufSize": 10**7}}
    ]
    data["recording"] = {"interval": "10ms"}
    recording = get("native").simulate(type(wanted).model_validate(data))
    queue = recording.link_samples
    bottleneck = (queue["link"] == 2) & (queue["time_ns"] > 3_000_000_000)
    packets, sent = queue["qdisc_packets"][bottleneck], queue["tx_bytes"][bottleneck]
    delta = 0.5
    assert packets.max() <= 2 * 2.5 / delta  # a round trip goes by before the window turns
    assert packets.mean() <= 1.5 * 1.25 / delta
    assert (sent[-1] - sent[0]) * 8 / 9 > 0.99 * 10e6
