//! The functions of a congestion control, declared once.
//!
//! From this list come the trait [`CongestionControl`](super::control::CongestionControl), both sides of the C
//! interface, its header, the base class in Python, its stub, the table in the documentation and the test that
//! calls cross unchanged (`make docs` writes what is text).  A new function is an entry at the end of the list,
//! and a line where the socket calls it.
//!
//! ```text
//! /// What it is for: the first line also stands in the table of the documentation.
//! fn Variant name(tcb: mut, argument: Type) -> Answer = default;
//! ```
//!
//! `mut`: the call may change the connection; `ref`: what it changes is forgotten.  Without a default, an
//! algorithm must have it.  `[early]`: in C the answer is written where a further argument points.

/// Hands the list to the macro `$with`.
#[macro_export]
#[doc(hidden)]
macro_rules! congestion_control_callbacks {
    ($with:ident) => {
        $with! {
            /// The connection opens, before its first segment.
            ///
            /// Called at `now`: the sender is about to send its SYN, the receiver has just accepted one.  Nothing
            /// else is called before.  A receiver is called once more if the connection is given up before it
            /// is complete and the port takes another one.
            fn Init init(tcb: mut) = ();

            /// The new slow start threshold in bytes, on entering Recovery, CWR or Loss.
            ///
            /// At least one segment.
            fn Ssthresh ssthresh(tcb: ref, bytes_in_flight: u32) -> u32;

            /// Grow the window: each ACK of new data in Open and Loss.
            ///
            /// ns-3's `IncreaseWindow`, with no segments at times.  Under the profile `linux` in Disorder, too.  Not
            /// called where `cong_control` has the window.
            fn CongAvoid cong_avoid(tcb: mut, segments_acked: u32) = ();

            /// An ACK has acknowledged segments.
            ///
            /// Of none where duplicate ACKs have told of them, as in ns-3.  `rtt` is the smoothed RTT, as ns-3 hands
            /// it over; under the profile `linux` that of this ACK in whole us, as Linux does.  `on_ack` has the
            /// sample of this ACK under each.
            fn PktsAcked pkts_acked(tcb: mut, segments_acked: u32, rtt: Time) = ();

            /// The state machine is about to enter a state.
            ///
            /// The connection's state is still the old one.
            fn SetState set_state(tcb: mut, state: CongState) = ();

            /// What happens besides ACKs: the start of a transmission, a timeout, ECN marks.
            ///
            /// Linux's `enum tcp_ca_event`.  A receiver that must acknowledge at once what came before (RFC 8257
            /// section 3.2) answers with that acknowledgement.
            fn CwndEvent cwnd_event(tcb: mut, event: CaEvent) -> Option<EarlyAck> [early] = None;

            /// If there: each ACK, with its sample; the algorithm alone sets cwnd and pacing rate.
            ///
            /// Linux's and ns-3's `cong_control`, as BBR has it.  The socket manages the window no longer:
            /// `cong_avoid` is not called, and a loss reduces nothing.
            fn CongControl cong_control(tcb: mut, sample: AckSample<'_>) = ();

            /// An ACK has acknowledged or SACKed something new.
            ///
            /// The sample has the RTT as measured, what was delivered, what was found lost and the delivery rate
            /// (Linux's `ack_sample` and `rate_sample`).  Called when the ACK has been accounted for, before
            /// anything is sent that it allows.
            fn OnAck on_ack(tcb: mut, sample: AckSample<'_>) = ();

            /// A segment with data has left.
            ///
            /// `bytes` is its payload; `bytes_in_flight` of the connection counts it already.
            fn OnSent on_sent(tcb: mut, bytes: u32, is_retransmission: bool) = ();

            /// So many bytes have been found lost.
            ///
            /// By SACKs, duplicate ACKs or a timeout, before the state machine reacts.  What was retransmitted
            /// and is lost again counts again.
            fn OnLoss on_loss(tcb: mut, bytes: u32) = ();

            /// The window after a loss that was none.
            ///
            /// What was thought lost had only been late: the reduction is undone, ssthresh too.  `prior_cwnd` is
            /// the window before it.  By default the larger of the two windows (Linux's `undo_cwnd`).  ns-3 3.44
            /// undoes nothing: called under profiles that do.
            fn Undo undo(tcb: ref, prior_cwnd: u32) -> u32 = tcb.cwnd.max(prior_cwnd);
        }
    };
}
