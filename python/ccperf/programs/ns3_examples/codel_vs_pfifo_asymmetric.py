"""ns-3's ``codel-vs-pfifo-asymmetric.cc`` of traffic control: a cable modem.

``server - cmts - router - host`` with 22 Mbps down and 5 Mbps up in the middle: bulk transfers over
TCP and on-off sources over UDP both ways. Nobody listens to the latter, so that the hosts answer
them with messages of ICMP. Its default packets are larger than the links' MTU with their headers,
so that ns-3 sends them in fragments, which are not modelled here: give a --pktSize of 1448 or less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.programs.ns3_examples.parts import FIRST_PORT, MOST_DATA, direction, link, on_off
from ccperf.programs.program import (
    Defaults,
    Option,
    Program,
    Values,
    choice,
    float32,
    ns_of,
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
    "pktSize": Option("uint32", 1458, "data in a packet, bytes; here 1448 at most"),
    "numOfUpLoadBulkFlows": Option("uint32", 1, "transfers from the host"),
    "numOfDownLoadBulkFlows": Option("uint32", 1, "transfers to the host"),
    "numOfUpLoadOnOffFlows": Option("uint32", 1, "datagrams from the host"),
    "numOfDownLoadOnOffFlows": Option("uint32", 1, "datagrams to the host"),
    "startTime": Option("real", 0.1, "seconds, only adds to the length"),
    "simDuration": Option("real", 60.0, "seconds"),
    "isPcapEnabled": Option("bool", True, "pcap", files=".pcap"),
    "logging": Option("bool", True, "to standard error"),
}


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program simulates."""
    from ccperf.scenario import Scenario

    size = values["pktSize"]
    if not 1 <= size <= MOST_DATA:
        raise UsageError(
            "--pktSize",
            f"packets with {size} bytes of data are not from 1 to {MOST_DATA}: larger ones are "
            "sent in fragments, which are not modelled",
        )
    # The program computes in single precision.
    stop = float32(float32(values["startTime"]) + float32(values["simDuration"]))
    source_stop = float32(stop - 3)
    if source_stop <= 0:
        raise UsageError(
            "--simDuration", f"{stop:g} s in all end before the sources stop, 3 s less"
        )
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

    bulk: dict[str, Any] = {
        "stop": time(ns_of(source_stop)),
        "receiver_stop": time(ns_of(stop)),
        "application": {"type": "Greedy", "write": f"{size}B"},
        "cc": defaults.cc("TcpCubic"),
        "recovery": "TcpPrrRecovery",
        "tcp": defaults.tcp(SegmentSize=size),
    }
    datagrams: dict[str, Any] = {
        "transport": "UDP",
        "stop": time(ns_of(source_stop)),
        "receiver_stop": "0s",
        "application": on_off("500kbps", 280, off_time="1s"),
    }

    def flows(way: str, ends: tuple[str, str], port: int) -> list[dict[str, Any]]:
        made = []
        for name, own in ((f"{way}LoadBulkFlows", bulk), (f"{way}LoadOnOffFlows", datagrams)):
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
            "stop_time": time(ns_of(stop)),
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
