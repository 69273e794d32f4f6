//! Westwood+ (Mascolo et al., MobiCom 2001; Grieco and Mascolo, CCR 2004; ns-3's
//! `TcpWestwoodPlus`): after a loss the window becomes bandwidth * minimum RTT.
//!
//! Once per RTT b_k = bytes acknowledged / RTT, smoothed by a Tustin (bilinear) low-pass filter,
//! B_k = 0.9 B_(k-1) + 0.1 (b_k + b_(k-1)) / 2; ssthresh = B RTT_min, at least two segments.
//! Growth is NewReno's.  Where the stack is Linux's, `westwood_linux.rs`.
//!
//! ns-3 takes the sample in an event of its own.  Only the calls below look at its result, so it is
//! taken here by the first call at or after its time; an ACK at that very nanosecond comes second,
//! as its arrival was scheduled later than the sample, which is a whole RTT old.  (Not so if the
//! smoothed RTT, which comes from timestamps in ms, is shorter than the last hop: a tie would then
//! fall the other way in ns-3.)

use super::{BuildContext, new_reno, westwood_linux};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::cpp;
use crate::base::time::{Rate, Time};
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpWestwoodPlus",
    linux: &["westwood"],
    is_in_linux: true,
    doc: "Sets ssthresh to the estimated bandwidth times the minimum RTT.",
    source: "Grieco, Mascolo: Westwood+ (CCR 2004)",
    departures: &[
        "each filtered term is truncated to whole bit/s",
        "the RTT that spaces the samples is the smoothed one, and its count begins with the \
         first ACK after the sample before",
    ],
    params: &[param!["FilterType"; Kind::Enum(&["None", "Tustin"]) => "Tustin";
            "How bandwidth samples are smoothed."]],
};

/// The filter's pole: the share of the last estimate in the new one.
const POLE: f64 = 0.9;

#[derive(Debug)]
pub struct WestwoodPlus {
    filtered: bool,
    bandwidth: Rate,
    last_sample: Rate,
    last_filtered: Rate,
    /// Segments acknowledged since the last sample.
    acked: u32,
    next_sample: Option<NextSample>,
}

#[derive(Clone, Copy, Debug)]
struct NextSample {
    due: Time,
    over: Time,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => westwood_linux::new().into(),
    }
}

fn of_ns3(cx: &BuildContext<'_>) -> WestwoodPlus {
    WestwoodPlus {
        filtered: cx.attributes.text("FilterType") == "Tustin",
        bandwidth: Rate(0),
        last_sample: Rate(0),
        last_filtered: Rate(0),
        acked: 0,
        next_sample: None,
    }
}

fn scaled(rate: Rate, factor: f64) -> Rate {
    Rate(cpp::to_u64(rate.0 as f64 * factor))
}

impl WestwoodPlus {
    fn take_due_sample(&mut self, tcb: &Tcb) {
        let Some(NextSample { over, .. }) = self.next_sample.take_if(|s| s.due <= tcb.now) else {
            return;
        };
        let bytes = self.acked.wrapping_mul(tcb.segment_size);
        let sample = Rate(cpp::to_u64(f64::from(bytes) * 8.0 / over.secs_f64()));
        self.acked = 0;
        self.bandwidth = sample;
        if self.filtered {
            let mean = scaled(Rate(sample.0 + self.last_sample.0), 0.5);
            let old = scaled(self.last_filtered, POLE);
            self.bandwidth = Rate(old.0 + scaled(mean, 1.0 - POLE).0);
            self.last_sample = sample;
            self.last_filtered = self.bandwidth;
        }
    }
}

impl CongestionControl for WestwoodPlus {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        self.take_due_sample(tcb);
        let bits = tcb.min_rtt.secs_f64() * self.bandwidth.0 as f64;
        cpp::to_u32(bits / 8.0).max(2 * tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        new_reno::congestion_avoidance(tcb, segments_acked);
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, segments_acked: u32, rtt: Time) {
        self.take_due_sample(tcb);
        if !rtt.is_zero() {
            self.acked = self.acked.wrapping_add(segments_acked);
            self.next_sample.get_or_insert(NextSample { due: tcb.now + rtt, over: rtt });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::base::time::Time;

    fn steady(attributes: &[(&str, &str)], ms: u32) -> Driver {
        let mut d = Driver::new("TcpWestwoodPlus", attributes).with_cwnd(300).with_ssthresh(300);
        for _ in 0..ms {
            d.advance(Time::from_ms(1));
            d.ack(1);
        }
        d
    }

    #[test]
    fn ssthresh_is_the_bdp_once_the_filter_has_settled() {
        // A segment per ms and 100 ms: 100 segments, whatever the window is.
        let left = steady(&[], 6000).ssthresh_on_loss();
        assert!((99..=101).contains(&left), "{left}");
        let left = steady(&[("FilterType", "None")], 350).ssthresh_on_loss();
        assert!((99..=101).contains(&left), "{left}");
    }

    #[test]
    fn the_filter_forgets_a_tenth_per_sample() {
        // Samples at 101, 202, 303 ms; the first is averaged with a zero: 0.05, 0.145, 0.2305.
        let left = steady(&[], 310).ssthresh_on_loss();
        assert!((22..=24).contains(&left), "{left}");
    }

    /// Known departure: ns-3 samples by an event, which may also come after an ACK of its nanosecond.
    #[test]
    fn an_ack_on_the_nanosecond_of_a_sample_counts_for_the_next() {
        // The first sample is due at 101 ms.
        let mut d = steady(&[("FilterType", "None")], 100);
        d.advance(Time::from_ms(1));
        d.ack(50);
        assert_eq!(d.ssthresh_on_loss(), 100);
        for _ in 0..100 {
            d.advance(Time::from_ms(1));
            d.ack(1);
        }
        assert_eq!(d.ssthresh_on_loss(), 149);
    }
}
