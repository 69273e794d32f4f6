//! A test bench: one socket meets a written timeline of segments, in the manner of packetdrill.
//!
//! A line is a time in ms and what happens then:
//!
//! ```text
//! 0    connect                 or: listen, write BYTES, close
//! 0    > S 0                   a segment that the socket sends
//! 50   < S. 0 ack 1            a segment that arrives
//! 50   ? cwnd 10000            what the socket knows; see `Bench::value`
//! ```
//!
//! A segment has its flags (S, F, R, `.` for ACK, E for ECE, W for CWR, A for AE, `-` for none), its first and, if
//! it has data, the next sequence number, and if they are there `ack`, `win` (65535 unless said
//! otherwise), `sackok`, `ws SHIFT`, `ts VALUE ECHO`, `sack LEFT:RIGHT ...`, the option of accurate ECN as `e1b,ceb,e0b 1,0,1001`,
//! and `ect0`, `ect1` or `ce`.
//! `> . 1:3001 by 1000 ack 1` is three segments, sent one after the other.
//!
//! The timeline must hold every segment that is sent until the time of its last line, in its place.

use std::fmt::Write as _;
use std::sync::Arc;

use super::config::Config;
use super::control::Control;
use super::profile::{Ns3, Profile};
use super::socket::{Environment, Socket, Timer, Write};
use crate::base::attributes::Attributes;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::recovery;
use crate::host::{congestion, slow_start};
use crate::packet::{Beside, Ecn, EcnOption, Flags, Options, Packet};

/// Over these a timeline gives its own: no options but SACK, every segment acknowledged.
const SETTINGS: [(&str, &str); 5] = [
    ("SegmentSize", "1000"),
    ("Timestamp", "false"),
    ("WindowScaling", "false"),
    ("DelAckCount", "1"),
    ("MinRto", "200ms"),
];

const FLAGS: [(Flags, char); 7] = [
    (Flags::SYN, 'S'),
    (Flags::FIN, 'F'),
    (Flags::RST, 'R'),
    (Flags::AE, 'A'),
    (Flags::ECE, 'E'),
    (Flags::CWR, 'W'),
    (Flags::ACK, '.'),
];

/// Plays `timeline` to a socket with NewReno.
pub fn play(settings: &[(&str, &str)], timeline: &str) {
    play_with("TcpNewReno", settings, timeline);
}

/// Plays `timeline` to a socket with this congestion control.
///
/// # Panics
/// If something else happens, with all that does.
pub fn play_with(cc: &str, settings: &[(&str, &str)], timeline: &str) {
    play_as::<Ns3>(cc, settings, timeline);
}

/// The same to a socket of another profile.
pub fn play_as<P: Profile>(cc: &str, settings: &[(&str, &str)], timeline: &str) {
    let lines = timeline.lines().map(str::trim).filter(|line| !line.is_empty());
    let written: Vec<String> = lines.flat_map(each_segment).collect();
    let written: Vec<Line<'_>> = written.iter().map(|line| Line::new(line)).collect();
    let expected: Vec<String> = written.iter().map(Line::text).collect();
    for is_plain in [true, false] {
        let mut bench = Bench::<P> {
            socket: socket(cc, settings),
            world: World { is_plain, ..World::default() },
        };
        for line in &written {
            bench.take(line);
        }
        let found = bench.world.transcript;
        if found != expected {
            let same = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
            let found = found.join("\n");
            let without = if is_plain { "without" } else { "with" };
            panic!(
                "{without} shortcuts otherwise from line {} on; what happens is\n{found}\n",
                same + 1
            );
        }
    }
}

/// A closed socket with this congestion control.
pub fn socket<P: Profile>(cc: &str, settings: &[(&str, &str)]) -> Socket<P> {
    let config = config(settings);
    let spec = congestion::SPECS.iter().find(|spec| spec.ns3 == cc).expect("registered");
    let defaults = std::collections::BTreeMap::new();
    let attributes = Attributes::new(spec, &defaults);
    let stack = P::STACK;
    let cx = congestion::BuildContext { attributes, seed: 1, changes: config.changes, stack };
    let control = congestion::build(cc, &cx).expect("registered");
    let slow_start = P::slow_start(cc).and_then(slow_start::build);
    with_control(
        match slow_start {
            Some(slow_start) => control.starting_with(slow_start),
            None => control,
        },
        settings,
    )
}

pub fn config(settings: &[(&str, &str)]) -> Config {
    let given = SETTINGS.iter().chain(settings);
    let given = given.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    Config::new(&given, 0)
}

/// The same with an algorithm that is not in the registry.
pub fn with_control<P: Profile>(control: Control, settings: &[(&str, &str)]) -> Socket<P> {
    let config = config(settings);
    let recovery = recovery::build("TcpPrrRecovery", config.changes).expect("registered");
    Socket::new(Arc::new(config), control, recovery)
}

