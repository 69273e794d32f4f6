"""ns-3's ``examples/tcp/star.cc`` and ``examples/tcp/tcp-star-server.cc``.

Stars whose spokes each send to one port of the hub, slowly. Both run until nothing is left to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.parts import (
    FIRST_PORT,
    link,
    on_off,
    usual_queue,
    usual_socket,
)
from ccperf.experiments.programs.program import (
    DEVICES,
    ON_OFF,
    SOCKETS,
    Defaults,
    Option,
    Program,
    Values,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_MOST = 250
#: The last end points wait for 4 min from 10 s on; nothing happens later.
_STOP = "300s"

STAR_OPTIONS = {"nSpokes": Option("uint32", 8, "hosts around the hub")}
SERVER_OPTIONS = {"nNodes": Option("uint32", 9, "nodes, the server among them")}


def star(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that star simulates."""
    spokes = _count("--nSpokes", values["nSpokes"], values["nSpokes"])
    return _scenario(defaults, rng_run, spokes, "14kbps", 137)


def server(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that tcp-star-server simulates."""
    spokes = _count("--nNodes", values["nNodes"], values["nNodes"] - 1)
    return _scenario(defaults, rng_run, spokes, "5kbps", 250)


def _count(option: str, given: int, spokes: int) -> int:
    if not 1 <= spokes <= _MOST:
        raise UsageError(option, f"{given} makes {spokes} spokes; write one for 1 to {_MOST}")
    return spokes


def _scenario(
    defaults: Defaults, rng_run: int, spokes: int, rate: str, packet_bytes: int
) -> Scenario:
    from ccperf.scenario import Scenario

    usual = usual_queue(defaults)
    names = [f"spoke_{i}" for i in range(spokes)]
    return Scenario.model_validate(
        {
            "stop_time": _STOP,
            "seed": rng_run,
            "nodes": ["hub", *names],
            "links": [
                link(f"to_{name}", ("hub", name), f"10.1.{i}", "5Mbps", "2ms", usual)
                for i, name in enumerate(names, 1)
            ],
            "flows": [
                {
                    "name": name,
                    "source": name,
                    "destination": "hub",
                    "source_port": FIRST_PORT,
                    "destination_port": 50000,
                    "start": "1s",
                    "stop": "10s",
                    "receiver_stop": "10s",
                    "application": on_off(rate, packet_bytes),
                    **usual_socket(defaults),
                }
                for name in names
            ],
        }
    )


_LEAVES = (*ON_OFF, *SOCKETS, *DEVICES)
_SETS = ("OnOffApplication::OnTime", "OnOffApplication::OffTime")
STAR = Program("star", STAR_OPTIONS, star, files=".pcap", leaves=_LEAVES, sets=_SETS)
TCP_STAR_SERVER = Program(
    "tcp-star-server", SERVER_OPTIONS, server, files=".tr and .pcap", leaves=_LEAVES, sets=_SETS
)
