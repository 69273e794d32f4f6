//! The transfers of a workload, drawn from streams of its own.
//!
//! Times, pairs, sizes and added delays come from four streams, whose numbers depend on the workload's name alone: the
//! n-th transfer is the same one whatever runs it, and with other sizes it still begins at the same time
//! where the rate is the same.

use ccperf_engine::base::rng::RngStream;
use ccperf_engine::base::time::Time;
use ccperf_schema::written::{AddedDelay, Pairs};

use super::partners::Partners;
use super::sizes::Distribution;
use crate::added_delay::draw;

/// A workload in numbers.
#[derive(Clone, Debug)]
pub struct Plan {
    pub when: When,
    pub pairs: Pairs,
    pub sizes: Distribution,
    /// Nodes.
    pub sources: Vec<usize>,
    pub destinations: Vec<usize>,
    /// For each node, which set of those that keep apart it is in.
    pub sets: Vec<Option<usize>>,
    /// Between whom, if the workload lists it.
    pub listed: Vec<[usize; 2]>,
    /// What load is measured against, in bit/s.
    pub capacity: f64,
    /// Nothing begins from here on.
    pub end: Time,
    /// The first of the four streams, and the run.
    pub stream: u64,
    pub seed: u64,
}

/// When rounds begin.
#[derive(Clone, Debug)]
pub enum When {
    Poisson {
        load: f64,
        start: Time,
        until: Time,
        count: u64,
    },
    Times(Vec<Time>),
    /// The earliest that each can begin, and what it waits for.
    After {
        earliest: Vec<Time>,
        waiting: Vec<Waiting>,
    },
    /// One for each of these, when it has arrived.
    Answers {
        requests: Vec<Transfer>,
        delay: Time,
    },
}

/// What a transfer waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Positions of transfers of the workload that come to their destinations before.
    pub after: Vec<u32>,
    pub delay: Time,
}

impl When {
    /// `after` counts from 1, as names do; `delays`: none, or one for each.
    pub fn after(after: &[Vec<u32>], delays: &[Time], start: Time) -> Self {
        let (mut earliest, mut waiting) = (Vec::<Time>::new(), Vec::new());
        for (i, numbers) in after.iter().enumerate() {
            let delay = delays.get(i).copied().unwrap_or_default();
            let after: Vec<_> = numbers.iter().map(|number| number - 1).collect();
            let last = after.iter().map(|&i| earliest[i as usize]).max().unwrap_or(start);
            earliest.push(last + delay);
            waiting.push(Waiting { after, delay });
        }
        When::After { earliest, waiting }
    }
}

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Nodes.
    pub source: usize,
    pub destination: usize,
    pub start: Time,
    pub bytes: u64,
}

impl Plan {
    /// All transfers in the order of their start; none beyond `most`, which is too many.
    pub fn transfers(&self, most: usize) -> Vec<Transfer> {
        let mut transfers = Vec::new();
        let [mut arrivals, mut pairs, mut sizes] =
            [0, 1, 2].map(|i| RngStream::fixed(self.seed, self.stream.wrapping_add(i)));
        let partners = [self.receivers(), self.senders()];
        let mut round = Vec::new();
        for (n, start) in self.times(&mut arrivals).enumerate() {
            round.clear();
            self.round(n, &partners, &mut pairs, &mut round);
            for &[source, destination] in &round {
                if transfers.len() > most {
                    return transfers;
                }
                let bytes = self.sizes.draw(transfers.len() as u64, &mut sizes);
                transfers.push(Transfer { source, destination, start, bytes });
            }
        }
        transfers
    }

    /// What each transfer waits for; none if they begin by the clock.
    pub fn waits(&self) -> impl Iterator<Item = &Waiting> {
        let waiting = match &self.when {
            When::After { waiting, .. } => &waiting[..],
            When::Poisson { .. } | When::Times(_) | When::Answers { .. } => &[],
        };
        waiting.iter()
    }

    /// How long after its request each transfer begins, if they are answers.
    pub fn answers_after(&self) -> Option<Time> {
        match self.when {
            When::Answers { delay, .. } => Some(delay),
            _ => None,
        }
    }

    /// What is added to the propagation of each of `count` transfers.
    pub fn added_delays(&self, added: &AddedDelay, count: usize) -> Vec<u64> {
        let mut stream = RngStream::fixed(self.seed, self.stream.wrapping_add(3));
        (0..count).map(|_| draw(added, &mut stream).0).collect()
    }

    /// Of what the transfers carry, the share of the capacity in the time in which they begin.
    pub fn realised_load(&self, transfers: &[Transfer]) -> Option<f64> {
        let When::Poisson { start, until, count, .. } = self.when else { return None };
        let last = transfers.last()?.start;
        let end = if count == u64::MAX { until.min(self.end) } else { last };
        let seconds = (end - start).secs_f64();
        let bits = transfers.iter().map(|transfer| transfer.bytes).sum::<u64>() as f64 * 8.0;
        (seconds > 0.0).then_some(bits / seconds / self.capacity)
    }

