//! The window that Linux offers: what is free of the receive buffer, up to a threshold that grows by two segments with each one
//! that comes and is mostly data.  What was offered is not taken back, and without a scale only whole segments are
//! (`tcp_select_window`).
//!
//! The buffer has twice the memory that was asked for, and a segment takes more of it than its data ([`room_beside`]).

use crate::base::seq::Seq;
use crate::host::tcp::config::Config;
use crate::host::tcp::memory::{LARGEST_BUFFER, SMALL, data_of, room_beside, share};
use crate::packet::TIMESTAMP_OPTION;

/// Segments that the threshold grows by with each.
const GROWTH: u32 = 2;
/// Bytes of a segment in order with which it grows.
const LEAST: u32 = 128;
/// The smallest segment that says how large full ones are.
const LEAST_FULL: u32 = 88;
/// What a window field can say (RFC 7323 section 2.3).
const LARGEST: u32 = LARGEST_UNSCALED << 14;
const LARGEST_UNSCALED: u32 = 65_535;

#[derive(Debug)]
pub struct OfferedWindow {
    /// What was asked for, in bytes.
    buffer: u32,
    /// Bytes of a full segment, as far as is known, and of the one before if that was shorter.
    full: u32,
    shorter: u32,
    /// The last segment by whose memory data is taken for its share; none as long as all are small.
    measured: u32,
    /// Those that both ends agreed on, and what a SYN reckons with, whose end does not know yet whether there are timestamps.
    segment: u32,
    syn_segment: u32,
    /// At most so many bytes are offered, and may ever be (`window_clamp`).
    threshold: u32,
    clamp: u32,
    has_data: bool,
    may_scale: bool,
    /// Memory of what came in order and is not read when the ACK leaves, and bytes of it that the ACK leaves out.
    unread: u32,
    arriving: u32,
    /// What was offered last, with which scale, and where it ends.
    last: u32,
    shift: u8,
    edge: Option<Seq>,
    /// It is offered on, cut to the field's 16 bits: without a scale that is another number (`tcp_v4_send_ack`).
    is_in_time_wait: bool,
}

impl OfferedWindow {
    pub fn new(config: &Config) -> OfferedWindow {
        OfferedWindow {
            buffer: config.receive_buffer,
            full: config.segment_size.clamp(LEAST_FULL, SMALL),
            shorter: 0,
            measured: 0,
            has_data: false,
            segment: config.segment_size,
            syn_segment: config.segment_size + if config.timestamps { TIMESTAMP_OPTION } else { 0 },
            threshold: config.receive_buffer,
            // Room for a segment is kept free.
            clamp: config
                .receive_buffer
                .saturating_sub(config.segment_size)
                .max(2 * config.segment_size),
            may_scale: config.window_scaling,
            unread: 0,
            arriving: 0,
            last: 0,
            shift: 0,
            edge: None,
            is_in_time_wait: false,
        }
    }

    /// What the receiver takes for a full segment, in bytes.
    pub fn full_segment(&self) -> u32 {
        self.full
    }

    /// What was offered last, in bytes.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// RCV.NXT as the peer was told of it last.
    pub fn told(&self) -> Option<Seq> {
        self.edge.map(|edge| edge - self.last)
    }

    /// A segment has come; `is_pushed`: with PSH, so that it may be short where others are not.  Returns whether it seems to be
    /// the last of several (`tcp_measure_rcv_mss`).
    pub fn measure(&mut self, bytes: u32, is_pushed: bool) -> bool {
        if !std::mem::replace(&mut self.has_data, true) {
            if !self.may_scale {
                self.clamp = self.clamp.min(LARGEST_UNSCALED);
            }
            self.threshold = self.threshold.min(self.clamp);
        }
        let before = std::mem::take(&mut self.shorter);
        if bytes >= self.full {
            if bytes != self.full {
                let before = std::mem::replace(&mut self.measured, bytes);
                if share(before) != share(bytes) {
                    self.clamp = room_beside(self.buffer, bytes, 0);
                }
            }
            self.full = bytes.min(self.segment);
            return is_pushed;
        }
        if bytes >= SMALL || (bytes >= LEAST_FULL && !is_pushed) {
            self.shorter = bytes;
            if bytes == before {
                self.full = bytes;
                return false;
            }
        }
        true
    }

