//! Samples on the grid and counters at the end: the tables of `docs/design/contract.md`.

use crate::hosts::Hosts;
use crate::lowered::Lowered;
use crate::network::Network;
use crate::recording::tables::{Changes, Drops, Echoes, FlowSamples, Flows, LinkSamples, Links};
use crate::recording::{Recording, Table};
use crate::tcp::Socket;
use crate::time::{Rate, Time};
use crate::verdict::Verdict;

/// What the `changes` table follows, in the order of its rows.
const FOLLOWED: [&str; 7] =
    ["cwnd", "ssthresh", "in_flight", "srtt_ns", "cong_state", "ecn_state", "rto_ns"];

/// Collects while the simulation runs.
#[derive(Debug)]
pub(crate) struct Recorder {
    interval: Time,
    stop: Time,
    /// The next grid point.
    next: Time,
    flow_samples: FlowSamples,
    link_samples: LinkSamples,
    /// Rates of the ports during the interval that ends at the next grid point.
    rates: Vec<Rate>,
    changes: Changes,
    /// The last values recorded in `changes`, per flow; empty if it is not asked for.
    last: Vec<[f64; FOLLOWED.len()]>,
}

impl Recorder {
    pub(crate) fn new(scenario: &Lowered) -> Self {
        let directions = scenario.links.iter().flat_map(|link| &link.directions);
        let followed = if scenario.record_changes { scenario.flows.len() } else { 0 };
        Recorder {
            interval: Time(scenario.sample_interval_ns),
            stop: Time(scenario.stop_ns),
            next: Time::ZERO,
            flow_samples: FlowSamples::default(),
            link_samples: LinkSamples::default(),
            rates: directions.map(|direction| Rate(direction.rate_bps)).collect(),
            changes: Changes::default(),
            last: vec![[0.0; FOLLOWED.len()]; followed],
        }
    }

    /// The clock moves to `now`: samples all grid points before it.  A sample has the values after the
    /// last event at or before its grid point.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time, network: &Network, hosts: &Hosts) {
        if self.next < now {
            self.sample_before(now, network, hosts);
        }
    }

    #[cold]
    fn sample_before(&mut self, now: Time, network: &Network, hosts: &Hosts) {
        network.check_numbers();
        while self.next < now {
            self.sample(network, hosts);
            self.next += self.interval;
            if self.next >= self.stop {
                self.next = Time::MAX;
            }
        }
    }

    /// Notes what an event at one of its endpoints has changed at the sender of `flow`.
    #[inline(always)] // nearly always nothing but a comparison
    pub(crate) fn on_endpoint_event(&mut self, flow: u32, now: Time, hosts: &Hosts) {
        if !self.last.is_empty()
            && let Some(connection) = hosts.connection(flow as usize)
        {
            self.note_changes(flow as usize, now, &connection.sender);
        }
    }

    #[inline(never)]
    fn note_changes(&mut self, flow: usize, now: Time, socket: &Socket) {
        let tcb = &socket.tcb;
        let values = [
            f64::from(tcb.cwnd),
            f64::from(tcb.ssthresh),
            f64::from(tcb.bytes_in_flight),
            tcb.srtt.0 as f64,
            f64::from(tcb.cong_state as u8),
            f64::from(tcb.ecn_state as u8),
            socket.rto().0 as f64,
        ];
        for (i, name) in FOLLOWED.iter().enumerate() {
            if self.last[flow][i] != values[i] {
                self.changes.time_ns.push(now.ns());
                self.changes.flow.push(flow as i64);
                self.changes.name.push((*name).to_string());
                self.changes.value.push(values[i]);
            }
        }
        self.last[flow] = values;
    }

    pub(crate) fn finish(self, scenario: &Lowered, network: &Network, hosts: &Hosts) -> Recording {
        let mut tables = vec![
            flows(scenario, hosts),
            links(scenario, network),
            drops(scenario, network),
            self.flow_samples.into_table(),
            self.link_samples.into_table(),
        ];
        if !scenario.pings.is_empty() {
            tables.push(echoes(hosts));
        }
        if scenario.record_changes {
            tables.push(self.changes.into_table());
        }
        Recording { tables }
    }

    fn sample(&mut self, network: &Network, hosts: &Hosts) {
        let time = self.next.ns();
        let s = &mut self.flow_samples;
        for (i, connection) in hosts.connections().enumerate() {
            let (tcb, sent) = (&connection.sender.tcb, &connection.sender.statistics);
            s.time_ns.push(time);
            s.flow.push(i as i64);
            s.cwnd_bytes.push(i64::from(tcb.cwnd));
            s.ssthresh_bytes.push(i64::from(tcb.ssthresh));
            s.in_flight_bytes.push(i64::from(tcb.bytes_in_flight));
            s.srtt_ns.push(if tcb.srtt.is_zero() { f64::NAN } else { tcb.srtt.0 as f64 });
            s.sent_bytes.push(sent.sent_bytes as i64);
            s.received_bytes.push(connection.receiver.statistics.received_bytes as i64);
            s.acked_bytes.push(sent.acked_bytes as i64);
            s.written_bytes.push(sent.written_bytes as i64);
            s.read_bytes.push(connection.application.transfer().read as i64);
            s.idt_ewma_ns.push(sent.departure_gap.unwrap_or(f64::NAN));
            s.one_way_delay_ns.push(optional(connection.application.transfer().one_way_delay));
            s.retransmissions.push(sent.retransmissions as i64);
            s.rtos.push(sent.rtos as i64);
            // As with the other states, 0 before the connection.
            let paces = tcb.pacing && tcb.cwnd > 0;
            s.pacing_rate_bps.push(if paces { tcb.pacing_rate.0 as i64 } else { 0 });
        }
        let s = &mut self.link_samples;
        for (i, port) in network.ports.iter().enumerate() {
            let qdisc = port.queue_statistics();
            s.time_ns.push(time);
            s.link.push(i as i64);
            s.tx_bytes.push(port.transmitter.tx_bytes as i64);
            s.qdisc_packets.push(i64::from(qdisc.packets));
            s.qdisc_bytes.push(i64::from(qdisc.bytes));
            s.sojourn_ns.push(optional(qdisc.last_sojourn));
            s.qdisc_dropped.push(qdisc.dropped_packets as i64);
            s.qdisc_marked.push(qdisc.marked_packets as i64);
            s.rate_bps.push(self.rates[i].0 as i64);
            self.rates[i] = port.transmitter.rate();
        }
    }
}

