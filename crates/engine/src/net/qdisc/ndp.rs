//! NDP's switch: a short queue for data, a queue for headers that goes first, and packets that are cut to
//! their headers where the data queue is full (Handley et al., SIGCOMM 2017, section 3.1).
//!
//! ```text
//! no payload:                       to the headers
//! the data queue has room:          to the data
//! otherwise, at even odds:          this packet is cut, or the last one of the data queue, for which it comes in
//! what is cut:                      to the headers
//! both wait:                        HeaderWeight of the headers, one of the data, and so on
//! data leaves more than MarkLow behind: it is marked, the likelier the more; above MarkHigh always
//! ```
//!
//! The 10 to 1 keeps data moving however many headers there are, and the odds keep senders from losing in step.
//! What has no payload is headers and whatever hosts answer: of TCP's the ACKs.  A packet that may not be cut (any of
//! TCP's, UDP's, RoCE's) is dropped where it would be, and so is a header that finds the header queue full: the paper's
//! switch may return that one to its sender.  What is being sent is not in the queue, in which htsim counts it.
//!
//! NDP's switch does not mark, and neither does this one where MarkHigh is 0.  Ultra Ethernet's does: RED on the queue as it
//! is, when a packet leaves.

use std::collections::VecDeque;

use super::discipline::{Contradiction, Discipline};
use super::reasons::{DATA_QUEUE_FULL, LIMIT_EXCEEDED, UNFORCED_MARK};
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::rng::RngStream;
use crate::base::units::QueueSize;
use crate::packet::{Flags, PacketId};

const DATA: &str = "DataLimit";
const HEADERS: &str = "HeaderLimit";
const WEIGHT: &str = "HeaderWeight";
const ODDS: &str = "TrimArriving";
const MARK_LOW: &str = "MarkLow";
const MARK_HIGH: &str = "MarkHigh";

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "NdpQueueDisc",
        linux: &["ndp"],
        is_in_linux: false,
        doc: "Cuts packets to their headers where a short data queue is full; headers go first.",
        source: "Handley et al., ACM SIGCOMM 2017",
        departures: &[],
        params: &[
            param![DATA; Kind::QueueSize => "8p"; "How much data waits, in packets or bytes."],
            param![HEADERS; Kind::QueueSize => "1125p";
                "How many headers wait: as many as have room where 8 packets of 9000 B have."],
            param![WEIGHT; Kind::Uint { min: 1, max: 1_000_000 } => "10";
                "So many headers go for each packet of data, where both wait."],
            param![ODDS; FRACTION => "0.5";
                "How likely it is the arriving packet that is cut, not the last one of the data queue."],
            param![MARK_LOW; Kind::Uint { min: 0, max: 1_000_000_000 } => "0";
                "Data in bytes above which a packet that leaves may be marked."],
            param![MARK_HIGH; Kind::Uint { min: 0, max: 1_000_000_000 } => "0";
                "Data in bytes above which it is marked for certain; 0: never."],
        ],
    },
    &[
        &[],
        &[(DATA, "3000B"), (HEADERS, "20p"), (WEIGHT, "2")],
        &[(DATA, "20p"), (MARK_LOW, "2000"), (MARK_HIGH, "12000")],
    ],
)
.checked(check)
.trimming();

fn check(a: &Attributes<'_>) -> Result<(), Contradiction> {
    let [low, high] = [MARK_LOW, MARK_HIGH].map(|name| a.u32(name));
    if high > 0 && low > high {
        return Err((MARK_LOW, format!("{low} is above {MARK_HIGH}, {high}")));
    }
    if high == 0 && low > 0 {
        return Err((MARK_LOW, format!("{low} has no effect without {MARK_HIGH}")));
    }
    Ok(())
}

#[derive(Debug)]
pub struct Ndp {
    data: VecDeque<PacketId>,
    data_bytes: u32,
    headers: PacketFifo,
    limits: [QueueSize; 2],
    weight: u32,
    odds: f64,
    /// Of what waits, in bytes; the second is 0 where nothing is marked.
    marks: [u32; 2],
    random: RngStream,
    /// Headers that have gone since the last packet of data, while both waited.
    turns: u32,
}

