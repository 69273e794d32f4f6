use super::Transfer;
use crate::base::time::Time;
use crate::host::tcp::Write;

/// An application that always has data (ns-3's `BulkSendApplication`), with its peer that reads all.
///
/// Data is produced in writes of a fixed size, each stamped when it is created.  A write that does not
/// fit into the send buffer keeps its stamp and waits.
#[derive(Debug)]
#[repr(C)] // what the reader asks for is in front
pub struct Greedy {
    pub transfer: Transfer,
    /// When the write that is waiting for room was created.
    waiting: Option<Time>,
    /// Bytes of the transfer; 0: endless.
    bytes: u64,
    /// Writes what fits, and does not wait for the connection.
    pub eager: bool,
    /// More may come when all is written: it leaves the connection open.
    pub lasts: bool,
    closed: bool,
}

impl Greedy {
    pub fn new(bytes: u64, write_size: u32, eager: bool) -> Self {
        let transfer = Transfer::new(write_size, bytes);
        Greedy { bytes, eager, lasts: false, closed: false, waiting: None, transfer }
    }

    /// Writes while there is room for whole writes; closes after the last byte of a finite transfer.
    #[inline(always)] // on every acknowledgement
    pub fn writable(&mut self, now: Time, free: u32) -> Write {
        if self.closed {
            return Write::default();
        }
        let transfer = &mut self.transfer;
        let size = transfer.write_size.get();
        let left = if self.bytes == 0 { u64::MAX } else { self.bytes - transfer.written };
        self.closed = left <= u64::from(free);
        let bytes = if self.closed {
            left as u32 // the last write may be a short one
        } else if self.eager {
            free
        } else {
            free - transfer.write_size.remainder_of(free)
        };
        let mut rest = bytes;
        if rest > 0
            && let Some(stamp) = self.waiting.take()
        {
            let first = rest.min(size);
            transfer.on_written(stamp, first);
            rest -= first;
        }
        if rest > 0 {
            transfer.on_written(now, rest);
        }
        if !self.closed && !self.eager {
            self.waiting.get_or_insert(now);
        }
        Write { bytes, size, close: self.closed && !self.lasts }
    }

    /// Writes all that there is room for, a part of its last write, too.
    pub fn fill(&mut self, now: Time, free: u32) -> Write {
        let bytes = self.left().min(free.into()) as u32;
        let size = self.transfer.write_size.get();
        let is_last = bytes > 0 && self.on_taken(now, bytes);
        Write { bytes, size, close: is_last && !self.lasts }
    }

    /// There are `bytes` more to write.
    pub fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.closed = false;
        self.transfer.go_on(self.bytes);
    }

    /// Bytes that are still to be written; none after the end.
    pub fn left(&self) -> u64 {
        match self.bytes {
            _ if self.closed => 0,
            0 => u64::MAX,
            bytes => bytes - self.transfer.written,
        }
    }

    /// A stack has taken `bytes` of what is [`Greedy::left`], and parts of writes, too.  Returns whether that was all.
    pub fn on_taken(&mut self, now: Time, bytes: u32) -> bool {
        let first = bytes.min(self.transfer.write_size.get());
        if let Some(stamp) = self.waiting.replace(now) {
            self.transfer.on_written(stamp, first);
            if bytes > first {
                self.transfer.on_written(now, bytes - first);
            }
        } else {
            self.transfer.on_written(now, bytes);
        }
        self.closed |= self.bytes > 0 && self.transfer.written >= self.bytes;
        self.closed
    }

    /// The application stops: no more writes.
    pub fn stop(&mut self) {
        self.closed = true;
    }
}
