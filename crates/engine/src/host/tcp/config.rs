//! A socket's settings; `socket_params.rs` reads them from attributes.

use super::ecn_mode::EcnMode;
use super::profile::changes::Changes;
use super::tcb::UseEcn;
use crate::base::time::{Rate, Time};

#[derive(Clone, Debug)]
pub struct Config {
    /// Most that is written and not yet acknowledged, in bytes.
    pub send_buffer: u32,
    /// Most that is received and not yet in order, in bytes.
    pub receive_buffer: u32,
    /// Payload of a full segment, in bytes, whatever its options.
    pub segment_size: u32,
    /// In bytes.
    pub initial_ssthresh: u32,
    /// In segments.
    pub initial_cwnd: u32,
    /// From the first SYN to the second; doubles with each.
    pub connect_timeout: Time,
    /// How often a SYN is sent before the connection is given up.
    pub connect_count: u32,
    /// Retransmission timeouts in a row before the connection is given up.
    pub data_retries: u32,
    /// The longest that an ACK is held back.
    pub delayed_ack_timeout: Time,
    /// Segments per ACK.
    pub delayed_ack_count: u32,
    /// False: Nagle's algorithm (RFC 896).
    pub no_delay: bool,
    /// From a closed window to its first probe; doubles with each.
    pub persist_timeout: Time,
    /// Half of the time in TIME-WAIT, in seconds.
    pub max_segment_lifetime: f64,
    /// The largest value of the window field, in units that the window shift gives.
    pub max_window: u32,
    /// Offered to the peer, as the next two: RFC 7323 section 2.
    pub window_scaling: bool,
    /// RFC 2018.
    pub sack: bool,
    /// RFC 7323 section 3.
    pub timestamps: bool,
    /// The least retransmission timeout.
    pub min_rto: Time,
    /// The least term for the variation in the retransmission timeout (G in RFC 6298).
    pub clock_granularity: Time,
    /// Duplicate ACKs, or SACKed segments, that make a loss (DupThresh in RFC 6675).
    pub dup_ack_threshold: u32,
    /// Losses are those of RFC 4653.
    pub reordering_tolerance: bool,
    /// The longest that data is held back which comes out of order; 0: it is not.
    pub resequencing_timeout: Time,
    /// Without SACK: new data on the first duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    pub use_ecn: UseEcn,
    /// Where the algorithm does not ask for another.
    pub ecn_mode: EcnMode,
    /// Accurate ECN sends and reads its option.
    pub ecn_option: bool,
    /// RFC 8511.
    pub abe: bool,
    /// What is in flight is judged by the highest SACK.
    pub fack: bool,
    /// Segments are spaced by the pacing rate.
    pub pacing: bool,
    pub max_pacing_rate: Rate,
    /// The pacing rate in percent of cwnd / sRTT: in slow start below half of ssthresh, and above.
    pub pacing_ss_ratio: u16,
    pub pacing_ca_ratio: u16,
    /// False: pacing begins when the initial window has been sent.
    pub pace_initial_window: bool,
    /// The name of its slow start; one that there is not: the algorithm's own.
    pub slow_start: String,
    /// The name of its [`Profile`](super::Profile).
    pub profile: String,
    /// What its ns-3 has changed since 3.44.
    pub changes: Changes,
    /// The IP header's type of service, without the two ECN bits (ns-3's `Socket::SetIpTos`).
    pub tos: u8,
}

impl Config {
    /// RFC 7323 section 2.3: the smallest shift that lets the window field cover the buffer.
    pub fn window_shift(&self) -> u8 {
        let mut shift = 0;
        while shift < 14 && (self.receive_buffer >> shift) > self.max_window {
            shift += 1;
        }
        shift
    }
}
