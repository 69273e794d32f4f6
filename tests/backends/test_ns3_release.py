"""Which ns-3 is compiled against: the wheel, or the tree that is named; and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.runs.backends.ns3 import Ns3, release


@pytest.fixture(autouse=True)
def no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test names is forgotten after it."""
    monkeypatch.setenv(release.VARIABLE, "")


def tree(root: Path, version: str, profile: str = "", *, folder: str = "build/lib") -> Path:
    """An ns-3 as it lies on a disk, without its code."""
    suffix = f"-{profile}" if profile else ""
    (root / folder).mkdir(parents=True)
    for module in release.MODULES:
        (root / folder / f"libns{version}-{module}{suffix}.so").write_text(module)
    headers = root / folder.replace("lib64", "include").replace("lib", "include") / "ns3"
    headers.mkdir(parents=True)
    return root


def read(root: Path) -> release.Release:
    """The ns-3 there, as if for the first time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(release.VARIABLE, str(root))
        return replace(release.find())


@pytest.mark.parametrize(
    ("version", "profile", "folder", "library"),
    [
        ("3.48", "", "build/lib", "ns3.48-core"),
        ("3.44", "default", "build/lib", "ns3.44-core-default"),
        ("3.46.1", "optimized", "lib", "ns3.46.1-core-optimized"),
        ("3-dev", "", "lib64", "ns3-dev-core"),
    ],
)
def test_a_tree_is_read_for_its_release_and_profile(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    profile: str,
    folder: str,
    library: str,
) -> None:
    monkeypatch.setenv(release.VARIABLE, str(tree(tmp_path, version, profile, folder=folder)))
    found = release.find()
    assert (found.version, found.profile) == (version, profile or "release")
    assert found.library("core") == library
    assert (found.include / "ns3").is_dir()


def test_runs_of_a_modified_tree_have_other_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_wheel = Ns3().version
    versions = []
    for name, content in (("a", "x"), ("b", "y")):
        root = tree(tmp_path / name, "3.44")
        (root / "build/lib/libns3.44-internet.so").write_text(content)
        monkeypatch.setenv(release.VARIABLE, str(root))
        versions.append(Ns3().version)
    assert len({of_wheel, *versions}) == 3
    assert all(version.startswith("3.44-") for version in versions)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_checkout_says_its_commit_and_whether_its_sources_are_it(tmp_path: Path) -> None:
    root = tree(tmp_path / "ns", "3.48")
    assert read(root).commit == ""  # unpacked, not cloned

    def git(*words: str) -> str:
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        done = subprocess.run(
            ["git", "-C", str(root), *who, *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    (root / "src").mkdir()
    for name in ("kept.cc", "left-out.cc"):
        (root / "src" / name).write_text("int one;\n")
    git("init", "-q")
    git("add", "src")
    git("commit", "-qm", "All")
    (root / "src" / "left-out.cc").unlink()
    assert read(root).commit == git("rev-parse", "HEAD")
    (root / "src" / "kept.cc").write_text("int two;\n")
    assert read(root).commit == git("rev-parse", "HEAD") + " and changes"


def test_doctor_says_which_ns3_there_is_and_as_what_it_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tree(tmp_path / "ns", "3.46.1", "optimized")
    for place, said in (
        (root, f"3.46.1 (optimized), {root}; compared as ns3-3.44"),
        (tmp_path, "holds no ns-3"),
    ):
        monkeypatch.setenv(release.VARIABLE, str(place))
        invoke(["doctor", "--json"])
        assert said in json.loads(capsys.readouterr().out)["ns-3"]


def _nothing(root: Path) -> None:
    root.mkdir(exist_ok=True)


def _old(root: Path) -> None:
    tree(root, "3.43", "default")


def _debug(root: Path) -> None:
    tree(root, "3.48", "debug")


def _two(root: Path) -> None:
    tree(root, "3.48")
    (root / "build/lib/libns3.47-core.so").touch()


def _without_headers(root: Path) -> None:
    tree(root, "3.48")
    (root / "build/include/ns3").rmdir()


def _without_a_module(root: Path) -> None:
    tree(root, "3.48")
    (root / "build/lib/libns3.48-flow-monitor.so").unlink()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (_nothing, "holds no ns-3"),
        (_old, "is ns-3 3.43; those from 3.44 on are supported"),
        (_debug, "is a debug build"),
        (_two, "holds several: libns3.47-core.so, libns3.48-core.so"),
        (_without_headers, "without its headers"),
        (_without_a_module, "was built without flow-monitor"),
    ],
)
def test_what_cannot_be_a_judge_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: object, said: str
) -> None:
    assert callable(made)
    made(tmp_path / "ns")
    assert invoke(["verify", "ns3", "--ns3", str(tmp_path / "ns")]) == 2
    assert said in capsys.readouterr().err


def test_the_engine_has_no_ns3_to_choose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", "aqm", "--cc", "cubic", "--ns3", str(tmp_path)]) == 2
    assert "--ns3: needs --backend ns3, not `native`" in capsys.readouterr().err


def test_without_a_compiler_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tree(tmp_path / "ns", "3.48")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert invoke(["verify", "ns3", "--ns3", str(root)]) == 2
    assert "needs a C++ compiler" in capsys.readouterr().err


@pytest.mark.skipif(Ns3().available() is not None, reason="needs a compiler")
def test_what_does_not_compile_is_shown_with_the_releases_that_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tree(tmp_path / "ns", "3.60")
    invoke(["verify", "ns3", "--ns3", str(root), "--pattern", "recovery/*-20p"])
    printed = capsys.readouterr()
    said = printed.err + printed.out
    assert "does not compile against ns-3 3.60 (known to work: 3.44" in said
    assert "No such file" in said
