"""``fattree-simulation``: load balancers in a fat-tree of four pods.

Every server sends to servers of other pods, at random times and of random sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import summary, transport
from ccperf.experiments.programs.load_balance import hermes_options, run_modes
from ccperf.experiments.programs.load_balance.conga_simulation_large import flows
from ccperf.experiments.programs.load_balance.ports import DCTCP, port
from ccperf.experiments.programs.load_balance.run_modes import DRB, ECMP, HERMES, RunMode
from ccperf.experiments.programs.program import (
    Defaults,
    File,
    Option,
    Program,
    Report,
    Values,
    time,
)

if TYPE_CHECKING:
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

#: Ports of a switch, servers of an edge switch, every link's rate and delay.
K, SERVERS, GBPS, LATENCY_NS = 4, 8, 10, 10_000
#: How long receivers hold back what comes out of order.
RESEQUENCING = "250us"
#: Of a way between pods.
_LINKS = 6
#: Links between aggregation and core switches.
_TO_THE_CORE = K * (K // 2) ** 2
#: Of Hermes's option names those that the files' names have.
_IN_NAMES = ("RunMode", "MinRTT", "BetterPathRTT", "Poss", "ECNPortionLow", "T1")

OPTIONS = {
    "ID": Option("text", "0", "how the file's name begins"),
    "StartTime": Option("time", "0s", "flows begin from then on"),
    "EndTime": Option("time", "0.5s", "of the simulation"),
    "FlowLaunchEndTime": Option("time", "0.2s", "no flow begins from then on"),
    "runMode": Option("text", "ECMP", "ECMP, DRB, Presto, TLB or a scheme of ours"),
    "randomSeed": Option("uint32", 0, "of flows and schemes; 0 is --RngRun"),
    "cdfFileName": Option(
        "text", "examples/load-balance/VL2_CDF.txt", "sizes of the flows: a file"
    ),
    "load": Option("real", 0.5, "of the links to the core, above 0 and below 1"),
    "enableDcTcp": Option("bool", True, "DCTCP over RED, or TCP over a FIFO"),
    **hermes_options.OPTIONS,
    "PrestoK": Option("uint32", 64, "Presto: packets that take the same path"),
    "resequenceBuffer": Option("bool", False, "receivers put packets in order"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program describes."""
    from ccperf.experiments.topologies import FabricLink, fat_tree

    own: dict[str, Any] = (
        {"ResequencingTimeout": RESEQUENCING} if values["resequenceBuffer"] else {}
    )
    every_port = port(marks=values["enableDcTcp"])
    network = fat_tree(
        K,
        FabricLink(f"{GBPS}Gbps", time(LATENCY_NS)),
        servers=SERVERS,
        port=every_port,
        host_port=every_port,
    )
    of_a_pod = SERVERS * K // 2
    pods = [list(network.hosts[i : i + of_a_pod]) for i in range(0, K * of_a_pod, of_a_pod)]
    words = {"transportProt": "DcTcp" if values["enableDcTcp"] else "Tcp"}
    spoken = replace(values, parsed={**values.parsed, **words})
    return network.scenario(
        [],
        stop_time=time(values["EndTime"]),
        seed=transport.seed(values, rng_run),
        routing=run_modes.routing(values, _modes(values), OPTIONS, _LINKS * LATENCY_NS),
        stacks=[transport.stack("dc", spoken, defaults, dctcp=DCTCP, **own)],
        workloads=[flows(values, pods, _TO_THE_CORE * GBPS * 10**9)],
        recording={"flows": "none", "links": "none", **summary.RECORDING},
    )


def lines(values: Values, result: Result) -> list[str]:  # noqa: ARG001
    """The completion times."""
    return summary.lines(result)


def notes(values: Values) -> list[str]:
    """What is to be said about the options."""
    modes = run_modes.notes(values, _modes(values), _LINKS * LATENCY_NS)
    return [*transport.notes(values), *modes]


def files(values: Values) -> list[File]:
    """The file that the program leaves behind."""
    mode = values["runMode"]
    words = [values["ID"], "fattree", K, f"{values['load']:g}", int(values["enableDcTcp"])]
    words.append(f"{run_modes.word(values)}-simulation")
    if mode == "TLB":
        words += [_in_name(values, name) for name in _IN_NAMES]
        words += [_in_name(values, name) for name in ("ProbingInterval", "Smooth", "Rerouting")]
    name = f"{'-'.join(map(str, words))}-{values['randomSeed']}.xml"
    return [summary.flow_monitor(name, place=2)]


def _in_name(values: Values, name: str) -> str:
    value = values[f"TLB{name}"]
    if OPTIONS[f"TLB{name}"].kind == "microseconds":
        value //= 1000
    return f"{float(value):g}"


def _modes(values: Values) -> Mapping[str, RunMode]:
    """The program's run modes.

    Raises:
        UsageError: for flowcells of no packet.
    """
    if values["PrestoK"] == 0:
        raise UsageError("--PrestoK", "must be above 0")
    presto = RunMode("presto", run_modes.flowcell(values["PrestoK"]), more=("PrestoK",))
    return {"ECMP": ECMP, "DRB": DRB, "Presto": presto, "TLB": HERMES}


PROGRAM = Program(
    "fattree-simulation",
    OPTIONS,
    build,
    paths=(
        *hermes_options.PATHS,
        (r"routing\.attributes\.FlowcellSize", "--PrestoK"),
        (r"workloads\[0\]\.arrivals\.load", "--load"),
        (r"workloads\[0\]\.sizes.*", "--cdfFileName"),
        (r"workloads\[0\]\.arrivals.*", "--FlowLaunchEndTime"),
        (r"stop_time|recording.*", "--EndTime"),
    ),
    spellings={"id": "ID", "endTime": "EndTime", "enableDctcp": "enableDcTcp"},
    notes=notes,
    report=Report(lines, files),
)