fn optional(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, |t| t.0 as f64)
}

fn flows(scenario: &Lowered, hosts: &Hosts) -> Table {
    let mut t = Flows::default();
    for (flow, connection) in scenario.flows.iter().zip(hosts.connections()) {
        let s = &connection.sender.statistics;
        let delay = |path: &[[usize; 2]]| -> u64 {
            path.iter().map(|&[link, _]| scenario.links[link].delay_ns).sum()
        };
        let slowest = flow.path.iter().map(|&[link, side]| &scenario.links[link].directions[side]);
        let slowest = slowest.min_by_key(|direction| direction.rate_bps);
        t.name.push(flow.name.clone());
        t.segments_sent.push(s.segments_sent as i64);
        t.retransmissions.push(s.retransmissions as i64);
        t.rtos.push(s.rtos as i64);
        t.recovery_episodes.push(s.recovery_episodes as i64);
        t.recovery_time_ns.push(s.recovery_time.ns());
        t.start_ns.push(flow.start_ns as i64);
        t.stop_ns.push(if flow.stop_ns > 0 { flow.stop_ns } else { scenario.stop_ns } as i64);
        t.completion_ns.push(optional(s.completed));
        t.base_rtt_ns.push((delay(&flow.path) + delay(&flow.return_path)) as i64);
        t.bottleneck.push(slowest.map_or_else(String::new, |direction| direction.name.clone()));
    }
    t.into_table()
}

fn links(scenario: &Lowered, network: &Network) -> Table {
    let mut t = Links::default();
    let directions = scenario.links.iter().flat_map(|link| &link.directions);
    for (direction, port) in directions.zip(&network.ports) {
        let qdisc = port.queue_statistics();
        t.name.push(direction.name.clone());
        t.tx_packets.push(port.transmitter.tx_packets as i64);
        t.tx_bytes.push(port.transmitter.tx_bytes as i64);
        t.qdisc_enqueued.push(qdisc.enqueued_packets as i64);
        t.qdisc_dropped.push(qdisc.dropped_packets as i64);
        t.qdisc_marked.push(qdisc.marked_packets as i64);
        t.device_dropped.push(port.device_dropped() as i64);
        t.loss_dropped.push(port.loss.lost() as i64);
    }
    t.into_table()
}

fn echoes(hosts: &Hosts) -> Table {
    let mut t = Echoes::default();
    for (i, ping) in hosts.pings().enumerate() {
        for &(sent, rtt) in &ping.requests {
            t.time_ns.push(sent.ns());
            t.ping.push(i as i64);
            t.rtt_ns.push(optional(rtt));
        }
    }
    t.into_table()
}

fn drops(scenario: &Lowered, network: &Network) -> Table {
    let mut t = Drops::default();
    let directions = scenario.links.iter().flat_map(|link| &link.directions);
    for (direction, port) in directions.zip(&network.ports) {
        for count in port.decisions() {
            let verdict = match count.verdict {
                Verdict::DropBeforeEnqueue => "drop_before_enqueue",
                Verdict::DropAfterDequeue => "drop_after_dequeue",
                Verdict::Mark => "mark",
            };
            t.link.push(direction.name.clone());
            t.verdict.push(verdict.to_string());
            t.reason.push(format!("{}{}", count.reason.prefix(count.verdict), count.reason.text));
            t.packets.push(count.packets as i64);
            t.bytes.push(count.bytes as i64);
        }
    }
    t.into_table()
}
