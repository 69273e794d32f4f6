//! Links as written: each of their directions, and what happens to packets there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::texts::{Algorithm, certain, one_second, zero_time};
use crate::lowered::DeviceSelect;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub name: String,
    pub ends: [String; 2],
    pub rate: String,
    pub delay: String,
    #[serde(default)]
    pub addresses: Option<[String; 2]>,
    #[serde(default)]
    pub forward: Direction,
    #[serde(default)]
    pub reverse: Direction,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
}

impl Link {
    /// Whether a direction of it does.
    pub fn pauses(&self) -> bool {
        self.forward.pfc.is_some() || self.reverse.pfc.is_some()
    }
}

/// New values of a link from given times on, in columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Which direction the rates and losses are of.
    #[serde(default)]
    pub direction: DirectionName,
    pub times_ns: Vec<u64>,
    #[serde(default)]
    pub rates_bps: Option<Vec<u64>>,
    #[serde(default)]
    pub delays_ns: Option<Vec<u64>>,
    #[serde(default)]
    pub losses: Option<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Direction {
    /// `None`: the link's.
    pub rate: Option<String>,
    /// `None`: packets go straight to the device.
    pub qdisc: Option<Algorithm>,
    /// The size of each of the device's queues.
    pub device_queue: String,
    /// How many transmit queues the device has.
    pub device_queues: u16,
    pub device_select: DeviceSelect,
    pub queue_limits: Option<QueueLimits>,
    pub mtu: String,
    pub loss: f64,
    /// `None`: one of the direction's own.
    pub loss_stream: Option<u64>,
    pub drop: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliott>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Reordering>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Pfc>,
}

impl Default for Direction {
    fn default() -> Self {
        let max_size = ("MaxSize".to_owned(), "1000p".to_owned());
        Direction {
            rate: None,
            qdisc: Some(Algorithm {
                kind: "FifoQueueDisc".to_owned(),
                attributes: BTreeMap::from([max_size]),
                stream: None,
                children: Vec::new(),
            }),
            device_queue: "100p".to_owned(),
            device_queues: 1,
            device_select: DeviceSelect::Flow,
            queue_limits: None,
            mtu: "1500B".to_owned(),
            loss: 0.0,
            loss_stream: None,
            drop: Vec::new(),
            gilbert_elliott: None,
            jitter: None,
            reordering: None,
            pfc: None,
        }
    }
}

/// Priority-based flow control: how the node at the far end has a direction pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Those that lose nothing.
    #[serde(default = "third_priority")]
    pub priorities: Vec<u8>,
    /// Either this, or `alpha` and `buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// `None`: two frames.
    #[serde(default)]
    pub hysteresis: Option<String>,
    /// `None`: what may come after a pause frame was asked for.
    #[serde(default)]
    pub headroom: Option<String>,
    #[serde(default = "most_quanta")]
    pub quanta: u16,
    #[serde(default = "zero_time")]
    pub response: String,
}

fn third_priority() -> Vec<u8> {
    vec![3]
}

fn most_quanta() -> u16 {
    u16::MAX
}

/// A channel that is good or bad, good at first; each packet moves it, then is lost by its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probabilities that a packet finds the good channel bad, and the bad one good again.
    pub to_bad: f64,
    pub to_good: f64,
    /// Probabilities that it is lost then.
    #[serde(default)]
    pub loss_in_good: f64,
    #[serde(default = "certain")]
    pub loss_in_bad: f64,
}

/// A delay drawn for each packet, on top of the link's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// A time or a distribution.
    pub delay: String,
    /// A packet arrives no earlier than those sent before it.
    #[serde(default = "yes")]
    pub keep_order: bool,
}

/// Some packets are late, by a delay on top of jitter, and overtaken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    pub probability: f64,
    /// A time or a distribution.
    pub delay: String,
}

fn yes() -> bool {
    true
}

/// Byte queue limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimits {
    #[serde(default = "one_second")]
    pub hold_time: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectionName {
    Forward,
    Reverse,
    #[default]
    Both,
}

impl DirectionName {
    /// Whether forward and reverse are meant.
    pub fn sides(self) -> [bool; 2] {
        match self {
            DirectionName::Forward => [true, false],
            DirectionName::Reverse => [false, true],
            DirectionName::Both => [true, true],
        }
    }
}
