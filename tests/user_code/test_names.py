"""Naming user code, and what a run's id depends on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ccperf
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.errors import ScenarioError, UsageError
from ccperf.runs.backends import get
from ccperf.runs.result import identify
from ccperf.scenario import Scenario
from user_scenarios import EXAMPLES, environment, scenario


def test_relative_paths_are_made_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / "python")
    name = f"{EXAMPLES}/python/mycca.py:MyCca"
    assert registry.resolve("cc", "./mycca.py:MyCca") == name
    assert registry.resolve("cc", "mycca.py:MyCca") == name
    assert scenario("./mycca.py:MyCca").flows[0].cc.type == name
    assert registry.resolve("cc", "mycca:MyCca") == "mycca:MyCca"
    assert names.files("mycca:MyCca") == [EXAMPLES / "python" / "mycca.py"]
    assert names.short(name) == "MyCca"
    assert names.short("/a/libmycca.so") == "libmycca"


@pytest.mark.parametrize("name", ["./libnone.so", "./none.py:Cls", "none_such_module:Cls"])
def test_what_is_not_there_is_refused_before_anything_runs(name: str) -> None:
    with pytest.raises(ValueError, match="there is no"):
        registry.resolve("cc", name)
    with pytest.raises(UsageError, match="there is no"):
        ccperf.run("aqm", cc=name)
    with pytest.raises(ScenarioError) as error:
        get("native").simulate(scenario(name))
    assert error.value.problems[0].path == "flows[0].cc.type"


def test_paths_in_a_scenario_file_start_where_it_is(tmp_path: Path) -> None:
    text = """
        stop_time = "1s"
        nodes = ["a", "b"]
        [[links]]
        name = "btl"
        ends = ["a", "b"]
        rate = "1Mbps"
        delay = "1ms"
        [[flows]]
        source = "a"
        destination = "b"
        cc = "./mycca.py:MyCca"
    """
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ScenarioError, match=r"s\.toml:12: flows\[0\]\.cc\.type.*there is no file"):
        Scenario.from_toml(tmp_path / "s.toml")
    shutil.copy(EXAMPLES / "python" / "mycca.py", tmp_path)
    assert Scenario.from_toml(tmp_path / "s.toml").flows[0].cc.type == f"{tmp_path}/mycca.py:MyCca"


def test_a_class_is_looked_for_in_files_of_code_only(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    shutil.copy(EXAMPLES / "python" / "mycca.py", path)
    with pytest.raises(ValueError, match=r"classes are in Python files \(\.py\) and C\+\+ files"):
        names.checked(f"{path}:MyCca")


def test_the_id_changes_with_the_code_and_only_then(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    shutil.copy(EXAMPLES / "python" / "mycca.py", path)
    native = get("native")
    before = identify(scenario(f"{path}:MyCca"), native).id
    assert identify(scenario(f"{path}:MyCca"), native).id == before
    path.write_text(path.read_text() + "# changed\n")
    assert identify(scenario(f"{path}:MyCca"), native).id != before


def test_ns3_refuses() -> None:
    name = f"{EXAMPLES}/python/mycca.py:MyCca"
    with pytest.raises(UsageError, match=r"mycca.py:MyCca: it needs the backend `native`"):
        identify(scenario(name), get("ns3"))


def test_a_class_of_the_running_script(tmp_path: Path) -> None:
    """As people write it: the class and the call in one file, without a guard."""
    script = tmp_path / "study.py"
    script.write_text(
        "import ccperf\n\n"
        "class Mine(ccperf.CongestionControl):\n    pass\n\n"
        "if __name__ == '__main__':\n"
        "    kind = dict(k=1, qdisc='codel', stop_time='1s')\n"
        "    mine = ccperf.run('aqm', cc=Mine, **kind)\n"
        "    theirs = ccperf.run('aqm', cc='newreno', **kind)\n"
        "    assert mine.flow_metrics == theirs.flow_metrics\n"
        "    print(mine.scenario.flows[0].cc.type)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{script}:Mine"


def test_a_class_without_a_file() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import ccperf\nclass A: pass\nccperf.run('aqm', cc=A)"],
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert "is defined interactively" in done.stderr


class Own(ccperf.CongestionControl):
    """To be given as an object, by mistake."""


def test_an_object_is_answered_by_what_to_give() -> None:
    for give in (ccperf.run, ccperf.grid):
        with pytest.raises(UsageError, match=r"Own: is an object; give its class, or .*:Own:name="):
            give("aqm", cc=Own(), k=1, qdisc="codel")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("./m.py:", "`` is no class of a file; write ./m.py:ClassName"),
        ("./m.py:A.B", "`A.B` is no class of a file; write ./m.py:ClassName"),
        ("./m.py:A(x=1", "`A(x=1` is no class of a file; write ./m.py:ClassName"),
        ("./m.py:A:x", "/m.py:A; a parameter needs a value: x=VALUE"),
    ],
)
def test_what_is_no_class_of_a_file_is_answered_by_how_to_name_one(name: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        ccperf.run("aqm", cc=name, k=1, qdisc="codel")
    assert says in str(error.value)


def test_prints_of_user_code_do_not_mix_with_results(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(
        "import ccperf\n\nclass Chatty(ccperf.CongestionControl):\n"
        "    def init(self, tcb):\n        print('hello from init')\n"
    )
    command = [sys.executable, "-m", "ccperf", "run", "aqm", "--cc", "chatty:Chatty"]
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "1s", "--json"]
    done = subprocess.run(
        command + options, cwd=tmp_path, capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")
    assert "hello from init" in done.stderr
    assert (tmp_path / "benchmark_Chatty.db").exists()


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "study.py"
    script.write_text(
        "import ccperf\n\nclass Mine(ccperf.CongestionControl):\n    pass\n\n"
        "ccperf.run('aqm', cc=Mine, k=1, qdisc='codel', stop_time='100ms')\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment()
    )
    assert 'put the call behind `if __name__ == "__main__":`' in done.stderr


def test_a_class_from_standard_input_has_no_file() -> None:
    done = subprocess.run(
        [sys.executable, "-"],
        input="import ccperf\nclass A: pass\nccperf.run('aqm', cc=A)",
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert "is defined interactively" in done.stderr


@pytest.mark.parametrize(
    ("method", "warning"),
    [
        ("cong_avoidd", "Mine.cong_avoidd is never called; is `cong_avoid` meant?"),
        (
            "congestion_avoidence",
            "Mine.congestion_avoidence is never called; is `cong_avoid` meant?",
        ),
        ("increase_window", "Mine.increase_window is never called; is `cong_avoid` meant?"),
        ("IncreaseWindow", "Mine.IncreaseWindow is never called; is `cong_avoid` meant?"),
        ("update_model", ""),
        ("_ssthresh", ""),
    ],
)
def test_a_method_that_is_never_called_is_warned_about(
    tmp_path: Path, method: str, warning: str
) -> None:
    (tmp_path / "mine.py").write_text(
        "import ccperf\n\nclass Mine(ccperf.CongestionControl):\n"
        f"    def {method}(self, tcb, segments):\n        pass\n"
    )
    command = [sys.executable, "-m", "ccperf", "run", "aqm", "--cc", "./mine.py:Mine"]
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "100ms"]
    done = subprocess.run(
        command + options, cwd=tmp_path, capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("is never called") == bool(warning)
    assert warning in done.stderr


def test_python_is_warned_once_of_a_method_that_is_never_called(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import ccperf\n\nclass Mine(ccperf.CongestionControl):\n"
        "    def ssthreshold(self, tcb, in_flight):\n        return 3000\n\n"
        "    def congavoid(self, tcb, segments):\n        pass\n"
    )
    text = (
        "import warnings, ccperf\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n"
        "    for k in (1, 2):\n"
        "        ccperf.run('aqm', cc='./mine.py:Mine', k=k, stop_time='100ms')\n"
        "print(*(f'{each.category.__name__}: {each.message}' for each in found), sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert done.stdout.splitlines() == [
        "RuntimeWarning: Mine.ssthreshold is never called; is `ssthresh` meant?",
        "RuntimeWarning: Mine.congavoid is never called; is `cong_avoid` meant?",
    ], done.stderr
