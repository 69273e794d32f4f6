"""The command `exec`: a published line, what it prints and where it writes."""

from __future__ import annotations

import csv
import os
import shlex
from typing import Any

import pytest

from program_lines import SHORT

pytestmark = pytest.mark.usefixtures("own_folder")


def test_exec_prints_one_json_object(ccperf: Any) -> None:
    document = ccperf("exec", "--json", "--", *shlex.split(SHORT)).json
    assert isinstance(document["run"], str)
    assert document["scenario"]["flows"][0]["recovery"] == "PrrRfc6937"
    assert document["flow_metrics"].keys() == {"flow_1"}
    assert document["link_metrics"].keys() == {"btl_forward"}
    assert document["network_metrics"].keys() == {"net"}
    assert document["network_metrics"]["net"]["mean_jains_fairness_throughput_l4"] == 1.0
    for table in ("flow_metrics", "link_metrics", "network_metrics"):
        for column in document[table].values():
            assert all(isinstance(value, float) for value in column.values())
    # No loss: no episode, so no mean of their length.
    assert "mean_recovery_time_l4" not in document["flow_metrics"]["flow_1"]


def test_exec_writes_to_the_database_of_the_line_or_of_the_option(ccperf: Any) -> None:
    run = ccperf("exec", "--json", "--", SHORT).json["run"]
    assert os.listdir() == ["benchmark_TcpNewReno.db"]
    other = ccperf("exec", "--json", "--db", "other.db", "--", SHORT).json["run"]
    assert sorted(os.listdir()) == ["benchmark_TcpNewReno.db", "other.db"]
    assert run == other
    rows = ccperf("runs", "--db", "other.db", "--json").json
    assert [row["run"] for row in rows] == [run]
    assert rows[0]["experiment"] == "ecn"
    assert rows[0]["parameters"] == {"aut": "TcpNewReno", "k": "1", "ce_threshold": "1ms"}


def test_an_example_program_s_help_is_no_mistake(ccperf: Any) -> None:
    asked = ccperf("exec", "--", "tcp-validation", "--PrintHelp")
    assert asked.status == 0
    assert "--baseRtt=80ms" in asked.out


def test_exec_recovery_overrides_the_meaning_of_the_line(ccperf: Any) -> None:
    for name in ("TcpPrrRecovery", "TcpClassicRecovery"):
        document = ccperf("exec", "--json", "--recovery", name, "--", SHORT).json
        assert document["scenario"]["flows"][0]["recovery"] == name
        assert f"--recovery {name}" in document["command"] or name == "TcpClassicRecovery"


def test_the_printed_command_makes_the_same_run(ccperf: Any) -> None:
    options = ("--recovery", "TcpPrrRecovery", "--db", "own.db")
    first = ccperf("exec", "--json", *options, "--", SHORT).json
    assert " --db own.db " in first["command"]
    again = ccperf(
        *shlex.split(first["command"])[1:2], "--json", *shlex.split(first["command"])[2:]
    )
    assert again.json["run"] == first["run"]


def test_packets(ccperf: Any) -> None:
    assert ccperf("exec", "--packets", "p.csv", "--", SHORT).status == 0
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == (
        "time_ns link event flow seq ack payload_bytes wire_bytes flags ecn reason".split()
    )
    assert {row["event"] for row in rows} <= {"enqueue", "tx", "rx", "drop", "mark"}
    assert {"src_0_forward", "btl_forward", "btl_reverse", "dst_0_forward"} <= {
        row["link"] for row in rows
    }
    times = [int(row["time_ns"]) for row in rows]
    assert times == sorted(times)


def test_exec_for_people(ccperf: Any) -> None:
    outcome = ccperf("exec", "--", SHORT)
    assert outcome.status == 0
    assert "sRTT [ms]" in outcome.out
    assert "mean_srtt_l4" in ccperf("exec", "--full", "--", SHORT).out
    assert "again: ccperf exec -- ns3-dev-" in outcome.err


def test_exec_dry_run_touches_nothing(ccperf: Any) -> None:
    scenario = ccperf("exec", "-n", "--", SHORT).json
    assert scenario["label"] == "ecn"
    assert os.listdir() == []
