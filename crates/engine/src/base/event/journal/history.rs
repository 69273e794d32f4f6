//! What a part remembers of the last windows of time.

use std::collections::VecDeque;

use super::rows::Rows;
use super::{BLOCK, FAR, Foreign, Journal, Link, Origin, ROOM, Row};
use crate::base::event::Key;
use crate::base::fetch::fetch;
use crate::base::time::Time;

/// While all windows have begun within this time, 32 bits tell the times of rows.
const SHORT: Time = Time::from_secs(3);

/// So many of the last windows are looked at one by one.
const RECENT: usize = 6;

/// No more blocks are kept: what is [`Link::Old`] is before all of them.
const MOST: usize = 1 << 25;
const _: () = assert!((MOST as u64) < FAR / BLOCK);

/// One window of time.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// When it began.
    start: Time,
    /// Its first block.
    first: u64,
    /// Where those begin that have come to its end from other parts, and how many there are.
    foreign: u64,
    count: usize,
}

/// What ran in the last window.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastWindow<'a> {
    start: Time,
    first: u64,
    /// By block.
    pub(super) rows: &'a [Row],
    common: u64,
}

impl<'a> LastWindow<'a> {
    /// When it ran whose row this is.
    pub(super) fn time(self, row: &Row) -> Time {
        row.time_after(self.start)
    }

    /// From this row on those of what ran at `time`.
    pub(super) fn rows_at(self, at: usize, time: Time) -> &'a [Row] {
        let rows = &self.rows[at..];
        let end = rows.iter().position(|row| self.time(row) != time);
        &rows[..end.unwrap_or(rows.len())]
    }

    /// The same by event: the number of each, and its row, but for those that continue it.
    pub(super) fn events(self, at: usize, time: Time) -> impl Iterator<Item = (usize, u64)> {
        let rows = self.rows_at(at, time).iter().zip(at..);
        rows.filter_map(move |(row, at)| {
            Some((at, row.number(self.first + at as u64, self.common)?))
        })
    }

    /// The first number of the block of a row, or of that beyond the last.
    pub(super) fn number_at(self, at: usize) -> u64 {
        (self.first + at as u64) * BLOCK
    }
}

/// Which events have drawn which numbers, and where those come from that other parts have scheduled.
#[derive(Debug, Default)]
pub struct History {
    /// Numbers below this are the same in all parts.
    pub(super) common: u64,
    windows: VecDeque<Window>,
    /// Of these the first that counts: others read what is here while this part is a window ahead of them, so that a quarter of
    /// all is kept for what they may still ask for.
    counts: usize,
    /// The last blocks, each where its number says: a power of two of them.
    blocks: Vec<u64>,
    /// The block after the last window.
    next: u64,
    /// Those of the last window.
    last: Vec<Row>,
    /// By key in each window.
    foreign: Rows<Foreign>,
    /// More than [`SHORT`] lies between the first and the last window: only a row's own tells its time.
    is_long: bool,
}

impl History {
    /// `blocks`: how many are to be kept, a power of two.
    pub fn new(common: u64, blocks: usize) -> Self {
        let blocks = blocks.min(MOST);
        // Zeros are in use only once something else is written there.
        let (blocks, foreign) = (vec![0; blocks], Rows::new(blocks / 16));
        History { common, blocks, foreign, ..History::default() }
    }

    /// A window is over.
    pub(super) fn add(&mut self, journal: &Journal) {
        let &Journal { start, first, ref rows, len, .. } = journal;
        self.last.clear();
        self.last.extend_from_slice(&rows[..len]);
        // And the block after it.
        let rows = &rows[..=len];
        self.next = first + rows.len() as u64;
        if rows.len() <= self.blocks.len() {
            let at = self.place(first);
            let (rows, beyond) = rows.split_at(rows.len().min(self.blocks.len() - at));
            for (at, rows) in [(at, rows), (0, beyond)] {
                let places = &mut self.blocks[at..at + rows.len()];
                places.iter_mut().zip(rows).for_each(|(place, row)| *place = row.0);
            }
        }
        self.windows.push_back(Window { start, first, foreign: self.foreign.next, count: 0 });
        while self.windows.front().is_some_and(|oldest| !self.reaches(oldest, 8)) {
            self.windows.pop_front();
            self.counts = self.counts.saturating_sub(1);
        }
        while self.windows.get(self.counts).is_some_and(|oldest| !self.reaches(oldest, 6)) {
            self.counts += 1;
        }
        let oldest = self.windows.front().map_or(start, |oldest| oldest.start);
        self.is_long = start - oldest > SHORT;
    }

