//! A queue discipline from outside, whose time passes only where somebody says so: whoever sleeps until the horizon is
//! there whenever it is called.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ccperf_schema::lowered::Lowered;
use serde_json::json;

use crate::base::time::Time;
use crate::host::tcp::control::Control;
use crate::host::user::{Setup, UserCode};
use crate::net::qdisc::{PacketFifo, Qdisc, QdiscContext};
use crate::net::routing::balance::{Balancer, SwitchContext};
use crate::packet::PacketId;
use crate::run::dice::lower;
use crate::run::simulate::Simulation;

/// A FIFO that looks at its own clock; a packet leaves it no sooner than `hold` after it has come.
#[derive(Debug)]
struct Outside {
    clock: Arc<AtomicU64>,
    calls: Arc<AtomicU64>,
    hold: Time,
    queue: PacketFifo,
}

impl Outside {
    fn look(&self, cx: &QdiscContext<'_>) {
        assert_eq!(self.clock.load(Relaxed), cx.now.0);
        self.calls.fetch_add(1, Relaxed);
    }
}

impl Qdisc for Outside {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        self.look(cx);
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        self.look(cx);
        let is_held = self.queue.head().is_some_and(|id| cx.sojourn(id) < self.hold);
        if is_held { None } else { self.queue.pop(cx) }
    }

    fn timer(&mut self, _: u32, _: &mut QdiscContext<'_>) -> bool {
        true
    }
}

#[derive(Debug)]
struct Maker {
    clock: Arc<AtomicU64>,
    calls: Arc<AtomicU64>,
    hold: Time,
}

impl UserCode for Maker {
    fn queue_disc(&self, _: Setup<'_>) -> Result<Box<dyn Qdisc>, String> {
        let (clock, calls) = (Arc::clone(&self.clock), Arc::clone(&self.calls));
        Ok(Box::new(Outside { clock, calls, hold: self.hold, queue: PacketFifo::default() }))
    }

    fn congestion_control(&self, _: Setup<'_>) -> Result<Control, String> {
        unreachable!()
    }

    fn load_balancer(
        &self,
        _: Setup<'_>,
        _: SwitchContext<'_>,
    ) -> Result<Box<dyn Balancer>, String> {
        unreachable!()
    }
}

/// Three links of which the middle one, if any, has the discipline, in both directions.
fn scenario(qdisc: Option<&str>) -> Lowered {
    let link = |number: usize, rate: &str, qdisc: Option<&str>| {
        let kind = json!({"type": qdisc.unwrap_or("FifoQueueDisc")});
        let own = json!({"qdisc": kind, "device_queue": "1p"});
        json!({
            "name": format!("l{number}"), "ends": [format!("n{number}"), format!("n{}", number + 1)],
            "rate": rate, "delay": "2ms", "forward": own, "reverse": own,
        })
    };
    let udp = json!({"type": "OnOff", "rate": "3Mbps", "on_time": "30ms", "off_time": "20ms"});
    let scenario = json!({
        "stop_time": "500ms",
        "nodes": ["n0", "n1", "n2", "n3"],
        "links": [link(0, "10Mbps", None), link(1, "2Mbps", qdisc), link(2, "10Mbps", None)],
        "flows": [
            {"source": "n0", "destination": "n3", "cc": {"type": "TcpNewReno"}},
            {"source": "n3", "destination": "n0", "transport": "UDP", "application": udp},
        ],
    });
    lower(&scenario)
}

fn wakes(qdisc: Option<&str>, hold: Time) -> (u64, u64, u64) {
    let (clock, calls) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let user = Maker { clock: Arc::clone(&clock), calls: Arc::clone(&calls), hold };
    let lowered = scenario(qdisc);
    let mut simulation = Simulation::with_user_code(lowered, None, Box::new(user)).unwrap();
    let lookahead = simulation.lookahead();
    let mut wakes = 0;
    while simulation.catch_up(Time(clock.load(Relaxed))).unwrap() {
        wakes += 1;
        simulation.sample().unwrap();
        if hold > Time::ZERO {
            // As a kernel wakes whoever waits for its discipline.
            [2, 3].into_iter().for_each(|port| simulation.wake_discipline(port));
        }
        let often = if hold > Time::ZERO { Time::from_ms(1) } else { simulation.stop() };
        let next = simulation.horizon(&lookahead, &mut Vec::new()).min(simulation.now() + often);
        clock.store(next.0.min(simulation.stop().0), Relaxed);
    }
    let sent = simulation.network.ports[2].transmitter.tx_bytes;
    (wakes, calls.load(Relaxed), sent)
}

#[test]
fn a_discipline_from_outside_is_asked_when_its_clock_shows_the_time() {
    let (with, calls, sent) = wakes(Some("outside:Fifo"), Time::ZERO);
    let (without, none, as_much) = wakes(None, Time::ZERO);
    assert!(calls > 500 && none == 0, "{calls} {none}");
    assert_eq!(sent, as_much, "a FIFO as the usual one");
    // Where nothing is outside, nobody needs to look so often.
    assert!(with > without + without / 10, "{with} {without}");
}

#[test]
fn a_discipline_that_holds_packets_sends_them_when_it_is_woken() {
    let (_, calls, sent) = wakes(Some("outside:Fifo"), Time::from_ms(5));
    assert!(calls > 500, "{calls}");
    assert!(sent > 20_000, "{sent}");
}
