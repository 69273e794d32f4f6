//! The interface of congestion controls as data, for `tools/interface.py`, which writes it in C and in Python.

use ccperf_engine::host::tcp::control::CaEvent;
use ccperf_engine::host::tcp::control::Callback;
use ccperf_engine::host::tcp::{CongState, EcnMode, EcnState, UseEcn};
use ccperf_engine::packet::Ecn;
use ccperf_plugin::abi::ABI_VERSION;
use ccperf_plugin::{Code, sample_fields, tcb_fields};
use pyo3::prelude::*;
use serde_json::{Value, json};

macro_rules! fields {
    (
        $(
            $(#[doc = $a_doc:literal])*
            $a:ident: $a_type:ident = $a_of:ident $(.$a_field:ident)? [$($a_how:tt)*];
        )*
        $(
            ; $other:ident;
            $(
                $(#[doc = $doc:literal])*
                $name:ident: $type:ident = $of:ident $(.$field:ident)? [$($how:tt)*];
            )*
        )*
    ) => {
        vec![
            $(field(stringify!($a), stringify!($a_type), &[$($a_doc),*], stringify!($($a_how)*)),)*
            $(
                json!({ "name": stringify!($other) }),
                $(field(stringify!($name), stringify!($type), &[$($doc),*], stringify!($($how)*)),)*
            )*
        ]
    };
}

fn field(name: &str, kind: &str, doc: &[&str], how: &str) -> Value {
    json!({ "name": name, "type": kind, "doc": text(doc), "how": how })
}

fn text(lines: &[&str]) -> String {
    lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// Names of the functions of a congestion control, in their order.
#[pyfunction]
pub fn callbacks() -> Vec<&'static str> {
    Callback::DESCRIBED.iter().map(|of| of.name).collect()
}

#[pyfunction]
pub fn interface() -> String {
    let callbacks = Callback::DESCRIBED.iter().map(|of| {
        json!({
            "name": of.name, "doc": text(of.doc), "arguments": of.arguments, "answer": of.answer,
            "is_required": of.is_required, "out": of.out,
        })
    });
    json!({
        "version": ABI_VERSION,
        "callbacks": callbacks.collect::<Vec<Value>>(),
        "tcb": tcb_fields!(fields),
        "sample": sample_fields!(fields),
        "words": {
            "CongState": CongState::WORDS, "UseEcn": UseEcn::WORDS, "EcnMode": EcnMode::WORDS,
            "EcnState": EcnState::WORDS, "Ecn": Ecn::WORDS, "CaEvent": CaEvent::WORDS,
        },
    })
    .to_string()
}
