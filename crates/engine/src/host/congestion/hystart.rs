//! Hybrid slow start (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011; the HyStart of
//! Linux's and ns-3's CUBIC): leave slow start before the queue overflows.
//!
//! Two signs within a round trip: an unbroken train of ACKs (each within `ack_delta` of the one
//! before) has lasted longer than the minimum delay, or the smallest of the round's first
//! `min_samples` delays exceeds the minimum delay by more than a threshold.
//!
//! Departures of ns-3 from Linux: the train must last the whole minimum RTT (Linux: half of it, as
//! in the paper's one-way delay), and the threshold is the minimum RTT itself clamped to
//! [`DelayMin`, `DelayMax`] (Linux: an eighth of it, clamped to 4..16 ms).

use crate::base::attributes::Attributes;
use crate::base::seq::Seq;
use crate::host::tcp::Tcb;

#[derive(Debug)]
pub(super) struct HyStart {
    enabled: bool,
    /// Segments of cwnd from which on the end is looked for.
    low_window: u32,
    watch_train: bool,
    watch_delay: bool,
    min_samples: u32,
    ack_delta: i64,
    delay_min: i64,
    delay_max: i64,
    found: bool,
    round_start: i64,
    round_end: Seq,
    last_ack: i64,
    /// Smallest delay of the round.
    round_delay: Option<i64>,
    samples: u32,
}

impl HyStart {
    pub(super) fn new(attributes: &Attributes<'_>) -> HyStart {
        let detect = attributes.text("HyStartDetect");
        HyStart {
            enabled: attributes.bool("HyStart"),
            low_window: attributes.u32("HyStartLowWindow"),
            watch_train: detect != "DELAY",
            watch_delay: detect != "PACKET_TRAIN",
            min_samples: attributes.u32("HyStartMinSamples"),
            ack_delta: attributes.time("HyStartAckDelta").ns(),
            delay_min: attributes.time("HyStartDelayMin").ns(),
            delay_max: attributes.time("HyStartDelayMax").ns(),
            found: false,
            round_start: 0,
            round_end: Seq(0),
            last_ack: 0,
            round_delay: None,
            samples: 0,
        }
    }

    pub(super) fn start_round(&mut self, tcb: &Tcb) {
        self.round_start = tcb.now.ns();
        self.last_ack = tcb.now.ns();
        self.round_end = tcb.high_tx_mark;
        self.round_delay = None;
        self.samples = 0;
    }

    /// Starts the next round when everything sent before this one has been acknowledged.
    pub(super) fn on_slow_start_ack(&mut self, tcb: &Tcb) {
        if self.enabled && tcb.last_acked_seq > self.round_end {
            self.start_round(tcb);
        }
    }

    /// Slow start may end again: the window has been reset.
    pub(super) fn forget_end(&mut self) {
        self.found = false;
    }

    /// Takes a delay sample; sets ssthresh to cwnd if slow start should end.
    pub(super) fn on_delay(&mut self, tcb: &mut Tcb, delay: i64, least_delay: i64) {
        let low_window = self.low_window.wrapping_mul(tcb.segment_size);
        if !self.enabled || self.found || tcb.cwnd > tcb.ssthresh || tcb.cwnd < low_window {
            return;
        }
        let train = self.train_exceeds(tcb.now.ns(), least_delay);
        let risen = self.delay_exceeds(delay, least_delay);
        self.found = (train && self.watch_train) || (risen && self.watch_delay);
        if self.found {
            tcb.ssthresh = tcb.cwnd;
        }
    }

    fn train_exceeds(&mut self, now: i64, least_delay: i64) -> bool {
        if now - self.last_ack > self.ack_delta {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > least_delay
    }

    fn delay_exceeds(&mut self, delay: i64, least_delay: i64) -> bool {
        if self.samples < self.min_samples {
            self.round_delay = Some(self.round_delay.map_or(delay, |least| least.min(delay)));
            self.samples += 1;
            return false;
        }
        let threshold = if least_delay > self.delay_max {
            self.delay_max
        } else {
            least_delay.max(self.delay_min)
        };
        self.round_delay.is_some_and(|least| least > least_delay.saturating_add(threshold))
    }
}
