//! A congestion control and a queue discipline of one's own.
//!
//! ```text
//! cargo build --release
//! ccperf run aqm --cc target/release/libmycca.so,TcpCubic --k 1 --qdisc codel
//! ```

use std::collections::VecDeque;

use ccperf_plugin::{Config, CongestionControl, Packet, Queue, QueueDisc, Tcb};

/// NewReno that keeps `beta` of what is in flight on a loss.
#[derive(Debug)]
struct MyCca {
    beta: f64,
}

impl CongestionControl for MyCca {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let kept = self.beta * f64::from(bytes_in_flight);
        (kept as u32).max(2 * tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, mut segments_acked: u32) {
        if segments_acked > 0 && tcb.cwnd < tcb.ssthresh {
            tcb.cwnd += tcb.segment_size; // slow start
            segments_acked -= 1;
        }
        if segments_acked > 0 && tcb.cwnd >= tcb.ssthresh {
            // One segment per round trip.
            tcb.cwnd += (tcb.segment_size * tcb.segment_size / tcb.cwnd).max(1);
        }
    }
}

ccperf_plugin::export_congestion_control!(|config: &Config| MyCca {
    beta: config.get("beta", 0.7),
});

/// First in, first out, with a limit in packets.
#[derive(Debug)]
struct MyQueue {
    limit: usize,
    waiting: VecDeque<u32>,
}

impl QueueDisc for MyQueue {
    fn enqueue(&mut self, packet: &Packet, queue: &mut Queue) -> bool {
        if self.waiting.len() >= self.limit {
            queue.drop_packet(packet.id, "Queue disc limit exceeded");
            return false;
        }
        self.waiting.push_back(packet.id);
        true
    }

    fn dequeue(&mut self, _queue: &mut Queue) -> Option<u32> {
        self.waiting.pop_front()
    }
}

ccperf_plugin::export_queue_disc!(|config: &Config| {
    let size = config.get("MaxSize", String::from("100p"));
    let limit = size.strip_suffix('p').and_then(|packets| packets.parse().ok());
    let limit = limit.unwrap_or_else(|| panic!("MaxSize: `{size}` is not like 20p"));
    MyQueue { limit, waiting: VecDeque::new() }
});
