//! One run on several cores: parts of a network side by side, with the packets, times and order of one alone.
//!
//! Nothing gets from one part to another in less than a window of time.  So each part runs a window by itself; then packets
//! change sides, and each gets the place among the events of its new part that it would have had in one queue
//! ([`crate::base::event::journal`]).  Who asks for more parts gets the same bytes sooner.

mod barrier;
mod merge;
mod partition;

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

use barrier::Barrier;
use ccperf_schema::lowered::Lowered;
use partition::Partition;

use crate::base::error::Error;
use crate::base::event::journal::{Arrival, Foreign, History, Lost, Origin, Ranks};
use crate::base::event::{Key, NUMBER_BITS};
use crate::base::fetch::fetch;
use crate::base::time::Time;
use crate::net::network::Crossing;
use crate::packet::Beside;
use crate::run::recording::Recording;
use crate::run::simulate::Simulation;

/// What became of a run in parts.
#[derive(Debug)]
pub enum Outcome {
    /// It is over; so many parts have run.
    Done(Recording, usize),
    /// One thread is to run it.  Why: the end of a sentence that begins with "this run".
    Alone(&'static str),
    /// Whoever watches it has ended it.
    Ended,
}

/// What one part tells the others.
#[derive(Debug)]
struct Board {
    history: RwLock<History>,
    /// What it tells at the end of a window is on one side, while on the other may still be read what it has told before.
    sides: [Side; 2],
}

/// In cache lines of its own, for others read it while the part writes elsewhere.
#[derive(Debug)]
#[repr(align(128))]
struct Side {
    /// When its next event is due, or that of another part because of it.
    next: AtomicU64,
    /// From when on it remembers everything.
    oldest: AtomicU64,
    /// How many there are in `over`.
    overs: AtomicUsize,
    /// Transfers whose ends there are over.
    over: Mutex<Vec<u32>>,
    /// For each transfer that may go, whether it is over there.
    is_over: Mutex<Vec<bool>>,
    /// By the part that they go to.
    mail: Vec<Mutex<Mail>>,
}

/// Packets from one part to another.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Mail {
    packets: Vec<Crossing>,
    /// Options of those that have some.
    beside: Vec<Beside>,
}

impl Mail {
    fn push(&mut self, mut crossing: Crossing, beside: Option<Beside>) {
        if let Some(beside) = beside {
            crossing.packet.next = self.beside.len() as u32;
            self.beside.push(beside);
        }
        self.packets.push(crossing);
    }

    fn beside(&self, crossing: &Crossing) -> Option<&Beside> {
        (crossing.packet.beside > 0).then(|| &self.beside[crossing.packet.next as usize])
    }

    fn clear(&mut self) {
        self.packets.clear();
        self.beside.clear();
    }
}

/// As a crossing carries it: its part in the upper bits of what it has drawn.
fn pack(crossing: &mut Crossing, before: Origin) {
    crossing.before_time = before.by.time;
    crossing.before_by = before.by.number;
    crossing.before = (before.part as u64) << NUMBER_BITS | before.number;
}

fn unpack(crossing: &Crossing) -> Option<Origin> {
    let by = Key { time: crossing.before_time, number: crossing.before_by };
    let (part, number) =
        (crossing.before >> NUMBER_BITS, crossing.before & ((1 << NUMBER_BITS) - 1));
    (crossing.before > 0).then_some(Origin { part: part as usize, by, number })
}

impl Board {
    fn new(parts: usize) -> Self {
        let side = || Side {
            next: AtomicU64::new(u64::MAX),
            oldest: AtomicU64::new(0),
            overs: AtomicUsize::new(0),
            over: Mutex::default(),
            is_over: Mutex::default(),
            mail: (0..parts).map(|_| Mutex::default()).collect(),
        };
        Board { history: RwLock::default(), sides: [side(), side()] }
    }
}