    /// A segment of so many bytes and so much memory has come in order, and what has `joined` it once it had filled a hole.  Memory
    /// of what is beyond a hole is `held`, here and below.  Returns whether the threshold had room to grow by it.
    pub fn on_next(&mut self, bytes: u32, memory: u32, joined: u32, held: u32) -> bool {
        (self.unread, self.arriving) = (memory, 0);
        let grows = bytes >= LEAST && self.grow(bytes, held);
        self.unread += joined;
        grows
    }

    /// The same beyond a hole, where so much was held before.
    pub fn on_gap(&mut self, bytes: u32, held: u32) -> bool {
        self.unread = 0;
        self.grow(bytes, held)
    }

    /// A FIN takes no memory where it follows what is held, so that the threshold grows as with a full segment (`truesize_adjust`).
    pub fn on_held_fin(&mut self, held: u32) -> bool {
        self.unread = 0;
        self.grow_by(GROWTH * self.segment, held)
    }

    /// Less than half of the buffer is free.
    pub fn is_half_full(&self, held: u32) -> bool {
        self.free(held) < self.room() / 2
    }

    /// Twice as much can be offered as is still open from `next` on (`tcp_cleanup_rbuf`).
    pub fn has_opened(&self, next: Seq, held: u32) -> bool {
        let Some(edge) = self.edge else { return false };
        let open = (edge - next).max(0) as u32;
        let offered = self.whole(held);
        2 * open <= self.room() && offered > 0 && offered >= 2 * open
    }

    /// Before the application has read less would be offered than last.
    pub fn narrows(&self, held: u32) -> bool {
        self.whole(held) < self.last
    }

    /// Such a segment comes, and an ACK of what is before it leaves.
    pub fn on_arrival(&mut self, bytes: u32, memory: u32) {
        (self.arriving, self.unread) = (bytes, memory);
    }

    /// The application has read all before the ACK leaves.
    pub fn on_read(&mut self) {
        self.unread = 0;
    }

    /// The connection is in TIME_WAIT.
    pub fn on_time_wait(&mut self) {
        self.is_in_time_wait = true;
    }

    fn grow(&mut self, bytes: u32, held: u32) -> bool {
        self.grow_by(self.growth(bytes), held)
    }

    fn grow_by(&mut self, most: u32, held: u32) -> bool {
        let room = self.free(held).min(self.room()).saturating_sub(self.threshold);
        let growth = most.min(room);
        self.threshold += growth;
        growth > 0
    }

    /// By so much the threshold grows with a segment.  The less of its memory is data, the lower the threshold must be for that.
    fn growth(&self, bytes: u32) -> u32 {
        let mut taken = data_of(bytes, self.measured);
        if taken <= bytes {
            return GROWTH * self.segment.max(bytes);
        }
        taken /= 2;
        let mut most = (u64::from(LARGEST_BUFFER) * share(self.measured) / 512) as u32;
        while self.threshold <= most {
            if taken <= bytes {
                return GROWTH * self.full.max(bytes);
            }
            (taken, most) = (taken / 2, most / 2);
        }
        0
    }

    /// Of the empty buffer.
    fn room(&self) -> u32 {
        self.clamp.min(room_beside(self.buffer, self.measured, 0))
    }

    fn free(&self, held: u32) -> u32 {
        room_beside(self.buffer, self.measured, held + self.unread)
    }

    /// In bytes, for a segment that acknowledges what is before `next`; in units of 2^`shift`.
    pub fn offer(&mut self, next: Seq, held: u32, shift: u8) -> u32 {
        if self.edge.is_none() {
            return self.open(next);
        }
        if self.is_in_time_wait {
            return self.last & LARGEST_UNSCALED << shift;
        }
        self.shift = shift;
        let next = next + std::mem::take(&mut self.arriving);
        let before = self.edge.map_or(0, |edge| (edge - next).max(0) as u32);
        self.last = self.whole(held).max(before).next_multiple_of(1 << shift);
        self.edge = Some(next + self.last);
        self.on_read();
        self.last
    }

