//! Runs a lowered scenario.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use ccperf_schema::lowered::{Change, Lowered};

use crate::base::error::{Error, guarded};
use crate::base::event::{
    DisciplineEvent, Event, FlowEvent, LaneEvent, NodeEvent, PortEvent, RunEvent,
};
use crate::base::time::{Rate, Time};
use crate::host::hosts::{Address, Endpoint, Host, Hosts};
use crate::host::outside::Stack;
use crate::host::user::{NoUserCode, UserCode};
use crate::net::network::{Arriving, Lookahead, Network};
use crate::packet::trace::{self, PacketTrace};
use crate::run::build::{self, Columns, Startup};
use crate::run::openings::Openings;
use crate::run::recorder::Recorder;
use crate::run::recording::Recording;
use crate::run::schedule::Schedules;

/// Where a packet trace goes.
enum Sink<'a> {
    /// Its name says in which form.
    File(&'a Path),
    Given(Box<dyn Write + Send>),
}

/// A simulation that can be run to its end or step by step.
pub struct Simulation {
    scenario: Lowered,
    network: Network,
    hosts: Hosts,
    /// What each node does when it comes up; taken then.
    startups: Vec<Startup>,
    schedules: Schedules,
    /// Flow numbers of the transfers, and when they begin.
    transfers: Range<u32>,
    openings: Openings,
    recorder: Recorder,
    finished: bool,
    /// By node, whether its applications run here; empty: all do.
    is_here: Vec<bool>,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("now", &self.network.now()).finish_non_exhaustive()
    }
}

impl Simulation {
    /// `packets`: where to write the packet trace.
    pub fn new(scenario: Lowered, packets: Option<&Path>) -> Result<Self, Error> {
        Self::with_user_code(scenario, packets, Box::new(NoUserCode))
    }

    /// `user`: makes the algorithms that the scenario's user brings.
    pub fn with_user_code(
        scenario: Lowered,
        packets: Option<&Path>,
        user: Box<dyn UserCode>,
    ) -> Result<Self, Error> {
        let packets = packets.map(Sink::File);
        guarded(|| Self::build(scenario, packets, user, None)).map_err(|f| f.at(Time::ZERO))?
    }

    /// Writes the packet trace with headers to `out`.
    pub fn with_packets_to(scenario: Lowered, out: Box<dyn Write + Send>) -> Result<Self, Error> {
        let build = || Self::build(scenario, Some(Sink::Given(out)), Box::new(NoUserCode), None);
        guarded(build).map_err(|f| f.at(Time::ZERO))?
    }

    /// `stack`: has the ends of all connections; `user`: makes what else is from outside.
    pub fn with_stack(
        scenario: Lowered,
        packets: Option<&Path>,
        user: Box<dyn UserCode>,
        stack: &mut dyn Stack,
    ) -> Result<Self, Error> {
        let build = || Self::build(scenario, packets.map(Sink::File), user, Some(stack));
        guarded(build).map_err(|f| f.at(Time::ZERO))?
    }

    fn build(
        scenario: Lowered,
        packets: Option<Sink<'_>>,
        user: Box<dyn UserCode>,
        stack: Option<&mut dyn Stack>,
    ) -> Result<Self, Error> {
        build::check(&scenario)?;
        let trace = |sink| -> Result<PacketTrace, Error> {
            let path = match sink {
                Sink::File(path) => path,
                Sink::Given(out) => return build::packet_trace(&scenario, out, Columns::Headers),
            };
            let out = Box::new(BufWriter::with_capacity(1 << 20, File::create(path)?));
            if path.extension().is_some_and(|suffix| suffix == "pcapng") {
                return build::capture(&scenario, out);
            }
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let has_headers = name.ends_with(trace::HEADERS_SUFFIX);
            let columns = if has_headers { Columns::Headers } else { Columns::Usual };
            build::packet_trace(&scenario, out, columns)
        };
        let trace = packets.map(trace).transpose()?;
        let mut simulation = Simulation {
            network: build::network(&scenario, trace, &*user)?,
            hosts: build::hosts(&scenario, user, stack)?,
            startups: build::startups(&scenario),
            schedules: Schedules::default(),
            transfers: scenario.flows.len() as u32..scenario.flow_count() as u32,
            openings: Openings::default(),
            recorder: Recorder::new(&scenario),
            scenario,
            finished: false,
            is_here: Vec::new(),
        };
        let Range { start, end } = simulation.transfers;
        simulation.network.watch(start, (end - start) as usize);
        simulation.set_up();
        Ok(simulation)
    }

    /// When it ends.
    pub fn stop(&self) -> Time {
        Time(self.scenario.stop_ns)
    }

    /// Runs until simulated time `until` or the scenario's end; returns false at the end.
    ///
    /// # Errors
    /// [`Error::UserCode`], [`Error::Samples`], [`Error::Crowded`]; the simulation cannot go on then.
    pub fn run_until(&mut self, until: Time) -> Result<bool, Error> {
        self.run_some(until, u64::MAX)
    }

