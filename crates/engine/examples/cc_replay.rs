//! Replays a script of calls into one congestion control algorithm and prints what each call leaves
//! behind.  The script's language is described in `tests/differential/test_cc.py`, which compares
//! the output with that of `tests/differential/cc_driver.cc`, the same for ns-3's classes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufWriter, Write, stdin, stdout};

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::host::congestion::{self, BuildContext};
use ccperf_engine::host::tcp::control::{CaEvent, Control, TcpStack};
use ccperf_engine::host::tcp::profile::changes::Changes;
use ccperf_engine::host::tcp::rate::{AckSample, RateConnection, RateSample};
use ccperf_engine::host::tcp::{CongState, EcnState, Tcb};
use ccperf_engine::packet::Ecn;

struct Replay {
    control: Control,
    tcb: Tcb,
    connection: RateConnection,
    /// What the last `ssthresh` call returned.
    last_result: u32,
}

impl Replay {
    /// The value of a token; `old` is what a relative one builds on.
    fn value(&self, token: &str, old: u64) -> u64 {
        let (kind, rest) = token.split_at(1);
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let share = |text| u64::from(self.tcb.cwnd) * number(text) / 1000;
        match kind {
            "+" => old.wrapping_add(number(rest)),
            "%" => share(rest),
            "@" => u64::from(self.tcb.last_acked_seq.0.wrapping_add(share(rest) as u32)),
            "$" => u64::from(self.last_result),
            _ => number(token),
        }
    }

    fn set_field(&mut self, argument: &str) {
        let (name, token) = argument.split_once('=').expect("field=value");
        let old = match name {
            "cwnd" => self.tcb.cwnd,
            "ssthresh" => self.tcb.ssthresh,
            "last_acked_seq" => self.tcb.last_acked_seq.0,
            "next_tx_seq" => self.tcb.next_tx_seq.0,
            "high_tx_mark" => self.tcb.high_tx_mark.0,
            "next_rx_seq" => self.tcb.next_rx_seq.0,
            "rcv_timestamp" => self.tcb.rcv_timestamp,
            "rcv_timestamp_echo" => self.tcb.rcv_timestamp_echo,
            _ => 0,
        };
        let value = self.value(token, u64::from(old));
        let tcb = &mut self.tcb;
        match name {
            "cwnd" => tcb.cwnd = value as u32,
            "ssthresh" => tcb.ssthresh = value as u32,
            "initial_cwnd" => tcb.initial_cwnd = value as u32,
            "initial_ssthresh" => tcb.initial_ssthresh = value as u32,
            "segment_size" => tcb.segment_size = value as u32,
            "bytes_in_flight" => tcb.bytes_in_flight = value as u32,
            "last_acked_sacked" => tcb.last_acked_sacked = value as u32,
            "last_acked_seq" => tcb.last_acked_seq = Seq(value as u32),
            "next_tx_seq" => tcb.next_tx_seq = Seq(value as u32),
            "high_tx_mark" => tcb.high_tx_mark = Seq(value as u32),
            "next_rx_seq" => tcb.next_rx_seq = Seq(value as u32),
            "cong_state" => tcb.cong_state = state(value),
            "ecn_state" => tcb.ecn_state = ecn_state(value),
            "is_cwnd_limited" => tcb.is_cwnd_limited = value != 0,
            "last_rtt" => tcb.last_rtt = Time(value),
            "srtt" => tcb.srtt = Time(value),
            "min_rtt" => tcb.min_rtt = Time(value),
            "rcv_timestamp" => tcb.rcv_timestamp = value as u32,
            "rcv_timestamp_echo" => tcb.rcv_timestamp_echo = value as u32,
            "max_pacing_rate" => tcb.max_pacing_rate = Rate(value),
            "pacing_rate" => tcb.pacing_rate = Rate(value),
            _ => panic!("unknown field {name}"),
        }
    }

    fn control(&mut self, arguments: &[&str]) {
        let mut sample = RateSample::default();
        for argument in arguments {
            let (name, token) = argument.split_once('=').expect("field=value");
            let value = self.value(token, self.connection.delivered);
            match name {
                "delivered" => self.connection.delivered = value,
                "rate" => sample.delivery_rate = Rate(value),
                "interval" => sample.interval = Time(value),
                "sample_delivered" => sample.delivered = value as i32,
                "prior_delivered" => sample.prior_delivered = value,
                "prior_in_flight" => sample.prior_in_flight = value as u32,
                "bytes_loss" => sample.bytes_loss = value as u32,
                "acked_sacked" => sample.acked_sacked = value as u32,
                "is_app_limited" => sample.is_app_limited = value != 0,
                _ => panic!("unknown field {name}"),
            }
        }
        let sample = AckSample { connection: &self.connection, rate: &sample };
        self.control.algorithm().cong_control(&mut self.tcb, sample);
    }