    /// With a SYN whole segments are offered (`tcp_select_initial_window`).
    fn open(&mut self, next: Seq) -> u32 {
        // That of the peer, which is still to come where nothing has, takes a number.
        let is_answer = next != Seq(0);
        let segment = if is_answer { self.segment } else { self.syn_segment };
        if self.threshold > segment {
            self.threshold = self.threshold / segment * segment;
        }
        self.last = self.threshold;
        self.edge = Some(next + u32::from(!is_answer) + self.last);
        self.last
    }

    /// Whole segments or units of the window field; nothing where less is free than a segment, or a sixteenth of all.
    fn whole(&self, held: u32) -> u32 {
        let segment = if self.has_data { self.full } else { self.segment };
        let all = room_beside(self.buffer, self.measured, 0);
        let mut free = self.free(held);
        if self.is_half_full(held) {
            free = free >> self.shift << self.shift;
            if free < all / 16 || free < segment.min(self.room()) {
                return 0;
            }
        }
        let free = free.min(self.threshold).min(LARGEST);
        if self.shift > 0 || free < segment {
            return free.next_multiple_of(1 << self.shift);
        }
        free / segment * segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::bench;
    use crate::host::tcp::memory::memory_of;

    fn scaling(buffer: &str) -> Config {
        let texts = [("RcvBufSize", buffer), ("SegmentSize", "1448"), ("WindowScaling", "true")];
        bench::config(&texts)
    }

    /// What a buffer offers with a SYN-ACK and with the ACKs of segments that come in order.
    fn offers(buffer: u32, segment: u32, count: u32) -> Vec<u32> {
        let [buffer, size] = [buffer, segment].map(|bytes| bytes.to_string());
        let texts = [("RcvBufSize", &*buffer), ("SegmentSize", &size), ("WindowScaling", "true")];
        let config = bench::config(&texts);
        let mut window = OfferedWindow::new(&config);
        let mut next = Seq(1);
        let mut offers = vec![window.offer(next, 0, 0)];
        for _ in 0..count {
            next += segment;
            window.measure(segment, false);
            window.on_next(segment, memory_of(segment), 0, 0);
            offers.push(window.offer(next, 0, config.window_shift()));
        }
        offers
    }

    /// Linux 7.3.4.
    #[test]
    fn the_threshold_grows_by_two_segments_with_each() {
        let wanted = [79_640, 81_448, 84_344, 87_240, 90_136, 93_032, 95_928, 98_560, 98_560];
        assert_eq!(offers(80_000, 1448, 8), wanted);
        let wanted = [4_001_472, 4_004_352, 4_007_296, 4_010_176];
        assert_eq!(offers(4_000_000, 1448, 4)[1..], wanted);
    }

    /// Linux 7.3.4: up to 65,535 B need no scale.
    #[test]
    fn without_a_scale_whole_segments_are_offered() {
        assert_eq!(offers(20_000, 1448, 4), [18_824, 20_272, 23_168, 23_168, 23_168]);
        let wanted = [49_232, 50_680, 53_576, 56_472, 59_368, 60_816, 60_816];
        assert_eq!(offers(50_000, 1448, 6), wanted);
        assert_eq!(offers(20_000, 536, 3), [19_832, 19_296, 19_296, 19_296]);
    }

    /// A buffer of less than a segment's memory is closed by one, and opened again once that is read.
    #[test]
    fn what_is_read_opens_the_window_again() {
        let config = bench::config(&[("RcvBufSize", "1000"), ("SegmentSize", "1000")]);
        let mut window = OfferedWindow::new(&config);
        window.offer(Seq(1), 0, 0);
        window.measure(1000, false);
        window.on_next(1000, memory_of(1000), 0, 0);
        assert_eq!(window.offer(Seq(1001), 0, 0), 0, "nothing is read yet");
        assert!(window.has_opened(Seq(1001), 0));
        assert_eq!(window.offer(Seq(1001), 0, 0), 867);
        assert!(!window.has_opened(Seq(1001), 0), "the peer knows");
    }

    /// Linux 7.3.4: segments of 1,000 B leave less than was offered at first, and the edge stays until all that has come.
    #[test]
    fn what_was_offered_is_not_taken_back() {
        let wanted = [20_000, 19_000, 18_000, 17_000, 16_000, 16_000];
        assert_eq!(offers(20_000, 1000, 5), wanted);
        let many = offers(131_072, 1000, 60);
        assert_eq!(many[1..4], [130_000, 129_000, 128_000]);
        assert_eq!(many[60], 112_668);
    }

    /// Linux 7.3.4: the SYN's end does not know yet whether segments have timestamps, which take 12 B.
    #[test]
    fn with_a_syn_whole_segments_are_offered() {
        let first = |timestamps, next| {
            let texts = [("RcvBufSize", "4000000"), ("Timestamp", timestamps)];
            let mut window = OfferedWindow::new(&bench::config(&texts));
            let segment = bench::config(&texts).segment_size;
            (window.offer(next, 0, 0), segment)
        };
        for (timestamps, next, beside) in [("true", 0, 12), ("false", 0, 0), ("true", 1, 0)] {
            let (offered, segment) = first(timestamps, Seq(next));
            assert_eq!(offered, 4_000_000 / (segment + beside) * (segment + beside));
        }
        let mut window = OfferedWindow::new(&bench::config(&[("RcvBufSize", "4000000")]));
        let opened = window.offer(Seq(0), 0, 0);
        assert_eq!(
            window.offer(Seq(1), 0, 6),
            opened.next_multiple_of(64),
            "the SYN-ACK takes none"
        );
    }

    /// Linux 7.3.4: half of the memory of 1,155 B is data, as while nothing has come, so that room for a segment stays free.
    #[test]
    fn room_for_a_segment_is_free_until_another_share_is_measured() {
        let config = scaling("262144");
        let offer = |bytes: u32| {
            let mut window = OfferedWindow::new(&config);
            window.offer(Seq(1), 0, 0);
            window.measure(bytes, false);
            let grows = window.on_next(bytes, memory_of(bytes), 0, 0);
            (window.offer(Seq(1 + bytes), 0, 3), grows)
        };
        assert_eq!(offer(1155), (260_936, false));
        assert_eq!(offer(1448), (263_592, true));
    }

    /// Linux 7.3.4.
    #[test]
    fn a_connection_that_is_over_offers_what_its_field_leaves() {
        for (shift, wanted) in [(0, 3_999_376 % 65_536), (6, 3_999_424)] {
            let mut window = OfferedWindow::new(&scaling("4000000"));
            window.offer(Seq(0), 0, 0);
            window.offer(Seq(1), 0, shift);
            window.on_time_wait();
            for next in [Seq(1), Seq(3)] {
                assert_eq!(window.offer(next, 0, shift), wanted);
            }
        }
    }

    /// It follows what is held, so that no memory is taken for it.
    #[test]
    fn a_fin_beyond_a_hole_widens_the_window_as_a_full_segment_does() {
        let mut window = OfferedWindow::new(&scaling("4000000"));
        window.offer(Seq(1), 0, 0);
        window.measure(1448, false);
        let held = memory_of(1448);
        window.on_gap(1448, 0);
        let before = window.offer(Seq(1), held, 6);
        assert!(window.on_held_fin(held));
        assert_eq!(window.offer(Seq(1), held, 6), (before - 64 + 2 * 1448).next_multiple_of(64));
        let full = 2 * 4_000_000;
        assert!(!window.on_held_fin(full), "nothing is free");
    }

    /// Of what waits beyond a hole memory is taken; what the edge has passed by then is offered on.
    #[test]
    fn what_is_held_takes_from_the_window() {
        let config = bench::config(&[("RcvBufSize", "80000")]);
        let mut window = OfferedWindow::new(&config);
        for n in 0..10 {
            window.measure(1448, false);
            window.on_next(1448, memory_of(1448), 0, 0);
            window.offer(Seq(1 + 1448 * n), 0, 1);
        }
        let next = Seq(1 + 1448 * 9);
        let whole = window.offer(next, 0, 1);
        assert_eq!(window.offer(next, 30 * memory_of(1448), 1), whole);
        window.on_read();
        assert_eq!(window.offer(next + 1448 * 29, 20 * memory_of(1448), 1), 71_200);
    }
}
