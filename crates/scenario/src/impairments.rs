//! Checks of what a link does to packets besides losing them at a rate: bursts of losses, jitter,
//! reordering.

use ccperf_engine::base::time::Time;
use ccperf_schema::written::Direction;

use super::check::{Path, Report};
use super::distribution::Times;

/// The largest mean or bound of a delay: a number drawn from an unbounded distribution stays far
/// below what a time can hold.
const MAX_DELAY: Time = Time::from_secs(1000);

impl Report {
    pub(super) fn impairments(&mut self, path: Path<'_>, direction: &mut Direction) {
        if let Some(channel) = &mut direction.gilbert_elliott {
            let path = format!("{path}.gilbert_elliott");
            for (name, value) in [
                ("to_bad", &mut channel.to_bad),
                ("to_good", &mut channel.to_good),
                ("loss_in_good", &mut channel.loss_in_good),
                ("loss_in_bad", &mut channel.loss_in_bad),
            ] {
                self.probability(&format_args!("{path}.{name}"), value);
            }
        }
        if let Some(jitter) = &mut direction.jitter {
            self.extra_delay(&format_args!("{path}.jitter.delay"), &mut jitter.delay);
        }
        if let Some(reordering) = &mut direction.reordering {
            let path = format!("{path}.reordering");
            self.probability(&format_args!("{path}.probability"), &mut reordering.probability);
            self.extra_delay(&format_args!("{path}.delay"), &mut reordering.delay);
        }
    }

    fn extra_delay(&mut self, path: Path<'_>, text: &mut String) {
        let Some(times) = self.keep(path, Times::parse(text)) else { return };
        *text = times.format();
        let largest = match times {
            Times::Constant(value) => value,
            Times::Uniform { max, .. } => max,
            Times::Exponential { mean, bound } => mean.max(bound),
        };
        if largest > MAX_DELAY {
            self.add(path, format!("`{text}` is more than 1000s; lower it"));
        }
    }
}
