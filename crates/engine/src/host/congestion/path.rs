//! Drives one algorithm with `cong_control` over a bottleneck, for tests: segments, a queue, and what ACKs say.
//!
//! A segment that is lost is found lost when its ACK would have come, and is not sent again.

use std::collections::VecDeque;

use super::driver::MSS;
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{CaEvent, CongestionControl};
use crate::host::tcp::rate::{AckSample, RateConnection, RateSample};
use crate::host::tcp::{CongState, Tcb};

/// A link with a queue in front.
#[derive(Debug)]
pub struct Path {
    pub rate: Rate,
    pub rtt: Time,
    /// In segments.
    pub buffer: usize,
    /// Of so many segments one is lost; 0 is none.
    pub one_lost_of: u64,
    /// ACKs come together this often.
    pub batch: Time,
    /// Each so long the sender has nothing to send for as long.
    pub pauses: Time,
}

impl Default for Path {
    fn default() -> Path {
        let (rate, rtt) = (Rate(8_000_000), Time::from_ms(100));
        let (batch, pauses) = (Time::ZERO, Time::ZERO);
        Path { rate, rtt, buffer: 100, one_lost_of: 0, batch, pauses }
    }
}

/// A segment on its way, with what the connection had delivered when it left.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    at: Time,
    is_lost: bool,
    back: Time,
    delivered: u64,
    delivered_time: Time,
    in_flight: u32,
    lost: u64,
    is_app_limited: bool,
}

#[derive(Debug)]
pub struct Run<C> {
    pub path: Path,
    pub control: C,
    pub tcb: Tcb,
    pub connection: RateConnection,
    flying: VecDeque<Sent>,
    sent: u64,
    link_free: Time,
    may_send: Time,
    app_limited_until: u64,
    /// The first segment sent after the present episode of recovery began.
    recovery_end: Option<u64>,
    /// What the ACK before knew of losses.
    told_lost: u64,
}

impl<C: CongestionControl> Run<C> {
    pub fn new(mut control: C, path: Path) -> Run<C> {
        let mut tcb = Tcb {
            now: Time::from_secs(1),
            cwnd: 10 * MSS,
            initial_cwnd: 10,
            segment_size: MSS,
            srtt: path.rtt,
            is_cwnd_limited: true,
            max_pacing_rate: Rate(u64::MAX),
            ..Tcb::default()
        };
        control.init(&mut tcb);
        control.set_state(&mut tcb, CongState::Open);
        let connection = RateConnection { delivered_time: tcb.now, ..RateConnection::default() };
        let (link_free, may_send) = (tcb.now, tcb.now);
        Run {
            path,
            control,
            tcb,
            connection,
            flying: VecDeque::new(),
            sent: 0,
            link_free,
            may_send,
            app_limited_until: 0,
            recovery_end: None,
            told_lost: 0,
        }
    }

    /// Runs for so long, and shows what there is after each ACK.
    pub fn run(&mut self, length: Time, mut look: impl FnMut(&Run<C>)) {
        let end = self.tcb.now + length;
        while self.tcb.now < end {
            let back = self.flying.front().map_or(Time::MAX, |first| first.back);
            let leaves = if self.may_leave() { self.may_send.max(self.tcb.now) } else { Time::MAX };
            if leaves <= back && leaves < Time::MAX {
                self.tcb.now = leaves;
                self.send();
            } else {
                let first = self.flying.pop_front().expect("something is in flight");
                self.tcb.now = self.tcb.now.max(first.back);
                if !first.is_lost {
                    self.acknowledge(first);
                    look(self);
                } else {
                    self.lose();
                }
            }
        }
    }

    fn may_leave(&mut self) -> bool {
        let since = self.tcb.now - Time::from_secs(1);
        if !self.path.pauses.is_zero() && (since.0 / self.path.pauses.0) % 2 == 1 {
            let in_flight = u64::from(self.tcb.bytes_in_flight);
            self.app_limited_until = self.connection.delivered + in_flight + 1;
            if !self.flying.is_empty() {
                return false;
            }
            self.tcb.now = Time::from_secs(1) + Time(since.0.next_multiple_of(self.path.pauses.0));
        }
        self.tcb.bytes_in_flight + MSS <= self.tcb.cwnd
    }

    fn send(&mut self) {
        if self.flying.is_empty() {
            self.control.cwnd_event(&mut self.tcb, CaEvent::TxStart);
            self.connection.delivered_time = self.tcb.now;
        }
        let now = self.tcb.now;
        let service = Time::from_secs_f64(f64::from(MSS) * 8.0 / self.path.rate.0 as f64);
        self.link_free = self.link_free.max(now);
        let waits = (self.link_free - now).0 / service.0.max(1);
        let random = self.path.one_lost_of > 0
            && self.sent.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
                < (1 << 32) / self.path.one_lost_of;
        let is_lost = random || waits >= self.path.buffer as u64;
        if !is_lost {
            self.link_free += service;
        }
        let mut back = self.link_free + self.path.rtt;
        if !self.path.batch.is_zero() {
            back = Time(back.0.next_multiple_of(self.path.batch.0));
        }
        self.flying.push_back(Sent {
            number: self.sent,
            at: now,
            is_lost,
            back,
            delivered: self.connection.delivered,
            delivered_time: self.connection.delivered_time,
            in_flight: self.tcb.bytes_in_flight,
            lost: self.connection.lost,
            is_app_limited: self.connection.delivered < self.app_limited_until,
        });
        self.sent += 1;
        self.tcb.bytes_in_flight += MSS;
        self.may_send =
            now + Time::from_secs_f64(f64::from(MSS) * 8.0 / self.tcb.pacing_rate.0 as f64);
    }

    fn lose(&mut self) {
        self.tcb.bytes_in_flight -= MSS;
        self.connection.lost += u64::from(MSS);
        self.control.on_loss(&mut self.tcb, MSS);
        if self.recovery_end.is_none() {
            self.recovery_end = Some(self.sent);
            self.tcb.ssthresh = self.control.ssthresh(&self.tcb, self.tcb.bytes_in_flight);
            self.control.set_state(&mut self.tcb, CongState::Recovery);
            self.tcb.cong_state = CongState::Recovery;
        }
    }

    fn acknowledge(&mut self, segment: Sent) {
        self.tcb.bytes_in_flight -= MSS;
        if self.recovery_end.is_some_and(|end| segment.number >= end) {
            self.recovery_end = None;
            self.control.set_state(&mut self.tcb, CongState::Open);
            self.tcb.cong_state = CongState::Open;
        }
        let now = self.tcb.now;
        self.connection.delivered += u64::from(MSS);
        self.connection.delivered_time = now;
        let newly_lost = self.connection.lost - self.told_lost;
        self.told_lost = self.connection.lost;
        let interval = now - segment.delivered_time;
        let delivered = self.connection.delivered - segment.delivered;
        let sample = RateSample {
            interval,
            delivered: delivered as i32,
            prior_delivered: segment.delivered,
            acked_sacked: MSS,
            newly_lost: newly_lost as u32,
            lost: (self.connection.lost - segment.lost) as u32,
            tx_in_flight: segment.in_flight,
            rtt: Some(now - segment.at),
            is_app_limited: segment.is_app_limited,
            ..RateSample::default()
        };
        let sample = AckSample { connection: &self.connection, rate: &sample };
        self.control.cong_control(&mut self.tcb, sample);
    }
}
