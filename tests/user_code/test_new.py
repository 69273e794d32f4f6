"""``ccperf new``: what it writes builds, runs, and passes its own test."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ccperf.algorithms.user_code import names
from ccperf.cli.app import invoke
from user_scenarios import ROOT, environment

KINDS = ("cc", "qdisc", "balancer")

pytestmark = pytest.mark.usefixtures("own_folder")


def own_test_passes(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    written = path.read_text().count("\ndef test_")
    assert done.stdout.count("passed: ") == written > 1


@pytest.mark.parametrize("kind", [*KINDS, "scheduler"])
def test_python(kind: str) -> None:
    assert invoke(["new", kind, "MyOwn"]) == 0
    assert "class MyOwn(ccperf." in Path("myown.py").read_text()
    own_test_passes(Path("test_myown.py"))


@pytest.mark.parametrize("kind", KINDS)
def test_c(kind: str, compile_c: Callable[[Path], Path]) -> None:
    assert invoke(["new", kind, "my_own.c"]) == 0
    shutil.copy(compile_c(Path("my_own.c")), "libmy_own.so")
    own_test_passes(Path("test_my_own.py"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [["my_own.cc"], ["my_own", "--language", "cpp"]], ids=len)
def test_cpp(kind: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Built by the line that it prints, without a warning."""
    assert invoke(["new", kind, *words]) == 0
    compiler = shlex.split(capsys.readouterr().err.splitlines()[1])
    header = compiler.index("-I$(python -m ccperf.include)")
    compiler[header] = f"-I{ROOT / 'python' / 'ccperf' / 'include'}"
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wno-missing-field-initializers", "-Werror"]
    subprocess.run([*compiler, *warnings], check=True)
    own_test_passes(Path("test_my_own.py"))


@pytest.mark.parametrize("words", [["mine.c"], ["mine.rs"], ["Mine", "--language", "cpp"]])
def test_a_scheduler_is_written_in_python(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert invoke(["new", "scheduler", *words]) == 2
    assert "--language: a scheduler is written in python" in capsys.readouterr().err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_rust(kind: str, rust_library: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Compiled against the crate that the examples use: it is there already."""
    assert invoke(["new", kind, "my_own", "--language", "rust"]) == 0
    cargo = ["cargo", "metadata", "--offline", "--no-deps", "--format-version", "1"]
    assert (
        '"cdylib"'
        in subprocess.run(cargo, cwd="my_own", check=True, capture_output=True, text=True).stdout
    )
    assert f'path = "{ROOT}/crates/plugin"' in Path("my_own/Cargo.toml").read_text()
    built = sorted(
        (Path(rust_library).parent / "deps").glob("libccperf_plugin-*.rlib"),
        key=lambda p: p.stat().st_mtime,
    )
    library = Path("my_own/target/release/libmy_own.so")
    library.parent.mkdir(parents=True)
    subprocess.run(
        [
            *("rustc", "--edition", "2024", "--crate-type", "cdylib", "-D", "warnings"),
            *("-L", f"dependency={built[-1].parent}", "--extern", f"ccperf_plugin={built[-1]}"),
            *("-C", "panic=unwind", "-o", str(library), "my_own/src/lib.rs"),
        ],
        check=True,
    )
    own_test_passes(Path("my_own/test_my_own.py"))
    options = {"cc": ["aqm", "--cc"], "qdisc": ["aqm", "--qdisc"]}
    words = options.get(kind, ["load_balancing", "--routing"])
    assert invoke(["run", *words, f"./{library}:betta=1"]) == 2
    assert "there is no attribute betta; there are: " in capsys.readouterr().err


def test_a_file_in_a_folder_is_written_there() -> None:
    assert invoke(["new", "cc", "deep/down/my_own.py"]) == 0
    own_test_passes(Path("deep/down/test_my_own.py"))


@pytest.mark.parametrize("name", ["None", "random", "ccperf", "json.py", "Tcb.rs"])
def test_what_python_or_rust_would_mistake_is_refused(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """`class None` is no class, a `random.py` is what others would import, and Rust has one
    `Tcb`."""
    assert invoke(["new", "cc", name]) == 2
    assert "choose another name" in capsys.readouterr().err
    assert not [*Path().iterdir()]


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_module_of_linux() -> None:
    assert invoke(["new", "cc", "my-own", "--language", "kernel"]) == 0
    own_test_passes(Path("test_tcp_my_own.py"))


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
@pytest.mark.slow
def test_the_page_on_linux_leads_from_nothing_to_a_comparison() -> None:
    """Its commands; runs are a second long, and the last one makes one experiment."""
    page = (ROOT / "docs" / "linux.md").read_text()
    section = page[page.index("## You have a kernel module") :]
    lines = section.split("```")[1].strip().splitlines()
    first, *commands = [shlex.split(line, comments=True) for line in lines]
    assert first[:2] == ["ccperf", "new"]
    for words in (first, *commands):
        short = ["--stop-time", "1s"] if "--backend" in words else []
        short += ["--experiments", "jitter"] if "bench" in words else []
        program = ["-m", *words] if words[0] == "ccperf" else words[1:]
        done = subprocess.run(
            [sys.executable, *program, *short], capture_output=True, text=True, env=environment()
        )
        assert done.returncode == 0, (words, done.stderr)
    assert "bench" in commands[-1]
    assert Path("site/index.html").exists()


@pytest.mark.parametrize("name", ["tcp_mine.c", "tcp_mine", "mine", "Mine"])
def test_a_module_of_linux_is_called_as_the_kernel_calls_its_own(name: str) -> None:
    assert invoke(["new", "cc", name, "--language", "kernel"]) == 0
    assert names.declared("cc", "./tcp_mine.c") == "./tcp_mine.c:mine"
    assert 'backend="linux"' in Path("test_tcp_mine.py").read_text()


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("qdisc", "mine", "kernel is for cc; write a qdisc in python, c, cpp or rust"),
        ("cc", "sixteen_letters_", "Linux takes 15 letters, `sixteen_letters_` has 16"),
    ],
)
def test_what_cannot_be_a_module_of_linux_is_refused(
    kind: str, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["new", kind, name, "--language", "kernel"]) == 2
    assert said in capsys.readouterr().err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("name", "file", "cls"),
    [
        ("MyCca", "mycca.py", "MyCca"),
        ("my-cca", "my_cca.py", "MyCca"),
        ("fast.py", "fast.py", "Fast"),
    ],
)
def test_names_of_file_and_class_follow_from_each_other(name: str, file: str, cls: str) -> None:
    assert invoke(["new", "cc", name]) == 0
    assert f"class {cls}(" in Path(file).read_text()


def test_nothing_is_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("test_mine.py").write_text("keep")
    assert invoke(["new", "cc", "Mine"]) == 2
    assert "`test_mine.py` is there already" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["test_mine.py"]
    assert Path("test_mine.py").read_text() == "keep"


@pytest.mark.parametrize("name", ["../mine", "9lives", "a b", "mine.go"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    assert invoke(["new", "cc", name]) == 2
    assert list(Path().iterdir()) == []
