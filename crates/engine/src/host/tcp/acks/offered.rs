//! The window that Linux offers: what is free of the receive buffer, up to a threshold that grows by two segments with each one
//! that comes.  What was offered is not taken back, and without a scale only whole segments are (`tcp_select_window`).
//!
//! The buffer has twice the memory that was asked for, and a segment takes more of it than its data ([`room_beside`]).

use crate::base::seq::Seq;
use crate::host::tcp::config::Config;
use crate::host::tcp::memory::{SMALL, room_beside};

/// Segments that the threshold grows by with the first segment, and with each other.
const FIRST_GROWTH: u32 = 1;
const GROWTH: u32 = 2;
/// Bytes of a segment in order with which it grows.
const LEAST: u32 = 128;
/// What a window field can say (RFC 7323 section 2.3).
const LARGEST: u32 = LARGEST_UNSCALED << 14;
const LARGEST_UNSCALED: u32 = 65_535;

#[derive(Debug)]
pub struct OfferedWindow {
    /// What was asked for, in bytes.
    buffer: u32,
    /// The largest segment that has come; none before the first.
    largest: u32,
    /// Those that both ends agreed on.
    segment: u32,
    /// At most so many bytes are offered.
    threshold: u32,
    has_grown: bool,
    may_scale: bool,
    /// Bytes that came in order and are not read when the ACK leaves.
    unread: u32,
    /// What was offered last, with which scale, and where it ends.
    last: u32,
    shift: u8,
    edge: Option<Seq>,
}

impl OfferedWindow {
    pub fn new(config: &Config) -> OfferedWindow {
        OfferedWindow {
            buffer: config.receive_buffer,
            largest: 0,
            has_grown: false,
            segment: config.segment_size,
            threshold: config.receive_buffer,
            may_scale: config.window_scaling,
            unread: 0,
            last: 0,
            shift: 0,
            edge: None,
        }
    }

    pub fn buffer(&self) -> u32 {
        self.buffer
    }

    /// The largest segment that has come; 0 before the first.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// What the receiver takes for a full segment, in bytes.
    pub fn full_segment(&self) -> u32 {
        if self.largest > 0 { self.largest } else { SMALL }
    }

    /// What was offered last, in bytes.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// A segment has come with which so much is `in_order`, and not read yet, where so much was held before.  Returns whether the
    /// threshold had room to grow by it.
    pub fn on_next(&mut self, bytes: u32, in_order: u32, held: u32) -> bool {
        self.unread = in_order;
        self.measure(bytes);
        bytes >= LEAST && self.grow(held.saturating_sub(in_order.saturating_sub(bytes)))
    }

    /// The same beyond a hole, where so much is held already.
    pub fn on_gap(&mut self, bytes: u32, held: u32) -> bool {
        self.unread = 0;
        self.measure(bytes);
        self.grow(held)
    }

    /// Before the application has read less would be offered than last, while so much is held beyond a hole.
    pub fn narrows(&self, held: u32) -> bool {
        self.whole(held) < self.last
    }

    /// The application has read all before the ACK leaves.
    pub fn on_read(&mut self) {
        self.unread = 0;
    }

    fn measure(&mut self, bytes: u32) {
        self.largest = self.largest.max(bytes);
    }

    fn grow(&mut self, held: u32) -> bool {
        let mut growth = GROWTH;
        if !std::mem::replace(&mut self.has_grown, true) {
            growth = FIRST_GROWTH;
            if !self.may_scale {
                self.threshold = self.threshold.min(LARGEST_UNSCALED);
            }
        }
        let room = self.free(held).saturating_sub(self.threshold);
        self.threshold += room.min(growth * self.largest);
        room > 0
    }

    fn free(&self, held: u32) -> u32 {
        room_beside(self.buffer, self.largest, held, self.unread)
    }

    /// In bytes, for a segment that acknowledges what is before `next`, while so much is held beyond it; in units of 2^`shift`.
    pub fn offer(&mut self, next: Seq, held: u32, shift: u8) -> u32 {
        self.shift = shift;
        let before = self.edge.map_or(0, |edge| (edge - next).max(0) as u32);
        self.last = self.whole(held).max(before).next_multiple_of(1 << shift);
        self.edge = Some(next + self.last);
        self.last
    }

    /// Whole segments or units of the window field.
    fn whole(&self, held: u32) -> u32 {
        let segment = if self.largest > 0 { self.largest } else { self.segment };
        let mut free = self.free(held);
        if free < segment {
            // Once it has read, the kernel says at once what a closed window has opened to.
            free = room_beside(self.buffer, self.largest, held, 0);
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
            window.on_next(segment, segment, 0);
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

    /// A buffer of less than a segment's memory is not closed by one.
    #[test]
    fn what_is_read_at_once_closes_no_window() {
        assert_eq!(offers(1000, 1000, 3), [1000, 867, 867, 867]);
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

    /// Of what waits beyond a hole memory is taken; what the edge has passed by then is offered on.
    #[test]
    fn what_is_held_takes_from_the_window() {
        let config = bench::config(&[("RcvBufSize", "80000")]);
        let mut window = OfferedWindow::new(&config);
        for n in 0..10 {
            window.on_next(1448, 1448, 0);
            window.offer(Seq(1 + 1448 * n), 0, 1);
        }
        let next = Seq(1 + 1448 * 9);
        let whole = window.offer(next, 0, 1);
        assert_eq!(window.offer(next, 30 * 1448, 1), whole);
        window.on_read();
        assert_eq!(window.offer(next + 1448 * 29, 1448 * 20, 1), 71_200);
    }
}
