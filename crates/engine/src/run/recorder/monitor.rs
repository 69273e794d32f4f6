//! The tables of the flow monitor.

use crate::packet::flow_monitor::Counts;
use crate::run::recording::Table;
use crate::run::recording::tables::{FlowHistograms, FlowMonitor};

use super::optional;

pub fn tables(ways: &[Counts]) -> [Table; 2] {
    let (mut t, mut h) = (FlowMonitor::default(), FlowHistograms::default());
    for (i, way) in ways.iter().enumerate() {
        t.flow.push(i64::from(way.flow));
        t.direction.push(i64::from(way.backward));
        t.first_tx_ns.push(way.first_tx.ns());
        t.last_tx_ns.push(way.last_tx.ns());
        t.first_rx_ns.push(optional(way.first_rx));
        t.last_rx_ns.push(optional(way.last_rx));
        t.delay_sum_ns.push(way.delay_sum.ns());
        t.jitter_sum_ns.push(way.jitter_sum.ns());
        t.last_delay_ns.push(optional(way.last_delay));
        t.max_delay_ns.push(optional(way.max_delay));
        t.min_delay_ns.push(optional(way.min_delay));
        t.tx_bytes.push(way.tx_bytes as i64);
        t.rx_bytes.push(way.rx_bytes as i64);
        t.tx_packets.push(way.tx_packets as i64);
        t.rx_packets.push(way.rx_packets as i64);
        t.lost_packets.push(way.lost_packets as i64);
        t.times_forwarded.push(way.times_forwarded as i64);
        let [no_route, device, qdisc] = way.drops;
        for ((packets, bytes), columns) in [
            (no_route, [&mut t.no_route_packets, &mut t.no_route_bytes]),
            (device, [&mut t.device_packets, &mut t.device_bytes]),
            (qdisc, [&mut t.qdisc_packets, &mut t.qdisc_bytes]),
        ] {
            let [of_packets, of_bytes] = columns;
            of_packets.push(packets as i64);
            of_bytes.push(bytes as i64);
        }
        for (&(histogram, bin), &packets) in &way.bins {
            h.way.push(i as i64);
            h.histogram.push(histogram.name().to_owned());
            h.bin.push(i64::from(bin));
            h.packets.push(packets as i64);
        }
    }
    [t.into_table(), h.into_table()]
}
