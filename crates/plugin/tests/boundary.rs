//! Both sides of the boundary in one process: what a library in Rust exports, called as by the host.
//!
//! Without a file to load, Miri can follow every pointer:
//! `MIRIFLAGS=-Zmiri-ignore-leaks cargo +nightly miri test -p ccperf-plugin --test boundary`; texts of
//! errors are meant to stay.

use std::collections::{BTreeMap, VecDeque};

use ccperf_engine::host::user::{Setup, UserCode};
use ccperf_engine::net::qdisc::Qdisc;
use ccperf_engine::net::routing::balance::{Balancer, SwitchContext};
use ccperf_engine::run::recording::Column;
use ccperf_engine::run::simulate::Simulation;
use ccperf_plugin::library::{control_of, load_balancer_of, queue_disc_of};
use ccperf_plugin::monitor::Probe;
use ccperf_plugin::{
    AckSample, CaEvent, Config, CongestionControl, Control, EarlyAck, Hop, LoadBalancer, Packet,
    Queue, QueueDisc, Switch, Tcb, Time,
};
use ccperf_scenario::Canonical;

/// Uses each call, and can be told to panic in one of them.
#[derive(Debug)]
struct Library {
    panics: String,
}

impl Library {
    fn called(&self, what: &str) {
        assert!(self.panics != what, "as asked for");
    }
}

impl CongestionControl for Library {
    fn init(&mut self, tcb: &mut Tcb) {
        self.called("init");
        tcb.pacing_ss_ratio = 150;
    }

    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        self.called("ssthresh");
        (bytes_in_flight / 2).max(2 * tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        self.called("cong_avoid");
        tcb.cwnd += segments_acked * tcb.segment_size;
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        self.called("cwnd_event");
        (event == CaEvent::EcnIsCe).then_some(EarlyAck { ack: tcb.next_rx_seq, ece: true })
    }

    fn on_ack(&mut self, _: &mut Tcb, sample: AckSample<'_>) {
        self.called("on_ack");
        assert!(sample.rate.acked_sacked > 0);
    }

    fn on_sent(&mut self, tcb: &mut Tcb, bytes: u32, _: bool) {
        self.called("on_sent");
        assert!(bytes > 0 && tcb.bytes_in_flight >= bytes);
    }

    fn on_loss(&mut self, _: &mut Tcb, bytes: u32) {
        self.called("on_loss");
        assert!(bytes > 0);
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        self.called("cong_control");
        tcb.cwnd = (tcb.cwnd + sample.rate.acked_sacked).min(100 * tcb.segment_size);
    }
}

/// First in, first out: marks and drops, and ends the pause that it makes now and then.
#[derive(Debug)]
struct LibraryQueue {
    waiting: VecDeque<u32>,
    dequeues: u32,
    pauses: bool,
}

impl QueueDisc for LibraryQueue {
    fn enqueue(&mut self, packet: &Packet, queue: &mut Queue) -> bool {
        if self.waiting.len() >= 6 {
            queue.drop_packet(packet.id, "Full");
            return false;
        }
        if self.waiting.len() == 5
            && let Some(first) = self.waiting.pop_front()
        {
            queue.drop_packet(first, "Head dropped");
        }
        self.waiting.push_back(packet.id);
        if self.waiting.len() > 2 {
            queue.mark(packet.id, "Marked");
        }
        true
    }

    fn dequeue(&mut self, queue: &mut Queue) -> Option<u32> {
        self.dequeues += 1;
        if self.dequeues.is_multiple_of(5) && !self.pauses && !self.waiting.is_empty() {
            self.pauses = true;
            queue.set_timer(Time(500_000), 7);
        }
        if self.pauses { None } else { self.waiting.pop_front() }
    }

    fn timer(&mut self, tag: u32, _: &mut Queue) -> bool {
        self.pauses = false;
        tag == 7
    }
}

/// The shortest queue of all, counted from another port each period; hops are counted on the packet.
#[derive(Debug)]
struct LibraryBalancer {
    first: usize,
    asks_for: Option<u32>,
}

impl LoadBalancer for LibraryBalancer {
    fn pick(&mut self, packet: &mut Hop, switch: &mut Switch) -> u32 {
        if let Some(port) = self.asks_for {
            switch.waiting_bytes(port);
        }
        packet.notes[0] += 1;
        let ports = switch.ports();
        let waiting = |&i: &usize| switch.waiting_bytes(ports[i]);
        let order = (0..ports.len()).map(|i| (self.first + i) % ports.len());
        order.min_by_key(waiting).expect("there is one") as u32
    }

    fn sees_every_hop(&self) -> bool {
        true
    }

    fn period(&self) -> Time {
        Time(100_000)
    }

    fn tick(&mut self, switch: &mut Switch) {
        self.first += 1;
        for &port in switch.ports() {
            assert!(switch.rate_bps(port) > 0 && switch.sent_bytes(port) < 1 << 40);
        }
    }
}

mod cca {
    ccperf_plugin::export_congestion_control!(|config: &super::Config| {
        let algorithm = super::Library { panics: config.get("panics", String::new()) };
        if config.get("rate", false) {
            super::Control::rate(algorithm)
        } else {
            super::Control::from(algorithm)
        }
    });
}

mod queue {
    ccperf_plugin::export_queue_disc!(|config: &super::Config| {
        super::LibraryQueue {
            waiting: super::VecDeque::with_capacity(config.get("room", 8)),
            dequeues: 0,
            pauses: false,
        }
    });
}

