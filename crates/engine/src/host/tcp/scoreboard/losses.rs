//! Which segments count as lost, and which of them is sent next.

use super::{Rule3, SackMarks, Scoreboard, Segment};
use crate::base::seq::Seq;
use crate::base::time::Time;

impl Scoreboard {
    /// NextSeg of RFC 6675 section 4: where to send from, and how much at most.
    #[inline(always)] // in one place, for every segment of an episode
    pub fn next_segment(&mut self, rule3: Rule3, window: u32) -> Option<(Seq, u32)> {
        if let Some(start) = self.next_lost() {
            return Some((start, self.segment_size));
        }
        if self.size > self.sent_size {
            return self.next_new(window);
        }
        let hole = if rule3 == Rule3::Applies { self.first_hole() } else { None };
        hole.map(|(start, _)| (start, self.segment_size))
    }

    /// The same of what is lost.
    #[inline(always)]
    pub fn next_lost(&mut self) -> Option<Seq> {
        // Marks one by one leave retransmissions in flight of what is not lost: they count against what is (Linux's
        // `tcp_xmit_retransmit_queue`).
        let stray = if self.marks_one_by_one { self.retrans_out } else { 0 };
        if self.lost_out > stray { self.first_lost_hole() } else { None }
    }

    /// The same of what was never sent.
    #[inline(always)]
    pub fn next_new(&self, window: u32) -> Option<(Seq, u32)> {
        let has_room = self.size > self.sent_size && self.sent_size < window;
        has_room.then(|| (self.high(), self.segment_size.min(window - self.sent_size)))
    }

    /// Whether the segment at `seq` is marked lost and lies below the highest SACK.
    pub fn is_lost(&self, seq: Seq) -> bool {
        if seq >= self.highest_sack.unwrap_or(Seq(0)) {
            return false;
        }
        self.find(seq).is_some_and(|i| self.sent[i].lost)
    }

    /// SND.UNA is deemed lost, and to be sent again even if it was before.
    pub fn mark_head_lost(&mut self) {
        let Some(front) = self.sent.front_mut() else { return };
        if front.sacked {
            front.sacked = false;
            self.sacked_out -= front.counted(self.least);
            self.forget_seen();
        }
        let front = &mut self.sent[0];
        let counted = front.counted(self.least);
        if front.retransmitted || !front.lost {
            self.found_lost += u64::from(counted);
        }
        if front.retransmitted {
            front.retransmitted = false;
            self.retrans_out -= counted;
        }
        self.cursor = 0;
        if !front.lost {
            front.lost = true;
            self.lost_out += counted;
            self.lost_below = self.lost_below.max(front.end());
        }
    }

    /// A retransmission timeout: everything that is not SACKed is lost, nothing is retransmitted yet.
    pub fn mark_all_lost(&mut self, marks: SackMarks) {
        self.retrans_out = 0;
        self.lost_out = 0;
        if marks == SackMarks::Guessed {
            self.reset_reno_sack();
        }
        for segment in &mut self.sent {
            let counted = segment.counted(self.least);
            if !segment.sacked {
                if segment.retransmitted || !segment.lost {
                    self.found_lost += u64::from(counted);
                }
                segment.lost = true;
            }
            segment.retransmitted = false;
            if segment.lost {
                self.lost_out += counted;
            }
        }
        self.cursor = 0;
        self.lost_below = self.high();
        self.has_lost_beyond = false;
    }

    /// When the first one left of those in flight from `from` on that left at such a time; of what was never sent again, as
    /// far as all did.
    pub fn first_left_from(&self, from: Seq, is_then: impl Fn(Time) -> bool) -> Option<Time> {
        let beyond = self.sent.range(self.first_from(from)..);
        let alike = beyond.take_while(|segment| segment.is_repeated || is_then(segment.last_sent));
        let times = alike.filter(|segment| segment.may_be_overdue() && is_then(segment.last_sent));
        times.map(|segment| segment.last_sent).min()
    }

    /// Asks of each segment that is in flight and was not overdue before, in the order of their numbers, whether it is
    /// lost, until the answer is none: of what follows nothing is lost.
    pub fn mark_overdue(&mut self, mut is_lost: impl FnMut(&Segment) -> Option<bool>) {
        self.marks_one_by_one = true;
        for i in 0..self.sent.len() {
            let segment = &self.sent[i];
            if !segment.may_be_overdue() {
                continue;
            }
            let Some(answer) = is_lost(segment) else { break };
            if answer {
                self.sent[i].was_overdue = true;
                self.mark_lost(i);
            }
        }
    }

    /// The same of each segment that is not SACKed.
    pub fn mark_each_lost(&mut self, mut is_lost: impl FnMut(&Segment) -> bool) {
        self.marks_one_by_one = true;
        for i in 0..self.sent.len() {
            if !self.sent[i].sacked && is_lost(&self.sent[i]) {
                self.mark_lost(i);
            }
        }
    }

