//! Events that are due later, by day: to put one off costs a look at its time, however many there are.  A day is put
//! in order when it comes.
//!
//! What is further away waits by month, and further still by year, as in a hierarchical timing wheel (Varghese and
//! Lauck, 1987): a month is dealt out among its days when it comes.

use super::{Entry, NEVER};

/// A month has so many days, as a power of two, and a year so many months.  As many of each are kept apart, which are as
/// many as bits in the word that says which have something.
const PARTS: u32 = u128::BITS.trailing_zeros();
const SLOTS: usize = 1 << PARTS;

/// A day is as long as so many of what waits here take, one after another.
const OF_A_DAY: u64 = 32;

/// After so many it is asked whether they do.
const LOOKED_AT: u64 = 1024;

/// A day has so many nanoseconds at most, as a power of two.
const LONGEST_DAY: u32 = 40;

#[derive(Debug)]
pub struct Calendar {
    /// A day has so many nanoseconds, as a power of two.
    day_bits: u32,
    /// Of days, months and years.
    wheels: [Wheel; 3],
    /// How many have come since when, and at how many it is asked how fast they come.
    come: u64,
    since: u64,
    enough: u64,
}

#[derive(Debug)]
struct Wheel {
    /// By day, or what else it has, over and over again.
    slots: Box<[Vec<Entry>; SLOTS]>,
    /// Which of them have something.
    is_busy: u128,
    /// Nothing is before this one.
    today: u64,
}

impl Wheel {
    fn new() -> Self {
        Wheel { slots: Box::new([const { Vec::new() }; SLOTS]), is_busy: 0, today: 0 }
    }

    fn place(slot: u64) -> usize {
        slot as usize % SLOTS
    }

    fn first(&self) -> u64 {
        let from_today = self.is_busy.rotate_right(Wheel::place(self.today) as u32);
        self.today + u64::from(from_today.trailing_zeros())
    }

    /// Returns false if this is too far away, or before today.
    #[inline]
    fn put(&mut self, slot: u64, entry: Entry) -> bool {
        if slot.wrapping_sub(self.today) >= SLOTS as u64 {
            return false;
        }
        self.slots[Wheel::place(slot)].push(entry);
        self.is_busy |= 1 << Wheel::place(slot);
        true
    }

    /// What the first one has.  The next one is today then.
    fn take_first(&mut self) -> Vec<Entry> {
        let first = self.first();
        self.today = first + 1;
        self.is_busy &= !(1 << Wheel::place(first));
        std::mem::take(&mut self.slots[Wheel::place(first)])
    }

    /// The memory of what was taken last, to be used again.
    fn give_back(&mut self, mut entries: Vec<Entry>) {
        entries.clear();
        self.slots[Wheel::place(self.today - 1)] = entries;
    }
}

impl Calendar {
    /// Whose days have about so many nanoseconds, from now on, when so many wait.
    pub fn new(day: u64, now: u64, waiting: u64) -> Self {
        Calendar {
            day_bits: Calendar::bits(day),
            wheels: [(); 3].map(|()| Wheel::new()),
            come: 0,
            since: now,
            enough: LOOKED_AT + waiting,
        }
    }

    /// How long a day is to be where so many come in so many nanoseconds.
    pub fn day(count: u64, span: u64) -> u64 {
        span.saturating_mul(OF_A_DAY) / count
    }

    fn bits(day: u64) -> u32 {
        day.max(1).ilog2().min(LONGEST_DAY)
    }

    /// So many more have come that had to wait, the last of them now; not later than others before, if those were put
    /// off again.  Returns how long days should be if that is much shorter or longer than they are.
    pub fn note(&mut self, count: u64, now: u64) -> Option<u64> {
        self.come += count;
        if self.come < self.enough || now <= self.since {
            return None;
        }
        let day = Calendar::day(self.come, now - self.since);
        (self.come, self.since, self.enough) = (0, now, LOOKED_AT);
        (self.day_bits.abs_diff(Calendar::bits(day)) > 1).then_some(day)
    }

    /// Before all of a day, a month or a year.
    fn beginning(&self, level: usize, slot: u64) -> Entry {
        Entry { time: slot << (self.day_bits + PARTS * level as u32), word: 0 }
    }

    /// Puts off an entry to its day, if that is after the one of `last` and not too far away.  Returns the beginning of
    /// the day, or of the month or year in which it is.
    #[inline]
    pub fn put(&mut self, entry: Entry, last: Entry) -> Option<Entry> {
        let (day, last) = (entry.time >> self.day_bits, last.time >> self.day_bits);
        let [days, ..] = &mut self.wheels;
        days.today = days.today.max(last + 1);
        if days.put(day, entry) {
            return Some(self.beginning(0, day));
        }
        self.put_far_off(entry, day)
    }

    /// If it is not before today, it is more than a month away, and so in another month.
    #[inline(never)]
    fn put_far_off(&mut self, entry: Entry, day: u64) -> Option<Entry> {
        if day < self.wheels[0].today {
            return None;
        }
        for level in 1..self.wheels.len() {
            let today = self.wheels[level - 1].today >> PARTS;
            let (wheel, slot) = (&mut self.wheels[level], day >> (PARTS * level as u32));
            wheel.today = wheel.today.max(today);
            if wheel.put(slot, entry) {
                return Some(self.beginning(level, slot));
            }
        }
        None
    }

