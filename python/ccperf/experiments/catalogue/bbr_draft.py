"""The paths of the test cases of BBR's draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ccperf.experiments.catalogue.answer import QUEUE, RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: By the number of the section in appendix A of draft-ietf-ccwg-bbr-06, where a path is not that
#: of `_USUAL`. When a phase begins which a change has to meet was seen in a run of BBRv3 without
#: the change.
_USUAL: dict[str, Any] = {
    "rate": "100Mbps",
    "rtt": "20ms",
    "queue": "250000B",
    "stop": "12s",
    "application": "Greedy",
    "forward": {},
    "reverse": None,
    "changes": (),
    "qdisc": "FifoQueueDisc",
    "attributes": {},
    "tcp": {},
}
#: Less than the link carries, so that the application limits: writes below a segment, since a whole
#: one that waits is no limit of the application's for ns-3.
_LIMITED = {"type": "CBR", "rate": "40Mbps", "write": "1200B"}
#: So that it does from the first segment on.
_AT_ONCE = {"InitialCwnd": 100}
#: ACKs come in bursts of 10 ms.
_BURSTS = {
    "rate": "1Gbps",
    "qdisc": {
        "type": "BurstReleaseQueueDisc",
        "attributes": {"Interval": "10ms", "Quota": "1000", "MaxSize": "10000p"},
    },
    "device_queue": "1000p",
}
_CASES: dict[str, dict[str, Any]] = {
    "1": {"stop": "4s"},
    "2": {
        "stop": "4s",
        "application": _LIMITED,
        "tcp": _AT_ONCE,
        "changes": (
            {"time": "1s", "loss": 0.2, "direction": "forward"},
            {"time": "1200ms", "loss": 0.0, "direction": "forward"},
        ),
    },
    "3": {"stop": "4s"},
    "4": {"stop": "4s", "changes": ({"time": "244ms", "rate": "90Mbps"},)},
    "5": {"queue": "1000000B"},
    # Start-up fills the link, which is then more than the application needs.
    "6": {
        "rate": "30Mbps",
        "stop": "14s",
        "application": _LIMITED,
        "changes": (
            {"time": "4s", "rate": "100Mbps"},
            {"time": "10s", "loss": 0.2, "direction": "forward"},
            {"time": "10200ms", "loss": 0.0, "direction": "forward"},
        ),
    },
    "7": {"application": _LIMITED, "tcp": _AT_ONCE},
    "8": {},
    "9": {"changes": ({"time": "1630ms", "rate": "90Mbps"},)},
    "10": {"stop": "20s"},
    "11": {
        "stop": "24s",
        "application": {
            "type": "OnOff",
            "rate": "80Mbps",
            "write": "1200B",
            "on_time": "3s",
            "off_time": "6s",
        },
    },
    "12": {"stop": "4s", "reverse": _BURSTS},
    "13": {"reverse": _BURSTS},
    "14": {"rate": "500kbps", "rtt": "4ms", "queue": "30000B"},
    "15": {"rate": "10Mbps", "changes": ({"time": "8s", "rate": "100Mbps"},)},
    "16": {"stop": "20s", "changes": ({"time": "4s", "rate": "10Mbps"},)},
    "17": {
        "stop": "20s",
        "qdisc": "PolicerQueueDisc",
        "attributes": {"Rate": "10Mbps", "Burst": "125000"},
    },
    "18": {"changes": ({"time": "6s", "delay": "3ms"},)},
    "19": {"changes": ({"time": "6s", "delay": "408ms"}, {"time": "6100ms", "delay": "8ms"})},
    "20": {"application": _LIMITED, "tcp": _AT_ONCE},
    "21": {"queue": "25000B"},
    "22": {
        "application": {
            "type": "OnOff",
            "rate": "200Mbps",
            "write": "1448B",
            "on_time": "80ms",
            "off_time": "60ms",
        },
    },
}
CASES = tuple(_CASES)


class BbrDraft(Experiment):
    name = "bbr_draft"
    title = "Test cases of BBR's draft"
    group = "Transient state"
    description = (
        "One flow on the path of a test case of draft-ietf-ccwg-bbr-06, appendix A. Whether a case "
        "is passed says `ccperf bench --set bbr-draft`; what the draft asks of its own variables "
        "is asked of what they bring about: pacing rate, window, data in flight, throughput."
    )
    usual: ClassVar[tuple[str, ...]] = ("TcpBbr3",)
    recovery = profiles.PROFILES["linux"]["recovery"]
    answer = Answer((USED, SRTT, QUEUE, RETRANSMITTED), "case", "time")
    parameters = (
        Parameter("case", "word", CASES, "1", "Section of the draft's appendix A.", CASES),
    )
    seeded = "which packets are lost, where the case has losses"

    def length(self, setup: Setup) -> str:
        return str({**_USUAL, **_CASES[setup["case"]]}["stop"])

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

        case = {**_USUAL, **_CASES[setup["case"]]}
        flow = DumbbellFlow(
            setup.cc,
            case["rtt"],
            recovery=setup.recovery,
            application=case["application"],
            tcp=profiles.tcp("linux", **case["tcp"]),
        )
        bottleneck = Bottleneck(
            case["rate"],
            None if case["attributes"] else case["queue"],
            case["qdisc"],
            case["attributes"],
            forward=case["forward"],
            reverse=case["reverse"],
        )
        return dumbbell(
            bottleneck,
            [flow],
            stop_time=case["stop"],
            seed=setup.seed,
            label=f"{self.name}_{setup['case']}",
            changes=case["changes"],
            recording={"interval": "2ms"},
        )
