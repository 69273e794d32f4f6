"""The documentation works: its commands succeed, its files parse, its code runs."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import ccperf
from ccperf.algorithms import registry
from ccperf.cli.app import invoke
from ccperf.cli.commands import COMMANDS
from ccperf.experiments.catalogue import REGISTRY
from ccperf.runs.metrics import METRICS, census
from ccperf.verify import fidelity, page, record
from test_layers import ENGINE, PACKAGE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


def follow(document: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, int]:
    """Do what a document shows; returns the first run's id and the number of commands."""
    page = (ROOT / "docs" / document).read_text(encoding="utf-8")
    run = ""
    commands = 0
    names: dict[str, object] = {"__name__": "document"}
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if language == "toml":
            name = re.match(r"# (\S+)\n", text)
            assert name is not None
            Path(name[1]).write_text(text)
        elif language == "python":
            if name := re.match(r"# (\S+\.py)\n", text):
                Path(name[1]).write_text(text)
            exec(compile(text, document, "exec"), names)
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


def test_the_page_about_load_balancing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert follow("load-balancing.md", capsys)[1] == 2
    assert list(Path("figures").glob("*paths*"))


def test_the_page_about_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert follow("evidence.md", capsys)[1] == 7


def test_the_page_for_courses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    follow("course.md", capsys)
    page = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| [^|]+ \| `(ccperf\..+)` \|$", page, re.MULTILINE)
    assert len(lines) == 7
    for line in lines:
        eval(line, {"ccperf": ccperf})
    pyplot.close("all")
    assert "aimd.py:Aimd against TcpNewReno" in capsys.readouterr().out
    assert {path.name for path in Path().iterdir()} >= {"p.pcapng", "p.csv", "aimd.py"}


def test_the_page_about_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    follow("python.md", capsys)
    pyplot.close("all")
    printed = capsys.readouterr().out
    assert "and 2 more" in printed
    assert "verdict" in printed
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    # Every change of the engine changes ids.
    assert re.sub("[0-9a-f]{16}", "ID", printed.splitlines()[0]) in re.sub(
        "[0-9a-f]{16}", "ID", page
    )
    assert {path.name for path in Path().iterdir()} == {
        "rtt.pdf",
        "window.pdf",
        "throughput.pdf",
        "together.pdf",
    }


