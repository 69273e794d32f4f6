//! CUBIC (RFC 9438, formerly RFC 8312; Ha, Rhee, Xu 2008; ns-3's `TcpCubic`).
//!
//! After a loss at W_max the window follows (section 4.2)
//!
//! ```text
//! W(t) = C (t - K)^3 + W_max,    K = cbrt((W_max - cwnd_start) / C)
//! ```
//!
//! with t the time since congestion avoidance began, plus the minimum RTT.  As in Linux, the curve
//! is turned into a count of ACKs per segment of growth: cwnd / (W(t) - cwnd), at least 2.
//! Reno-friendliness (section 4.3): an estimated Reno window grows by one segment per
//! 8 (1 + beta) / (3 (1 - beta)) / 8 windows acknowledged, and the count is lowered to reach it.
//! Decrease (section 4.6): ssthresh = beta cwnd; fast convergence (section 4.7): a loss below the
//! last W_max lowers W_max to cwnd (1 + beta) / 2.

use super::BuildContext;
use super::cube_root::root;
use super::linux_reno::grow_by_credits;
use crate::base::attributes::{FRACTION, Kind, Spec, U8, U32, param};
use crate::base::cpp;
use crate::base::math;
use crate::base::time::{Time, seconds};
use crate::host::slow_start::{HyStart, Settings};
use crate::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck, TcpStack};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpCubic",
    linux: &["cubic"],
    is_in_linux: true,
    doc: "Window as a cubic function of the time since the last loss, with hybrid slow start.",
    source: "RFC 9438",
    departures: &[
        "slow start counts segments, as RFC 3465 with L = infinity",
        "the ACK that crosses ssthresh uses all its segments there",
        "beta and C are real numbers while delta = C |t-K|^3 and the friendliness factor are \
         truncated to integers",
        "the curve may exceed 1.5 cwnd per RTT only through the count's floor of 2",
        "a timeout forgets K, the minimum RTT and the Reno estimate but keeps W_max",
        "ssthresh uses cwnd, not the FlightSize",
        "HyStart's train must last the whole minimum RTT (Linux: half of it, as in the paper's \
         one-way delay)",
        "HyStart's delay threshold is the minimum RTT itself, clamped to [`DelayMin`, \
         `DelayMax`] (Linux: an eighth of it, clamped to 4..16 ms), so that on most paths it \
         ends slow start after losses, if at all",
        "HyStart sees the smoothed RTT (Linux: the samples)",
    ],
    params: &[
        param!["FastConvergence", "fast_convergence"; Kind::Bool => "true";
            "Give up bandwidth faster when the maximum window shrinks (RFC 9438 section 4.7)."],
        param!["TcpFriendliness", "tcp_friendliness"; Kind::Bool => "true";
            "Never be slower than Reno would be (RFC 9438 section 4.3)."],
        // By 1 - beta ns-3 divides; what comes of 0 makes it loop without end.
        param!["Beta", "beta"; Kind::Real { min: 0.0, max: 0.999 } => "0.7";
            "What is left of the window after a loss, as a fraction (Linux writes 717/1024)."],
        param!["BetaEcn"; FRACTION => "0.85";
            "The share of the window that is left after a mark with `UseAbe` (RFC 8511); from ns-3 3.47 on."],
        param!["HyStart", "hystart"; Kind::Bool => "true"; "Hybrid slow start."],
        param!["HyStartLowWindow", "hystart_low_window"; U32 => "16";
            "Window in segments from which on hybrid slow start is active."],
        param!["HyStartDetect", "hystart_detect"; Kind::Enum(&["PACKET_TRAIN", "DELAY", "BOTH"]) => "BOTH";
            "The signs at which slow start ends."],
        param!["HyStartMinSamples"; U8 => "8";
            "Delay samples of a round before its delay is judged."],
        param!["HyStartAckDelta", "hystart_ack_delta_us"; Kind::Time => "2ms";
            "Largest gap between two ACKs of one train."],
        param!["HyStartDelayMin"; Kind::Time => "4ms";
            "Smallest increase of delay that ends slow start."],
        param!["HyStartDelayMax"; Kind::Time => "1s";
            "Largest increase of delay that is tolerated in slow start."],
        param!["CubicDelta"; Kind::Time => "10ms";
            "Delay samples are ignored for so long after congestion avoidance begins."],
        param!["CntClamp"; U8 => "20"; "Most ACKs per segment of growth before the first loss."],
        param!["C"; Kind::Real { min: 0.0, max: f64::INFINITY } => "0.4";
            "Steepness of the curve, in segments per cubic second."],
    ],
};

