//! Samples on the grid and counters at the end: the tables of `docs/design/contract.md`.

mod balancing;
mod monitor;

use std::io;

use ccperf_schema::lowered::{Lowered, Transport, Workload};

use crate::base::error::Failure;
use crate::base::time::{Rate, Time};
use crate::host::hosts::{Hosts, Sample, State};
use crate::net::network::Network;
use crate::packet::verdict::Verdict;
use crate::run::recording::full_grid::FullGrid;
use crate::run::recording::long_table::{Growing, Rows};
use crate::run::recording::tables::{
    Answers, Changes, Completions, Deliveries, Drops, Echoes, FlowSamples, Flows, LinkSamples,
    Links, Pauses, QueueSamples, Workloads,
};
use crate::run::recording::{Kept, Recording, Table};

/// What the `changes` table follows, in the order of its rows.
const FOLLOWED: [&str; 8] = [
    "cwnd",
    "ssthresh",
    "in_flight",
    "srtt_ns",
    "cong_state",
    "ecn_state",
    "rto_ns",
    "pacing_rate_bps",
];

/// The points in time at which something is sampled.
#[derive(Debug)]
struct Grid {
    interval: Time,
    end: Time,
    next: Time,
    /// How many have been taken.
    taken: usize,
}

impl Grid {
    /// None, if `is_used` is false.
    fn new(interval_ns: u64, end: Time, is_used: bool) -> Self {
        Grid {
            interval: Time(interval_ns),
            end,
            next: if is_used { Time::ZERO } else { Time::MAX },
            taken: 0,
        }
    }

    /// Whether `time` is the next point; it is the one after that then.
    fn take(&mut self, time: Time) -> bool {
        let is_next = self.next == time;
        if is_next {
            self.taken += 1;
            self.next += self.interval;
            if self.next >= self.end {
                self.next = Time::MAX;
            }
        }
        is_next
    }
}

/// Collects while the simulation runs.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The next point of either grid.
    next: Time,
    /// From this time on events are attended to: a point has passed, or each event is noted.
    attends_from: Time,
    samples: Grid,
    queues: Grid,
    /// Positions of the flows and ports that are sampled on each.
    flows: Vec<u32>,
    ports: Vec<u32>,
    queue_ports: Vec<u32>,
    /// By flow, whether something has happened at its ends since its last sample, until the last of those that are
    /// sampled.  At first nobody has been sampled.
    is_active: Vec<bool>,
    /// A flow that is at rest has no row: it would be the one before.
    flow_samples: Growing<FlowSamples>,
    link_samples: Growing<LinkSamples>,
    queue_samples: Growing<QueueSamples>,
    /// Rates of the sampled ports during the interval that ends at the next grid point.
    rates: Vec<Rate>,
    changes: Growing<Changes>,
    /// The last values recorded in `changes`, of the flows that are followed; empty if none is.
    last: Vec<Option<[f64; FOLLOWED.len()]>>,
}

impl Recorder {
    pub(crate) fn new(scenario: &Lowered) -> Self {
        let asked = &scenario.recording;
        let end = Time(scenario.stop_ns);
        let rate = |&port: &u32| {
            let (link, side) = (port as usize / 2, port as usize % 2);
            Rate(scenario.links[link].directions[side].rate_bps)
        };
        let until_last = |flows: &[u32]| flows.last().map_or(0, |&last| last as usize + 1);
        let followed = until_last(&asked.changes);
        let mut last = vec![None; followed];
        for &flow in &asked.changes {
            last[flow as usize] = Some([0.0; FOLLOWED.len()]);
        }
        let is_sampling = !asked.flows.is_empty() || !asked.ports.is_empty();
        let samples = Grid::new(asked.interval_ns, end, is_sampling);
        let queues = Grid::new(asked.queue_interval_ns, end, !asked.queue_ports.is_empty());
        Recorder {
            next: samples.next.min(queues.next),
            attends_from: Time::ZERO,
            samples,
            queues,
            flows: asked.flows.clone(),
            ports: asked.ports.clone(),
            queue_ports: asked.queue_ports.clone(),
            is_active: vec![true; until_last(&asked.flows)],
            flow_samples: Growing::of_samples(asked.flows.len()),
            link_samples: Growing::of_samples(asked.ports.len()),
            queue_samples: Growing::of_samples(asked.queue_ports.len()),
            rates: asked.ports.iter().map(rate).collect(),
            changes: Growing::of_events(),
            last,
        }
    }

