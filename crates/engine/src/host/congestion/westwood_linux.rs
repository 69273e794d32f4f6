//! Westwood+ as Linux has it (Grieco and Mascolo, CCR 2004; Linux's `tcp_westwood.c`), in milliseconds and bytes.
//!
//! The bandwidth is what ACKs acknowledge in a round trip, in 50 ms at least, smoothed twice with a weight of an eighth.
//! A duplicate ACK counts as a segment, which a later ACK does not count again; but those that bring nothing new in their
//! headers are not looked at so closely.  The window after a loss, and ssthresh, is bandwidth times least round trip;
//! growth is Reno's.

use super::linux_reno::{LinuxReno, half, window_of};
use crate::base::seq::Seq;
use crate::host::tcp::control::{Acked, CaEvent, CongestionControl, EarlyAck};
use crate::host::tcp::{CongState, Tcb};

const LEAST_SAMPLE_MS: u32 = 50;
/// Before the first sample.
const FIRST_RTT_MS: u32 = 20_000;

#[derive(Debug)]
pub struct WestwoodLinux {
    reno: LinuxReno,
    /// In bytes a millisecond, smoothed once and twice.
    smoothed: u32,
    bandwidth: u32,
    /// When the sample began, in ms, and what has been acknowledged since.
    began: u32,
    bytes: u32,
    /// The last ACK; none before the first.
    last_ack: Option<Seq>,
    /// Bytes that duplicate ACKs have counted.
    accounted: u32,
    /// In ms.
    rtt: u32,
    least_rtt: u32,
    /// The next round trip is the least.
    begins_anew: bool,
    /// What the last ACK's header says of the peer's window.
    window: Option<u32>,
}

pub(super) fn new() -> WestwoodLinux {
    WestwoodLinux {
        reno: LinuxReno::new(true),
        smoothed: 0,
        bandwidth: 0,
        began: 0,
        bytes: 0,
        last_ack: None,
        accounted: 0,
        rtt: FIRST_RTT_MS,
        least_rtt: FIRST_RTT_MS,
        begins_anew: true,
        window: None,
    }
}

fn smooth(old: u32, new: u32) -> u32 {
    old.wrapping_mul(7).wrapping_add(new) >> 3
}

impl WestwoodLinux {
    fn end_sample(&mut self, now: u32) {
        let elapsed = now - self.began;
        if self.rtt == 0 || elapsed <= self.rtt.max(LEAST_SAMPLE_MS) {
            return;
        }
        let sample = self.bytes / elapsed;
        if self.smoothed == 0 && self.bandwidth == 0 {
            (self.smoothed, self.bandwidth) = (sample, sample);
        } else {
            self.smoothed = smooth(self.smoothed, sample);
            self.bandwidth = smooth(self.bandwidth, self.smoothed);
        }
        (self.bytes, self.began) = (0, now);
    }

    /// What an ACK counts that acknowledges so many bytes.
    fn count(&mut self, bytes: u32, size: u32) -> u32 {
        if bytes == 0 {
            self.accounted += size;
            size
        } else if bytes <= size {
            bytes
        } else if self.accounted >= bytes {
            self.accounted -= bytes;
            size
        } else {
            bytes - std::mem::take(&mut self.accounted)
        }
    }

    /// In bytes.
    fn path(&self, tcb: &Tcb) -> u32 {
        let segments = self.bandwidth.wrapping_mul(self.least_rtt) / tcb.segment_size;
        window_of(segments, tcb)
    }
}

impl CongestionControl for WestwoodLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        half(tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        self.reno.grow(tcb, segments_acked);
    }

    fn on_acked(&mut self, tcb: &Tcb, acked: Acked) {
        if let Some(us) = acked.rtt_us().filter(|&us| us > 0) {
            self.rtt = us.div_ceil(1000);
        }
        self.end_sample(tcb.now.ms() as u32);
        let ack = tcb.last_acked_seq;
        let bytes = (ack - self.last_ack.unwrap_or(ack)) as u32;
        self.last_ack = Some(ack);
        let is_foretold = self.window.replace(acked.window) == Some(acked.window);
        self.bytes +=
            if is_foretold && acked.is_plain { bytes } else { self.count(bytes, tcb.segment_size) };
        let begins_anew = std::mem::take(&mut self.begins_anew);
        self.least_rtt = if begins_anew { self.rtt } else { self.least_rtt.min(self.rtt) };
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        match event {
            CaEvent::CompleteCwr => {
                tcb.ssthresh = self.path(tcb);
                tcb.cwnd = tcb.ssthresh;
            }
            CaEvent::Loss => {
                tcb.ssthresh = self.path(tcb);
                self.begins_anew = true;
            }
            _ => {}
        }
        None
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        if state == CongState::Open && self.last_ack.is_none() {
            self.began = tcb.now.ms() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;
    use crate::host::tcp::control::TcpStack;

    /// A path of 50 segments in 100 ms.
    fn westwood() -> Driver {
        Driver::on(TcpStack::Linux, "TcpWestwoodPlus", &[]).with_cwnd(50).with_ssthresh(2)
    }

    fn rounds(d: &mut Driver, count: u32) {
        for _ in 0..count {
            d.set_cwnd(50);
            d.round();
        }
    }

    #[test]
    fn a_loss_leaves_the_path() {
        let mut d = westwood();
        rounds(&mut d, 30);
        d.set_rtt(200); // 50 segments are queued, and more is sent
        for _ in 0..20 {
            d.set_cwnd(100);
            d.round();
        }
        d.event(CaEvent::CompleteCwr);
        assert!(d.cwnd().abs_diff(50) <= 2, "{}", d.cwnd());
        assert_eq!(d.ssthresh(), d.cwnd());
    }

    #[test]
    fn bandwidth_follows_slowly() {
        let mut d = westwood();
        rounds(&mut d, 30);
        for _ in 0..5 {
            d.set_cwnd(100);
            d.round();
        }
        d.event(CaEvent::CompleteCwr);
        assert!((53..60).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn after_a_timeout_the_least_round_trip_is_a_new_one() {
        let mut d = westwood();
        rounds(&mut d, 30);
        d.set_rtt(200);
        d.timeout();
        for _ in 0..20 {
            d.set_cwnd(100);
            d.round();
        }
        d.event(CaEvent::Loss);
        assert!(d.ssthresh().abs_diff(100) <= 4, "{}", d.ssthresh());
    }

    #[test]
    fn what_a_duplicate_has_counted_a_later_ack_does_not() {
        let mut westwood = new();
        assert_eq!([0, 0, 0].map(|bytes| westwood.count(bytes, MSS)), [MSS; 3]);
        assert_eq!(westwood.count(2 * MSS, MSS), MSS);
        assert_eq!(westwood.count(MSS, MSS), MSS);
        assert_eq!(westwood.count(4 * MSS, MSS), 3 * MSS);
        assert_eq!(westwood.count(4 * MSS, MSS), 4 * MSS);
    }
}
