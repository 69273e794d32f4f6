"""What `ccperf cite` writes: every algorithm's source, and only what the run used."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import ccperf
from ccperf import __version__
from ccperf.algorithms import registry
from ccperf.cli.app import invoke
from ccperf.experiments import catalogue
from ccperf.present.citation import bibliography, cite, entries, of_experiment
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.store import Store

ROOT = Path(__file__).parent.parent


def result(cc: str = "TcpBbr", seed: int = 1, qdisc: str = "FqCoDelQueueDisc") -> Result:
    engine = backends.get("native")
    scenario = catalogue.get("aqm").scenario(cc, stop_time="1s", k="2", qdisc=qdisc, seed=seed)
    parameters = {"aut": cc, "k": "2", "qdisc": qdisc}
    return Result.of(
        scenario, engine.simulate(scenario), engine, experiment="aqm", parameters=parameters
    )


def test_a_profile_that_is_no_release_is_not_called_ns3s() -> None:
    engine = backends.get("native")
    scenario = catalogue.get("aqm").scenario("TcpCubic", stop_time="1s", profile="linux")
    text = cite(Result.of(scenario, engine.simulate(scenario), engine))
    assert "with its TCP of the profile linux." in text.paragraph
    assert "whose packets" not in text.paragraph
    assert "ns3" not in text.paragraph + text.bibtex


def test_what_ns3_does_not_have_is_not_called_ns3s(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("import ccperf\n\n\nclass Mine(ccperf.CongestionControl): pass\n")
    for cc, qdisc, own in (
        ("TcpBbr3", "FqCoDelQueueDisc", "TcpBbr3"),
        ("TcpPrague", "DualPi2QueueDisc", "DualPi2QueueDisc and TcpPrague"),
        (f"{mine}:Mine", "FqCoDelQueueDisc", "mine.py:Mine"),
    ):
        text = cite(result(cc, qdisc=qdisc)).paragraph
        said = rf"ns-3~3.44~\cite{{ns3}}, but for {own}, which ns-3 does not have."
        assert f"whose packets are those of {said}" in text
    assert "does not have" not in cite(result("TcpCubic")).paragraph


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        (
            "pfc_incast",
            {"transport": "nscc"},
            r"packet-trimming flows used Nscc~\cite{ultra-ethernet}",
        ),
        ("pfc_incast", {"transport": "hpcc"}, r"RoCE flows used Hpcc~\cite{hpcc}"),
        ("all_reduce", {"transport": "ndp"}, r"packet-trimming flows used Ndp~\cite{ndp}"),
    ],
)
def test_flows_without_tcp_have_neither_loss_recovery_nor_packets_of_ns3(
    name: str, given: dict[str, str], said: str
) -> None:
    engine = backends.get("native")
    routing = "ecmp" if name == "all_reduce" else "TcpDctcp"
    scenario = catalogue.NAMED[name].scenario(routing, stop_time="1ms", **given)
    text = cite(Result.of(scenario, engine.simulate(scenario), engine)).paragraph
    assert f"{said}, for 1ms." in text
    assert "with transports that ns-3 does not have." in text
    assert "TCP" not in text.replace("TcpDctcp", "")


@pytest.mark.parametrize("cc", registry.algorithms("cc"))
def test_a_description_has_the_markup_of_latex(cc: str) -> None:
    text = cite(result(cc)).paragraph
    assert not re.search(r"`[^`\n]+`(?!`)|(?<!\w)\*\w|\]\(", text.replace("``", ""))
    assert '"' not in text


def test_emphasis_and_quotes_are_those_of_latex() -> None:
    text = cite(result("TcpBbr")).paragraph
    assert r"whole \emph{seconds}" in text


def test_every_congestion_control_and_recovery_has_a_source_to_cite() -> None:
    for kind in ("cc", "recovery"):
        for name in registry.algorithms(kind):
            keys = entries(kind, name)
            assert keys, name
            assert set(keys) <= bibliography().keys(), name


def test_queue_disciplines_with_a_publication_have_it() -> None:
    for name, spec in registry.algorithms("qdisc").items():
        keys = entries("qdisc", name)
        assert set(keys) <= bibliography().keys(), name
        assert keys or re.search(r"tc-|ccperf", spec["source"]), name


def test_load_balancers_with_a_publication_have_it_and_are_cited() -> None:
    for name, spec in registry.algorithms("routing").items():
        keys = entries("routing", name)
        assert set(keys) <= bibliography().keys(), name
        assert bool(keys) == bool(re.search(r"et al\.|RFC", spec["source"])), name
    engine = backends.get("native")
    for scheme, cited in (("conga", r"conga~\cite{conga}"), ("random", "random")):
        scenario = catalogue.get("load_balancing").scenario(
            scheme, leaves=2, spines=2, servers=2, arrivals="5ms"
        )
        found = cite(Result.of(scenario, engine.simulate(scenario), engine))
        assert f"{cited} chose among shortest paths" in found.paragraph
        assert ("CONGA" in found.bibtex) == (scheme == "conga")


def test_experiments_after_a_paper_have_it() -> None:
    for name, experiment in catalogue.EXPERIMENTS.items():
        assert set(of_experiment(name)) == set(experiment.papers) <= bibliography().keys(), name
        switches = experiment.kind in ("qdisc", "routing")
        assert switches <= bool(experiment.papers), name
    assert of_experiment("of somebody's own") == ()


def test_entries_are_well_formed() -> None:
    for key, entry in bibliography().items():
        assert entry.count("{") == entry.count("}"), key
        assert re.match(r"@\w+\{" + key + ",\n", entry)
        for field in ("author", "title", "year"):
            assert f"  {field} = {{" in entry, key


def test_the_paragraph_names_what_the_run_depends_on_and_cites_what_it_used() -> None:
    run = result()
    citation = cite(run, [1, 2, 3])
    for part in (
        run.provenance.engine_hash[:12],
        run.id,
        __version__,
        "32Mbps",
        "aqm (algorithm under test = TcpBbr, ",
        "seeds (1 to 3)",
        r"TcpBbr~\cite{bbr}",
        r"FqCoDelQueueDisc~\cite{RFC8290}",
    ):
        assert part in citation.paragraph, part
    cited = {
        key
        for keys in re.findall(r"\\cite\{([^}]*)\}", citation.paragraph)
        for key in keys.split(",")
    }
    written = set(re.findall(r"^@\w+\{(\w+),", citation.bibtex, re.MULTILINE))
    assert cited == written
    assert {"ccperf", "ns3", "bbr", "RFC8290", "RFC6937"} == written


def test_code_of_one_s_own_is_named_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file's name says nothing of which version ran."""
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "cc", "Mine"]) == 0
    point = {"k": 1, "qdisc": "fifo", "stop_time": "60ms"}
    (run,) = ccperf.grid("aqm", cc="./mine.py:Mine", **point, db="a.db", jobs=1)
    (digest,) = run.provenance.user_code.values()
    assert digest == hashlib.sha256(Path("mine.py").read_bytes()).hexdigest()
    said = rf"The code of mine.py:Mine has the SHA-256 \texttt{{{digest[:16]}}}\ldots{{}}."
    assert said in cite(run).paragraph
    assert "The code of" not in cite(result()).paragraph
    capsys.readouterr()
    assert invoke(["show", run.id, "--db", "a.db"]) == 0
    said = f"code mine.py:Mine@{digest[:4]}, SHA-256 {digest}\n"
    assert said in capsys.readouterr().out


