"""Threads that share one run: the same tables, and a clear word where one has to do alone."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import ccperf
from ccperf import _native
from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from ccperf.experiments.topologies import FabricLink, SwitchPort, fat_tree, leaf_spine
from ccperf.scenario import Scenario

STEP = {"MinTh": 20, "MaxTh": 20, "QW": 1, "UseEcn": True, "UseHardDrop": False, "MaxSize": "200p"}
RED = SwitchPort({"type": "red", "attributes": STEP}, "1p")


def loaded(fabric, routing="ecmp") -> Scenario:
    """Web search at a load of 0.6, and an incast at one time."""
    stack = {"name": "dc", "cc": "dctcp", "tcp": {"MinRto": "1ms"}}
    web = {"name": "web", "stack": "dc", "sizes": {"type": "WebSearch"}}
    web["arrivals"] = {"type": "Poisson", "load": 0.6, "until": "2ms"}
    query = {"name": "query", "stack": "dc", "sizes": {"type": "Constant", "bytes": "20kB"}}
    query |= {"pairs": {"type": "Incast"}, "arrivals": {"type": "Times", "times": ["0s", "1ms"]}}
    return fabric.scenario(
        [], stacks=[stack], routing=routing, stop_time="3ms", workloads=[web, query]
    )


def tables(scenario: Scenario, threads: int) -> dict[str, dict[str, list[object]]]:
    """What a run leaves behind; with NaN as a word, which is equal to itself."""
    lowered = scenario.lowered()
    if threads == 1:
        simulation = _native.Simulation(lowered, None)
        found = simulation.finish()
    else:
        found = _native.run_in_parts(lowered, threads, lambda _: None)
        assert not isinstance(found, str), found
    return {
        name: {column: np.asarray(values).astype(str).tolist() for column, values in table.items()}
        for name, table in found.items()
    }


@pytest.mark.parametrize("threads", [2, 4, 8])
def test_a_fat_tree_has_the_same_tables_on_any_number_of_threads(threads):
    scenario = loaded(fat_tree(4, FabricLink("10Gbps", "1us"), port=RED, host_port=RED))
    assert tables(scenario, threads) == tables(scenario, 1)


def test_a_run_is_the_same_for_its_user():
    fabric = leaf_spine(4, 2, 3, port=RED, fabric_port=RED)
    scenario = loaded(fabric)
    told: list[float] = []
    alone = ccperf.simulate(scenario)
    shared = ccperf.simulate(scenario, threads=3, progress=told.append)
    assert shared.id == alone.id
    assert shared.metrics == alone.metrics
    assert told == sorted(told)
    assert told[-1] == 1


def test_why_one_thread_makes_it_is_said():
    fabric = leaf_spine(4, 2, 3, port=RED, fabric_port=RED)
    scenario = loaded(fabric, "random")
    with pytest.warns(RuntimeWarning, match="one thread runs it: this run has"):
        shared = ccperf.simulate(scenario, threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = ccperf.simulate(scenario)
    assert shared.metrics == alone.metrics


def test_who_raises_while_watching_ends_the_run():
    def watch(_: float) -> None:
        raise KeyboardInterrupt

    scenario = loaded(fat_tree(4, FabricLink("10Gbps", "1us"), port=RED, host_port=RED))
    with pytest.raises(KeyboardInterrupt):
        _native.run_in_parts(scenario.lowered(), 2, watch)


@pytest.mark.parametrize("threads", [0, -1, True])
def test_a_wrong_number_is_refused(threads):
    with pytest.raises(UsageError, match="threads"):
        ccperf.run("ecn", cc="newreno", threads=threads)


def test_who_has_one_thread_says_so():
    with pytest.raises(UsageError, match="`ns3` runs on one thread"):
        ccperf.run("ecn", cc="newreno", backend="ns3", threads=2)


def test_the_command_line_refuses_what_threads_cannot_share(capsys, tmp_path):
    database = ["--db", str(tmp_path / "x.db")]
    for words, said in [
        (["--jobs", "2"], "leave out --jobs"),
        (["--on", "dask"], "leave out --on"),
        (["--backend", "ns3"], "one thread"),
    ]:
        command = ["run", "ecn", "--cc", "newreno", "--threads", "2", *words, *database]
        assert invoke(command) == 2
        assert said in capsys.readouterr().err


def test_the_command_line_says_why_one_thread_makes_it(capsys, tmp_path):
    words = ["run", "ecn", "--cc", "newreno", "--threads", "2", "--db", str(tmp_path / "x.db")]
    assert invoke([*words, "--k", "1", "--stop-time", "1s"]) == 0
    assert "one thread runs it: this run" in capsys.readouterr().err


def test_an_engine_older_than_its_python_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(_native, "run_in_parts")
    assert invoke(["run", "leaf_spine", "--threads", "2"]) == 2
    said = capsys.readouterr().err
    assert "the engine is older and lacks run_in_parts; `make setup` builds it anew" in said
    assert invoke(["doctor"]) == 1
    assert "lacks run_in_parts" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
