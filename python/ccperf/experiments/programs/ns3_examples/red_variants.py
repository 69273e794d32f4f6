"""ns-3's ``red-vs-ared.cc``, ``red-vs-nlred.cc``, ``red-vs-fengadaptive.cc`` and
``pfifo-vs-red.cc`` of traffic control.

A dumbbell of equal leaves: each on the right sends to its own on the left, on and off at random.
All run until nothing is left to do.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    AutomaticStreams,
    direction,
    link,
    on_off,
    usual_queue,
    usual_socket,
)
from ccperf.experiments.programs.program import Defaults, Option, Program, Values, choice, rate

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_BOTTLENECK_RATE = "1Mbps"
_BOTTLENECK_DELAY = "50ms"
_MOST_LEAVES = 250
#: Receivers close at 30 s; the last end points wait for 4 min after their end.
_STOP = "400s"

_VARIANTS: dict[str, dict[str, Any]] = {
    "ARED": {"ARED": "true", "LInterm": 10},
    "NLRED": {"NLRED": "true"},
    "FengAdaptive": {"FengAdaptive": "true"},
}


def _options(
    kinds: tuple[str, str], leaves: int, thresholds: tuple[float, float], mode: str
) -> Any:
    first, second = kinds
    by_bytes = Option("bool", False, "sizes in bytes")
    return {
        "nLeaf": Option("uint32", leaves, "leaves on each side"),
        "maxPackets": Option("uint32", 100, "of the devices, packets"),
        "queueDiscLimitPackets": Option("uint32", 1000, "of the discipline, packets"),
        "queueDiscType": Option("text", first, f"of the bottleneck: {first} or {second}"),
        "appPktSize": Option("uint32", 512, "of the sources, bytes"),
        "appDataRate": Option("rate", "10Mbps", "of the sources while they are on"),
        "modeBytes": by_bytes if mode == "bool" else Option(mode, 0, "sizes in bytes, if not 0"),
        "redMinTh": Option("real", thresholds[0], "lower threshold, packets"),
        "redMaxTh": Option("real", thresholds[1], "upper threshold, packets"),
    }


def _red(values: Values, defaults: Defaults, **own: Any) -> dict[str, Any]:
    size, limit = values["appPktSize"], values["queueDiscLimitPackets"]
    unit = size if values["modeBytes"] else 1
    return defaults.qdisc(
        "RedQueueDisc",
        MaxSize=f"{limit * size % 2**32}B" if values["modeBytes"] else f"{limit}p",
        MinTh=values["redMinTh"] * unit,
        MaxTh=values["redMaxTh"] * unit,
        LinkBandwidth=_BOTTLENECK_RATE,
        LinkDelay=_BOTTLENECK_DELAY,
        **own,
    )


def variant(name: str, values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario of a program that has RED and this variant of it."""
    kind = choice("--queueDiscType", values["queueDiscType"], ("RED", name))
    own = _VARIANTS[name] if kind == name else {}
    red = _red(values, defaults, MeanPktSize=values["appPktSize"], **own)
    return _scenario(values, defaults, rng_run, red)


def pfifo(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that pfifo-vs-red simulates: its PfifoFast is whatever is there by default."""
    kind = choice("--queueDiscType", values["queueDiscType"], ("PfifoFast", "RED"))
    red = _red(values, defaults) if kind == "RED" else None
    return _scenario(values, defaults, rng_run, red)


def _scenario(
    values: Values, defaults: Defaults, rng_run: int, red: dict[str, Any] | None
) -> Scenario:
    from ccperf.scenario import Scenario

    leaves = values["nLeaf"]
    if not 1 <= leaves <= _MOST_LEAVES:
        raise UsageError("--nLeaf", f"{leaves} is not from 1 to {_MOST_LEAVES}")
    left, right = ([f"{side}_{i}" for i in range(leaves)] for side in ("left", "right"))
    streams = AutomaticStreams(2 * leaves + 2)
    device = f"{values['maxPackets']}p"
    usual = usual_queue(defaults, device)
    middle = [
        direction({**red, "stream": streams.next()}, device) if red else usual for _ in range(2)
    ]
    # The helper makes each of the two variables of its sources once more, to look at its text.
    streams.skip(2)
    edges = [
        link(name, (name, router), f"{network}.{i}", "10Mbps", "1ms", usual)
        for side, router, network in ((left, "left", "10.1"), (right, "right", "10.2"))
        for i, name in enumerate(side, 1)
    ]
    random = "Uniform(min=0s,max=1s)"

    def source() -> dict[str, Any]:
        first = streams.next()
        streams.skip(1)
        application = on_off(rate(values["appDataRate"]), values["appPktSize"], off_time=random)
        return {**application, "on_time": random, "stream": first}

    return Scenario.model_validate(
        {
            "stop_time": _STOP,
            "seed": rng_run,
            "nodes": ["left", "right", *left, *right],
            "links": [
                link(
                    "btl", ("left", "right"), "10.3.1", _BOTTLENECK_RATE, _BOTTLENECK_DELAY, *middle
                ),
                *edges,
            ],
            "flows": [
                {
                    "name": name,
                    "source": name,
                    "destination": receiver,
                    "source_port": FIRST_PORT,
                    "destination_port": 5001,
                    "start": "1s",
                    "stop": "15s",
                    "receiver_stop": "30s",
                    "application": source(),
                    **usual_socket(defaults),
                }
                for name, receiver in zip(right, left, strict=True)
            ],
        }
    )


_PATHS = (
    (r"links\[0\]\.\w+\.qdisc.*MaxSize", "--queueDiscLimitPackets"),
    (r"links\[0\]\.\w+\.qdisc.*MinTh", "--redMinTh"),
    (r"links\[0\]\.\w+\.qdisc.*MaxTh", "--redMaxTh"),
    (r"links\[0\]\.\w+\.qdisc.*MeanPktSize", "--appPktSize"),
    (r"links\[\d+\]\.\w+\.device_queue", "--maxPackets"),
    (r"flows\[\d+\]\.application\.write", "--appPktSize"),
    (r"flows\[\d+\]\.application\.rate", "--appDataRate"),
)

_SETS = (
    *("OnOffApplication::PacketSize", "OnOffApplication::DataRate"),
    "DropTailQueue<Packet>::MaxSize",
)
RED_VARIANTS = tuple(
    Program(
        f"red-vs-{name.lower()}",
        _options(("RED", name), 10, (5.0, 15.0), "bool"),
        partial(variant, name),
        paths=_PATHS,
        sets=_SETS,
    )
    for name in _VARIANTS
)
PFIFO_VS_RED = Program(
    "pfifo-vs-red",
    _options(("PfifoFast", "RED"), 5, (50.0, 80.0), "uint32"),
    pfifo,
    paths=_PATHS,
    sets=_SETS,
)