    /// The next point at which something is sampled.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// An event is about to run.
    #[inline]
    pub(crate) fn attend(&mut self, now: Time, network: &mut Network, hosts: &Hosts) {
        if self.attends_from <= now {
            self.attend_to_event(now, network, hosts);
        }
    }

    /// From now on to every one.
    pub(crate) fn attend_to_all(&mut self) {
        self.attends_from = Time::ZERO;
    }

    #[cold]
    #[inline(never)]
    fn attend_to_event(&mut self, now: Time, network: &mut Network, hosts: &Hosts) {
        if network.events().note_running() {
            self.advance(now, network, hosts);
        } else {
            self.attend_to_grid(now, network, hosts);
        }
    }

    #[cold]
    #[inline(never)]
    fn attend_to_grid(&mut self, now: Time, network: &Network, hosts: &Hosts) {
        self.advance(now, network, hosts);
        self.attends_from = self.next + Time(1);
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
    #[inline(never)]
    fn sample_before(&mut self, now: Time, network: &Network, hosts: &Hosts) {
        network.check_numbers();
        while self.next < now {
            let time = self.next;
            if self.samples.take(time) {
                self.sample_flows(time, hosts);
                self.sample_ports(time, network);
            }
            if self.queues.take(time) {
                self.sample_queues(time, network);
            }
            self.next = self.samples.next.min(self.queues.next);
        }
    }

    /// The next sample of `flow` may differ from the one before.
    #[inline(always)] // a comparison and a store for each segment that arrives
    pub(crate) fn note_activity(&mut self, flow: u32) {
        if let Some(is_active) = self.is_active.get_mut(flow as usize) {
            *is_active = true;
        }
    }

    /// Notes what an event at one of its endpoints has changed at the sender of `flow`.
    #[inline(always)] // nearly always nothing but a comparison
    pub(crate) fn on_endpoint_event(&mut self, flow: u32, now: Time, hosts: &Hosts) {
        self.note_activity(flow);
        if !self.last.is_empty()
            && let Some(state) = hosts.endpoint(flow as usize).and_then(|ends| ends.state())
        {
            self.note_changes(flow as usize, now, &state);
        }
    }

    #[inline(never)]
    fn note_changes(&mut self, flow: usize, now: Time, state: &State) {
        let Some(Some(last)) = self.last.get_mut(flow) else { return };
        let values = [
            f64::from(state.cwnd),
            f64::from(state.ssthresh),
            f64::from(state.in_flight),
            state.srtt.0 as f64,
            f64::from(state.cong_state),
            f64::from(state.ecn_state),
            state.rto.0 as f64,
            state.pacing_rate.0 as f64,
        ];
        let c = &mut self.changes.rows;
        for (i, name) in FOLLOWED.iter().enumerate() {
            if last[i] != values[i] {
                c.time_ns.push(now.ns());
                c.flow.push(flow as i64);
                c.name.push((*name).to_string());
                c.value.push(values[i]);
            }
        }
        *last = values;
        settle(&mut self.changes);
    }

    /// The totals as they stand, and all samples until now.
    ///
    /// # Errors
    /// Samples in a file cannot be read.
    pub(crate) fn so_far(
        &self,
        scenario: &Lowered,
        network: &Network,
        hosts: &Hosts,
    ) -> io::Result<Recording> {
        Ok(Recording {
            tables: vec![
                Kept::InMemory(flows(scenario, hosts)),
                Kept::InMemory(links(scenario, network)),
                self.flow_samples.so_far(Some(self.grid_of_flows()))?,
                self.link_samples.so_far(None)?,
            ],
        })
    }

    pub(crate) fn finish(self, scenario: &Lowered, network: &Network, hosts: &Hosts) -> Recording {
        let totals = [flows(scenario, hosts), links(scenario, network), drops(scenario, network)];
        let mut tables: Vec<_> = totals.into_iter().map(Kept::InMemory).collect();
        let grid = self.grid_of_flows();
        tables.extend([self.flow_samples.finish(Some(grid)), self.link_samples.finish(None)]);
        if !scenario.pings.is_empty() {
            tables.push(Kept::InMemory(echoes(scenario, hosts)));
        }
        if !self.queue_ports.is_empty() {
            tables.push(self.queue_samples.finish(None));
        }
        if scenario.recording.completions {
            tables.push(Kept::InMemory(completions(scenario, hosts)));
        }
        if !scenario.workloads.is_empty() {
            tables.push(Kept::InMemory(workloads(scenario)));
        }
        if let Some(deliveries) = network.deliveries() {
            tables.push(Kept::InMemory(delivered(scenario, deliveries.all(), hosts)));
        }
        if scenario.workloads.iter().any(|workload| workload.answers.is_some()) {
            tables.push(Kept::InMemory(answers(scenario, hosts)));
        }
        if scenario.recording.flow_monitor {
            let seen = network.flow_monitor(Time(scenario.stop_ns));
            tables.extend(monitor::tables(&seen).map(Kept::InMemory));
        }
        tables.extend(balancing::tables(scenario, network).into_iter().map(Kept::InMemory));
        tables.extend(pauses(network).map(Kept::InMemory));
        if !self.last.is_empty() {
            tables.push(self.changes.finish(None));
        }
        Recording { tables }
    }

    /// All rows that samples of flows have until now.
    fn grid_of_flows(&self) -> FullGrid {
        FullGrid {
            interval_ns: self.samples.interval.ns(),
            points: self.samples.taken,
            things: self.flows.iter().copied().map(i64::from).collect(),
        }
    }

    fn sample_flows(&mut self, time: Time, hosts: &Hosts) {
        let s = &mut self.flow_samples.rows;
        for &flow in &self.flows {
            if !std::mem::take(&mut self.is_active[flow as usize]) {
                continue;
            }
            // A transfer that has not begun, or is over, has none.
            let sample = hosts.endpoint(flow as usize).map(|ends| ends.sample());
            s.push(time, flow, &sample.unwrap_or_default());
        }
        settle(&mut self.flow_samples);
    }

    fn sample_ports(&mut self, time: Time, network: &Network) {
        let s = &mut self.link_samples.rows;
        for (&number, rate) in self.ports.iter().zip(&mut self.rates) {
            let port = &network.ports[number as usize];
            let qdisc = port.queue_statistics();
            s.time_ns.push(time.ns());
            s.link.push(i64::from(number));
            s.tx_bytes.push(port.transmitter.tx_bytes as i64);
            s.qdisc_packets.push(i64::from(qdisc.packets));
            s.qdisc_bytes.push(i64::from(qdisc.bytes));
            s.sojourn_ns.push(optional(qdisc.last_sojourn));
            s.qdisc_dropped.push(qdisc.dropped_packets as i64);
            s.qdisc_marked.push(qdisc.marked_packets as i64);
            s.rate_bps.push(rate.0 as i64);
            *rate = port.transmitter.rate();
        }
        settle(&mut self.link_samples);
    }

    fn sample_queues(&mut self, time: Time, network: &Network) {
        let s = &mut self.queue_samples.rows;
        for &number in &self.queue_ports {
            let qdisc = network.ports[number as usize].queue_statistics();
            s.time_ns.push(time.ns());
            s.link.push(i64::from(number));
            s.qdisc_packets.push(i64::from(qdisc.packets));
            s.qdisc_bytes.push(i64::from(qdisc.bytes));
            s.sojourn_ns.push(optional(qdisc.last_sojourn));
        }
        settle(&mut self.queue_samples);
    }

    /// As little as that many rows of each table.
    #[cfg(test)]
    pub(crate) fn keep_at_most(&mut self, rows: usize) {
        self.flow_samples.keep_at_most(rows);
        self.link_samples.keep_at_most(rows);
        self.queue_samples.keep_at_most(rows);
        self.changes.keep_at_most(rows);
    }
}

/// Rows have been added; without room for them the run ends.
fn settle<R: Rows>(table: &mut Growing<R>) {
    if let Err(error) = table.settle() {
        Failure::Samples(error).throw();
    }
}

impl FlowSamples {
    fn push(&mut self, time: Time, flow: u32, sample: &Sample) {
        self.time_ns.push(time.ns());
        self.flow.push(i64::from(flow));
        self.cwnd_bytes.push(i64::from(sample.cwnd));
        self.ssthresh_bytes.push(i64::from(sample.ssthresh));
        self.in_flight_bytes.push(i64::from(sample.in_flight));
        self.srtt_ns.push(optional(sample.srtt));
        self.sent_bytes.push(sample.sent_bytes as i64);
        self.received_bytes.push(sample.received_bytes as i64);
        self.acked_bytes.push(sample.acked_bytes as i64);
        self.written_bytes.push(sample.written_bytes as i64);
        self.read_bytes.push(sample.read_bytes as i64);
        self.idt_ewma_ns.push(sample.mean_gap.unwrap_or(f64::NAN));
        self.one_way_delay_ns.push(optional(sample.one_way_delay));
        self.retransmissions.push(sample.retransmissions as i64);
        self.rtos.push(sample.rtos as i64);
        self.pacing_rate_bps.push(sample.pacing_rate.0 as i64);
    }
}

fn optional(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, |t| t.0 as f64)
}

