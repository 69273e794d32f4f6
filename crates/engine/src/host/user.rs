//! Algorithms that a user brings: how a scenario names them, who makes them, how one fails.
//!
//! The engine loads no foreign code itself.  Whoever runs a scenario that names some hands in a
//! [`UserCode`], which makes the objects; from then on they are algorithms like all others.

use std::collections::{BTreeMap, BTreeSet};

use ccperf_schema::lowered::{Algorithm, Lowered};

use crate::base::error::Failure;
use crate::host::tcp::control::Control;
use crate::net::qdisc::{Qdisc, Scheduler};
use crate::net::routing::balance::{Balancer, Sender, SwitchContext};

/// Whether `name` stands for user code rather than for an algorithm of the registries: a shared
/// library (`/home/ann/libmycca.so`), or a Python class (`my_module:MyCca`, `/home/ann/mycca.py:MyCca`).
pub fn is_user_code(name: &str) -> bool {
    // Asked of each port; most names have neither.
    name.bytes().any(|byte| byte == b'.' || byte == b':') && (is_library(name) || is_python(name))
}

/// Whether `name` is the path of a shared library.
pub fn is_library(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "so" | "dylib" | "dll")
}

/// Whether `name` is a Python class in a module or a file; `ns3::TcpCubic` is not.
fn is_python(name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    name.rsplit_once(':').is_some_and(|(module, class)| {
        !module.is_empty()
            && !module.ends_with(':')
            && class.chars().next().is_some_and(|c| is_word(c) && !c.is_numeric())
            && class.chars().all(is_word)
    })
}

/// The names of all user code in a scenario, sorted.
pub fn names(scenario: &Lowered) -> Vec<&str> {
    let qdiscs = scenario.links.iter().flat_map(|link| &link.directions);
    let qdiscs = qdiscs.filter_map(|direction| direction.qdisc.as_deref());
    let ccs = scenario.flows.iter().filter_map(|flow| flow.congestion_control.as_ref());
    let ccs = ccs.chain(scenario.stacks.iter().map(|stack| &stack.congestion_control));
    let all = qdiscs.chain(ccs).chain([&scenario.routing]);
    let names: BTreeSet<_> = all.map(|algorithm| algorithm.kind.as_str()).collect();
    names.into_iter().filter(|name| is_user_code(name)).collect()
}

/// What a user's algorithm may read while it is made.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// As the scenario names it.
    pub name: &'a str,
    /// As given in the scenario, unchecked: only the algorithm knows what it has.
    pub attributes: &'a BTreeMap<String, String>,
    pub seed: u64,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(algorithm: &'a Algorithm, seed: u64) -> Self {
        Setup { name: &algorithm.kind, attributes: &algorithm.attributes, seed }
    }
}

/// Makes a user's algorithms: one object for each end of a connection, for each device, for each switch.
pub trait UserCode: Send {
    /// # Errors
    /// Why it cannot be made.
    fn congestion_control(&self, setup: Setup<'_>) -> Result<Control, String>;

    /// # Errors
    /// Why it cannot be made.
    fn queue_disc(&self, setup: Setup<'_>) -> Result<Box<dyn Qdisc>, String>;

    /// A discipline that has children.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn scheduler(&self, _: Setup<'_>) -> Result<Box<dyn Scheduler>, String> {
        Err("it has children, and schedulers cannot be loaded here".to_owned())
    }

    /// # Errors
    /// Why it cannot be made.
    fn load_balancer(
        &self,
        setup: Setup<'_>,
        switch: SwitchContext<'_>,
    ) -> Result<Box<dyn Balancer>, String>;

    /// The same where hosts choose; none if it is one of switches.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn host_balancer(&self, _: Setup<'_>) -> Result<Option<Box<dyn Sender>>, String> {
        Ok(None)
    }
}

crate::opaque!(UserCode);

/// Refuses all user code.
#[derive(Clone, Copy, Debug)]
pub struct NoUserCode;

impl UserCode for NoUserCode {
    fn congestion_control(&self, _: Setup<'_>) -> Result<Control, String> {
        Err("user code cannot be loaded here".to_owned())
    }

    fn queue_disc(&self, _: Setup<'_>) -> Result<Box<dyn Qdisc>, String> {
        Err("user code cannot be loaded here".to_owned())
    }

    fn load_balancer(
        &self,
        _: Setup<'_>,
        _: SwitchContext<'_>,
    ) -> Result<Box<dyn Balancer>, String> {
        Err("user code cannot be loaded here".to_owned())
    }
}

/// Ends the run because the user's `algorithm` has failed; the simulation returns
/// [`crate::base::error::Error::UserCode`] with the simulated time.
pub fn fail(algorithm: &str, message: impl Into<String>) -> ! {
    Failure::UserCode { algorithm: algorithm.to_owned(), message: message.into() }.throw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_user_code() {
        for name in ["/a/libmycca.so", "./x.dylib", "m:C", "pkg.mod:My_Cca2", "/a b/c.py:C"] {
            assert!(is_user_code(name), "{name}");
        }
        for name in ["TcpCubic", "ns3::TcpCubic", "m:", ":C", "m:2C", "m:C()", "codel", "a.py"] {
            assert!(!is_user_code(name), "{name}");
        }
    }
}
