//! Whether an episode is for nothing: an ACK echoes what had left before anything was sent again (Eifel, RFC 3522), or the peer
//! has received twice all that was sent again (RFC 3708).

use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::scoreboard::Scoreboard;
use crate::host::tcp::tcb::Tcb;
use crate::packet::SackBlock;

/// Of the last episode.
#[derive(Debug, Default)]
pub struct Undo {
    /// SND.UNA when it began; none when there is nothing left to undo.
    begun: Option<Seq>,
    /// When its first retransmission left.
    first: Option<Time>,
    /// So many of its retransmissions have not come twice; none before the first.
    single: Option<u32>,
    /// Segments that were ever sent again, and those that came twice.
    repeated: u64,
    duplicates: u64,
}

impl Undo {
    /// What was sent again before and is still on its way belongs to the episode that begins, as does the last probe
    /// (`probes`) if it repeated something.
    pub fn begin(&mut self, segment_size: u32, scoreboard: &Scoreboard, probes: u32) {
        let on_their_way = scoreboard.retrans_out().div_ceil(segment_size) + probes;
        self.begun = Some(scoreboard.head());
        self.single = (on_their_way > 0).then_some(on_their_way);
        self.first = self.first.filter(|_| scoreboard.has_retransmissions());
    }

    pub fn on_retransmitted(&mut self, now: Time) {
        self.repeated += 1;
        self.first.get_or_insert(now);
        self.single = Some(self.single.unwrap_or(0) + 1);
    }

    /// A probe is no retransmission of the episode's.
    pub fn on_probe_repeated(&mut self) {
        self.repeated += 1;
    }

    /// Returns how many segments of this sender's have come twice.
    pub fn on_duplicate_delivery(
        &mut self,
        segment_size: u32,
        block: SackBlock,
        scoreboard: &Scoreboard,
    ) -> u32 {
        let segments = segments_in(block, segment_size);
        self.duplicates += u64::from(segments);
        if self.duplicates > self.repeated {
            return 0; // the network has made more of them
        }
        let is_below = block.1 <= scoreboard.head();
        let of_episode = if is_below { segments } else { scoreboard.repeated_in(block) };
        if let Some(single) = &mut self.single
            && self.begun.is_some_and(|begun| block.1 > begun)
        {
            *single = single.saturating_sub(of_episode);
        }
        segments
    }

    /// All that the episode sent again has come twice.
    pub fn is_all_duplicate(&self) -> bool {
        self.begun.is_some() && self.single == Some(0)
    }

    /// The ACK answers what left before the episode's first retransmission.
    pub fn is_original_echoed(&self, tcb: &Tcb) -> bool {
        self.begun.is_some() && self.first.is_some_and(|first| tcb.echoes_before(first))
    }

    /// There is something to undo.
    pub fn is_open(&self) -> bool {
        self.begun.is_some()
    }

    pub fn settle(&mut self) {
        self.begun = None;
    }
}

fn segments_in(block: SackBlock, segment_size: u32) -> u32 {
    ((block.1 - block.0).max(0) as u32).div_ceil(segment_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::profile::changes::Changes;

    const SIZE: u32 = 1000;

    /// Four segments are in flight from 1001 on; the episode has sent so many of them again.
    fn episode(again: u32) -> (Undo, Scoreboard) {
        let mut scoreboard = Scoreboard::new(100_000, SIZE, Changes::NONE);
        scoreboard.set_head(Seq(1001));
        scoreboard.add(4 * SIZE);
        for i in 0..4 {
            scoreboard.take(SIZE, Seq(1001 + i * SIZE), Time::ZERO);
        }
        let mut undo = Undo::default();
        undo.begin(SIZE, &scoreboard, 0);
        for i in 0..again {
            scoreboard.take(SIZE, Seq(1001 + i * SIZE), Time::from_ms(70));
            undo.on_retransmitted(Time::from_ms(70));
        }
        (undo, scoreboard)
    }

    fn block(segment: u32) -> SackBlock {
        (Seq(1 + segment * SIZE), Seq(1 + (segment + 1) * SIZE))
    }

    #[test]
    fn an_episode_that_has_sent_nothing_again_cannot_be_undone() {
        assert!(!episode(0).0.is_all_duplicate());
    }

    #[test]
    fn what_ended_where_the_episode_begins_was_sent_again_before() {
        let (mut undo, scoreboard) = episode(1);
        assert_eq!(undo.on_duplicate_delivery(SIZE, block(0), &scoreboard), 1);
        assert!(!undo.is_all_duplicate());
    }

    #[test]
    fn all_that_was_sent_again_must_come_twice() {
        let (mut undo, scoreboard) = episode(2);
        assert_eq!(undo.on_duplicate_delivery(SIZE, block(1), &scoreboard), 1);
        assert!(!undo.is_all_duplicate());
        assert_eq!(undo.on_duplicate_delivery(SIZE, block(2), &scoreboard), 1);
        assert!(undo.is_all_duplicate());
        undo.settle();
        assert!(!undo.is_all_duplicate() && !undo.is_open(), "once");
    }

    /// Of a block above SND.UNA the segments tell; below they are forgotten, and count by their size.
    #[test]
    fn what_was_sent_once_is_none_of_the_episode() {
        let (mut undo, scoreboard) = episode(2);
        let wide = (Seq(2001), Seq(4001));
        assert_eq!(undo.on_duplicate_delivery(SIZE, wide, &scoreboard), 2);
        assert!(!undo.is_all_duplicate(), "one of these two had been sent again");
    }

    #[test]
    fn more_duplicates_than_were_sent_are_the_networks() {
        let (mut undo, scoreboard) = episode(1);
        undo.on_probe_repeated();
        let found = [1, 2, 3].map(|i| undo.on_duplicate_delivery(SIZE, block(i), &scoreboard));
        assert_eq!(found, [1, 1, 0]);
    }

    /// What is still on its way belongs to the episode that begins, and so does a probe.
    #[test]
    fn what_is_under_way_must_come_twice_too() {
        let (mut undo, scoreboard) = episode(1);
        undo.begin(SIZE, &scoreboard, 1);
        undo.on_probe_repeated();
        undo.on_duplicate_delivery(SIZE, block(1), &scoreboard);
        assert!(!undo.is_all_duplicate());
        undo.on_duplicate_delivery(SIZE, block(1), &scoreboard);
        assert!(undo.is_all_duplicate());
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission_is_the_originals() {
        let (mut undo, _) = episode(2);
        let echoing =
            |echo| Tcb { rcv_timestamp_echo: echo, has_timestamps: true, ..Tcb::default() };
        let answers = [0, 69, 70].map(|echo| undo.is_original_echoed(&echoing(echo)));
        assert_eq!(answers, [true, true, false]);
        assert!(!undo.is_original_echoed(&Tcb::default()), "nothing has timestamps");
        undo.settle();
        assert!(!undo.is_original_echoed(&echoing(69)));
    }
}