fn flows(scenario: &Lowered, hosts: &Hosts) -> Table {
    let mut t = Flows::default();
    let mut add =
        |number: u32, name: String, times: [u64; 2], way: [&[[usize; 2]]; 2], added: u64| {
            let done = hosts.outcome(number);
            let rate =
                |&&[link, side]: &&[usize; 2]| scenario.links[link].directions[side].rate_bps;
            let slowest = way[0].iter().min_by_key(rate);
            let [start, stop] = times;
            t.name.push(name);
            t.segments_sent.push(done.segments_sent as i64);
            t.retransmissions.push(done.retransmissions as i64);
            t.rtos.push(i64::from(done.rtos));
            t.recovery_episodes.push(i64::from(done.recovery_episodes));
            t.recovery_time_ns.push(done.recovery_time.ns());
            t.start_ns.push(start as i64);
            t.stop_ns.push(if stop > 0 { stop } else { scenario.stop_ns } as i64);
            t.completion_ns.push(optional(done.completed));
            t.base_rtt_ns.push((propagation(scenario, way) + added) as i64);
            let name = |&[link, side]: &[usize; 2]| scenario.links[link].direction_name(side);
            t.bottleneck.push(slowest.map_or_else(String::new, name));
        };
    let mut number = 0;
    for flow in &scenario.flows {
        let way = [&flow.path[..], &flow.return_path];
        let times = [flow.start_ns, flow.stop_ns];
        add(number, flow.name.clone(), times, way, flow.added_delay_ns);
        number += 1;
    }
    for workload in &scenario.workloads {
        let rest = workload.start_ns.iter().zip(&workload.pair);
        let added = workload.added_delay_ns.iter().copied().chain(std::iter::repeat(0));
        for ((name, (&start, &pair)), added) in workload.names().zip(rest).zip(added) {
            let pair = &scenario.pairs[pair as usize];
            let start = begun(scenario, hosts, number, start);
            add(number, name, [start, 0], [&pair.path, &pair.return_path], added);
            number += 1;
        }
    }
    t.into_table()
}

