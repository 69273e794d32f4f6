"""``conga-simulation-large``: load balancers in a leaf-spine, whole or with something wrong in it.

Every server sends to servers below other leaves, at random times and of random sizes. Links can be
slow, and the first spine can lose packets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import large_scale, summary, transport
from ccperf.experiments.programs.load_balance import failures, hermes_options, run_modes
from ccperf.experiments.programs.load_balance.link_utility import INTERVAL, link_utility
from ccperf.experiments.programs.load_balance.ports import DCTCP, LIMIT, port
from ccperf.experiments.programs.program import (
    Defaults,
    File,
    Option,
    Program,
    Report,
    Values,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

_GBPS = 10**9
#: Of a way between racks.
_LINKS = 4
#: Attributes of sockets where an option says so, for as often, or as late, as nobody waits.
_SWITCHED: Mapping[str, Mapping[str, Any]] = {
    "enableLargeDupAck": {"ReTxThreshold": 1000},
    "enableLargeSynRetries": {"ConnCount": 10_000},
    "enableLargeDataRetries": {"DataRetries": 10_000},
    "enableFastReConnection": {"ConnTimeout": "40us"},
}

OPTIONS = {
    "ID": Option("text", "0", "how the files' names begin"),
    "StartTime": Option("time", "0s", "flows begin from then on"),
    "EndTime": Option("time", "0.25s", "of the simulation"),
    "FlowLaunchEndTime": Option("time", "0.1s", "no flow begins from then on"),
    "runMode": Option("text", "Conga", f"{', '.join(run_modes.RUN_MODES)} or a scheme of ours"),
    "randomSeed": Option("uint32", 0, "of flows, slow links and schemes; 0 is --RngRun"),
    "cdfFileName": Option("text", "", "sizes of the flows: a file, which must be given"),
    "load": Option("real", 0.0, "of the leaves' uplinks, above 0 and below 1"),
    "transportProt": Option("text", "Tcp", "Tcp, DcTcp or a congestion control"),
    "linkLatency": Option("microseconds", "10us", "of every link"),
    "resequenceBuffer": Option("bool", False, "receivers put packets in order"),
    "resequenceInOrderTimer": Option("microseconds", "5us", "for what is in order"),
    "resequenceOutOrderTimer": Option("microseconds", "100us", "for what is not"),
    "resequenceInOrderSize": Option("uint32", 100, "how much of it, in packets"),
    "resequenceBufferLog": Option("bool", False, "a trace of it"),
    "asymCapacity": Option("bool", False, "some links of the fabric have a fifth of the rate"),
    "asymCapacityPoss": Option("uint32", 40, "how many of them, %"),
    "asymCapacity2": Option("bool", False, "the link of the first leaf and spine has"),
    "flowBenderT": Option("real", 0.05, "FlowBender: more marks are too many"),
    "flowBenderN": Option("uint32", 1, "FlowBender: for so many round trips in a row"),
    "serverCount": Option("uint32", 8, "servers of a leaf"),
    "spineCount": Option("uint32", 4, "spines"),
    "leafCount": Option("uint32", 4, "leaves, at least 2"),
    "linkCount": Option("uint32", 1, "links between a leaf and a spine"),
    "spineLeafCapacity": Option("uint64", 10, "of links between switches, Gbps"),
    "leafServerCapacity": Option("uint64", 10, "of servers' links, Gbps"),
    **hermes_options.OPTIONS,
    **hermes_options.MORE_OPTIONS,
    "TcpPause": Option("bool", False, "TLB, FlowBender: refused, as it only loses packets there"),
    "applicationPauseThresh": Option("uint32", 0, "senders pause after more packets; 0 never"),
    "applicationPauseTime": Option("microseconds", "1000us", "from one such write to the next"),
    "cloveFlowletTimeout": Option("microseconds", "500us", "Clove: gaps between flowlets"),
    "cloveRunMode": Option("uint32", 0, "Clove: 0 by chance, 1 by marks, 2 by loads (INT)"),
    "cloveHalfRTT": Option("microseconds", "40us", "Clove: how often a weight shrinks at most"),
    "cloveDisToUncongestedPath": Option("bool", False, "Clove: where weights go"),
    "congaFlowletTimeout": Option("microseconds", "500us", "Conga: gaps between flowlets"),
    "congaAwareAsym": Option("bool", True, "Conga: whether it knows of slow links"),
    "letFlowFlowletTimeout": Option("microseconds", "500us", "LetFlow: gaps between flowlets"),
    "enableLargeDupAck": Option("bool", False, "1000 duplicate ACKs make a loss"),
    "enableLargeSynRetries": Option("bool", False, "SYNs are sent up to 10,000 times"),
    "enableLargeDataRetries": Option("bool", False, "and data"),
    "enableFastReConnection": Option("bool", False, "SYNs are retransmitted after 40 us"),
    "enableRandomDrop": Option("bool", False, "the first spine loses packets"),
    "randomDropRate": Option("real", 0.005, "how many"),
    "blackHoleMode": Option("uint32", 0, "it loses all: 1 by source, 2 by destination, 3 by both"),
    "blackHoleSrcAddr": Option("text", "10.1.1.1", "of whom; the first leaf has 10.1.1.0/24"),
    "blackHoleSrcMask": Option("text", "255.255.255.0", "of it"),
    "blackHoleDestAddr": Option("text", "10.1.2.0", "to whom; the second leaf has 10.1.2.0/24"),
    "blackHoleDestMask": Option("text", "255.255.255.0", "of it"),
}
#: As the other programs spell them, and as one would after the rest.
SPELLINGS = {
    "id": "ID",
    "endTime": "EndTime",
    "tcpPause": "TcpPause",
    "letflowFlowletTimeout": "letFlowFlowletTimeout",
}
#: Options that do nothing without another one.
_NEEDS = {
    "asymCapacityPoss": "asymCapacity",
    "resequenceInOrderTimer": "resequenceBuffer",
    "resequenceOutOrderTimer": "resequenceBuffer",
    "resequenceInOrderSize": "resequenceBuffer",
    "resequenceBufferLog": "resequenceBuffer",
    "applicationPauseTime": "applicationPauseThresh",
    "randomDropRate": "enableRandomDrop",
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program describes."""
    large_scale.check(values)
    refuse(values)
    seed = transport.seed(values, rng_run)
    up = values["spineLeafCapacity"] * _GBPS
    every_port = port(marks=values["transportProt"] != "Tcp")
    whole = large_scale.leaves_and_spines(values, every_port, every_port)
    network = replace(whole, links=failures.with_slow_links(values, whole, up, seed))
    own = {k: v for option, own in _SWITCHED.items() if values[option] for k, v in own.items()}
    if values["resequenceBuffer"]:
        own["ResequencingTimeout"] = time(values["resequenceOutOrderTimer"])
    return network.scenario(
        [],
        stop_time=time(values["EndTime"]),
        seed=seed,
        routing=run_modes.routing(
            values, run_modes.RUN_MODES, OPTIONS, _propagation(values), network_rate=rate(up)
        ),
        stacks=[transport.stack("dc", values, defaults, dctcp=DCTCP, **own)],
        workloads=[flows(values, network.racks, large_scale.uplinks(values))],
        faults=failures.faults(values, network),
        recording={"interval": INTERVAL, "flows": "none", **summary.RECORDING},
    )