    /// The beginning of the first day, month or year that has something; [`NEVER`] if none has.
    pub fn first(&self) -> Entry {
        let wheels = self.wheels.iter().enumerate().filter(|(_, wheel)| wheel.is_busy != 0);
        wheels.map(|(level, wheel)| self.beginning(level, wheel.first())).min().unwrap_or(NEVER)
    }

    /// If it begins with a month or a year, deals that out.  Returns whether it did.
    pub fn deal_out_first(&mut self) -> bool {
        let first = self.first();
        let Some(level) = (1..self.wheels.len()).rev().find(|&level| {
            let wheel = &self.wheels[level];
            wheel.is_busy != 0 && self.beginning(level, wheel.first()) == first
        }) else {
            return false;
        };
        let [lower, wheel, ..] = &mut self.wheels[level - 1..] else { return false };
        let entries = wheel.take_first();
        lower.today = (wheel.today - 1) << PARTS;
        let shift = self.day_bits + PARTS * (level as u32 - 1);
        for &entry in &entries {
            let is_near = lower.put(entry.time >> shift, entry);
            debug_assert!(is_near, "a month has no more days than are kept apart");
        }
        wheel.give_back(entries);
        true
    }

    /// What the first day has, if it begins with one.
    pub fn take_first(&mut self) -> Vec<Entry> {
        self.wheels[0].take_first()
    }

    /// The end of the day that was taken last.
    pub fn end(&self) -> Entry {
        self.beginning(0, self.wheels[0].today)
    }

    /// The memory of the day that was taken last, to be used again.
    pub fn give_back(&mut self, entries: Vec<Entry>) {
        self.wheels[0].give_back(entries);
    }

    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.wheels.iter().flat_map(|wheel| wheel.slots.iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: u64) -> Entry {
        Entry { time, word: 1 }
    }

    #[test]
    fn days_come_in_order_however_far_away_they_were() {
        for day in [1, 20, 5_000, 1 << 30] {
            let mut calendar = Calendar::new(day, 0, 0);
            let (mut put, mut taken, mut x, mut last) = (0, 0, 7_u64, at(0));
            for round in 0..4_000 {
                if round < 2_000 {
                    for _ in 0..3 {
                        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let far = day << (x >> 60) << (x >> 33 & 7);
                        let entry = at(last.time + 1 + (x >> 5) % far);
                        if let Some(begin) = calendar.put(entry, last) {
                            assert!(last < begin && begin <= entry);
                            put += 1;
                        }
                    }
                }
                if calendar.first() == NEVER {
                    continue;
                }
                while calendar.deal_out_first() {}
                let begin = calendar.first();
                let mut entries = calendar.take_first();
                assert!(!entries.is_empty());
                assert!(entries.iter().all(|&entry| begin <= entry && entry < calendar.end()));
                entries.sort();
                assert!(last < entries[0]);
                last = entries[entries.len() - 1];
                taken += entries.len();
                calendar.give_back(entries);
                assert_eq!(calendar.all().count(), put - taken);
            }
            while calendar.first() != NEVER {
                while calendar.deal_out_first() {}
                taken += calendar.take_first().len();
            }
            assert!(put > 5_000, "{put}");
            assert_eq!(taken, put);
        }
    }

    /// One every 500 ns for a calendar of days of 1 ns, and then for one that has them right.
    #[test]
    fn days_are_made_as_long_as_some_of_what_waits_take() {
        let mut calendar = Calendar::new(1, 0, 0);
        assert_eq!(calendar.note(LOOKED_AT - 1, 511_500), None, "too few to tell");
        assert_eq!(calendar.note(1, 512_000), Some(500 * OF_A_DAY));
        let mut calendar = Calendar::new(1, 512_000, 40);
        assert_eq!(calendar.note(LOOKED_AT - 1, 512_000), None, "at one time");
        assert_eq!(calendar.note(1, 511_000), None, "before");
        assert_eq!(calendar.note(39, 1_043_500), None, "they would be put off anew too often");
        assert_eq!(calendar.note(1, 1_044_000), Some(500 * OF_A_DAY));
        let mut calendar = Calendar::new(500 * OF_A_DAY, 0, 0);
        assert_eq!(calendar.note(LOOKED_AT, 512_000), None, "as long already");
        assert_eq!(calendar.note(LOOKED_AT, 512_000 + 1_024_000), None, "long enough");
        assert_eq!(calendar.note(LOOKED_AT, 1_536_000 + 4_096_000), Some(4_000 * OF_A_DAY));
    }

    #[test]
    fn what_is_further_away_than_all_years_is_refused() {
        let mut calendar = Calendar::new(1, 0, 0);
        let months = 1 << (2 * PARTS);
        let years = months << PARTS;
        assert_eq!(calendar.put(at(years), at(0)), None);
        assert_eq!(
            calendar.put(at(years - 1), at(0)),
            Some(Entry { time: years - months, word: 0 })
        );
        assert_eq!(calendar.put(at(5), at(5)), None, "it may be before what is sorted");
    }
}
