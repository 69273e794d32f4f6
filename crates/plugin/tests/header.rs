//! `ccperf.h` and `abi.rs` describe the same memory: sizes and offsets as a C compiler sees them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

use ccperf_engine::congestion_control_callbacks;
use ccperf_plugin::abi::{
    ABI_VERSION, Attribute, BalancerTable, CcaTable, ConfigView, EarlyAckView, Hop, Packet,
    QdiscTable, Queue, SampleView, Switch, TcbView,
};
use ccperf_plugin::{sample_fields, tcb_fields};

/// Everything that is compared, by its C expression.
macro_rules! layout {
    ($($c:literal = $rust:ident { $($field:ident),* $(,)? })*) => {
        vec![$(
            (format!("sizeof({})", $c), size_of::<$rust>()),
            $((
                format!("offsetof({}, {})", $c, stringify!($field)),
                offset_of!($rust, $field),
            ),)*
        )*]
    };
}

/// The same of what is declared: the state has an `error`, the sample has not.
macro_rules! fields {
    (
        $($(#[doc = $a_doc:literal])* $a:ident: $a_type:ident = $a_of:ident $a_how:tt;)*
        ; error;
        $($(#[doc = $b_doc:literal])* $b:ident: $b_type:ident = $b_of:ident $b_how:tt;)*
        ; reserved;
        $($(#[doc = $c_doc:literal])* $c:ident: $c_type:ident = $c_of:ident $c_how:tt;)*
    ) => {
        layout! { "ccperf_tcb" = TcbView { $($a,)* error, $($b,)* reserved, $($c,)* } }
    };
    (
        $($(#[doc = $doc:literal])* $name:ident: $type:ident = $of:ident.$field:ident $how:tt;)*
        ; reserved;
    ) => {
        layout! { "ccperf_rate_sample" = SampleView { $($name,)* reserved } }
    };
}

macro_rules! functions {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        layout! { "ccperf_cca" = CcaTable { create, destroy, hears, $($name,)* } }
    };
}

#[test]
fn header_and_rust_agree() {
    let mut expected: BTreeMap<String, usize> = layout! {
        "ccperf_attribute" = Attribute { name, value }
        "ccperf_config" = ConfigView { attributes, attribute_count, seed, error }
        "ccperf_early_ack" = EarlyAckView { send, ece, ack, reserved }
        "ccperf_packet" = Packet {
            id, source, destination, source_port, destination_port, bytes, payload, enqueued_ns,
            ecn, protocol, flow, backward, seq, ack, flags, dscp,
        }
        "ccperf_queue" = Queue { now_ns, packets, bytes, rate_bps }
        "ccperf_qdisc" = QdiscTable { create, destroy, enqueue, dequeue, timer }
        "ccperf_hop" = Hop {
            flow, backward, hash, source, destination, source_leaf, destination_leaf, bytes,
            payload, seq, ack, flags, ecn, notes, reserved,
        }
        "ccperf_switch" = Switch { now_ns, node }
        "ccperf_balancer" = BalancerTable {
            create, destroy, pick, sees_every_hop, period_ns, tick,
        }
    }
    .into_iter()
    .chain(tcb_fields!(fields))
    .chain(sample_fields!(fields))
    .chain(congestion_control_callbacks!(functions))
    .collect();
    expected.insert("CCPERF_ABI_VERSION".to_owned(), ABI_VERSION as usize);

    let mut source = "#include <ccperf.h>\n#include <stddef.h>\n#include <stdio.h>\n".to_owned();
    source.push_str("int main(void) {\n");
    for c in expected.keys() {
        writeln!(source, "printf(\"{c}=%zu\\n\", (size_t)({c}));").unwrap();
    }
    source.push_str("return 0; }\n");
    let folder = env::temp_dir().join(format!("ccperf-header-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("layout.c"), folder.join("layout"));
    fs::write(&file, source).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ccperf/include");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .args([&include, Path::new("-o"), &program, &file])
        .status();
    assert!(compiled.expect("a C compiler").success());
    let output = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    fs::remove_dir_all(&folder).unwrap();

    let found: BTreeMap<_, _> = output
        .lines()
        .map(|line| line.split_once('=').unwrap())
        .map(|(c, value)| (c.to_owned(), value.parse::<usize>().unwrap()))
        .collect();
    assert_eq!(found, expected);
}
