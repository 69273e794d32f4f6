//! TCP-LP (Kuzmanovic and Knightly, INFOCOM 2003; Linux's and ns-3's `TcpLp`): low priority by
//! early congestion indication from one-way delays.
//!
//! The smoothed one-way delay (weight 1/8) is compared with d_min + 0.15 (d_max - d_min) (section
//! III of the paper).  Above it the window is halved and an inference phase of three round trips
//! begins, without growth; a second indication within it drops the window to one segment.
//! Otherwise NewReno.

use super::{BuildContext, new_reno};
use crate::base::attributes::Spec;
use crate::base::time::Time;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::CongestionControl;

pub const SPEC: Spec = Spec {
    ns3: "TcpLp",
    linux: &["lp"],
    is_in_linux: true,
    doc: "Low priority: halves the window when the one-way delay rises above a threshold.",
    source: "Kuzmanovic, Knightly: TCP-LP (INFOCOM 2003)",
    departures: &[
        "delays are whole milliseconds from the timestamps (no estimate of the remote clock's \
         rate)",
        "after an indication d_min and d_max restart from the smoothed delay",
        "the growth stops in congestion avoidance only",
    ],
    params: &[],
};

#[derive(Debug)]
pub struct Lp {
    /// Eight times the smoothed one-way delay, in ms; 0 before the first sample.
    smoothed_8: u32,
    min: u32,
    max: u32,
    /// The largest delay so far, which counts as `max` only once it is exceeded again.
    max_reserve: u32,
    /// Time of the last reduction; zero before it.
    last_drop: Time,
    inference: i64,
    in_inference: bool,
}

pub(super) fn new(_cx: &BuildContext<'_>) -> Lp {
    Lp {
        smoothed_8: 0,
        min: u32::MAX,
        max: 0,
        max_reserve: 0,
        last_drop: Time::ZERO,
        inference: 0,
        in_inference: false,
    }
}

impl Lp {
    fn add_delay(&mut self, delay: u32) {
        self.min = self.min.min(delay);
        if delay > self.max {
            self.max = delay;
            if delay > self.max_reserve {
                if self.max_reserve != 0 {
                    self.max = self.max_reserve;
                }
                self.max_reserve = delay;
            }
        }
        self.smoothed_8 = if self.smoothed_8 == 0 {
            delay << 3
        } else {
            self.smoothed_8.wrapping_add(delay).wrapping_sub(self.smoothed_8 >> 3)
        };
    }

    fn is_below_threshold(&self) -> bool {
        let range = self.max.wrapping_sub(self.min);
        self.smoothed_8 >> 3 <= self.min.wrapping_add(range.wrapping_mul(15) / 100)
    }
}

impl CongestionControl for Lp {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        new_reno::backed_off(tcb, bytes_in_flight)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !self.in_inference {
            new_reno::congestion_avoidance(tcb, segments_acked);
        }
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        let delay = tcb.rcv_timestamp.wrapping_sub(tcb.rcv_timestamp_echo);
        if !rtt.is_zero() && delay > 0 {
            self.add_delay(delay);
        }
        let sent = Time::from_ms(u64::from(tcb.rcv_timestamp_echo));
        if tcb.now.ms() > sent.ms() {
            self.inference = 3 * (tcb.now.ns() - sent.ns());
        }
        let since_drop = tcb.now.ns() - self.last_drop.ns();
        self.in_inference = !self.last_drop.is_zero() && since_drop < self.inference;
        if self.is_below_threshold() {
            return;
        }
        self.min = self.smoothed_8 >> 3;
        self.max = self.smoothed_8 >> 2;
        self.max_reserve = self.smoothed_8 >> 2;
        tcb.cwnd = if self.in_inference {
            tcb.segment_size
        } else {
            (tcb.cwnd >> 1).max(tcb.segment_size)
        };
        self.last_drop = tcb.now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::base::time::Time;

    fn acks(d: &mut Driver, count: u32, delay_ms: u32) {
        for _ in 0..count {
            d.advance(Time::from_ms(1));
            let now_ms = d.tcb.now.ms() as u32;
            d.tcb.rcv_timestamp_echo = now_ms - 100;
            d.tcb.rcv_timestamp = d.tcb.rcv_timestamp_echo + delay_ms;
            d.ack(1);
        }
    }

    #[test]
    fn a_rise_beyond_the_threshold_halves_the_window_and_a_second_one_leaves_a_segment() {
        let mut d = Driver::new("TcpLp", &[]).with_cwnd(100).with_ssthresh(100);
        acks(&mut d, 50, 40);
        d.set_cwnd(100);
        let mut windows = vec![d.cwnd()];
        for _ in 0..100 {
            acks(&mut d, 1, 120);
            if *windows.last().unwrap() != d.cwnd() {
                windows.push(d.cwnd());
            }
        }
        // The ACK that tells of the delay also grows the window, in slow start.
        assert_eq!(windows[..3], [100, 51, 2]);
    }

    #[test]
    fn growth_resumes_when_the_inference_phase_is_over() {
        let mut d = Driver::new("TcpLp", &[]).with_cwnd(100).with_ssthresh(100);
        acks(&mut d, 50, 40);
        d.set_cwnd(100);
        while d.cwnd() >= 100 {
            acks(&mut d, 1, 120);
        }
        d.tcb.ssthresh = d.tcb.cwnd;
        let before = d.tcb.cwnd;
        acks(&mut d, 200, 40);
        assert_eq!(d.tcb.cwnd, before, "within three round trips of 100 ms");
        d.advance(Time::from_ms(101));
        acks(&mut d, 50, 40);
        assert_eq!(d.cwnd(), 50 + 1);
    }
}