struct Shared<'a> {
    scenario: &'a Lowered,
    partition: &'a Partition,
    /// By flow, the parts of its source and its destination.
    ends: Vec<[usize; 2]>,
    boards: Vec<Board>,
    barrier: Barrier,
    /// Why it could not go on in parts.
    lost: Mutex<Option<Failed>>,
}

/// Why parts have ended.
#[derive(Debug)]
enum Failed {
    Error(Error),
    Lost(Lost),
    /// See [`Outcome::Alone`].
    Alone(&'static str),
    Ended,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Error(error)
    }
}

impl From<Lost> for Failed {
    fn from(lost: Lost) -> Self {
        Failed::Lost(lost)
    }
}

/// For so many events of each port is kept what has scheduled them, in 8 bytes each: those of some thousand windows.
const EVENTS: usize = 1 << 12;

/// In small networks, where whole runs may be in lockstep: 4 MB.
const LEAST_EVENTS: usize = 1 << 19;

/// Windows between two calls of who watches.
const UNWATCHED: usize = 256;

/// Runs a scenario on at most so many threads.  `watch` is told the simulated time again and again, and returns false to end
/// the run.
///
/// # Errors
/// As [`Simulation::finish`].
pub fn run(
    scenario: &Lowered,
    threads: usize,
    watch: &mut dyn FnMut(Time) -> bool,
) -> Result<Outcome, Error> {
    let partition = match Partition::new(scenario, threads) {
        Ok(partition) => partition,
        Err(why) => return Ok(Outcome::Alone(why)),
    };
    let parts = partition.parts;
    let shared = Shared {
        scenario,
        ends: ends(scenario, &partition),
        partition: &partition,
        boards: (0..parts).map(|_| Board::new(parts)).collect(),
        barrier: Barrier::new(parts),
        lost: Mutex::new(None),
    };
    let recordings = thread::scope(|scope| {
        let shared = &shared;
        let others =
            (1..parts).map(|own| scope.spawn(move || take_part(own, shared, &mut |_| true)));
        let others: Vec<_> = others.collect();
        let first = take_part(0, shared, watch);
        let rest = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(rest).collect::<Option<Vec<_>>>()
    });
    match (recordings, shared.lost.into_inner().unwrap_or_else(PoisonError::into_inner)) {
        (Some(recordings), None) => {
            let merged = merge::merge(scenario, &partition, &shared.ends, recordings)?;
            Ok(Outcome::Done(merged, parts))
        }
        (_, Some(Failed::Error(error))) => Err(error),
        (_, Some(Failed::Ended)) => Ok(Outcome::Ended),
        (_, Some(Failed::Alone(why))) => Ok(Outcome::Alone(why)),
        (_, Some(Failed::Lost(Lost::Numbers))) => {
            Ok(Outcome::Alone("has too many events for parts"))
        }
        _ => {
            Ok(Outcome::Alone("has events at one nanosecond whose order one thread alone can tell"))
        }
    }
}

/// By flow, the parts of its source and its destination.
fn ends(scenario: &Lowered, partition: &Partition) -> Vec<[usize; 2]> {
    let flows = scenario.flows.iter().map(|flow| [flow.source, flow.destination]);
    let pairs = scenario.workloads.iter().flat_map(|workload| &workload.pair);
    let pairs = pairs.map(|&pair| &scenario.pairs[pair as usize]);
    let all = flows.chain(pairs.map(|pair| [pair.source, pair.destination]));
    all.map(|ends| ends.map(|node| partition.part_of[node])).collect()
}

