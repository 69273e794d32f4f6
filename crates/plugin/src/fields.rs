//! The fields of the structures that cross the C interface, declared once.
//!
//! From these lists come the structures and their conversions, the header, the classes and the stub in Python, and
//! the test that a C compiler sees the same memory (`make docs` writes what is text).
//!
//! ```text
//! /// What it means.
//! name: type = the engine's field [how it is in Python];
//! ```
//!
//! In Python a field is a `number`, a `flag`, a `word` of a kind, or `maybe` a number, where one number stands for
//! None.  What may be changed is a `whole` number of a unit, a `small` number, a `switch` or a `choice` of a kind; the
//! name of the setter comes with it.

/// The connection's state; the part that may be changed comes first.
#[macro_export]
#[doc(hidden)]
macro_rules! tcb_fields {
    ($with:ident) => {
        $with! {
            /// The time of the call.
            now_ns: i64 = now [number];
            ; error;
            /// At least one segment.
            cwnd: i64 = cwnd [whole set_cwnd "bytes"];
            ssthresh: i64 = ssthresh [whole set_ssthresh "bytes"];
            /// At least 1.
            pacing_rate_bps: i64 = pacing_rate [whole set_pacing_rate_bps "bits per second"];
            /// Whether segments are spaced.
            pacing: i32 = pacing [switch set_pacing];
            /// Percent of cwnd / sRTT, in slow start.
            pacing_ss_ratio: i32 = pacing_ss_ratio [small set_pacing_ss_ratio];
            /// The same in congestion avoidance.
            pacing_ca_ratio: i32 = pacing_ca_ratio [small set_pacing_ca_ratio];
            use_ecn: i32 = use_ecn [choice set_use_ecn UseEcn];
            ecn_mode: i32 = ecn_mode [choice set_ecn_mode EcnMode];
            ecn_state: i32 = ecn_state [choice set_ecn_state EcnState];
            /// The code point of data segments, ECT(0) or ECT(1).
            ect: i32 = ect [choice set_ect Ecn];
            cong_state: i32 = cong_state [word CongState];
            /// The window, not the application, limited the last transmission.
            is_cwnd_limited: i32 = is_cwnd_limited [flag];
            /// The present ACK covers data that had been retransmitted; set in Recovery only.
            is_retrans_data_acked: i32 = is_retrans_data_acked [flag];
            pace_initial_window: i32 = pace_initial_window [flag];
            ; reserved;
            segment_size: i64 = segment_size [number];
            /// In segments.
            initial_cwnd: i64 = initial_cwnd [number];
            initial_ssthresh: i64 = initial_ssthresh [number];
            /// Sent, neither acknowledged nor SACKed nor deemed lost (RFC 6675's pipe).
            bytes_in_flight: i64 = bytes_in_flight [number];
            /// Newly acknowledged or SACKed by the present ACK.
            last_acked_sacked: i64 = last_acked_sacked [number];
            /// The sample of the last ACK that gave one, in whole ms if timestamps are on, as in ns-3; in
            /// whole us under the profile `linux`.
            last_rtt_ns: i64 = last_rtt [maybe (0)];
            srtt_ns: i64 = srtt [maybe (0)];
            min_rtt_ns: i64 = min_rtt [maybe (i64::MAX)];
            max_pacing_rate_bps: i64 = max_pacing_rate [number];
            last_acked_seq: u32 = last_acked_seq [number];
            /// SND.NXT.
            next_tx_seq: u32 = next_tx_seq [number];
            /// The highest sequence number sent so far, plus one.
            high_tx_mark: u32 = high_tx_mark [number];
            /// RCV.NXT.
            next_rx_seq: u32 = next_rx_seq [number];
            /// TSval of the last segment received, in ms.
            rcv_timestamp: u32 = rcv_timestamp [number];
            /// The TSecr in it.
            rcv_timestamp_echo: u32 = rcv_timestamp_echo [number];
        }
    };
}

/// What one ACK says.
#[macro_export]
#[doc(hidden)]
macro_rules! sample_fields {
    ($with:ident) => {
        $with! {
            /// From the departure to the acknowledgement of the segment that was sent last among those that this ACK
            /// has newly acknowledged or SACKed, not rounded.  None if one of them was retransmitted: the ACK may be
            /// the original's (Karn's algorithm, RFC 6298 section 3).
            rtt_ns: i64 = rate.rtt [maybe (-1)];
            /// Bytes that this ACK has newly acknowledged or SACKed.
            acked_sacked: i64 = rate.acked_sacked [number];
            /// Bytes found lost since the ACK before; what is lost again counts again.
            newly_lost: i64 = rate.newly_lost [number];
            /// `delivered` over `interval_ns`; of an earlier sample, if this one is limited by the application and
            /// lower.
            delivery_rate_bps: i64 = rate.delivery_rate [number];
            /// The longer of the two phases below; 0 if the sample is of no use.
            interval_ns: i64 = rate.interval [number];
            /// Bytes over the interval; -1 without timing information.
            delivered: i64 = rate.delivered [number];
            /// `total_delivered` when the sampled segment was sent.
            prior_delivered: i64 = rate.prior_delivered [number];
            /// When the last of those had been delivered; 0 without a sample.
            prior_time_ns: i64 = rate.prior_time [number];
            /// From the departure of the segment delivered at `prior_time_ns` to that of the sampled one.
            send_elapsed_ns: i64 = rate.send_elapsed [number];
            /// From `prior_time_ns` to the delivery of the sampled segment.
            ack_elapsed_ns: i64 = rate.ack_elapsed [number];
            /// By how many bytes this ACK changed what counts as lost, up or down (ns-3's `m_bytesLoss`).
            bytes_loss: i64 = rate.bytes_loss [number];
            /// Bytes in flight before this ACK.
            prior_in_flight: i64 = rate.prior_in_flight [number];
            /// Bytes delivered since the connection's start.
            total_delivered: i64 = connection.delivered [number];
            /// Bytes found lost since the connection's start.
            total_lost: i64 = connection.lost [number];
            /// When bytes were delivered last.
            delivered_time_ns: i64 = connection.delivered_time [number];
            /// When the segment that was delivered last had been sent.
            first_sent_time_ns: i64 = connection.first_sent_time [number];
            /// `total_delivered` at which the application-limited phase ends, or 0.
            app_limited: i64 = connection.app_limited [number];
            /// The application, not the window, limited what was sent.
            is_app_limited: i32 = rate.is_app_limited [flag];
            ; reserved;
        }
    };
}
