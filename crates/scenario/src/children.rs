//! Checks of the disciplines inside a queue discipline.

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::units;
use ccperf_engine::host::user::is_user_code;
use ccperf_engine::net::qdisc::{self, Children};
use ccperf_schema::written::Algorithm;

use super::check::{Path, Report};
use super::names::Registry;

/// DSCPs are as many.
const MOST_CLASSES: usize = 64;

impl Report {
    /// Checks the children of `parent`, which has been checked itself, over a device with `queues`
    /// transmit queues, and makes the ones that were left out.
    pub(super) fn children(&mut self, path: Path<'_>, parent: &mut Algorithm, queues: u16) {
        let kind = parent.kind.clone();
        let discipline = qdisc::find(&kind);
        let rule = discipline.map_or(Children::None, |discipline| discipline.children);
        let count = parent.children.len();
        let wrong = match rule {
            // One's own with children is a scheduler, of as many classes.
            Children::None if is_user_code(&kind) => (count > MOST_CLASSES)
                .then(|| format!("{count} are given; a scheduler takes at most {MOST_CLASSES}")),
            Children::None if count > 0 => {
                let with = qdisc::DISCIPLINES.iter().filter(|d| d.children != Children::None);
                let with: Vec<_> = with.map(|d| d.spec.ns3).collect();
                Some(format!("{kind} has none; these have: {}", with.join(", ")))
            }
            Children::None => None,
            Children::Optional { least, most } => {
                let is_wrong = count > 0 && !(least..=most).contains(&count);
                is_wrong.then(|| match most {
                    1 => format!("{count} are given; {kind} takes one"),
                    _ if count == 1 => format!("only one is given; {kind} takes {least} to {most}"),
                    _ => format!("{count} are given; {kind} takes {least} to {most}"),
                })
            }
            Children::TransmitQueues { default } => {
                if queues < 2 {
                    let message = format!("{kind} needs a device with at least 2 device_queues");
                    self.add(format!("{path}.type"), message);
                }
                let wanted = usize::from(queues);
                one_or_each(parent, default, wanted, &format!("{queues} device_queues"))
            }
            Children::Listed { parameter, default } => {
                let spec = discipline.expect("it has a rule").spec;
                let text = Attributes::new(&spec, &parent.attributes).text(parameter).to_owned();
                let wanted = units::parse_numbers(&text).map_or(0, |numbers| numbers.len());
                one_or_each(parent, default, wanted, &format!("{wanted} {parameter}"))
            }
        };
        if let Some(message) = wrong {
            self.add(format!("{path}.children"), message);
        }
        let is_multi_queue = matches!(rule, Children::TransmitQueues { .. });
        for (i, child) in parent.children.iter_mut().enumerate() {
            self.child(&format_args!("{path}.children[{i}]"), child, &kind, is_multi_queue);
        }
    }

    fn child(&mut self, path: Path<'_>, child: &mut Algorithm, parent: &str, is_multi_queue: bool) {
        let type_path = format!("{path}.type");
        if is_user_code(&child.kind) {
            let message = format!("{} cannot be a child; only ccperf's own can", child.kind);
            self.add(&type_path, message);
        }
        self.algorithm(path, child, Registry::Qdisc);
        if child.kind == qdisc::MQ {
            let message = format!("{} can only be the root discipline", qdisc::MQ);
            return self.add(&type_path, message);
        }
        if child.kind == qdisc::SHARED_BUFFER {
            let message = format!("{} is a port's, so it can only be the root", child.kind);
            return self.add(&type_path, message);
        }
        if !is_multi_queue && qdisc::find(&child.kind).is_some_and(|d| d.wakes) {
            let kind = &child.kind;
            let message = format!(
                "{kind} sends by a clock of its own, which cannot be heeded inside {parent}; make it \
                 the root"
            );
            self.add(&type_path, message);
        }
        self.children(path, child, 1);
    }
}

/// Makes the child that is meant if none is given; what is wrong, unless there is one or as many as
/// there are `things`.
fn one_or_each(
    parent: &mut Algorithm,
    default: &str,
    wanted: usize,
    things: &str,
) -> Option<String> {
    if parent.children.is_empty() {
        parent.children.push(Algorithm::named(default));
    }
    let count = parent.children.len();
    (count != 1 && count != wanted)
        .then(|| format!("{count} are given for {things}; give one for all, or one each"))
}
