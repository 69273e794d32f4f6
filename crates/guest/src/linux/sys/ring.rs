//! Packets that hosts are to receive, each at its time, and what their sockets are to read then: one system call for all of
//! them (io_uring(7)).

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;

use libc::{c_int, c_long, c_void};

use super::checked;
use super::memory::Shared;

/// <linux/io_uring.h>
const SETUP_SINGLE_ISSUER: u32 = 1 << 12;
const SETUP_DEFER_TASKRUN: u32 = 1 << 13;
const FEATURE_SINGLE_MMAP: u32 = 1;
const ENTRIES_AT: libc::off_t = 0x1000_0000;
const ENTER_GETEVENTS: u32 = 1;
const NOP: u8 = 0;
const POLL_ADD: u8 = 6;
const TIMEOUT: u8 = 11;
const TIMEOUT_REMOVE: u8 = 12;
const WRITE: u8 = 23;
const RECV: u8 = 27;
const TIMEOUT_ABS: u32 = 1;
const TIMEOUT_ETIME_SUCCESS: u32 = 1 << 5;
/// The next entry begins when this one has succeeded; or, the second, has ended.
const LINK: u8 = 1 << 2;
const HARDLINK: u8 = 1 << 3;
const SKIP_SUCCESS: u8 = 1 << 6;

