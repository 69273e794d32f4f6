//! As Linux does for segmentation offload, whether the device has it or not (`tcp_tso_should_defer`, `tcp_tso_autosize`): segments
//! leave in bursts of what the sending rate carries in a millisecond, two at least, and wait for an ACK or two until so much
//! of the window is open.
//!
//! Nothing waits in recovery; if the last segment left longer than a millisecond ago, or the next ACK is further away than that
//! or than half a round trip; if a third of the window is open; or if a piece of the kernel's write queue ends ([`WriteQueue`]), the
//! last one if there is room for more than that.  Where the peer's window ends within a segment of a burst, what fits of it goes
//! along.

use super::burst::{burst, cwnd_room, offered, quota, waits};
use super::write_queue::{Head, WriteQueue};
use super::{Opening, Segmentation};
use crate::base::time::Time;
use crate::host::tcp::tcb::Tcb;

#[derive(Debug, Default)]
pub struct Deferral {
    /// Segments of the last burst that have not left.
    left: u32,
    /// The segment that leaves ends one of several, or a buffer of which that is known.
    ends_burst: bool,
    /// With the last one of them a piece of the write queue ends that has PSH.
    pushes_last: bool,
    /// Bytes of the last one of them, if it is cut within what waits.
    cut: Option<u32>,
    /// When it began.
    last: Option<Time>,
    queue: WriteQueue,
}

impl Segmentation for Deferral {
    const WAITS: bool = true;

    fn room(&mut self, opening: Opening<'_>) -> Option<u32> {
        Some(self.queue.room(&opening))
    }

    fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    fn on_write(&mut self, bytes: u32, fills: bool, opening: Opening<'_>) {
        self.queue.add(bytes, fills, &opening);
    }

    fn leaves(&mut self, opening: Opening<'_>) -> bool {
        let now = opening.tcb.now;
        let size = opening.tcb.segment_size;
        if self.goes_on(now) {
            return true;
        }
        if let Some(bytes) = self.queue.next_burst() {
            let head = self.queue.head(&opening, 0);
            self.begin_new(bytes, head, opening.tcb);
            return true;
        }
        let burst = burst(opening.tcb);
        let quota = quota(&opening, burst);
        let head = self.queue.head(&opening, quota);
        let room = opening.room.min(offered(&opening));
        let is_last = opening.is_closed && opening.unsent <= head.left;
        let ends_buffer =
            if is_last { room > opening.unsent } else { head.is_closed && room >= head.left };
        let is_one = head.left.min(opening.unsent) <= size;
        if !is_one && !ends_buffer && waits(&opening, burst, false) {
            return false;
        }
        let bytes = together(&opening, quota * size, head);
        self.begin_new(bytes, head, opening.tcb);
        true
    }

    fn gather(&mut self, opening: Opening<'_>) {
        if cwnd_room(&opening) >= opening.tcb.segment_size {
            self.queue.head(&opening, quota(&opening, burst(opening.tcb)));
        }
    }

    fn leaves_as_probe(&mut self, opening: Opening<'_>) {
        let quota = quota(&opening, burst(opening.tcb));
        let together = quota.min(opening.room / opening.tcb.segment_size).max(1);
        let head = self.queue.head(&opening, quota.max(1));
        let waiting = opening.unsent.div_ceil(opening.tcb.segment_size);
        self.begin_new(together.min(waiting) * opening.tcb.segment_size, head, opening.tcb);
    }

    fn leaves_again(&mut self, tcb: &Tcb, room: u32, together: u32) {
        if !self.goes_on(tcb.now) {
            let most = burst(tcb).min(room / tcb.segment_size);
            self.begin(most.min(together), tcb.now);
        }
    }

    fn leaves_alone(&mut self) {
        (self.left, self.cut) = (0, None);
        (self.ends_burst, self.pushes_last) = (false, false);
    }

    fn cuts_next(&self, now: Time) -> bool {
        self.cut.is_some() && self.left == 1 && self.last == Some(now)
    }

