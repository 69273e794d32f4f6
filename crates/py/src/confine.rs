//! Shutting this process in: nothing written beyond some places, no network.  Linux only, by Landlock
//! and seccomp; what a process may read stays what it was.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Lets this thread, and all that it starts, write beneath `folders` and to `files` only, reach no
/// network, and signal no process but its own.  There is no way back.
#[pyfunction]
pub fn confine(folders: Vec<PathBuf>, files: Vec<PathBuf>) -> PyResult<()> {
    shut_in(&folders, &files).map_err(PyOSError::new_err)
}

#[cfg(target_os = "linux")]
fn shut_in(folders: &[PathBuf], files: &[PathBuf]) -> Result<(), String> {
    writes(folders, files).map_err(|error| format!("Landlock: {error}"))?;
    calls().map_err(|error| format!("seccomp: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn shut_in(_: &[PathBuf], _: &[PathBuf]) -> Result<(), String> {
    Err("only Linux has Landlock".to_owned())
}

#[cfg(target_os = "linux")]
fn writes(folders: &[PathBuf], files: &[PathBuf]) -> Result<(), landlock::RulesetError> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreatedAttr, Scope, path_beneath_rules,
    };
    // From this version on a file cannot be cut off, either.
    let needed = AccessFs::from_write(ABI::V3);
    let to_files = AccessFs::WriteFile | AccessFs::Truncate;
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(needed)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rules(path_beneath_rules(folders, needed))?
        .add_rules(path_beneath_rules(files, to_files))?
        .restrict_self()
        .map(|_| ())
}

/// Landlock knows TCP only.
#[cfg(target_os = "linux")]
fn calls() -> Result<(), seccompiler::Error> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    // What makes a socket, or does so unseen by such a filter, or acts as another process.
    let refused = [
        libc::SYS_socket,
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
    ];
    let filter = SeccompFilter::new(
        refused.map(|call| (call, Vec::new())).into(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        std::env::consts::ARCH.try_into().map_err(seccompiler::Error::Backend)?,
    )
    .map_err(seccompiler::Error::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    seccompiler::apply_filter(&program)
}