    fn place(&self, block: u64) -> usize {
        block as usize & (self.blocks.len() - 1)
    }

    /// Whether all since the beginning of a window is among so many eighths of what is kept.
    fn reaches(&self, window: &Window, eighths: usize) -> bool {
        self.next - window.first <= (self.blocks.len() / 8 * eighths) as u64
            && self.foreign.reach(window.foreign, eighths)
    }

    /// What has come at the end of the last window.
    pub fn add_foreign(&mut self, foreign: &[Foreign]) {
        let first = self.foreign.add(foreign);
        if let Some(last) = self.windows.back_mut() {
            (last.foreign, last.count) = (first, foreign.len());
        }
    }

    /// From when on everything counts.
    pub fn oldest(&self) -> Time {
        self.windows.get(self.counts).map_or(Time::MAX, |oldest| oldest.start)
    }

    /// Whether everything is here since then.
    pub fn remembers(&self, time: Time) -> bool {
        self.windows.front().is_none_or(|oldest| oldest.start <= time)
    }

    /// What ran in the last window; none if that is forgotten.
    pub(super) fn last_window(&self) -> Option<LastWindow<'_>> {
        let &Window { start, first, .. } = self.windows.back()?;
        Some(LastWindow { start, first, rows: &self.last, common: self.common })
    }

    /// Who has scheduled the event with this key; none if that is forgotten, or was the same in all parts.
    #[inline(always)] // so that several that are asked for are waited for at once
    pub fn origin(&self, part: usize, key: Key) -> Option<Origin> {
        match self.drawn_by(key.number) {
            Some(by) => Some(Origin { part, by, number: key.number }),
            None => self.foreign_origin(key),
        }
    }

    /// The event that has drawn a number here; none if that is forgotten, or the number was left for other parts.
    #[inline(always)]
    fn drawn_by(&self, number: u64) -> Option<Key> {
        let mut block = number / BLOCK;
        let oldest = self.windows.front()?;
        if block < oldest.first {
            return None;
        }
        let row = |block: u64| Row(self.blocks[self.place(block)]);
        if let Link::Rest(blocks) = row(block).link() {
            block -= blocks;
        } else if number % BLOCK < ROOM {
            return None;
        }
        let start = if self.is_long { self.window_of(block)? } else { oldest }.start;
        let row = row(block);
        Some(Key { time: row.time_after(start), number: row.number(block, self.common)? })
    }

    /// Who has drawn this number is asked for soon.
    #[inline]
    pub fn fetch(&self, number: u64) {
        fetch(&self.blocks[self.place(number / BLOCK)]);
    }

    /// The number of the event that has drawn this one; where that is forgotten, one that is forgotten as well.
    pub fn number_by(&self, number: u64) -> u64 {
        self.drawn_by(number).map_or(self.common, |by| by.number)
    }

    #[inline(never)]
    fn foreign_origin(&self, key: Key) -> Option<Origin> {
        let window = self.window_of(key.number / BLOCK)?;
        let foreign = self.foreign.slice(window.foreign, window.count);
        let found = foreign.binary_search_by_key(&key, |foreign| foreign.key).ok()?;
        Some(foreign[found].origin)
    }

    /// Mostly it is one of the last.
    fn window_of(&self, block: u64) -> Option<&Window> {
        let recent = self.windows.iter().rev().take(RECENT).find(|window| window.first <= block);
        recent.or_else(|| {
            let after = self.windows.partition_point(|window| window.first <= block);
            self.windows.get(after.checked_sub(1)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::event::{Event, EventQueue, RunEvent};

    /// How long windows are here.
    const LENGTH: u64 = 1_000;

    /// Windows one after the other, and what has drawn which numbers in them.
    struct Run {
        queue: EventQueue,
        history: History,
        windows: u64,
        /// By window, the events that have drawn numbers, each with those.
        drawn: Vec<Vec<(Key, Vec<u64>)>>,
    }

    impl Run {
        fn new(blocks: usize) -> Self {
            let mut queue = EventQueue::default();
            queue.draw(100);
            let history = History::new(queue.keep_journal(), blocks);
            Run { queue, history, windows: 0, drawn: Vec::new() }
        }

        /// In the next window one event for each of these draws as many numbers.
        fn window(&mut self, draws: impl Iterator<Item = u64>) {
            let start = Time(LENGTH * self.windows);
            self.queue.begin_window(start);
            let event = |(i, count)| {
                let key = Key { time: start + Time(i), number: i };
                self.queue.insert(key, Event::Run(RunEvent::Stop, 0));
                assert!(self.queue.next(key.time).is_some() && self.queue.note_running());
                (key, (0..count).map(|_| self.queue.draw(1)).collect())
            };
            self.drawn.push((0..).zip(draws).map(event).collect());
            self.queue.end_window(&mut self.history);
            self.windows += 1;
        }

        /// Whether it is remembered who has drawn the numbers of a window.
        fn finds(&self, window: u64) -> bool {
            self.drawn[window as usize].iter().all(|(by, numbers)| {
                numbers.iter().all(|&number| {
                    let found = self.history.origin(3, Key { time: by.time + Time(9), number });
                    found == Some(Origin { part: 3, by: *by, number })
                })
            })
        }
    }

    /// As many as a block has, more, and none; where the ring begins anew, too.
    #[test]
    fn who_has_drawn_a_number_is_found() {
        let mut run = Run::new(1 << 10);
        for window in 0..200_u64 {
            let draws = [1, 3, 0, 16, 17, 0, 0, 200, 1, 80, 81];
            run.window(
                draws.into_iter().cycle().skip(window as usize % 11).take(window as usize % 14),
            );
            for near in window.saturating_sub(15)..=window {
                assert!(run.finds(near), "of window {near} after {window}");
            }
        }
    }

    /// Whoever is a window behind still finds all that counted then.
    #[test]
    fn what_counts_is_there_for_a_window_longer() {
        let mut run = Run::new(256);
        let (mut counted, mut x) = (Time::ZERO, 7_u64);
        for window in 0..500 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            run.window(std::iter::repeat_n(1, 1 + (x >> 33) as usize % 30));
            let first = counted.0 / LENGTH;
            assert!((first..=window).all(|near| run.finds(near)), "window {window}");
            assert!(run.history.remembers(counted) && run.history.oldest() >= counted);
            counted = run.history.oldest();
        }
        assert!(counted > Time(480 * LENGTH) && !run.finds(460));
    }

    #[test]
    fn a_window_too_large_to_remember_counts_as_forgotten() {
        let mut run = Run::new(64);
        run.window([1; 3].into_iter());
        run.window([1; 55].into_iter());
        assert!(run.finds(0) && run.finds(1));
        assert_eq!(run.history.oldest(), Time::MAX);
        run.window([1; 100].into_iter());
        assert_eq!(run.history.oldest(), Time::MAX);
        assert!(!(0..3).any(|window| run.finds(window)));
        run.window([1; 3].into_iter());
        assert_eq!(run.history.oldest(), Time(3 * LENGTH));
        assert!(run.finds(3));
    }

    #[test]
    fn times_are_told_however_long_ago() {
        let mut run = Run::new(1 << 10);
        for window in 0..20 {
            run.window([1; 5].into_iter());
            assert!((0..=window).all(|near| run.finds(near)));
            run.windows += SHORT.0 / LENGTH - 1;
        }
    }
}
