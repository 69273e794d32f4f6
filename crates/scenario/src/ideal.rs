//! How long a transfer takes that has the network to itself.

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::time::Rate;
use ccperf_engine::packet::{IP_HEADER, PPP_HEADER, TCP_HEADER, TIMESTAMP_OPTION};
use ccperf_schema::lowered::Link;

/// The least time in ns in which `bytes` can be sent and acknowledged: a round trip to connect (the recording leaves it out where the connection was open); then as
/// few segments as hold them, back to back, through the slowest link of the path, the last of them through
/// the other links as well; and the propagation there and back.  Rates and delays are those at time 0; no
/// queues, no limit of a window, and control segments take no time on the wire.  `added_ns` of propagation
/// come to those of the links.  So
///
/// ```text
/// 2 (propagation there and back) + sum over all segments but the last 8 wire / least rate + sum over links 8 wire(last) / rate
/// ```
///
/// where the wire has, besides the payload, the headers of IP and TCP (with timestamps, if the socket uses
/// them) and PPP of each segment; the time of a segment on a link is in whole ns, rounded as links round it: what they
/// cut off of each is much of a long transfer's last digits.
pub(super) fn completion_ns(
    bytes: u64,
    socket: &Attributes<'_>,
    [path, return_path]: [&[[usize; 2]]; 2],
    links: &[Link],
    added_ns: u64,
) -> u64 {
    let options = if socket.bool("Timestamp") { TIMESTAMP_OPTION } else { 0 };
    let header = u64::from(IP_HEADER + TCP_HEADER + options + PPP_HEADER);
    let segments =
        Segments { bytes, each: socket.u32("SegmentSize").into(), header, round_trips: 2 };
    segments.completion_ns([path, return_path], links, added_ns)
}

/// The same over RoCE, and of packets that may be cut: no connection is asked for, so a round trip less, packets of `payload`, and headers of their own.
pub(super) fn message_ns(
    bytes: u64,
    [payload, headers]: [u32; 2],
    paths: [&[[usize; 2]]; 2],
    links: &[Link],
    added_ns: u64,
) -> u64 {
    let (each, header) = (payload.into(), u64::from(headers + PPP_HEADER));
    Segments { bytes, each, header, round_trips: 1 }.completion_ns(paths, links, added_ns)
}

/// What a transfer is cut into.
struct Segments {
    bytes: u64,
    /// Payload of a full one.
    each: u64,
    header: u64,
    /// There and back.
    round_trips: u64,
}

impl Segments {
    fn completion_ns(
        &self,
        [path, return_path]: [&[[usize; 2]]; 2],
        links: &[Link],
        added_ns: u64,
    ) -> u64 {
        let &Segments { bytes, each: segment, header, round_trips } = self;
        let segments = bytes.div_ceil(segment);
        let last = bytes - (segments - 1) * segment + header;
        let delays = path.iter().chain(return_path).map(|&[link, _]| links[link].delay_ns);
        let propagation = delays.sum::<u64>() + added_ns;
        let rates = path.iter().map(|&[link, side]| Rate(links[link].directions[side].rate_bps));
        let time =
            |bytes: u64, rate: Rate| rate.tx_time(u32::try_from(bytes).unwrap_or(u32::MAX)).0;
        let slowest = rates.clone().min().map_or(0, |least| time(segment + header, least));
        let all_but_one = (segments - 1).saturating_mul(slowest);
        let last_one = rates.map(|rate| time(last, rate)).sum::<u64>();
        (round_trips * propagation).saturating_add(all_but_one).saturating_add(last_one)
    }
}
