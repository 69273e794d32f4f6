"""Where the engine does not do what ns-3 does, and where both do not do what the standard says.

The one source of `docs/fidelity.md` and of the site's page on fidelity.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Departure:
    """Something that the engine does in another way than ns-3 3.44."""

    what: str
    reason: str
    #: The test that pins it.
    test: str
    #: Its file, from the repository's root.
    file: str = "tests/verify/test_departures.py"


@dataclass(frozen=True)
class AgainstTheStandard:
    """Something in which ns-3 departs from an RFC, and the engine follows ns-3."""

    what: str
    source: str
    #: A case of the matrix in which it happens.
    case: str


@dataclass(frozen=True)
class End:
    """A legal scenario in which ns-3 aborts, crashes or does not return; the engine goes on."""

    what: str
    how: str
    #: The test that shows it with real ns-3.
    test: str


KNOWN = (
    Departure(
        "PrioQueueDisc's third band",
        "its default map names one that ns-3 does not create, where ns-3 aborts; ours uses the "
        "last one",
        "test_prio_third_band",
    ),
    Departure(
        "TbfQueueDisc, a wait that rounds to 0 ns",
        "becomes 1 ns; ns-3 never returns",
        "a_wait_that_rounds_to_nothing_takes_a_nanosecond",
        "crates/engine/src/net/qdisc/tbf.rs",
    ),
    Departure(
        "CoDelQueueDisc with `MinBytes` 0 and a queue emptied by drops",
        "returns nothing; ns-3 aborts",
        "test_codel_min_bytes_0_with_the_queue_emptied_by_drops",
    ),
    Departure(
        "`MaxWindowSize` 0, a window that stays closed",
        "is probed; ns-3 ends with a null pointer, as its listening socket probes, too",
        "test_closed_window_is_probed",
    ),
    Departure(
        "a reset at a port that has seen no SYN",
        "changes nothing; ns-3 takes it for a closed window, with the same end",
        "test_reset_at_a_port_that_has_seen_no_syn",
    ),
    Departure(
        "TcpWestwoodPlus",
        "takes its bandwidth sample when it is read, not by an event: differs only if an ACK "
        "falls on the very nanosecond of the sample",
        "an_ack_on_the_nanosecond_of_a_sample_counts_for_the_next",
        "crates/engine/src/host/congestion/westwood.rs",
    ),
    Departure(
        "a pacing rate of 0: of an empty window, of one whose bits are a multiple of 2^32, or of a "
        "round trip of 0 ns",
        "nothing waits; ns-3 divides by zero",
        "test_pacing_rate_that_wraps_to_0",
    ),
    Departure(
        "a ping after requests that found no way",
        "has its own round trip; ns-3 takes another request's time, or ends: it numbers those that "
        "are not sent, and does not keep them",
        "test_pings_that_found_no_way_are_lost_and_those_after_them_are_not",
    ),
    Departure(
        "a ping from a host of several links, after the one that it left by has failed",
        "keeps its source address; ns-3 takes that of the link by which it leaves then",
        "test_a_ping_keeps_its_source_address_when_its_way_fails",
    ),
    Departure(
        "a rate with a decimal fraction in a scenario",
        "is that number; ns-3 reads it through a double and cuts, so that its `8.03Mbps` is "
        "8029999bps and its `4.1Mbps` 4099999bps (`exec` reads them so, too)",
        "test_rates_are_what_they_say_but_for_programs_of_ns3",
    ),
    Departure(
        "bounds of some attributes",
        "narrower than ns-3's where ns-3 divides by zero or hangs, and where a value means "
        "nothing, as a negative gain or a probability above 1",
        "test_narrower_bounds_of_attributes",
    ),
)

AGAINST_RFCS = (
    AgainstTheStandard(
        "a partial ACK in Recovery sends one segment whatever the window says",
        "RFC 6675 section 5, step C",
        "recovery/PrrRfc6937-long",
    ),
    AgainstTheStandard(
        "duplicate ACKs in CWR start no fast retransmit",
        "RFC 3168 section 6.1.2, RFC 5681 section 3.2",
        "ecn/TcpPrrRecovery",
    ),
    AgainstTheStandard(
        "every retransmission timeout sets ssthresh anew, that of a retransmitted segment, too",
        "RFC 5681 section 3.1",
        "drop/again-twice",
    ),
    AgainstTheStandard(
        "the highest SACKed byte moves down by one segment when the hole below it is filled",
        "RFC 6675 section 2 (HighData, HighRxt)",
        "qdisc/FqCoDelQueueDisc-ways-20p",
    ),
    AgainstTheStandard(
        "the arithmetic of proportional rate reduction wraps at 32 bits",
        "RFC 6937 section 3.1",
        "published/scalability",
    ),
    AgainstTheStandard(
        "a socket with a type of service sends no ECT, whatever it negotiated",
        "RFC 3168 section 5",
        "priority/FqCoDelQueueDisc-ecn",
    ),
    AgainstTheStandard(
        "a packet that comes in fragments is marked if the last of them to come is, not if any is",
        "RFC 3168 section 5.3",
        "fragments/TcpDctcp-CoDelQueueDisc",
    ),
    AgainstTheStandard(
        "DCTCP's acknowledgement at a change of marks leaves out the last segment before it",
        "RFC 8257 section 3.2",
        "ecn/TcpDctcp-delayed-ack-2",
    ),
)

ENDS = (
    End(
        "a packet for the third band of PrioQueueDisc's default map",
        "aborts",
        "test_ns3_ends_there",
    ),
    End(
        "CoDelQueueDisc with `MinBytes` 0 drops the last packet of its queue",
        "aborts",
        "test_ns3_ends_there",
    ),
    End("a receiver's window stays closed", "crashes", "test_ns3_ends_there"),
    End("a reset comes to a port that has seen no SYN", "crashes", "test_ns3_ends_there"),
    End(
        "`LimitedTransmit` and `Sack` off, and data with room in the window after a duplicate ACK",
        "aborts",
        "test_ns3_ends_there",
    ),
    End("`ReTxThreshold` 0, at the first loss", "aborts", "test_ns3_ends_there"),
    End(
        "a connection of an on-off or constant source cannot be made, as all its SYNs are lost "
        "(`Can't connect`)",
        "aborts",
        "test_ns3_ends_there",
    ),
    End(
        "an acknowledgement with SACK blocks that was overtaken, after all data is acknowledged "
        "and the FIN is out",
        "crashes",
        "test_ns3_ends_there",
    ),
    End(
        "the acknowledgement that ends a reduction for ECN has SACK blocks with news, and "
        "duplicates were counted before it (`From OPEN->DISORDER but with N dup ACKs`); it takes "
        "packets that overtake each other",
        "aborts",
        "test_ns3_ends_there",
    ),
    End(
        "an echo reply comes after requests that found no way (`vector::_M_range_check` in `Ping`)",
        "aborts",
        "test_ns3_ends_there",
    ),
    End(
        "TcpCubic with `Beta` below 0.2 in congestion avoidance with a window of a segment or two",
        "does not return",
        "test_ns3_does_not_return_from_cubic_with_a_tiny_window",
    ),
    End(
        "TbfQueueDisc waits for less than half a nanosecond",
        "does not return",
        "test_ns3_does_not_return_from_a_wait_of_the_token_bucket",
    ),
)