    fn times<'a>(&'a self, stream: &'a mut RngStream) -> Box<dyn Iterator<Item = Time> + 'a> {
        let end = self.end;
        match &self.when {
            When::Times(times) => Box::new(times.iter().copied().filter(move |&time| time < end)),
            // All of them: others name them by their positions.
            When::After { earliest, .. } => Box::new(earliest.iter().copied()),
            &When::Answers { ref requests, delay } => {
                Box::new(requests.iter().map(move |request| request.start + delay))
            }
            &When::Poisson { load, start, until, count } => {
                let rate = load * self.capacity / (8.0 * self.sizes.mean() * self.round_size());
                let mut seconds = start.secs_f64();
                let times = std::iter::repeat_with(move || {
                    seconds += stream.exponential(1.0 / rate, 0.0);
                    Time::from_secs_f64(seconds)
                });
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                Box::new(times.take_while(move |&time| time < until.min(end)).take(count))
            }
        }
    }

    /// The destinations, of which a source may send to some.
    fn receivers(&self) -> Partners<'_> {
        Partners::new(&self.destinations, &self.sets)
    }

    /// The sources, of which some may send to a destination.
    fn senders(&self) -> Partners<'_> {
        Partners::new(&self.sources, &self.sets)
    }

    /// A source that may send to nobody, or what else stands in the way of any transfer.
    pub fn stranded(&self) -> Option<usize> {
        let are_answers = matches!(self.when, When::Answers { .. });
        if self.pairs != Pairs::Random || are_answers {
            return None;
        }
        let receivers = self.receivers();
        self.sources.iter().copied().find(|&source| receivers.count(source) == 0)
    }

    /// How many may send to the destination to which most may, if a round asks all of them.
    pub fn most_senders(&self) -> Option<usize> {
        match self.pairs {
            Pairs::Incast { .. } | Pairs::AllToAll => {
                let senders = self.senders();
                self.destinations.iter().map(|&to| senders.count(to)).max()
            }
            _ => None,
        }
    }

    /// How many transfers a round has, on average.
    fn round_size(&self) -> f64 {
        match &self.pairs {
            Pairs::Random | Pairs::Listed { .. } => 1.0,
            Pairs::Permutation => self.sources.len() as f64,
            Pairs::AllToAll => {
                let receivers = self.receivers();
                self.sources.iter().map(|&source| receivers.count(source)).sum::<usize>() as f64
            }
            &Pairs::Incast { senders } => {
                let all = self.senders();
                let of = |&to: &usize| at_most(senders, all.count(to));
                let all = self.destinations.iter().map(of).sum::<usize>();
                all as f64 / self.destinations.len() as f64
            }
        }
    }

    fn round(
        &self,
        n: usize,
        [receivers, all_senders]: &[Partners<'_>; 2],
        stream: &mut RngStream,
        round: &mut Vec<[usize; 2]>,
    ) {
        if let When::Answers { requests, .. } = &self.when {
            return round.push([requests[n].destination, requests[n].source]);
        }
        let mut pick = |count: usize| stream.uniform_integer(0, count as u32 - 1) as usize;
        match &self.pairs {
            Pairs::Random => {
                let source = self.sources[pick(self.sources.len())];
                let destination = receivers.get(source, pick(receivers.count(source)));
                round.push([source, destination]);
            }
            Pairs::Permutation => {
                // Sattolo's algorithm: a random cycle, so that nobody sends to itself.
                let mut order = self.sources.clone();
                for i in (1..order.len()).rev() {
                    order.swap(i, pick(i));
                }
                round.extend(self.sources.iter().zip(order).map(|(&source, to)| [source, to]));
            }
            &Pairs::Incast { senders } => {
                let destination = self.destinations[pick(self.destinations.len())];
                let mut sources: Vec<_> = all_senders.iter(destination).collect();
                let all = sources.len();
                let count = at_most(senders, all);
                if count < all {
                    (0..count).for_each(|i| sources.swap(i, i + pick(all - i)));
                }
                round.extend(sources[..count].iter().map(|&source| [source, destination]));
            }
            Pairs::AllToAll => {
                for &source in &self.sources {
                    round.extend(receivers.iter(source).map(|destination| [source, destination]));
                }
            }
            Pairs::Listed { .. } => round.push(self.listed[n % self.listed.len()]),
        }
    }
}

/// So many senders an incast has of those that may send.
fn at_most(senders: Option<u32>, all: usize) -> usize {
    senders.map_or(all, |senders| all.min(senders as usize))
}