    fn cut(&self) -> Option<u32> {
        self.cut.filter(|_| self.left == 0)
    }

    fn ends_burst(&self) -> bool {
        self.ends_burst
    }

    fn is_pushed(&self) -> bool {
        self.left == 0 && self.pushes_last
    }

    fn is_within_burst(&self) -> bool {
        self.left > 0
    }
}

/// Bytes of the first piece that leave together, of at most so many (`tcp_mss_split_point`).  What ends with the piece, or with the
/// peer's window, ends within a segment if Nagle's algorithm lets it.
fn together(opening: &Opening<'_>, most: u32, head: Head) -> u32 {
    let size = opening.tcb.segment_size;
    let offered = offered(opening);
    let piece = head.left.min(opening.unsent);
    let needed = piece.min(offered);
    if most <= needed || (head.is_closed && most <= offered) {
        return most.min(piece);
    }
    let whole = needed / size * size;
    if opening.may_cut || whole == 0 { needed } else { whole }
}

impl Deferral {
    /// The segment that leaves is one of the present burst.
    fn goes_on(&mut self, now: Time) -> bool {
        let goes_on = self.left > 0 && self.last == Some(now);
        if goes_on {
            self.left -= 1;
        }
        self.ends_burst = goes_on && self.left == 0;
        goes_on
    }

    /// So many bytes of new data leave together, of the first piece of the write queue or beyond it.
    fn begin_new(&mut self, bytes: u32, head: Head, tcb: &Tcb) {
        self.begin(bytes.div_ceil(tcb.segment_size), tcb.now);
        self.cut = Some(bytes % tcb.segment_size).filter(|&cut| cut > 0);
        self.pushes_last = head.is_pushed && head.left <= bytes;
        self.ends_burst = self.is_pushed();
    }

    /// So many segments leave together.
    fn begin(&mut self, together: u32, now: Time) {
        self.left = together.saturating_sub(1);
        (self.cut, self.pushes_last) = (None, false);
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Rate;

    const SIZE: u32 = 1448;

    /// A path of 20 ms, 20 segments of cwnd.
    fn tcb() -> Tcb {
        Tcb {
            now: Time::from_ms(100),
            srtt: Time::from_ms(20),
            min_rtt: Time::from_ms(20),
            cwnd: 20 * SIZE,
            initial_cwnd: 10,
            segment_size: SIZE,
            ..Tcb::default()
        }
    }

    /// With so much room, in segments, `sent` before.
    fn opening(tcb: &Tcb, room: u32, sent: u32) -> Opening<'_> {
        Opening {
            tcb,
            window: 20 * SIZE,
            peer_window: 1 << 20,
            send_buffer: 1 << 24,
            room: room * SIZE,
            unsent: 100 * SIZE,
            sent: sent * SIZE,
            unacked: 0,
            pieces: 0,
            is_closed: false,
            may_cut: true,
            oldest: Some(tcb.now - ROUND_TRIP),
        }
    }

    /// Of a connection whose first window was ten segments, and whose application has filled the send buffer then and once more.
    fn opened(opening: &Opening<'_>) -> Deferral {
        let first =
            Opening { peer_window: 65_535, room: 10 * SIZE, unsent: 0, sent: 0, ..*opening };
        let mut deferral = Deferral::default();
        let room = deferral.room(first).expect("the kernel's");
        deferral.on_write(room, true, first);
        let sent = 10 * SIZE;
        let later = Opening { room: 0, sent, unsent: room - sent, ..*opening };
        deferral.on_write(200 * SIZE, true, later);
        deferral
    }

    /// Whether a segment leaves with so much room, the last having left just now, `sent` before it, and the oldest in flight
    /// `age` ago.
    fn leaves(room: u32, sent: u32, age: Time) -> bool {
        let mut tcb = tcb();
        assert!(Deferral::default().leaves(opening(&tcb, 1, sent)), "nothing has left yet");
        tcb.last_departure = tcb.now;
        let oldest = Some(tcb.now - age);
        let opening = Opening { oldest, ..opening(&tcb, room, sent) };
        opened(&opening).leaves(opening)
    }

