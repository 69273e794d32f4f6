//! `ccperf.h` and `abi.rs` describe the same memory: sizes and offsets as a C compiler sees them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

use ccperf_plugin::abi::{
    ABI_VERSION, Attribute, BalancerTable, CcaTable, ConfigView, EarlyAckView, Hop, Packet,
    QdiscTable, Queue, RateSampleView, Switch, TcbView,
};

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

#[test]
fn header_and_rust_agree() {
    let mut expected: BTreeMap<String, usize> = layout! {
        "ccperf_attribute" = Attribute { name, value }
        "ccperf_config" = ConfigView { attributes, attribute_count, seed, error }
        "ccperf_tcb" = TcbView {
            now_ns, error, cwnd, ssthresh, pacing_rate_bps, pacing, pacing_ss_ratio,
            pacing_ca_ratio, use_ecn, ecn_mode, ecn_state, ect, cong_state, is_cwnd_limited,
            is_retrans_data_acked, pace_initial_window, reserved, segment_size, initial_cwnd,
            initial_ssthresh, bytes_in_flight, last_acked_sacked, last_rtt_ns, srtt_ns, min_rtt_ns,
            max_pacing_rate_bps, last_acked_seq, next_tx_seq, high_tx_mark, next_rx_seq,
            rcv_timestamp, rcv_timestamp_echo,
        }
        "ccperf_rate_sample" = RateSampleView {
            delivery_rate_bps, interval_ns, delivered, prior_delivered, prior_time_ns,
            send_elapsed_ns, ack_elapsed_ns, bytes_loss, prior_in_flight, acked_sacked,
            total_delivered, delivered_time_ns, first_sent_time_ns, app_limited, is_app_limited,
            reserved,
        }
        "ccperf_early_ack" = EarlyAckView { send, ece, ack, reserved }
        "ccperf_cca" = CcaTable {
            create, destroy, init, ssthresh, cong_avoid, pkts_acked, set_state, cwnd_event,
            cong_control, has_cong_control,
        }
        "ccperf_packet" = Packet {
            id, source, destination, source_port, destination_port, bytes, payload, enqueued_ns,
            ecn, protocol,
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