/// One part from its beginning to its end.  None if the run has no end in parts.
fn take_part(
    own: usize,
    shared: &Shared<'_>,
    watch: &mut dyn FnMut(Time) -> bool,
) -> Option<Recording> {
    // Whoever leaves early lets nobody wait.
    let mut member = shared.barrier.member();
    match Part::new(own, shared).and_then(|part| part.run(watch)) {
        Ok(recording) => {
            member.is_done = true;
            recording
        }
        Err(failed) => {
            let mut lost = lock(&shared.lost);
            lost.get_or_insert(failed);
            None
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Part<'a> {
    own: usize,
    shared: &'a Shared<'a>,
    simulation: Simulation,
    /// Transfers that are over at one of two ends, those of which this part has said so, and those that may go.
    half_over: HashSet<u32>,
    said: HashSet<u32>,
    may_go: Vec<u32>,
    ranks: Ranks,
    /// What has come last, in the order of keys.
    foreign: Vec<Foreign>,
    /// Memory to be used again.
    placed: Vec<(usize, Foreign)>,
}

impl<'a> Part<'a> {
    fn new(own: usize, shared: &'a Shared<'a>) -> Result<Self, Failed> {
        let Partition { part_of, part_of_port, leaves, .. } = shared.partition;
        let here = |parts: &[usize]| parts.iter().map(|&part| part == own).collect::<Vec<_>>();
        let is_own = |port: &u32| part_of_port[*port as usize] == own;
        let mut scenario = shared.scenario.clone();
        scenario.recording.ports.retain(is_own);
        scenario.recording.queue_ports.retain(is_own);
        let (nodes, ports) = (here(part_of), here(part_of_port));
        let (mut simulation, common) = Simulation::of_part(scenario, nodes, ports, leaves)?;
        if !simulation.is_divisible() {
            return Err(Failed::Alone("has packets whose paths are decided on their way"));
        }
        let board = &shared.boards[own];
        *board.history.write().unwrap_or_else(PoisonError::into_inner) = {
            let ports = part_of_port.iter().filter(|&&part| part == own).count();
            History::new(common, (ports * EVENTS).next_power_of_two().max(LEAST_EVENTS))
        };
        board.sides[0].next.store(simulation.next_time().0, Relaxed);
        Ok(Part {
            own,
            shared,
            simulation,
            half_over: HashSet::new(),
            said: HashSet::new(),
            may_go: Vec::new(),
            ranks: Ranks::new(own),
            foreign: Vec::new(),
            placed: Vec::new(),
        })
    }

    /// None if another part has failed.
    fn run(mut self, watch: &mut dyn FnMut(Time) -> bool) -> Result<Option<Recording>, Failed> {
        for window in 0_usize.. {
            if !self.shared.barrier.wait() {
                return Ok(None);
            }
            let side = window % 2;
            let next = |board: &Board| board.sides[side].next.load(Relaxed);
            let start = Time(self.shared.boards.iter().map(next).min().unwrap_or(u64::MAX));
            if window % UNWATCHED == 0 && !watch(start) {
                return Err(Failed::Ended);
            }
            self.hear(side)?;
            let end = start + self.shared.partition.window;
            let goes_on = self.simulation.run_window(start, end)?;
            if !goes_on {
                break;
            }
            self.tell(1 - side);
            if !self.simulation.has_numbers() {
                return Err(Lost::Numbers.into());
            }
        }
        Ok(Some(self.simulation.into_recording()))
    }

    /// The window is over: what the others have to know.
    fn tell(&mut self, side: usize) {
        let Shared { boards, partition, .. } = self.shared;
        let Board { history, sides } = &boards[self.own];
        let Side { next, oldest, overs, over, is_over, mail } = &sides[side];
        if !self.may_go.is_empty() {
            // Packets that leave are still here.
            let is_over_here = self.may_go.iter().map(|&flow| self.simulation.is_over(flow));
            *lock(is_over) = is_over_here.collect();
        }
        let mut history = history.write().unwrap_or_else(PoisonError::into_inner);
        history.add_foreign(&self.foreign);
        self.foreign.clear();
        self.simulation.end_window(&mut history);
        oldest.store(history.oldest().0, Relaxed);
        let mut soonest = Time::MAX;
        let mut mail: Vec<_> = mail.iter().map(lock).collect();
        self.simulation.take_leaving(|mut crossing, beside| {
            soonest = soonest.min(crossing.due);
            crossing.by = history.number_by(crossing.number);
            history.fetch(crossing.by);
            mail[partition.part_of_port[crossing.next_port()]].push(crossing, beside);
        });
        for crossing in mail.iter_mut().flat_map(|mail| &mut mail.packets) {
            let by = Key { time: crossing.sent(), number: crossing.by };
            if let Some(before) = history.origin(self.own, by) {
                pack(crossing, before);
            }
        }
        next.store(soonest.min(self.simulation.next_time()).0, Relaxed);
        let finished = self.simulation.take_finished();
        if !finished.is_empty() || overs.load(Relaxed) > 0 {
            let mut over = lock(over);
            over.clear();
            over.extend(finished.into_iter().filter(|&flow| self.said.insert(flow)));
            overs.store(over.len(), Relaxed);
        }
    }

    /// What the others have told.
    fn hear(&mut self, side: usize) -> Result<(), Failed> {
        let Shared { boards, ends, .. } = self.shared;
        self.let_go(side);
        for board in boards.iter().filter(|board| board.sides[side].overs.load(Relaxed) > 0) {
            for &flow in &*lock(&board.sides[side].over) {
                let [from, to] = ends[flow as usize];
                if from == to || !self.half_over.insert(flow) {
                    self.half_over.remove(&flow);
                    self.may_go.push(flow);
                }
            }
        }
        let mut mail: Vec<_> =
            boards.iter().map(|board| lock(&board.sides[side].mail[self.own])).collect();
        if mail.iter().all(|mail| mail.packets.is_empty()) {
            return Ok(());
        }
        mail.iter().flat_map(|mail| &mail.packets).for_each(fetch);
        let histories: Vec<_> = boards
            .iter()
            .map(|board| board.history.read().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let histories: Vec<_> = histories.iter().map(|history| &**history).collect();
        let oldest = |board: &Board| board.sides[side].oldest.load(Relaxed);
        let oldest = Time(boards.iter().map(oldest).max().unwrap_or(0));
        if histories.iter().any(|history| !history.remembers(oldest)) {
            return Err(Lost::Forgotten.into());
        }
        let all = || {
            let all = mail.iter().enumerate();
            all.flat_map(|(part, mail)| mail.packets.iter().map(move |one| (part, one)))
        };
        let arrivals = all().map(|(part, crossing)| {
            let by = Key { time: crossing.sent(), number: crossing.by };
            let origin = Origin { part, by, number: crossing.number };
            Arrival { time: crossing.due, origin, before: unpack(crossing) }
        });
        self.ranks.place(arrivals, oldest, &histories, &mut self.placed)?;
        let all: Vec<_> = all().collect();
        self.foreign.clear();
        for (i, foreign) in self.placed.drain(..) {
            let (part, crossing) = all[i];
            let [from, to] = ends[crossing.packet.flow as usize];
            let is_for_receiver = !crossing.packet.backward && from != self.own && to == self.own;
            let beside = mail[part].beside(crossing);
            self.simulation.admit(crossing, beside, foreign.key, is_for_receiver)?;
            self.foreign.push(foreign);
        }
        mail.iter_mut().for_each(|mail| mail.clear());
        Ok(())
    }

    /// Transfers that are over in all parts, without a packet in any or between them, go.
    fn let_go(&mut self, side: usize) {
        if self.may_go.is_empty() {
            return;
        }
        let mut all = vec![true; self.may_go.len()];
        for board in &self.shared.boards {
            let is_over = lock(&board.sides[side].is_over);
            all.iter_mut().zip(&*is_over).for_each(|(all, one)| *all &= one);
        }
        let (mut all, simulation, said) = (all.into_iter(), &mut self.simulation, &mut self.said);
        self.may_go.retain(|&flow| {
            let goes = all.next().unwrap_or(false);
            if goes {
                simulation.let_go(flow);
                said.remove(&flow);
            }
            !goes
        });
    }
}

#[cfg(test)]
mod tests;
