//! What produces a flow's data and what consumes it.

mod greedy;
mod source;

pub use greedy::Greedy;
pub use source::{Due, Source};

use ccperf_schema::lowered;

use crate::base::math::Divisor;
use crate::base::ring::Ring;
use crate::base::time::Time;

/// A flow's application, on both its ends.
#[derive(Debug)]
pub enum Application {
    Greedy(Greedy),
    /// Boxed, so that the greedy one stays small.
    Source(Box<Source>),
}

impl Application {
    /// `seed`: the run's replication, for the numbers that the application draws.
    pub fn new(application: &lowered::Application, seed: u64) -> Self {
        use lowered::Application as Lowered;
        match application {
            &Lowered::Greedy { bytes, write_bytes, eager } => {
                Application::Greedy(Greedy::new(bytes, write_bytes, eager))
            }
            Lowered::OnOff(on_off) => Application::Source(Box::new(Source::on_off(on_off, seed))),
            Lowered::Poisson(poisson) => {
                Application::Source(Box::new(Source::poisson(poisson, seed)))
            }
        }
    }

    /// What both ends know of the data.
    pub fn transfer(&self) -> &Transfer {
        match self {
            Application::Greedy(greedy) => &greedy.transfer,
            Application::Source(source) => &source.transfer,
        }
    }

    /// The receiver reads `bytes` at `now`.
    pub fn on_read(&mut self, now: Time, bytes: u32) {
        match self {
            Application::Greedy(greedy) => greedy.transfer.on_read(now, bytes),
            Application::Source(source) => source.transfer.on_read(now, bytes),
        }
    }

    /// The oldest of the writes on their way will be read soon.
    pub fn fetch_oldest(&self) {
        self.transfer().stamps.fetch_first();
    }

    /// Something will be written soon.
    pub fn fetch_next(&self) {
        self.transfer().stamps.fetch_next();
    }

    /// Whether the connection stays open when all is written.
    pub fn lasts(&self) -> bool {
        matches!(self, Application::Greedy(greedy) if greedy.lasts)
    }

    /// Bytes that have been written.
    pub fn written(&self) -> u64 {
        self.transfer().written
    }

    /// The application stops at `now`: no more writes.  Returns whether it closes at once.
    pub fn stop(&mut self, now: Time) -> bool {
        match self {
            Application::Greedy(greedy) => {
                greedy.stop();
                true
            }
            Application::Source(source) => source.stop(now),
        }
    }
}

/// The writes on their way from one application to the other, each with the time when it was created.
#[derive(Debug)]
#[repr(C)] // what both ends need of it lies together
pub struct Transfer {
    /// Bytes of a write; only the last one of a finite transfer may be shorter.
    write_size: Divisor,
    /// Where the transfer ends; 0: nowhere, or with a whole write.
    end: u64,
    pub read: u64,
    /// Of these, bytes of a write that has not been read completely.
    incomplete: u32,
    written: u64,
    /// For the read that last completed a write: its time minus that write's stamp.
    pub one_way_delay: Option<Time>,
    /// Creation stamps of writes that have not been read completely: (stamp, end offset).
    stamps: Ring<(Time, u64)>,
}

impl Transfer {
    fn new(write_size: u32, end: u64) -> Self {
        Transfer {
            write_size: Divisor::new(write_size),
            end,
            written: 0,
            stamps: Ring::default(),
            read: 0,
            incomplete: 0,
            one_way_delay: None,
        }
    }

    /// The socket has accepted `bytes`, created at `stamp`.
    #[inline]
    fn on_written(&mut self, stamp: Time, bytes: u32) {
        self.written += u64::from(bytes);
        match self.stamps.back_mut() {
            Some(last) if last.0 == stamp => last.1 = self.written,
            _ => self.stamps.push_back((stamp, self.written)),
        }
    }

    /// A finite transfer has been read to its end.
    pub fn has_arrived(&self) -> bool {
        self.end > 0 && self.read >= self.end
    }

    /// All of it has been read, and it goes on to `end`.
    fn go_on(&mut self, end: u64) {
        self.end = end;
        self.incomplete = 0;
    }

    /// What was written is on its way as datagrams, which have their stamps with them.
    pub fn send_off(&mut self) {
        self.stamps.clear();
    }

    /// A datagram of `bytes`, created at `stamp`, is read at `now`.
    pub fn on_datagram_read(&mut self, stamp: Time, now: Time, bytes: u32) {
        self.read += u64::from(bytes);
        self.one_way_delay = Some(now - stamp);
    }

    fn on_read(&mut self, now: Time, bytes: u32) {
        let before = self.read;
        self.read += u64::from(bytes);
        self.incomplete = self.write_size.remainder_of(self.incomplete + bytes);
        // The last write that is complete now.
        let complete = if self.end > 0 && self.read == self.end {
            self.read
        } else {
            self.read - u64::from(self.incomplete)
        };
        while self.stamps.front().is_some_and(|(_, end)| end < complete) {
            self.stamps.pop_front();
        }
        if complete > before
            && let Some((stamp, end)) = self.stamps.front()
        {
            self.one_way_delay = Some(now - stamp);
            if end == complete {
                self.stamps.pop_front();
            }
        }
    }
}