/// There and back, in ns.
fn propagation(scenario: &Lowered, ways: [&[[usize; 2]]; 2]) -> u64 {
    ways.into_iter().flatten().map(|&[link, _]| scenario.links[link].delay_ns).sum()
}

/// When a transfer began; one that has waited for others in vain with the end of the run.
fn begun(scenario: &Lowered, hosts: &Hosts, flow: u32, by_the_clock: u64) -> u64 {
    hosts.begun(flow).map_or(by_the_clock, |time| time.0.min(scenario.stop_ns))
}

fn completions(scenario: &Lowered, hosts: &Hosts) -> Table {
    let written = scenario.flows.iter().map(|flow| {
        let is_acknowledged = flow.transport != Transport::Udp;
        is_acknowledged
            .then(|| (&flow.group, flow.start_ns, flow.application.bytes(), flow.ideal_ns))
    });
    let transfers = scenario.workloads.iter().zip(scenario.first_transfers());
    let transfers = transfers.flat_map(|(workload, first)| {
        (0..workload.len()).map(move |i| {
            let finds_open = hosts.found_open((first + i) as u32);
            let ideal = ideal_ns(scenario, workload, i, finds_open);
            Some((&workload.name, workload.start_ns[i], workload.bytes[i], Some(ideal)))
        })
    });
    let flows = written.chain(transfers).zip(0..);
    let mut rows: Vec<_> =
        flows.filter_map(|(flow, i)| Some((hosts.outcome(i), i, flow?))).collect();
    // Without an end comes last; equals stay in the order of flows.
    rows.sort_by_key(|(done, ..)| done.completed.unwrap_or(Time::MAX));
    let mut t = Completions::default();
    for (done, i, (group, start, bytes, ideal)) in rows {
        t.flow.push(i64::from(i));
        t.group.push(group.clone());
        t.start_ns.push(begun(scenario, hosts, i, start) as i64);
        t.end_ns.push(optional(done.completed));
        t.finished.push(i64::from(done.completed.is_some()));
        t.size_bytes.push(bytes as i64);
        t.acked_bytes.push(done.acked_bytes as i64);
        t.retransmissions.push(done.retransmissions as i64);
        t.rtos.push(i64::from(done.rtos));
        t.ideal_ns.push(ideal.map_or(f64::NAN, |ns| ns as f64));
    }
    t.into_table()
}

