"""ns-3's ``pie-example.cc``, ``red-tests.cc`` and ``adaptive-red-tests.cc`` of traffic control.

All three have the network ``n0, n1 - n2 - n3 - n4, n5`` with the discipline under test at both ends
of the link in the middle, and on-off TCP flows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    AutomaticStreams,
    direction,
    link,
    on_off,
)
from ccperf.experiments.programs.program import Defaults, Option, Program, Values

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_NODES = ("n0", "n1", "n2", "n3", "n4", "n5")
_SINK_PORT = 50000
_SEGMENT = 1000 - 42

_FILES = {
    "pathOut": Option("text", ".", "folder of the files below"),
    "writeForPlot": Option("bool", False, "the queue over time", files=".plotme"),
    "writePcap": Option("bool", False, "pcap", files=".pcap"),
    "writeFlowMonitor": Option("bool", False, "the flow monitor's statistics", files=".flowmon"),
}
RED_OPTIONS = {"testNumber": Option("uint32", 1, "1, 3, 4 or 5"), **_FILES}
ADAPTIVE_OPTIONS = {"testNumber": Option("uint32", 1, "1 to 4 or 6 to 15"), **_FILES}


@dataclass(frozen=True)
class _Network:
    """Rates and delays of the links, in the order of their nodes; the third is in the middle."""

    edge: str = "10Mbps"
    middle: str = "1.5Mbps"
    delays: tuple[str, ...] = ("2ms", "3ms", "20ms", "4ms", "5ms")

    def links(
        self, defaults: Defaults, forward: dict[str, Any], reverse: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """The links, with these disciplines in the middle."""
        usual = direction(defaults.qdisc("PfifoFastQueueDisc", MaxSize="1000p"))
        streams = AutomaticStreams(len(_NODES))
        middle = [direction({**qdisc, "stream": streams.next()}) for qdisc in (forward, reverse)]
        ends = (("n0", "n2"), ("n1", "n2"), ("n2", "n3"), ("n3", "n4"), ("n3", "n5"))
        return [
            link("".join(pair), pair, f"10.1.{i}", self.middle, delay, *middle)
            if pair == ("n2", "n3")
            else link("".join(pair), pair, f"10.1.{i}", self.edge, delay, usual)
            for i, (pair, delay) in enumerate(zip(ends, self.delays, strict=True), 1)
        ]


_FAST = _Network("100Mbps", "15Mbps")
_LONG = _Network(delays=("0s", "1ms", "100ms", "2ms", "3ms"))


def _flow(
    source: str, destination: str, start: str, stop: str, sink_stop: str, **own: Any
) -> dict[str, Any]:
    return {
        "source": source,
        "destination": destination,
        "source_port": FIRST_PORT,
        "destination_port": _SINK_PORT,
        "start": start,
        "stop": stop,
        "receiver_stop": sink_stop,
        "application": on_off("10Mbps", 1000),
        "recovery": "TcpPrrRecovery",
        **own,
    }


def _scenario(
    defaults: Defaults,
    rng_run: int,
    stop: str,
    links: list[dict[str, Any]],
    flows: list[dict[str, Any]],
    **tcp: Any,
) -> Scenario:
    from ccperf.scenario import Scenario

    sockets = {
        "cc": defaults.cc("TcpNewReno"),
        "tcp": defaults.tcp(SegmentSize=_SEGMENT, DelAckCount=1, **tcp),
    }
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "seed": rng_run,
            "nodes": _NODES,
            "links": links,
            "flows": [{**flow, **sockets} for flow in flows],
        }
    )


def pie(_: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that pie-example simulates."""
    qdisc = defaults.qdisc(
        "PieQueueDisc",
        MaxSize="100p",
        MeanPktSize=1000,
        DequeueThreshold=10_000,
        QueueDelayReference="20ms",
        MaxBurstAllowance="100ms",
    )
    flows = [_flow(source, "n4", "1500ms", "5s", "10s") for source in ("n0", "n1")]
    return _scenario(defaults, rng_run, "10s", _Network().links(defaults, qdisc, qdisc), flows)


