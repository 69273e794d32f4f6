//! Attributes of a TCP socket: what ns-3 spreads over `TcpSocket`, `TcpSocketBase` and
//! `TcpSocketState`, in one table.  Defaults are those of ns-3 3.44; Linux names are sysctls below
//! `net.ipv4`, socket options or the attributes of `ip route` and `tc`.

use std::collections::BTreeMap;

use crate::base::attributes::{Attributes, Kind, Spec, U16, U32, param};
use crate::host::tcp::config::Config;
use crate::host::tcp::ecn_mode::EcnMode;
use crate::host::tcp::profile;
use crate::host::tcp::slow_start;
use crate::host::tcp::tcb::UseEcn;
use crate::packet::{IP_HEADER, TCP_HEADER, TIMESTAMP_OPTION};

const PERCENT: Kind = Kind::Uint { min: 1, max: u16::MAX as u64 };
/// No more than the largest window (RFC 7323 section 2.3).
const BUFFER: Kind = Kind::Uint { min: 1, max: 1 << 30 };
const AT_LEAST_ONE: Kind = Kind::Uint { min: 1, max: u32::MAX as u64 };

/// What ns-3 does not have, so that its driver refuses them.
pub const OWN: [&str; 6] =
    [REORDERING_TOLERANCE, RESEQUENCING_TIMEOUT, PROFILE, SLOW_START, ECN_FEEDBACK, ECN_OPTION];
/// What a receiver says of marks: see `ecn.rs`.
pub const ECN_FEEDBACK: &str = "EcnFeedback";
/// With an option: see `ecn/option.rs`.
pub const ECN_OPTION: &str = "AccEcnOption";
/// How the window grows below ssthresh: see `host::slow_start`.
pub const SLOW_START: &str = "SlowStart";
/// The parts that TCP is made of: see [`profile`].
pub const PROFILE: &str = "Profile";
pub const REORDERING_TOLERANCE: &str = "ReorderingTolerance";
pub const RESEQUENCING_TIMEOUT: &str = "ResequencingTimeout";

/// In bytes, of IP and TCP, of a segment that carries data (SACK blocks are sent without).
pub fn headers_of_data(socket: &Attributes<'_>) -> u32 {
    let options = if socket.bool("Timestamp") { TIMESTAMP_OPTION } else { 0 };
    IP_HEADER + TCP_HEADER + options
}

pub const SOCKET: Spec = Spec {
    ns3: "TcpSocket",
    linux: &["tcp"],
    is_in_linux: false,
    doc: "A TCP connection's own settings, whatever its congestion control.",
    source: "RFC 9293, RFC 6298, RFC 7323, RFC 2018, RFC 3168",
    departures: &[],
    params: &[
        // TcpSocket
        param!["SndBufSize", "tcp_wmem"; BUFFER => "131072"; "Send buffer in bytes."],
        param!["RcvBufSize", "tcp_rmem"; BUFFER => "131072"; "Receive buffer in bytes."],
        param!["SegmentSize", "tcp_maxseg"; AT_LEAST_ONE => "536";
            "Maximum segment size in bytes of payload; timestamps take no room from it."],
        param!["InitialSlowStartThreshold", "ssthresh"; U32 => "4294967295";
            "Slow start threshold of a new connection in bytes."],
        param!["InitialCwnd", "initcwnd"; AT_LEAST_ONE => "10";
            "Initial congestion window in segments (RFC 6928)."],
        param!["ConnTimeout"; Kind::Time => "3s";
            "Time to the first retransmission of the SYN; doubles with each."],
        param!["ConnCount", "tcp_syn_retries"; U32 => "6";
            "How often the SYN is sent; with the profile `linux` how often it is retransmitted, beside the first five."],
        param!["DataRetries", "tcp_retries2"; U32 => "6";
            "Retransmission timeouts in a row before the connection is given up."],
        param!["DelAckTimeout"; Kind::Time => "200ms"; "How long an ACK may be delayed."],
        param!["DelAckCount"; U16 => "2";
            "Segments after which an ACK is sent at once (RFC 1122 section 4.2.3.2); 1 acknowledges each."],
        param!["TcpNoDelay", "tcp_nodelay"; Kind::Bool => "true"; "No Nagle algorithm (RFC 896)."],
        param!["PersistTimeout"; Kind::Period => "6s";
            "Time to the first probe of a closed window (RFC 1122 section 4.2.2.17)."],
        // TcpSocketBase
        param!["MaxSegLifetime"; Kind::Real { min: 0.0, max: f64::MAX } => "120";
            "Maximum segment lifetime in seconds: half the time in TIME-WAIT."],
        param!["MaxWindowSize"; U16 => "65535";
            "Largest window advertised without scaling, bytes."],
        param!["WindowScaling", "tcp_window_scaling"; Kind::Bool => "true"; "RFC 7323 section 2."],
        param!["Sack", "tcp_sack"; Kind::Bool => "true"; "Selective acknowledgements (RFC 2018)."],
        param!["Timestamp", "tcp_timestamps"; Kind::Bool => "true"; "RFC 7323 section 3."],
        param!["MinRto", "rto_min"; Kind::Time => "1s"; "Least retransmission timeout (RFC 6298)."],
        param!["ClockGranularity"; Kind::Time => "1ms";
            "Least variance term of the retransmission timeout (G in RFC 6298)."],
        param!["ReTxThreshold", "tcp_reordering"; U32 => "3";
            "Duplicate ACKs that start a fast retransmit (RFC 5681 section 3.2)."],
        param!["LimitedTransmit"; Kind::Bool => "true";
            "New data on the first duplicate ACKs (RFC 3042)."],
        param!["UseEcn", "tcp_ecn"; Kind::Enum(&["Off", "On", "AcceptOnly"]) => "Off";
            "Explicit congestion notification (RFC 3168): never, offered, or accepted if offered."],
        // TcpSocketState
        param!["EnablePacing"; Kind::Bool => "false"; "Spread transmissions over the round trip."],
        param!["MaxPacingRate", "maxrate"; Kind::Rate => "4Gbps";
            "Upper bound of the pacing rate."],
        param!["PacingSsRatio", "tcp_pacing_ss_ratio"; PERCENT => "200";
            "Pacing rate in slow start, in percent of cwnd / sRTT."],
        param!["PacingCaRatio", "tcp_pacing_ca_ratio"; PERCENT => "120";
            "Pacing rate in congestion avoidance, in percent of cwnd / sRTT."],
        param!["PaceInitialWindow"; Kind::Bool => "false"; "Pace the initial window, too."],
        // Of later releases
        param!["UseAbe"; Kind::Bool => "false";
            "A mark costs less of the window than a loss (RFC 8511), and ECN is asked for."],
        param!["Fack", "tcp_fack"; Kind::Bool => "false";
            "Forward acknowledgement: what is in flight, and when recovery begins, by the highest SACK."],
        // Ours
        param![REORDERING_TOLERANCE; Kind::Bool => "false";
            "Half of what is outstanding must have come before what is missing counts as lost, at least three \
             segments (RFC 4653, aggressive variant); with SACK."],
        param![RESEQUENCING_TIMEOUT; Kind::Time => "0s";
            "How long a receiver holds data back that comes out of order, to hand it on in order; 0s: not at all."],
        param![PROFILE; Kind::Enum(profile::NAMES) => profile::DEFAULT;
            "Whose TCP it is: the parts that it is made of, from loss detection to pacing, and of which release."],
        param![SLOW_START; Kind::Enum(slow_start::NAMES) => slow_start::NAMES[0];
            "How the window grows below ssthresh: as the algorithm does, a segment per ACK (RFC 5681), with ns-3's \
             HyStart, with HyStart++ (RFC 9406), as Linux does without and with HyStart, or with SEARCH \
             (draft-chung-ccwg-search). An algorithm that has the window alone, like BBR, keeps its own."],
        param![ECN_FEEDBACK; Kind::Enum(EcnMode::NAMES) => EcnMode::NAMES[0];
            "What the receiver says of marks where ECN is used: what the algorithm asks for (RFC 3168, or RFC 8257 \
             for DCTCP), or how many there were (AccECN, RFC 9768)."],
        param![ECN_OPTION, "tcp_ecn_option"; Kind::Bool => "true";
            "With AccECN: the option that counts marked bytes, too, as sparingly as RFC 9768 section 3.2.3 allows."],
    ],
};

