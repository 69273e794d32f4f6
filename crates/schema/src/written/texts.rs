//! What several parts of a scenario are written with: algorithms with their attributes, and defaults.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, deserialize_with = "attributes")]
    pub attributes: BTreeMap<String, String>,
    /// Of its random numbers; `None`: one of its own.  From 0 on as ns-3's `SetStream`; -1 - n is the
    /// nth of those that ns-3 assigns by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<i64>,
    /// The disciplines inside a queue discipline: one for all of its classes, or one each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Algorithm>,
}

impl Algorithm {
    /// With its defaults.
    pub fn named(kind: &str) -> Algorithm {
        Algorithm {
            kind: kind.to_owned(),
            attributes: BTreeMap::new(),
            stream: None,
            children: Vec::new(),
        }
    }
}

pub(super) fn certain() -> f64 {
    1.0
}

pub(super) fn zero_time() -> String {
    "0s".to_owned()
}

/// ns-3's `OnOffApplication::OnTime` and `OffTime`, `Ping::Interval` and
/// `DynamicQueueLimits::HoldTime`.
pub(super) fn one_second() -> String {
    "1s".to_owned()
}

/// ns-3's `BulkSendApplication::SendSize` and `OnOffApplication::PacketSize`.
pub(super) fn default_write() -> String {
    "512B".to_owned()
}

/// ns-3's `TcpL4Protocol::RecoveryType`.
pub fn default_recovery() -> String {
    "TcpPrrRecovery".to_owned()
}

/// Attribute values may be given as JSON's own booleans and numbers; they are text from here on.
pub(super) fn attributes<'de, D: Deserializer<'de>>(
    d: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let map = BTreeMap::<String, Text>::deserialize(d)?;
    Ok(map.into_iter().map(|(name, Text(value))| (name, value)).collect())
}

struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number or a boolean")
    }

    fn visit_str<E>(self, v: &str) -> Result<Text, E> {
        Ok(Text(v.to_owned()))
    }

    fn visit_bool<E>(self, v: bool) -> Result<Text, E> {
        Ok(Text(v.to_string()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Text, E> {
        Ok(Text(v.to_string()))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Text, E> {
        Ok(Text(v.to_string()))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Text, E> {
        Ok(Text(v.to_string()))
    }
}
