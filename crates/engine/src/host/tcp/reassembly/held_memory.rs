//! What segments beyond a hole take of Linux's receive buffer: memory of their own, unless they fit into what the segment before
//! them leaves free of its own (`tcp_try_coalesce`).

use std::collections::VecDeque;

use crate::base::seq::Seq;
use crate::host::tcp::memory::{free_of, memory_of};

/// A segment beyond RCV.NXT.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub start: Seq,
    /// In bytes.
    pub size: u32,
    /// What it takes, and what is free of that, once it is held ([`HeldMemory::hold`]).
    memory: u32,
    free: u32,
}

impl Pending {
    pub fn new(start: Seq, size: u32) -> Pending {
        Pending { start, size, memory: 0, free: 0 }
    }

    pub fn end(&self) -> Seq {
        self.start + self.size
    }

    fn alone(self) -> Pending {
        Pending { memory: memory_of(self.size), free: free_of(self.size), ..self }
    }

    /// The same once all before it is there.
    fn behind(self, before: &Pending) -> Pending {
        let joins = before.end() == self.start && self.size <= before.free;
        if joins { Pending { memory: 0, free: before.free - self.size, ..self } } else { self }
    }
}

#[derive(Clone, Debug, Default)]
pub struct HeldMemory {
    all: u32,
    /// What of it the last segment that filled a hole has put in order.
    joined: u32,
    /// What of it a FIN takes that came alone.
    fin: u32,
}

impl HeldMemory {
    pub fn all(&self) -> u32 {
        self.all
    }

    /// What the segment that has just come has put in order, where so much was held before.
    pub fn joined(&self, before: u32) -> u32 {
        if self.all < before { self.joined } else { 0 }
    }

    /// A segment is held, behind the one `before`.
    pub fn hold(&mut self, new: Pending, before: Option<&Pending>) -> Pending {
        let alone = new.alone();
        let held = before.map_or(alone, |before| alone.behind(before));
        self.all += held.memory;
        held
    }

    pub fn release(&mut self, one: Pending) {
        self.all -= one.memory;
    }

    /// A segment has filled a hole.
    pub fn begin_joining(&mut self, filler: Pending) -> Pending {
        self.joined = 0;
        filler.alone()
    }

    /// What was the first one, before the others, is in order behind `last`.  Returns what the next one comes behind.
    pub fn join(&mut self, first: Pending, others: &VecDeque<Pending>, last: Pending) -> Pending {
        self.release(first);
        if first.memory == 0 {
            return last; // which it is a part of
        }
        let followers = others.iter().take_while(|one| one.memory == 0);
        let whole = followers.fold(first, |all, one| Pending {
            size: all.size + one.size,
            free: one.free,
            ..all
        });
        let joined = whole.behind(&last);
        self.joined += joined.memory;
        joined
    }

    /// A FIN without data has come beyond a hole: it takes memory, unless it follows the last one.  Returns whether it does.
    pub fn hold_fin(&mut self, seq: Seq, last: Option<&Pending>) -> bool {
        let follows = last.is_some_and(|last| last.end() == seq);
        if !follows {
            self.fin = memory_of(0);
            self.all += self.fin;
        }
        follows
    }

    pub fn release_fin(&mut self) {
        self.all -= std::mem::take(&mut self.fin);
    }
}

#[cfg(test)]
mod tests {
    use crate::base::seq::Seq;
    use crate::host::tcp::reassembly::Reassembly;

    fn at(n: u32) -> Seq {
        Seq(n)
    }

    /// Linux 7.3.4: 785 B leave 827 free of the memory that they take, so that as many follow there, and 42 are left.
    #[test]
    fn what_fits_behind_a_segment_takes_no_memory_of_its_own() {
        let held = |count: u32| {
            let mut rx = Reassembly::new(100_000).counting_memory(true);
            for i in 1..=count {
                rx.add(at(785 * i), 785);
            }
            (rx.held_memory(), rx)
        };
        assert_eq!([1, 2, 3, 4].map(|count| held(count).0), [2304, 2304, 4608, 4608]);
        // One fits behind what fills the hole, two that are one already do not; what comes behind them fits.
        for (count, joined) in [(1, 0), (2, 2304), (3, 4608)] {
            let (before, mut rx) = held(count);
            rx.add(at(0), 785);
            assert_eq!((rx.joined_memory(before), rx.held_memory()), (joined, 0), "{count}");
            assert_eq!(rx.joined_memory(0), 0, "nothing was held");
        }
        let mut rx = Reassembly::new(100_000).counting_memory(true);
        rx.add(at(785), 785);
        rx.add(at(2000), 500);
        rx.add(at(1570), 43);
        assert_eq!(rx.held_memory(), 2304 + 1280, "43 B fit behind 785");
        rx.add(at(3000), 785);
        rx.add(at(3785), 828);
        assert_eq!(rx.held_memory(), 2304 + 1280 + 2 * 2304, "and 828 do not");
    }

    /// Linux 7.3.4: 832 B, as all that has no more than 140 B of data.
    #[test]
    fn a_fin_beyond_a_hole_takes_memory_unless_it_follows_what_is_held() {
        let mut rx = Reassembly::new(10_000).counting_memory(true);
        rx.add(at(1000), 500);
        rx.set_fin(at(1500));
        assert!(rx.hold_fin(at(1500)));
        assert_eq!(rx.held_memory(), 1280);
        let mut rx = Reassembly::new(10_000).counting_memory(true);
        rx.add(at(1000), 140);
        rx.set_fin(at(1500));
        rx.report_again((at(1500), at(1501)));
        assert!(!rx.hold_fin(at(1500)));
        assert_eq!(rx.held_memory(), 832 + 832);
        rx.add(at(0), 1000);
        assert_eq!(rx.held_memory(), 832);
        rx.add(at(1140), 360);
        assert_eq!((rx.held_memory(), rx.finished()), (0, true));
    }
}
