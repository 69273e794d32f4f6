"""RFC 7928 (N. Kuhn et al., 2016): characterization guidelines for active queue management."""

from __future__ import annotations

from ccperf.catalogue.sets.named_set import Entry, Gap, NamedSet

#: Drop-tail and the disciplines with RFCs, and RED, which they are compared with.
_QDISCS = ("fifo", "codel", "fq_codel", "pie", "red")

RFC7928 = NamedSet(
    name="rfc7928",
    title="RFC 7928, Characterization Guidelines for Active Queue Management",
    url="https://www.rfc-editor.org/rfc/rfc7928",
    entries=(
        Entry(
            "3.2",
            "Buffers of several sizes under drop-tail, to compare with.",
            "buffer_sizing",
            {"buffer": (0.5, 1, 2, 5)},
        ),
        Entry(
            "5.1",
            "One TCP-friendly sender, and a few, under each discipline.",
            "aqm",
            {"k": (1, 2), "qdisc": _QDISCS},
        ),
        Entry(
            "5.2",
            "Aggressive senders: name one (cubic, highspeed, scalable) as algorithm under test.",
            "aqm",
            {"k": (1,), "qdisc": _QDISCS},
        ),
        Entry(
            "5.3",
            "A sender that does not respond beside one that does.",
            "cross_traffic",
            {"reverse": ("none",)},
        ),
        Entry(
            "5.4",
            "A less-than-best-effort sender beside one that is not.",
            "competition",
            {"against": ("TcpLedbat",), "buffer": (1, 4)},
        ),
        Entry("6", "Flows with unlike round trips.", "steady_state_rtt_fairness"),
        Entry("7", "Absorption of bursts: many answers at once.", "incast"),
        Entry(
            "7",
            "Absorption of bursts: an application that writes chunks of video.",
            "application_limited",
        ),
        Entry("7", "Absorption of bursts: transfers of a web page.", "short_against_long"),
        Entry(
            "8.2",
            "Stability under mild, medium and heavy congestion.",
            "aqm",
            {"k": (1, 5, 10), "qdisc": _QDISCS},
        ),
        Entry(
            "8.2",
            "Stability under the heaviest congestion: hundreds of flows.",
            "many_flows",
            {"qdisc": _QDISCS},
        ),
        Entry(
            "8.2",
            "A congestion level that varies: flows that start one after the other.",
            "steady_state_start_time_fairness",
        ),
        Entry(
            "8.2",
            "An available capacity that varies.",
            "responsiveness_pulse_wave",
            {"target": ("rate",)},
        ),
        Entry("8.2", "An available capacity that varies as on radio.", "replay_rate_trace"),
        Entry("9.1", "A mix of traffic: bulk and web.", "short_against_long"),
        Entry(
            "9.2",
            "Traffic in both directions.",
            "cross_traffic",
            {"reverse": ("tcp",)},
        ),
        Entry("4", "Marks in place of losses.", "ecn"),
    ),
    gaps=(
        Gap(
            "5.1",
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
        Gap("9.1", "VoIP and adaptive video beside web and bulk traffic.", "no such applications"),
        Gap("10", "Several disciplines on one path.", "a scenario of one's own: no experiment"),
        Gap("11", "Implementation cost.", "not measured: it is that of routers, not of a model"),
        Gap("12", "Operator control and tuning.", "an argument, not a run"),
    ),
)
