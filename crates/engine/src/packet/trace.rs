//! The packet trace: one CSV row for each thing that happens to a packet at a link, in the order of
//! execution.  Every backend writes the same rows.  Or, in its place, a capture at the sources.
//!
//! A trace with headers has further columns: all else that a receiver could see.
//!
//! | column | meaning |
//! | --- | --- |
//! | `protocol` | IP's number: 6 TCP, 17 UDP, 1 ICMP; with a fragment's place, as tcpdump writes it |
//! | `source`, `destination` | address and port, `10.0.0.1:49152`; ICMP has port 0, as have fragments but the first |
//! | `service` | IP's type of service without the two ECN bits |
//!
//! and of TCP only, otherwise empty:
//!
//! | column | meaning |
//! | --- | --- |
//! | `window` | the field as it stands in the header, not scaled |
//! | `window_shift`, `sack_permitted` | of a SYN with these options: the shift, 1 |
//! | `ts_val`, `ts_ecr` | the timestamps option in ms, if there is one |
//! | `sacks` | the SACK blocks, `1449-2897`, in the order of the option, joined by a vertical bar |
//!
//! A fragment has flow, numbers and flags of the packet that it is a piece of, and bytes of its own.  Its place
//! is `6 (frag 17:1480@0+)`: identification, bytes, offset, and a plus if more follow.
//!
//! A router's message is of no flow: its name is `?`, as in ns-3's trace.

use std::fmt;
use std::io::{self, Write};

use crate::base::time::Time;
use crate::packet::capture::Capture;
use crate::packet::verdict::{Reason, Verdict};
use crate::packet::{
    Ecn, Flags, FlowKey, FlowKeys, Fragment, Headers, IP_HEADER, PROTOCOL_TCP, Packet,
};

/// The first line of the file.
pub const HEADER: &str =
    "time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason";

/// What a first line with headers has besides.
const HEADER_COLUMNS: &str =
    ",protocol,source,destination,service,window,window_shift,sack_permitted,ts_val,ts_ecr,sacks";

/// How the name of a file ends whose trace has headers.
pub const HEADERS_SUFFIX: &str = ".headers.csv";

/// In place of the name of a flow, where a packet is of none.
const NO_FLOW: &str = "?";

/// What can happen to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// Accepted by the queue discipline.
    Enqueue,
    /// Starts transmission.
    Tx,
    /// Arrives at the receiving device.
    Rx,
    /// Dropped by the queue discipline, the device queue or the link: the reason says which.
    Drop,
    /// Marked CE by the queue discipline.
    Mark,
    /// Its payload cut off by the queue discipline.
    Trim,
}

impl PacketEvent {
    fn word(self) -> &'static str {
        match self {
            PacketEvent::Enqueue => "enqueue",
            PacketEvent::Tx => "tx",
            PacketEvent::Rx => "rx",
            PacketEvent::Drop => "drop",
            PacketEvent::Mark => "mark",
            PacketEvent::Trim => "trim",
        }
    }
}

/// What has happened to a packet.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub at: Time,
    /// The direction of the link, by its number.
    pub port: u32,
    pub event: PacketEvent,
    pub packet: Headers<'a>,
    pub reason: Reason,
}

enum Form {
    Csv(Table),
    Capture(Capture),
}

/// What a row needs to know besides its packet.
struct Table {
    ports: Vec<String>,
    flows: Vec<String>,
    /// Of a trace with headers.
    addressed: Option<Addressed>,
    /// The row that is written.
    line: Line,
}

/// From whom to whom the packets of each flow go, there and back.
struct Addressed {
    keys: FlowKeys,
    /// `10.0.0.1:49152,10.0.1.2:5001`: a trace repeats it in every row.
    ends: Vec<[Line; 2]>,
}

/// A packet trace on its way to a file.
pub struct PacketTrace {
    out: Box<dyn Write + Send>,
    form: Form,
    /// The first error; later rows are discarded.
    error: Option<io::Error>,
}

impl PacketTrace {
    /// `ports` names the link directions, `flows` the flows, each by its index.
    pub fn new(out: Box<dyn Write + Send>, ports: Vec<String>, flows: Vec<String>) -> Self {
        Self::begin(out, Table { ports, flows, addressed: None, line: Line::default() })
    }

    /// The same with the columns of the headers.
    pub fn with_headers(
        out: Box<dyn Write + Send>,
        ports: Vec<String>,
        flows: Vec<String>,
        keys: FlowKeys,
    ) -> Self {
        let addressed = Some(Addressed::new(keys));
        Self::begin(out, Table { ports, flows, addressed, line: Line::default() })
    }

    fn begin(mut out: Box<dyn Write + Send>, table: Table) -> Self {
        let more = if table.addressed.is_some() { HEADER_COLUMNS } else { "" };
        let error = writeln!(out, "{HEADER}{more}").err();
        PacketTrace { out, form: Form::Csv(table), error }
    }

    /// Goes on with a capture that has been begun in `out`.
    pub fn capture(out: Box<dyn Write + Send>, capture: Capture) -> Self {
        PacketTrace { out, form: Form::Capture(capture), error: None }
    }

