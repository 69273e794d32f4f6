//! What produces a flow's data and what consumes it.

use std::collections::VecDeque;

use crate::lowered;
use crate::tcp::Write;
use crate::time::Time;

/// An application that always has data (ns-3's `BulkSendApplication`), with its peer that reads all.
///
/// Data is produced in writes of a fixed size, each stamped when it is created.  A write that does not
/// fit into the send buffer keeps its stamp and waits.
#[derive(Debug)]
pub struct Greedy {
    /// Bytes of the transfer; 0: endless.
    bytes: u64,
    write_size: u32,
    written: u64,
    closed: bool,
    /// When the write that is waiting for room was created.
    waiting: Option<Time>,
    /// Creation stamps of writes that have not been read completely: (stamp, end offset).
    stamps: VecDeque<(Time, u64)>,
    pub read: u64,
    /// Of these, bytes of a write that has not been read completely.
    incomplete: u32,
    /// For the read that last completed a write: its time minus that write's stamp.
    pub one_way_delay: Option<Time>,
}

impl Greedy {
    pub fn new(application: &lowered::Application) -> Self {
        let lowered::Application::Greedy { bytes, write_bytes } = *application;
        Greedy {
            bytes,
            write_size: write_bytes,
            written: 0,
            closed: false,
            waiting: None,
            stamps: VecDeque::new(),
            read: 0,
            incomplete: 0,
            one_way_delay: None,
        }
    }

    /// Writes while there is room for whole writes; closes after the last byte of a finite transfer.
    pub fn writable(&mut self, now: Time, free: u32) -> Write {
        if self.closed {
            return Write::default();
        }
        let size = u64::from(self.write_size);
        let left = if self.bytes == 0 { u64::MAX } else { self.bytes - self.written };
        let mut room = u64::from(free);
        let start = self.written;
        if left <= room {
            room = left; // the last write may be a short one
        } else {
            room -= u64::from(free % self.write_size);
        }
        let mut rest = room;
        if rest > 0
            && let Some(stamp) = self.waiting.take()
        {
            let first = rest.min(size);
            self.push_stamp(stamp, first);
            rest -= first;
        }
        if rest > 0 {
            self.push_stamp(now, rest);
        }
        if room < left {
            self.waiting.get_or_insert(now);
        }
        self.closed = room == left;
        Write { bytes: (self.written - start) as u32, size: self.write_size, close: self.closed }
    }

    /// The application stops: no more writes.
    pub fn stop(&mut self) {
        self.closed = true;
    }

    /// The receiver reads `bytes` at `now`.
    pub fn on_read(&mut self, now: Time, bytes: u32) {
        let before = self.read;
        self.read += u64::from(bytes);
        self.incomplete = (self.incomplete + bytes) % self.write_size;
        // The last write that is complete now.
        let complete = if self.bytes > 0 && self.read == self.bytes {
            self.read
        } else {
            self.read - u64::from(self.incomplete)
        };
        while self.stamps.front().is_some_and(|&(_, end)| end < complete) {
            self.stamps.pop_front();
        }
        if complete > before
            && let Some(&(stamp, end)) = self.stamps.front()
        {
            self.one_way_delay = Some(now - stamp);
            if end == complete {
                self.stamps.pop_front();
            }
        }
    }

    fn push_stamp(&mut self, stamp: Time, bytes: u64) {
        self.written += bytes;
        match self.stamps.back_mut() {
            Some(last) if last.0 == stamp => last.1 = self.written,
            _ => self.stamps.push_back((stamp, self.written)),
        }
    }
}