    const ROUND_TRIP: Time = Time::from_ms(20);

    #[test]
    fn a_single_segment_waits_for_a_second() {
        assert!(!leaves(1, 20, ROUND_TRIP));
        assert!(leaves(2, 20, ROUND_TRIP));
    }

    /// Half of 65,535 B is 22 segments, and the first buffer ends after the ten of the initial window and 22 more: what a
    /// kernel did (7.3.4).
    #[test]
    fn the_last_segment_of_a_buffer_does_not_wait() {
        let alone: Vec<u32> = (11..100).filter(|&sent| leaves(1, sent, ROUND_TRIP)).collect();
        assert_eq!(alone, [31, 53, 75, 97]);
    }

    /// The first piece and the next have three segments and 100 B, a burst could have five.  A short segment leaves where the peer's
    /// window has room for the burst, or where Nagle's algorithm lets it.
    #[test]
    fn a_burst_ends_with_its_piece() {
        let tcb = Tcb { least_burst: 5, cwnd: 40 * SIZE, ..tcb() };
        let leaves = |offered: u32, may_cut: bool| {
            let narrow =
                Opening { peer_window: 4 * SIZE, window: 40 * SIZE, ..opening(&tcb, 0, 0) };
            let mut deferral = Deferral::default();
            for unsent in [0, 2 * SIZE, 4 * SIZE] {
                deferral.on_write(2 * SIZE, false, Opening { unsent, ..narrow });
            }
            let (sent, unsent) = (SIZE - 100, 5 * SIZE + 100);
            let (room, peer_window) = (40 * SIZE, offered * SIZE);
            let wide = Opening { room, peer_window, sent, unsent, may_cut, ..narrow };
            let mut sizes = vec![];
            while sizes.is_empty() || deferral.is_within_burst() {
                assert!(deferral.leaves(wide));
                sizes.push(deferral.cut().unwrap_or(SIZE));
            }
            sizes
        };
        assert_eq!(leaves(40, false), [SIZE, SIZE, SIZE, 100]);
        assert_eq!(leaves(4, true), [SIZE, SIZE, SIZE, 100]);
        assert_eq!(leaves(4, false), [SIZE, SIZE, SIZE]);
    }

    /// Of what the peer's window has room for, where a burst could have five segments.
    #[test]
    fn the_last_burst_ends_with_the_data_if_nagle_lets_it() {
        let tcb = Tcb { least_burst: 5, ..tcb() };
        let sizes = |may_cut: bool| {
            let (peer_window, room) = (10 * SIZE, 2 * SIZE + 600);
            let (window, unacked, unsent) = (peer_window, peer_window - room, 2 * SIZE + 500);
            let full = opening(&tcb, 0, 20);
            let last = Opening { window, peer_window, room, unacked, unsent, may_cut, ..full };
            let mut deferral = Deferral::default();
            let mut sizes = vec![];
            while sizes.is_empty() || deferral.is_within_burst() {
                assert!(deferral.leaves(last));
                sizes.push(deferral.cut().unwrap_or(SIZE));
            }
            sizes
        };
        assert_eq!(sizes(true), [SIZE, SIZE, 500]);
        assert_eq!(sizes(false), [SIZE, SIZE]);
    }

    /// Where cwnd has room and the peer's window has none.
    #[test]
    fn a_burst_is_put_together_though_the_peer_has_no_room() {
        let tcb = tcb();
        let full = Opening { peer_window: 2 * SIZE, ..opening(&tcb, 0, 0) };
        let first = |window: u32| {
            let mut deferral = Deferral::default();
            for unsent in [0, SIZE] {
                deferral.on_write(SIZE, false, Opening { unsent, ..full });
            }
            let opening = Opening { unsent: 2 * SIZE, window, ..full };
            deferral.gather(opening);
            deferral.queue.head(&opening, 0).left / SIZE
        };
        assert_eq!([20, 19, 18].map(|window| first(window * SIZE)), [1, 1, 2]);
    }

