"""Long runs: samples that lie in a temporary file are those that would be in memory."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ccperf._native import LongTable
from ccperf.errors import RunError
from ccperf.runs import backends
from ccperf.runs.recording import Recording, Table
from ccperf.scenario import Scenario

#: More points than are kept in memory.
LONG = "1ms"


def scenario(interval: str) -> Scenario:
    link = {"rate": "1Mbps", "delay": "1ms"}
    return Scenario.model_validate(
        {
            "nodes": ["a", "r", "b"],
            "links": [
                {"name": "in", "ends": ["a", "r"], **link},
                {"name": "out", "ends": ["r", "b"], **link},
            ],
            "flows": [{"source": "a", "destination": "b", "cc": "newreno"}],
            "stop_time": "5s",
            "recording": {
                "interval": interval,
                "queues": {"interval": interval, "links": ["out"]},
            },
        }
    )


def recording(interval: str = LONG) -> Recording:
    return backends.get("native").simulate(scenario(interval))


def is_read(found: Recording, table: str) -> bool:
    return not isinstance(found.tables._tables[table], LongTable)


def test_samples_from_a_file_are_those_from_memory() -> None:
    long, short = recording(LONG), recording("2ms")
    for name, subjects in (("flow_samples", 1), ("link_samples", 4), ("queue_samples", 2)):
        assert is_read(short, name)
        assert not is_read(long, name)
        for column, few in short.tables[name].items():
            many = np.asarray(long.tables[name][column]).reshape(-1, subjects)
            expected: npt.NDArray[np.float64] = np.asarray(few)
            found = many[::2].ravel()
            assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"), column


def test_a_table_is_read_when_it_is_asked_for() -> None:
    found = recording()
    assert "link_samples 20000" in repr(found)
    assert "flow_samples" in found.tables
    assert not is_read(found, "flow_samples")
    assert isinstance(found.flow_samples, Table)
    assert found.flow_samples is found.flow_samples
    assert is_read(found, "flow_samples")
    assert not is_read(found, "link_samples")


def test_a_recording_travels_with_what_was_not_read_yet() -> None:
    found = recording()
    assert pickle.loads(pickle.dumps(found)).equals(recording())
    assert copy.deepcopy(found).equals(found)


def test_without_a_folder_the_run_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/there/is/none")
    recording("2ms")
    with pytest.raises(RunError, match=r"/there/is/none: No such file.*let TMPDIR name a folder"):
        recording()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a file's size differ elsewhere")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """A file that may not grow is as a disk that is full; nothing is left on it."""
    (tmp_path / "long.json").write_text(json.dumps(scenario(LONG).portable()))
    samples = tmp_path / "samples"
    samples.mkdir()
    limited = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.argv = ['ccperf', 'run', 'long.json']\n"
        "runpy.run_module('ccperf', run_name='__main__')\n"
    )
    environment = {**os.environ, "TMPDIR": str(samples)}
    ended = subprocess.run(
        [sys.executable, "-c", limited],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert ended.returncode == 1, ended.stderr
    assert f"cannot keep samples in a file in {samples}: File too large" in ended.stderr
    assert "let TMPDIR name a folder with room" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not list(samples.iterdir())
