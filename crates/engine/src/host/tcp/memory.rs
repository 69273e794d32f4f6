//! What Linux's buffers hold: twice what is asked for (`SO_SNDBUF`, `SO_RCVBUF`), counted in the memory that segments take.

use super::config::Config;

/// Bytes of memory that a segment takes beside its data, before both are rounded up to a power of two, and those that describe it
/// (x86-64, 7.3.4).
const BESIDE_DATA: u32 = 436;
const DESCRIPTION: u32 = 256;
/// What fits has this much of its own, which is no power of two.
const SMALL_HEAD: u32 = 576;
/// In bytes: the segments that a receiver reckons with before any has come (RFC 9293 section 3.7.1).
pub const SMALL: u32 = 536;
/// Bytes that a receive buffer may have at most (the last of `tcp_rmem`).
pub const LARGEST_BUFFER: u32 = 33_554_432;

/// What a buffer takes of which so much is asked for.
pub fn doubled(buffer: u32) -> u64 {
    2 * u64::from(buffer)
}

/// Bytes of data for which a receive buffer of this size has room, by segments of `segment` bytes.
pub fn room(buffer: u32, segment: u32) -> u32 {
    room_beside(buffer, segment, 0)
}

/// The same while so much memory is `used`.  Data is taken for the share of the memory that such a segment fills of its own
/// (`scaling_ratio`), and for a half while none has more than 536 B.
pub fn room_beside(buffer: u32, segment: u32, used: u32) -> u32 {
    let free = doubled(buffer).saturating_sub(used.into());
    (free * share(segment) / 256).try_into().unwrap_or(u32::MAX)
}

/// Of 256ths of memory, those that data is taken for where segments have so many bytes.
pub fn share(segment: u32) -> u64 {
    if segment > SMALL { 256 * u64::from(segment) / u64::from(memory_of(segment)) } else { 128 }
}

/// What the memory of a segment of so many bytes counts as data, by the share of segments of `measured` bytes.
pub fn data_of(bytes: u32, measured: u32) -> u32 {
    (u64::from(memory_of(bytes)) * share(measured) / 256) as u32
}

/// What a segment takes of a receive buffer.
pub fn memory_of(segment: u32) -> u32 {
    let bytes = segment + BESIDE_DATA;
    DESCRIPTION + if bytes > SMALL_HEAD { bytes.next_power_of_two() } else { SMALL_HEAD }
}

/// What of that more data could take.
pub fn free_of(segment: u32) -> u32 {
    memory_of(segment) - DESCRIPTION - BESIDE_DATA - segment
}

/// The largest window that is offered: what there is room for, in whole units of the window field, as far as that can say it
/// (`__tcp_select_window`), and what was asked for, which is offered at first.
pub fn largest_window(config: &Config) -> u32 {
    let shift = config.window_shift();
    let sayable = config.max_window << shift;
    let room = room(config.receive_buffer, config.segment_size).max(config.receive_buffer);
    room.checked_next_multiple_of(1 << shift).map_or(sayable, |room| room.min(sayable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::bench;

    /// 7.3.4: 4,194,240 bytes at most of a buffer of 4 MB, and 2,304 bytes a segment.
    #[test]
    fn a_window_is_what_its_field_can_say_or_what_segments_leave_of_twice_the_buffer() {
        let config =
            |buffer, segment| bench::config(&[("RcvBufSize", buffer), ("SegmentSize", segment)]);
        assert_eq!(room(4_000_000, 1448), 5_000_000);
        assert_eq!(largest_window(&config("4000000", "1448")), 65_535 << 6);
        assert_eq!(largest_window(&config("131072", "1448")), 163_840);
        assert_eq!(largest_window(&config("50000", "1448")), 62_500);
    }
}
