//! Segments as the kernel writes them, and as the engine carries them.

use ccperf_engine::base::seq::Seq;
use ccperf_engine::packet::{Ecn, Flags, Image, Options, Packet, SackBlock};

pub const PROTOCOL_TCP: u8 = 6;

/// Addresses and ports, as the header has them.
pub type Key = ([u8; 8], [u8; 4]);

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A segment that was read.
#[derive(Debug)]
pub struct Segment {
    /// Its numbers are those of the header.
    pub packet: Packet,
    pub key: Key,
    pub sacks: Vec<SackBlock>,
    pub image: Image,
}

/// None if these bytes are no whole headers of IPv4 and TCP.
pub fn read(bytes: &[u8]) -> Option<Segment> {
    if bytes.len() < 40 || bytes[0] >> 4 != 4 || bytes[9] != PROTOCOL_TCP {
        return None;
    }
    let (length, ip) = (usize::from(u16_at(bytes, 2)), usize::from(bytes[0] & 15) * 4);
    let header = bytes.get(ip..)?;
    let tcp = usize::from(header.get(12)? >> 4) * 4;
    if ip + tcp > bytes.len() || ip + tcp > size_of::<Image>() || ip + tcp > length {
        return None;
    }
    let mut packet = Packet {
        seq: Seq(u32_at(header, 4)),
        ack: Seq(u32_at(header, 8)),
        ip_bytes: length as u32,
        payload: (length - ip - tcp) as u16,
        window: u16_at(header, 14),
        // AE stands beside the length (RFC 9768 section 3.1).
        flags: Flags(u16::from(header[13]) | u16::from(header[12] & 1) << 8),
        ecn: Ecn::of(bytes[1]),
        ..Packet::default()
    };
    let sacks = options(&mut packet, &header[20..tcp]);
    let mut image = [0; size_of::<Image>()];
    image[..ip + tcp].copy_from_slice(&bytes[..ip + tcp]);
    let key = (bytes[12..20].try_into().ok()?, header[..4].try_into().ok()?);
    Some(Segment { packet, key, sacks, image })
}

/// What the engine knows of options; all of them stay in the image.
fn options(packet: &mut Packet, mut rest: &[u8]) -> Vec<SackBlock> {
    let (mut sacks, mut has_timestamps) = (Vec::new(), false);
    let (mut permits, mut shift) = (false, None);
    while let [kind, ..] = *rest {
        let length = match (kind, rest.get(1)) {
            (0, _) => break,
            (1, _) => 1,
            (_, Some(&length)) if length >= 2 && usize::from(length) <= rest.len() => length.into(),
            _ => break,
        };
        let (option, others) = rest.split_at(length);
        match (kind, length) {
            (3, 3) => shift = Some(option[2]),
            (4, 2) => permits = true,
            (5, 10..) => {
                let blocks = option[2..].chunks_exact(8);
                sacks.extend(blocks.map(|b| (Seq(u32_at(b, 0)), Seq(u32_at(b, 4)))));
            }
            (8, 10) => {
                has_timestamps = true;
                (packet.ts_val, packet.ts_ecr) = (u32_at(option, 2), u32_at(option, 6));
            }
            _ => {}
        }
        rest = others;
    }
    packet.options = Options::new(has_timestamps).with_syn(permits, shift);
    sacks
}

/// The bytes of the headers, as the network has left them: a queue may have marked the packet (RFC 3168, RFC 1624).
pub fn headers(image: &mut Image, ecn: Ecn) -> usize {
    let before = u16_at(image, 0);
    image[1] = image[1] & !3 | ecn as u8;
    let (after, sum) = (u16_at(image, 0), u16_at(image, 10));
    if before != after {
        let mut sum = u32::from(!sum) + u32::from(!before) + u32::from(after);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        image[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }
    let ip = usize::from(image[0] & 15) * 4;
    ip + usize::from(image[ip + 12] >> 4) * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071's sum over a header is all ones.
    fn is_right(header: &[u8]) -> bool {
        let sum: u32 = (0..10).map(|i| u32::from(u16_at(header, 2 * i))).sum();
        (sum & 0xffff) + (sum >> 16) == 0xffff
    }

    fn segment() -> Vec<u8> {
        let mut bytes = vec![
            0x45, 2, 0, 64, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 20, 0, 0, 1, // IP
            0xc0, 0, 0x13, 0x89, 0, 0, 0, 9, 0, 0, 0, 7, 0xb1, 0x10, 1, 0, 0, 0, 0, 0, // TCP
            1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 1, 5, 10, 0, 0, 0, 20, 0, 0, 0, 30,
        ];
        let sum: u32 = (0..10).map(|i| u32::from(u16_at(&bytes, 2 * i))).sum();
        let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn a_segment_has_the_numbers_of_its_headers() {
        let found = read(&segment()).unwrap();
        assert_eq!((found.packet.seq, found.packet.ack), (Seq(9), Seq(7)));
        assert_eq!((found.packet.ts_val, found.packet.ts_ecr), (5, 6));
        assert_eq!((found.packet.ip_bytes, found.packet.payload), (64, 0));
        assert_eq!(found.sacks, [(Seq(20), Seq(30))]);
        assert_eq!(found.packet.ecn, Ecn::Ect0);
        assert_eq!(found.packet.flags, Flags::ACK.with(Flags::AE));
        for end in 0..64 {
            read(&segment()[..end]); // does not fail
        }
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        let mut image = read(&segment()).unwrap().image;
        assert!(is_right(&image));
        assert_eq!(headers(&mut image, Ecn::Ce), 64);
        assert_eq!(image[1] & 3, 3);
        assert!(is_right(&image));
    }
}