impl Ndp {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        Ndp {
            data: VecDeque::new(),
            data_bytes: 0,
            headers: PacketFifo::default(),
            limits: [DATA, HEADERS].map(|name| cx.attributes.queue_size(name)),
            weight: cx.attributes.u32(WEIGHT),
            odds: cx.attributes.f64(ODDS),
            marks: [MARK_LOW, MARK_HIGH].map(|name| cx.attributes.u32(name)),
            random: RngStream::fixed(cx.run, cx.stream),
            turns: 0,
        }
    }

    fn has_room(&self, ip_bytes: u32) -> bool {
        match self.limits[0] {
            QueueSize::Packets(limit) => (self.data.len() as u32) < limit,
            QueueSize::Bytes(limit) => self.data_bytes + ip_bytes <= limit,
        }
    }

    fn push_data(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) {
        self.data_bytes += cx.packets[id].ip_bytes;
        self.data.push_back(id);
        cx.enqueued(id);
    }

    /// The last one of the data queue is cut, as often as it takes for a packet of `ip_bytes` to have room.  Returns
    /// whether it has now.
    fn trim_last(&mut self, ip_bytes: u32, cx: &mut QdiscContext<'_>) -> bool {
        let fits_alone = match self.limits[0] {
            QueueSize::Packets(limit) => limit > 0,
            QueueSize::Bytes(limit) => ip_bytes <= limit,
        };
        while !self.has_room(ip_bytes) {
            let may_trim = |id: &&PacketId| cx.packets[**id].flags.has(Flags::MAY_TRIM);
            let Some(&last) = self.data.back().filter(|id| fits_alone && may_trim(id)) else {
                return false;
            };
            self.data.pop_back();
            self.data_bytes -= cx.packets[last].ip_bytes;
            cx.trim(last, true, DATA_QUEUE_FULL);
            if self.headers.has_room(self.limits[1], cx.packets[last].ip_bytes) {
                self.headers.append(last, cx.packets);
            } else {
                cx.dequeued(last);
                cx.drop_after_dequeue(last, LIMIT_EXCEEDED);
            }
        }
        true
    }

    fn enqueue_header(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        if !self.headers.has_room(self.limits[1], cx.packets[id].ip_bytes) {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        self.headers.push(id, cx);
        true
    }

    /// Whether a packet that leaves so much data behind is marked.
    fn marks(&mut self) -> bool {
        let [low, high] = self.marks;
        let above = self.data_bytes.saturating_sub(low);
        if high == 0 || above == 0 {
            return false;
        }
        self.data_bytes > high
            || self.random.unit() * f64::from(high.saturating_sub(low)) < f64::from(above)
    }

    /// Whether a header goes next; none if nothing does.
    fn header_is_next(&self) -> Option<bool> {
        match (self.headers.is_empty(), self.data.is_empty()) {
            (true, true) => None,
            (is_empty, false) => Some(!is_empty && self.turns < self.weight),
            (false, true) => Some(true),
        }
    }
}

