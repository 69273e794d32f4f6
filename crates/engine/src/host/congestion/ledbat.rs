//! LEDBAT (RFC 6817; ns-3's `TcpLedbat`): a background flow that adds at most `TargetDelay` of
//! queueing.
//!
//! One-way delays come from the timestamps (receiver's TSval minus the echoed one, in ms).  With
//! the base delay the least of the last minutes and the current delay the least of the last samples
//! (section 2.4.2):
//!
//! ```text
//! off_target = TARGET - (current - base)
//! cwnd += GAIN * off_target / TARGET * acked bytes * MSS / cwnd
//! ```
//!
//! at most what is in flight plus ALLOWED_INCREASE, at least `MinCwnd`.

use std::collections::VecDeque;

use super::{BuildContext, new_reno};
use crate::base::attributes::{Kind, NOT_NEGATIVE, Spec, U32, param};
use crate::base::cpp;
use crate::base::time::Time;
use crate::host::slow_start::slow_start;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::CongestionControl;
use crate::host::tcp::profile::changes::Change;

/// A history of at least one sample: none would stop ns-3.
const LENGTH: Kind = Kind::Uint { min: 1, max: u32::MAX as u64 };

pub const SPEC: Spec = Spec {
    ns3: "TcpLedbat",
    linux: &["ledbat"],
    is_in_linux: false,
    doc: "Background transfer: holds the queueing delay that it adds below a target.",
    source: "RFC 6817",
    departures: &[
        "slow start while cwnd <= ssthresh (section 2.4.1 leaves it open)",
        "both histories hold one sample less than their length",
        "base delay samples are 61 s apart, 60 s from 3.47 on",
        "without timestamps it is NewReno",
        "loss halves as NewReno does",
        "cwnd is truncated to whole bytes with each ACK, so that growth stops short of the target",
    ],
    params: &[
        param!["TargetDelay", "target"; Kind::Time => "100ms";
            "Queueing delay that the flow may add."],
        param!["BaseHistoryLen", "base_histo_len"; LENGTH => "10";
            "Length of the history of base delays, one a minute."],
        param!["NoiseFilterLen", "noise_filter_len"; LENGTH => "4";
            "Length of the history of current delays, one an ACK."],
        param!["Gain", "gain_num"; NOT_NEGATIVE => "1";
            "GAIN: segments per round trip at zero queueing delay; at least 1e-6 from ns-3 3.47 on."],
        param!["SSParam", "do_ss"; Kind::Enum(&["no", "yes"]) => "yes";
            "Slow start at the beginning and after a timeout."],
        param!["MinCwnd"; U32 => "2"; "Smallest window in segments; at least 1 from ns-3 3.47 on."],
        param!["AllowedIncrease"; Kind::Real { min: 1e-6, max: f64::MAX } => "1";
            "ALLOWED_INCREASE: segments by which the window may exceed what was in flight; from ns-3 3.47 on."],
    ],
};

#[derive(Debug)]
pub struct Ledbat {
    target_ms: i64,
    gain: f64,
    slow_start: bool,
    min_cwnd: u32,
    edition: Edition,
    base: History,
    current: History,
    /// When the last base delay was added.
    last_rollover: Time,
    /// The last ACK carried timestamps.
    has_delay: bool,
    /// Slow start has not ended yet.
    may_slow_start: bool,
}

/// What ns-3 3.47 corrected ([`Change::LedbatWindow`]).
#[derive(Clone, Copy, Debug)]
enum Edition {
    /// The gain of an ACK is whole bytes times ms; the window is bounded by all that was sent and is not
    /// acknowledged plus what this ACK covers; times are whole seconds.
    Before,
    /// `AllowedIncrease` segments beyond what was in flight before the ACK.
    Rfc6817 { allowed_increase: f64 },
}

impl Edition {
    fn new(cx: &BuildContext<'_>) -> Edition {
        if cx.changes.has(Change::LedbatWindow) {
            Edition::Rfc6817 { allowed_increase: cx.attributes.f64("AllowedIncrease") }
        } else {
            Edition::Before
        }
    }

    fn credit(self, credit: f64) -> f64 {
        match self {
            Edition::Before => f64::from(cpp::to_i32(credit)),
            Edition::Rfc6817 { .. } => credit,
        }
    }

    /// In bytes; `acked` are those of this ACK.
    fn largest_window(self, tcb: &Tcb, acked: u32) -> u32 {
        match self {
            Edition::Before => ((tcb.high_tx_mark - tcb.last_acked_seq) as u32).wrapping_add(acked),
            Edition::Rfc6817 { allowed_increase } => {
                let more = cpp::to_u32(allowed_increase * f64::from(tcb.segment_size));
                tcb.bytes_in_flight.wrapping_add(acked).wrapping_add(more)
            }
        }
    }

    /// Whether a base delay is a minute old.
    fn is_minute_over(self, since: Time, now: Time) -> bool {
        const MINUTE: Time = Time::from_secs(60);
        match self {
            Edition::Before => seconds(now).wrapping_sub(seconds(since)) > 60,
            Edition::Rfc6817 { .. } => now - since > MINUTE,
        }
    }
}

fn seconds(time: Time) -> u64 {
    time.secs_f64() as u64
}

/// The last one-way delays, in ms.
#[derive(Debug)]
struct History {
    samples: VecDeque<u32>,
    length: usize,
}

impl History {
    fn new(length: u32) -> History {
        History { samples: VecDeque::new(), length: length as usize }
    }