/// The ideal time of a transfer; where it finds its connection open, without the round trip that opens one.
fn ideal_ns(scenario: &Lowered, workload: &Workload, transfer: usize, finds_open: bool) -> u64 {
    if !finds_open {
        return workload.ideal_ns[transfer];
    }
    let pair = &scenario.pairs[workload.pair[transfer] as usize];
    let added = workload.added_delay_ns.get(transfer).copied().unwrap_or(0);
    let round_trip = propagation(scenario, [&pair.path, &pair.return_path]) + added;
    workload.ideal_ns[transfer].saturating_sub(round_trip)
}

/// Transfers over connections of others have the time at which all of them had come.
fn delivered(
    scenario: &Lowered,
    seen: impl Iterator<Item = (usize, Time)>,
    hosts: &Hosts,
) -> Table {
    let mut t = Deliveries::default();
    let mut seen = seen.peekable();
    for flow in 0..scenario.flow_count() {
        let own = seen.next_if(|&(other, _)| other == flow).map(|(_, last)| last);
        let number = flow as u32;
        let last = if hosts.is_shared(number) { hosts.arrived(number) } else { own };
        if let Some(last) = last {
            t.flow.push(flow as i64);
            t.last_rx_ns.push(last.ns());
        }
    }
    t.into_table()
}

