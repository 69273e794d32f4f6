"""The calls of a congestion control, which do nothing: what is of use overrides them.

Made by `make docs` of the engine's declaration, `crates/engine/src/host/tcp/callbacks.rs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccperf._native import RateSample, Tcb


class Callbacks:
    """Each call that there is; see :class:`ccperf.CongestionControl`."""

    def init(self, tcb: Tcb) -> None:
        """The connection opens, before its first segment.

        Called at `now`: the sender is about to send its SYN, the receiver has just accepted one.
        Nothing else is called before. A receiver is called once more if the connection is given up
        before it is complete and the port takes another one.
        """

    def ssthresh(self, tcb: Tcb, bytes_in_flight: int) -> int:
        """The new slow start threshold in bytes, on entering Recovery, CWR or Loss.

        At least one segment.
        """
        raise NotImplementedError

    def cong_avoid(self, tcb: Tcb, segments_acked: int) -> None:
        """Grow the window: each ACK of new data in Open and Loss.

        ns-3's `IncreaseWindow`, with no segments at times. Under the profile `linux` in Disorder,
        too. Not called where `cong_control` has the window.
        """

    def pkts_acked(self, tcb: Tcb, segments_acked: int, rtt_ns: int) -> None:
        """An ACK has acknowledged segments.

        Of none where duplicate ACKs have told of them, as in ns-3. `rtt_ns` is the smoothed RTT, as
        ns-3 hands it over; under the profile `linux` that of this ACK in whole us, as Linux does.
        `on_ack` has the sample of this ACK under each.
        """

    def set_state(self, tcb: Tcb, state: str) -> None:
        """The state machine is about to enter a state.

        The connection's state is still the old one.

        `state` is one of ``"open"``, ``"disorder"``, ``"cwr"``, ``"recovery"``, ``"loss"``.
        """

    def cwnd_event(self, tcb: Tcb, event: str) -> tuple[int, bool] | None:  # noqa: ARG002
        """What happens besides ACKs: the start of a transmission, a timeout, ECN marks.

        Linux's `enum tcp_ca_event`. A receiver that must acknowledge at once what came before (RFC
        8257 section 3.2) answers with that acknowledgement.

        The answer is the acknowledgement number and whether it carries ECE.

        `event` is one of ``"tx_start"``, ``"complete_cwr"``, ``"loss"``, ``"ecn_no_ce"``,
        ``"ecn_is_ce"``, ``"delayed_ack"``, ``"non_delayed_ack"``.
        """
        return None

    def cong_control(self, tcb: Tcb, sample: RateSample) -> None:
        """If there: each ACK, with its sample; the algorithm alone sets cwnd and pacing rate.

        Linux's and ns-3's `cong_control`, as BBR has it. The socket manages the window no longer:
        `cong_avoid` is not called, and a loss reduces nothing.
        """

    def on_ack(self, tcb: Tcb, sample: RateSample) -> None:
        """An ACK has acknowledged or SACKed something new.

        The sample has the RTT as measured, what was delivered, what was found lost and the delivery
        rate (Linux's `ack_sample` and `rate_sample`). Called when the ACK has been accounted for,
        before anything is sent that it allows.
        """

    def on_sent(self, tcb: Tcb, bytes: int, is_retransmission: bool) -> None:
        """A segment with data has left.

        `bytes` is its payload; `bytes_in_flight` of the connection counts it already.
        """

    def on_loss(self, tcb: Tcb, bytes: int) -> None:
        """So many bytes have been found lost.

        By SACKs, duplicate ACKs or a timeout, before the state machine reacts. What was
        retransmitted and is lost again counts again.
        """

    def undo(self, tcb: Tcb, prior_cwnd: int) -> int:
        """The window after a loss that was none.

        What was thought lost had only been late: the reduction is undone, ssthresh too.
        `prior_cwnd` is the window before it. By default the larger of the two windows (Linux's
        `undo_cwnd`). ns-3 3.44 undoes nothing: called under profiles that do.
        """
        raise NotImplementedError