    /// An application that has closed: what is left waits until there is room for more than that, or is one segment.
    #[test]
    fn the_last_buffer_does_not_wait_where_it_fits() {
        let tcb = Tcb { last_departure: Time::from_ms(100), cwnd: 40 * SIZE, ..tcb() };
        let alone = |segments: u32, room: u32, is_closed: bool| {
            let unsent = segments * SIZE;
            let window = 40 * SIZE;
            let opening = Opening { unsent, is_closed, window, ..opening(&tcb, room, 20) };
            let opening = Opening { room: room * SIZE, ..opening };
            opened(&opening).leaves(opening)
        };
        assert!(alone(1, 1, true) && alone(1, 1, false));
        for (room, is_closed, leaves) in [(1, true, false), (1, false, false)] {
            assert_eq!(alone(2, room, is_closed), leaves, "{room}");
        }
    }

    /// At most a millisecond away.
    #[test]
    fn nothing_waits_for_an_ack_that_is_not_near() {
        let near = ROUND_TRIP - Time::from_ms(1);
        assert!(!leaves(1, 20, near));
        assert!(leaves(1, 20, near - Time(1)));
    }

    /// A send buffer of 100 kB has 200 kB for the first ten and five buffers of 22, and the sixth is filled up to 45, half of
    /// what the peer offers being more; so are all that follow.
    #[test]
    fn buffers_are_larger_once_the_first_send_buffer_is_used_up() {
        let tcb = Tcb { last_departure: Time::from_ms(100), ..tcb() };
        let alone = |peer_window: u32, sent: u32| {
            let few = Opening { peer_window, send_buffer: 100_000, ..opening(&tcb, 1, sent) };
            opened(&few).leaves(few)
        };
        let ends = |peer_window| (11..220).filter(move |&sent| alone(peer_window, sent));
        assert_eq!(ends(1 << 20).collect::<Vec<_>>(), [31, 53, 75, 97, 119, 164, 209]);
        assert_eq!(ends(80_000).collect::<Vec<_>>(), [31, 53, 75, 97, 119, 146, 173, 200]);
    }

    /// Of a burst of ten segments the peer's window has room for two and a half: the third leaves as half of one, if nothing short
    /// is on its way, and if it is not cwnd that ends there.
    #[test]
    fn the_last_segment_that_fits_in_part_is_cut() {
        let tcb = Tcb { min_rtt: Time(1000), ..tcb() };
        let now = tcb.now;
        let cut = |window: u32, may_cut: bool| {
            let room = 2 * SIZE + SIZE / 2;
            let peer_window = if window < tcb.cwnd { window } else { 1 << 20 };
            let unacked = window - room;
            let opening =
                Opening { window, peer_window, unacked, room, may_cut, ..opening(&tcb, 0, 20) };
            let mut deferral = opened(&opening);
            assert!(deferral.leaves(opening));
            assert!(!deferral.cuts_next(now), "the second is whole");
            assert!(deferral.leaves(opening));
            (deferral.is_within_burst(), deferral.cuts_next(now))
        };
        assert_eq!(cut(10 * SIZE, true), (true, true));
        assert_eq!(cut(10 * SIZE, false), (false, false));
        assert_eq!(cut(20 * SIZE, true), (false, false));
    }

    /// Of retransmissions, too.
    #[test]
    fn nothing_waits_if_the_last_segment_left_longer_than_a_millisecond_ago() {
        for (ago, waits) in [(Time::from_ms(1), true), (Time(1_000_001), false)] {
            let tcb = Tcb { last_departure: Time::from_ms(100) - ago, ..tcb() };
            assert_eq!(!Deferral::default().leaves(opening(&tcb, 1, 20)), waits);
        }
    }

    /// A short path lets 45 segments leave at once, but not more than half of the window: with room for 12 of 20, ten leave, the
    /// last of them with PSH, and the two that are left wait.
    #[test]
    fn two_bursts_are_in_flight() {
        let tcb = Tcb { min_rtt: Time(1000), last_departure: Time::from_ms(100), ..tcb() };
        let mut deferral = Deferral::default();
        let left: Vec<_> = (0..12)
            .take_while(|n| deferral.leaves(opening(&tcb, 12 - n, 10 + n)))
            .map(|_| ())
            .collect();
        assert_eq!(left.len(), 10);
    }