    /// The retransmission of what is lost is lost, too; that of what is not may be on its way.
    fn mark_lost(&mut self, i: usize) {
        let segment = &mut self.sent[i];
        let counted = segment.counted(self.least);
        if !segment.lost {
            segment.lost = true;
            self.lost_out += counted;
        } else if std::mem::take(&mut segment.retransmitted) {
            self.retrans_out -= counted;
        } else {
            return;
        }
        self.found_lost += u64::from(counted);
        self.cursor = self.cursor.min(i);
    }

    /// What was marked lost is on its way after all.
    pub fn unmark_lost(&mut self) {
        for segment in &mut self.sent {
            segment.lost = false;
        }
        self.lost_out = 0;
        self.lost_below = self.head;
    }

    /// What has `threshold` SACKed segments above it is lost.
    pub fn mark_lost_below_sacked(&mut self, threshold: u32) {
        let Some(highest) = self.highest_sack else { return };
        let mut i = self.first_from(highest);
        let mut above = 0;
        let reached = loop {
            if i == 0 {
                return;
            }
            let segment = &self.sent[i];
            if segment.sacked {
                above += 1;
                if above == threshold {
                    break segment.start;
                }
            }
            if segment.start < self.lost_below {
                return; // everything below is marked already
            }
            i -= 1;
        };
        if reached <= self.lost_below {
            return;
        }
        for segment in self.sent.range_mut(..i).rev() {
            if segment.start < self.lost_below {
                break;
            }
            if !segment.sacked && !segment.lost {
                segment.lost = true;
                let counted = segment.counted(self.least);
                self.lost_out += counted;
                self.found_lost += u64::from(counted);
            }
        }
        self.lost_below = reached;
    }

    /// What was sent again, below the highest SACK, and before something that the last ACK SACKed is lost again: RFC
    /// 8985 section 6.2 without a reordering window.
    pub fn mark_retransmissions_lost(&mut self) {
        let Some(highest) = self.highest_sack else { return };
        let mut unseen = self.retrans_out;
        for (i, segment) in self.sent.iter_mut().enumerate() {
            if unseen == 0 || segment.start >= highest {
                break;
            }
            if !segment.retransmitted {
                continue;
            }
            let counted = segment.counted(self.least);
            unseen -= counted;
            if segment.sacked || segment.last_sent >= self.newest_sacked {
                continue;
            }
            segment.retransmitted = false;
            self.retrans_out -= counted;
            self.found_lost += u64::from(counted);
            self.cursor = self.cursor.min(i);
            if !segment.lost {
                segment.lost = true;
                self.lost_out += counted;
                self.has_lost_beyond |= segment.start >= self.lost_below;
            }
        }
    }

    /// Start of the first segment that is neither SACKed nor retransmitted, if it lies below the highest
    /// SACK, and whether it is marked lost.
    #[inline]
    fn first_hole(&mut self) -> Option<(Seq, bool)> {
        while let Some(segment) = self.sent.get(self.cursor) {
            if !segment.sacked && !segment.retransmitted {
                break;
            }
            self.cursor += 1;
        }
        let segment = self.sent.get(self.cursor)?;
        let below = !self.sack_seen || segment.start < self.highest_sack.unwrap_or(Seq(0));
        below.then_some((segment.start, segment.lost))
    }

    /// The first of them that is marked lost: the first of all, unless one beyond `lost_below` is.
    #[inline]
    fn first_lost_hole(&mut self) -> Option<Seq> {
        if self.marks_one_by_one {
            return self.first_lost_of_all();
        }
        let (start, is_lost) = self.first_hole()?;
        if is_lost || !self.has_lost_beyond {
            return is_lost.then_some(start);
        }
        self.first_lost_beyond()
    }

    /// How many segments from `seq` on left together with it, are lost and wait to be sent again.
    pub fn lost_together(&self, seq: Seq) -> u32 {
        let mut segments = 0;
        for segment in self.from(seq) {
            if !segment.lost || segment.sacked || segment.retransmitted {
                break;
            }
            segments += 1;
            if segment.ends_burst {
                break;
            }
        }
        segments
    }

    #[cold]
    fn first_lost_beyond(&self) -> Option<Seq> {
        let highest = self.highest_sack.unwrap_or(Seq(0));
        let sent = self.sent.range(self.cursor..);
        let mut below = sent.take_while(|segment| !self.sack_seen || segment.start < highest);
        let found = below.find(|segment| segment.lost && !segment.sacked && !segment.retransmitted);
        found.map(|segment| segment.start)
    }

