"""draft-irtf-iccrg-tcpeval-01 (D. Hayes, D. Ros, L. Andrew, S. Floyd, 2014, expired)."""

from __future__ import annotations

from ccperf.catalogue.sets.named_set import Entry, Gap, NamedSet

TCPEVAL = NamedSet(
    name="tcpeval",
    title="draft-irtf-iccrg-tcpeval-01, Common TCP Evaluation Suite",
    url="https://datatracker.ietf.org/doc/html/draft-irtf-iccrg-tcpeval-01",
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
            "Basic scenario, trans-oceanic link: 1 Gbps, a round trip of 200 ms.",
            "scalability",
            {"bw": ("1Gbps",), "rtt": ("200ms",)},
        ),
        Entry(
            "4.4.4",
            "Basic scenario, geostationary satellite: 40 Mbps, a round trip of 600 ms and more.",
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
            "Delay and throughput as functions of the queue's size.",
            "buffer_sizing",
        ),
        Entry(
            "5.2",
            "Ramp-up time: one flow, from its start on, at 10 Mbps and at 1 Gbps.",
            "scalability",
            {"bw": ("10Mbps", "1Gbps"), "rtt": ("100ms",)},
        ),
        Entry(
            "5.3",
            "Transients: bandwidth that is released and taken.",
            "responsiveness_step",
            {"target": ("rate",)},
        ),
        Entry(
            "5.3",
            "Transients: flows that come one after the other.",
            "steady_state_start_time_fairness",
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
            "Background traffic from Tmix traces, at loads of 50 to 110 %.",
            "the traces are not ours to ship; no background, or flows of the algorithm",
        ),
        Gap("3", "Warm-up and prefill of that traffic.", "without it there is nothing to prefill"),
        Gap(
            "4.1",
            "Nine pairs of round trips on each dumbbell.",
            "the paths of the catalogue have one round trip, or those of the fairness experiments",
        ),
        Gap(
            "4.4.5",
            "A simulated WLAN with its access protocol.",
            "a trace of its rate stands for it",
        ),
        Gap("4.4.6", "Dial-up link of 64 kbps.", "no experiment is that slow; a scenario may be"),
        Gap(
            "5.3",
            "Releases of 75 of 100 Mbps of UDP.",
            "a step of the link's own rate, which the flow cannot tell from it",
        ),
        Gap(
            "6.1",
            "Camps of paired Tmix flows.",
            "one flow against one; harm is computed against the same flow beside its own kind",
        ),
        Gap(
            "6.2",
            "Starts drawn from the first tenth of the run.",
            "they start together, as the published experiment has it",
        ),
    ),
)
