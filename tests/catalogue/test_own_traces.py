"""A trace of one's own in `replay_rate_trace`: Mahimahi's format, or rates over time."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.experiments import catalogue, traces
from ccperf.store import Store

Captured = pytest.CaptureFixture[str]
RUN = ["run", "replay_rate_trace", "--stop-time", "2s", "--db", "t.db"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # One packet every 2 ms is 6 Mbps.
    Path("my.trace").write_text("".join(f"{2 * i}\n" for i in range(1, 101)))
    Path("steps.csv").write_text("time_s,rate_mbps\n0,10\n1,5\n")


def test_its_runs_are_called_by_the_files_name(capsys: Captured) -> None:
    assert (
        invoke([*RUN, "--cc", "cubic,bbr", "--trace-file", "./my.trace,steps.csv,lte-like.csv"])
        == 0
    )
    with Store("t.db", "r") as store:
        names = [row.parameters["trace_file"] for row in store.runs(under_test="TcpBbr")]
    assert sorted(names) == ["lte-like.csv", "my.trace", "steps.csv"]
    capsys.readouterr()
    assert invoke(["show", "--db", "t.db", "--cc", "bbr", "--trace-file", "my.trace"]) == 0
    again = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("again"))
    assert "--trace-file my.trace" in again


def test_the_link_has_its_rate_and_a_buffer_of_200_ms() -> None:
    scenario = catalogue.get("replay_rate_trace").scenario("cubic", trace_file="./my.trace")
    (link,) = (link for link in scenario.canonical()["links"] if link["name"] == "btl")
    framed = 6e6 * traces.FRAME_BITS / 12_000
    assert link["schedules"][0]["rates_bps"][0] == pytest.approx(framed, rel=1e-3)
    packets = int(link["forward"]["qdisc"]["attributes"]["MaxSize"].removesuffix("p"))
    assert packets == pytest.approx(0.2 * framed / 12_000, abs=1)


def test_delays_losses_and_the_return_direction_follow_the_file() -> None:
    head = "time_s,rate_mbps,delay_ms,loss,return_rate_mbps,return_loss\n"
    Path("both.csv").write_text(f"{head}0,10,5,0.1,2,0.2\n1,5,9,0,1,0\n")
    scenario = catalogue.get("replay_rate_trace").scenario("cubic", trace_file="./both.csv")
    (link,) = (link for link in scenario.canonical()["links"] if link["name"] == "btl")
    columns = {
        (schedule["direction"], name): values
        for schedule in link["schedules"]
        for name, values in schedule.items()
        if name not in ("direction", "times_ns") and values
    }
    assert columns["forward", "rates_bps"] == [10_000_000, 5_000_000]
    assert columns["forward", "losses"] == [0.1, 0]
    assert columns["reverse", "rates_bps"] == [2_000_000, 1_000_000]
    assert columns["reverse", "losses"] == [0.2, 0]
    assert [5_000_000, 9_000_000] in columns.values()


def test_a_file_that_windows_has_marked_as_utf_8_is_the_same() -> None:
    experiment = catalogue.get("replay_rate_trace")
    plain = experiment.scenario("cubic", trace_file="steps.csv").hash
    Path("steps.csv").write_bytes(codecs.BOM_UTF8 + Path("steps.csv").read_bytes())
    assert experiment.scenario("cubic", trace_file="steps.csv").hash == plain


def test_the_content_is_part_of_the_run() -> None:
    experiment = catalogue.get("replay_rate_trace")
    before = experiment.scenario("cubic", trace_file="my.trace").hash
    Path("my.trace").write_text("3\n")
    assert experiment.scenario("cubic", trace_file="my.trace").hash != before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("1\n2\nx\n", "my.trace: line 3, column 1: `x` is not a whole number of milliseconds"),
        ("5\n4\n", "my.trace: line 2, column 1: 4 comes after 5"),
    ],
)
def test_a_mistake_has_its_line(capsys: Captured, content: str, says: str) -> None:
    Path("my.trace").write_text(content)
    assert invoke([*RUN, "--trace-file", "./my.trace"]) == 2
    assert f"--trace-file: {says}" in capsys.readouterr().err
    assert not Path("t.db").exists()


def test_a_file_that_is_not_there_is_said(capsys: Captured) -> None:
    assert invoke([*RUN, "--trace-file", "./lte.csv"]) == 2
    err = capsys.readouterr().err
    assert "there is no file `./lte.csv`" in err
    assert "lte-like.csv" in err


def test_a_plan_says_what_it_is_called(capsys: Captured) -> None:
    assert invoke([*RUN, "--trace-file", "./my.trace", "-n", "--json"]) == 0
    (planned,) = json.loads(capsys.readouterr().out)
    assert planned["parameters"]["trace_file"] == "my.trace"
