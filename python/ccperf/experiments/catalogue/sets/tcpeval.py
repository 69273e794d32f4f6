"""draft-irtf-iccrg-tcpeval-01 (D. Hayes, D. Ros, L. Andrew, S. Floyd, 2014, expired)."""

from __future__ import annotations

from ccperf.experiments.catalogue.sets.named_set import Entry, Gap, NamedSet

#: But those on metrics that every run has: 4.5 (utilisation, drop rate, queueing delay).
_SECTIONS = {
    "2": "Traffic generation",
    "3": "Achieving reliable results in minimum time",
    "4.1": "Basic topology",
    "4.2": "Traffic",
    "4.4.1": "Data Center",
    "4.4.2": "Access Link",
    "4.4.3": "Trans-Oceanic Link",
    "4.4.4": "Geostationary Satellite",
    "4.4.5": "Wireless LAN",
    "4.4.6": "Dial-up Link",
    "5.1": "Delay/throughput tradeoff as function of queue size",
    "5.2": "Ramp up time: completion time of one flow",
    "5.3": "Transients: release of bandwidth, arrival of many flows",
    "6.1": "Impact on standard TCP traffic",
    "6.2": "Intra-protocol and inter-RTT fairness",
    "6.2.2.1": "Intra-protocol fairness",
    "6.2.2.2": "Inter-RTT fairness",
    "6.3": "Multiple bottlenecks",
}

TCPEVAL = NamedSet(
    name="tcpeval",
    title="draft-irtf-iccrg-tcpeval-01, Common TCP Evaluation Suite",
    url="https://datatracker.ietf.org/doc/html/draft-irtf-iccrg-tcpeval-01",
    sections=_SECTIONS,
    entries=(
        Entry("4.4.1", "Basic scenario, data center: many senders to one.", "incast"),
        Entry(
            "4.4.2",
            "Basic scenario, access link of 100 Mbps.",
            "steady_state_single_flow",
            {"path": ("static.india_to_aws_india", "static.aws_california_to_mexico")},
        ),
        Entry(
            "4.4.3",
            "Basic scenario, trans-oceanic link: 1 Gbps, and the mean of its round trips.",
            "scalability",
            {"bw": ("1Gbps",), "rtt": ("230ms",)},
        ),
        Entry(
            "4.4.4",
            "Basic scenario, geostationary satellite of 40 Mbps: the path of another one.",
            "steady_state_single_flow",
            {"path": ("static.winds_satellite",)},
        ),
        Entry(
            "4.4.5",
            "Basic scenario, wireless LAN.",
            "replay_rate_trace",
            {"trace_file": ("wifi-like.csv",)},
        ),
        Entry(
            "5.1",
            "Delay and throughput with queues of 10 to 200 % of the bandwidth-delay product.",
            "buffer_sizing",
            {"buffer": (0.1, 0.2, 0.5, 1, 2)},
        ),
        Entry(
            "5.2",
            "Ramp-up time: a flow that begins where another has all the link.",
            "steady_state_start_time_fairness",
            {"k": (2,), "start_times": ("[0s,5s]",)},
        ),
        Entry(
            "5.3",
            "Transients: three quarters of the link that are released or taken at once.",
            "responsiveness_step",
            {"target": ("rate",)},
        ),
        Entry(
            "6.1",
            "Impact on standard TCP traffic: against NewReno with SACK.",
            "competition",
            {"against": ("TcpNewReno",)},
        ),
        Entry(
            "6.2.2.1",
            "Intra-protocol fairness: two flows of the same round trip, from 10 to 160 ms.",
            "steady_state_rtt_fairness",
            {
                "k": (2,),
                "rtts": (
                    "[10ms,10ms]",
                    "[20ms,20ms]",
                    "[40ms,40ms]",
                    "[80ms,80ms]",
                    "[160ms,160ms]",
                ),
                "path": ("static.default",),
            },
        ),
        Entry(
            "6.2.2.2",
            "Inter-RTT fairness: one flow of 160 ms, one of 10 to 80 ms.",
            "steady_state_rtt_fairness",
            {
                "k": (2,),
                "rtts": ("[160ms,10ms]", "[160ms,20ms]", "[160ms,40ms]", "[160ms,80ms]"),
                "path": ("static.default",),
            },
        ),
        Entry(
            "6.3",
            "Multiple bottlenecks: a parking lot of three.",
            "parking_lot",
            {"n": (3,)},
        ),
    ),
    gaps=(
        Gap(
            "2",
            "Background traffic from Tmix traces, with their packet sizes.",
            "the traces are not ours to ship; no background, or flows of the algorithm",
        ),
        Gap("3", "Warm-up and prefill of that traffic.", "without it there is nothing to prefill"),
        Gap(
            "4.1",
            "Nine pairs of round trips, 4 to 200 ms beside the link's own, on each dumbbell.",
            "the paths of the catalogue have one round trip, or those of the fairness experiments",
        ),
        Gap(
            "4.2",
            "Loads of 60, 85 and 110 % of the link.",
            "flows that send all the time; `bench --datacentre` has loads",
        ),
        Gap(
            "4.4.1",
            "Six hosts at 1 Gbps with the common traffic and 10 ms of buffer.",
            "a rack at 10 Gbps that answers one host",
        ),
        Gap(
            "4.4.3",
            "The link at its full rate from the start on, and 100 ms of buffer.",
            "16 Mbps for a quarter of the run, then all, and a buffer of one round trip",
        ),
        Gap(
            "4.4.4",
            "A return path of 4 Mbps, and 100 ms of buffer.",
            "the measured path has its rate both ways, 800 ms of buffer, and losses of its own",
        ),
        Gap(
            "4.4.5",
            "A simulated WLAN with its access protocol.",
            "a trace of its rate stands for it",
        ),
        Gap("4.4.6", "Dial-up link of 64 kbps.", "no experiment is that slow; a scenario may be"),
        Gap(
            "5.1",
            "A round trip of 100 ms at 100 Mbps under a load of 85 %.",
            "40 ms at 50 Mbps, with 1 and with 16 flows that send all the time",
        ),
        Gap(
            "5.2",
            "10 Mbps and 1 Gbps, pairs of round trips, half of the link taken by others, no slow "
            "start; when the new flow's byte 1500 * 10^n comes.",
            "two published paths and slow start; when the shares are fair: `convergence_time_l4`",
        ),
        Gap(
            "5.3",
            "Datagrams at 75 of 100 Mbps that begin, end or grow in 30 steps; when the window "
            "has 60, 80 and 90 % of the product; what the datagrams lose.",
            "a step of the link's own rate, which the flow cannot tell from it; "
            "`response_time_l4` and `settling_time_l4`",
        ),
        Gap(
            "6.1",
            "Camps of paired Tmix flows; gain and loss of each.",
            "one flow against one; its harm against what a flow has alone, for both algorithms",
        ),
        Gap(
            "6.2",
            "10 Mbps and 1 Gbps with buffers of 25 to 200 % of 100 ms; half of the link taken by "
            "others; starts drawn from the first tenth of the run.",
            "32 Mbps with 15 ms of buffer and nobody else; `--jitter 1500ms` draws such starts",
        ),
        Gap(
            "6.3",
            "100 Mbps, 60 ms, traffic both ways at loads of 60 to 100 %.",
            "20 Mbps, 40 ms, flows one way that send all the time",
        ),
    ),
)