    /// Runs the next `events` events at most, so that who asks gets the control back soon however much
    /// happens in a simulated second; returns false at the scenario's end.
    ///
    /// # Errors
    /// [`Error::UserCode`], [`Error::Samples`], [`Error::Crowded`]; the simulation cannot go on then.
    pub fn run_for(&mut self, events: u64) -> Result<bool, Error> {
        self.run_some(Time::MAX, events)
    }

    fn run_some(&mut self, until: Time, events: u64) -> Result<bool, Error> {
        let until = until.min(Time::MAX);
        guarded(|| self.advance(until, events)).map_err(|failure| failure.at(self.now()))
    }

    #[inline(never)] // there is one of it, whoever calls
    fn advance(&mut self, until: Time, events: u64) -> bool {
        let mut left = if self.finished { 0 } else { events };
        while left > 0 {
            left -= 1;
            let Some(entry) = self.network.events().next(until) else {
                return self.pause(until);
            };
            self.recorder.attend(self.network.now(), &mut self.network, &self.hosts);
            if self.run(entry.event()).is_break() {
                break;
            }
        }
        !self.finished
    }

    /// Nothing else is due by `until`.  Returns whether something is later.
    #[cold]
    fn pause(&mut self, until: Time) -> bool {
        if self.network.events().is_empty() {
            self.finish_recording();
            return false;
        }
        self.recorder.advance(until, &self.network, &self.hosts);
        true
    }

    /// Runs to the end and returns what was recorded.
    pub fn finish(mut self) -> Result<Recording, Error> {
        self.run_until(Time(u64::MAX))?;
        if let Some(trace) = self.network.take_trace() {
            trace.finish()?;
        }
        Ok(self.recorder.finish(&self.scenario, &self.network, &self.hosts))
    }

    /// What has been recorded until now, without ending: totals of flows and links, their samples.
    ///
    /// # Errors
    /// [`Error::Samples`].
    pub fn so_far(&self) -> Result<Recording, Error> {
        let so_far = self.recorder.so_far(&self.scenario, &self.network, &self.hosts);
        so_far.map_err(Error::Samples)
    }

    pub fn now(&self) -> Time {
        self.network.now()
    }

    /// What the network promises to those who have their ends elsewhere.
    pub fn lookahead(&self) -> Lookahead {
        Lookahead::new(&self.scenario, &self.network)
    }

    /// The time before which nobody outside needs to look: no host is reached but by what is `arriving`, nothing is sampled.
    pub fn horizon(&self, lookahead: &Lookahead, arriving: &mut Vec<Arriving>) -> Time {
        let horizon = self.network.horizon(lookahead, arriving).min(self.recorder.next());
        arriving.retain(|one| one.time < horizon);
        horizon
    }

    /// All that is due by `now` runs, and the clock is there.  Returns false at the scenario's end.
    ///
    /// # Errors
    /// As [`Simulation::run_until`].
    pub fn catch_up(&mut self, now: Time) -> Result<bool, Error> {
        let goes_on = self.run_until(now)?;
        self.network.events().advance_to(now);
        Ok(goes_on)
    }

    /// Nothing else happens at this time: if it is a grid point, it is sampled.
    ///
    /// # Errors
    /// [`Error::Samples`].
    pub fn sample(&mut self) -> Result<(), Error> {
        let now = self.network.now();
        guarded(|| self.recorder.advance(now + Time(1), &self.network, &self.hosts))
            .map_err(|failure| failure.at(now))
    }

