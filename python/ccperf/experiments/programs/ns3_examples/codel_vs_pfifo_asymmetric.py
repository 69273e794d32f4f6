"""ns-3's ``codel-vs-pfifo-asymmetric.cc`` of traffic control: a cable modem.

``server - cmts - router - host`` with 22 Mbps down and 5 Mbps up in the middle: bulk transfers over
TCP and on-off sources over UDP both ways. Nobody listens to the latter, so that the hosts answer
them with messages of ICMP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ns3_examples.codel_vs_pfifo import LENGTH, PACKET, bulk
from ccperf.experiments.programs.ns3_examples.parts import FIRST_PORT, direction, link, on_off
from ccperf.experiments.programs.program import (
    Defaults,
    Option,
    Program,
    Values,
    choice,
    rate,
    time,
)

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

#: Ports from which a host may send, as many as there are flows of one kind.
_MOST_FLOWS = 1000

OPTIONS = {
    "serverCmtsDelay": Option("time", "15ms", "between server and CMTS"),
    "cmtsRouterDelay": Option("time", "6ms", "between CMTS and router"),
    "routerHostDelay": Option("time", "0.1ms", "between router and host"),
    "serverLanDataRate": Option("rate", "10Gbps", "of the server"),
    "cmtsLanDataRate": Option("rate", "10Gbps", "of the CMTS towards the server"),
    "cmtsWanDataRate": Option("rate", "22Mbps", "of the CMTS towards the router"),
    "routerWanDataRate": Option("rate", "5Mbps", "of the router towards the CMTS"),
    "routerLanDataRate": Option("rate", "10Gbps", "of the router towards the host"),
    "hostLanDataRate": Option("rate", "10Gbps", "of the host"),
    "routerWanQueueDiscType": Option(
        "text", "CoDel", "of the router towards the CMTS: PfifoFast or CoDel"
    ),
    "queueSize": Option("uint32", 1000, "of the disciplines, packets"),
    "pktSize": PACKET,
    "numOfUpLoadBulkFlows": Option("uint32", 1, "transfers from the host"),
    "numOfDownLoadBulkFlows": Option("uint32", 1, "transfers to the host"),
    "numOfUpLoadOnOffFlows": Option("uint32", 1, "datagrams from the host"),
    "numOfDownLoadOnOffFlows": Option("uint32", 1, "datagrams to the host"),
    **LENGTH,
    "isPcapEnabled": Option("bool", True, "pcap", files=".pcap"),
    "logging": Option("bool", True, "to standard error"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    stop, transfer = bulk(values, defaults)
    limit = f"{values['queueSize']}p"
    kind = choice(
        "--routerWanQueueDiscType", values["routerWanQueueDiscType"], ("PfifoFast", "CoDel")
    )
    fifo = defaults.qdisc("PfifoFastQueueDisc", MaxSize=limit)
    uplink = defaults.qdisc(f"{kind}QueueDisc", MaxSize=limit)

    def hop(name: str, ends: tuple[str, str], number: int, rates: tuple[str, str]) -> Any:
        there, back = (rate(values[f"{device}DataRate"]) for device in rates)
        reverse = direction(uplink if name == "cmtsRouter" else fifo, rate=back)
        delay = time(values[f"{name}Delay"])
        return link(name, ends, f"10.1.{number}", there, delay, direction(fifo), reverse)

    datagrams: dict[str, Any] = {
        "transport": "UDP",
        "stop": transfer["stop"],
        "receiver_stop": "0s",
        "application": on_off("500kbps", 280, off_time="1s"),
    }

    def flows(way: str, ends: tuple[str, str], port: int) -> list[dict[str, Any]]:
        made = []
        for name, own in ((f"{way}LoadBulkFlows", transfer), (f"{way}LoadOnOffFlows", datagrams)):
            count = values[f"numOf{name}"]
            if count > _MOST_FLOWS:
                raise UsageError(f"--numOf{name}", f"{count} is more than {_MOST_FLOWS}")
            made += [
                {
                    "source": ends[0],
                    "destination": ends[1],
                    "source_port": FIRST_PORT + i,
                    "destination_port": port,
                    **own,
                }
                for i in range(count)
            ]
        return made

    return Scenario.model_validate(
        {
            "stop_time": stop,
            "seed": rng_run,
            "nodes": ["server", "cmts", "router", "host"],
            "links": [
                hop("serverCmts", ("server", "cmts"), 1, ("serverLan", "cmtsLan")),
                hop("cmtsRouter", ("cmts", "router"), 2, ("cmtsWan", "routerWan")),
                hop("routerHost", ("router", "host"), 3, ("routerLan", "hostLan")),
            ],
            "flows": [
                *flows("Down", ("server", "host"), 50000),
                *flows("Up", ("host", "server"), 50001),
            ],
        }
    )


PROGRAM = Program(
    "codel-vs-pfifo-asymmetric",
    OPTIONS,
    build,
    files="its .tr traces and its attributes",
    paths=(
        (r"links\[\d\]\.(forward|reverse)\.qdisc.*MaxSize", "--queueSize"),
        (r"flows\[\d+\]\.(application\.write|tcp\.SegmentSize)", "--pktSize"),
        (r"stop_time|flows\[\d+\]\.(stop|receiver_stop)|recording\.interval", "--simDuration"),
    ),
)