/// Entries that are submitted at once, at most.
const ENTRIES: u32 = 256;
/// Packets that are handed over at once, at most.
pub const MOST: usize = 60;
/// What an entry's completion is known by, times [`MOST`] with the number of the packet.
const WAITED: u64 = 0;
const WRITTEN: u64 = 1;
const READ: u64 = 2;
const ROOM: u64 = 3;
const OTHER: u64 = 4;

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Offsets {
    head: u32,
    tail: u32,
    mask: u32,
    entries: u32,
    /// Of the first ring: flags, dropped, and the array.  Of the second: overflow, the completions, and flags.
    others: [u32; 3],
    reserved: u32,
    address: u64,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Parameters {
    submissions: u32,
    completions: u32,
    flags: u32,
    thread: [u32; 2],
    features: u32,
    reserved: [u32; 4],
    submission: Offsets,
    completion: Offsets,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Entry {
    code: u8,
    flags: u8,
    priority: u16,
    file: i32,
    offset: u64,
    address: u64,
    length: u32,
    flags_of_code: u32,
    token: u64,
    rest: [u64; 3],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Completion {
    token: u64,
    result: i32,
    flags: u32,
}

/// A packet that a host is to receive.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// `CLOCK_MONOTONIC`
    pub at_ns: u64,
    /// The device's file.
    pub device: RawFd,
    pub headers: &'a [u8],
    /// Zeros behind them.
    pub payload: usize,
    /// The socket that reads what has come, and forgets it.
    pub reader: Option<RawFd>,
}

/// How far the kernel is with the packets that it was handed last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reached {
    /// They have come to their hosts.
    pub count: usize,
    /// A socket has room, or one may have had.
    pub has_room: bool,
}

#[derive(Debug)]
pub struct Ring {
    file: OwnedFd,
    /// Both rings, and the entries that the first one lists.
    rings: Shared,
    entries: Shared,
    shape: Shape,
    /// What is submitted at the next call.
    queued: u32,
    /// The packets, by their numbers.
    packets: Vec<Vec<u8>>,
    /// When they are due, in seconds and ns.
    times: [[u64; 2]; MOST],
    /// The number of packets that were handed over, and of those that have come.
    handed: usize,
    come: usize,
    /// Of those that were taken back.
    gone: usize,
    has_reader: Vec<bool>,
    /// What sockets have read, by the packet's number: a count, or an error as the kernel has them.
    results: Vec<i32>,
    is_watching: bool,
    has_room: bool,
    is_cancelled: bool,
}

/// Where the kernel has put what in the rings: tail, mask and array of submissions, and completions.
#[derive(Clone, Copy, Debug)]
struct Shape {
    tail: usize,
    mask: u32,
    array: usize,
    done_head: usize,
    done_tail: usize,
    done_mask: u32,
    done: usize,
}

impl Ring {
    pub fn new() -> Result<Self> {
        let mut parameters = Parameters {
            flags: SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN,
            ..Parameters::default()
        };
        // SAFETY: the kernel reads and writes the parameters; the descriptor is new and ours.
        let file = unsafe {
            let made = libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut parameters);
            OwnedFd::from_raw_fd(checked(made as c_int)?)
        };
        if parameters.features & FEATURE_SINGLE_MMAP == 0 {
            return Err(Error::other("the kernel's io_uring is too old"));
        }
        let (first, second) = (parameters.submission, parameters.completion);
        let ends = [
            first.others[2] as usize + 4 * parameters.submissions as usize,
            second.others[1] as usize + size_of::<Completion>() * parameters.completions as usize,
        ];
        Ok(Ring {
            rings: Shared::new(&file, ends[0].max(ends[1]), 0)?,
            entries: Shared::new(&file, ENTRIES as usize * size_of::<Entry>(), ENTRIES_AT)?,
            shape: Shape {
                tail: first.tail as usize,
                mask: parameters.submissions - 1,
                array: first.others[2] as usize,
                done_head: second.head as usize,
                done_tail: second.tail as usize,
                done_mask: parameters.completions - 1,
                done: second.others[1] as usize,
            },
            file,
            queued: 0,
            packets: vec![Vec::new(); MOST],
            times: [[0; 2]; MOST],
            handed: 0,
            come: 0,
            gone: 0,
            has_reader: Vec::new(),
            results: Vec::new(),
            is_watching: false,
            has_room: false,
            is_cancelled: false,
        })
    }

    /// Some of the packets have not come yet.
    pub fn is_busy(&self) -> bool {
        self.come < self.handed
    }

    /// What the reader of a packet that has come has read.
    pub fn read(&self, number: usize) -> Result<Option<usize>> {
        match self.results[number] {
            count @ 0.. => Ok(Some(count as usize)),
            error if error == -libc::EAGAIN => Ok(None),
            error => Err(Error::from_raw_os_error(-error)),
        }
    }

    /// Packets to be handed over by the next [`Ring::wait`], in the order in which they are due, [`MOST`] of them at most; none
    /// may be on their way.
    pub fn hand_over(&mut self, deliveries: &[Delivery<'_>]) {
        (self.handed, self.come, self.gone) = (deliveries.len(), 0, 0);
        self.has_reader.clear();
        self.results.clear();
        for (number, delivery) in deliveries.iter().enumerate() {
            let is_last = number + 1 == deliveries.len();
            // What follows waits for its own time, whatever there was to be read.
            let on = if is_last { 0 } else { HARDLINK };
            self.times[number] = [delivery.at_ns / 1_000_000_000, delivery.at_ns % 1_000_000_000];
            self.queue(&Entry {
                code: TIMEOUT,
                flags: LINK | SKIP_SUCCESS,
                file: -1,
                address: (&raw const self.times[number]) as u64,
                length: 1,
                flags_of_code: TIMEOUT_ABS | TIMEOUT_ETIME_SUCCESS,
                token: WAITED * MOST as u64 + number as u64,
                ..Entry::default()
            });
            let packet = &mut self.packets[number];
            let length = delivery.headers.len() + delivery.payload;
            packet.clear();
            packet.extend_from_slice(delivery.headers);
            packet.resize(length, 0);
            let address = packet.as_ptr() as u64;
            let has_reader = delivery.reader.is_some();
            self.queue(&Entry {
                code: WRITE,
                flags: if has_reader { LINK | SKIP_SUCCESS } else { on },
                file: delivery.device,
                offset: u64::MAX,
                address,
                length: length as u32,
                token: WRITTEN * MOST as u64 + number as u64,
                ..Entry::default()
            });
            if let Some(reader) = delivery.reader {
                self.queue(&Entry {
                    code: RECV,
                    flags: on,
                    file: reader,
                    length: 1 << 30,
                    // With `MSG_TRUNC` TCP writes nothing (tcp(7)).
                    flags_of_code: (libc::MSG_TRUNC | libc::MSG_DONTWAIT) as u32,
                    token: READ * MOST as u64 + number as u64,
                    ..Entry::default()
                });
            }
            self.has_reader.push(has_reader);
            self.results.push(0);
        }
    }

    /// Waits until all packets have come, or `room` has something to say.
    pub fn wait(&mut self, room: RawFd) -> Result<Reached> {
        if !self.is_watching {
            self.watch(room);
        }
        self.has_room = false;
        let left = self.handed - self.come;
        self.enter(left as u32)?;
        self.collect()?;
        Ok(Reached { count: self.come, has_room: self.has_room })
    }

    /// Takes packets back that have not come yet.
    pub fn cancel(&mut self) -> Result<()> {
        self.is_cancelled = true;
        self.queue(&Entry {
            code: TIMEOUT_REMOVE,
            address: WAITED * MOST as u64 + self.come as u64,
            token: OTHER * MOST as u64,
            ..Entry::default()
        });
        while self.come + self.gone < self.handed {
            self.enter(1)?;
            self.collect()?;
        }
        (self.handed, self.is_cancelled) = (self.come, false);
        Ok(())
    }

    /// Whatever number of completions is waited for, this one is enough: others follow it at once.
    fn watch(&mut self, room: RawFd) {
        self.queue(&Entry {
            code: POLL_ADD,
            flags: HARDLINK,
            file: room,
            flags_of_code: libc::POLLIN as u32,
            token: ROOM * MOST as u64,
            ..Entry::default()
        });
        for number in 1..MOST {
            let flags = if number + 1 == MOST { 0 } else { HARDLINK };
            let token = OTHER * MOST as u64;
            self.queue(&Entry { code: NOP, flags, token, ..Entry::default() });
        }
        self.is_watching = true;
    }

    fn queue(&mut self, entry: &Entry) {
        assert!(self.queued < ENTRIES, "there is room for all of a call");
        let shape = self.shape;
        let tail = self.rings.word(shape.tail).load(Ordering::Relaxed);
        let number = tail & shape.mask;
        let place = self.entries.place(number as usize * size_of::<Entry>(), size_of::<Entry>());
        // SAFETY: the kernel has read what was there.
        unsafe { place.cast::<Entry>().write(*entry) };
        self.rings.word(shape.array + 4 * number as usize).store(number, Ordering::Relaxed);
        self.rings.word(shape.tail).store(tail.wrapping_add(1), Ordering::Release);
        self.queued += 1;
    }

    /// Submits what is queued, and waits for so many completions.
    fn enter(&mut self, completions: u32) -> Result<()> {
        let flags = if completions > 0 { ENTER_GETEVENTS } else { 0 };
        // SAFETY: entries refer to memory that outlives them; no signal mask.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.file.as_raw_fd(),
                self.queued,
                completions,
                flags,
                std::ptr::null::<c_void>(),
                0 as c_long,
            )
        };
        let taken = checked(taken as c_int)? as u32;
        if taken != self.queued {
            return Err(Error::other("the kernel has not taken all"));
        }
        self.queued = 0;
        Ok(())
    }

    /// Reads what has been completed.
    fn collect(&mut self) -> Result<()> {
        let shape = self.shape;
        let tail = self.rings.word(shape.done_tail).load(Ordering::Acquire);
        let mut head = self.rings.word(shape.done_head).load(Ordering::Relaxed);
        while head != tail {
            let at = shape.done + size_of::<Completion>() * (head & shape.done_mask) as usize;
            let place = self.rings.place(at, size_of::<Completion>());
            // SAFETY: the kernel has written this one, and leaves it until the head has passed.
            let done = unsafe { place.cast::<Completion>().read() };
            self.complete(done)?;
            head = head.wrapping_add(1);
        }
        self.rings.word(shape.done_head).store(head, Ordering::Release);
        Ok(())
    }

    fn complete(&mut self, done: Completion) -> Result<()> {
        let (kind, number) = (done.token / MOST as u64, (done.token % MOST as u64) as usize);
        let is_end = kind == READ || kind == WRITTEN && !self.has_reader[number];
        match kind {
            WAITED | WRITTEN | READ if done.result == -libc::ECANCELED && self.is_cancelled => {
                self.gone += usize::from(is_end);
            }
            ROOM => (self.is_watching, self.has_room) = (false, true),
            READ => {
                self.results[number] = done.result;
                self.come += 1;
            }
            WRITTEN if done.result >= 0 && is_end => self.come += 1,
            WAITED | WRITTEN => return Err(Error::from_raw_os_error(-done.result)),
            _ => {}
        }
        Ok(())
    }
}