    /// Packets that are of none of the flows have the next number.
    pub fn add_flow(&mut self, both: [FlowKey; 2]) {
        if let Form::Csv(table) = &mut self.form {
            table.flows.push(NO_FLOW.to_owned());
            if let Some(addressed) = &mut table.addressed {
                addressed.push(both);
            }
        }
    }

    pub fn push(&mut self, row: Row<'_>) {
        if self.error.is_none() {
            self.error = self.write(row).err();
        }
    }

    /// Flushes; reports the first error that occurred.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(e) => Err(e),
            None => self.out.flush(),
        }
    }

    fn write(&mut self, row: Row<'_>) -> io::Result<()> {
        let Row { at, port, event, packet, .. } = row;
        let out = &mut *self.out;
        match &mut self.form {
            Form::Csv(table) => table.write(out, row),
            // It is no packet of IP.
            Form::Capture(_) if packet.packet.flags.has(Flags::PAUSE) => Ok(()),
            Form::Capture(capture) => match event {
                PacketEvent::Tx => capture.sent(out, at, port, packet),
                PacketEvent::Rx => capture.arrived(out, at, port, packet),
                PacketEvent::Enqueue
                | PacketEvent::Drop
                | PacketEvent::Mark
                | PacketEvent::Trim => Ok(()),
            },
        }
    }
}

impl Addressed {
    fn new(keys: FlowKeys) -> Self {
        let ends = keys.keys.iter().map(Self::in_words).collect();
        Addressed { keys, ends }
    }

    fn push(&mut self, both: [FlowKey; 2]) {
        self.ends.push(Self::in_words(&both));
        self.keys.keys.push(both);
    }

    fn in_words(both: &[FlowKey; 2]) -> [Line; 2] {
        both.map(|key| {
            let mut line = Line::default();
            line.end(key.source, key.source_port);
            line.text(",");
            line.end(key.destination, key.destination_port);
            line
        })
    }

    fn ends(&self, packet: &Packet) -> &[u8] {
        &self.ends[packet.flow as usize][usize::from(packet.backward)].0
    }
}

impl Table {
    fn write(&mut self, out: &mut dyn Write, row: Row<'_>) -> io::Result<()> {
        let Row { at, port, event, packet, reason } = row;
        let p = packet.packet;
        let line = &mut self.line;
        line.0.clear();
        line.field(at.0);
        for text in [&self.ports[port as usize], event.word(), &self.flows[p.flow as usize]] {
            line.text(text);
            line.text(",");
        }
        line.field(p.seq.0);
        line.field(if p.flags.has(Flags::ACK) { p.ack.0 } else { 0 });
        line.field(p.payload);
        line.field(p.wire_bytes());
        line.flags(p.flags);
        let verdict = match event {
            PacketEvent::Mark => Verdict::Mark,
            PacketEvent::Trim => Verdict::Trim,
            _ => Verdict::DropBeforeEnqueue,
        };
        for text in [",", ecn_word(p.ecn), ","] {
            line.text(text);
        }
        if !reason.text.is_empty() {
            write!(line.0, "{}", reason.of(verdict))?;
        }
        if let Some(addressed) = &self.addressed {
            line.headers(addressed, packet);
        }
        line.text("\n");
        out.write_all(&line.0)
    }
}

/// `00` to `99`: two digits cost one division.
const PAIRS: [u8; 200] = {
    let (mut pairs, mut number) = ([0; 200], 0);
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};

/// A row as text. A trace has millions of them, so numbers do not go through the formatter.
#[derive(Default)]
struct Line(Vec<u8>);

