//! The part of a connection's state that congestion control and recovery read and write.

use super::ecn_mode::EcnMode;
use crate::base::seq::Seq;
use crate::base::time::{Rate, Time};
use crate::packet::Ecn;

/// Where data begins: behind the SYN.
pub const FIRST_BYTE: Seq = Seq(1);
/// In segments (RFC 6928).
const FIRST_WINDOW: u8 = 10;

/// The congestion state machine (Linux's `tcp_ca_state`, ns-3's `TcpCongState_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CongState {
    #[default]
    Open,
    /// SACKs or duplicate ACKs have been seen, too few to conclude a loss.
    Disorder,
    /// The window is being reduced because of ECN.
    Cwr,
    /// Fast retransmit and fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// Whether a socket negotiates ECN (ns-3's `UseEcn`, Linux's `net.ipv4.tcp_ecn`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UseEcn {
    #[default]
    Off,
    On,
    AcceptOnly,
}

/// Where a connection stands with ECN (ns-3's `EcnState_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnState {
    #[default]
    Disabled,
    Idle,
    /// The last segment received had the CE mark.
    CeRcvd,
    /// ACKs carry ECE.
    SendingEce,
    /// The last ACK received carried ECE.
    EceRcvd,
    /// The window was reduced and a segment with CWR has been sent.
    CwrSent,
}

impl EcnState {
    /// A mark has come, and the peer has not said CWR.
    pub fn is_echoing(self) -> bool {
        matches!(self, EcnState::CeRcvd | EcnState::SendingEce)
    }
}

/// TCP control block: what ns-3's `TcpSocketState` holds.  Windows and sizes are bytes.
#[derive(Clone, Debug)]
pub struct Tcb {
    /// The time of the present call.
    pub now: Time,
    pub cwnd: u32,
    pub ssthresh: u32,
    /// In segments.
    pub initial_cwnd: u32,
    pub initial_ssthresh: u32,
    pub segment_size: u32,
    /// Bytes sent and neither acknowledged, SACKed nor deemed lost (RFC 6675's pipe), as last
    /// evaluated.
    pub bytes_in_flight: u32,
    /// Bytes that the present ACK has newly acknowledged or SACKed.
    pub last_acked_sacked: u32,
    /// The last acknowledgement number received.
    pub last_acked_seq: Seq,
    /// SND.NXT.
    pub next_tx_seq: Seq,
    /// The highest sequence number sent so far, plus one.
    pub high_tx_mark: Seq,
    /// RCV.NXT of the receiving half of this socket.
    pub next_rx_seq: Seq,
    pub cong_state: CongState,
    /// The present ACK covers data that had been retransmitted (set in Recovery only).
    pub is_retrans_data_acked: bool,
    /// The window, not the application, limited the last transmission.
    pub is_cwnd_limited: bool,
    /// The most that was outstanding in the last window of data, in bytes, where the profile validates windows; else 0.
    pub most_outstanding: u32,
    /// When data left last, where the profile validates windows.
    pub last_departure: Time,
    /// When the next may leave, where bursts are paced (Linux's `tcp_wstamp_ns`).
    pub next_departure: Time,
    /// When the first segment after a silence leaves: the application limits what is sent (Linux's `app_limited`).
    pub is_app_limited: bool,
    /// Alternative backoff with ECN (RFC 8511) is asked for.
    pub uses_abe: bool,
    pub use_ecn: UseEcn,
    pub ecn_mode: EcnMode,
    pub ecn_state: EcnState,
    /// Segments that have come with a CE mark, as the peer says; counted where `ecn_mode` is `Accurate`.
    pub delivered_ce: u32,
    /// The code point of data segments, ECT(0) or ECT(1).
    pub ect: Ecn,
    pub last_rtt: Time,
    /// Bytes that were sent and not acknowledged in order, after the last ACK.
    pub outstanding: u32,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Time,
    /// `Time::MAX` before the first sample.
    pub min_rtt: Time,
    /// TSval of the last segment received, and the TSecr in it, in ms.
    pub rcv_timestamp: u32,
    pub rcv_timestamp_echo: u32,
    /// Both ends send timestamps.
    pub has_timestamps: bool,
    pub pacing: bool,
    pub pacing_rate: Rate,
    pub max_pacing_rate: Rate,
    /// Percent of cwnd / sRTT, in slow start and in congestion avoidance.
    pub pacing_ss_ratio: u16,
    pub pacing_ca_ratio: u16,
    pub pace_initial_window: bool,
    /// Segments that leave together at least, where the profile has bursts (Linux's `min_tso_segs`).
    pub least_burst: u8,
    /// In segments: the window by which the sending rate goes until data is acknowledged, whatever the initial one is (Linux's
    /// `TCP_INIT_CWND`); 1 if the SYN was sent again.
    pub handshake_window: u8,
    /// How long a burst may take at the pacing rate, one segment at least, in us; 0: as long as the stack's (Linux's `tso_segs`).
    pub longest_burst_us: u16,
}

