//! A congestion control, a queue discipline and a load balancer of one's own.
//!
//! ```text
//! cargo build --release
//! ccperf run aqm --cc target/release/libmycca.so,TcpCubic --k 1 --qdisc codel
//! ```

use std::collections::{HashMap, VecDeque};

use ccperf_plugin::{
    Config, CongestionControl, Hop, LoadBalancer, Packet, Queue, QueueDisc, Switch, Tcb, Time,
};

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

/// Each burst of a flow takes a way by a hash of flow and burst.  A packet that comes later than `gap` ns
/// after the one before it begins a new burst; without an end to bursts it is ECMP, the scheme `ecmp`.
#[derive(Debug)]
struct MyBalancer {
    gap: u64,
    seed: u64,
    /// Of each flow and direction: when its last packet came, and how many bursts have ended.
    seen: HashMap<(u32, i32), (Time, u64)>,
}

/// Spreads every bit over all 64 (the finisher of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

impl LoadBalancer for MyBalancer {
    fn pick(&mut self, packet: &mut Hop, switch: &mut Switch) -> u32 {
        let now = switch.now();
        let (last, bursts) = self.seen.entry((packet.flow, packet.backward)).or_insert((now, 0));
        if (now - *last).0 > self.gap {
            *bursts += 1;
        }
        *last = now;
        let node = u64::from(switch.node) + 1;
        let salt = mix(self.seed.wrapping_add(node.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let high = mix(packet.hash.wrapping_add(*bursts) ^ salt) >> 32;
        ((high * switch.ports().len() as u64) >> 32) as u32
    }
}

ccperf_plugin::export_load_balancer!(|config: &Config| MyBalancer {
    gap: config.get("gap", 500_000),
    seed: config.get("seed", config.seed),
    seen: HashMap::new(),
});