fn answers(scenario: &Lowered, hosts: &Hosts) -> Table {
    let firsts: Vec<_> = scenario.first_transfers().collect();
    let mut t = Answers::default();
    for (workload, &first) in scenario.workloads.iter().zip(&firsts) {
        let Some(requests) = workload.answers else { continue };
        for i in 0..workload.len() {
            t.flow.push((first + i) as i64);
            t.request.push((firsts[requests] + i) as i64);
            t.arrived_ns.push(optional(hosts.arrived((first + i) as u32)));
        }
    }
    t.into_table()
}

fn workloads(scenario: &Lowered) -> Table {
    let mut t = Workloads::default();
    for workload in &scenario.workloads {
        let bytes = workload.bytes.iter().sum::<u64>();
        t.name.push(workload.name.clone());
        t.transfers.push(workload.len() as i64);
        t.bytes.push(bytes as i64);
        t.mean_bytes.push(workload.mean_bytes);
        t.realised_mean_bytes.push(bytes as f64 / workload.len() as f64);
        t.load.push(workload.load.unwrap_or(f64::NAN));
        t.realised_load.push(workload.realised_load.unwrap_or(f64::NAN));
    }
    t.into_table()
}

fn links(scenario: &Lowered, network: &Network) -> Table {
    let mut t = Links::default();
    for (number, (port, wire)) in network.ports.iter().zip(&network.wires).enumerate() {
        let qdisc = port.queue_statistics();
        t.name.push(scenario.port_name(number));
        t.tx_packets.push(port.transmitter.tx_packets as i64);
        t.tx_bytes.push(port.transmitter.tx_bytes as i64);
        t.qdisc_enqueued.push(qdisc.enqueued_packets as i64);
        t.qdisc_dropped.push(qdisc.dropped_packets as i64);
        t.qdisc_marked.push(qdisc.marked_packets as i64);
        t.device_dropped.push(port.device_dropped() as i64);
        t.loss_dropped.push(wire.loss.lost() as i64);
        t.failure_dropped.push(wire.loss.failed() as i64);
    }
    t.into_table()
}

/// None where no link pauses.
fn pauses(network: &Network) -> Option<Table> {
    let mut t = Pauses::default();
    for paused in network.pauses() {
        t.link.push(i64::from(paused.port));
        t.priority.push(paused.priority as i64);
        t.pauses.push(paused.account.pauses as i64);
        t.pause_frames.push(paused.frames as i64);
        t.paused_ns.push(paused.time.ns());
        t.peak_bytes.push(paused.account.peak_bytes as i64);
        t.peak_headroom_bytes.push(paused.account.peak_headroom as i64);
        t.dropped.push(paused.account.dropped_packets as i64);
    }
    (!t.link.is_empty()).then(|| t.into_table())
}

fn echoes(scenario: &Lowered, hosts: &Hosts) -> Table {
    let mut t = Echoes::default();
    for (i, flow) in (scenario.flow_count()..).take(scenario.pings.len()).enumerate() {
        let Some(ends) = hosts.endpoint(flow) else { continue };
        for &(sent, rtt) in ends.echoes() {
            t.time_ns.push(sent.ns());
            t.ping.push(i as i64);
            t.rtt_ns.push(optional(rtt));
        }
    }
    t.into_table()
}

fn drops(scenario: &Lowered, network: &Network) -> Table {
    let mut t = Drops::default();
    for (number, port) in network.ports.iter().enumerate() {
        for count in port.decisions() {
            let verdict = match count.verdict {
                Verdict::DropBeforeEnqueue => "drop_before_enqueue",
                Verdict::DropAfterDequeue => "drop_after_dequeue",
                Verdict::Mark => "mark",
                Verdict::Trim => "trim",
            };
            t.link.push(scenario.port_name(number));
            t.verdict.push(verdict.to_string());
            t.reason.push(count.reason.of(count.verdict).to_string());
            t.packets.push(count.packets as i64);
            t.bytes.push(count.bytes as i64);
        }
    }
    t.into_table()
}
