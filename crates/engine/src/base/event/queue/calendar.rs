//! Events that are due later, by day: to put one off costs a look at its time, however many there are.  A day is put
//! in order when it comes.

use super::{Entry, NEVER};

/// A day has so many nanoseconds, as a power of two: of what happens on a network's many wires, and of the timers of many
/// connections, of which most wait for 0.2 or for 1 s.
pub const NETWORK: u32 = 5;
pub const TIMERS: u32 = 23;

/// So many days are kept apart, as many as bits in the word that says which have something.
const DAYS: u64 = u128::BITS as u64;

#[derive(Debug)]
pub struct Calendar {
    day_bits: u32,
    /// By day, over and over again.
    days: Vec<Vec<Entry>>,
    /// Which of them have something.
    is_busy: u128,
    /// Nothing is before this day.
    today: u64,
}

impl Calendar {
    pub fn new(day_bits: u32) -> Self {
        Calendar { day_bits, days: vec![Vec::new(); DAYS as usize], is_busy: 0, today: 0 }
    }

    fn place(day: u64) -> usize {
        (day % DAYS) as usize
    }

    /// Puts off an entry to its day, if that is after the one of `last` and not too far away.  Returns the beginning of
    /// the day.
    pub fn put(&mut self, entry: Entry, last: Entry) -> Option<Entry> {
        let (day, last) = (entry.time >> self.day_bits, last.time >> self.day_bits);
        if self.is_busy == 0 {
            self.today = self.today.max(last);
        }
        if day <= last || day.wrapping_sub(self.today) >= DAYS {
            return None;
        }
        self.days[Calendar::place(day)].push(entry);
        self.is_busy |= 1 << Calendar::place(day);
        Some(self.beginning(day))
    }

    /// Before all of a day.
    fn beginning(&self, day: u64) -> Entry {
        Entry { time: day << self.day_bits, word: 0 }
    }

    fn first_day(&self) -> u64 {
        let from_today = self.is_busy.rotate_right((self.today % DAYS) as u32);
        self.today + u64::from(from_today.trailing_zeros())
    }

    /// The beginning of the first day that has something; [`NEVER`] if none has.
    pub fn first(&self) -> Entry {
        if self.is_busy == 0 { NEVER } else { self.beginning(self.first_day()) }
    }

    /// What that day has.  The next one is today then.
    pub fn take_first(&mut self) -> Vec<Entry> {
        let day = self.first_day();
        self.today = day + 1;
        self.is_busy &= !(1 << Calendar::place(day));
        std::mem::take(&mut self.days[Calendar::place(day)])
    }

    /// The end of the day that was taken last.
    pub fn end(&self) -> Entry {
        self.beginning(self.today)
    }

    /// The memory of the day that was taken last, to be used again.
    pub fn give_back(&mut self, mut entries: Vec<Entry>) {
        entries.clear();
        self.days[Calendar::place(self.today - 1)] = entries;
    }

    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.days.iter().flatten()
    }
}