def flows(values: Values, apart: list[list[str]], capacity_bps: int) -> dict[str, Any]:
    """Poisson arrivals between hosts of different groups, at a load of `capacity_bps`.

    Raises:
        UsageError: if the file with their sizes is not there.
    """
    if not values["cdfFileName"]:
        raise UsageError("--cdfFileName", "names no file; write --cdfFileName=DCTCP_CDF.txt")
    workload = large_scale.workload(values, apart, capacity_bps)
    if packets := int(values.parsed.get("applicationPauseThresh", 0)):
        # The original pauses when it has written more than so many.
        workload["write"] = f"{(packets + 1) * transport.SEGMENT}B"
        workload["gap"] = time(values["applicationPauseTime"])
    return workload


def refuse(values: Values) -> None:
    """Refuse what a run mode of the original has and we do not.

    Raises:
        UsageError: with the option.
    """
    mode = run_modes.find(values, run_modes.RUN_MODES)
    is_asymmetric = values["asymCapacity"] or values["asymCapacity2"]
    if values["TcpPause"] and mode.scheme in ("hermes", "flowbender"):
        message = (
            "loses all that a flow sends while it pauses in the original, which tests whether its "
            "buffer is empty where it means to ask whether there is something to send; leave it out"
        )
        raise UsageError("--TcpPause", message)
    if values["applicationPauseThresh"] and values["applicationPauseTime"] == 0:
        raise UsageError("--applicationPauseTime", "0 is no pause; leave out the threshold")
    if values["runMode"] == "FlowBender" and values["transportProt"] == "Tcp":
        message = "FlowBender counts marks; write --transportProt=DcTcp"
        raise UsageError("--transportProt", message)
    if values["runMode"] == "Weighted-Presto" and not is_asymmetric:
        message = "Weighted-Presto needs slow links: --asymCapacity, or --runMode=Presto"
        raise UsageError("--runMode", message)


def lines(values: Values, result: Result) -> list[str]:  # noqa: ARG001
    """The completion times."""
    return summary.lines(result)


