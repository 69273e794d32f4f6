//! A packet capture in the format pcapng (draft-ietf-opsawg-pcapng), as `tcpdump` on the hosts where
//! flows and pings begin would make it: what they start to transmit, and what arrives there.
//!
//! Payload is not simulated, so packets are captured up to the end of their headers; their lengths
//! are whole. Checksums are those of a payload of zeros.

use std::io::{self, Write};

use crate::base::time::Time;
use crate::packet::{
    Flags, FlowKey, FlowKeys, Fragment, Headers, ICMP_HEADER, IP_HEADER, Options, PROTOCOL_ICMP,
    PROTOCOL_UDP, Packet, TCP_HEADER, UDP_HEADER,
};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Packets begin with their IP header.
const LINKTYPE_RAW: u16 = 101;
const TIME_TO_LIVE: u8 = 64;
const DO_NOT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;

/// A flow or ping as a host's network device sees it.
#[derive(Debug)]
pub struct Conversation {
    /// The direction of a link that its packets leave the source on, and the one that replies come
    /// back on.
    pub out: u32,
    pub back: u32,
    /// Index of the source's device among the capture's interfaces.
    pub interface: u32,
}

/// What a capture of some conversations needs to know.
#[derive(Debug)]
pub struct Capture {
    conversations: Vec<Conversation>,
    keys: FlowKeys,
    /// The block that is being written, reused.
    block: Vec<u8>,
}

impl Capture {
    /// Begins a file: `interfaces` are the names of the sources' devices.
    pub fn new(
        out: &mut dyn Write,
        interfaces: &[String],
        conversations: Vec<Conversation>,
        keys: FlowKeys,
    ) -> io::Result<Self> {
        let mut capture = Capture { conversations, keys, block: Vec::with_capacity(256) };
        let application = concat!("ccperf ", env!("CARGO_PKG_VERSION"));
        capture.block(out, SECTION, |body| {
            body.extend(0x1a2b_3c4d_u32.to_le_bytes());
            body.extend([1, 0, 0, 0]); // version 1.0
            body.extend((-1_i64).to_le_bytes()); // of a length that is not known yet
            option(body, 4, application.as_bytes());
            option(body, 0, &[]);
        })?;
        for name in interfaces {
            capture.block(out, INTERFACE, |body| {
                body.extend(LINKTYPE_RAW.to_le_bytes());
                body.extend([0; 2]);
                body.extend(0_u32.to_le_bytes()); // no limit of what is captured
                option(body, 2, name.as_bytes());
                option(body, 9, &[9]); // times are in ns
                option(body, 0, &[]);
            })?;
        }
        Ok(capture)
    }

    /// A packet starts transmission on `port`.
    pub fn sent(
        &mut self,
        out: &mut dyn Write,
        now: Time,
        port: u32,
        p: Headers<'_>,
    ) -> io::Result<()> {
        let known = self.conversations.get(p.packet.flow as usize);
        if !p.packet.backward && known.is_some_and(|conversation| conversation.out == port) {
            self.write(out, now, p)?;
        }
        Ok(())
    }

    /// A packet has arrived over `port`.
    pub fn arrived(
        &mut self,
        out: &mut dyn Write,
        now: Time,
        port: u32,
        p: Headers<'_>,
    ) -> io::Result<()> {
        let known = self.conversations.get(p.packet.flow as usize);
        if p.packet.backward && known.is_some_and(|conversation| conversation.back == port) {
            self.write(out, now, p)?;
        }
        Ok(())
    }

    fn write(&mut self, out: &mut dyn Write, now: Time, p: Headers<'_>) -> io::Result<()> {
        let headers = headers(&self.keys, p);
        let interface = self.conversations[p.packet.flow as usize].interface;
        self.block(out, ENHANCED_PACKET, |body| {
            body.extend(interface.to_le_bytes());
            body.extend(((now.0 >> 32) as u32).to_le_bytes());
            body.extend((now.0 as u32).to_le_bytes());
            body.extend((headers.len() as u32).to_le_bytes());
            body.extend(p.packet.ip_bytes.to_le_bytes());
            padded(body, &headers);
        })
    }