    #[test]
    fn the_last_of_a_burst_ends_it_and_a_single_segment_ends_what_has_psh() {
        let tcb = Tcb { last_departure: Time::from_ms(100), ..tcb() };
        let ends = |room: u32, sent: u32| {
            let mut deferral = opened(&opening(&tcb, room, sent));
            let each = |n| {
                assert!(deferral.leaves(opening(&tcb, room - n, sent + n)));
                deferral.ends_burst()
            };
            (0..room).map(each).collect::<Vec<_>>()
        };
        // The rate carries two in a millisecond.
        assert_eq!(ends(4, 20), [false, true, false, true]);
        assert_eq!([31, 53, 75].map(|sent| ends(1, sent)), [[true], [true], [false]]);
    }

    #[test]
    fn the_last_segment_of_what_was_written_has_psh() {
        let tcb = tcb();
        let mut deferral = Deferral::default();
        for sent in 0..3 {
            let written = |unsent| Opening { unsent, ..opening(&tcb, 1, sent) };
            deferral.on_write(SIZE, false, written(0));
            assert!(deferral.leaves(written(SIZE)));
            assert!(deferral.ends_burst(), "{sent} before");
        }
    }

    /// What waits for more of it leaves as far as the window lets it, and one segment where it lets none.
    #[test]
    fn a_probe_is_what_has_waited() {
        let mut tcb = Tcb { srtt: Time(400_000), min_rtt: Time(40_000), ..tcb() };
        tcb.last_departure = tcb.now;
        let oldest = Some(tcb.now - Time(400_000));
        for (room, wanted) in [(2, 2), (1, 1), (0, 1)] {
            let opening = Opening { oldest, ..opening(&tcb, room, 20) };
            let mut deferral = opened(&opening);
            assert!(room == 0 || !deferral.leaves(opening), "it waits");
            deferral.leaves_as_probe(opening);
            assert_eq!(deferral.left + 1, wanted, "{room}");
        }
    }

    /// As far as there is room, and not together with what is new.
    #[test]
    fn what_was_a_burst_leaves_again_as_one() {
        let tcb = tcb();
        for (room, together, wanted) in [(9, 2, 2), (1, 2, 1), (9, 1, 1), (9, 5, 2)] {
            let mut deferral = Deferral::default();
            let mut left = 1;
            deferral.leaves_again(&tcb, room * SIZE, together);
            while deferral.is_within_burst() {
                assert!(!deferral.ends_burst());
                left += 1;
                deferral.leaves_again(&tcb, (room - left) * SIZE, together - 1);
            }
            assert_eq!(left, wanted);
            assert_eq!(deferral.ends_burst(), wanted > 1);
        }
    }

    #[test]
    fn a_pacing_rate_says_how_many_leave_together() {
        let megabyte = |n: u64| Rate(n * 8_000_000);
        for (rate, least, wanted) in [(megabyte(5), 2, 3), (megabyte(1), 2, 2), (megabyte(1), 1, 1)]
        {
            let tcb = Tcb { pacing: true, pacing_rate: rate, least_burst: least, ..tcb() };
            assert_eq!(burst(&tcb), wanted);
        }
    }

    /// A path of 1 us lets 45 leave together where the algorithm says nothing.
    #[test]
    fn an_algorithm_may_say_how_long_a_burst_takes() {
        for (mbps, wanted) in [(10, 1), (90, 1), (100, 2), (1_000, 21), (100_000, 45)] {
            let pacing_rate = Rate(mbps * 1_000_000);
            let min_rtt = Time(1_000);
            let tcb = Tcb { pacing: true, pacing_rate, min_rtt, longest_burst_us: 250, ..tcb() };
            assert_eq!(burst(&tcb), wanted, "{mbps} Mbps");
        }
    }
}