def notes(values: Values) -> list[str]:
    """What is to be said about the options."""
    said = [
        *transport.notes(values),
        *run_modes.notes(values, run_modes.RUN_MODES, _propagation(values)),
    ]
    needs = [(o, n) for o, n in _NEEDS.items() if o in values.given and not values[n]]
    said += [f"--{option} has no effect without --{needed}" for option, needed in needs]
    for end, modes in (("Src", (1, 3)), ("Dest", (2, 3))):
        said += [
            f"--{option} has no effect with --blackHoleMode={values['blackHoleMode']}"
            for option in (f"blackHole{end}Addr", f"blackHole{end}Mask")
            if option in values.given and values["blackHoleMode"] not in modes
        ]
    said += [
        f"--{option} has no effect: what is in order is handed on at once"
        for option in ("resequenceInOrderTimer", "resequenceInOrderSize")
        if option in values.given and values["resequenceBuffer"]
    ]
    if values["resequenceBufferLog"]:
        said.append("not written: ...-RBTrace.txt, what the re-sequencing buffer does")
    loses = values["enableRandomDrop"] or values["blackHoleMode"]
    if loses and values["transportProt"] == "Tcp":
        said.append("the original's spine loses packets with --transportProt=DcTcp only")
    if values["runMode"] == "TLB":
        said.append("not written: ...-bible.txt and ...-piple.txt, each choice of a path")
    return said


def files(values: Values) -> list[File]:
    """The files that the program leaves behind."""
    name = _name(values)
    return [
        summary.flow_monitor(f"{name}b{LIMIT}.xml", place=2),
        link_utility(f"{name}b{LIMIT}-link-utility.out"),
    ]


def _name(values: Values) -> str:
    """How the files' names begin; no dash stands behind the re-sequencing buffer, as originally."""
    size = f"{values['leafCount']}X{values['spineCount']}"
    words = [values["ID"], "1-large-load", size, f"{values['load']:g}", values["transportProt"]]
    words += [_mode_name(values), str(values["randomSeed"])]
    words += [f"capacity-asym{n}" for n in ("", "2") if values[f"asymCapacity{n}"]]
    words = [f"{word}-" for word in words]
    if values["resequenceBuffer"]:
        timers = (values[f"resequence{name}OrderTimer"] // 1000 for name in ("In", "Out"))
        words.append("-".join(map(str, ("rb", values["resequenceInOrderSize"], *timers))))
    if values["applicationPauseThresh"]:
        pause = values["applicationPauseTime"] // 1000
        words.append(f"p{values['applicationPauseThresh']}-{pause}-")
    if values["enableRandomDrop"]:
        words.append(f"random-drop-{values['randomDropRate']:g}-")
    if values["blackHoleMode"]:
        words.append(f"black-hole-{values['blackHoleMode']}-")
    return "".join(words)


def _mode_name(values: Values) -> str:
    micros = {name: values[name] // 1000 for name, o in OPTIONS.items() if o.kind == "microseconds"}
    of_tlb = [
        *(micros[f"TLB{name}"] for name in ("HighRTT", "MinRTT", "BetterPathRTT")),
        *(values[f"TLB{name}"] for name in ("Poss", "S")),
        *(micros[f"TLB{name}"] for name in ("T1", "ProbingInterval")),
        *(int(values[f"TLB{name}"]) for name in ("Smooth", "Rerouting")),
        micros["quantifyRTTBase"],
    ]
    of_clove = [
        values["cloveRunMode"],
        micros["cloveFlowletTimeout"],
        micros["cloveHalfRTT"],
        int(values["cloveDisToUncongestedPath"]),
    ]
    names: Mapping[str, str] = {
        "Conga": f"conga-simulation-{micros['congaFlowletTimeout']}",
        "Conga-flow": "conga-flow-simulation",
        "Conga-ECMP": f"conga-ecmp-simulation-{micros['congaFlowletTimeout']}",
        "FlowBender": f"flow-bender-{values['flowBenderT']:g}-{values['flowBenderN']}-simulation",
        "LetFlow": f"letflow-simulation-{micros['letFlowFlowletTimeout']}",
        "Clove": "-".join(map(str, ("clove", *of_clove))),
        "TLB": "-".join(map(str, ("tlb", *of_tlb))),
    }
    return names.get(values["runMode"], f"{run_modes.word(values)}-simulation")


def _propagation(values: Values) -> int:
    return int(_LINKS * values["linkLatency"])


PROGRAM = Program(
    "conga-simulation-large",
    OPTIONS,
    build,
    paths=(
        *large_scale.PATHS,
        *hermes_options.PATHS,
        (r"routing\.attributes\.Threshold", "--flowBenderT"),
        (r"routing\.attributes\.Rounds", "--flowBenderN"),
        (r"workloads\[0\]\.write", "--applicationPauseThresh"),
        (r"workloads\[0\]\.gap", "--applicationPauseTime"),
    ),
    spellings=SPELLINGS,
    notes=notes,
    report=Report(lines, files),
)