def test_the_load_balancer_that_is_shown_is_one_file_and_one_line() -> None:
    page = (ROOT / "docs" / "adding-an-algorithm.md").read_text(encoding="utf-8")
    balance = ROOT / "crates" / "engine" / "src" / "net" / "routing" / "balance"
    file, line = re.findall(r"^```rust\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert file == (balance / "random.rs").read_text(encoding="utf-8")
    assert line in (balance / "mod.rs").read_text(encoding="utf-8")
    # Nothing else in the engine knows it.
    others = [path for path in (ROOT / "crates").rglob("src/**/*.rs") if path.parent != balance]
    assert not [path for path in others if "RandomEcmp" in path.read_text(encoding="utf-8")]


def test_documents_count_what_there_is() -> None:
    lines = json.loads((ROOT / "tests/exec/ns3_examples.json").read_text(encoding="utf-8"))
    examples = (ROOT / "docs/ns3-examples.md").read_text(encoding="utf-8")
    assert f"compiled unchanged, in {len(lines)} lines" in examples
    fidelity = (ROOT / "docs/fidelity.md").read_text(encoding="utf-8")
    assert f" {len(lines)} command lines of ns-3's own example programs" in fidelity.replace(
        "\n", " "
    )


#: What people read.
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/*.md")})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    examples = r"examples/(?:c|ns3|python|rust|scenarios)"
    ours = rf"benchmarks|crates|docs|{examples}|fuzz|python|tests|tools"
    for path in re.findall(rf"`((?:{ours})/[\w./*-]+)`", text):
        assert list(ROOT.glob(path.rstrip("/"))), f"{document.name}: {path}"


def test_the_map_shows_the_tree() -> None:
    text = (ROOT / "docs/design/map.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    package, engine = ROOT / "python/ccperf", ROOT / "crates/engine/src"
    for path in re.findall(r"`([\w./-]*[/.][\w./-]*)`", text):
        assert any((place / path).exists() for place in (ROOT, package, engine)), path
    tables = re.findall(r"^\| room .*?\n\n", text, re.MULTILINE | re.DOTALL)
    for table, allowed, place in zip(tables, (PACKAGE, ENGINE), (package, engine), strict=True):
        rows = [
            re.findall(r"`(\w+)(?:/|\.\w+)`", row)
            for row in re.findall(r"^\|([^|]*`[^|]*)\|", table, re.MULTILINE)
        ]
        rank = {room: i for i, rooms in enumerate(rows) for room in rooms}
        for unit, used in allowed.items():
            # What is shown in a notebook asks how.
            for other in used - {"present.notebook", "present.figures"}:
                here, there = rank.get(unit.partition(".")[0]), rank.get(other.partition(".")[0])
                if here is not None and there is not None:
                    assert there <= here, f"{unit} uses {other}, which the map has below it"
        rooms = {path.name for path in place.iterdir() if (path / "mod.rs").exists()}
        assert rooms <= rank.keys()


def places(document: Path) -> set[str]:
    """What a link may name in a document: its headings, as GitHub spells them, and its anchors."""
    text = document.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    words = (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w -]", "", each).replace(" ", "-") for each in words} | {
        *re.findall(r'<a id="([\w-]+)">', text)
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target, place in re.findall(
        r"\]\(([^)#:\s]*)(?:#([\w-]*))?\)", document.read_text("utf-8")
    ):
        other = document.parent / target if target else document
        assert other.exists(), target
        assert not place or other.suffix != ".md" or place in places(other), f"{target}#{place}"


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_fits_a_screen_or_two() -> None:
    assert len(README.split()) < 900


def test_the_readme_counts_right() -> None:
    ns3_s, all_of = (
        {
            kind: sum(
                not only or fidelity.counterpart(name).startswith("ns-3")
                for name in registry.algorithms(kind)
            )
            for kind in ("cc", "qdisc", "routing")
        }
        for only in (True, False)
    )
    for kind, called in (("cc", "congestion controls"), ("qdisc", "queue disciplines")):
        more = all_of[kind] - ns3_s[kind]
        assert f"| {called} | ns-3's {ns3_s[kind]}, {more} more, and yours |" in README
    balancers = all_of["routing"] - 1  # one is static routing
    assert f"| load balancers | {balancers}, and yours |" in README
    assert f"| experiments | {len(REGISTRY)}, " in README
    whole = sum(metric.window == "whole" for metric in METRICS.values())
    steady = len(METRICS) - whole
    said = f"{whole} ({len(METRICS)} names)"
    assert f"| metrics | {said} |" in README
    for number in (whole, steady, len(METRICS)):
        assert re.search(rf"\b{number}\b", census())


def test_the_page_of_experiments_counts_right() -> None:
    text = (ROOT / "docs/experiments.md").read_text(encoding="utf-8")
    for experiment in REGISTRY.values():
        points = sum(1 for _ in experiment.grid())
        assert re.search(rf"^\| `{experiment.name}` \|.*\| {points} \|$", text, re.MULTILINE)


def test_the_readme_has_every_command() -> None:
    table = README[README.index("## Commands") : README.index("## Do not believe us")]
    named = {word for text in re.findall(r"`([a-z][^`]*)`", table) for word in text.split()[:1]}
    assert set(COMMANDS) - {"completion"} <= named


def test_the_readme_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids of runs aside, which every change of the engine changes. The catalogue is cut short."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    commands = 0
    for block in blocks:
        shown = ""
        for line in block.splitlines():
            if not line.startswith("$ ccperf "):
                shown += f"{line}\n"
                continue
            words = shlex.split(line)[2:]
            if words[0] == "bench":
                words += ["--experiments", "ecn", "--stop-time", "100ms"]
            capsys.readouterr()
            assert invoke(words) == 0
            commands += 1
        printed = capsys.readouterr().out
        assert re.sub("[0-9a-f]{16}", "ID", printed) == re.sub("[0-9a-f]{16}", "ID", shown)
    assert commands == 4


def test_the_readme_s_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    (code,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    short = code.replace("seed=range(1, 11)", 'seed=range(1, 3), stop_time="300ms"')
    assert short != code
    exec(compile(short, "README.md", "exec"), {})
    pyplot.close("all")


def generated() -> dict[Path, str]:
    spec = importlib.util.spec_from_file_location("tools_docs", ROOT / "tools" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    documents: dict[Path, str] = module.documents()
    return documents


def test_what_is_generated_is_up_to_date() -> None:
    for path, text in generated().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make docs`"


def test_every_algorithm_and_attribute_is_on_its_page() -> None:
    text = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    for kind in page.KINDS:
        for name, spec in registry.algorithms(kind).items():
            _, found, section = text.partition(f"\n### {name}\n")
            assert found, name
            section = " ".join(section.partition("\n#")[0].split())
            assert spec["source"] in section
            assert fidelity.status(kind, name) in section
            for param in spec["params"]:
                assert f"| `{param['ns3']}` |" in section, f"{name}.{param['ns3']}"


def test_reasons_for_unreached_code_name_code() -> None:
    entries = tomllib.loads((ROOT / "tools" / "unreached.toml").read_text("utf-8"))["unreached"]
    sources = ROOT / "crates" / "engine" / "src"
    for place in (place for entry in entries for place in entry["where"]):
        file, _, code = place.partition(": ")
        path = sources / file
        assert path.exists(), place
        assert path.is_dir() or code in path.read_text(encoding="utf-8"), place
    known = {entry["reason"] for entry in entries} | {"(no reason given)"}
    assert set(record.coverage()["unreached"]) <= known


@pytest.mark.parametrize("module", ["bbr", "l4s", "lossless"])
def test_a_picture_that_is_made_anew_has_the_same_bytes(module: str) -> None:
    """A diff of it then shows what has changed, and nothing else."""
    pytest.importorskip("matplotlib")
    draw = f"""
import io
from benchmarks import {module}

def picture():
    figure, axes = {module}.plt.subplots()
    axes.plot([1, 2], marker="o")
    file = io.BytesIO()
    figure.savefig(file, metadata={{"Date": None}})
    return file.getvalue()

assert picture() == picture()
"""
    subprocess.run([sys.executable, "-c", draw], cwd=ROOT, check=True)
