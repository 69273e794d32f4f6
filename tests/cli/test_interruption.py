"""Ctrl-C or SIGTERM ends the whole command soon, whatever runs."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ccperf.base import interruption
from ccperf.base.folders import Temporary
from ccperf.errors import CcperfError
from ccperf.store import Store
from user_scenarios import HEAVY, environment

# A shell ignores interrupts in what it runs in the background, such as these tests, and what is
# started there inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Promised; 0.01 to 0.38 s were measured where six processes wanted two cores.
PROMISED_S = 0.5
SLEEPER = (
    "import time, subprocess, ccperf\n"
    "class Sleeper(ccperf.CongestionControl):\n"
    "    def init(self, tcb):\n"
    "        if {child}:\n"
    "            child = subprocess.Popen(['sleep', '300'])\n"
    "            open('child', 'w').write(str(child.pid))\n"
    "        open('begun', 'w').close()\n"
    "        time.sleep({seconds})\n"
)


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return python(folder, "-m", "ccperf", *words)


def python(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def interrupt(
    process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT
) -> tuple[float, int, str]:
    """How long it took to end after Ctrl-C, its status, and what it said."""
    started = time.monotonic()
    process.send_signal(number)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return time.monotonic() - started, process.returncode, err


def soon() -> float:
    """What is promised, as much longer as this machine has less than a core for us at the moment.

    That is measured by what a Python takes to come up, on the clock and of a processor.
    """
    started, before = time.monotonic(), _used_by_children()
    subprocess.run([sys.executable, "-c", "import json"], check=True)
    taken, used = time.monotonic() - started, _used_by_children() - before
    return PROMISED_S * max(1.0, taken / used)


def _used_by_children() -> float:
    """Seconds of a processor, to the microsecond: a Python may come up within a tick of 10 ms."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    wait_until(path.exists, process)