impl Config {
    /// The given attributes over ns-3's defaults.
    pub fn new(given: &BTreeMap<String, String>, tos: u8) -> Self {
        let a = Attributes::new(&SOCKET, given);
        Config {
            send_buffer: a.u32("SndBufSize"),
            receive_buffer: a.u32("RcvBufSize"),
            segment_size: a.u32("SegmentSize"),
            initial_ssthresh: a.u32("InitialSlowStartThreshold"),
            initial_cwnd: a.u32("InitialCwnd"),
            connect_timeout: a.time("ConnTimeout"),
            connect_count: a.u32("ConnCount"),
            data_retries: a.u32("DataRetries"),
            delayed_ack_timeout: a.time("DelAckTimeout"),
            delayed_ack_count: a.u32("DelAckCount"),
            no_delay: a.bool("TcpNoDelay"),
            persist_timeout: a.time("PersistTimeout"),
            max_segment_lifetime: a.f64("MaxSegLifetime"),
            max_window: a.u32("MaxWindowSize"),
            window_scaling: a.bool("WindowScaling"),
            sack: a.bool("Sack"),
            timestamps: a.bool("Timestamp"),
            min_rto: a.time("MinRto"),
            clock_granularity: a.time("ClockGranularity"),
            dup_ack_threshold: a.u32("ReTxThreshold"),
            reordering_tolerance: a.bool(REORDERING_TOLERANCE),
            resequencing_timeout: a.time(RESEQUENCING_TIMEOUT),
            limited_transmit: a.bool("LimitedTransmit"),
            use_ecn: match a.text("UseEcn") {
                "On" => UseEcn::On,
                "AcceptOnly" => UseEcn::AcceptOnly,
                _ if a.bool("UseAbe") => UseEcn::On,
                _ => UseEcn::Off,
            },
            ecn_mode: EcnMode::named(a.text(ECN_FEEDBACK)).unwrap_or_default(),
            ecn_option: a.bool(ECN_OPTION),
            abe: a.bool("UseAbe"),
            fack: a.bool("Fack"),
            pacing: a.bool("EnablePacing"),
            max_pacing_rate: a.rate("MaxPacingRate"),
            pacing_ss_ratio: a.u32("PacingSsRatio") as u16,
            pacing_ca_ratio: a.u32("PacingCaRatio") as u16,
            pace_initial_window: a.bool("PaceInitialWindow"),
            profile: a.text(PROFILE).to_owned(),
            slow_start: a.text(SLOW_START).to_owned(),
            changes: profile::changes(a.text(PROFILE)),
            tos,
        }
    }
}
