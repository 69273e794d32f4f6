//! Links, the one part of a scenario of which there are many thousands that are all alike.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::{Algorithm, Distribution};

/// A full-duplex point-to-point link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub name: String,
    /// Node indices; `forward` goes from the first to the second.
    pub ends: [usize; 2],
    /// Of each end; the mask is /30.
    pub addresses: [Ipv4Addr; 2],
    pub delay_ns: u64,
    /// Forward, reverse.
    pub directions: [Direction; 2],
    /// In scheduling order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
}

impl Link {
    /// `side`: 0 forward, 1 reverse.
    pub fn direction_name(&self, side: usize) -> String {
        let given = &self.directions[side].name;
        if !given.is_empty() {
            return given.clone();
        }
        format!("{}_{}", self.name, ["forward", "reverse"][side])
    }
}

/// New values of a link from given times on, in columns of equal length; at least one has some.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Whether rates and losses are of forward and reverse.
    pub sides: [bool; 2],
    /// Ascending, each once.
    pub times_ns: Vec<u64>,
    pub rates_bps: Option<Vec<u64>>,
    pub delays_ns: Option<Vec<u64>>,
    pub losses: Option<Vec<f64>>,
}

/// One direction of a link, with the device that sends into it.
///
/// What most of a large network's links have is left out: whoever reads the file fills it in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// If it is not `<link>_forward` or `<link>_reverse`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub rate_bps: u64,
    #[serde(default = "usual_mtu", skip_serializing_if = "is_usual_mtu")]
    pub mtu_bytes: u32,
    /// `None`: packets go straight to the device.
    #[serde(default = "usual_qdisc", skip_serializing_if = "is_usual_qdisc")]
    pub qdisc: Option<Arc<Algorithm>>,
    /// The size of each of the device's queues.
    #[serde(default, skip_serializing_if = "is_default")]
    pub device_queue: DeviceQueue,
    /// Hold time of ns-3's `DynamicQueueLimits` on the device queue, if it has them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue_limits_hold_ns: Option<u64>,
    /// How many transmit queues the device has, and which one a packet enters.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub device_queues: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    pub device_select: DeviceSelect,
    /// Probability that the receiving device loses a packet, each packet alike.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss: f64,
    /// Stream number of the loss draws; directions with the same number share the stream.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss_stream: u64,
    /// Packets lost at the receiving device, by their number in order of arrival, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drops: Vec<u64>,
    /// Losses in bursts, drawn from the same stream before those of `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<Box<GilbertElliott>>,
    /// What comes on top of the link's delay, packet by packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Box<Jitter>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Box<Reordering>>,
    /// How the node at the far end has this direction pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Box<Pfc>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> u16 {
    1
}

fn is_one(count: &u16) -> bool {
    *count == 1
}

const USUAL_MTU: u32 = 1500;

fn usual_mtu() -> u32 {
    USUAL_MTU
}

fn is_usual_mtu(bytes: &u32) -> bool {
    *bytes == USUAL_MTU
}

/// All links that have it have this one.  It draws nothing.
static USUAL_QDISC: LazyLock<Arc<Algorithm>> = LazyLock::new(|| {
    Arc::new(Algorithm {
        kind: "FifoQueueDisc".to_owned(),
        attributes: BTreeMap::from([("MaxSize".to_owned(), "1000p".to_owned())]),
        stream: 0,
        children: Vec::new(),
    })
});

fn usual_qdisc() -> Option<Arc<Algorithm>> {
    Some(Arc::clone(&USUAL_QDISC))
}

fn is_usual_qdisc(qdisc: &Option<Arc<Algorithm>>) -> bool {
    qdisc.as_ref() == Some(&*USUAL_QDISC)
}

/// Priority-based flow control.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Those that lose nothing, ascending; a packet's is its code point's class selector, DSCP / 8.
    pub priorities: Vec<u8>,
    /// The threshold of each, or its share of what is free of the switch's buffer.
    pub xoff_bytes: Option<u64>,
    pub alpha: Option<f64>,
    pub buffer_bytes: Option<u64>,
    /// How far below the threshold a pause ends.
    pub hysteresis_bytes: u64,
    /// What each has beside that.
    pub headroom_bytes: u64,
    /// Of a pause, in times of 512 bits.
    pub quanta: u16,
    /// How long after a pause frame has come this direction pauses.
    pub response_ns: u64,
}

/// A channel that is good at first: each packet moves it, then is lost by the state that it finds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    pub to_bad: f64,
    pub to_good: f64,
    pub loss_in_good: f64,
    pub loss_in_bad: f64,
}

/// A delay drawn for each packet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// In seconds.
    pub delay_s: Distribution,
    /// No packet arrives before one that was sent earlier.
    pub keeps_order: bool,
    pub stream: u64,
}

/// A delay drawn for some packets, on top of jitter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Of being late.
    pub probability: f64,
    /// By how much, in seconds.
    pub delay_s: Distribution,
    /// Of the choice; `delay_s` draws from the next one.
    pub stream: u64,
}

/// The device's own queue under the queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DeviceQueue {
    Packets(u32),
    Bytes(u32),
}

impl Default for DeviceQueue {
    fn default() -> Self {
        DeviceQueue::Packets(100)
    }
}

/// How a device with several transmit queues chooses one for a packet, and serves them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceSelect {
    /// By a hash of addresses and ports (ns-3's `Ipv4QueueDiscItem::Hash`, modulo the number of
    /// queues); served one packet each in turn.
    #[default]
    Flow,
    /// By the packet's priority: interactive, interactive bulk, best effort, bulk; the last queue takes
    /// what has none of its own.  A queue is served when those before it are empty.
    Priority,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_what_the_whole_form_says() {
        let whole = r#"{"name": "l", "ends": [0, 1], "addresses": ["10.0.0.1", "10.0.0.2"],
            "delay_ns": 7, "directions": [DIRECTION, DIRECTION], "schedules": []}"#;
        let direction = r#"{"name": "", "rate_bps": 9, "mtu_bytes": 1500, "qdisc": {
            "type": "FifoQueueDisc", "attributes": {"MaxSize": "1000p"}, "stream": 0, "children": []},
            "device_queue": {"packets": 100}, "queue_limits_hold_ns": null, "device_queues": 1,
            "device_select": "flow", "loss": 0.0, "loss_stream": 0, "drops": [],
            "gilbert_elliott": null, "jitter": null, "reordering": null}"#;
        let whole: Link = serde_json::from_str(&whole.replace("DIRECTION", direction)).unwrap();
        let short = serde_json::to_string(&whole).unwrap();
        let expected = r#"{"name":"l","ends":[0,1],"addresses":["10.0.0.1","10.0.0.2"],"delay_ns":7,"directions":[{"rate_bps":9},{"rate_bps":9}]}"#;
        assert_eq!(short, expected);
        let again: Link = serde_json::from_str(&short).unwrap();
        assert_eq!(format!("{again:?}"), format!("{whole:?}"));
        assert_eq!([0, 1].map(|side| again.direction_name(side)), ["l_forward", "l_reverse"]);
    }

    #[test]
    fn no_discipline_is_not_the_usual_one() {
        let none: Direction = serde_json::from_str(r#"{"rate_bps": 9, "qdisc": null}"#).unwrap();
        assert!(none.qdisc.is_none());
        assert_eq!(serde_json::to_string(&none).unwrap(), r#"{"rate_bps":9,"qdisc":null}"#);
    }
}
