//! Connections that stay open and carry one transfer after another.
//!
//! Two hosts have a pool of them in each direction.  A transfer takes the idle one that was opened first; opens one, if
//! there may be more; or waits for one to become idle, first come, first served.  A connection is idle when all of its last
//! transfer is acknowledged.  It keeps its window and all else that it has learned.  Its packets have the flow number of
//! the transfer that opened it.

use std::collections::{BTreeSet, VecDeque};

use super::Outcome;
use crate::base::time::Time;

/// By the numbers of transfers, counted from 0 through all workloads.
#[derive(Debug, Default)]
pub struct Persistent {
    /// None of a transfer with a connection of its own.
    members: Vec<Option<Member>>,
    pools: Vec<Pool>,
    /// By the transfer that opened it.
    connections: Vec<Option<Box<Connected>>>,
    /// Of each transfer that is carried, the one that opened its connection.
    carriers: Vec<Option<u32>>,
    /// Of each transfer, whether it found its connection open.
    found_open: Vec<bool>,
}

/// A transfer of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub pool: u32,
    pub bytes: u64,
    /// Where its packets enter the network, and what is added to their propagation there.
    pub port: u32,
    pub added_delay: Time,
}

/// The connections from one host to another.
#[derive(Debug)]
struct Pool {
    /// How many more there may be.
    left: u32,
    idle: BTreeSet<u32>,
    waiting: VecDeque<u32>,
}

/// An open connection.
#[derive(Debug)]
struct Connected {
    pool: u32,
    /// Under way.
    transfer: Option<u32>,
    /// Bytes of all its transfers, this one included.
    bytes: u64,
    /// What the connection had done before this one.
    before: Outcome,
}

/// What becomes of a transfer that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// A connection is made for it.
    Opens,
    /// The connection that another one opened carries it.
    Follows(u32, Member),
    /// All are busy.
    Waits,
}

/// A connection carries nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// What it carried, and did of that.
    pub transfer: Option<(u32, Outcome)>,
    /// Who has waited, and may begin now.
    pub next: Option<u32>,
}

impl Persistent {
    /// `most`: of each pool, how many connections it may have.
    pub fn new(members: Vec<Option<Member>>, most: &[u32]) -> Self {
        let pool = |&left| Pool { left, idle: BTreeSet::new(), waiting: VecDeque::new() };
        let connections = members.iter().map(|_| None).collect();
        let (carriers, found_open) = (vec![None; members.len()], vec![false; members.len()]);
        let pools = most.iter().map(pool).collect();
        Persistent { members, pools, connections, carriers, found_open }
    }

    fn member(&self, transfer: u32) -> Option<Member> {
        self.members.get(transfer as usize).copied().flatten()
    }

    /// Whether a transfer may go over another one's connection.
    pub fn is_member(&self, transfer: u32) -> bool {
        self.member(transfer).is_some()
    }

    /// Whether a transfer went over a connection that another one had opened.
    pub fn found_open(&self, transfer: u32) -> bool {
        self.found_open.get(transfer as usize).is_some_and(|&found| found)
    }

    /// A transfer begins.  `outcome`: what a connection has done so far.
    pub fn begin(&mut self, transfer: u32, outcome: impl Fn(u32) -> Outcome) -> Beginning {
        let Some(member) = self.member(transfer) else { return Beginning::Opens };
        let pool = &mut self.pools[member.pool as usize];
        let opener = if let Some(idle) = pool.idle.pop_first() {
            idle
        } else if pool.left > 0 {
            pool.left -= 1;
            transfer
        } else {
            pool.waiting.push_back(transfer);
            return Beginning::Waits;
        };
        self.carriers[transfer as usize] = Some(opener);
        if let Some(connection) = &mut self.connections[opener as usize] {
            connection.transfer = Some(transfer);
            connection.bytes += member.bytes;
            connection.before = outcome(opener);
            self.found_open[transfer as usize] = true;
            return Beginning::Follows(opener, member);
        }
        let Member { pool, bytes, .. } = member;
        let own = Connected { pool, transfer: Some(opener), bytes, before: Outcome::default() };
        self.connections[opener as usize] = Some(Box::new(own));
        Beginning::Opens
    }

    /// The transfer that a packet of `opener` belongs to; itself, if it has a connection of its own.
    pub fn carried(&self, opener: u32) -> Option<u32> {
        match self.connections.get(opener as usize) {
            Some(Some(connection)) => connection.transfer,
            _ => Some(opener),
        }
    }