    fn execute(&mut self, call: &str, arguments: &[&str]) -> String {
        let argument = |i: usize| self.value(arguments[i], 0);
        match call {
            "tcb" => arguments.iter().for_each(|field| self.set_field(field)),
            "init" => self.control.init(&mut self.tcb),
            "ssthresh" => {
                let in_flight = argument(0) as u32;
                self.last_result = self.control.algorithm().ssthresh(&self.tcb, in_flight);
                return self.last_result.to_string();
            }
            "cong_avoid" => {
                let segments = argument(0) as u32;
                self.control.grow(&mut self.tcb, segments);
            }
            "pkts_acked" => {
                let (segments, rtt) = (argument(0) as u32, Time(argument(1)));
                self.control.pkts_acked(&mut self.tcb, segments, rtt);
            }
            "set_state" => {
                let state = state(argument(0));
                self.control.set_state(&mut self.tcb, state);
                self.tcb.cong_state = state;
            }
            "cwnd_event" => {
                let event = event(argument(0));
                if let Some(early) = self.control.algorithm().cwnd_event(&mut self.tcb, event) {
                    return format!("{}:{}", early.ack.0, if early.ece { "ece" } else { "ack" });
                }
            }
            "cong_control" => self.control(arguments),
            _ => panic!("unknown call {call}"),
        }
        "-".into()
    }
}

fn state(number: u64) -> CongState {
    use CongState::{Cwr, Disorder, Loss, Open, Recovery};
    [Open, Disorder, Cwr, Recovery, Loss][number as usize]
}

fn ecn_state(number: u64) -> EcnState {
    use EcnState::{CeRcvd, CwrSent, Disabled, EceRcvd, Idle, SendingEce};
    [Disabled, Idle, CeRcvd, SendingEce, EceRcvd, CwrSent][number as usize]
}

/// Numbered as in ns-3; its 1 (`CA_EVENT_CWND_RESTART`) never happens.
fn event(number: u64) -> CaEvent {
    match number {
        0 => CaEvent::TxStart,
        2 => CaEvent::CompleteCwr,
        3 => CaEvent::Loss,
        4 => CaEvent::EcnNoCe,
        5 => CaEvent::EcnIsCe,
        6 => CaEvent::DelayedAck,
        7 => CaEvent::NonDelayedAck,
        _ => panic!("unknown event {number}"),
    }
}

/// A control block as ns-3's `TcpSocketState` is built.
fn tcb() -> Tcb {
    Tcb { pacing_rate: Rate(0), ..Tcb::default() }
}

fn ect_number(ect: Ecn) -> u8 {
    if ect == Ecn::Ect1 { 1 } else { 2 }
}

fn main() {
    let (mut algorithm, mut seed, mut given) = (String::new(), 1, BTreeMap::new());
    let mut replay: Option<Replay> = None;
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lock().lines() {
        let line = line.expect("text");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["algorithm", name] => algorithm = name.into(),
            ["attribute", name, value] => drop(given.insert(name.to_string(), value.to_string())),
            ["seed", number] => seed = number.parse().expect("a number"),
            [time, call, ref arguments @ ..] => {
                let replay = replay.get_or_insert_with(|| {
                    let spec = congestion::SPECS.iter().find(|spec| spec.ns3 == algorithm);
                    let spec = spec.unwrap_or_else(|| panic!("unknown algorithm {algorithm}"));
                    let attributes = Attributes::new(spec, &given);
                    let (changes, stack) = (Changes::NONE, TcpStack::Ns3);
                    let cx = BuildContext { attributes, seed, changes, stack };
                    let control = congestion::build(&algorithm, &cx).expect("registered");
                    Replay {
                        control,
                        tcb: tcb(),
                        connection: RateConnection::default(),
                        last_result: 0,
                    }
                });
                replay.tcb.now = Time(time.parse().expect("nanoseconds"));
                let result = replay.execute(call, arguments);
                let tcb = &replay.tcb;
                writeln!(
                    out,
                    "{time} {call} {} {} {} {} {} {} {} {} {result}",
                    tcb.cwnd,
                    tcb.ssthresh,
                    u8::from(tcb.pacing),
                    tcb.pacing_rate.0,
                    tcb.use_ecn as u8,
                    tcb.ecn_mode as u8,
                    tcb.ecn_state as u8,
                    ect_number(tcb.ect),
                )
                .expect("standard output");
            }
            _ => panic!("cannot read {line}"),
        }
    }
}