mod balancer {
    ccperf_plugin::export_load_balancer!(|config: &super::Config| {
        let asks_for = config.attributes.get("port").map(|port| port.parse().expect("a number"));
        super::LibraryBalancer { first: 0, asks_for }
    });
}

#[derive(Debug)]
struct InThisProcess;

#[allow(unsafe_code, reason = "the tables are those above")]
impl UserCode for InThisProcess {
    fn congestion_control(&self, setup: Setup<'_>) -> Result<Control, String> {
        // SAFETY: the functions are those of this crate's `export`.
        unsafe { control_of(cca::ccperf_cca_v2, setup, Probe::new(None, 0)) }
    }

    fn queue_disc(&self, setup: Setup<'_>) -> Result<Box<dyn Qdisc>, String> {
        // SAFETY: as above.
        unsafe { queue_disc_of(queue::ccperf_qdisc_v2, setup, Probe::new(None, 1)) }
    }

    fn load_balancer(
        &self,
        setup: Setup<'_>,
        switch: SwitchContext<'_>,
    ) -> Result<Box<dyn Balancer>, String> {
        let probe = Probe::new(None, 2);
        // SAFETY: as above.
        unsafe { load_balancer_of(balancer::ccperf_balancer_v2, setup, switch, probe) }
    }
}

/// Runs 30 ms of one flow with these attributes; the text of what failed, or what the link dropped.
fn run(attributes: &[(&str, &str)]) -> Result<i64, String> {
    let attributes: BTreeMap<_, _> = attributes.iter().copied().collect();
    let scenario = serde_json::json!({
        "stop_time": "30ms",
        "nodes": ["a", "b"],
        "links": [{
            "name": "wire", "ends": ["a", "b"], "rate": "10Mbps", "delay": "1ms",
            "forward": {"qdisc": {"type": "/this.so", "attributes": {"room": "4"}}, "device_queue": "1p"},
        }],
        "flows": [{
            "source": "a", "destination": "b", "tcp": {"UseEcn": "On"},
            "cc": {"type": "/this.so", "attributes": attributes},
        }],
    });
    let scenario = Canonical::from_json(&scenario.to_string()).expect("is legal").lower();
    let simulation = Simulation::with_user_code(scenario, None, Box::new(InThisProcess));
    let recording = simulation.and_then(Simulation::finish).map_err(|error| error.to_string())?;
    let drops = recording.table("drops").expect("there is one");
    let counts = drops.columns.iter().find(|(name, _)| *name == "packets").expect("has counts");
    let Column::I64(counts) = &counts.1 else { panic!("counts are whole numbers") };
    Ok(counts.iter().sum())
}

#[test]
fn all_that_a_library_may_do_is_done() {
    assert!(run(&[]).unwrap() > 0);
    assert!(run(&[("rate", "true")]).unwrap() > 0);
}

#[test]
fn a_panic_is_a_message() {
    for call in ["init", "ssthresh", "cong_avoid", "cwnd_event", "on_ack", "on_sent", "on_loss"] {
        let said = run(&[("panics", call)]).unwrap_err();
        assert!(said.contains("panic: as asked for"), "{call}: {said}");
        assert!(said.contains(call), "{call}: {said}");
    }
    let said = run(&[("rate", "true"), ("panics", "cong_control")]).unwrap_err();
    assert!(said.contains("panic: as asked for (in cong_control)"), "{said}");
    let said = run(&[("rate", "perhaps")]).unwrap_err();
    assert!(said.contains("attribute rate: `perhaps` is not a bool"), "{said}");
}

/// Bytes that two parallel links have carried from `a` to `b` in 30 ms.
fn balanced(attributes: &[(&str, &str)]) -> Result<Vec<i64>, String> {
    let attributes: BTreeMap<_, _> = attributes.iter().copied().collect();
    let link = |name: &str, ends: [&str; 2]| serde_json::json!({"name": name, "ends": ends, "rate": "10Mbps", "delay": "1ms"});
    let scenario = serde_json::json!({
        "stop_time": "30ms",
        "nodes": ["h", "a", "b", "i"],
        "links": [
            link("one", ["a", "b"]), link("other", ["a", "b"]),
            link("in", ["h", "a"]), link("out", ["b", "i"]),
        ],
        "routing": {"type": "/this.so", "attributes": attributes},
        "flows": [{"source": "h", "destination": "i", "cc": {"type": "TcpNewReno"}}],
    });
    let scenario = Canonical::from_json(&scenario.to_string()).expect("is legal").lower();
    let simulation = Simulation::with_user_code(scenario, None, Box::new(InThisProcess));
    let recording = simulation.and_then(Simulation::finish).map_err(|error| error.to_string())?;
    let links = recording.table("links").expect("there is one");
    let (_, sent) = links.columns.iter().find(|(name, _)| *name == "tx_bytes").expect("is counted");
    let Column::I64(sent) = sent else { panic!("counts are whole numbers") };
    Ok(vec![sent[0], sent[2]])
}

#[test]
fn a_balancer_spreads_packets_over_all_ports() {
    let sent = balanced(&[]).unwrap();
    assert!(sent.iter().all(|&bytes| bytes > 3_000), "{sent:?}");
}

#[test]
fn a_balancer_may_ask_of_its_own_ports_only() {
    let said = balanced(&[("port", "4")]).unwrap_err();
    assert!(said.contains("it asked for port 4, which the switch has not got"), "{said}");
}
