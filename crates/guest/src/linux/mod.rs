//! A run, from the scenario to its tables.
//!
//! The root folder is the job's: `scenario.json` and `stack.json` are read, `out/tables` is written, or `out/error`;
//! long tables wait in `tmp`.  Simulated time is the kernel's clock since the beginning of the run.  The program sleeps
//! until something can reach a host ([`ccperf_engine::host::outside::Lookahead`]), or until the kernel sends something
//! or has room for more.

mod ahead;
mod connection;
mod discipline;
mod kernel;
mod settings;
mod sys;
mod tables;
mod wire;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ccperf_engine::base::time::Time;
use ccperf_engine::run::recording::Recording;
use ccperf_engine::run::simulate::Simulation;
use ccperf_schema::lowered::Lowered;
use connection::{Sockets, lock};
use discipline::{DISCIPLINES, Disciplines};
use kernel::Kernel;
use settings::Settings;

/// After so many wake-ups at most somebody outside hears that time passes.
const OFTEN: u64 = 1 << 14;

type Failure = Box<dyn std::error::Error>;

pub fn main() {
    std::panic::set_hook(Box::new(|panic| report(&panic.to_string())));
    if let Err(error) = run() {
        report(&error.to_string());
    }
    sys::power_off();
}

fn report(message: &str) {
    eprintln!("guest: {message}");
    let _ = fs::write("/out/error", message);
}

fn run() -> Result<(), Failure> {
    sys::mount("proc", "/proc")?;
    sys::mount("tmpfs", "/dev")?;
    fs::create_dir("/dev/net")?;
    sys::make_tun_node("/dev/net/tun")?;
    sys::become_urgent()?;
    sys::open_many()?;
    let scenario: Lowered = serde_json::from_slice(&fs::read("/scenario.json")?)?;
    let settings: Settings = serde_json::from_slice(&fs::read("/stack.json")?)?;
    let packets = fs::read_to_string("/packets").ok().map(|name| format!("/out/{}", name.trim()));
    let (recording, stray) = simulate(scenario, settings, packets.as_deref().map(Path::new))?;
    let mut out = BufWriter::new(File::create("/out/tables")?);
    tables::write(recording, &mut out)?;
    out.flush()?;
    if stray > 0 {
        eprintln!("guest: {stray} packets of no flow");
    }
    Ok(())
}

fn simulate(
    scenario: Lowered,
    settings: Settings,
    packets: Option<&Path>,
) -> Result<(Recording, u64), Failure> {
    let network = sys::Netlink::open()?; // of the kernel's first network, before it makes others
    let made = Kernel::new(&settings, scenario.flow_count(), &scenario.recording.changes)?;
    let kernel = Arc::new(Mutex::new(made));
    let epoll = lock(&kernel).all.share()?;
    let disciplines = Box::new(Disciplines::new(network, epoll, settings.disciplines));
    let mut statistics = disciplines.statistics(settings.statistics_ns)?;
    let (seed, stop) = (scenario.seed, scenario.stop_ns.max(1));
    let mut sockets = Sockets { kernel: Arc::clone(&kernel), settings: settings.flows, seed };
    let mut simulation = Simulation::with_stack(scenario, packets, disciplines, &mut sockets)?;
    let lookahead = simulation.lookahead();
    let (mut ready, mut arriving) = (Vec::<u64>::new(), Vec::new());
    lock(&kernel).begin()?;
    let (mut percent, mut wakes) = (0, 0_u64);
    let mut now = Time::ZERO;
    loop {
        lock(&kernel).clock = now;
        let mut goes_on = replay(&mut simulation, &kernel, now)? && simulation.catch_up(now)?;
        for &token in &ready {
            if let Some(port) = token.checked_sub(DISCIPLINES) {
                simulation.wake_discipline(port as u32);
            } else {
                simulation.call(token as u32, |endpoint, host| endpoint.on_outside(host));
            }
        }
        goes_on &= simulation.run_until(now)?;
        if !goes_on {
            break;
        }
        simulation.sample()?;
        if let Some(statistics) = &mut statistics {
            statistics.write(now.0)?;
        }
        wakes += 1;
        let part = 100 * now.0 / stop;
        if part > percent || wakes % OFTEN == 0 {
            percent = part;
            fs::write("/out/progress", now.0.to_string())?;
            is_on_time(&lock(&kernel), now)?;
        }
        let next = statistics.as_ref().map_or(Time::MAX, |statistics| Time(statistics.next));
        let horizon = simulation.horizon(&lookahead, &mut arriving).min(next);
        now = lock(&kernel).sleep(horizon, &arriving, &mut ready)?;
    }
    let kernel = lock(&kernel);
    is_on_time(&kernel, now)?;
    if kernel.late > 0 {
        return Err(format!("{} packets came to a host after their time", kernel.late).into());
    }
    if let lost @ 1.. = kernel.lost()? {
        return Err(format!("a host sent {lost} packets more at once than a guest takes").into());
    }
    let stray = kernel.stray;
    drop(kernel);
    Ok((simulation.finish()?, stray))
}

/// The engine does what the kernel has done until `until`, in its order.  Returns false at the scenario's end.
fn replay(
    simulation: &mut Simulation,
    kernel: &Mutex<Kernel>,
    until: Time,
) -> Result<bool, Failure> {
    loop {
        let Some(at) = lock(kernel).seen().filter(|&at| at <= until) else { return Ok(true) };
        if !simulation.catch_up(at)? {
            return Ok(false);
        }
        simulation.with_host(|mut host| lock(kernel).drain_all(&mut host))?;
        if lock(kernel).seen().is_some_and(|next| next <= at) {
            return Err(format!("at {} ns the kernel is ahead of the network", at.0).into());
        }
    }
}

/// The kernel's clock shows this time.
fn is_on_time(kernel: &Kernel, now: Time) -> Result<(), Failure> {
    match kernel.off(now) {
        None => Ok(()),
        Some(late) => Err(format!("at {} ns the kernel's clock is {late:?} ns off", now.0).into()),
    }
}