def wait_for_a_run(path: Path, process: subprocess.Popen[str]) -> None:
    """Until the database has one: its file is there before anything is made, and no database
    at first."""

    def has_a_run() -> bool:
        with suppress(CcperfError), Store(path, "r") as store:
            return bool(store.ids())
        return False

    wait_until(has_a_run, process)


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("options", [[], ["--db", "x.db"]])
def test_in_a_run_of_which_a_hundredth_takes_minutes(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "heavy.toml").write_text(HEAVY)
    process = start(tmp_path, "run", "heavy.toml", *options)
    if options:
        wait_for(tmp_path / "x.db", process)
    time.sleep(2)
    seconds, status, _ = interrupt(process)
    assert status == 130
    assert seconds < soon()


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (["verify", "ns3"], 1.5),
        (["run", "aqm", "--cc", "cubic", "--k", "1..20000", "-n"], 1.5),
        (["run", "loss_resilience", "--cc", "cubic", "--seed", "1..500"], 1.5),
        (["run", "heavy.toml"], 1.5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("times", [1, 2])
def test_whatever_runs(tmp_path: Path, words: list[str], seconds: float, times: int) -> None:
    (tmp_path / "heavy.toml").write_text(HEAVY)
    process = start(tmp_path, *words)
    time.sleep(seconds)
    if times == 2:
        process.send_signal(signal.SIGINT)
    taken, status, err = interrupt(process)
    if "Traceback" not in err:  # under load it may be on its way to the first command still
        assert status in (130, -signal.SIGINT)
    assert taken < soon()
    assert "Serialization" not in err


def test_also_where_python_does_not_notice(tmp_path: Path) -> None:
    """A library that computes for minutes never comes back to Python."""
    code = (
        "import hashlib, sys, threading\n"
        "from ccperf.base import interruption\n"
        "interruption.watch()\n"
        "asked = threading.Event()\n"
        "def tell():\n"
        "    asked.wait()\n"
        "    open('begun', 'w').close()\n"
        "threading.Thread(target=tell, daemon=True).start()\n"
        "sys.setswitchinterval(100)  # so that it is told from within the library\n"
        "asked.set()\n"
        "hashlib.pbkdf2_hmac('sha512', b'', b'', 10**9)\n"
    )
    process = python(tmp_path, "-c", code)
    wait_for(tmp_path / "begun", process)
    taken, status, err = interrupt(process)
    assert (status, err) == (130, "stopped; what was finished is stored\n")
    assert 0.3 < taken < soon()


def test_before_the_command_is_there() -> None:
    code = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'ccperf.cli.app':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from ccperf.cli import main\n"
        "main(['list', 'cc'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


#: A machine on which it takes a second to delete what a run of user code has made.
SLOW_TO_DELETE = (
    "import sys, time\n"
    "from ccperf.cli import main\n"
    "from ccperf.runs.backends import sandbox\n"
    "end = sandbox._Folder.__exit__\n"
    "def end_late(self, *given):\n"
    "    time.sleep(1)\n"
    "    end(self, *given)\n"
    "sandbox._Folder.__exit__ = end_late\n"
    "sys.exit(main(sys.argv[1:]))\n"
)


@pytest.mark.parametrize(
    ("prefix", "number"),
    [
        ([sys.executable, "-m", "ccperf"], signal.SIGTERM),
        (["nohup", sys.executable, "-m", "ccperf"], signal.SIGTERM),
        ([sys.executable, "-c", SLOW_TO_DELETE], signal.SIGTERM),
        ([sys.executable, "-m", "ccperf"], signal.SIGHUP),
    ],
    ids=["plain", "nohup", "slow", "no terminal"],
)
def test_an_end_for_which_nobody_waits_leaves_no_folder_behind(
    tmp_path: Path, prefix: list[str], number: signal.Signals
) -> None:
    """What runs of user code have in TMPDIR stayed there, and a log beside the database."""
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(child=False, seconds=100))
    (tmp_path / "tmp").mkdir()
    words = ["run", "dumbbell", "--cc", "./sleeper.py:Sleeper", "--db", "x.db", "-j", "2"]
    process = subprocess.Popen(
        [*prefix, *words, "--seed", "1..4", "--jitter", "1ms"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "TMPDIR": str(tmp_path / "tmp")},
        # Tests under nohup ignore it, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    wait_for(tmp_path / "begun", process)
    assert list((tmp_path / "tmp").iterdir()) != []
    started = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - started < soon() + 5
    assert process.returncode == 128 + number, err
    assert "interrupted: what was finished is stored" in err
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(tmp_path.glob("x.db*")) == [tmp_path / "x.db"]


def test_temporary_folders_go_with_a_process_that_leaves_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each Ctrl-C in `plot` left that of its font."""
    from ccperf.present.figures import font

    assert font._folder().name in interruption.folders
    monkeypatch.setattr(interruption, "folders", set())
    kept, gone = Temporary(), Temporary()
    gone.cleanup()
    assert interruption.folders == {kept.name}
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit):
        interruption.leave()
    assert not Path(kept.name).exists()
    kept.cleanup()


def test_workers_of_dask_say_nothing_and_leave_nothing(tmp_path: Path) -> None:
    """A terminal sends Ctrl-C to all of them: each showed a traceback."""
    (tmp_path / "tmp").mkdir()
    words = ["run", "aqm", "--cc", "cubic", "--k", "1", "--qdisc", "codel", "--jitter", "10ms"]
    words += ["--seed", "1..3000", "--db", "x.db", "--on", "dask", "-j", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "TMPDIR": str(tmp_path / "tmp")},
        start_new_session=True,
    )
    wait_for_a_run(tmp_path / "x.db", process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in err or "interrupted" in err
    assert "Traceback" not in err
    assert "Warning" not in err
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("with_what", [signal.SIGINT, signal.SIGKILL])
def test_copies_that_draw_pages_end_with_it(tmp_path: Path, with_what: signal.Signals) -> None:
    code = (
        "import os, time\n"
        "from ccperf.base import interruption\n"
        "from ccperf.site.copies import mapped\n"
        "def page(number):\n"
        "    open(f'{number}.part', 'w').write(str(os.getpid()))\n"
        "    os.rename(f'{number}.part', str(number))\n"
        "    time.sleep(100)\n"
        "interruption.watch()\n"
        "try:\n"
        "    list(mapped(page, range(9), 2))\n"
        "except KeyboardInterrupt:\n"
        "    print('ended')\n"
    )
    process = python(tmp_path, "-c", code)
    for number in "01":
        wait_for(tmp_path / number, process)
    started = time.monotonic()
    process.send_signal(with_what)
    out, _ = process.communicate(timeout=60)
    assert time.monotonic() - started < soon()
    assert out == ("ended\n" if with_what is signal.SIGINT else "")
    deadline = time.monotonic() + 10
    while any(_runs(int((tmp_path / number).read_text())) for number in "01"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_other_algorithms_are_not_begun(tmp_path: Path) -> None:
    """It stopped the first one only, and went on with the others for minutes."""
    words = ["--cc", "cubic,bbr,vegas", "--seed", "1..60", "--db", "x.db", "-j", "1"]
    process = start(tmp_path, "run", "loss_resilience", *words)
    wait_for_a_run(tmp_path / "x.db", process)
    seconds, status, err = interrupt(process)
    assert status == 130
    assert seconds < soon()
    assert "what was finished is stored" in err
    assert err.count("in x.db before") <= 1
    with Store(tmp_path / "x.db", "r") as store:
        assert {run.cc for run in store.runs()} <= {("TcpCubic",)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_bench_ends_with_the_same_status(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path, "bench", "cubic,bbr", "--db", "x.db", "-j", "1")
    wait_for_a_run(tmp_path / "x.db", process)
    seconds, status, err = interrupt(process, number)
    is_waited_for = number is signal.SIGINT
    assert status == (130 if is_waited_for else 128 + number)
    assert seconds < soon() + (0 if is_waited_for else 5)
    # On a busy machine the time of a Ctrl-C may be over before the last line.
    was_cut_off = "stopped; what was finished is stored" in err
    assert "again: ccperf bench cubic,bbr --db x.db -j 1" in err or (is_waited_for and was_cut_off)
    assert not (tmp_path / "site").exists()


def test_user_code_and_what_it_has_started_end_with_it(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(seconds=100, child=True))
    options = ["--k", "1", "--qdisc", "codel", "--db", "x.db"]
    process = start(tmp_path, "run", "aqm", "--cc", "./sleeper.py:Sleeper", *options)
    wait_for(tmp_path / "begun", process)
    seconds, status, _ = interrupt(process)
    assert status == 130
    assert seconds < soon()
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 10
    while _runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_children_of_user_code_end_with_a_run_that_ends_well(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(seconds=0, child=True))
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "60ms"]
    process = start(tmp_path, "run", "aqm", "--cc", "./sleeper.py:Sleeper", *options)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    deadline = time.monotonic() + 10
    while _runs(int((tmp_path / "child").read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(process: int) -> bool:
    """Whether a process lives; one that nobody has waited for does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
