//! The tables of algorithms and their parameters.

use ccperf_engine::base::attributes::{Kind, Param, Spec};
use ccperf_engine::host::congestion;
use ccperf_engine::host::tcp::profile::changes::{self, About, Release};
use ccperf_engine::host::tcp::profile::ns3;
use ccperf_engine::host::tcp::socket_params::{OWN, SOCKET};
use ccperf_engine::net::qdisc;
use ccperf_scenario::names::{self, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

const TABLES: [(&str, Registry); 6] = [
    ("cc", Registry::CongestionControl),
    ("qdisc", Registry::Qdisc),
    ("recovery", Registry::Recovery),
    ("routing", Registry::Routing),
    ("rate_control", Registry::RateControl),
    ("trimming", Registry::Trimming),
];

#[pyfunction]
pub fn registry() -> String {
    let mut tables = json!({ "socket": spec(&SOCKET) });
    let own = [congestion::OWN, qdisc::OWN].concat();
    for (name, table) in TABLES {
        tables[name] = table.specs().iter().map(|s| spec(s)).collect();
        for made in tables[name].as_array_mut().into_iter().flatten() {
            let is_own = made["ns3"].as_str().is_some_and(|name| own.contains(&name));
            made["is_own"] = (is_own || !table.is_in_ns3()).into();
            let of_profile =
                made["ns3"].as_str().is_some_and(|name| congestion::OF_PROFILE.contains(&name));
            made["is_of_profile"] = of_profile.into();
        }
    }
    for made in tables["qdisc"].as_array_mut().into_iter().flatten() {
        let discipline = made["ns3"].as_str().and_then(qdisc::find);
        made["trims"] = discipline.is_some_and(|found| found.trims).into();
    }
    tables["changes"] = changes::ALL.iter().map(change).collect();
    tables["releases"] = ns3::RELEASES.iter().map(release).collect();
    tables.to_string()
}

fn change(about: &About) -> Value {
    let attributes: Vec<_> = about.attributes.iter().map(|&(class, name)| [class, name]).collect();
    json!({
        "name": about.name, "release": about.release, "commit": about.commit, "issue": about.issue,
        "doc": about.doc, "shows": about.shows, "attributes": attributes,
    })
}

fn release(release: &Release) -> Value {
    let has = changes::ALL.iter().filter(|about| release.changes.has(about.change));
    let names: Vec<_> = has.map(|about| about.name).collect();
    json!({ "name": release.name, "doc": release.doc, "changes": names })
}

#[pyfunction]
pub fn resolve(table: &str, name: &str) -> PyResult<&'static str> {
    let Some((_, registry)) = TABLES.iter().find(|(known, _)| *known == table) else {
        let message = format!(
            "table is `{table}`, not `cc`, `qdisc`, `recovery`, `routing`, `rate_control` or `trimming`"
        );
        return Err(PyValueError::new_err(message));
    };
    if *registry == Registry::Qdisc && names::is_discipline_of_linux(name) {
        return names::discipline_of_linux(name).map_err(PyValueError::new_err);
    }
    registry.find(name).map(|spec| spec.ns3).map_err(PyValueError::new_err)
}

fn spec(spec: &Spec) -> Value {
    let params: Vec<_> = spec.params.iter().map(|each| param(spec, each)).collect();
    json!({
        "ns3": spec.ns3, "linux": spec.linux, "is_in_linux": spec.is_in_linux, "doc": spec.doc, "source": spec.source, "departures": spec.departures,
        "params": params,
    })
}

fn param(spec: &Spec, param: &Param) -> Value {
    let mut value = match param.kind {
        Kind::Bool => json!({ "kind": "bool" }),
        Kind::Uint { min, max } => json!({ "kind": "uint", "min": min, "max": max }),
        Kind::Real { min, max } => {
            // JSON has no infinity: null is "no bound", as is the largest double.
            let bound = |b: f64| (b.abs() < f64::MAX).then_some(b);
            json!({ "kind": "real", "min": bound(min), "max": bound(max) })
        }
        Kind::Time => json!({ "kind": "time" }),
        Kind::Period => json!({ "kind": "period" }),
        Kind::Threshold => json!({ "kind": "threshold" }),
        Kind::Rate => json!({ "kind": "rate" }),
        Kind::OptionalRate => json!({ "kind": "optional_rate" }),
        Kind::QueueSize => json!({ "kind": "queue_size" }),
        Kind::MarkingLength => json!({ "kind": "marking_length" }),
        Kind::PacketLimit => json!({ "kind": "packet_limit" }),
        Kind::Enum(words) => json!({ "kind": "enum", "words": words }),
        Kind::Numbers { min, max } => json!({ "kind": "numbers", "min": min, "max": max }),
        Kind::Priomap => json!({ "kind": "priomap" }),
    };
    value["ns3"] = param.ns3.into();
    value["linux"] = param.linux.into();
    value["default"] = param.default.into();
    value["doc"] = param.doc.into();
    value["since"] = changes::of_attribute(spec.ns3, param.ns3).map(|about| about.release).into();
    value["least_later"] =
        changes::least_of_attribute(spec.ns3, param.ns3).map(|(_, least)| least).into();
    value["is_own"] = OWN.contains(&param.ns3).into();
    value
}
