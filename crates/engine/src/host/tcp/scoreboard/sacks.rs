//! What SACK blocks say has come, and without SACK, what duplicate ACKs let one guess.

use super::pieces::Cut;
use super::{Deliveries, Scoreboard};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::SackBlock;

/// How many already processed SACK blocks are remembered: as many as fit a header.
const SEEN_BLOCKS: usize = 4;

/// SACK blocks that have been processed, none of whose marks has been taken back.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    blocks: [SackBlock; SEEN_BLOCKS],
    next: usize,
}

impl Scoreboard {
    /// Marks what the SACK blocks cover; returns the bytes that are newly SACKed.  Only segments that
    /// lie wholly in a block count (RFC 6675 section 4, Update).
    pub fn update(&mut self, blocks: &[SackBlock], now: Time, whom: &mut impl Deliveries) -> u32 {
        let mut sacked = 0;
        self.newest_sacked = Time::ZERO;
        for &(left, right) in blocks {
            if self.high() < left {
                return sacked;
            }
            sacked += self.mark_block(left, right, now, whom);
        }
        sacked
    }

    /// The block has come twice: nothing of it is in flight any more.
    pub fn settle_duplicate(&mut self, (left, right): SackBlock) {
        let mut i = self.first_from(left);
        while let Some(segment) = self.sent.get_mut(i).filter(|segment| segment.end() <= right) {
            if std::mem::take(&mut segment.retransmitted) {
                self.retrans_out -= segment.counted(self.least);
                self.cursor = self.cursor.min(i);
            }
            i += 1;
        }
    }

    /// So many segments of the block have been sent again.
    pub fn repeated_in(&self, (left, right): SackBlock) -> u32 {
        let within = self.from(left).take_while(|segment| segment.end() <= right);
        within.filter(|segment| segment.is_repeated).count() as u32
    }

    /// The first segment of the block that has been sent again and is SACKed.
    pub fn first_repeated_and_sacked(&self, (left, right): SackBlock) -> Option<Seq> {
        let mut within = self.from(left).take_while(|segment| segment.end() <= right);
        within.find(|segment| segment.is_repeated && segment.sacked).map(|segment| segment.start)
    }

    fn mark_block(&mut self, left: Seq, right: Seq, now: Time, whom: &mut impl Deliveries) -> u32 {
        if self.seen.as_ref().is_some_and(|seen| seen.blocks.contains(&(left, right))) {
            return 0; // as most are, which is what they are repeated for
        }
        let mut sacked = 0;
        let mut cut = Cut::default();
        let has_pieces = self.least > 0;
        let mut i = self.first_from(self.skip_seen(left, right));
        while let Some(segment) = self.sent.get(i) {
            let end = segment.end();
            if end > right {
                break;
            }
            if !segment.sacked {
                if has_pieces {
                    self.cut_before(i, right, &mut cut);
                }
                let segment = &mut self.sent[i];
                let counted = segment.counted(self.least);
                let was_lost = std::mem::take(&mut segment.lost);
                if was_lost {
                    self.lost_out -= counted;
                }
                // What was sent again and is not lost any more may be under way twice.
                let leaves = self.sacked_leave_pipe && (was_lost || !self.marks_one_by_one);
                if segment.retransmitted && leaves {
                    segment.retransmitted = false;
                    self.retrans_out -= counted;
                }
                segment.sacked = true;
                self.sacked_out += counted;
                sacked += segment.len;
                self.newest_sacked = self.newest_sacked.max(segment.last_sent);
                // "Highest" as ns-3 has it: a segment that ends where the highest one starts, or
                // beyond, replaces it, so that filling the hole just below moves it down.
                if self.highest_sack.is_none_or(|highest| highest <= end) {
                    self.sack_seen = true;
                    self.highest_sack = Some(segment.start);
                }
                let rate = self.rates.as_ref().map(|rates| &rates[i]);
                whom.on_delivered(now, segment, counted, rate);
                if has_pieces {
                    self.cut_behind(i, right, &mut cut);
                }
            }
            i += 1;
        }
        self.remember_seen(left, right);
        sacked
    }

    /// Without SACK a duplicate ACK says that one segment beyond the head has arrived; assume the
    /// first that is not yet accounted for (RFC 6675's pipe for Reno, as in Linux).
    pub fn add_reno_sack(&mut self) {
        let found = self.sent.iter_mut().skip(1).find(|segment| !segment.sacked);
        if let Some(segment) = found {
            segment.sacked = true;
            self.sacked_out += segment.counted(self.least);
            self.sack_seen = true;
            self.highest_sack = Some(segment.start);
        }
    }

    pub fn reset_reno_sack(&mut self) {
        self.sacked_out = 0;
        for segment in &mut self.sent {
            segment.sacked = false;
        }
        self.cursor = 0;
        self.highest_sack = None;
        self.sack_seen = false;
        self.forget_seen();
    }

    /// The head cannot have been received: a wrong guess about duplicate ACKs.
    #[cold]
    pub(super) fn unsack_head(&mut self) {
        let front = &mut self.sent[0];
        front.sacked = false;
        self.sacked_out -= front.counted(self.least);
        self.cursor = 0;
        self.forget_seen();
        self.add_reno_sack();
        self.mark_head_lost();
    }

    /// Where to go on in a block of which a part was processed before: all segments that lie wholly
    /// in that part are SACKed, those that straddle its end are not.
    fn skip_seen(&self, left: Seq, right: Seq) -> Seq {
        for &(seen_left, seen_right) in self.seen.iter().flat_map(|seen| &seen.blocks) {
            if seen_left <= left && left < seen_right && seen_right <= right {
                return match self.find(seen_right) {
                    Some(i) => self.sent[i].start.max(left),
                    None => seen_right,
                };
            }
        }
        left
    }

    fn remember_seen(&mut self, left: Seq, right: Seq) {
        let Seen { blocks, next } = &mut **self.seen.get_or_insert_default();
        for seen in &mut *blocks {
            if seen.0 == left && seen.1 <= right {
                seen.1 = right;
                return;
            }
        }
        blocks[*next] = (left, right);
        *next = (*next + 1) % SEEN_BLOCKS;
    }

    /// Segment boundaries or marks have changed in a way that a repeated block would notice.
    pub(super) fn forget_seen(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.blocks = Default::default();
        }
    }
}