def test_one_seed_is_one_seed() -> None:
    assert "The seed was 7." in cite(result(seed=7)).paragraph


def test_the_command_counts_repetitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [result(seed=1), result(seed=2), result("TcpCubic", seed=3)]
    with Store(tmp_path / "runs.db", "a") as store:
        for run in runs:
            store.add(run)
    assert invoke(["cite", runs[0].id, "--db", str(tmp_path / "runs.db")]) == 0
    shown = capsys.readouterr().out
    assert "2 seeds (1 to 2)" in shown
    assert "@misc{ccperf," in shown


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ((1,), "The seed was 1; another gives the same values, which are exact"),
        (
            (1, 42),
            "It was repeated with 2 seeds (1, 42); all gave the same values, which are exact",
        ),
    ],
)
def test_where_a_seed_changes_nothing_no_interval_is_said(
    seeds: tuple[int, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two campaigns with a seed each are no repetition that has a variance."""
    runs = [result("TcpCubic", seed=seed) for seed in seeds]
    with Store(tmp_path / "runs.db", "a") as store:
        for run in runs:
            store.add(run)
    assert invoke(["cite", runs[0].id, "--db", str(tmp_path / "runs.db")]) == 0
    shown = capsys.readouterr().out
    assert said in shown
    assert "interval" not in shown


def test_the_citation_file_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {__version__}\n" in text
    for field in ("cff-version: 1.2.0", "message: ", "title: ", "authors:"):
        assert field in text


def test_experiments_that_follow_a_paper_cite_it() -> None:
    scenario = catalogue.get("testbed").scenario("ECNSharp", flows=20)
    engine = backends.get("native")
    parameters = {"aut": "ECNSharpQueueDisc", "load": "0.5"}
    run = Result.of(
        scenario,
        engine.simulate(scenario),
        engine,
        experiment="testbed",
        parameters=parameters,
    )
    made = cite(run)
    assert "testbed after~" in made.paragraph
    assert "20 TCP flows used TcpDctcp" in made.paragraph
    for key in ("ecnsharp", "RFC8257"):
        assert key in made.paragraph
        assert bibliography()[key] in made.bibtex


@pytest.mark.parametrize("words", [["testbed"], ["qdisc", "ECNSharp"], ["leaf_spine"]])
def test_show_has_the_papers(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", *words]) == 0
    shown = capsys.readouterr().out
    assert bibliography()["ecnsharp"] in shown
    assert (bibliography()["hermes"] in shown) == (words == ["leaf_spine"])


def test_a_link_that_changes_is_said_to() -> None:
    """A trace begins with its first rate, and what the link has been made with never holds."""
    trace = ccperf.run("replay_rate_trace", cc="cubic", trace_file="lte-like.csv", stop_time="3s")
    (link,) = (each for each in trace.scenario.links if each.name == "btl")
    said = cite(trace).paragraph
    assert f"btl\\_forward has {link.rate}" not in said
    assert re.search(r"btl\\_forward has [\d.]+Mbps to [\d.]+Mbps and a one-way delay of", said)
    walk = ccperf.run("random_walk", cc="cubic", walks="delay", stop_time="3s")
    assert re.search(r"16Mbps and a one-way delay of [\d.]+ms to [\d.]+ms,", cite(walk).paragraph)
