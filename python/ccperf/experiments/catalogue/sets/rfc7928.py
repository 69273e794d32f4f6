"""RFC 7928 (N. Kuhn et al., 2016): characterization guidelines for active queue management."""

from __future__ import annotations

from ccperf.experiments.catalogue.sets.named_set import Entry, Gap, NamedSet

#: Drop-tail and the disciplines with RFCs, and RED, which they are compared with.
_QDISCS = ("fifo", "codel", "fq_codel", "pie", "red")
#: The buffer of `aqm` lasts 15 ms, which is PIE's target by default: it would act as a FIFO.
_OF_AQM = ("fifo", "codel", "fq_codel", "pie:target=5ms", "red")

#: Section 8.2.1 projects the loss rate of N flows under drop-tail as 0.76 N^2 / S^2, where S is the
#: bandwidth-delay product and the buffer in packets: in `many_flows` two products of 500 Mbps and
#: 40 ms in packets of 1500 B. 0.1, 0.5 and 1 % are 0.036 S, 0.081 S and 0.114 S flows.
_S = 2 * round(500e6 * 0.04 / 12_000)
_MILD, _MEDIUM, _HEAVY = (round(share * _S) for share in (0.036, 0.081, 0.114))

#: But those on metrics that every run has: 2.1 (completion times), 2.3 (loss), 2.5 (goodput), 6.3.
_SECTIONS = {
    "2.2": "Flow Startup Time",
    "2.4": "Packet Loss Synchronization",
    "2.6": "Latency and Jitter",
    "2.7": "Discussion on the Trade-Off between Latency and Goodput",
    "3.2": "Buffer Size",
    "4.3": "Comparing AQM Schemes",
    "4.4": "Packet Sizes and Congestion Notification",
    "4.5": "Interaction with ECN",
    "4.6": "Interaction with Scheduling",
    "5.1.1": "TCP-Friendly Sender with the Same Initial Congestion Window",
    "5.1.2": "TCP-Friendly Sender with Different Initial Congestion Windows",
    "5.2": "Aggressive Transport Sender",
    "5.3": "Unresponsive Transport Sender",
    "5.4": "Less-than-Best-Effort Transport Sender",
    "6.2": "Recommended Tests",
    "7.2": "Recommended Tests",
    "8.2.2": "Mild Congestion",
    "8.2.3": "Medium Congestion",
    "8.2.4": "Heavy Congestion",
    "8.2.5": "Varying the Congestion Level",
    "8.2.6": "Varying Available Capacity",
    "8.3": "Parameter Sensitivity and Stability Analysis",
    "9.1": "Traffic Mix",
    "9.2": "Bidirectional Traffic",
    "10": "Example of a Multi-AQM Scenario",
    "11": "Implementation Cost",
    "12": "Operator Control and Auto-Tuning",
}

