//! What a device sends, in memory that is shared with the kernel: packet_mmap(7), `TPACKET_V2`.

use std::io::Result;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;

use libc::{c_int, c_void};

use super::memory::Shared;
use super::{checked, set_option};

/// <linux/if_packet.h>
const PACKET_RX_RING: c_int = 5;
const PACKET_STATISTICS: c_int = 6;
const PACKET_VERSION: c_int = 10;
const TPACKET_V2: c_int = 1;
/// The bit of a slot's first word that says whose it is.
const USER: u32 = 1;
/// In a slot's head, how many bytes of the packet are here, and where they begin.
const HELD: usize = 8;
const BEGIN: usize = 12;
/// When it was sent, by the clock of days: seconds and ns.
const SECONDS: usize = 16;
const NANOSECONDS: usize = 20;
/// Room for head and headers; the payload is cut off.
const SLOT: usize = 256;
const BLOCK: usize = 1 << 16;
/// Packets that a host may send before it is looked at.
const SLOTS: usize = 1 << 14;

/// Headers of the packets that a device has sent, in their order.
#[derive(Debug)]
pub struct Tap {
    pub socket: OwnedFd,
    slots: Shared,
    next: usize,
}

impl Tap {
    /// Of the device with this number.
    pub fn new(device: u32) -> Result<Self> {
        let everything = (libc::ETH_P_ALL as u16).to_be();
        let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: the descriptor is new and ours.  With no protocol it hears nothing until it is bound.
        let socket =
            unsafe { OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?) };
        set_option(&socket, libc::SOL_PACKET, PACKET_VERSION, &TPACKET_V2.to_ne_bytes())?;
        let blocks = SLOTS * SLOT / BLOCK;
        let request = [BLOCK, blocks, SLOT, SLOTS].map(|number| (number as u32).to_ne_bytes());
        set_option(&socket, libc::SOL_PACKET, PACKET_RX_RING, &request.concat())?;
        let slots = Shared::new(&socket, SLOTS * SLOT, 0)?;
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: everything,
            sll_ifindex: device as c_int,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        // SAFETY: the kernel reads the address.
        checked(unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            )
        })?;
        Ok(Tap { socket, slots, next: 0 })
    }

    /// The next packet's slot, if there is a packet.
    fn slot(&self) -> Option<&[u8]> {
        let at = self.next * SLOT;
        let is_ours = self.slots.word(at).load(Ordering::Acquire) & USER != 0;
        let slot = self.slots.place(at, SLOT);
        // SAFETY: the slot is ours, and no longer than this.
        is_ours.then(|| unsafe { std::slice::from_raw_parts(slot.as_ptr(), SLOT) })
    }

    /// When the next packet was sent, in ns of the clock of days.
    pub fn next_ns(&self) -> Option<u64> {
        let slot = self.slot()?;
        Some(u64::from(word(slot, SECONDS)) * 1_000_000_000 + u64::from(word(slot, NANOSECONDS)))
    }

    /// The first bytes of the next packet, in `to`.  Returns how many.
    pub fn take(&mut self, to: &mut [u8]) -> Option<usize> {
        let slot = self.slot()?;
        let begin = usize::from(u16::from_ne_bytes([slot[BEGIN], slot[BEGIN + 1]]));
        let held = (word(slot, HELD) as usize).min(to.len());
        to[..held].copy_from_slice(&slot[begin..][..held]);
        self.slots.word(self.next * SLOT).store(0, Ordering::Release);
        self.next = (self.next + 1) % SLOTS;
        Some(held)
    }

    /// How many packets found no room.
    pub fn lost(&self) -> Result<u32> {
        let (mut counts, mut length) = ([0_u32; 2], 8);
        // SAFETY: the kernel writes no more than `length` bytes.
        checked(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                PACKET_STATISTICS,
                counts.as_mut_ptr().cast::<c_void>(),
                &raw mut length,
            )
        })?;
        Ok(counts[1])
    }
}

fn word(slot: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(slot[at..at + 4].try_into().expect("four"))
}