impl Line {
    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: impl Into<u64>) {
        const MOST_DIGITS: usize = 20;
        let (mut digits, mut first, mut rest) = ([0; MOST_DIGITS], MOST_DIGITS, number.into());
        while rest >= 100 {
            let pair = 2 * (rest % 100) as usize;
            rest /= 100;
            first -= 2;
            digits[first..first + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
        }
        if rest >= 10 {
            let pair = 2 * rest as usize;
            first -= 2;
            digits[first..first + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
        } else {
            first -= 1;
            digits[first] = b'0' + rest as u8;
        }
        self.0.extend_from_slice(&digits[first..]);
    }

    /// A number and the comma behind it.
    fn field(&mut self, number: impl Into<u64>) {
        self.number(number);
        self.text(",");
    }

    /// `10.0.0.1:49152`
    fn end(&mut self, address: u32, port: u16) {
        for (byte, separator) in address.to_be_bytes().into_iter().zip([".", ".", ".", ":"]) {
            self.number(byte);
            self.text(separator);
        }
        self.number(port);
    }

    /// The names of the set bits, lowest bit first, joined by `|`, as ns-3 prints them; of those that are not TCP's, two.
    fn flags(&mut self, flags: Flags) {
        const NAMES: [&str; 14] = [
            "FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE", "", "PAUSE", "", "",
            "TRIMMED",
        ];
        const UNNAMED: Flags =
            Flags::FRAGMENT.with(Flags::COLLECTS).with(Flags::MAY_TRIM).with(Flags::NUMBERED);
        let mut rest = flags.without(UNNAMED).0;
        while rest != 0 {
            self.text(NAMES[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
            if rest != 0 {
                self.text("|");
            }
        }
    }

    /// The columns of the headers, each after its comma.
    fn headers(&mut self, addressed: &Addressed, headers: Headers<'_>) {
        let Headers { packet: p, sacks, .. } = headers;
        let key = addressed.keys.of(p);
        self.text(",");
        self.number(key.protocol);
        if let Some(Fragment { identification, offset, more }) = p.fragment() {
            self.text(" (frag ");
            self.number(identification);
            self.text(":");
            self.number(p.ip_bytes - IP_HEADER);
            self.text("@");
            self.number(offset);
            self.text(if more { "+)" } else { ")" });
        }
        self.text(",");
        self.0.extend_from_slice(addressed.ends(p));
        self.text(",");
        self.number(addressed.keys.service(p));
        if key.protocol != PROTOCOL_TCP || !p.has_transport_header() {
            self.text(",,,,,,");
            return;
        }
        self.text(",");
        self.field(p.window);
        if let Some(shift) = p.options.window_shift() {
            self.number(shift);
        }
        self.text(if p.options.has_sack_permitted() { ",1," } else { ",," });
        if p.options.has_timestamps() {
            self.field(p.ts_val);
            self.field(p.ts_ecr);
        } else {
            self.text(",,");
        }
        let mut separator = "";
        for (left, right) in sacks {
            self.text(separator);
            self.number(left.0);
            self.text("-");
            self.number(right.0);
            separator = "|";
        }
    }
}

impl fmt::Debug for PacketTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketTrace").field("error", &self.error).finish_non_exhaustive()
    }
}

fn ecn_word(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "NotECT",
        Ecn::Ect0 => "ECT0",
        Ecn::Ect1 => "ECT1",
        Ecn::Ce => "CE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::seq::Seq;
    use crate::packet::{Options, PROTOCOL_ICMP};

    fn addressed(protocol: u8) -> Addressed {
        let key = FlowKey {
            source: 0x0a00_0001,
            destination: 0x0a00_0102,
            source_port: 49152,
            destination_port: 5001,
            protocol,
            dscp: 4,
            ..FlowKey::default()
        };
        Addressed::new(FlowKeys { keys: vec![[key; 2]], ..FlowKeys::default() })
    }

    fn written(protocol: u8, packet: Packet, sacks: &[(Seq, Seq)]) -> String {
        let mut line = Line::default();
        let headers = Headers { packet: &packet, sacks, ecn_option: None };
        line.headers(&addressed(protocol), headers);
        let text = String::from_utf8(line.0).expect("ASCII");
        assert_eq!(text.matches(',').count(), HEADER_COLUMNS.matches(',').count());
        text
    }

    #[test]
    fn numbers_have_the_digits_that_the_formatter_gives_them() {
        let powers = (0..20).map(|n| 10_u64.pow(n));
        for number in powers.flat_map(|n| [n - 1, n, n + 1, n / 7]).chain([0, u64::MAX]) {
            let mut line = Line::default();
            line.number(number);
            assert_eq!(String::from_utf8(line.0).expect("ASCII"), number.to_string());
        }
    }

    #[test]
    fn a_syn_shows_its_options() {
        let options = Options::new(true).without_service().with_syn(true, Some(7));
        let syn = Packet { window: 65535, ts_val: 3, options, ..Packet::default() };
        let expected = ",6,10.0.0.1:49152,10.0.1.2:5001,0,65535,7,1,3,0,";
        assert_eq!(written(PROTOCOL_TCP, syn, &[]), expected);
    }

    #[test]
    fn sack_blocks_stand_in_the_order_of_the_option() {
        let ack = Packet { window: 512, options: Options::new(false), ..Packet::default() };
        let blocks = [(Seq(2897), Seq(4345)), (Seq(1), Seq(1449))];
        let expected = ",6,10.0.0.1:49152,10.0.1.2:5001,16,512,,,,,2897-4345|1-1449";
        assert_eq!(written(PROTOCOL_TCP, ack, &blocks), expected);
    }

    #[test]
    fn a_fragment_says_its_place_and_only_the_first_has_tcps_header() {
        let mut piece = Packet { window: 9, ip_bytes: 1500, ..Packet::default() };
        piece.set_identification(17);
        piece.set_fragment(0, true);
        let expected = ",6 (frag 17:1480@0+),10.0.0.1:49152,10.0.1.2:5001,0,9,,,,,";
        assert_eq!(written(PROTOCOL_TCP, piece, &[]), expected);
        piece.set_fragment(1480, false);
        let expected = ",6 (frag 17:1480@1480),10.0.0.1:49152,10.0.1.2:5001,0,,,,,,";
        assert_eq!(written(PROTOCOL_TCP, piece, &[]), expected);
    }

    #[test]
    fn a_ping_has_none_of_what_is_tcps() {
        let expected = ",1,10.0.0.1:49152,10.0.1.2:5001,0,,,,,,";
        assert_eq!(written(PROTOCOL_ICMP, Packet::default(), &[]), expected);
    }
}