#[derive(Debug)]
pub struct Cubic {
    fast_convergence: bool,
    tcp_friendliness: bool,
    beta: f64,
    /// With ABE, after a mark.
    beta_ecn: f64,
    c: f64,
    cubic_delta: i64,
    cnt_clamp: u32,
    stack: TcpStack,
    /// The count as computed last, of which window, and when: Linux keeps it for a while.
    count: u32,
    counted: Option<(u32, u64)>,
    /// Segments acknowledged towards the next segment of growth.
    acked: u32,
    /// W_max in segments; 0 before the first loss.
    w_max: u32,
    /// When this congestion avoidance began; none until its first ACK.
    epoch_start: Option<i64>,
    /// Height and time (s) of the curve's plateau.
    origin: u32,
    k: f64,
    /// Smallest RTT since the last timeout.
    least_delay: Option<i64>,
    /// Of Reno's window, whose average is ours: eighths of ACKs per segment of growth.
    reno_scale: u32,
    /// Reno's window, and the segments acknowledged towards its growth.
    reno_window: u32,
    reno_acked: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    let a = &cx.attributes;
    let detect = a.text("HyStartDetect");
    let hystart = HyStart::new(Settings {
        enabled: a.bool("HyStart"),
        low_window: a.u32("HyStartLowWindow"),
        watch_train: detect != "DELAY",
        watch_delay: detect != "PACKET_TRAIN",
        min_samples: a.u32("HyStartMinSamples"),
        ack_delta: a.time("HyStartAckDelta").ns(),
        delay_min: a.time("HyStartDelayMin").ns(),
        delay_max: a.time("HyStartDelayMax").ns(),
    });
    Control::from(cubic(cx)).starting(hystart)
}

fn cubic(cx: &BuildContext<'_>) -> Cubic {
    let a = &cx.attributes;
    let (mut beta, mut c) = (a.f64("Beta"), a.f64("C"));
    if cx.stack == TcpStack::Linux {
        (beta, c) = (in_parts(beta, STEPS), in_parts(c, STEPS / 10.0));
    }
    let scaled = beta * 1024.0;
    Cubic {
        fast_convergence: a.bool("FastConvergence"),
        tcp_friendliness: a.bool("TcpFriendliness"),
        beta,
        beta_ecn: a.f64("BetaEcn"),
        c,
        cubic_delta: a.time("CubicDelta").ns(),
        cnt_clamp: a.u32("CntClamp"),
        stack: cx.stack,
        count: 0,
        counted: None,
        acked: 0,
        w_max: 0,
        epoch_start: None,
        origin: 0,
        k: 0.0,
        least_delay: None,
        reno_scale: cpp::to_u32(8.0 * (1024.0 + scaled) / 3.0 / (1024.0 - scaled)),
        reno_window: 0,
        reno_acked: 0,
    }
}

/// In which Linux measures time, and those of its curve.
const MS: i64 = 1_000_000;
const STEPS: f64 = 1024.0;

fn in_steps(seconds: f64) -> f64 {
    (seconds * STEPS).floor() / STEPS
}