    /// A packet has come to a connection.  If all that it has carried is acknowledged by `now`, it is idle.
    pub fn settle(&mut self, opener: u32, so_far: &Outcome, now: Time) -> Option<Released> {
        let connection = self.connections.get_mut(opener as usize)?.as_mut()?;
        if so_far.acked_bytes < connection.bytes {
            return None;
        }
        let transfer = connection.transfer.take()?;
        let own = Outcome { completed: Some(now), ..so_far.since(&connection.before) };
        let pool = &mut self.pools[connection.pool as usize];
        pool.idle.insert(opener);
        self.carriers[transfer as usize] = None;
        Some(Released { transfer: Some((transfer, own)), next: pool.waiting.pop_front() })
    }

    /// A connection is gone, if it was one of these.
    pub fn lose(&mut self, opener: u32, so_far: &Outcome) -> Option<Released> {
        let connection = self.connections.get_mut(opener as usize)?.take()?;
        let pool = &mut self.pools[connection.pool as usize];
        pool.idle.remove(&opener);
        pool.left += 1;
        let transfer =
            connection.transfer.map(|transfer| (transfer, so_far.since(&connection.before)));
        if let Some((transfer, _)) = transfer {
            self.carriers[transfer as usize] = None;
        }
        Some(Released { transfer, next: pool.waiting.pop_front() })
    }

    /// What a transfer that is under way over a connection has done there.
    pub fn under_way(&self, transfer: u32, outcome: impl Fn(u32) -> Outcome) -> Option<Outcome> {
        let opener = (*self.carriers.get(transfer as usize)?)?;
        let connection = self.connections[opener as usize].as_ref()?;
        Some(outcome(opener).since(&connection.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(most: u32, transfers: usize) -> Persistent {
        let member = Member { pool: 0, bytes: 100, port: 0, added_delay: Time::ZERO };
        Persistent::new(vec![Some(member); transfers], &[most])
    }

    fn acked(bytes: u64) -> Outcome {
        Outcome { acked_bytes: bytes, segments_sent: bytes / 10, ..Outcome::default() }
    }

    fn follows(opener: u32) -> impl Fn(&Beginning) -> bool {
        move |beginning| matches!(beginning, Beginning::Follows(by, _) if *by == opener)
    }

    #[test]
    fn a_transfer_takes_the_idle_connection_that_was_opened_first() {
        let mut pool = pool(3, 4);
        assert!((0..3).all(|i| pool.begin(i, |_| acked(0)) == Beginning::Opens));
        for opener in [2, 1] {
            let own = Outcome { completed: Some(Time(5)), ..acked(100) };
            let expected = Released { transfer: Some((opener, own)), next: None };
            assert_eq!(pool.settle(opener, &acked(100), Time(5)), Some(expected));
        }
        assert!(follows(1)(&pool.begin(3, |_| acked(100))));
        assert_eq!((pool.carried(1), pool.carried(2), pool.carried(0)), (Some(3), None, Some(0)));
        assert_eq!([0, 1, 2, 3].map(|i| pool.found_open(i)), [false, false, false, true]);
    }

    #[test]
    fn one_waits_where_all_are_busy() {
        let mut pool = pool(1, 3);
        assert_eq!(pool.begin(0, |_| acked(0)), Beginning::Opens);
        assert_eq!(pool.begin(1, |_| acked(0)), Beginning::Waits);
        assert_eq!(pool.begin(2, |_| acked(0)), Beginning::Waits);
        assert!(pool.settle(0, &acked(99), Time(1)).is_none());
        assert_eq!(pool.settle(0, &acked(100), Time(2)).unwrap().next, Some(1));
        assert!(pool.settle(0, &acked(100), Time(3)).is_none(), "it has ended once");
    }

    #[test]
    fn what_a_transfer_did_is_the_connection_s_less_what_it_had_done_before() {
        let mut pool = pool(1, 2);
        pool.begin(0, |_| acked(0));
        pool.settle(0, &acked(100), Time(1));
        assert!(follows(0)(&pool.begin(1, |_| acked(100))));
        assert_eq!(pool.under_way(1, |_| acked(150)), Some(acked(50)));
        let (transfer, own) = pool.settle(0, &acked(200), Time(9)).unwrap().transfer.unwrap();
        assert_eq!((transfer, own.acked_bytes, own.segments_sent), (1, 100, 10));
    }

    #[test]
    fn a_connection_that_is_lost_makes_room_for_another() {
        let mut pool = pool(1, 2);
        pool.begin(0, |_| acked(0));
        pool.begin(1, |_| acked(0));
        let expected = Released { transfer: Some((0, acked(40))), next: Some(1) };
        assert_eq!(pool.lose(0, &acked(40)), Some(expected));
        assert_eq!(pool.begin(1, |_| acked(0)), Beginning::Opens);
        assert_eq!(pool.lose(5, &acked(0)), None);
    }
}