    /// Wherever it lies.
    #[inline(never)]
    fn first_lost_of_all(&mut self) -> Option<Seq> {
        self.first_hole();
        let mut sent = self.sent.range(self.cursor.min(self.sent.len())..);
        let found = sent.find(|segment| segment.lost && !segment.sacked && !segment.retransmitted);
        found.map(|segment| segment.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::host::tcp::profile::changes::{Change, Changes};
    use crate::host::tcp::scoreboard::Nobody;

    const SIZE: u32 = 1000;

    fn at(number: u32) -> Seq {
        Seq(1 + number * SIZE)
    }

    /// Four are in flight, and nothing else is to be sent.
    fn four() -> Scoreboard {
        let changes = Changes::NONE.with(Change::SackedRetransmissions);
        let mut scoreboard = Scoreboard::new(100_000, SIZE, changes);
        scoreboard.set_head(at(0));
        scoreboard.add(4 * SIZE);
        for i in 0..4 {
            scoreboard.take(SIZE, at(i), Time::ZERO);
        }
        scoreboard
    }

    #[test]
    fn what_left_together_and_is_lost_waits_together() {
        let mut scoreboard = four();
        [0, 2].into_iter().for_each(|i| scoreboard.end_burst(i, false));
        scoreboard.mark_each_lost(|_| true);
        assert_eq!([0, 1, 2, 3].map(|i| scoreboard.lost_together(at(i))), [1, 2, 1, 1]);
        send_again(&mut scoreboard, 1);
        assert_eq!([1, 2].map(|i| scoreboard.lost_together(at(i))), [0, 1]);
    }

    fn send_again(scoreboard: &mut Scoreboard, number: u32) {
        scoreboard.take(SIZE, at(number), Time::from_ms(1));
    }

    fn next(scoreboard: &mut Scoreboard) -> Option<Seq> {
        scoreboard.next_segment(Rule3::Skipped, 1 << 20).map(|(seq, _)| seq)
    }

    fn mark(scoreboard: &mut Scoreboard, number: u32) {
        scoreboard.mark_overdue(|segment| Some(segment.start == at(number)));
    }

    /// The first was lost and sent again, which was for nothing: its retransmission is under way.
    fn undone() -> Scoreboard {
        let mut scoreboard = four();
        mark(&mut scoreboard, 0);
        assert_eq!(next(&mut scoreboard), Some(at(0)));
        send_again(&mut scoreboard, 0);
        scoreboard.unmark_lost();
        assert_eq!((scoreboard.lost_out(), scoreboard.retrans_out()), (0, SIZE));
        scoreboard
    }

    #[test]
    fn what_is_lost_waits_for_a_stray_retransmission_until_that_came_twice() {
        let mut scoreboard = undone();
        mark(&mut scoreboard, 1);
        assert_eq!(next(&mut scoreboard), None);
        scoreboard.settle_duplicate((at(0), at(1)));
        assert_eq!((scoreboard.retrans_out(), next(&mut scoreboard)), (0, Some(at(1))));
    }

    /// An ACK or SACK of it may be the original's: one of both is still in flight.
    #[test]
    fn a_stray_retransmission_is_in_flight_though_its_segment_is_sacked() {
        let mut stray = undone();
        stray.update(&[(at(0), at(1))], Time::ZERO, &mut Nobody);
        assert_eq!(stray.bytes_in_flight(), 4 * SIZE);
        let mut right = four();
        mark(&mut right, 0);
        send_again(&mut right, 0);
        right.update(&[(at(0), at(1))], Time::ZERO, &mut Nobody);
        assert_eq!(right.bytes_in_flight(), 3 * SIZE);
    }

    #[test]
    fn what_was_overdue_is_asked_of_again_only_when_it_has_left() {
        let mut scoreboard = four();
        mark(&mut scoreboard, 2);
        scoreboard.unmark_lost();
        let asked = |scoreboard: &mut Scoreboard| {
            let mut asked = Vec::new();
            scoreboard.mark_overdue(|segment| {
                asked.push(segment.start);
                Some(false)
            });
            asked
        };
        assert_eq!(asked(&mut scoreboard), [at(0), at(1), at(3)]);
        send_again(&mut scoreboard, 2);
        assert_eq!(asked(&mut scoreboard), [0, 1, 2, 3].map(at));
    }

    /// First it is lost, and then its retransmission, too.
    #[test]
    fn a_segment_and_its_retransmission_are_lost_one_after_the_other() {
        let mut scoreboard = undone();
        let all = |scoreboard: &mut Scoreboard| {
            scoreboard.mark_each_lost(|segment| segment.start == at(0));
            (scoreboard.lost_out(), scoreboard.retrans_out(), scoreboard.found_lost())
        };
        let found = u64::from(SIZE);
        assert_eq!(all(&mut scoreboard), (SIZE, SIZE, 2 * found));
        assert_eq!(all(&mut scoreboard), (SIZE, 0, 3 * found));
        assert_eq!(all(&mut scoreboard), (SIZE, 0, 3 * found), "there is nothing left to lose");
    }

    #[test]
    fn a_probe_is_in_flight_once_and_marks_its_segment_as_sent_again() {
        let mut scoreboard = four();
        assert!(!scoreboard.has_retransmissions());
        send_again(&mut scoreboard, 3);
        scoreboard.forget_probe();
        assert_eq!((scoreboard.bytes_in_flight(), scoreboard.is_unmarked()), (4 * SIZE, true));
        assert!(!scoreboard.has_retransmissions(), "the first segment is none");
        assert_eq!(scoreboard.repeated_in((at(2), at(4))), 1);
        send_again(&mut scoreboard, 0);
        assert!(scoreboard.has_retransmissions());
    }
}