    /// What sends packets of any flow.
    pub fn with_host<T>(&mut self, call: impl FnOnce(Host<'_>) -> T) -> T {
        call(Host::new(&mut self.network, &Address::default()))
    }

    /// Something has happened outside at an end of `flow`.
    pub fn call(&mut self, flow: u32, call: impl FnOnce(&mut dyn Endpoint, Host<'_>)) {
        self.recorder.note_activity(flow);
        self.hosts.call(flow, &mut self.network, call);
    }

    /// Something has happened outside to the queue discipline of a port.
    pub fn wake_discipline(&mut self, port: u32) {
        self.network.wake_discipline(port);
    }

    /// The events that exist before time starts, in the order in which ns-3 schedules them.
    fn set_up(&mut self) {
        for node in 0..self.scenario.nodes.len() {
            self.network.events().schedule(Time::ZERO, Event::Node(NodeEvent::Start, node as u32));
        }
        self.network.start_balancing();
        self.network.settle(!self.scenario.failures.is_empty());
        self.hosts.note_crowd(&mut self.network);
        self.network.attach_disciplines();
        let events = self.network.events();
        for (i, change) in self.scenario.changes.iter().enumerate() {
            events.schedule(Time(change.time_ns), Event::Run(RunEvent::Change, i as u32));
        }
        self.schedules = Schedules::start(&self.scenario.links, events);
        for (i, failure) in self.scenario.failures.iter().enumerate() {
            events.schedule(Time(failure.time_ns), Event::Run(RunEvent::Failure, i as u32));
        }
        events.schedule(Time(self.scenario.stop_ns), Event::Run(RunEvent::Stop, 0));
    }

    /// What arrives soon after the head of a lane finds what it needs nearer by then.
    #[inline]
    fn look_ahead(&self, lane: u32) {
        self.network.fetch_ahead(lane);
        if !self.network.is_crowded {
            return;
        }
        if let Some(packet) = self.network.arriving_soon(lane) {
            self.hosts.fetch(packet);
        }
        if let Some(packet) = self.network.arriving_next(lane) {
            self.hosts.fetch_beyond(packet);
        }
    }

    /// Breaks at the scenario's end.
    #[inline(always)] // into the loop: a call costs more than most events' dispatch
    fn run(&mut self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Lane(LaneEvent::Arrival, lane) => {
                if self.network.looks_ahead {
                    self.look_ahead(lane);
                }
                if let Some(id) = self.network.on_arrival(lane) {
                    let packet = self.network.take(id);
                    self.hosts.deliver(&packet, &mut self.network);
                    self.note(packet.flow);
                }
            }
            Event::Port(PortEvent::TxComplete, port) => self.network.on_tx_complete(port),
            Event::Lane(LaneEvent::Transmitted, lane) => self.network.on_transmitted(lane),
            Event::Port(PortEvent::Wake, port) => self.network.on_wake(port),
            Event::Port(PortEvent::PauseTakesEffect, port) => self.network.on_pause_effect(port),
            Event::Port(PortEvent::RenewPause, port) => self.network.on_pause_renewal(port),
            Event::Endpoint(token, place) => {
                if let Some(flow) = self.hosts.on_timer(place, token, &mut self.network) {
                    self.note(flow);
                }
            }
            Event::Flow(FlowEvent::CloseReceiver, flow) => {
                self.hosts.close_receiver(flow, &mut self.network);
                self.recorder.note_activity(flow);
            }
            Event::Discipline(DisciplineEvent::Timer, index) => self.network.on_qdisc_timer(index),
            Event::Flow(FlowEvent::Open, flow) => {
                if self.transfers.contains(&flow) {
                    self.openings.queue_next(self.network.events());
                }
                self.hosts.open(flow, &mut self.network);
                self.note(flow);
            }
            Event::Flow(FlowEvent::Close, flow) => {
                self.hosts.close(flow, &mut self.network);
                self.note(flow);
            }
            Event::Run(RunEvent::Change, index) => {
                apply(&self.scenario.changes[index as usize], &mut self.network)
            }
            Event::Run(RunEvent::Schedule, number) => {
                let events = self.network.events();
                let change = self.schedules.due(number, &self.scenario.links, events);
                apply(&change, &mut self.network);
            }
            Event::Run(RunEvent::Failure, index) => {
                let failure = &self.scenario.failures[index as usize];
                self.network.fail(&failure.down, &failure.up);
            }
            Event::Run(RunEvent::Balance, who) => self.network.on_balancing(who),
            Event::Node(NodeEvent::Reassembly, destination) => {
                self.network.on_reassembly(destination)
            }
            Event::Node(NodeEvent::Pull, node) => self.network.on_pull_turn(node),
            Event::Node(NodeEvent::Start, node) => self.start_node(node as usize),
            Event::Run(RunEvent::Stop, _) => {
                self.finish_recording();
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Something has happened to an endpoint of `flow`.
    #[inline(always)] // nearly always nothing but a comparison
    fn note(&mut self, flow: u32) {
        self.recorder.on_endpoint_event(flow, self.network.now(), &self.hosts);
    }

    fn finish_recording(&mut self) {
        self.finished = true;
        self.recorder.advance(Time(self.scenario.stop_ns), &self.network, &self.hosts);
    }

    fn start_node(&mut self, node: usize) {
        let startup = std::mem::take(&mut self.startups[node]);
        for port in startup.ports {
            self.network.start_disciplines(port);
        }
        let is_here = self.is_here.get(node).copied().unwrap_or(true);
        for (delay, event) in startup.applications {
            if !is_here {
                // Elsewhere it has this number, too.
                self.network.events().draw(1);
                continue;
            }
            match event {
                Event::Flow(FlowEvent::Open, flow) if self.transfers.contains(&flow) => {
                    self.openings.add(self.network.events().reserve(Time(delay)), flow);
                }
                _ => {
                    self.network.events().schedule(Time(delay), event);
                }
            }
        }
        if node + 1 == self.startups.len() {
            self.openings.begin(self.network.events());
        }
    }
}

fn apply(change: &Change, network: &mut Network) {
    for side in 0..2 {
        let number = 2 * change.link + side;
        let port = &mut network.ports[number];
        if let Some(rate) = change.rate_bps[side] {
            port.transmitter.set_rate(Rate(rate));
        }
        if let Some(delay) = change.delay_ns {
            port.transmitter.delay = Time(delay);
        }
        if let Some(loss) = change.loss[side] {
            network.set_loss(number, loss);
        }
    }
}

mod part;

#[cfg(test)]
mod tests;
