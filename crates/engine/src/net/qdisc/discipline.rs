//! What the registry knows of a queue discipline.

use crate::base::attributes::{Attributes, Spec};

/// Declared once, as `SPEC`, in the discipline's own file: everything else reads it from there.
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    pub spec: Spec,
    pub children: Children,
    /// Rules that tie its parameters together; the constructor relies on them.
    pub check: fn(&Attributes<'_>) -> Result<(), Contradiction>,
    /// Its timer may ask for it to be run, which only a root, or a child of `MqQueueDisc`, can be.
    pub wakes: bool,
    /// It cuts packets to their headers: metrics then count them.
    pub trims: bool,
    /// Parameters, by name and value, under which it has to decide something within a few hundred
    /// packets: what the property tests run.
    pub trials: &'static [Trial],
}

/// A parameter that does not fit the others, and what to do about it.
pub type Contradiction = (&'static str, String);

pub type Trial = &'static [(&'static str, &'static str)];

/// The disciplines inside a discipline: how many there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    None,
    /// Those of the device's transmit queues: one for all, or one each.
    TransmitQueues {
        default: &'static str,
    },
    /// From `least` to `most`; if none are given, the discipline makes what it needs.
    Optional {
        least: usize,
        most: usize,
    },
    /// As many as the parameter has numbers: one for all, or one each.
    Listed {
        parameter: &'static str,
        default: &'static str,
    },
}

impl Discipline {
    /// One without children, whose parameters do not contradict each other.
    pub const fn new(spec: Spec, trials: &'static [Trial]) -> Self {
        Discipline {
            spec,
            children: Children::None,
            check: nothing,
            wakes: false,
            trims: false,
            trials,
        }
    }

    pub const fn checked(
        mut self,
        check: fn(&Attributes<'_>) -> Result<(), Contradiction>,
    ) -> Self {
        self.check = check;
        self
    }

    pub const fn with_children(mut self, children: Children) -> Self {
        self.children = children;
        self
    }

    pub const fn trimming(mut self) -> Self {
        self.trims = true;
        self
    }

    pub const fn waking(mut self) -> Self {
        self.wakes = true;
        self
    }
}

fn nothing(_: &Attributes<'_>) -> Result<(), Contradiction> {
    Ok(())
}
