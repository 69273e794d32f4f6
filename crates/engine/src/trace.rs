//! The packet trace: one CSV row for each thing that happens to a packet at a link, in the order of
//! execution.  Every backend writes the same rows.  Or, in its place, a capture at the sources.

use std::fmt;
use std::io::{self, Write};

use crate::capture::Capture;
use crate::packet::{Ecn, Flags, Headers};
use crate::time::Time;
use crate::verdict::{Reason, Verdict};

/// The first line of the file.
pub const HEADER: &str =
    "time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason";

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
}

impl PacketEvent {
    fn word(self) -> &'static str {
        match self {
            PacketEvent::Enqueue => "enqueue",
            PacketEvent::Tx => "tx",
            PacketEvent::Rx => "rx",
            PacketEvent::Drop => "drop",
            PacketEvent::Mark => "mark",
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
    Csv { ports: Vec<String>, flows: Vec<String> },
    Capture(Capture),
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
    pub fn new(mut out: Box<dyn Write + Send>, ports: Vec<String>, flows: Vec<String>) -> Self {
        let error = writeln!(out, "{HEADER}").err();
        PacketTrace { out, form: Form::Csv { ports, flows }, error }
    }

    /// Goes on with a capture that has been begun in `out`.
    pub fn capture(out: Box<dyn Write + Send>, capture: Capture) -> Self {
        PacketTrace { out, form: Form::Capture(capture), error: None }
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
        let Row { at, port, event, packet, reason } = row;
        let p = packet.packet;
        let out = &mut *self.out;
        let (ports, flows) = match &mut self.form {
            Form::Csv { ports, flows } => (ports, flows),
            Form::Capture(capture) => {
                return match event {
                    PacketEvent::Tx => capture.sent(out, at, port, packet),
                    PacketEvent::Rx => capture.arrived(out, at, port, packet),
                    PacketEvent::Enqueue | PacketEvent::Drop | PacketEvent::Mark => Ok(()),
                };
            }
        };
        write!(
            out,
            "{},{},{},{},{},{},{},{},",
            at.0,
            ports[port as usize],
            event.word(),
            flows[p.flow as usize],
            p.seq.0,
            if p.flags.has(Flags::ACK) { p.ack.0 } else { 0 },
            p.payload,
            p.wire_bytes()
        )?;
        write_flags(out, p.flags)?;
        let verdict = match event {
            PacketEvent::Mark => Verdict::Mark,
            _ => Verdict::DropBeforeEnqueue,
        };
        let prefix = reason.prefix(verdict);
        writeln!(out, ",{},{prefix}{}", ecn_word(p.ecn), reason.text)
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

/// The names of the set bits, lowest bit first, joined by `|`, as ns-3 prints them.
fn write_flags(out: &mut dyn Write, flags: Flags) -> io::Result<()> {
    const NAMES: [&str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
    let mut separator = "";
    for (bit, name) in NAMES.iter().enumerate() {
        if flags.0 & (1 << bit) != 0 {
            write!(out, "{separator}{name}")?;
            separator = "|";
        }
    }
    Ok(())
}
