"""RFC 9743 (M. Duke, G. Fairhurst, 2025): specifying new congestion control algorithms."""

from __future__ import annotations

from ccperf.experiments.catalogue.sets.named_set import Entry, Gap, NamedSet

_SECTIONS = {
    "3.1": "Guidelines for Authors about Evaluation",
    "4": "Specifying Algorithms for Use in Controlled Environments",
    "5.1.1": "Protection Against Congestion Collapse",
    "5.1.2": "Protection Against Bufferbloat",
    "5.1.3": "Protection Against High Packet Loss",
    "5.1.4": "Fairness Within the Proposed Congestion Control Algorithm",
    "5.1.5": "Short Flows",
    "5.2": "Mixed Algorithm Behavior",
    "5.2.1": "Existing General-Purpose Congestion Control",
    "5.2.2": "Real-Time Congestion Control",
    "5.2.3": "Short and Long Flows",
    "5.3": "Other Criteria",
    "5.3.1": "Differences with Congestion Control Principles",
    "5.3.2": "Incremental Deployment",
    "6.1": "Paths with Tail-Drop Queues",
    "6.2": "Tunnel Behavior",
    "6.3": "Wired Paths",
    "6.4": "Wireless Paths",
    "7.1": "Active Queue Management (AQM)",
    "7.2": "Operation with the Envelope Set by Network Circuit Breakers",
    "7.3": "Paths with Varying Delay",
    "7.4": "Internet of Things and Constrained Nodes",
    "7.5": "Paths with High Delay",
    "7.6": "Misbehaving Nodes",
    "7.7": "Extreme Packet Reordering",
    "7.8": "Transient Events",
    "7.9": "Sudden Changes in the Path",
    "7.10": "Multipath Transport",
    "7.11": "Data Centers",
    "8": "Security Considerations",
}

