"""RFC 9331 (K. De Schepper, B. Briscoe, 2023): what L4S asks of congestion controls."""

from __future__ import annotations

from ccperf.experiments.catalogue.sets.named_set import Entry, Gap, NamedSet

_SECTIONS = {
    "4.2": "Prerequisite Transport Feedback",
    "4.3": "Prerequisite Congestion Response",
    "4.3.1": "Guidance on Congestion Response in the RFC Series",
    "4.4": "Filtering or Smoothing of ECN Feedback",
    "5.1": "L4S Packet Classification and Its Interaction with Classic",
    "5.2": "Meaning of CE Relative to Drop",
}

#: Of all flows, from a home's access to an office's.
_RATES = ("10Mbps", "40Mbps", "100Mbps", "200Mbps")
_RTTS = ("[5ms,5ms]", "[10ms,10ms]", "[25ms,25ms]", "[50ms,50ms]", "[100ms,100ms]")

L4S = NamedSet(
    name="l4s",
    title="RFC 9331, The ECN Protocol for L4S, over DualPI2 (RFC 9332)",
    url="https://www.rfc-editor.org/rfc/rfc9331",
    sections=_SECTIONS,
    entries=(
        Entry(
            "4.2",
            "Feedback of the share of marks: beside CUBIC with AccECN (RFC 9768).",
            "l4s",
            {"ecn": ("accurate",)},
        ),
        Entry(
            "5.2",
            "Alone: a queue of about a millisecond, and a busy link.",
            "l4s",
            {"mix": ("1:0",), "rate": _RATES, "rtts": _RTTS},
        ),
        Entry(
            "5.2",
            "Beside CUBIC without ECN, over rates and round trips: about the same rate for each.",
            "l4s",
            {"mix": ("1:1",), "rate": _RATES, "rtts": _RTTS},
        ),
        Entry(
            "5.2",
            "Beside CUBIC with ECN, which is marked with the square of the probability.",
            "l4s",
            {"mix": ("1:1",), "ecn": ("classic",), "rtts": _RTTS},
        ),
        Entry(
            "5.1",
            "Mixes of several flows of both.",
            "l4s",
            {"mix": ("1:3", "3:1", "3:3")},
        ),
        Entry(
            "5.1",
            "Classic traffic alone, which has no other queue than before.",
            "l4s",
            {"mix": ("0:1",), "rtts": _RTTS},
        ),
        Entry(
            "4.3",
            "Reduced dependence on the round trip: flows of the same kind with unlike ones.",
            "l4s",
            {
                "against": ("TcpPrague",),
                "mix": ("1:1",),
                "rtts": ("[5ms,25ms]", "[10ms,25ms]", "[25ms,50ms]", "[25ms,100ms]"),
            },
        ),
        Entry(
            "4.3",
            "A loss is answered as by Reno: beside Reno and CUBIC in a drop-tail queue.",
            "competition",
            {"against": ("TcpNewReno", "TcpCubic")},
        ),
        Entry(
            "4.3",
            "Losses are detected in units of time: reordering.",
            "reordering",
        ),
        Entry("4.3", "Marks of one queue for all, alone in it.", "ecn"),
    ),
    gaps=(
        Gap(
            "4.3",
            "Beside classic traffic in one queue that marks (RFC 3168).",
            "no experiment has one; your own scenarios may",
        ),
        Gap(
            "4.3",
            "Windows below one segment.",
            "the least window is two segments, as in Linux",
        ),
        Gap("4.3.1", "Guidance to authors of RFCs.", "an argument, not a run"),
        Gap("4.4", "Smoothing in the network.", "what DualPI2 marks is marked at once"),
    ),
)