impl Qdisc for Ndp {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let packet = cx.packets[id];
        if packet.payload == 0 {
            return self.enqueue_header(id, cx);
        }
        let is_let_in = self.has_room(packet.ip_bytes)
            || self.random.unit() >= self.odds && self.trim_last(packet.ip_bytes, cx);
        if is_let_in {
            self.push_data(id, cx);
            return true;
        }
        if !packet.flags.has(Flags::MAY_TRIM) {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        cx.trim(id, false, DATA_QUEUE_FULL);
        self.enqueue_header(id, cx)
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        if self.header_is_next()? {
            self.turns += u32::from(!self.data.is_empty());
            return self.headers.pop(cx);
        }
        self.turns = 0;
        let id = self.data.pop_front()?;
        self.data_bytes -= cx.packets[id].ip_bytes;
        if self.marks() {
            cx.mark(id, UNFORCED_MARK);
        }
        cx.dequeued(id);
        Some(id)
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(match self.header_is_next() {
            Some(true) => self.headers.head(),
            _ => self.data.front().copied(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::base::seq::Seq;
    use crate::net::qdisc::bench::Bench;
    use crate::net::qdisc::{Head, Qdisc};
    use crate::packet::verdict::Verdict;
    use crate::packet::{Ecn, Flags, Packet, TRIMMING_HEADERS};

    fn bench(given: &[(&str, &str)]) -> Bench {
        Bench::new("NdpQueueDisc", given)
    }

    /// A packet of data with its number; returns whether it got in, cut or whole.
    fn data(bench: &mut Bench, number: u32, flags: Flags) -> bool {
        let packet = Packet {
            seq: Seq(number),
            ip_bytes: TRIMMING_HEADERS + 1000,
            payload: 1000,
            flags,
            ..Packet::default()
        };
        let id = bench.packets.insert(packet);
        bench.call(|q, cx| q.enqueue(id, cx))
    }

    fn fill(bench: &mut Bench, count: u32) {
        (0..count).for_each(|number| {
            data(bench, number, Flags::MAY_TRIM);
        });
    }

    /// Number and payload of what leaves.
    fn left(bench: &mut Bench) -> Vec<(u32, u16)> {
        let all = std::iter::from_fn(|| bench.depart());
        all.map(|packet| (packet.seq.0, packet.payload)).collect()
    }

    fn counted(bench: &Bench, verdict: Verdict) -> (u64, u64) {
        let counts = bench.state.decisions.counts.iter().filter(|c| c.verdict == verdict);
        counts.fold((0, 0), |(packets, bytes), c| (packets + c.packets, bytes + c.bytes))
    }

    #[test]
    fn the_arriving_packet_is_cut_and_its_header_goes_first() {
        let mut bench = bench(&[("TrimArriving", "1")]);
        fill(&mut bench, 10);
        let bytes = 8 * (TRIMMING_HEADERS + 1000) + 2 * TRIMMING_HEADERS;
        assert_eq!((bench.state.packets, bench.state.bytes), (10, bytes));
        assert_eq!(counted(&bench, Verdict::Trim), (2, 2000));
        let mut expected = vec![(8, 0), (9, 0)];
        expected.extend((0..8).map(|number| (number, 1000)));
        assert_eq!(left(&mut bench), expected);
        assert_eq!((bench.state.packets, bench.state.bytes), (0, 0));
    }

    #[test]
    fn or_the_last_one_of_the_queue_is() {
        let mut bench = bench(&[("TrimArriving", "0")]);
        fill(&mut bench, 10);
        let mut expected = vec![(7, 0), (8, 0)];
        expected.extend([0, 1, 2, 3, 4, 5, 6, 9].map(|number| (number, 1000)));
        assert_eq!(left(&mut bench), expected);
    }

    #[test]
    fn a_header_says_that_it_is_one_and_has_64_bytes_on_the_wire() {
        let mut bench = bench(&[("DataLimit", "1p"), ("TrimArriving", "1")]);
        fill(&mut bench, 2);
        let header = bench.depart().unwrap();
        assert!(header.flags.has(Flags::TRIMMED) && !header.flags.has(Flags::MAY_TRIM));
        assert_eq!((header.wire_bytes(), header.payload), (64, 0));
        let whole = bench.depart().unwrap();
        assert!(!whole.flags.has(Flags::TRIMMED));
    }

    /// Of 4000 that find the queue full the arriving one is cut in as many cases as the other one is: to four
    /// standard deviations of a coin.
    #[test]
    fn both_are_cut_alike() {
        let mut bench = bench(&[("HeaderLimit", "9000p")]);
        fill(&mut bench, 4008);
        let whole = left(&mut bench).into_iter().filter(|&(_, payload)| payload > 0);
        let whole: Vec<_> = whole.map(|(number, _)| number).collect();
        // The first seven are never the last ones.
        assert_eq!(whole[..7], [0, 1, 2, 3, 4, 5, 6]);
        let mut last_was_cut = 0;
        for seed in 1..=4000 {
            let mut bench = Bench::with_seed("NdpQueueDisc", &[("DataLimit", "1p")], seed);
            fill(&mut bench, 2);
            last_was_cut += u32::from(left(&mut bench) == [(0, 0), (1, 1000)]);
        }
        assert!(last_was_cut.abs_diff(2000) < 127, "{last_was_cut}");
    }

    #[test]
    fn ten_headers_go_for_each_packet_of_data_while_both_wait() {
        let mut bench = bench(&[("TrimArriving", "1")]);
        fill(&mut bench, 108);
        let order = left(&mut bench);
        let is_data: Vec<_> = order.iter().map(|&(_, payload)| payload > 0).collect();
        for (i, &is_data) in is_data[..88].iter().enumerate() {
            assert_eq!(is_data, i % 11 == 10, "{i}");
        }
        // 80 headers have gone with the 8 packets; the others are alone.
        assert!(is_data[88..].iter().all(|is_data| !is_data));
        assert_eq!(is_data.len(), 108);
    }

    #[test]
    fn headers_that_go_while_no_data_waits_take_no_turn() {
        let mut bench = bench(&[("HeaderWeight", "2")]);
        (0..5).for_each(|_| {
            bench.arrive(0, 62, crate::packet::Ecn::NotEct);
        });
        (0..2).for_each(|_| assert_eq!(bench.depart().unwrap().payload, 0));
        fill(&mut bench, 2);
        let payloads: Vec<_> = left(&mut bench).into_iter().map(|(_, payload)| payload).collect();
        assert_eq!(payloads, [0, 0, 1000, 0, 1000]);
    }

    #[test]
    fn headers_beyond_their_queue_are_dropped_whichever_was_cut() {
        for (odds, left_whole) in [("1", [0, 1]), ("0", [0, 9])] {
            let given = [("DataLimit", "2p"), ("HeaderLimit", "3p"), ("TrimArriving", odds)];
            let mut bench = bench(&given);
            fill(&mut bench, 10);
            assert_eq!(bench.state.packets, 5);
            assert_eq!(counted(&bench, Verdict::Trim), (8, 8000));
            let dropped = bench.state.decisions.dropped_packets;
            assert_eq!((dropped, bench.state.decisions.dropped_bytes), (5, 5 * 62));
            let whole = left(&mut bench).into_iter().filter(|&(_, payload)| payload > 0);
            assert_eq!(whole.map(|(number, _)| number).collect::<Vec<_>>(), left_whole);
        }
    }

    #[test]
    fn what_may_not_be_cut_is_dropped_and_nothing_else_for_it() {
        for odds in ["0", "1"] {
            let mut bench = bench(&[("DataLimit", "2p"), ("TrimArriving", odds)]);
            assert!(data(&mut bench, 0, Flags::MAY_TRIM));
            assert!(data(&mut bench, 1, Flags::ACK));
            assert!(!data(&mut bench, 2, Flags::ACK));
            assert!(data(&mut bench, 3, Flags::MAY_TRIM));
            assert_eq!(left(&mut bench), [(3, 0), (0, 1000), (1, 1000)]);
        }
    }

    #[test]
    fn a_limit_in_bytes_holds_however_large_packets_are() {
        let mut bench = bench(&[("DataLimit", "2200B"), ("TrimArriving", "0")]);
        fill(&mut bench, 2);
        let large = Packet {
            seq: Seq(2),
            ip_bytes: TRIMMING_HEADERS + 2100,
            payload: 2100,
            flags: Flags::MAY_TRIM,
            ..Packet::default()
        };
        let id = bench.packets.insert(large);
        assert!(bench.call(|q, cx| q.enqueue(id, cx)));
        assert_eq!(left(&mut bench), [(1, 0), (0, 0), (2, 2100)]);
    }

    fn marked(bench: &mut Bench) -> Vec<bool> {
        (0..10).for_each(|number| {
            let packet = Packet {
                seq: Seq(number),
                ip_bytes: TRIMMING_HEADERS + 938,
                payload: 938,
                flags: Flags::MAY_TRIM,
                ecn: Ecn::Ect0,
                ..Packet::default()
            };
            let id = bench.packets.insert(packet);
            bench.call(|q, cx| q.enqueue(id, cx));
        });
        std::iter::from_fn(|| bench.depart()).map(|packet| packet.ecn == Ecn::Ce).collect()
    }

    #[test]
    fn data_that_leaves_more_than_the_upper_mark_behind_is_marked_and_up_to_the_lower_one_is_not() {
        let given = [("DataLimit", "10p"), ("MarkLow", "4000"), ("MarkHigh", "4000")];
        // Nine are left behind first.
        let expected: Vec<_> = (0..10).map(|left| left < 5).collect();
        assert_eq!(marked(&mut bench(&given)), expected);
        assert_eq!(marked(&mut bench(&given[..1])), [false; 10]);
    }

    /// With 2 kB to 8 kB a packet that leaves 5 kB is marked in half of the cases: to four standard deviations of a coin.
    #[test]
    fn between_the_marks_it_is_the_likelier_the_more_there_is() {
        let given = [("DataLimit", "10p"), ("MarkLow", "2000"), ("MarkHigh", "8000")];
        let (runs, mut counts) = (2000, [0_u32; 10]);
        for seed in 1..=runs {
            let mut bench = Bench::with_seed("NdpQueueDisc", &given, seed);
            let marks = marked(&mut bench).into_iter().map(u32::from);
            counts.iter_mut().zip(marks).for_each(|(count, mark)| *count += mark);
        }
        for (left, count) in (0..10).rev().zip(counts) {
            let due = ((f64::from(left) * 1000.0 - 2000.0) / 6000.0).clamp(0.0, 1.0);
            let mean = due * f64::from(runs as u32);
            let error = 4.0 * (mean * (1.0 - due)).sqrt();
            assert!((f64::from(count) - mean).abs() <= error, "{left}: {count} {mean}");
        }
    }

    #[test]
    fn what_comes_next_is_known() {
        let mut bench = bench(&[("HeaderWeight", "1"), ("TrimArriving", "1")]);
        fill(&mut bench, 12);
        while bench.state.packets > 0 {
            let Head::Known(Some(next)) = bench.call(|q, cx| q.peek(cx)) else {
                panic!("something waits")
            };
            let number = bench.packets[next].seq;
            assert_eq!(bench.depart().unwrap().seq, number);
        }
        assert_eq!(bench.call(|q, cx| q.peek(cx)), Head::Known(None));
    }
}