impl Tcb {
    /// cwnd in whole segments (ns-3's `GetCwndInSegments`, Linux's `snd_cwnd`).
    pub fn cwnd_segments(&self) -> u32 {
        self.cwnd / self.segment_size
    }

    /// Whether the last segment echoes a timestamp from before `left`.
    pub fn echoes_before(&self, left: Time) -> bool {
        self.has_timestamps && u64::from(self.rcv_timestamp_echo) < left.ms()
    }

    /// By how many percent of cwnd / sRTT a stack paces now.
    pub fn pacing_ratio(&self) -> u16 {
        if self.cwnd < self.ssthresh / 2 { self.pacing_ss_ratio } else { self.pacing_ca_ratio }
    }

    /// What Linux would pace at (`tcp_update_pacing_rate`), in bytes a second.  None before the first sample.
    pub fn window_rate(&self) -> Option<u64> {
        let is_first = self.last_acked_seq <= FIRST_BYTE;
        let window =
            if is_first { u32::from(self.handshake_window) * self.segment_size } else { self.cwnd };
        let is_low = self.cwnd_segments() < self.ssthresh / self.segment_size / 2;
        let percent = if is_low { self.pacing_ss_ratio } else { self.pacing_ca_ratio };
        let window = u128::from(window.max(self.outstanding)) * u128::from(percent);
        (!self.srtt.is_zero()).then(|| (window * 10_000_000 / u128::from(self.srtt.0)) as u64)
    }

    /// cwnd has limited what was sent; in slow start, it would have with half of it more.
    pub fn may_grow(&self) -> bool {
        self.is_cwnd_limited || (self.cwnd < self.ssthresh && self.cwnd / 2 < self.most_outstanding)
    }

    /// The window is being reduced for a mark, which costs less than a loss (RFC 8511).
    pub fn is_reduced_by_abe(&self) -> bool {
        self.uses_abe && self.ecn_state == EcnState::EceRcvd
    }
}

/// Of a connection that has not begun, with ns-3's defaults: no windows, no sample of the RTT.
impl Default for Tcb {
    fn default() -> Self {
        Tcb {
            now: Time::ZERO,
            cwnd: 0,
            ssthresh: 0,
            initial_cwnd: 0,
            initial_ssthresh: 0,
            segment_size: 0,
            bytes_in_flight: 0,
            last_acked_sacked: 0,
            last_acked_seq: Seq(0),
            next_tx_seq: Seq(0),
            high_tx_mark: Seq(0),
            next_rx_seq: Seq(0),
            cong_state: CongState::Open,
            is_retrans_data_acked: false,
            is_cwnd_limited: false,
            most_outstanding: 0,
            outstanding: 0,
            last_departure: Time::ZERO,
            next_departure: Time::ZERO,
            is_app_limited: false,
            uses_abe: false,
            use_ecn: UseEcn::Off,
            ecn_mode: EcnMode::Classic,
            ecn_state: EcnState::Disabled,
            delivered_ce: 0,
            ect: Ecn::Ect0,
            last_rtt: Time::ZERO,
            srtt: Time::ZERO,
            min_rtt: Time::MAX,
            rcv_timestamp: 0,
            rcv_timestamp_echo: 0,
            has_timestamps: false,
            pacing: false,
            pacing_rate: Rate(4_000_000_000),
            max_pacing_rate: Rate(4_000_000_000),
            pacing_ss_ratio: 200,
            pacing_ca_ratio: 120,
            pace_initial_window: false,
            least_burst: 2,
            handshake_window: FIRST_WINDOW,
            longest_burst_us: 0,
        }
    }
}