/// A line for every segment of one that says `FIRST:NEXT by SIZE`; any other line as it is.
fn each_segment(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(by) = words.iter().position(|&word| word == "by") else {
        return vec![line.to_owned()];
    };
    let ((first, next), size) = (range(words[by - 1]), number(words[by + 1]));
    let (before, rest) = (words[..by - 1].join(" "), words[by + 2..].join(" "));
    let starts = (first..next).step_by(size as usize);
    starts.map(|start| format!("{before} {start}:{} {rest}", start + size)).collect()
}

struct Line<'a> {
    at: Time,
    what: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Line<'a> {
        let mut words = text.split_whitespace();
        let ms: f64 = words.next().and_then(|ms| ms.parse().ok()).expect("a time in ms");
        Line { at: Time((ms * 1e6).round() as u64), what: words.collect() }
    }

    fn text(&self) -> String {
        transcribe(self.at, &self.what.join(" "))
    }
}

fn transcribe(at: Time, what: &str) -> String {
    format!("{} {what}", at.0 as f64 / 1e6)
}

struct Bench<P: Profile> {
    socket: Socket<P>,
    world: World,
}

/// What the socket sends and sets.
#[derive(Default)]
struct World {
    now: Time,
    is_plain: bool,
    transcript: Vec<String>,
    /// In the order in which they were set.
    timers: Vec<(Time, Timer)>,
    /// Those of the segment that has arrived.
    options: Beside,
}

impl Environment for World {
    fn transmit(&mut self, segment: Packet) {
        self.transmit_with_options(segment, &Beside::default());
    }

    fn transmit_with_options(&mut self, segment: Packet, beside: &Beside) {
        self.transcript.push(transcribe(self.now, &format!("> {}", written(&segment, beside))));
    }

    fn options(&self) -> &Beside {
        &self.options
    }

    fn arm(&mut self, timer: Timer, at: Time) {
        self.timers.push((at, timer));
    }

    fn disarm(&mut self, timer: Timer) {
        self.timers.retain(|&(_, set)| set != timer);
    }

    fn connected(&mut self) {}

    fn writable(&mut self, _free: u32) -> Write {
        Write::default()
    }

    fn readable(&mut self, _bytes: u32) {}

    fn is_plain(&self) -> bool {
        self.is_plain
    }
}

impl<P: Profile> Bench<P> {
    fn take(&mut self, line: &Line<'_>) {
        self.run_until(line.at);
        let now = line.at;
        self.world.now = now;
        if line.what[0] == ">" {
            return; // it stands in the transcript, or it does not
        }
        if line.what[0] == "?" {
            let mut known = String::from("?");
            for name in line.what[1..].iter().step_by(2) {
                let _ = write!(known, " {name} {}", self.value(name));
            }
            return self.world.transcript.push(transcribe(now, &known));
        }
        self.world.transcript.push(line.text());
        let (socket, world) = (&mut self.socket, &mut self.world);
        socket.tcb.now = now;
        match line.what[..] {
            ["connect"] => socket.connect(now, world),
            ["listen"] => socket.listen(),
            ["write", bytes] => {
                let taken = socket.send(number(bytes), now, world);
                assert_eq!(taken, number(bytes), "no room for {bytes} bytes");
            }
            ["close"] => socket.close(world),
            ["<", ref segment @ ..] => {
                let (segment, options) = read(segment);
                world.options = options;
                socket.on_segment(&segment, now, world);
            }
            _ => panic!("cannot read {:?}", line.what),
        }
    }

    fn run_until(&mut self, until: Time) {
        loop {
            let due = self.world.timers.iter().enumerate().min_by_key(|(i, (at, _))| (*at, *i));
            let Some((i, &(at, timer))) = due.filter(|(_, (at, _))| *at <= until) else { return };
            self.world.timers.remove(i);
            self.world.now = at;
            self.socket.on_timer(timer, at, &mut self.world);
        }
    }

