"""Whatever user code does ends its own run, with an error that says who, when and what."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ccperf
from ccperf import campaign
from ccperf.errors import RunError
from ccperf.runs.backends import get
from ccperf.store import Store
from user_scenarios import ROOT, balanced, scenario, with_qdisc

AT = r"at \d+\.\d{9} s of simulated time"

NULL = "*(volatile int *)0 = 1;"
ZERO = r"it set cwnd to 0 B, below one segment \(536 B\) \(in cong_avoid\)"

#: Bodies of `cong_avoid`, and what is said of them.
PYTHON = {
    "exception": (
        "1 / 0",
        r"ZeroDivisionError: division by zero \(bad\.py:\d+\) \(in cong_avoid\)",
    ),
    "zero": ("tcb.cwnd = 0", ZERO),
    "negative": ("tcb.cwnd -= 10**9", r"it set cwnd to -\d+ B, below one segment"),
    "absurd": ("tcb.cwnd = 2**40", r"it set cwnd to 1099511627776 B, above the largest window"),
    "float": (
        "tcb.cwnd = 1e6",
        r"TypeError: cwnd is in whole bytes, not a float: write int\(\.\.\.\) \(bad\.py:\d+\)",
    ),
    "float rate": (
        "tcb.pacing_rate_bps = 1e6",
        r"TypeError: pacing_rate_bps is in whole bits per second, not a float",
    ),
    "pacing": ("tcb.pacing_rate_bps = 0", r"it set pacing_rate_bps to 0, which would never send"),
    "word": ("tcb.ect = 'ect2'", r"ValueError: ect is one of .* not ect2"),
    "code": ("tcb.ect = 2", r"ValueError: ect is one of not_ect, ect1, ect0, ce, not 2 \("),
    "switch": ("tcb.pacing = 1", r"TypeError: pacing is True or False, not 1 \("),
    "float ratio": (
        "tcb.pacing_ss_ratio = 1.5",
        r"TypeError: pacing_ss_ratio is in whole percent, not a float: write int\(\.\.\.\)",
    ),
    "absurd ratio": (
        "tcb.pacing_ca_ratio = 2**40",
        r"OverflowError: pacing_ca_ratio is 1099511627776 percent, beyond the 32 bits",
    ),
    "read-only": ("tcb.now_ns = 0", r"AttributeError: .*now_ns"),
    "crash": ("import ctypes; ctypes.string_at(0)", r"crashed with SIGSEGV \(in cong_avoid\)"),
    "exit": ("sys.exit(3)", r"SystemExit: 3"),
    "hard exit": ("os._exit(3)", r"its process ended with status 3 \(in cong_avoid\)"),
    "loop": (
        "\n            while True: pass",
        r"no progress for 1 s: an endless loop\?.*cong_avoid",
    ),
    "sleep": ("time.sleep(100)", r"no progress for 1 s.*\(in cong_avoid\)"),
}
C = {
    "crash": (NULL, r"crashed with SIGSEGV \(in cong_avoid\)"),
    "abort": ("abort();", r"crashed with SIGABRT \(in cong_avoid\)"),
    "zero": ("tcb->cwnd = 0;", ZERO),
    "negative": ("tcb->cwnd = -1;", r"it set cwnd to -1 B, below one segment"),
    "error": ('tcb->error = "no idea";', r"no idea \(in cong_avoid\)"),
    "loop": ("for (;;) sink++;", r"no progress for 1 s: an endless loop\?.*\(in cong_avoid\)"),
    "enum": ("tcb->use_ecn = 7;", r"it set use_ecn to 7, not between 0 and 2"),
}


def fails(name: object) -> str:
    """What a run with this algorithm fails with, after it has got somewhere."""
    with pytest.raises(RunError) as error:
        get("native").simulate(scenario(name))
    text = str(error.value)
    assert re.search(AT, text), text
    return text


def python_class(folder: Path, body: str) -> str:
    path = folder / "bad.py"
    path.write_text(
        "import os, sys, time\n"
        "import ccperf\n\n"
        "class Bad(ccperf.CongestionControl):\n"
        "    def cong_avoid(self, tcb, segments_acked):\n"
        "        super().cong_avoid(tcb, segments_acked)\n"
        f"        if tcb.now_ns > 10**8: {body}\n"
    )
    return f"{path}:Bad"


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("what", PYTHON)
def test_python(what: str, tmp_path: Path) -> None:
    body, message = PYTHON[what]
    name = python_class(tmp_path, body)
    text = fails(name)
    assert text.startswith(f"{name} failed at 0.")
    assert re.search(message, text), text


def test_a_copy_of_its_process_that_it_lets_go_on_leaves_no_result(tmp_path: Path) -> None:
    """Both wrote one, and the second failed with a traceback, and the run with it."""
    name = python_class(tmp_path, "os.path.exists('forked') or open('forked', 'w') and os.fork()")
    body = (tmp_path / "bad.py").read_text().replace("'forked'", repr(str(tmp_path / "forked")))
    (tmp_path / "bad.py").write_text(body)
    made = get("native").simulate(scenario(name))
    (tmp_path / "forked").unlink()
    assert get("native").simulate(scenario(name)).equals(made)


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("what", C)
def test_c(what: str, tmp_path: Path, compile_c: Callable[[Path], Path]) -> None:
    body, message = C[what]
    source = tmp_path / "bad.c"
    source.write_text(
        "#include <ccperf.h>\n#include <stdlib.h>\n"
        "volatile int sink;\n"
        "static int64_t ssthresh(void *self, ccperf_tcb *tcb, int64_t in_flight) {\n"
        "    (void)self; (void)tcb; return in_flight;\n}\n"
        "static void cong_avoid(void *self, ccperf_tcb *tcb, int64_t acked) {\n"
        "    (void)self; (void)acked;\n"
        f"    if (tcb->now_ns > 100000000) {{ {body} }}\n}}\n"
        "CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {\n"
        "    CCPERF_CCA_HEADER, .ssthresh = ssthresh, .cong_avoid = cong_avoid};\n"
    )
    library = compile_c(source)
    text = fails(str(library))
    assert text.startswith(f"{library} failed at 0.")
    assert re.search(message, text), text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise OSError('no licence')", r"OSError: no licence \(bad\.py:1\)"),
        ("x = ", r"SyntaxError: invalid syntax \(bad\.py:1\)"),
        ("", r"bad\.py has no class Bad"),
        ("class Bad: pass", r"Bad does not derive from ccperf\.CongestionControl"),
        ("import ccperf\nclass Bad(ccperf.QueueDisc): pass", r"does not derive from"),
        (
            "import ccperf\nclass Bad(ccperf.CongestionControl):\n  def __init__(self, a): pass",
            r"missing 1 required positional argument: 'a'",
        ),
        (
            "import ccperf\nclass Bad(ccperf.CongestionControl):\n  def ssthresh(self, t, b): pass",
            r"it returned None, not a whole number of bytes: int\(\.\.\.\) \(in ssthresh\)",
        ),
        (
            "import ccperf\nclass Bad(ccperf.CongestionControl):\n"
            "  def ssthresh(self, t, b): return 2**64",
            r"it returned 18446744073709551616 B, and a window has 0 to 4294967295 B \(in ssthresh",
        ),
        *(
            (
                "import ccperf\nclass Bad(ccperf.CongestionControl):\n" + callback,
                r"Bad\.cong_avoid would not run when it is called; write it without `yield`",
            )
            for callback in (
                "  def cong_avoid(self, t, n): yield",
                "  async def cong_avoid(self, t, n): pass",
            )
        ),
    ],
)
def test_a_class_that_cannot_be_used(source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(source)
    assert re.search(message, fails(f"{tmp_path}/bad.py:Bad"))


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass\n",
        "import ccperf\nclass Bad(ccperf.CongestionControl):\n    def __init__(self):\n"
        "        while True: pass\n",
    ],
    ids=["import", "__init__"],
)
def test_what_never_gets_ready_has_a_limit_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """One hour a run it was, whatever CCPERF_CALL_LIMIT said."""
    monkeypatch.setenv("CCPERF_START_LIMIT", "1")
    (tmp_path / "bad.py").write_text(source)
    started = time.monotonic()
    text = fails(f"{tmp_path}/bad.py:Bad")
    assert time.monotonic() - started < 10
    assert "no progress for 1 s: an endless loop? (CCPERF_START_LIMIT sets the limit)" in text


@pytest.mark.parametrize("module", ["json", "random", "arro3", "numpy", "ccperf"])
def test_what_lies_in_this_folder_stands_in_for_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{module}.py").write_text("raise RuntimeError('not Python's own')\n")
    name = python_class(tmp_path, "pass")
    assert get("native").simulate(scenario(name)).flows.rows == 3


@pytest.mark.parametrize("left", ["b'PAR1' + bytes(100)", "open('crafted', 'rb').read()"])
def test_what_it_leaves_in_place_of_a_result_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """At the second of them a library would end the process that reads it."""
    monkeypatch.chdir(tmp_path)
    crafted = ROOT / "fuzz" / "corpus" / "parquet" / "missing_dictionary.parquet"
    (tmp_path / "crafted").write_bytes(crafted.read_bytes())
    leave = (
        "import pathlib; there = pathlib.Path(sys.argv[2], 'tables'); there.mkdir(); "
        f"(there / 'flow_samples.parquet').write_bytes({left}); os._exit(0)"
    )
    name = python_class(tmp_path, leave)
    assert "its process left something else than a result" in fails(name)


def test_a_long_error_is_cut(tmp_path: Path) -> None:
    assert len(fails(python_class(tmp_path, "raise ValueError('x' * 10**6)"))) <= 2000


def test_a_library_that_is_none(tmp_path: Path, compile_c: Callable[[Path], Path]) -> None:
    (tmp_path / "text.so").write_text("hello")
    assert "cannot be loaded" in fails(str(tmp_path / "text.so"))
    source = tmp_path / "empty.c"
    source.write_text("extern int nothing; int nothing = 1;\n")
    assert "does not export `ccperf_cca_v2`" in fails(str(compile_c(source)))
    source.write_text(
        "#include <ccperf.h>\nCCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {.abi_version = 3};\n"
    )
    assert "version 3 of the interface, not 2" in fails(str(compile_c(source)))
    source.write_text(
        "#include <ccperf.h>\nCCPERF_EXPORT const ccperf_cca ccperf_cca_v1 = {.abi_version = 1};\n"
    )
    assert "version 1 of the interface, not 2: build it again" in fails(str(compile_c(source)))
    source.write_text(
        "#include <ccperf.h>\nstruct newer { ccperf_cca known; void *more; };\n"
        "CCPERF_EXPORT const struct newer ccperf_cca_v2 = "
        "{.known = {.abi_version = 2, .table_size = sizeof(struct newer)}};\n"
    )
    assert "built with a newer ccperf.h" in fails(str(compile_c(source)))


def test_an_older_library_lacks_the_functions_that_came_later(
    tmp_path: Path, compile_c: Callable[[Path], Path]
) -> None:
    """Its table ends before `cong_avoid`: what lies behind it in memory must not be called."""
    source = tmp_path / "old.c"
    source.write_text(
        "#include <ccperf.h>\n#include <stddef.h>\n"
        "static int64_t ssthresh(void *s, ccperf_tcb *t, int64_t f) "
        "{ (void)s; (void)t; return f; }\n"
        "CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {2, offsetof(ccperf_cca, cong_avoid), "
        "sizeof(ccperf_tcb) - 4, 0, .ssthresh = ssthresh, "
        ".cong_avoid = (void (*)(void *, ccperf_tcb *, int64_t))(intptr_t)1};\n"
    )
    recording = get("native").simulate(scenario(str(compile_c(source))))
    assert recording.flows["segments_sent"][0] > 0


QDISCS = {
    "twice": (
        "def enqueue(self, p): self.p = p; return True",
        "def dequeue(self): return self.p",
        r"dequeue returned packet \d+, which is not in the queue",
    ),
    "nonsense": (
        "def enqueue(self, p): return True",
        "def dequeue(self): return 7",
        r"it returned 7, neither a packet nor None \(in dequeue\)",
    ),
    "kept and dropped": (
        "def enqueue(self, p): self.queue.drop(p, 'x'); return True",
        "def dequeue(self): return None",
        "enqueue kept a packet that it had dropped",
    ),
    "timers": (
        "def enqueue(self, p): self.queue.set_timer(0); return True",
        "def dequeue(self): return None\n    def timer(self, tag): self.queue.set_timer(0)\n",
        r"it returned None, neither True nor False \(in timer\)",
    ),
    "endless timers": (
        "def enqueue(self, p): self.queue.set_timer(0); return True",
        "def dequeue(self): return None\n"
        "    def timer(self, tag): self.queue.set_timer(0); return False\n",
        r"no progress for 1 s: an endless loop\?",
    ),
    "reasons": (
        "def enqueue(self, p): self.queue.mark(p, str(p.id)); self.queue.drop(p, f'{p!r}'); 1/0",
        "def dequeue(self): return None",
        r"ZeroDivisionError.*\(in enqueue\)",
    ),
}


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("what", QDISCS)
def test_queue_disc(what: str, tmp_path: Path) -> None:
    enqueue, dequeue, message = QDISCS[what]
    (tmp_path / "bad.py").write_text(
        f"import ccperf\nclass Bad(ccperf.QueueDisc):\n    {enqueue}\n    {dequeue}\n"
    )
    with pytest.raises(RunError) as error:
        get("native").simulate(with_qdisc(f"{tmp_path}/bad.py:Bad"))
    assert re.search(f"{AT}: {message}", str(error.value)), str(error.value)


BALANCERS = {
    "too far": (
        "def pick(self, packet): return len(self.switch.ports)",
        r"it returned 2, not the position of one of 2 ports \(in pick\)",
    ),
    "a port": (
        "def pick(self, packet): return self.switch.ports[0]",
        r"it returned <.*SwitchPort.*>, not the position of one of 2 ports \(in pick\)",
    ),
    "exception": (
        "def pick(self, packet): return self.flows[packet.flow]",
        r"AttributeError: 'Bad' object has no attribute 'flows' \(bad\.py:3\) \(in pick\)",
    ),
    "in tick": (
        "period_ns = 10**6; pick = lambda self, packet: 0\n    def tick(self): 1/0",
        r"ZeroDivisionError: division by zero \(bad\.py:4\) \(in tick\)",
    ),
    "notes": (
        "def pick(self, packet): packet.notes = (1, 2); return 0",
        r"ValueError: .*3.*\(in pick\)",
    ),
    "loop": (
        "def pick(self, packet):\n        while True: pass",
        r"no progress for 1 s: an endless loop\?.*\(in pick\)",
    ),
}


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("what", BALANCERS)
def test_load_balancer(what: str, tmp_path: Path) -> None:
    body, message = BALANCERS[what]
    (tmp_path / "bad.py").write_text(
        f"import ccperf\nclass Bad(ccperf.LoadBalancer):\n    {body}\n"
    )
    with pytest.raises(RunError) as error:
        get("native").simulate(balanced(f"{tmp_path}/bad.py:Bad"))
    assert re.search(f"{AT}: {message}", str(error.value)), str(error.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "it has no method pick"),
        ("period_ns = 5; pick = lambda self, packet: 0", "it has a period_ns and no method tick"),
        ("period_ns = 0.5; pick = lambda self, packet: 0", "its period_ns is 0.5, not a whole"),
        ("def __init__(self, a): pass", "missing 1 required positional argument: 'a'"),
    ],
)
def test_a_load_balancer_that_cannot_be_used(body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        f"import ccperf\nclass Bad(ccperf.LoadBalancer):\n    {body}\n"
    )
    with pytest.raises(RunError) as error:
        get("native").simulate(balanced(f"{tmp_path}/bad.py:Bad"))
    assert message in str(error.value)


def test_a_library_whose_balancer_goes_wrong(
    tmp_path: Path, compile_c: Callable[[Path], Path]
) -> None:
    source = tmp_path / "bad.c"
    for body, message in {
        "return at->port_count;": "pick returned 2, which is not the position of one of 2 ports",
        "return -1;": "pick returned -1, which is not the position of one of 2 ports",
        "return ccperf_rate_bps(at, 77);": "it asked for port 77, which the switch has not got",
        'at->error = "no idea"; return 0;': "no idea",
        NULL + " return 0;": "crashed with SIGSEGV (in pick)",
    }.items():
        source.write_text(
            "#include <ccperf.h>\n"
            "static int64_t pick(void *self, ccperf_switch *at, ccperf_hop *packet) {\n"
            f"    (void)self; (void)packet; (void)at; {body}\n}}\n"
            "CCPERF_EXPORT const ccperf_balancer ccperf_balancer_v2 = {\n"
            "    CCPERF_BALANCER_HEADER, .pick = pick};\n"
        )
        with pytest.raises(RunError) as error:
            get("native").simulate(balanced(str(compile_c(source))))
        assert re.search(AT, str(error.value))
        assert message in str(error.value)


@pytest.mark.usefixtures("short_limit")
def test_the_campaign_goes_on(tmp_path: Path) -> None:
    """Four runs, three of which end badly, each in another way: the fourth is stored."""
    names = ["TcpNewReno"]
    for what in ("crash", "loop", "exception"):
        (tmp_path / what).mkdir()
        names.append(python_class(tmp_path / what, PYTHON[what][0]))
    points = [campaign.Point(scenario(name)) for name in names]
    with Store(tmp_path / "runs.db", "a") as store:
        report = campaign.run(points, store, get("native"), jobs=2)
        assert len(report.made) == 1
        assert len(report.failures) == 3
        assert not report.interrupted
        assert [row.cc for row in store.runs()] == [("TcpNewReno",)]
    assert os.getpid()  # and we are still here


def test_memory_is_bounded(tmp_path: Path) -> None:
    name = python_class(tmp_path, "self.all = bytearray(2**60)")
    assert "MemoryError" in fails(name)


def test_runs_side_by_side_share_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight at a time have a sixteenth each: half of the machine's memory together."""
    import ccperf.runs.backends.sandbox as module

    monkeypatch.setattr(module, "_memory", lambda: 16 * 2**30)
    monkeypatch.setattr(module, "_runs_at_a_time", 1)
    zeros = "__import__('numpy').zeros(12 * 10**8, 'B').data"
    once = f"self.all = getattr(self, 'all', None) or {zeros}"
    name = python_class(tmp_path, once)
    get("native").simulate(scenario(name))
    with pytest.raises(RunError, match="MemoryError"):
        ccperf.grid(
            "aqm",
            cc=name,
            k=1,
            qdisc="codel",
            stop_time="1s",
            seed=range(1, 9),
            jobs=8,
            progress=False,
        )