RFC7928 = NamedSet(
    name="rfc7928",
    title="RFC 7928, Characterization Guidelines for Active Queue Management",
    url="https://www.rfc-editor.org/rfc/rfc7928",
    sections=_SECTIONS,
    entries=(
        Entry(
            "3.2",
            "Buffers of several sizes under drop-tail, to compare with.",
            "buffer_sizing",
            {"buffer": (0.5, 1, 2, 5)},
        ),
        Entry(
            "5.1.1",
            "One TCP-friendly sender, and a few, under each discipline.",
            "aqm",
            {"k": (1, 2), "qdisc": _OF_AQM},
        ),
        Entry(
            "5.2",
            "Aggressive senders: name one (cubic, highspeed, scalable) as algorithm under test.",
            "aqm",
            {"k": (1,), "qdisc": _OF_AQM},
        ),
        Entry(
            "5.3",
            "A sender that does not respond beside one that does.",
            "cross_traffic",
            {"load": (0.6,), "reverse": ("none",)},
        ),
        Entry(
            "5.4",
            "A less-than-best-effort sender beside one that is not.",
            "competition",
            {"against": ("TcpLedbat",), "buffer": (1, 4)},
        ),
        Entry(
            "6.2",
            "Two flows, one with a round trip of 100 ms, one with 5 to 560 ms.",
            "steady_state_rtt_fairness",
            {
                "k": (2,),
                "rtts": tuple(f"[100ms,{rtt}ms]" for rtt in (5, 20, 100, 200, 560)),
                "path": ("static.default",),
            },
        ),
        Entry("7.2", "Absorption of bursts: many answers at once.", "incast"),
        Entry(
            "7.2",
            "Absorption of bursts: an application that writes chunks of video.",
            "application_limited",
        ),
        Entry("7.2", "Absorption of bursts: transfers of a web page.", "short_against_long"),
        Entry(
            "8.2.2",
            "Stability under mild congestion: a projected loss of 0.1 %.",
            "many_flows",
            {"k": (_MILD,), "qdisc": _QDISCS},
        ),
        Entry(
            "8.2.3",
            "Stability under medium congestion: a projected loss of 0.5 %.",
            "many_flows",
            {"k": (_MEDIUM,), "qdisc": _QDISCS},
        ),
        Entry(
            "8.2.4",
            "Stability under heavy congestion: a projected loss of 1 %.",
            "many_flows",
            {"k": (_HEAVY,), "qdisc": _QDISCS},
        ),
        Entry(
            "8.2.5",
            "A congestion level that varies: flows that start one after the other.",
            "steady_state_start_time_fairness",
        ),
        Entry(
            "8.2.6",
            "A capacity of 10 and 100 Mbps in turn, for 5 s each and for 100 ms each.",
            "responsiveness_pulse_wave",
            {
                "target": ("rate",),
                "period": ("10s", "200ms"),
                "lower": ("10Mbps",),
                "upper": ("100Mbps",),
            },
        ),
        Entry("8.2.6", "An available capacity that varies as on radio.", "replay_rate_trace"),
        Entry("9.1", "A mix of traffic: bulk and web.", "short_against_long"),
        Entry(
            "9.2",
            "Traffic in both directions.",
            "cross_traffic",
            {"reverse": ("tcp",)},
        ),
        Entry("4.5", "Marks in place of losses.", "ecn"),
    ),
    gaps=(
        Gap(
            "2.2",
            "The time from a flow's request to its first byte.",
            "completion times of whole flows only, as slowdown over an empty path",
        ),
        Gap(
            "2.4",
            "How far flows lose at the same time.",
            "no metric; the series of each flow's retransmissions are in the recording",
        ),
        Gap(
            "2.6",
            "Packet delay variation.",
            "percentiles of round trips and of the time in the queue instead",
        ),
        Gap(
            "2.7",
            "A graph of delay against goodput with ellipses of 1 standard deviation.",
            "the operating point of each flow without ellipses, and distributions of both",
        ),
        Gap(
            "4.3",
            "Each discipline over a range of its settings.",
            "one setting of each, ns-3's; `run aqm --qdisc codel:Target=1ms/5ms/20ms` runs others",
        ),
        Gap("4.4", "Packets of several sizes.", "all packets of an experiment have one size"),
        Gap(
            "4.5",
            "The tests of section 6.2 with marks in place of losses.",
            "marks for flows of one round trip only: `ecn`",
        ),
        Gap("4.6", "The discipline under a scheduler.", "`bench --datacentre` has such, no set"),
        Gap(
            "5.1.1",
            "An initial window of 3 packets.",
            "10, as RFC 6928 has it; in a scenario of one's own: `tcp.InitialCwnd`",
        ),
        Gap(
            "5.1.2",
            "Senders with unlike initial windows.",
            "all flows of an experiment have 10 segments; in a scenario of one's own: "
            "`tcp.InitialCwnd`",
        ),
        Gap(
            "5.3 to 9",
            "Each of these under each discipline.",
            "only `aqm` and `many_flows` take one; the others have drop-tail queues. In a scenario "
            "of one's own every link may have any",
        ),
        Gap(
            "5.3",
            "Datagrams without a pause: alone above the link's rate, or above half of it beside a "
            "flow.",
            "ours come and go, with a mean of 60 % of the link's rate, beside a flow",
        ),
        Gap(
            "5.4",
            "LEDBAT with a target of 5 ms and a gain of 10.",
            "the catalogue's has ns-3's defaults; in a scenario of one's own both are attributes",
        ),
        Gap(
            "7.2",
            "Four mixes of web pages over six connections, video, datagrams and a bulk flow.",
            "each of them alone or beside a bulk flow, never all at once",
        ),
        Gap(
            "8.2.5",
            "Phases of mild, medium and heavy congestion, from when all flows avoid congestion.",
            "flows come one after the other, and none leaves",
        ),
        Gap(
            "8.2.6",
            "Phases of 20 s.",
            "of 5 s, in runs of 15 s; longer ones with `--period 40s --stop-time 80s`",
        ),
        Gap("8.3", "Sensitivity to the discipline's parameters.", "a sweep of one's own"),
        Gap("9.1", "VoIP and adaptive video beside web and bulk traffic.", "no such applications"),
        Gap(
            "9.2",
            "Mild congestion (8.2.2) in both directions.",
            "one flow each way, and datagrams one way",
        ),
        Gap("10", "Several disciplines on one path.", "a scenario of one's own: no experiment"),
        Gap("11", "Implementation cost.", "not measured: it is that of routers, not of a model"),
        Gap("12", "Operator control and tuning.", "an argument, not a run"),
    ),
)