    /// Windows in bytes, times in ms.
    fn value(&self, name: &str) -> String {
        let tcb = &self.socket.tcb;
        let ms = |time: Time| (time.0 as f64 / 1e6).to_string();
        match name {
            "cwnd" => tcb.cwnd.to_string(),
            "ssthresh" => tcb.ssthresh.to_string(),
            "in_flight" => tcb.bytes_in_flight.to_string(),
            // By the last segment that arrived.
            "delivered" => tcb.last_acked_sacked.to_string(),
            "state" => format!("{:?}", tcb.cong_state),
            "ecn" => format!("{:?}", tcb.ecn_state),
            // When a flight began.
            "app_limited" => tcb.is_app_limited.to_string(),
            "marked" => tcb.delivered_ce.to_string(),
            "srtt" => ms(tcb.srtt),
            "rto" => ms(self.socket.rto()),
            "tcp" => self.socket.state_name(),
            _ => panic!("the bench knows nothing of {name}"),
        }
    }
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn range(text: &str) -> (u32, u32) {
    let (left, right) = text.split_once(':').unwrap_or((text, text));
    (number(left), number(right))
}

fn read(words: &[&str]) -> (Packet, Beside) {
    let (start, end) = range(words[1]);
    let mut packet = Packet {
        seq: Seq(start),
        payload: (end - start) as u16,
        window: u16::MAX,
        ..Packet::default()
    };
    for letter in words[0].chars().filter(|&letter| letter != '-') {
        let (flag, _) = FLAGS.into_iter().find(|&(_, of)| of == letter).expect("a flag");
        packet.flags = packet.flags.with(flag);
    }
    let (mut timestamps, mut sackok, mut shift, mut blocks) = (None, false, None, Vec::new());
    let mut beside = Beside::default();
    let mut words = words[2..].iter();
    while let Some(&word) = words.next() {
        let mut next = || *words.next().expect("a value");
        match word {
            "ack" => packet.ack = Seq(number(next())),
            "win" => packet.window = number(next()) as u16,
            "ts" => timestamps = Some((number(next()), number(next()))),
            "sackok" => sackok = true,
            "ws" => shift = Some(number(next()) as u8),
            "sack" => {}
            "e1b,ceb,e0b" | "e0b,ceb,e1b" => {
                beside.ecn_option = option(word == "e0b,ceb,e1b", next());
                packet.beside = Packet::ECN_OPTION;
            }
            "ect0" => packet.ecn = Ecn::Ect0,
            "ect1" => packet.ecn = Ecn::Ect1,
            "ce" => packet.ecn = Ecn::Ce,
            block => {
                let (left, right) = range(block);
                blocks.push((Seq(left), Seq(right)));
            }
        }
    }
    packet.options = Options::new(timestamps.is_some()).with_syn(sackok, shift);
    (packet.ts_val, packet.ts_ecr) = timestamps.unwrap_or_default();
    packet.beside |= blocks.len() as u8;
    beside.sacks[..blocks.len()].copy_from_slice(&blocks);
    (packet, beside)
}

/// As in `1001,0,1`.
fn option(is_ect0_first: bool, text: &str) -> EcnOption {
    let mut option = EcnOption { is_ect0_first, ..EcnOption::default() };
    for field in text.split(',') {
        option.fields[usize::from(option.count)] = number(field);
        option.count += 1;
    }
    option
}

fn written(packet: &Packet, beside: &Beside) -> String {
    let blocks = &beside.sacks[..packet.sacks()];
    let mut text: String = FLAGS
        .iter()
        .filter(|(flag, _)| packet.flags.has(*flag))
        .map(|(_, letter)| letter)
        .collect();
    if text.is_empty() {
        text.push('-');
    }
    let mut say = |what: String| text.push_str(&format!(" {what}"));
    let end = packet.seq + u32::from(packet.payload);
    if packet.payload > 0 {
        say(format!("{}:{}", packet.seq.0, end.0))
    } else {
        say(end.0.to_string())
    }
    if packet.flags.has(Flags::ACK) {
        say(format!("ack {}", packet.ack.0));
    }
    if packet.window != u16::MAX {
        say(format!("win {}", packet.window));
    }
    if packet.options.has_sack_permitted() {
        say("sackok".to_owned());
    }
    if let Some(shift) = packet.options.window_shift() {
        say(format!("ws {shift}"));
    }
    if packet.options.has_timestamps() {
        say(format!("ts {} {}", packet.ts_val, packet.ts_ecr));
    }
    if !blocks.is_empty() {
        let blocks = blocks.iter().map(|(left, right)| format!("{}:{}", left.0, right.0));
        say(format!("sack {}", blocks.collect::<Vec<_>>().join(" ")));
    }
    if packet.has_ecn_option() {
        let option = &beside.ecn_option;
        let fields = option.fields[..usize::from(option.count)].iter().map(u32::to_string);
        let order = if option.is_ect0_first { "e0b,ceb,e1b" } else { "e1b,ceb,e0b" };
        say(format!("{order} {}", fields.collect::<Vec<_>>().join(",")));
    }
    match packet.ecn {
        Ecn::NotEct => {}
        Ecn::Ect0 => say("ect0".to_owned()),
        Ecn::Ect1 => say("ect1".to_owned()),
        Ecn::Ce => say("ce".to_owned()),
    }
    text
}
