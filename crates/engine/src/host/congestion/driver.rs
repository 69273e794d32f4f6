//! Drives one algorithm by hand, for tests: what a socket would call, in a line each.

use std::collections::BTreeMap;

use super::{BuildContext, SPECS, build};
use crate::base::attributes::{Attributes, Spec};
use crate::base::seq::Seq;
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{Acked, CaEvent, Control, EarlyAck, TcpStack};
use crate::host::tcp::profile::changes::Changes;
use crate::host::tcp::rate::{AckSample, RateConnection, RateSample};
use crate::host::tcp::{CongState, Tcb};

pub const MSS: u32 = 1000;

#[derive(Debug)]
pub struct Driver {
    pub tcb: Tcb,
    pub control: Control,
    /// Of the samples that ACKs bring.
    pub rtt: Time,
    pub delivery: RateConnection,
}

impl Driver {
    /// A connection that has just been established: cwnd 10 segments, RTT 100 ms.
    pub fn new(ns3: &str, attributes: &[(&str, &str)]) -> Driver {
        Driver::on(TcpStack::Ns3, ns3, attributes)
    }

    /// The same in this stack.
    pub fn on(stack: TcpStack, ns3: &str, attributes: &[(&str, &str)]) -> Driver {
        let made = |cx: &BuildContext<'_>| {
            let attributes = cx.attributes.clone();
            build(ns3, &BuildContext { attributes, stack, ..*cx })
        };
        let spec = SPECS.iter().find(|spec| spec.ns3 == ns3).expect("a registered algorithm");
        let mut driver = Driver {
            tcb: tcb(),
            control: with_context(spec, attributes, made).expect("the same"),
            rtt: Time::from_ms(100),
            delivery: RateConnection::default(),
        };
        driver.control.init(&mut driver.tcb);
        driver.tcb.min_rtt = driver.rtt;
        driver.tcb.srtt = driver.rtt;
        driver.tcb.last_rtt = driver.rtt;
        driver.state(CongState::Open);
        driver
    }

    /// In segments.
    pub fn with_cwnd(mut self, segments: u32) -> Driver {
        self.set_cwnd(segments);
        self
    }

    pub fn with_ssthresh(mut self, segments: u32) -> Driver {
        self.tcb.ssthresh = segments * MSS;
        self
    }

    pub fn with_rtt(mut self, ms: u64) -> Driver {
        self.set_rtt(ms);
        self
    }

    pub fn set_cwnd(&mut self, segments: u32) {
        self.tcb.cwnd = segments * MSS;
    }

    pub fn set_rtt(&mut self, ms: u64) {
        self.rtt = Time::from_ms(ms);
        self.tcb.srtt = self.rtt;
        self.tcb.last_rtt = self.rtt;
        self.tcb.min_rtt = self.tcb.min_rtt.min(self.rtt);
    }

    /// In segments.
    pub fn cwnd(&self) -> u32 {
        self.tcb.cwnd_segments()
    }

    pub fn ssthresh(&self) -> u32 {
        self.tcb.ssthresh / self.tcb.segment_size
    }

    pub fn advance(&mut self, time: Time) {
        self.tcb.now += time;
    }

    /// One ACK of new data, with a full window in flight behind it.
    pub fn ack(&mut self, segments: u32) {
        let bytes = segments * MSS;
        self.tcb.last_acked_seq += bytes;
        self.tcb.next_tx_seq = self.tcb.last_acked_seq + self.tcb.cwnd;
        self.tcb.high_tx_mark = self.tcb.next_tx_seq;
        self.tcb.bytes_in_flight = self.tcb.cwnd;
        self.tcb.last_acked_sacked = bytes;
        let acked = Acked { segments, rtt: Some(self.rtt), window: 1 << 20, is_plain: true };
        self.control.algorithm().on_acked(&self.tcb, acked);
        self.control.pkts_acked(&mut self.tcb, segments, self.rtt);
        if !self.control.is_rate_control() {
            self.control.grow(&mut self.tcb, segments);
        }
    }

    pub fn acks(&mut self, count: u32, segments_each: u32) {
        for _ in 0..count {
            self.ack(segments_each);
        }
    }

    /// One round trip: a window of ACKs of one segment each, evenly spaced.
    pub fn round(&mut self) {
        let window = self.cwnd();
        for _ in 0..window {
            self.advance(Time(self.rtt.0 / u64::from(window)));
            self.ack(1);
        }
    }

    pub fn rounds(&mut self, count: u32) {
        for _ in 0..count {
            self.round();
        }
    }

    /// One ACK for an algorithm with `cong_control`, with the rate sample that a bottleneck of
    /// `rate` would give.
    pub fn rate_ack(&mut self, rate: Rate, bytes: u32, in_flight: u32) {
        self.tcb.bytes_in_flight = in_flight;
        self.delivery.delivered += u64::from(bytes);
        self.delivery.delivered_time = self.tcb.now;
        let sample = RateSample {
            delivery_rate: rate,
            interval: self.rtt,
            delivered: in_flight as i32,
            prior_delivered: self.delivery.delivered.saturating_sub(u64::from(in_flight)),
            prior_time: Time(self.tcb.now.0.saturating_sub(self.rtt.0)),
            prior_in_flight: in_flight + bytes,
            acked_sacked: bytes,
            ..RateSample::default()
        };
        let sample = AckSample { connection: &self.delivery, rate: &sample };
        self.control.algorithm().cong_control(&mut self.tcb, sample);
    }

    /// What the algorithm answers to a loss with the whole window in flight, in segments.
    pub fn ssthresh_on_loss(&mut self) -> u32 {
        self.control.ssthresh(&self.tcb, self.tcb.cwnd) / MSS
    }

    /// An episode of fast recovery that ends at once, with cwnd = ssthresh.
    pub fn fast_recovery(&mut self) {
        self.tcb.ssthresh = self.control.ssthresh(&self.tcb, self.tcb.cwnd);
        self.state(CongState::Recovery);
        self.tcb.cwnd = self.tcb.ssthresh;
        self.state(CongState::Open);
    }

    pub fn timeout(&mut self) {
        self.tcb.ssthresh = self.control.ssthresh(&self.tcb, self.tcb.cwnd);
        self.event(CaEvent::Loss);
        self.state(CongState::Loss);
        self.set_cwnd(1);
        self.state(CongState::Open);
    }

    pub fn state(&mut self, state: CongState) {
        self.control.set_state(&mut self.tcb, state);
        self.tcb.cong_state = state;
    }

    pub fn event(&mut self, event: CaEvent) -> Option<EarlyAck> {
        self.control.algorithm().cwnd_event(&mut self.tcb, event)
    }
}

/// Builds something with these attributes.
pub fn with_context<T>(
    spec: &Spec,
    attributes: &[(&str, &str)],
    build: impl FnOnce(&BuildContext<'_>) -> T,
) -> T {
    let given: BTreeMap<String, String> =
        attributes.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    build(&BuildContext {
        attributes: Attributes::new(spec, &given),
        seed: 1,
        changes: Changes::NONE,
        stack: TcpStack::Ns3,
    })
}

fn tcb() -> Tcb {
    Tcb {
        now: Time::from_secs(1),
        cwnd: 10 * MSS,
        ssthresh: u32::MAX,
        initial_cwnd: 10,
        initial_ssthresh: u32::MAX,
        segment_size: MSS,
        last_acked_seq: Seq(1),
        next_tx_seq: Seq(1),
        high_tx_mark: Seq(1),
        next_rx_seq: Seq(1),
        is_cwnd_limited: true,
        ..Tcb::default()
    }
}
