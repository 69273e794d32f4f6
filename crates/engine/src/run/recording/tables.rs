//! The tables of a recording, declared once: each column with its kind, its unit and the sentence that
//! says what it is.  The Python schema, the tables of `docs/design/contract.md` and the rows of the ns-3
//! driver are made from these.

use std::io::{self, Write};

use super::long_table::{Cells, Rows};
use super::{Column, ColumnSpec, Kind, Table, TableSpec};

/// Declares tables, and for each a group of columns that grow together.  The comment of a column is its
/// meaning, the text behind its kind its unit.
macro_rules! tables {
    ($(
        $(#[doc = $about:literal])+
        $name:ident = $table:literal $($optional:ident)? {
            $($(#[doc = $doc:literal])+ $column:ident: $kind:ident $($unit:literal)?,)*
        }
    )*) => {
        /// All tables, in the order of a recording.
        pub const TABLES: &[TableSpec] = &[$(TableSpec {
            name: $table,
            row: concat!($($about),+).trim_ascii(),
            is_optional: tables!(@optional $($optional)?),
            columns: &[$(ColumnSpec {
                name: stringify!($column),
                kind: Kind::$kind,
                unit: concat!($($unit)?),
                meaning: concat!($($doc),+).trim_ascii(),
            },)*],
        },)*];

        $(
            $(#[doc = $about])+
            #[derive(Clone, Debug, Default)]
            pub(crate) struct $name {
                $($(#[doc = $doc])+ pub(crate) $column: tables!(@vec $kind),)*
            }

            impl $name {
                pub(crate) fn into_table(self) -> Table {
                    let columns =
                        vec![$((stringify!($column).to_string(), Column::$kind(self.$column)),)*];
                    Table { name: $table.to_string(), columns }
                }
            }

            impl Rows for $name {
                const NAME: &'static str = $table;
                const KINDS: &'static [Kind] = &[$(Kind::$kind,)*];

                fn count(&self) -> usize {
                    [$(self.$column.len(),)*][0]
                }

                fn put_away(&mut self, out: &mut impl Write) -> io::Result<()> {
                    $(self.$column.put_away(out)?;)*
                    Ok(())
                }

                fn into_table(self) -> Table {
                    $name::into_table(self)
                }
            }
        )*
    };
    (@optional) => { false };
    (@optional optional) => { true };
    (@vec I64) => { Vec<i64> };
    (@vec F64) => { Vec<f64> };
    (@vec Str) => { Vec<String> };
}

tables! {
    /// a row a flow
    Flows = "flows" {
        /// the flow's name
        name: Str,
        /// data segments or datagrams emitted
        segments_sent: I64 "segments",
        /// data segments emitted below the highest sequence number emitted before
        retransmissions: I64 "segments",
        /// entries into the Loss state
        rtos: I64,
        /// finished recovery episodes
        recovery_episodes: I64,
        /// total length of the finished episodes, each from entering Recovery to leaving Recovery or Loss
        recovery_time_ns: I64 "ns",
        /// start of the application
        start_ns: I64 "ns",
        /// its stop; the run's where the scenario names none
        stop_ns: I64 "ns",
        /// when the application had closed and all its bytes were acknowledged
        completion_ns: F64 "ns",
        /// propagation delay there and back at time 0
        base_rtt_ns: I64 "ns",
        /// the direction with the smallest configured rate on the forward path at time 0, the first of
        /// equals
        bottleneck: Str,
    }

    /// a row a direction
    Links = "links" {
        /// the direction: `<link>_forward` or `<link>_reverse`
        name: Str,
        /// transmissions started
        tx_packets: I64 "packets",
        /// their bytes, PPP header included
        tx_bytes: I64 "B",
        /// accepted by the queue discipline
        qdisc_enqueued: I64 "packets",
        /// dropped by the queue discipline
        qdisc_dropped: I64 "packets",
        /// marked CE by the queue discipline
        qdisc_marked: I64 "packets",
        /// refused by the device queue
        device_dropped: I64 "packets",
        /// lost at the receiving device
        loss_dropped: I64 "packets",
        /// lost because of a failure: queued or on the wire then, or without a route afterwards
        failure_dropped: I64 "packets",
    }

    /// a row per direction, verdict and reason
    Drops = "drops" {
        /// the direction
        link: Str,
        /// `drop_before_enqueue`, `drop_after_dequeue`, `mark` or `trim`, whose bytes are those cut off
        verdict: Str,
        /// the queue discipline's reason, in ns-3's words
        reason: Str,
        /// how many
        packets: I64 "packets",
        /// their IP bytes
        bytes: I64 "B",
    }

    /// rows ordered by (time, flow): the grid points 0, interval, 2 interval, ... below the stop time,
    /// each with the values after the last change at or before it
    FlowSamples = "flow_samples" {
        /// grid point
        time_ns: I64 "ns",
        /// index into `flows`
        flow: I64,
        /// congestion window; 0 before the connection
        cwnd_bytes: I64 "B",
        /// slow start threshold; 0 before the connection
        ssthresh_bytes: I64 "B",
        /// bytes in flight; 0 before the connection
        in_flight_bytes: I64 "B",
        /// TCP's smoothed round-trip time
        srtt_ns: F64 "ns",
        /// payload of all data segments emitted, retransmissions included
        sent_bytes: I64 "B",
        /// payload of all data segments that reached the destination's IP layer, duplicates included
        received_bytes: I64 "B",
        /// advance of the highest cumulative ACK at the sender, without the FIN
        acked_bytes: I64 "B",
        /// bytes the socket accepted from the application
        written_bytes: I64 "B",
        /// bytes handed to the receiving application
        read_bytes: I64 "B",
        /// EWMA (weight 0.05 for the new gap, started with the first gap) of the gaps between data
        /// segments emitted
        idt_ewma_ns: F64 "ns",
        /// for the last read that completed an application packet (`write` bytes): time of the read minus
        /// creation stamp of the last packet completed
        one_way_delay_ns: F64 "ns",
        /// retransmissions so far
        retransmissions: I64 "segments",
        /// entries into the Loss state so far
        rtos: I64,
        /// pacing rate; 0 without pacing and before the connection
        pacing_rate_bps: I64 "bit/s",
    }

    /// rows ordered by (time, direction), on the grid of `flow_samples`
    LinkSamples = "link_samples" {
        /// grid point
        time_ns: I64 "ns",
        /// index into `links`
        link: I64,
        /// bytes of the transmissions started, PPP included
        tx_bytes: I64 "B",
        /// packets in the queue discipline
        qdisc_packets: I64 "packets",
        /// bytes in the queue discipline
        qdisc_bytes: I64 "B",
        /// sojourn time of the packet taken from the queue last, those then dropped included
        sojourn_ns: F64 "ns",
        /// dropped by the queue discipline so far
        qdisc_dropped: I64 "packets",
        /// marked by the queue discipline so far
        qdisc_marked: I64 "packets",
        /// configured rate of the interval that ends here
        rate_bps: I64 "bit/s",
    }

    /// if asked for, rows ordered by (time, direction): the grid points 0, interval, 2 interval, ... of
    /// the queues' own interval
    QueueSamples = "queue_samples" optional {
        /// grid point
        time_ns: I64 "ns",
        /// index into `links`
        link: I64,
        /// packets in the queue discipline
        qdisc_packets: I64 "packets",
        /// bytes in the queue discipline
        qdisc_bytes: I64 "B",
        /// sojourn time of the packet taken from the queue last, those then dropped included
        sojourn_ns: F64 "ns",
    }

    /// if asked for: a row a flow that is acknowledged; first those that have ended, by their end and then by flow, then those
    /// that have not, by flow
    Completions = "completions" optional {
        /// index into `flows`
        flow: I64,
        /// the group that the scenario puts it in; empty without one
        group: Str,
        /// start of the application
        start_ns: I64 "ns",
        /// when the application had closed and all its bytes were acknowledged; an unfinished flow has no
        /// end
        end_ns: F64 "ns",
        /// whether it has ended: 1 or 0; one that was stopped before it had sent all ends with less acknowledged
        /// than its size
        finished: I64,
        /// what the transfer has to carry; 0 without end
        size_bytes: I64 "B",
        /// of it, what was acknowledged
        acked_bytes: I64 "B",
        /// data segments emitted below the highest sequence number emitted before
        retransmissions: I64 "segments",
        /// entries into the Loss state
        rtos: I64,
        /// the ideal completion time: the least time that the transfer could take alone, over its connection
        /// if that was open
        ideal_ns: F64 "ns",
    }

    /// if asked for: a row for each flow of which data has come to its destination, by flow
    Deliveries = "deliveries" optional {
        /// index into `flows`
        flow: I64,
        /// when the last packet with payload or FIN came to the destination's IP layer
        last_rx_ns: I64 "ns",
    }

    /// if transfers answer others: a row for each that does, by flow
    Answers = "answers" optional {
        /// index into `flows`
        flow: I64,
        /// what it answers: index into `flows`
        request: I64,
        /// when all of it had come to who asked; an unfinished one has no time
        arrived_ns: F64 "ns",
    }

    /// if asked for: a row for each direction of a flow over TCP or UDP, in the order of their first packets, counted at the
    /// IP layer of hosts as ns-3's `FlowMonitor` does
    FlowMonitor = "flow_monitor" optional {
        /// index into `flows`
        flow: I64,
        /// 0 from source to destination, 1 back
        direction: I64,
        /// when the first packet was sent
        first_tx_ns: I64 "ns",
        /// when the last one was
        last_tx_ns: I64 "ns",
        /// when the first packet was received
        first_rx_ns: F64 "ns",
        /// when the last one was
        last_rx_ns: F64 "ns",
        /// sum of the times between sending and receiving
        delay_sum_ns: I64 "ns",
        /// sum of the differences between the delays of one packet and the next
        jitter_sum_ns: I64 "ns",
        /// the last delay
        last_delay_ns: F64 "ns",
        /// the longest one
        max_delay_ns: F64 "ns",
        /// the shortest one
        min_delay_ns: F64 "ns",
        /// with headers of TCP and IP, retransmissions and control segments
        tx_bytes: I64 "B",
        /// likewise
        rx_bytes: I64 "B",
        /// sent
        tx_packets: I64 "packets",
        /// received
        rx_packets: I64 "packets",
        /// those seen lost in the next columns, and those that nobody has seen for 10 s
        lost_packets: I64 "packets",
        /// how often those received were sent on by a switch
        times_forwarded: I64,
        /// dropped by switches that had no route
        no_route_packets: I64 "packets",
        /// their bytes
        no_route_bytes: I64 "B",
        /// refused by device queues
        device_packets: I64 "packets",
        /// their bytes
        device_bytes: I64 "B",
        /// dropped by queue disciplines
        qdisc_packets: I64 "packets",
        /// their bytes
        qdisc_bytes: I64 "B",
    }

    /// with `flow_monitor`: a row for each bin of its histograms that is not empty
    FlowHistograms = "flow_histograms" optional {
        /// index into `flow_monitor`
        way: I64,
        /// `delay`, `jitter` (bins of 1 ms), `packet_size` (20 B) or `interruption` (250 ms, from 500 ms on)
        histogram: Str,
        /// the bin, from 0
        bin: I64,
        /// how many packets
        packets: I64 "packets",
    }

    /// with `recording.balancing`: a row for each flow that has sent something, by flow, of the packets from its source to
    /// its destination, whatever is in them, numbered as the source sends them
    Reordering = "reordering" optional {
        /// index into `flows`
        flow: I64,
        /// those that arrived
        packets: I64 "packets",
        /// those of them that came after one with a larger number (RFC 4737, section 3.3)
        reordered: I64 "packets",
        /// sum of their extents: how many packets before it the first of those with a larger number came (RFC
        /// 4737, section 4.2)
        extent_sum: I64 "packets",
        /// the largest extent; 0 without any
        max_extent: I64 "packets",
        /// how often a packet with payload took another path than the one with payload sent before it, of those that
        /// arrived
        path_switches: I64,
    }

    /// with `recording.balancing`, if hosts probe: one row
    Probing = "probing" optional {
        /// of probes, which hosts have sent there and back
        packets: I64 "packets",
        /// their bytes, PPP header included
        bytes: I64 "B",
        /// all bytes that hosts have sent on their links, these among them
        host_bytes: I64 "B",
    }

    /// with `recording.balancing`, if hosts found some (Hermes): a row for each path found to have failed, by time
    FailedPaths = "failed_paths" optional {
        /// when
        time_ns: I64 "ns",
        /// until then nobody takes it who can choose
        until_ns: I64 "ns",
        /// from where: a leaf, for all hosts behind it, or a host
        source: Str,
        /// where to, likewise
        destination: Str,
        /// its number; in a leaf-spine that of the leaf's uplink, from 0
        path: I64,
        /// `random_drops` (of two leaves) or `black_hole` (of two hosts)
        reason: Str,
    }

    /// if links pause (PFC): a row for each priority of a direction that its far end can have pause
    Pauses = "pauses" optional {
        /// index into `links`: the direction that pauses
        link: I64,
        /// 0 to 7
        priority: I64,
        /// how often it was to pause from not pausing on
        pauses: I64,
        /// pause frames sent to it, about any priority, renewals and ends of pauses among them
        pause_frames: I64 "frames",
        /// how long it could not send
        paused_ns: I64 "ns",
        /// the most that the far end held of what had come over it, PPP headers included
        peak_bytes: I64 "B",
        /// the most of that above the threshold
        peak_headroom_bytes: I64 "B",
        /// lost at the far end for want of headroom; counted in `loss_dropped` as well
        dropped: I64 "packets",
    }

    /// with `recording.paths`: a row for each path that a followed flow took, in the order in which they
    /// were taken first
    Ways = "ways" optional {
        /// the directions between switches, in order, with spaces between; empty below one switch
        links: Str,
    }

    /// with `recording.paths`: a row for the first packet with payload from the source of a flow that arrived, and for each
    /// that took another path than the one with payload sent before it, of those that arrived; by time and then by flow
    Paths = "paths" optional {
        /// when the packet was sent
        time_ns: I64 "ns",
        /// index into `flows`
        flow: I64,
        /// index into `ways`
        way: I64,
    }

    /// if the scenario has some: a row a workload
    Workloads = "workloads" optional {
        /// its name
        name: Str,
        /// how many it has
        transfers: I64 "flows",
        /// what they carry together
        bytes: I64 "B",
        /// mean of the distribution of sizes
        mean_bytes: F64 "B",
        /// mean of the sizes drawn
        realised_mean_bytes: F64 "B",
        /// the load that was asked for; none if the times are given
        load: F64 "1",
        /// what the transfers drawn carry, in bits, over the capacity and the time in which they begin
        realised_load: F64 "1",
    }

    /// if the scenario has pings: a row for each echo request, by ping and time
    Echoes = "pings" optional {
        /// when the echo request was sent
        time_ns: I64 "ns",
        /// index into the scenario's pings
        ping: I64,
        /// until the reply arrived
        rtt_ns: F64 "ns",
    }

    /// if asked for: after each event the values of a sender that it changed, in order of execution and
    /// then of these names; what a variable passes through within one event is not recorded
    Changes = "changes" optional {
        /// time of the change
        time_ns: I64 "ns",
        /// index into `flows`
        flow: I64,
        /// `cwnd`, `ssthresh`, `in_flight`, `srtt_ns`, `cong_state`, `ecn_state`, `rto_ns` or
        /// `pacing_rate_bps` (0 unless it paces)
        name: Str,
        /// the new value: bytes, ns, bit/s or the state's number
        value: F64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_sentence_and_every_name_is_told_once() {
        for table in TABLES {
            assert!(!table.row.is_empty(), "{}", table.name);
            for (i, column) in table.columns.iter().enumerate() {
                assert!(!column.meaning.is_empty(), "{}.{}", table.name, column.name);
                let before = &table.columns[..i];
                assert!(before.iter().all(|other| other.name != column.name), "{}", column.name);
            }
        }
    }

    #[test]
    fn a_name_that_ends_in_a_unit_has_that_unit() {
        for column in TABLES.iter().flat_map(|table| table.columns) {
            for (end, unit) in [("_ns", "ns"), ("_bytes", "B"), ("_bps", "bit/s")] {
                assert!(!column.name.ends_with(end) || column.unit == unit, "{column:?}");
            }
        }
    }
}