    fn add(&mut self, delay: u32) {
        let is_first = self.samples.is_empty();
        self.samples.push_back(delay);
        if !is_first && self.samples.len() >= self.length {
            self.samples.pop_front();
        }
    }

    fn lower_newest(&mut self, delay: u32) {
        if let Some(newest) = self.samples.back_mut() {
            *newest = delay.min(*newest);
        }
    }

    fn least(&self) -> u32 {
        self.samples.iter().copied().min().unwrap_or(u32::MAX)
    }
}

pub(super) fn new(cx: &BuildContext<'_>) -> Ledbat {
    let a = &cx.attributes;
    Ledbat {
        target_ms: a.time("TargetDelay").ms() as i64,
        gain: a.f64("Gain"),
        slow_start: a.text("SSParam") == "yes",
        min_cwnd: a.u32("MinCwnd"),
        edition: Edition::new(cx),
        base: History::new(a.u32("BaseHistoryLen")),
        current: History::new(a.u32("NoiseFilterLen")),
        last_rollover: Time::ZERO,
        has_delay: false,
        may_slow_start: a.text("SSParam") == "yes",
    }
}

impl Ledbat {
    fn congestion_avoidance(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !self.has_delay {
            new_reno::congestion_avoidance(tcb, segments_acked);
            return;
        }
        let queueing_ms = i64::from(self.current.least()) - i64::from(self.base.least());
        let off_target = (self.target_ms - queueing_ms) as f64 * self.gain;
        let mss = f64::from(tcb.segment_size);
        let credit = self.edition.credit(off_target * f64::from(segments_acked) * mss);
        let share = credit / (self.target_ms * i64::from(tcb.cwnd)) as f64;
        let cwnd = cpp::to_u32(f64::from(tcb.cwnd) + share * mss);

        let acked_bytes = segments_acked.wrapping_mul(tcb.segment_size);
        let most = self.edition.largest_window(tcb, acked_bytes);
        let least = self.min_cwnd.wrapping_mul(tcb.segment_size);
        tcb.cwnd = cwnd.min(most).max(least);
        if tcb.cwnd <= tcb.ssthresh {
            tcb.ssthresh = tcb.cwnd.wrapping_sub(1);
        }
    }

    fn add_base_delay(&mut self, now: Time, delay: u32) {
        if self.base.samples.is_empty() {
            self.base.add(delay);
        } else if self.edition.is_minute_over(self.last_rollover, now) {
            self.last_rollover = now;
            self.base.add(delay);
        } else {
            self.base.lower_newest(delay);
        }
    }
}

impl CongestionControl for Ledbat {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        new_reno::backed_off(tcb, bytes_in_flight)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if tcb.cwnd <= tcb.segment_size {
            self.may_slow_start = true;
        }
        if self.slow_start && self.may_slow_start && tcb.cwnd <= tcb.ssthresh {
            slow_start(tcb, segments_acked);
        } else {
            self.may_slow_start = false;
            self.congestion_avoidance(tcb, segments_acked);
        }
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, _segments_acked: u32, _rtt: Time) {
        self.has_delay = tcb.rcv_timestamp != 0 && tcb.rcv_timestamp_echo != 0;
        // Also without timestamps, as ns-3 does: the sample is then 0.
        let delay = tcb.rcv_timestamp.wrapping_sub(tcb.rcv_timestamp_echo);
        self.current.add(delay);
        self.add_base_delay(tcb.now, delay);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    const BASE: u32 = 50;

    /// A round in which every ACK reports this one-way delay.
    fn round(d: &mut Driver, delay_ms: u32) {
        let window = d.cwnd();
        for _ in 0..window {
            d.advance(crate::base::time::Time(d.rtt.0 / u64::from(window)));
            d.tcb.rcv_timestamp_echo = d.tcb.now.ms() as u32;
            d.tcb.rcv_timestamp = d.tcb.rcv_timestamp_echo + delay_ms;
            d.tcb.high_tx_mark = d.tcb.last_acked_seq + d.tcb.cwnd;
            d.ack(1);
        }
    }

    fn started() -> Driver {
        let mut d = Driver::new("TcpLedbat", &[]).with_cwnd(50).with_ssthresh(40);
        round(&mut d, BASE);
        d
    }

    #[test]
    fn it_grows_below_the_target_stays_at_it_and_shrinks_above() {
        for (queueing, change) in [(0, 1), (50, 0), (100, 0), (200, -1), (300, -2)] {
            let mut d = started();
            let before = d.tcb.cwnd;
            round(&mut d, BASE + queueing);
            // GAIN * (TARGET - queueing) / TARGET segments per round trip; the noise filter lags
            // by three ACKs, and ALLOWED_INCREASE keeps growth within what was in flight.
            let segments = (f64::from(d.tcb.cwnd) - f64::from(before)) / 1000.0;
            let wanted = 1.0 - f64::from(queueing) / 100.0;
            assert!((segments - wanted).abs() < 0.25, "{queueing} ms: {segments}, {change}");
        }
    }

    #[test]
    fn the_queue_settles_just_below_the_target() {
        // 1 segment per ms: what exceeds a window of 100 segments queues.
        let mut d = started();
        d.set_rtt(100);
        for _ in 0..400 {
            let queueing = d.cwnd().saturating_sub(100);
            round(&mut d, BASE + queueing);
        }
        // 200 segments would queue 100 ms; at 182 an ACK earns less than a whole byte.
        assert!((181..=183).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn never_below_the_minimum_window() {
        let mut d = started();
        for _ in 0..100 {
            round(&mut d, BASE + 1000);
        }
        assert_eq!(d.cwnd(), 2);
    }
}
