"""The documentation works: its commands succeed, its files parse, its code runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ccperf.cli.app import invoke

ROOT = Path(__file__).parent.parent


def follow(document: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, int]:
    """Do what a document shows; returns the first run's id and the number of commands."""
    page = (ROOT / "docs" / document).read_text(encoding="utf-8")
    run = ""
    commands = 0
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if language == "toml":
            name = re.match(r"# (\S+)\n", text)
            assert name is not None
            Path(name[1]).write_text(text)
        elif language == "python":
            exec(compile(text, document, "exec"), {"__name__": "document"})
        elif language == "console":
            for line in text.splitlines():
                assert line.startswith("$ ccperf "), line
                words = shlex.split(line.replace("$RUN", run))[2:]
                status = invoke(words)
                output = capsys.readouterr()
                assert status == 0, f"{line}\n{output.err}"
                commands += 1
                if not run:
                    found = re.search(r"^run ([0-9a-f]{16})", output.out + output.err, re.MULTILINE)
                    run = found[1] if found else ""
    return run, commands


def test_the_tutorial_from_beginning_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run, commands = follow("tutorial.md", capsys)
    assert run
    assert commands > 12
    assert Path("packets.csv").is_file()
    assert list(Path("figures").glob("*.svg"))


def test_the_page_about_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert follow("traffic.md", capsys)[1] == 1


def test_every_path_that_the_readme_names_exists() -> None:
    for document in ("README.md", "CONTRIBUTING.md", "docs/tutorial.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for path in re.findall(r"`((?:python|crates|docs|tests|benchmarks)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), f"{document}: {path}"


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]*)?\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
