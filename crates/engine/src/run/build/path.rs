//! What a sender that is no TCP knows of its path.

use ccperf_schema::lowered::Link;

use crate::base::time::{Rate, Time};
use crate::host::path::Path;

/// Over these hops there and back, with full packets and with answers of so many bytes on the wire.
pub fn of(
    hops: [&[[usize; 2]]; 2],
    [packet, answer]: [u32; 2],
    added_delay_ns: u64,
    links: &[Link],
) -> Path {
    let rate_of = |&[link, side]: &[usize; 2]| Rate(links[link].directions[side].rate_bps);
    let one_way = |path: &[[usize; 2]], bytes: u32| -> u64 {
        let hop = |hop: &[usize; 2]| links[hop[0]].delay_ns + rate_of(hop).tx_time(bytes).0;
        path.iter().map(hop).sum()
    };
    let [there, back] = hops;
    Path {
        line: rate_of(&there[0]),
        rtt: Time(one_way(there, packet) + added_delay_ns + one_way(back, answer)),
        switches: there.len() as u32 - 1,
        packet,
    }
}
