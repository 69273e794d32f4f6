//! Which segments count as lost, and which of them is sent next.

use super::{Rule3, SackMarks, Scoreboard, Segment};
use crate::base::seq::Seq;

impl Scoreboard {
    /// NextSeg of RFC 6675 section 4: where to send from, and how much at most.
    #[inline(always)] // in one place, for every segment of an episode
    pub fn next_segment(&mut self, rule3: Rule3, window: u32) -> Option<(Seq, u32)> {
        if self.lost_out > 0
            && let Some(start) = self.first_lost_hole()
        {
            return Some((start, self.segment_size));
        }
        if self.size > self.sent_size {
            return self.next_new(window);
        }
        let hole = if rule3 == Rule3::Applies { self.first_hole() } else { None };
        hole.map(|(start, _)| (start, self.segment_size))
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
            self.sacked_out -= front.len;
            self.forget_seen();
        }
        let front = &mut self.sent[0];
        if front.retransmitted || !front.lost {
            self.found_lost += u64::from(front.len);
        }
        if front.retransmitted {
            front.retransmitted = false;
            self.retrans_out -= front.len;
        }
        self.cursor = 0;
        if !front.lost {
            front.lost = true;
            self.lost_out += front.len;
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
            if !segment.sacked {
                if segment.retransmitted || !segment.lost {
                    self.found_lost += u64::from(segment.len);
                }
                segment.lost = true;
            }
            segment.retransmitted = false;
            if segment.lost {
                self.lost_out += segment.len;
            }
        }
        self.cursor = 0;
        self.lost_below = self.high();
        self.has_lost_beyond = false;
    }

    /// Asks of each segment that is in flight, in the order of their numbers, whether it is lost, until the answer is
    /// none: of what follows nothing is lost.
    pub fn mark_lost_while(&mut self, mut is_lost: impl FnMut(&Segment) -> Option<bool>) {
        self.marks_one_by_one = true;
        for (i, segment) in self.sent.iter_mut().enumerate() {
            if segment.sacked || (segment.lost && !segment.retransmitted) {
                continue;
            }
            let Some(answer) = is_lost(segment) else { break };
            if !answer {
                continue;
            }
            self.found_lost += u64::from(segment.len);
            if segment.retransmitted {
                segment.retransmitted = false;
                self.retrans_out -= segment.len;
            }
            if !segment.lost {
                segment.lost = true;
                self.lost_out += segment.len;
            }
            self.cursor = self.cursor.min(i);
        }
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
                self.lost_out += segment.len;
                self.found_lost += u64::from(segment.len);
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
            unseen -= segment.len;
            if segment.sacked || segment.last_sent >= self.newest_sacked {
                continue;
            }
            segment.retransmitted = false;
            self.retrans_out -= segment.len;
            self.cursor = self.cursor.min(i);
            if !segment.lost {
                segment.lost = true;
                self.lost_out += segment.len;
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
