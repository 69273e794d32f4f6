//! The kernel's pieces of what is sent (`sk_buff`): a burst is one, a SACK cuts what it covers out of it, and what is SACKed becomes
//! part of the SACKed piece before it (`tcp_shift_skb_data`), as far as a piece's memory goes.

use super::{Scoreboard, Segment};
use crate::base::seq::Seq;

/// A piece of the kernel's has 17 blocks of memory of 32 kB at most, which the data of a connection fills one after another.
const BLOCK: u32 = 32_768;
const MOST_BLOCKS: u32 = 17;

/// How far a SACK block has been gone through, segment by segment.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The segment before was marked in this block.
    goes_on: bool,
    /// The piece becomes part of the one before.
    joins: bool,
}

impl Scoreboard {
    pub fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Whether a piece ends with segment `i`.
    pub(super) fn set_end(&mut self, i: usize, ends: bool) {
        let was = std::mem::replace(&mut self.sent[i].ends_burst, ends);
        self.pieces = self.pieces + u32::from(ends) - u32::from(was);
    }

    /// Segment `i` is about to be marked, in a block that ends at `right`.
    pub(super) fn cut_before(&mut self, i: usize, right: Seq, cut: &mut Cut) {
        let before = i.checked_sub(1);
        let begins = before.is_none_or(|before| self.sent[before].ends_burst);
        if begins || !cut.goes_on {
            cut.joins = before.is_some_and(|before| self.may_join(before, right));
            if let Some(before) = before {
                self.set_end(before, !cut.joins);
            }
        }
    }

    /// It is marked: where the next is not to be, the piece ends with it.
    pub(super) fn cut_behind(&mut self, i: usize, right: Seq, cut: &mut Cut) {
        let next = self.sent.get(i + 1);
        cut.goes_on = next.is_some_and(|next| !next.sacked && next.end() <= right);
        if !cut.goes_on {
            let is_next_sacked = next.is_some_and(|next| next.sacked);
            let joins = cut.joins && is_next_sacked && self.may_join(i, self.high());
            self.set_end(i, !joins);
        }
    }

    /// Whether what follows segment `i`, its piece or as far as `right`, becomes part of the piece that ends with it: that one is
    /// SACKed and not on its way again, and the other was not sent again without being lost.
    fn may_join(&self, i: usize, right: Seq) -> bool {
        let (this, next) = (&self.sent[i], &self.sent[i + 1]);
        let is_plain = next.lost || !next.retransmitted;
        let is_apart = !this.sacked || this.retransmitted || !is_plain || this.len != next.len;
        !is_apart && {
            let before = (0..i).rev().find(|&at| self.sent[at].ends_burst);
            let begin = self.sent[before.map_or(0, |before| before + 1)].start;
            let mut following = self.sent.range(i + 1..);
            let last = following.find(|segment| segment.ends_burst || segment.end() >= right);
            let end = last.map_or(right, Segment::end);
            let blocks = block_of(end - 1).wrapping_sub(block_of(begin)) % (u32::MAX / BLOCK + 1);
            blocks < MOST_BLOCKS
        }
    }
}

/// Where data lies: the first byte of a connection, at 1, begins one.
fn block_of(seq: Seq) -> u32 {
    (seq - 1).0 / BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::host::tcp::profile::changes::Changes;
    use crate::host::tcp::scoreboard::Nobody;

    const SIZE: u32 = 1000;

    /// Bursts of so many segments each have been sent.
    fn sent(bursts: &[u32]) -> Scoreboard {
        let count: u32 = bursts.iter().sum();
        let mut scoreboard = Scoreboard::new(1 << 30, SIZE, Changes::NONE);
        scoreboard.count_segments();
        scoreboard.set_head(Seq(1));
        scoreboard.add(count * SIZE);
        for &burst in bursts {
            for _ in 0..burst {
                scoreboard.take(SIZE, scoreboard.high(), Time::ZERO);
            }
            scoreboard.end_burst_here(false);
        }
        scoreboard
    }

    fn block(from: u32, to: u32) -> (Seq, Seq) {
        (Seq(1 + from * SIZE), Seq(1 + to * SIZE))
    }

    fn sack(scoreboard: &mut Scoreboard, from: u32, to: u32) -> u32 {
        scoreboard.update(&[block(from, to)], Time::ZERO, &mut Nobody);
        scoreboard.pieces()
    }

    #[test]
    fn each_burst_is_a_piece_until_it_is_acknowledged() {
        let mut scoreboard = sent(&[2, 3, 1]);
        assert_eq!(scoreboard.pieces(), 3);
        scoreboard.discard_up_to(block(0, 3).1, Time::ZERO, &mut Nobody);
        assert_eq!(scoreboard.pieces(), 2, "a part of the second");
        scoreboard.discard_up_to(block(0, 6).1, Time::ZERO, &mut Nobody);
        assert_eq!(scoreboard.pieces(), 0);
    }

    /// A SACK cuts a piece out of another; what it covers then becomes part of that one.
    #[test]
    fn what_is_sacked_is_cut_out_and_joins_what_was_sacked_before() {
        let mut scoreboard = sent(&[4, 4]);
        let pieces = [(1, 2), (1, 3), (1, 4), (1, 6), (1, 8)];
        assert_eq!(pieces.map(|(from, to)| sack(&mut scoreboard, from, to)), [4, 4, 3, 3, 2]);
        // A whole burst at once.
        assert_eq!(sack(&mut sent(&[2, 2, 2]), 2, 4), 3);
    }

    /// What fills a hole joins what was SACKed behind it as well, if it has joined what was before.
    #[test]
    fn what_fills_a_hole_joins_both_sides() {
        let mut scoreboard = sent(&[1, 1, 1, 1, 1]);
        assert_eq!(
            [(1, 2), (3, 4), (1, 4)].map(|(from, to)| sack(&mut scoreboard, from, to)),
            [5, 5, 3]
        );
        let mut scoreboard = sent(&[1, 1, 1, 1]);
        assert_eq!([(2, 3), (1, 3)].map(|(from, to)| sack(&mut scoreboard, from, to)), [4, 4]);
    }

    /// 17 blocks of 32 kB hold 557 segments of 1,000 B, and the next 16 end within the 1,082nd.
    #[test]
    fn a_piece_has_so_much_memory_at_most() {
        let mut scoreboard = sent(&[1; 1200]);
        assert_eq!(sack(&mut scoreboard, 0, 557), 1 + 1200 - 557);
        assert_eq!(sack(&mut scoreboard, 0, 1081), 2 + 1200 - 1081);
        assert_eq!(sack(&mut scoreboard, 0, 1100), 3 + 1200 - 1100);
    }
}
