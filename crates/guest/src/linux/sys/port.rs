//! A device in front of which a queue discipline of the kernel's stands, and whose transmitter is here: the module
//! `ccperf_port`.

use std::fs::File;
use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::checked;

const SEEN_HEADERS: usize = 128;
const NOTES_OF_A_CALL: usize = 64;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is transmitted now; the type of service has the mark.
    Given { service: u8 },
    /// A copy of one that was given.
    GivenAgain,
    /// Dropped; why, in the module's numbers.
    Dropped { reason: u8 },
}

/// Of one packet, by its number.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    pub packet: u32,
    pub fate: Fate,
}

/// As in the module.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct RawNote {
    packet: u32,
    fate: u8,
    service: u8,
    reason: u8,
    unused: u8,
}

#[derive(Debug)]
#[repr(C)]
struct Call {
    packet: u32,
    length: u16,
    held: u16,
    is_free: u32,
    notes: u32,
    now: u64,
    headers: [u8; SEEN_HEADERS],
    note: [RawNote; NOTES_OF_A_CALL],
}

/// `_IOWR('c', 1, struct call)`, <asm-generic/ioctl.h>.
const CALL: libc::c_ulong =
    (3 << 30) | ((size_of::<Call>() as libc::c_ulong) << 16) | ((b'c' as libc::c_ulong) << 8) | 1;

/// The device's file.
#[derive(Debug)]
pub struct Port {
    pub file: OwnedFd,
    call: Box<Call>,
}

impl Port {
    /// Of the device with this name.
    pub fn open(name: &str) -> Result<Self> {
        let file =
            File::options().read(true).write(true).open(Path::new("/proc/ccperf").join(name))?;
        let call = Box::new(Call {
            packet: 0,
            length: 0,
            held: 0,
            is_free: 0,
            notes: 0,
            now: 0,
            headers: [0; SEEN_HEADERS],
            note: [RawNote::default(); NOTES_OF_A_CALL],
        });
        Ok(Port { file: file.into(), call })
    }

    /// A packet comes, of `length` bytes that begin with `headers`.
    pub fn send(
        &mut self,
        packet: u32,
        length: u16,
        headers: &[u8],
        notes: &mut Vec<Note>,
    ) -> Result<u64> {
        let held = headers.len().min(SEEN_HEADERS);
        self.call.headers[..held].copy_from_slice(&headers[..held]);
        (self.call.packet, self.call.length, self.call.held) = (packet, length, held as u16);
        self.look(false, notes)
    }

    /// Appends what has become of packets since the last call, and returns the kernel's time.  `is_free`: the transmitter would
    /// take a packet.
    pub fn look(&mut self, is_free: bool, notes: &mut Vec<Note>) -> Result<u64> {
        self.call.is_free = is_free.into();
        loop {
            // SAFETY: the kernel reads and writes the structure and nothing else.
            checked(unsafe { libc::ioctl(self.file.as_raw_fd(), CALL as _, &raw mut *self.call) })?;
            (self.call.length, self.call.is_free) = (0, 0);
            let found = &self.call.note[..(self.call.notes as usize).min(NOTES_OF_A_CALL)];
            notes.extend(found.iter().map(RawNote::read));
            if found.len() < NOTES_OF_A_CALL {
                return Ok(self.call.now);
            }
        }
    }
}

impl RawNote {
    fn read(&self) -> Note {
        let fate = match self.fate {
            1 => Fate::Given { service: self.service },
            2 => Fate::GivenAgain,
            _ => Fate::Dropped { reason: self.reason },
        };
        Note { packet: self.packet, fate }
    }
}