/// Linux has C in steps of 10 / 1024, and beta in steps of 1 / 1024.
fn in_parts(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

fn linux_k(missing: u32, c: f64) -> f64 {
    let by_segment = STEPS * STEPS * STEPS / c;
    root((by_segment as u64).saturating_mul(u64::from(missing))) as f64 / STEPS
}

const LINUX_DELTA_MS: i64 = 1000;

/// While the window is the same Linux computes its count 32 times a second.
const COUNT_STAYS_MS: u64 = 31;

/// c d^3, truncated.  The power that is correctly rounded takes ten times as long as two multiplications,
/// whose error mostly is far from reaching the next whole number.
fn whole_segments(c: f64, distance: f64) -> u32 {
    const ERROR: f64 = 1.0 / (1_u64 << 40) as f64; // relative; some units of 2^-53 are rounded off
    let cube = distance * distance * distance;
    let least = cpp::to_u32(c * (cube * (1.0 - ERROR)));
    let most = cpp::to_u32(c * (cube * (1.0 + ERROR)));
    if least == most { least } else { cpp::to_u32(c * math::pow(distance, 3.0)) }
}

impl Cubic {
    /// Segments to be acknowledged per segment of growth.
    fn acks_per_segment(&mut self, tcb: &Tcb, segments_acked: u32) -> u32 {
        let window = tcb.cwnd_segments();
        self.reno_acked = self.reno_acked.wrapping_add(segments_acked);
        let mut has_curve = false;
        if self.stack == TcpStack::Linux {
            let ms = tcb.now.ms();
            if let Some((of, at)) = self.counted {
                if of == window && ms - at <= COUNT_STAYS_MS {
                    return self.count;
                }
                has_curve = at == ms && self.epoch_start.is_some();
            }
            if !has_curve {
                self.counted = Some((window, ms));
            }
        }
        let mut count =
            if has_curve { self.count } else { self.acks_by_curve(tcb, segments_acked) };
        if self.tcp_friendliness {
            count = count.min(self.acks_per_segment_of_reno(window));
        }
        self.count = count.max(2);
        self.count
    }

    /// The same without regard to Reno.
    fn acks_by_curve(&mut self, tcb: &Tcb, segments_acked: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let now = tcb.now.ns();
        let epoch_start = *self.epoch_start.get_or_insert_with(|| {
            self.reno_acked = segments_acked;
            self.reno_window = window;
            self.origin = self.w_max.max(window);
            self.k = match self.origin - window {
                0 => 0.0,
                missing if self.stack == TcpStack::Linux => linux_k(missing, self.c),
                missing => math::pow(f64::from(missing) / self.c, 1.0 / 3.0),
            };
            now
        });
        let t = if self.stack == TcpStack::Linux {
            let ms = now / MS - epoch_start / MS;
            let delay = self.least_delay.map_or(0, |least| (least + MS - 1) / MS);
            in_steps((ms + delay) as f64 / 1e3)
        } else {
            // Without a sample ns-3 adds `Time::Min()`, which puts t far below K.
            let delay = self.least_delay.unwrap_or(i64::MIN);
            seconds(now.wrapping_add(delay).wrapping_sub(epoch_start))
        };
        let target = self.curve(t);

        let mut count = if target > window {
            window / (target - window)
        } else {
            window.wrapping_mul(100) // at the plateau: as good as no growth
        };
        if self.w_max == 0 {
            count = count.min(self.cnt_clamp);
        }
        count
    }

    /// Right after recovery they still show the queue that caused the loss; for Linux that is a second.
    fn takes_samples(&self, tcb: &Tcb) -> bool {
        let now = tcb.now.ns();
        self.epoch_start.is_none_or(|start| match self.stack {
            TcpStack::Linux => now / MS - start / MS >= LINUX_DELTA_MS,
            TcpStack::Ns3 => now - start >= self.cubic_delta,
        })
    }

    /// W(t) in segments.
    fn curve(&self, t: f64) -> u32 {
        let distance = if t < self.k { self.k - t } else { t - self.k };
        let delta = whole_segments(self.c, distance);
        if t < self.k { self.origin.wrapping_sub(delta) } else { self.origin.wrapping_add(delta) }
    }

    /// `u32::MAX` while Reno's window is not above ours.
    fn acks_per_segment_of_reno(&mut self, window: u32) -> u32 {
        let acks_per_segment = window.wrapping_mul(self.reno_scale) >> 3;
        // With beta below 0.2 and a tiny window the quotient is 0, and ns-3 would not return.
        while acks_per_segment > 0 && self.reno_acked > acks_per_segment {
            self.reno_acked -= acks_per_segment;
            self.reno_window = self.reno_window.wrapping_add(1);
        }
        if self.reno_window > window { window / (self.reno_window - window) } else { u32::MAX }
    }
}

impl CongestionControl for Cubic {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        self.w_max = if window < self.w_max && self.fast_convergence {
            cpp::to_u32(f64::from(window) * (1.0 + self.beta) / 2.0)
        } else {
            window
        };
        self.epoch_start = None;
        let beta = if tcb.is_reduced_by_abe() { self.beta_ecn } else { self.beta };
        let left = cpp::to_u32(f64::from(window) * beta);
        left.max(2).wrapping_mul(tcb.segment_size)
    }

    fn forget_credits(&mut self) {
        if self.stack == TcpStack::Linux {
            self.acked = 0;
        }
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !tcb.is_cwnd_limited {
            return;
        }
        if segments_acked > 0 {
            let count = self.acks_per_segment(tcb, segments_acked);
            if self.stack == TcpStack::Linux {
                return grow_by_credits(tcb, &mut self.acked, segments_acked, count);
            }
            self.acked = self.acked.wrapping_add(segments_acked);
            if self.acked >= count {
                tcb.cwnd = tcb.cwnd.wrapping_add(tcb.segment_size);
                self.acked -= count;
            }
        }
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        if self.takes_samples(tcb) {
            let least = self.least_delay.map_or(rtt.ns(), |least| least.min(rtt.ns()));
            self.least_delay = Some(least);
        }
    }

    fn least_rtt(&self, tcb: &Tcb) -> Option<Time> {
        self.least_delay.filter(|_| self.takes_samples(tcb)).map(|least| Time(least as u64))
    }

    /// A silence is no time in which the curve rises, in Linux, which counts it from one millisecond to another.
    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::TxStart
            && self.stack == TcpStack::Linux
            && let Some(start) = &mut self.epoch_start
        {
            let silence = (tcb.now.ms() - tcb.last_departure.ms()) as i64;
            *start = (*start + silence * MS).min(tcb.now.ns());
        }
        None
    }

    fn set_state(&mut self, _tcb: &mut Tcb, state: CongState) {
        if state == CongState::Loss {
            self.origin = 0;
            self.k = 0.0;
            self.reno_acked = 0;
            self.reno_window = 0;
            self.least_delay = None;
            if self.stack == TcpStack::Linux {
                (self.w_max, self.count, self.counted) = (0, 0, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::driver::Driver;
    use super::{CaEvent, CongState, TcpStack, Time, whole_segments};
    use crate::{base::cpp, base::math};

    const PLAIN: [(&str, &str); 2] = [("HyStart", "false"), ("TcpFriendliness", "false")];

    /// RFC 9438 section 4.2, in segments and seconds, with t counted as ns-3 counts it.
    fn curve(t: f64, rtt: f64, w_max: f64, start: f64) -> f64 {
        let k = math::pow((w_max - start) / 0.4, 1.0 / 3.0);
        0.4 * math::pow(t + rtt - k, 3.0) + w_max
    }

    #[test]
    fn the_window_follows_the_cubic_curve_through_its_plateau() {
        let mut d = Driver::new("TcpCubic", &PLAIN).with_cwnd(100).with_ssthresh(100);
        d.fast_recovery();
        assert_eq!(d.cwnd(), 70);
        let start = d.tcb.now;
        while d.tcb.now < start + crate::base::time::Time::from_secs(9) {
            d.round();
            let t = (d.tcb.now - start).secs_f64();
            let wanted = curve(t, 0.1, 100.0, 70.0);
            // The target is truncated, and reached by the end of the following round trip.
            let lag = wanted - curve(t - 0.2, 0.1, 100.0, 70.0);
            let error = wanted - f64::from(d.cwnd());
            assert!((-1.0..lag + 2.5).contains(&error), "t = {t}: {} for {wanted}", d.cwnd());
        }
        assert!(d.cwnd() > 120);
    }

    #[test]
    fn at_a_short_rtt_it_grows_as_reno_with_the_same_average_window() {
        let mut d = Driver::new("TcpCubic", &[("HyStart", "false")]).with_rtt(5);
        d = d.with_cwnd(200).with_ssthresh(200);
        d.fast_recovery();
        d.rounds(90);
        // Section 4.3: 3 (1 - beta) / (1 + beta) = 0.53 segments per round trip.
        let grown = d.cwnd() - 140;
        assert!((45..=50).contains(&grown), "{grown}");
    }

    #[test]
    fn linux_forgets_the_credits_of_a_window_that_is_reduced() {
        let [linux, ns3] = [TcpStack::Linux, TcpStack::Ns3].map(|stack| {
            let mut d = Driver::on(stack, "TcpCubic", &[]).with_cwnd(20).with_ssthresh(20);
            d.acks(15, 1);
            d.fast_recovery();
            let before = d.cwnd();
            (0..50).position(|_| {
                d.ack(1);
                d.cwnd() > before
            })
        });
        assert!(linux > ns3, "{linux:?} {ns3:?}");
    }

    /// ns-3's `CubicDelta` is 10 ms; in Linux it is a second of the clock's ticks.
    #[test]
    fn linux_takes_no_sample_in_the_first_second_after_a_loss() {
        for (stack, ms) in [(TcpStack::Linux, 1000), (TcpStack::Ns3, 10)] {
            let mut d = Driver::on(stack, "TcpCubic", &[]).with_cwnd(20).with_ssthresh(20);
            d.fast_recovery();
            d.ack(1); // congestion avoidance begins
            let start = d.tcb.now;
            for (after, is_taken) in [(ms - 1, false), (ms, true)] {
                d.tcb.now = start + Time::from_ms(after);
                let least = d.control.algorithm().least_rtt(&d.tcb);
                assert_eq!(least.is_some(), is_taken, "{stack:?} {after} ms");
            }
        }
    }

    /// 9.2 ms are ten of its milliseconds, if so many begin meanwhile.
    #[test]
    fn linux_leaves_a_silence_out_from_one_millisecond_to_another() {
        let mut d = Driver::on(TcpStack::Linux, "TcpCubic", &[]).with_cwnd(20).with_ssthresh(20);
        d.fast_recovery();
        d.ack(1);
        let start = Time::from_ms(d.tcb.now.ms());
        d.tcb.last_departure = start + Time(900_000);
        d.tcb.now = start + Time(10_100_000);
        d.event(CaEvent::TxStart);
        for (ms, is_taken) in [(1009, false), (1010, true)] {
            d.tcb.now = start + Time::from_ms(ms);
            assert_eq!(d.control.algorithm().least_rtt(&d.tcb).is_some(), is_taken, "{ms} ms");
        }
    }

    /// The curve is so steep that the count falls from 7 to 6 in the meantime.
    #[test]
    fn linux_keeps_its_count_for_31_ms_while_the_window_stays() {
        let grown = [TcpStack::Linux, TcpStack::Ns3].map(|stack| {
            [31, 32].map(|ms| {
                let steep = [PLAIN[0], PLAIN[1], ("C", "400")];
                let mut d = Driver::on(stack, "TcpCubic", &steep);
                d = d.with_cwnd(1000).with_ssthresh(1000);
                d.fast_recovery();
                let before = d.cwnd();
                d.ack(1);
                d.tcb.now += crate::base::time::Time::from_ms(ms);
                d.acks(5, 1);
                d.cwnd() - before
            })
        });
        assert_eq!(grown, [[0, 1], [1, 1]]);
    }

    /// Without W_max the window grows by a segment for every 20 at least.
    #[test]
    fn a_timeout_makes_linux_forget_the_plateau() {
        let [linux, ns3] = [TcpStack::Linux, TcpStack::Ns3].map(|stack| {
            let mut d = Driver::on(stack, "TcpCubic", &PLAIN).with_cwnd(100).with_ssthresh(100);
            d.fast_recovery();
            d.ssthresh_on_loss();
            d.state(CongState::Loss);
            d.state(CongState::Open);
            d.acks(60, 1);
            d.cwnd()
        });
        assert_eq!((linux, ns3), (73, 70));
    }

    #[test]
    fn fast_convergence_lowers_the_plateau_when_windows_shrink() {
        let mut d = Driver::new("TcpCubic", &PLAIN).with_cwnd(100).with_ssthresh(100);
        d.fast_recovery();
        d.set_cwnd(80);
        d.fast_recovery();
        assert_eq!(d.cwnd(), 56);
        // The plateau is now 80 * 1.7 / 2 = 68, reached after cbrt(12 / 0.4) = 3.1 s.
        d.rounds(31);
        assert!((66..=69).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn hystart_ends_slow_start_when_the_delay_doubles() {
        let mut d = Driver::new("TcpCubic", &[("HyStartDetect", "DELAY")]);
        d = d.with_rtt(50).with_cwnd(20);
        d.round();
        d.set_rtt(99);
        d.round();
        assert_eq!(d.ssthresh(), u32::MAX / 1000);
        d.set_rtt(101);
        d.rounds(2);
        assert!((80..=100).contains(&d.ssthresh()), "{}", d.ssthresh());
    }

    #[test]
    fn hystart_ends_slow_start_when_a_train_of_acks_lasts_longer_than_the_path() {
        let mut d = Driver::new("TcpCubic", &[]).with_rtt(50).with_cwnd(100);
        let gap = crate::base::time::Time::from_ms(1);
        for _ in 0..49 {
            d.advance(gap);
            d.ack(1);
        }
        assert_eq!(d.ssthresh(), u32::MAX / 1000);
        for _ in 0..4 {
            d.advance(gap);
            d.ack(1);
        }
        assert!((149..=153).contains(&d.ssthresh()), "{}", d.ssthresh());
    }

    proptest! {
        /// Also right beside the distances at which the curve reaches a whole number, where only the power
        /// that is correctly rounded tells on which side.
        #[test]
        fn whole_segments_are_those_of_the_rounded_power(
            c in prop_oneof![Just(0.4), Just(f64::INFINITY), 1e-3..1e3, 1e300..f64::MAX],
            segments in 0_u64..1 << 40,
            beside in -4_i64..5,
        ) {
            let reached = math::pow(segments as f64 / c, 1.0 / 3.0);
            let distance = f64::from_bits(reached.to_bits().saturating_add_signed(beside));
            let rounded = cpp::to_u32(c * math::pow(distance, 3.0));
            prop_assert_eq!(whole_segments(c, distance), rounded);
        }
    }
}
