"""ns-3's own test suites of TCP and of queue disciplines: of which of their numbers the engine was
asked, and of which not.

`tests/differential/expectations.toml` has the numbers, `test_expectations.py` beside it asks.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """A test suite of ns-3 3.44."""

    name: str
    #: Cases whose numbers the engine was asked for, each with the same result.
    same: int
    #: Why others were not.
    rest: str = ""
    #: Whether it calls an algorithm by hand, as our replay does.
    by_calls: bool = True


_PRIVATE = "nine set a private member, the last maximum"
_NOT_YET = "runs of whole sockets, whose assertions are spread over callbacks: not asked yet"

SUITES = (
    Suite("tcp-bic-test", 2, _PRIVATE),
    Suite("tcp-highspeed-test", 426),
    Suite("tcp-htcp-test", 3),
    Suite("tcp-hybla-test", 6),
    Suite("tcp-illinois-test", 4),
    Suite("tcp-ledbat-test", 4),
    Suite("tcp-lp-test", 3),
    Suite("tcp-scalable-test", 6),
    Suite("tcp-vegas-test", 5),
    Suite("tcp-veno-test", 3),
    Suite("tcp-yeah-test", 6),
    Suite(
        "rtt-estimator",
        3,
        "the rest sets gains other than RFC 6298's, which ns-3's sockets never do",
        by_calls=False,
    ),
    Suite(
        "tcp-advertised-window-test, tcp-bytes-in-flight-test, tcp-classic-recovery-test, "
        "tcp-close, tcp-cong-avoid-test, tcp-dctcp-test, tcp-ecn-test, tcp-fast-retr-test, "
        "tcp-linux-reno-test, tcp-loss-test, tcp-pacing-test, tcp-pkts-acked-test, "
        "tcp-rto-test, tcp-rtt-estimation-test, tcp-sack-permitted, tcp-slow-start-test, "
        "tcp-timestamp, tcp-wscaling, tcp-zero-window-test, ns3-tcp-cubic, ns3-tcp-loss, "
        "ns3-tcp-state",
        0,
        _NOT_YET,
        by_calls=False,
    ),
    Suite(
        "tcp-bbr-test, tcp-prr-recovery-test, tcp-rate-ops, codel-queue-disc, cobalt-queue-disc, "
        "pie-queue-disc, red-queue-disc, adaptive-red-queue-disc, tbf-queue-disc, "
        "prio-queue-disc, fifo-queue-disc, fq-codel-queue-disc, fq-cobalt-queue-disc, "
        "fq-pie-queue-disc, pfifo-fast-queue-disc, queue-disc-traces, tc-flow-control",
        0,
        "classes called by hand: not asked yet (random calls on most of these classes are compared "
        "in `tests/differential`)",
        by_calls=False,
    ),
    Suite(
        "tcp-datasentcb, tcp-endpoint-bug2211-test, tcp-header, tcp-option, tcp-rx-buffer, "
        "tcp-tx-buffer, tcp-syn-connection-failed-test, tcp, ns3-tcp-no-delay, ns3-tcp-socket",
        0,
        "of C++ interfaces that the engine does not have: callbacks, headers as bytes, buffers of "
        "packets",
        by_calls=False,
    ),
)