def _red(defaults: Defaults, mean: int, **own: Any) -> dict[str, Any]:
    settings = {"MaxSize": "1000p", "QW": 0.002, "MinTh": 5, "MaxTh": 15, **own}
    return defaults.qdisc(
        "RedQueueDisc",
        MeanPktSize=mean,
        Wait="true",
        Gentle="true",
        LinkBandwidth="1.5Mbps",
        LinkDelay="20ms",
        **settings,
    )


def red(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that red-tests simulates."""
    test = values["testNumber"]
    if test not in (1, 3, 4, 5):
        raise UsageError("--testNumber", f"{test} is not 1, 3, 4 or 5")
    mean = 500
    own: dict[int, dict[str, Any]] = {
        3: {"MaxTh": 10, "QW": 0.003},
        5: {
            "MaxSize": f"{1000 * mean}B",
            "Ns1Compat": "true",
            "MinTh": 5 * mean,
            "MaxTh": 15 * mean,
        },
    }
    network = _Network()
    forward = _red(defaults, mean, **own.get(test, {}))
    # The fifth test puts the discipline on the way back into the mode of packets again.
    packets: dict[str, Any] = {"MaxSize": "1000p", "MinTh": 5, "MaxTh": 15} if test == 5 else {}
    reverse = _red(defaults, mean, **{**own.get(test, {}), **packets})
    end = ("9s", "14s")
    if test in (1, 3):
        flows = [_flow("n0", "n4", "200ms", *end), _flow("n1", "n4", "3s", *end)]
    else:
        telnet = on_off("40bps", 40)
        flows = [
            _flow("n0", "n4", "200ms", *end, destination_port=50001),
            _flow("n1", "n5", "2s", *end, destination_port=50002),
            _flow("n4", "n0", "3500ms", *end, destination_port=50003),
            _flow("n5", "n1", "1s", *end, destination_port=50004, application=telnet),
        ]
    return _scenario(defaults, rng_run, "14s", network.links(defaults, forward, reverse), flows)


_ADAPTING: dict[str, Any] = {"ARED": "true", "LInterm": 10}
_BY_ITSELF: dict[str, Any] = {"MinTh": 0, "MaxTh": 0}
_ADAPTIVE: dict[int, dict[str, Any]] = {
    1: {"MaxSize": "25p"},
    2: {"MaxSize": "25p", **_ADAPTING},
    3: {"MaxSize": "25p", "UseEcn": "true"},
    4: {"MaxSize": "25p", "UseEcn": "true", **_ADAPTING},
    6: {},
    7: {"QW": 0},
    8: _BY_ITSELF,
    9: {"AdaptMaxP": "true", "LInterm": 10},
    10: _ADAPTING,
    11: {"UseEcn": "true", "UseHardDrop": "false", **_ADAPTING},
    12: {"TargetDelay": "200ms", **_ADAPTING},
    13: {"MaxSize": "100p"},
    14: {"MaxSize": "100p", **_ADAPTING},
    15: {"MaxSize": "100p", "QW": -1, "AdaptMaxP": "true", "LInterm": 10, **_BY_ITSELF},
}


def adaptive_red(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that adaptive-red-tests simulates."""
    test = values["testNumber"]
    if test not in _ADAPTIVE:
        raise UsageError("--testNumber", f"{test} is not one of {', '.join(map(str, _ADAPTIVE))}")
    network = _Network() if test < 5 else _FAST if test < 13 else _LONG
    qdisc = _red(defaults, 1000, **_ADAPTIVE[test])
    # The eleventh test alone keeps the slower sources on the faster links.
    rate = "100Mbps" if network is _FAST and test != 11 else "10Mbps"
    flows = [
        _flow(source, "n4", "1500ms", "5s", "10s", application=on_off(rate, 1000))
        for source in ("n0", "n1")
    ]
    ecn: dict[str, Any] = {"UseEcn": "On"} if "UseEcn" in _ADAPTIVE[test] else {}
    links = network.links(defaults, qdisc, qdisc)
    return _scenario(defaults, rng_run, "10s", links, flows, **ecn)


PIE_EXAMPLE = Program("pie-example", _FILES, pie)
RED_TESTS = Program("red-tests", RED_OPTIONS, red)
ADAPTIVE_RED_TESTS = Program("adaptive-red-tests", ADAPTIVE_OPTIONS, adaptive_red)
