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

use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::Tcb;
use crate::host::tcp::slow_start::SlowStart;

/// ns-3's attributes of `TcpCubic`.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub enabled: bool,
    /// Segments of cwnd from which on the end is looked for.
    pub low_window: u32,
    pub watch_train: bool,
    pub watch_delay: bool,
    pub min_samples: u32,
    /// In ns, as the next two.
    pub ack_delta: i64,
    pub delay_min: i64,
    pub delay_max: i64,
}

/// ns-3's defaults.
impl Default for Settings {
    fn default() -> Self {
        Settings {
            enabled: true,
            low_window: 16,
            watch_train: true,
            watch_delay: true,
            min_samples: 8,
            ack_delta: Time::from_ms(2).ns(),
            delay_min: Time::from_ms(4).ns(),
            delay_max: Time::from_secs(1).ns(),
        }
    }
}

#[derive(Debug)]
pub struct HyStart {
    settings: Settings,
    found: bool,
    round_start: i64,
    round_end: Seq,
    last_ack: i64,
    /// Smallest delay of the round.
    round_delay: Option<i64>,
    samples: u32,
}

impl SlowStart for HyStart {
    fn init(&mut self, tcb: &Tcb) {
        self.start_round(tcb);
    }

    /// Counts segments, as RFC 3465 with L = infinity; only a window that limits grows.
    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32 {
        if tcb.is_cwnd_limited {
            if self.settings.enabled && tcb.last_acked_seq > self.round_end {
                self.start_round(tcb);
            }
            let acked_bytes = segments_acked.wrapping_mul(tcb.segment_size);
            tcb.cwnd = tcb.cwnd.wrapping_add(acked_bytes);
        }
        0
    }

    fn on_round_trip(&mut self, tcb: &mut Tcb, rtt: Time, least: Time) {
        self.on_delay(tcb, rtt.ns(), least.ns());
    }

    fn on_timeout(&mut self, tcb: &Tcb) {
        self.found = false;
        self.start_round(tcb);
    }
}

impl HyStart {
    pub fn new(settings: Settings) -> HyStart {
        HyStart {
            settings,
            found: false,
            round_start: 0,
            round_end: Seq(0),
            last_ack: 0,
            round_delay: None,
            samples: 0,
        }
    }

    /// When everything sent before it has been acknowledged.
    fn start_round(&mut self, tcb: &Tcb) {
        self.round_start = tcb.now.ns();
        self.last_ack = tcb.now.ns();
        self.round_end = tcb.high_tx_mark;
        self.round_delay = None;
        self.samples = 0;
    }

    /// Takes a delay sample; sets ssthresh to cwnd if slow start should end.
    fn on_delay(&mut self, tcb: &mut Tcb, delay: i64, least_delay: i64) {
        let low_window = self.settings.low_window.wrapping_mul(tcb.segment_size);
        if !self.settings.enabled || self.found || tcb.cwnd > tcb.ssthresh || tcb.cwnd < low_window
        {
            return;
        }
        let train = self.train_exceeds(tcb.now.ns(), least_delay);
        let risen = self.delay_exceeds(delay, least_delay);
        self.found = (train && self.settings.watch_train) || (risen && self.settings.watch_delay);
        if self.found {
            tcb.ssthresh = tcb.cwnd;
        }
    }

    fn train_exceeds(&mut self, now: i64, least_delay: i64) -> bool {
        if now - self.last_ack > self.settings.ack_delta {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > least_delay
    }

    fn delay_exceeds(&mut self, delay: i64, least_delay: i64) -> bool {
        if self.samples < self.settings.min_samples {
            self.round_delay = Some(self.round_delay.map_or(delay, |least| least.min(delay)));
            self.samples += 1;
            return false;
        }
        let threshold = if least_delay > self.settings.delay_max {
            self.settings.delay_max
        } else {
            least_delay.max(self.settings.delay_min)
        };
        self.round_delay.is_some_and(|least| least > least_delay.saturating_add(threshold))
    }
}
