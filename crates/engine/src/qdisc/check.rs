//! Rules that tie a discipline's parameters together.

use super::flow_queue::{FLOWS, SET_ASSOCIATIVE, SET_WAYS};
use crate::attributes::Attributes;
use crate::time::Time;

/// What is wrong with the parameters of the discipline with this ns-3 name: the parameter, and what
/// to do about it.  The constructors rely on this check.
pub fn check(ns3: &str, a: &Attributes<'_>) -> Result<(), (&'static str, String)> {
    let is_flow_queueing = ns3.starts_with("Fq");
    if is_flow_queueing {
        let (flows, ways) = (a.u32(FLOWS.ns3), a.u32(SET_WAYS.ns3));
        if a.bool(SET_ASSOCIATIVE.ns3) && flows % ways != 0 {
            let problem = format!("Flows, {flows}, must be a multiple of SetWays, {ways}");
            return Err((SET_WAYS.ns3, problem));
        }
        if a.bool("UseL4s") && a.time("CeThreshold") == Time::MAX {
            return Err(("CeThreshold", "must be given with UseL4s".to_owned()));
        }
    }
    if ns3 == "RedQueueDisc" && !a.bool("ARED") {
        let (min, max) = (a.f64("MinTh"), a.f64("MaxTh"));
        if min > max {
            return Err(("MinTh", format!("{min} is above MaxTh, {max}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::qdisc::SPECS;

    fn problem(ns3: &str, given: &[(&str, &str)]) -> Option<&'static str> {
        let spec = SPECS.iter().find(|spec| spec.ns3 == ns3).unwrap();
        let given: BTreeMap<_, _> =
            given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        check(ns3, &Attributes::new(spec, &given)).err().map(|(name, _)| name)
    }

    #[test]
    fn defaults_are_fine() {
        for spec in SPECS {
            assert_eq!(problem(spec.ns3, &[]), None, "{}", spec.ns3);
        }
    }

    #[test]
    fn contradictions_are_named() {
        let sets = [("EnableSetAssociativeHash", "true"), ("Flows", "10")];
        for (ns3, given, name) in [
            ("FqPieQueueDisc", &sets[..], "SetWays"),
            ("FqCobaltQueueDisc", &[("UseL4s", "true")], "CeThreshold"),
            ("RedQueueDisc", &[("MinTh", "20")], "MinTh"),
        ] {
            assert_eq!(problem(ns3, given), Some(name), "{ns3}");
        }
        assert_eq!(problem("CoDelQueueDisc", &[("MaxSize", "3000B")]), None);
    }
}
