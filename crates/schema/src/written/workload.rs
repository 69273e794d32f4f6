//! Workloads as written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::added_delay::AddedDelay;
use super::texts::{Algorithm, attributes, default_recovery, default_write, zero_time};
use crate::lowered::Transport;

/// How hosts speak TCP, or send what switches may cut: named once, referred to by workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    pub name: String,
    /// TCP or TRIMMING.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    pub cc: Algorithm,
    #[serde(default = "default_recovery")]
    pub recovery: String,
    /// Types of service and code points, as a flow's.
    #[serde(default)]
    pub tos: u8,
    #[serde(default)]
    pub return_tos: u8,
    #[serde(default)]
    pub dscp: u8,
    #[serde(default)]
    pub return_dscp: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pias: Vec<String>,
    #[serde(default, deserialize_with = "attributes")]
    pub tcp: BTreeMap<String, String>,
}

/// Many transfers: when they begin, between whom, and how large they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub name: String,
    pub stack: String,
    /// Nodes; `None`: all that have one link.
    #[serde(default)]
    pub sources: Option<Vec<String>>,
    #[serde(default)]
    pub destinations: Option<Vec<String>>,
    /// Source and destination of a transfer are never both in the same of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Vec<String>>,
    pub arrivals: Arrivals,
    #[serde(default)]
    pub pairs: Pairs,
    pub sizes: Sizes,
    /// What one call hands to the socket.
    #[serde(default = "default_write")]
    pub write: String,
    /// From one write to the next, whatever TCP carries; `None`: it writes while there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
    /// So many connections at most between two hosts, which stay open and carry one transfer after another; `None`: each
    /// transfer opens its own, and closes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// As a flow's, for each transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_delay: Option<AddedDelay>,
    /// The first of four streams of random numbers, for arrivals, pairs, sizes and added delays; `None`:
    /// its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<i64>,
}

/// When rounds of transfers begin.  What a round is, [`Pairs`] say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Arrivals {
    /// A Poisson process of the rate at which the transfers' bytes make up `load` of `capacity`.
    Poisson {
        load: f64,
        /// `None`: the rates of the sources' links together.
        #[serde(default)]
        capacity: Option<String>,
        #[serde(default = "zero_time")]
        start: String,
        /// `None`: the end of the run.
        #[serde(default)]
        until: Option<String>,
        /// At most so many rounds.
        #[serde(default)]
        count: Option<u64>,
    },
    /// At given times, in order.
    Times { times: Vec<String> },
    /// Each when those that it waits for have arrived, and a delay later.
    After {
        /// Of each transfer the numbers, from 1, of those that must have come to their destinations; none: it
        /// begins with the workload.  Smaller ones than its own.
        after: Vec<Vec<u32>>,
        /// How much later each begins; empty: at once.
        #[serde(default)]
        delays: Vec<String>,
        #[serde(default = "zero_time")]
        start: String,
    },
    /// One for each transfer of an earlier workload, back to where that came from, when it has arrived and a delay
    /// later.
    Answers {
        to: String,
        #[serde(default = "zero_time")]
        delay: String,
    },
}

/// Between whom the transfers of a round are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Pairs {
    /// One transfer, from a random source to a random other destination.
    #[default]
    Random,
    /// One from every source, to another one each: a random cycle through all of them.
    Permutation,
    /// One from every source, or from so many of them, to the same random destination.
    Incast {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        senders: Option<u32>,
    },
    /// One from every source to every destination.
    AllToAll,
    /// One, between the next of these pairs.
    Listed { pairs: Vec<[String; 2]> },
}

/// How many bytes a transfer has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Sizes {
    WebSearch,
    DataMining,
    Facebook,
    /// Points (bytes, probability that a transfer has no more); linear between them.
    Cdf {
        points: Vec<[f64; 2]>,
    },
    Constant {
        bytes: String,
    },
    /// Whole bytes from `min` to `max`.
    Uniform {
        min: String,
        max: String,
    },
    /// The next of these.
    Listed {
        bytes: Vec<String>,
    },
}
