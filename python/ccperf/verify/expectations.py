"""ns-3's own test suites of TCP and of queue disciplines: of which of their numbers the engine was
asked, and of which not.

`tests/differential` asks: calls of congestion controls in `expectations.toml`, whole connections in
`test_socket*.py`, queue disciplines in `test_disciplines.py`; where the peer of a socket is of the
suite's own making, the engine's unit tests do, in files called `ns3_suites.rs`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """A test suite of ns-3 3.44, or several with the same reason."""

    name: str
    #: How many cases it has.
    cases: int
    #: Those whose numbers the engine was asked for, each with the same result.
    same: int
    #: Why others, or parts of them, were not.
    rest: str = ""


_PRIVATE = "the others set or read private members: "
_INTERFACES = "of C++ interfaces that the engine does not have: "
_FILTERS = "of packet filters of the suite's own, which give every packet a hash of its choice"

SUITES = (
    Suite("tcp-bic-test", 11, 2, _PRIVATE + "the last maximum (`m_lastMaxCwnd`)"),
    Suite("tcp-highspeed-test", 426, 426),
    Suite("tcp-htcp-test", 3, 3),
    Suite("tcp-hybla-test", 6, 6),
    Suite("tcp-illinois-test", 4, 4),
    Suite("tcp-ledbat-test", 4, 4),
    Suite("tcp-lp-test", 3, 3),
    Suite("tcp-scalable-test", 6, 6),
    Suite("tcp-vegas-test", 5, 5),
    Suite("tcp-veno-test", 3, 3),
    Suite("tcp-yeah-test", 6, 6),
    Suite("tcp-bbr-test", 6, 2, _PRIVATE + "its phase, by `EnterStartup` and the like"),
    Suite("tcp-classic-recovery-test", 6, 6, "the inflated window, which only a trace shows"),
    Suite("tcp-prr-recovery-test", 4, 4),
    Suite("rtt-estimator", 1, 1, "gains other than RFC 6298's, which a scenario cannot set"),
    Suite("tcp-rate-ops", 8, 8),
    Suite("tcp-advertised-window-test", 7, 7),
    Suite("tcp-bytes-in-flight-test", 4, 4),
    Suite("tcp-close", 2, 2),
    Suite("tcp-cong-avoid-test", 10, 10),
    Suite("tcp-dctcp-test", 4, 4),
    Suite("tcp-ecn-test", 6, 6),
    Suite("tcp-fast-retr-test", 2, 2),
    Suite("tcp-linux-reno-test", 8, 8),
    Suite("tcp-loss-test", 2, 2),
    Suite("tcp-pacing-test", 6, 6),
    Suite("tcp-pkts-acked-test", 1, 1),
    Suite("tcp-rto-test", 4, 4),
    Suite("tcp-rtt-estimation-test", 10, 10),
    Suite("tcp-sack-permitted", 4, 4),
    Suite("tcp-slow-start-test", 5, 5),
    Suite("tcp-timestamp", 9, 9),
    Suite("tcp-wscaling", 10, 10),
    Suite("tcp-zero-window-test", 1, 1, "a buffer that grows while the connection is open"),
    Suite("ns3-tcp-cubic", 4, 4),
    Suite("ns3-tcp-loss", 10, 10),
    Suite("ns3-tcp-state", 9, 9),
    Suite("tcp-syn-connection-failed-test", 2, 2),
    Suite("ns3-tcp-no-delay", 2, 2),
    Suite("ns3-tcp-socket", 2, 2, "the medium of the second, CSMA, without which it is asked"),
    Suite("fifo-queue-disc", 1, 1),
    Suite(
        "codel-queue-disc", 10, 8, _PRIVATE + "the Newton step and the control law by themselves"
    ),
    Suite("cobalt-queue-disc", 9, 9, "the probability of drops itself (`GetPdrop`)"),
    Suite("red-queue-disc", 1, 1),
    Suite("adaptive-red-queue-disc", 1, 1),
    Suite(
        "pie-queue-disc",
        1,
        1,
        "what it sets and reads of private members: `m_dropProb`, `m_accuProb`",
    ),
    Suite("tbf-queue-disc", 1, 1, "the tokens in the first bucket"),
    Suite("pfifo-fast-queue-disc", 4, 4),
    Suite("fq-codel-queue-disc", 8, 6, _FILTERS),
    Suite("fq-cobalt-queue-disc", 8, 6, _FILTERS),
    Suite("fq-pie-queue-disc", 7, 5, _FILTERS),
    Suite(
        "prio-queue-disc, queue-disc-traces",
        2,
        0,
        "of packet filters, and of a discipline of the suite's own and the order of its callbacks",
    ),
    Suite("tc-flow-control", 10, 10),
    Suite(
        "tcp-datasentcb, tcp-endpoint-bug2211-test, tcp-header, tcp-option, tcp-rx-buffer, "
        "tcp-tx-buffer, tcp",
        0,
        0,
        _INTERFACES + "callbacks, headers as bytes, buffers of packets, receivers that answer",
    ),
)
