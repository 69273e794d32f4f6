//! What is sent again may have another size than before: segments are cut, and joined.

use super::{Scoreboard, Segment};
use crate::base::seq::Seq;
use crate::host::tcp::rate::SentRate;

impl Scoreboard {
    /// The segment at `seq` for sending again: `len` bytes if that takes no other joining than with
    /// the segment that follows, and only if both are lost or neither is.
    pub(super) fn retransmit(&mut self, len: u32, seq: Seq) -> usize {
        let mut len = len;
        let mut i = self.find(seq).expect("a retransmission starts within what was sent");
        if self.sent[i].start == seq && self.least > 0 {
            self.join_what_fits(i, len);
            len = len.min(self.sent[i].len);
        } else if self.sent[i].start == seq {
            let this = self.sent[i];
            let joined = match self.sent.get(i + 1) {
                Some(next) if !next.sacked && next.lost == this.lost => this.len + next.len,
                _ => this.len,
            };
            len = len.min(joined);
        } else {
            self.split(i, (seq - self.sent[i].start) as u32);
            i += 1;
        }
        while self.sent[i].len < len && i + 1 < self.sent.len() {
            self.join(i);
        }
        if self.sent[i].len > len {
            self.split(i, len);
        }
        let segment = &mut self.sent[i];
        segment.is_repeated = true;
        if !segment.retransmitted {
            segment.retransmitted = true;
            self.retrans_out += segment.counted(self.least);
        }
        i
    }

    /// Cuts segment `i` after `len` bytes.  The first part is the new one: it has the marks, but no
    /// memory of the delivery rate.
    fn split(&mut self, i: usize, len: u32) {
        // Of a profile with pieces the first part is one of its own.
        let ends_burst = self.least > 0;
        self.pieces += u32::from(ends_burst);
        let first = Segment { len, counts: false, ends_burst, is_pushed: false, ..self.sent[i] };
        let more = self.split_adds(i, len);
        self.padding += more;
        for (is_out, out) in [
            (first.sacked, &mut self.sacked_out),
            (first.lost, &mut self.lost_out),
            (first.retransmitted, &mut self.retrans_out),
        ] {
            *out += if is_out { more } else { 0 };
        }
        self.sent[i].start += len;
        self.sent[i].len -= len;
        self.sent.insert(i, first);
        if let Some(rates) = &mut self.rates {
            rates.insert(i, SentRate::default());
        }
        self.cursor = self.cursor.min(i);
        self.forget_seen();
    }

    /// What both parts of segment `i` count as beyond the whole, if it is cut after `len` bytes.
    fn split_adds(&self, i: usize, len: u32) -> u32 {
        let whole = self.sent[i].len;
        self.counted(len) + self.counted(whole - len) - self.counted(whole)
    }

    /// What follows segment `i` leaves with it, as far as all of it fits into `most` bytes (Linux's
    /// `tcp_retrans_try_collapse`), and counts no more.
    fn join_what_fits(&mut self, i: usize, most: u32) {
        while let Some(next) = self.sent.get(i + 1).copied()
            && !next.sacked
            && self.sent[i].len + next.len <= most
        {
            let counted = next.counted(self.least);
            self.padding -= counted;
            self.lost_out -= if next.lost { counted } else { 0 };
            self.retrans_out -= if next.retransmitted { counted } else { 0 };
            self.sent.remove(i + 1);
            if let Some(rates) = &mut self.rates {
                rates.remove(i + 1);
            }
            self.set_end(i, false);
            self.sent[i].ends_burst = next.ends_burst;
            self.sent[i].is_pushed |= next.is_pushed;
            self.sent[i].len += next.len;
            self.sent[i].is_repeated |= next.is_repeated;
            self.cursor = self.cursor.min(i);
            self.forget_seen();
        }
    }

    /// Joins segment `i` with the next.  If only one of them was retransmitted, the whole is not.
    fn join(&mut self, i: usize) {
        let next = self.sent.remove(i + 1).expect("there is a segment to join with");
        if let Some(rates) = &mut self.rates {
            rates.remove(i + 1);
        }
        let this = &mut self.sent[i];
        if this.retransmitted != next.retransmitted {
            self.retrans_out -= if this.retransmitted { this.len } else { next.len };
            this.retransmitted = false;
        }
        this.last_sent = this.last_sent.max(next.last_sent);
        this.len += next.len;
        self.cursor = self.cursor.min(i);
        self.forget_seen();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::host::tcp::profile::changes::Changes;

    #[test]
    fn of_two_that_are_joined_what_is_left_over_left_with_the_later_and_not_again() {
        let [first, second, again, whole] = [1, 2, 3, 4].map(Time::from_ms);
        let mut scoreboard = Scoreboard::new(10_000, 1000, Changes::NONE);
        scoreboard.set_head(Seq(1));
        scoreboard.add(1500);
        scoreboard.take(500, Seq(1), first);
        scoreboard.take(1000, Seq(501), second);
        let mut early = scoreboard.clone();
        early.take(1000, Seq(1), whole);
        assert_eq!(early.sent[1].last_sent, second);
        scoreboard.take(500, Seq(1), again);
        scoreboard.take(1000, Seq(1), whole);
        let [joined, left] = [&scoreboard.sent[0], &scoreboard.sent[1]];
        assert_eq!((joined.len, joined.retransmitted), (1000, true));
        assert_eq!((left.start, left.len, left.retransmitted), (Seq(1001), 500, false));
        assert_eq!((left.last_sent, scoreboard.retrans_out()), (again, 1000));
    }
}