RFC9743 = NamedSet(
    name="rfc9743",
    title="RFC 9743, Specifying New Congestion Control Algorithms",
    url="https://www.rfc-editor.org/rfc/rfc9743",
    sections=_SECTIONS,
    entries=(
        Entry(
            "5.1.1",
            "No congestion collapse: many flows of the algorithm share a bottleneck.",
            "many_flows",
            {"qdisc": ("fifo",)},
        ),
        Entry(
            "5.1.1",
            "Full backoff: a path that loses a third or half of all packets.",
            "loss_resilience",
            {"loss": (0.33, 0.5)},
        ),
        Entry(
            "5.1.2",
            "No bufferbloat: what stands in buffers of several bandwidth-delay products.",
            "buffer_sizing",
            {"buffer": (1, 2, 5, 10)},
        ),
        Entry(
            "5.1.3",
            "No high loss: what is lost in shallow buffers.",
            "buffer_sizing",
            {"buffer": (0.1, 0.25, 0.5)},
        ),
        Entry(
            "5.1.4",
            "Fairness between flows of the algorithm that start together.",
            "steady_state_synchronous_fairness",
        ),
        Entry(
            "5.1.4",
            "Fairness between flows of the algorithm that start one after the other.",
            "steady_state_start_time_fairness",
        ),
        Entry(
            "5.1.4",
            "Fairness between flows of the algorithm with unlike round trips.",
            "steady_state_rtt_fairness",
        ),
        Entry(
            "5.1.5",
            "Short flows, which end in slow start, beside a long one.",
            "short_against_long",
        ),
        Entry(
            "5.2.1",
            "Beside Reno (RFC 5681) and CUBIC (RFC 9438): shares and harm, one against one.",
            "competition",
            {"against": ("TcpNewReno", "TcpCubic")},
        ),
        Entry(
            "5.2.1",
            "Beside what is deployed widely though no standard: BBR.",
            "competition",
            {"against": ("TcpBbr",)},
        ),
        Entry("5.2.1", "One flow of the algorithm among several of a standard.", "n_against_one"),
        Entry(
            "5.2.2",
            "Beside traffic that does not fill the path and cannot wait: datagrams at a rate.",
            "cross_traffic",
            {"reverse": ("none",)},
        ),
        Entry(
            "5.2.3",
            "Beside long flows of other algorithms.",
            "competition",
            {"against": ("TcpNewReno", "TcpCubic", "TcpBbr")},
        ),
        Entry("6.1", "Tail-drop queues, from a tenth to ten products.", "buffer_sizing"),
        Entry("6.3", "Wired paths of several rates and delays, up from 16 Mbps.", "scalability"),
        Entry("6.3", "Measured wired paths.", "steady_state_single_flow"),
        Entry("6.4", "Wireless paths: losses without congestion.", "loss_resilience"),
        Entry("6.4", "Wireless paths: losses in bursts.", "bursty_loss"),
        Entry("6.4", "Wireless paths: a capacity that varies.", "replay_rate_trace"),
        Entry("6.4", "Wireless paths: a rate, delay and loss that walk.", "random_walk"),
        Entry("6.4", "Wireless paths: packets that wait for the medium.", "jitter"),
        Entry(
            "7.1",
            "Active queue management: CoDel, FQ-CoDel (RFC 8290), PIE (RFC 8033), RED.",
            "aqm",
            # With PIE's target of 15 ms, which the buffer lasts, it would act as a FIFO.
            {"qdisc": ("codel", "fq_codel", "pie:target=5ms", "red")},
        ),
        Entry("7.1", "Marks instead of losses (RFC 3168).", "ecn"),
        Entry("7.3", "Paths with varying delay.", "jitter"),
        Entry(
            "7.3",
            "A least delay that changes once.",
            "responsiveness_step",
            {"target": ("rtt",)},
        ),
        Entry(
            "7.3",
            "A least delay that alternates.",
            "responsiveness_pulse_wave",
            {"target": ("rtt",)},
        ),
        Entry(
            "7.4",
            "Constrained nodes: a path of few packets a second.",
            "replay_rate_trace",
            {"trace_file": ("0.57mbps-poisson.trace",)},
        ),
        Entry(
            "7.5",
            "Paths with high delay: a satellite's.",
            "steady_state_single_flow",
            {"path": ("static.winds_satellite",)},
        ),
        Entry(
            "7.5",
            "Paths with high delay and rate.",
            "scalability",
            {"bw": ("64Mbps", "256Mbps"), "rtt": ("300ms", "600ms")},
        ),
        Entry("7.7", "Extreme packet reordering.", "reordering"),
        Entry(
            "7.7",
            "Reordering of many packets by a little.",
            "jitter",
            {"order": ("free",)},
        ),
        Entry(
            "7.8", "Transient events: a step of rate, round trip or loss.", "responsiveness_step"
        ),
        Entry("7.8", "Transient events: many senders at once.", "incast"),
        Entry(
            "7.9",
            "Sudden changes in the path, again and again.",
            "responsiveness_pulse_wave",
        ),
        Entry("7.11", "Data centres: many to one.", "incast"),
    ),
    gaps=(
        Gap(
            "3.1",
            "Experience with implementations by independent teams, in the Internet.",
            "what is run here is a simulation",
        ),
        Gap(
            "4",
            "Algorithms for controlled environments only.",
            "a matter of what is claimed, not of a run; `bench --datacentre` has their networks",
        ),
        Gap(
            "5.2",
            "Back-off after a loss of all feedback.",
            "a path that is gone for a while: `failures` of scenarios of one's own, no set",
        ),
        Gap(
            "5.2.1",
            "Beside the congestion control of QUIC (RFC 9002).",
            "there is no QUIC here; its window follows the laws of NewReno, which there is",
        ),
        Gap(
            "5.2.2",
            "Real-time congestion control (RFC 8867, RFC 8868).",
            "there is no such algorithm here; datagrams at a rate stand for what it sends",
        ),
        Gap(
            "5.2.3",
            "Short flows of one algorithm beside a long one of another.",
            "all flows of `short_against_long` are of the algorithm under test; in a scenario of "
            "one's own each flow has its own",
        ),
        Gap(
            "5.3", "Differences with principles, incremental deployment.", "an argument, not a run"
        ),
        Gap("6.2", "Tunnels.", "there are no tunnels here"),
        Gap(
            "7.2",
            "The envelope of network circuit breakers (RFC 8084).",
            "there are none here; `policer` shows a rate that is enforced",
        ),
        Gap("7.4", "Power, memory and computation of constrained nodes.", "not modelled"),
        Gap("7.6", "Misbehaving receivers, senders, routers.", "there are none here"),
        Gap(
            "7.8",
            "Routes that change, links that are gone for a while, mobility.",
            "`failures` of scenarios of one's own, no set",
        ),
        Gap("7.10", "Multipath transport.", "there is no multipath transport here"),
        Gap(
            "7.1",
            "L4S (RFC 9332).",
            "a set of its own: `--set l4s`",
        ),
        Gap("8", "What attackers can make of the algorithm.", "an argument, not a run"),
    ),
)
