//! A rate that congestion cuts and that recovers by halves towards a target, which grows: what both forms of DCQCN share.

use crate::base::attributes::Attributes;
use crate::base::time::Rate;
use crate::host::path::Path;

/// How the target of a step of recovery grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Fast,
    Additive,
    Hyper,
}

/// Rates in bit/s; none is above that of the link.
#[derive(Debug)]
pub struct Recovery {
    line: f64,
    pub current: f64,
    pub target: f64,
    min: f64,
    additive: f64,
    hyper: f64,
}

impl Recovery {
    /// At the rate of the link, of which the parameters are shares.
    pub fn new(a: &Attributes<'_>, path: &Path) -> Self {
        let line = path.line.0 as f64;
        Recovery {
            line,
            current: line,
            target: line,
            min: line * a.f64("MinRate"),
            additive: line * a.f64("AdditiveIncrease"),
            hyper: line * a.f64("HyperIncrease"),
        }
    }

    pub fn rate(&self) -> Rate {
        Rate((self.current as u64).max(1))
    }

    /// What it has is what it comes back to.
    pub fn aim_here(&mut self) {
        self.target = self.current;
    }

    pub fn cut(&mut self, alpha: f64) {
        self.current = (self.current * (1.0 - alpha / 2.0)).max(self.min);
    }

    pub fn recover(&mut self, step: Step) {
        match step {
            Step::Fast => {}
            Step::Additive => self.target = (self.target + self.additive).min(self.line),
            Step::Hyper => self.target = (self.target + self.hyper).min(self.line),
        }
        self.current = f64::midpoint(self.target, self.current);
    }

    /// All of the link: nothing to recover.
    pub fn is_whole(&self) -> bool {
        self.line - self.current < 1.0
    }
}