    /// Writes a block: its type, its length, what `fill` puts in it, its length again.
    fn block(
        &mut self,
        out: &mut dyn Write,
        kind: u32,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
        fill(&mut self.block);
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend(length);
        out.write_all(&self.block)
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    padded(body, value);
}

/// Appends bytes, and zeros up to a multiple of four.
fn padded(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend(bytes);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// The headers of a packet of the engine's, as they stand on the wire.
pub fn headers(keys: &FlowKeys, headers: Headers<'_>) -> Vec<u8> {
    let p = headers.packet;
    let key = keys.of(p);
    let mut bytes = ip_header(key, keys.service(p), p);
    match key.protocol {
        _ if !p.has_transport_header() => {}
        PROTOCOL_ICMP if is_about_fragments(keys, p) => bytes.extend(time_exceeded(keys, p)),
        PROTOCOL_ICMP if is_about_a_datagram(keys, p) => bytes.extend(port_unreachable(keys, p)),
        PROTOCOL_ICMP => bytes.extend(icmp_header(p)),
        PROTOCOL_UDP => bytes.extend(udp_header(key, p)),
        _ => bytes.extend(tcp_header(key, headers)),
    }
    bytes
}

/// RFC 791 section 3.1.
fn ip_header(key: &FlowKey, service: u8, p: &Packet) -> Vec<u8> {
    let mut header = vec![0x45, service | p.ecn as u8];
    header.extend((p.ip_bytes as u16).to_be_bytes());
    let (identification, place) = match p.fragment() {
        Some(Fragment { identification, offset, more }) => {
            (identification, offset / 8 + if more { MORE_FRAGMENTS } else { 0 })
        }
        None => (0, DO_NOT_FRAGMENT),
    };
    header.extend(identification.to_be_bytes());
    header.extend(place.to_be_bytes());
    header.extend([TIME_TO_LIVE, key.protocol, 0, 0]);
    header.extend(key.source.to_be_bytes());
    header.extend(key.destination.to_be_bytes());
    let sum = checksum(&header, 0);
    header[10..12].copy_from_slice(&sum);
    header
}

fn is_about_a_datagram(keys: &FlowKeys, p: &Packet) -> bool {
    p.backward && keys.keys[p.flow as usize][0].protocol == PROTOCOL_UDP
}

/// RFC 792, destination (3) and port (3) unreachable, with what it quotes: the header of IP and that of
/// UDP. How long the datagram was is not kept.
fn port_unreachable(keys: &FlowKeys, p: &Packet) -> Vec<u8> {
    let (ip_bytes, options) = (IP_HEADER + UDP_HEADER, Options::new(false));
    let quoted = Packet { ip_bytes, options, backward: false, ..*p };
    let key = keys.of(&quoted);
    let mut message = vec![3, 3, 0, 0, 0, 0, 0, 0];
    message.extend(ip_header(key, keys.service(&quoted), &quoted));
    message.extend(udp_header(key, &quoted));
    let sum = checksum(&message, 0);
    message[2..4].copy_from_slice(&sum);
    message
}

/// What has no ports belongs to flows by their order.
fn is_about_fragments(keys: &FlowKeys, p: &Packet) -> bool {
    p.backward && is_portless(&keys.keys[p.flow as usize])
}

fn is_portless(ways: &[FlowKey; 2]) -> bool {
    ways[0].source_port == 0 && ways[0].protocol != PROTOCOL_ICMP
}

/// RFC 792, time (11) for reassembly (1) exceeded, with what it quotes: the header of IP, ports, and four
/// bytes more.
fn time_exceeded(keys: &FlowKeys, p: &Packet) -> Vec<u8> {
    let first = keys.keys.iter().position(is_portless).unwrap_or(0) as u32;
    let quoted = Packet { flow: p.flow - first, backward: false, ..*p };
    let key = keys.of(&quoted);
    // Of UDP's header alone: how long the datagram was is not kept.
    let length = if key.protocol == PROTOCOL_UDP { UDP_HEADER as u16 } else { 0 };
    let mut message = vec![11, 1, 0, 0, 0, 0, 0, 0];
    message.extend(ip_header(key, keys.service(&quoted), &quoted));
    message.extend(
        [key.source_port, key.destination_port, length, 0].into_iter().flat_map(u16::to_be_bytes),
    );
    let sum = checksum(&message, 0);
    message[2..4].copy_from_slice(&sum);
    message
}

/// RFC 792, echo (8) or echo reply (0).
fn icmp_header(p: &Packet) -> Vec<u8> {
    let mut header = vec![if p.backward { 0 } else { 8 }, 0, 0, 0];
    header.extend((p.flow as u16).to_be_bytes());
    header.extend((p.seq.0 as u16).to_be_bytes());
    debug_assert_eq!(header.len(), ICMP_HEADER as usize);
    let sum = checksum(&header, 0);
    header[2..4].copy_from_slice(&sum);
    header
}

/// RFC 768, without a checksum.
fn udp_header(key: &FlowKey, p: &Packet) -> Vec<u8> {
    let length = (p.ip_bytes - IP_HEADER) as u16;
    [key.source_port, key.destination_port, length, 0]
        .into_iter()
        .flat_map(u16::to_be_bytes)
        .collect()
}

/// RFC 9293 section 3.1. The options fill the room that the packet's size leaves them.
fn tcp_header(key: &FlowKey, headers: Headers<'_>) -> Vec<u8> {
    let p = headers.packet;
    let length = (p.ip_bytes - IP_HEADER) as usize - usize::from(p.payload);
    let options = options(headers);
    debug_assert!(options.len() + TCP_HEADER as usize <= length);
    let mut header = Vec::with_capacity(length);
    header.extend(key.source_port.to_be_bytes());
    header.extend(key.destination_port.to_be_bytes());
    header.extend(p.seq.0.to_be_bytes());
    header.extend(p.ack.0.to_be_bytes());
    // AE stands beside the length (RFC 9768 section 3.1).
    let ae = u8::from(p.flags.has(Flags::AE));
    header.extend([(length as u8 / 4) << 4 | ae, p.flags.0 as u8]);
    header.extend(p.window.to_be_bytes());
    header.extend([0; 4]);
    header.extend(options);
    header.resize(length, 0); // "end of option list"
    let mut pseudo = Vec::with_capacity(12);
    pseudo.extend(key.source.to_be_bytes());
    pseudo.extend(key.destination.to_be_bytes());
    pseudo.extend([0, key.protocol]);
    pseudo.extend(((p.ip_bytes - IP_HEADER) as u16).to_be_bytes());
    let sum = checksum(&header, sum(&pseudo));
    header[16..18].copy_from_slice(&sum);
    header
}

fn options(headers: Headers<'_>) -> Vec<u8> {
    let Headers { packet: p, sacks, ecn_option } = headers;
    let mut bytes = Vec::with_capacity(40);
    if let Some(shift) = p.options.window_shift() {
        bytes.extend([3, 3, shift]);
    }
    if p.options.has_sack_permitted() {
        bytes.extend([4, 2]);
    }
    if p.options.has_timestamps() {
        bytes.extend([8, 10]);
        bytes.extend(p.ts_val.to_be_bytes());
        bytes.extend(p.ts_ecr.to_be_bytes());
    }
    if !sacks.is_empty() {
        bytes.extend([5, 2 + 8 * sacks.len() as u8]);
        for (left, right) in sacks {
            bytes.extend(left.0.to_be_bytes());
            bytes.extend(right.0.to_be_bytes());
        }
    }
    if let Some(option) = ecn_option {
        bytes.extend([if option.is_ect0_first { 172 } else { 174 }, option.bytes() as u8]);
        for field in &option.fields[..usize::from(option.count)] {
            bytes.extend(&field.to_be_bytes()[1..]);
        }
    }
    bytes
}

/// The Internet checksum (RFC 1071) of bytes that follow others with the sum `before`.
fn checksum(bytes: &[u8], before: u32) -> [u8; 2] {
    let mut total = before + sum(bytes);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    (!(total as u16)).to_be_bytes()
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    words.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::seq::Seq;
    use crate::packet::{Ecn, EcnOption, PROTOCOL_TCP, SackBlock};

    fn keys() -> FlowKeys {
        let there = FlowKey {
            source: 0x0a00_0001,
            destination: 0x0a00_0102,
            source_port: 49152,
            destination_port: 5001,
            protocol: PROTOCOL_TCP,
            dscp: 4,
            ..FlowKey::default()
        };
        let back = FlowKey {
            source: there.destination,
            destination: there.source,
            source_port: there.destination_port,
            destination_port: there.source_port,
            dscp: 0,
            ..there
        };
        FlowKeys { keys: vec![[there, back]], ..FlowKeys::default() }
    }

    fn conversation() -> Conversation {
        Conversation { out: 3, back: 4, interface: 0 }
    }

    const SACKED: [SackBlock; 1] = [(Seq(15929), Seq(17377))];

    fn with_sacks(packet: &Packet) -> Headers<'_> {
        Headers { packet, sacks: &SACKED[..packet.sacks()], ecn_option: None }
    }

    fn acknowledgement() -> Packet {
        Packet {
            seq: Seq(1),
            ack: Seq(14481),
            ts_val: 7,
            ts_ecr: 5,
            ip_bytes: 20 + 20 + 12 + 12,
            window: 32768,
            backward: true,
            flags: Flags(0x50),
            ecn: Ecn::Ect0,
            options: Options::new(true),
            beside: 1,
            ..Packet::default()
        }
    }

    #[test]
    fn a_header_has_every_field_where_it_belongs() {
        let bytes = headers(&keys(), with_sacks(&acknowledgement()));
        assert_eq!(bytes.len(), 64);
        assert_eq!(bytes[..2], [0x45, 0x02]);
        assert_eq!(bytes[2..4], 64_u16.to_be_bytes());
        assert_eq!(bytes[12..20], [10, 0, 1, 2, 10, 0, 0, 1]);
        assert_eq!(bytes[20..24], [0x13, 0x89, 0xc0, 0x00]);
        assert_eq!(bytes[28..32], 14481_u32.to_be_bytes());
        assert_eq!(bytes[32..34], [11 << 4, 0x50]);
        assert_eq!(bytes[34..36], 32768_u16.to_be_bytes());
        assert_eq!(bytes[40..50], [8, 10, 0, 0, 0, 7, 0, 0, 0, 5]);
        assert_eq!(bytes[50..52], [5, 10]);
        assert_eq!(bytes[52..56], 15929_u32.to_be_bytes());
        assert_eq!(bytes[60..], [0; 4]);
    }

    /// RFC 9768 sections 3.1 and 3.2.3.
    #[test]
    fn accurate_ecn_has_its_flag_and_its_option() {
        let option = EcnOption { is_ect0_first: false, fields: [1449, 0x12_3456, 1], count: 3 };
        let packet = Packet {
            ip_bytes: 20 + 20 + 12 + 12,
            beside: Packet::ECN_OPTION,
            flags: Flags(0x110),
            ..acknowledgement()
        };
        let headers_of = |option| Headers { packet: &packet, sacks: &[], ecn_option: Some(option) };
        let bytes = headers(&keys(), headers_of(&option));
        assert_eq!(bytes[32..34], [11 << 4 | 1, 0x10]);
        assert_eq!(bytes[50..], [174, 11, 0, 5, 0xa9, 0x12, 0x34, 0x56, 0, 0, 1, 0, 0, 0]);
        let other = EcnOption { is_ect0_first: true, count: 1, ..option };
        assert_eq!(headers(&keys(), headers_of(&other))[50..56], [172, 5, 0, 5, 0xa9, 0]);
    }

    #[test]
    fn a_datagram_has_ports_and_length() {
        let mut keys = keys();
        keys.keys[0][0].protocol = PROTOCOL_UDP;
        let p = Packet { ip_bytes: 1028, payload: 1000, ..Packet::default() };
        let bytes = headers(&keys, with_sacks(&p));
        assert_eq!(bytes[9], 17);
        assert_eq!(bytes[20..], [0xc0, 0x00, 0x13, 0x89, 0x03, 0xf0, 0, 0]);
    }

    #[test]
    fn checksums_add_up_to_nothing() {
        let p = acknowledgement();
        let bytes = headers(&keys(), with_sacks(&p));
        assert_eq!(checksum(&bytes[..20], 0), [0, 0]);
        let mut pseudo = bytes[12..20].to_vec();
        pseudo.extend([0, 6, 0, (p.ip_bytes - 20) as u8]);
        assert_eq!(checksum(&bytes[20..], sum(&pseudo)), [0, 0]);
        // RFC 1071's example: 00 01 f2 03 f4 f5 f6 f7 add up to dd f2.
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&example, 0), (!0xddf2_u16).to_be_bytes());
    }

    #[test]
    fn a_packet_is_seen_once_at_its_host() {
        let mut file = Vec::new();
        let mut capture =
            Capture::new(&mut file, &["eth0".to_owned()], vec![conversation()], keys()).unwrap();
        let data = Packet { ip_bytes: 1500, payload: 1448, ..acknowledgement() };
        let data = Packet { backward: false, beside: 0, ..data };
        let reply = acknowledgement();
        let mut written = |is_sent: bool, port, p: &Packet| {
            let before = file.len();
            if is_sent {
                capture.sent(&mut file, Time(1), port, with_sacks(p)).unwrap();
            } else {
                capture.arrived(&mut file, Time(1), port, with_sacks(p)).unwrap();
            }
            file.len() > before
        };
        assert!(written(true, 3, &data));
        assert!(!written(true, 5, &data));
        assert!(!written(false, 3, &data));
        assert!(written(false, 4, &reply));
        assert!(!written(true, 4, &reply));
        // Every block ends with the length that it begins with.
        let mut at = 0;
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let mut blocks = 0;
        while at < file.len() {
            let length = word(at + 4);
            assert_eq!(length % 4, 0);
            assert_eq!(word(at + length - 4), length);
            at += length;
            blocks += 1;
        }
        assert_eq!((at, blocks), (file.len(), 4));
    }
}
