//! The Python binding: conversions only.  `python/ccperf/_native.pyi` is its documentation.

mod confine;
mod episode;
mod quantities;
mod random;
mod registry;
mod scenario;
mod simulation;
mod statistics;
mod stored;
mod user;

use pyo3::prelude::*;

#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: ccperf_memory::HugePages = ccperf_memory::HugePages;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::confine::confine;
    #[pymodule_export]
    use super::episode::{Episode, Interval, step_episodes};
    #[pymodule_export]
    use super::quantities::{
        format_queue_size, format_rate, format_size, format_time, parse_queue_size, parse_rate,
        parse_size, parse_time,
    };
    #[pymodule_export]
    use super::random::uniform_integers;
    #[pymodule_export]
    use super::registry::{registry, resolve};
    #[pymodule_export]
    use super::scenario::{canonical, lower, settings, what_if};
    #[pymodule_export]
    use super::simulation::{LongTable, Simulation, run_for_digest, run_in_parts, schema};
    #[pymodule_export]
    use super::statistics::{cov, mean, percentiles, rates, row_sums};
    #[pymodule_export]
    use super::stored::{metric_text, read_parquet, write_parquet};
    #[pymodule_export]
    use super::user::{
        balancer::{Hop, Switch, SwitchPort},
        congestion::{RateSample, Tcb},
        external::ExternalControl,
        host_balancer::{Arrival, Departure},
        interface::{callbacks, interface},
        is_user_code,
        queue::{Packet, Queue},
        scheduler::SchedulerClass,
        user_calls,
    };

    /// As many links, flows with pings, and transfers a run may have.
    #[pymodule_export]
    const MAX_LINKS: usize = ccperf_engine::base::limits::MAX_LINKS;
    #[pymodule_export]
    const MAX_ENDPOINTS: usize = ccperf_engine::base::limits::MAX_ENDPOINTS;
    #[pymodule_export]
    const MAX_FLOWS: usize = ccperf_engine::base::limits::MAX_FLOWS;

    /// Of the interface of user code (`CCPERF_ABI_VERSION` of `ccperf.h`).
    #[pymodule_export]
    const INTERFACE: u32 = ccperf_plugin::abi::ABI_VERSION;
    #[pymodule_export]
    const ENGINE_HASH: &str = env!("ENGINE_HASH");
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
