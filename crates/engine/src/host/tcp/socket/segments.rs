//! What a segment looks like: its fields, its options, and what has room in its header.

use super::parts::Receiving;
use super::{Environment, Socket};
use crate::base::seq::Seq;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::profile::Profile;
use crate::packet::{Beside, Flags, IP_HEADER, Options, Packet, SackBlock, SackBlocks, TCP_HEADER};

/// Option lengths in bytes: RFC 7323 sections 2.2 and 3.2, RFC 2018 sections 2 and 3, RFC 9293 section 3.7.1.
const TIMESTAMPS: u32 = 10;
const WINDOW_SCALE: u32 = 3;
const SACK_PERMITTED: u32 = 2;
const LARGEST_SEGMENT: u32 = 4;

/// What the header's length can say (RFC 9293 section 3.1).
const LONGEST_HEADER: u32 = 60;

impl<P: Profile> Socket<P> {
    /// The SACK blocks of a segment without data: as many as its header has room for.
    pub(super) fn sacks_to_send(&self, flags: Flags) -> &[SackBlock] {
        if !self.agreed.sack || !flags.has(Flags::ACK) {
            return &[];
        }
        let blocks = self.receiving.reassembly.sack_blocks();
        &blocks[..blocks.len().min(self.room_for_sacks())]
    }

    /// The same with what has come twice in front (RFC 2883 section 4), if something has.
    #[inline(always)]
    pub(super) fn duplicate_to_send(&mut self, flags: Flags) -> Option<(SackBlocks, usize)> {
        if !P::Acks::REPORTS_DUPLICATES || !self.agreed.sack || !flags.has(Flags::ACK) {
            return None;
        }
        let duplicate = self.receiving.acks.take_duplicate()?;
        let held = self.sacks_to_send(flags);
        let others = held.len().min(self.room_for_sacks() - 1);
        let mut blocks = [duplicate; 4];
        blocks[1..=others].copy_from_slice(&held[..others]);
        Some((blocks, 1 + others))
    }

    fn room_for_sacks(&self) -> usize {
        if self.agreed.timestamps { 3 } else { 4 }
    }

    /// A segment without data, with SACK blocks if it has some, and with the option of accurate ECN if that is due and
    /// there is room.  Apart, so that the usual one need not be in memory before it is in the network.
    #[inline(never)]
    pub(super) fn transmit_with_options<E: Environment>(
        &mut self,
        packet: Packet,
        mut beside: Beside,
        sacks: usize,
        env: &mut E,
    ) {
        let mut header = self.tcp_header(packet.flags, sacks as u32);
        let mut there = sacks as u8;
        if let Some(option) = self.ecn_option_to_send(packet.flags, LONGEST_HEADER - header) {
            header += option.bytes().next_multiple_of(4);
            there |= Packet::ECN_OPTION;
            beside.ecn_option = option;
        }
        let packet = Packet { ip_bytes: IP_HEADER + header, beside: there, ..packet };
        if there == 0 { env.transmit(packet) } else { env.transmit_with_options(packet, &beside) }
    }

    /// The window field for the next segment, in units of 2^`shift` bytes (RFC 7323 section 2.3).
    #[inline]
    pub(super) fn window_field(&mut self, shift: u8) -> u16 {
        let Receiving { reassembly, acks, advertised, .. } = &mut self.receiving;
        let next = reassembly.next_rx();
        if let Some(offered) = acks.offer(next, reassembly.held_memory(), shift) {
            *advertised = offered;
        } else if !reassembly.got_fin() {
            *advertised = (reassembly.max_rx() - next) as u32;
        }
        (*advertised >> shift).min(self.config.max_window) as u16
    }

    /// Headers with the options of the moment; no SACK blocks.
    #[inline(always)]
    pub(super) fn segment(&self, seq: Seq, flags: Flags, window: u16, len: u32) -> Packet {
        let header = self.tcp_header(flags, 0);
        Packet {
            seq,
            ack: self.receiving.reassembly.next_rx(),
            ts_val: if self.agreed.timestamps { self.tcb.now.ms() as u32 } else { 0 },
            ts_ecr: if self.agreed.timestamps { self.agreed.timestamp_to_echo } else { 0 },
            options: self.options(flags),
            ip_bytes: IP_HEADER + header + len,
            payload: len as u16,
            window,
            flags,
            ..Packet::default()
        }
    }

    fn options(&self, flags: Flags) -> Options {
        let options = Options::new(self.agreed.timestamps);
        if !flags.has(Flags::SYN) {
            return options;
        }
        options.with_syn(
            self.agreed.sack,
            self.agreed.window_scaling.then_some(self.agreed.receive_shift),
        )
    }

    /// TCP header bytes: options padded to whole words.
    fn tcp_header(&self, flags: Flags, sacks: u32) -> u32 {
        let syn = flags.has(Flags::SYN);
        let padded = |bytes: u32| if P::ALIGNS_OPTIONS { bytes.next_multiple_of(4) } else { bytes };
        let mut options = 0;
        if syn && P::ALIGNS_OPTIONS {
            options += LARGEST_SEGMENT;
        }
        // In a SYN the first two share their words.
        let mut first = 0;
        if self.agreed.timestamps {
            first += TIMESTAMPS;
        }
        if syn && self.agreed.sack {
            first += SACK_PERMITTED;
        }
        options += padded(first);
        if syn && self.agreed.window_scaling {
            options += padded(WINDOW_SCALE);
        }
        if sacks > 0 {
            options += padded(2 + 8 * sacks);
        }
        TCP_HEADER + options.next_multiple_of(4)
    }
}
