//! Shutting this process in: nothing written beyond some places, no network, nothing done to other processes.  Linux only,
//! by Landlock and seccomp; what a process may read stays what it was.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Lets this thread, and all that it starts, write beneath `folders` and to `files` only, change no
/// file's mode, owner, times or attributes, reach no network, and neither signal a process but its
/// own nor change its limits or priority.  There is no way back.
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

/// What Landlock does not know of: other sockets than TCP's, what stands beside the content of files, and what is done to
/// other processes by another name than a signal.
#[cfg(target_os = "linux")]
fn calls() -> Result<(), seccompiler::Error> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let always = REFUSED.iter().map(|&call| (call, Vec::new()));
    let filter = SeccompFilter::new(
        always.chain(refused_with()?).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        std::env::consts::ARCH.try_into().map_err(seccompiler::Error::Backend)?,
    )
    .map_err(seccompiler::Error::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    seccompiler::apply_filter(&[OTHER_NUMBERS, &program].concat())
}

/// Refuses the calls of x32. Their architecture is x86-64's, so that the numbers refused below would be allowed with this
/// bit set, where a kernel has x32.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OTHER_NUMBERS: &[seccompiler::sock_filter] = {
    use seccompiler::sock_filter;
    const X32: u32 = 0x4000_0000;
    &[
        // The number, which comes first of all that a filter is given.
        sock_filter {
            code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
            jt: 0,
            jf: 0,
            k: 0,
        },
        sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: X32,
        },
        sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        },
    ]
};

#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
const OTHER_NUMBERS: &[seccompiler::sock_filter] = &[];

/// Calls that `libc` does not name everywhere; newer ones have one number on all machines.
#[cfg(target_os = "linux")]
mod number {
    pub const FCHMODAT2: i64 = 452;
    pub const SETXATTRAT: i64 = 463;
    pub const REMOVEXATTRAT: i64 = 466;
    pub const FILE_SETATTR: i64 = 469;
}

/// Refused whatever they are given.
#[cfg(target_os = "linux")]
const REFUSED: &[i64] = &[
    // They make a socket, or do so unseen by such a filter.
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    // They act as, or on, another process.
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    // The mode, owner, times and attributes of a file can be changed wherever it is, by its path or open for reading.
    // A filter sees no paths, so that those in the run's folder go, too.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    number::FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    number::SETXATTRAT,
    number::REMOVEXATTRAT,
    number::FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    // Memory, semaphores and queues that processes share by number.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    // Queues and keys that processes of one user share by name, which Landlock takes for no files.
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Refused with some arguments: a call matches if all conditions of one of its rules hold.
#[cfg(target_os = "linux")]
fn refused_with() -> Result<Vec<(i64, Vec<seccompiler::SeccompRule>)>, seccompiler::Error> {
    use seccompiler::SeccompCmpArgLen::{Dword, Qword};
    use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
    use seccompiler::{SeccompCondition as Condition, SeccompRule as Rule};
    let int = |index, op, value| Condition::new(index, Dword, op, value);
    let pointer = |index, op, value| Condition::new(index, Qword, op, value);
    let other_process = || int(0, Ne, 0);
    let group = |letter: u64| int(1, MaskedEq(0xff00), letter << 8);
    let [unix, datagrams, raw] = [libc::AF_UNIX, libc::SOCK_DGRAM, libc::SOCK_RAW];
    let rules = [
        // A pair of streams is a pipe. A socket of datagrams sends to any address, whoever made it.
        (libc::SYS_socketpair, vec![int(0, Ne, unix as u64)]),
        (libc::SYS_socketpair, vec![int(1, MaskedEq(0xf), datagrams as u64)]),
        (libc::SYS_socketpair, vec![int(1, MaskedEq(0xf), raw as u64)]),
        // Limits may be read, and its own be set.
        (libc::SYS_prlimit64, vec![other_process(), pointer(2, Ne, 0)]),
        (libc::SYS_setpriority, vec![int(0, Ne, libc::PRIO_PROCESS as u64)]),
        (libc::SYS_setpriority, vec![int(1, Ne, 0)]),
        (libc::SYS_ioprio_set, vec![int(0, Ne, IOPRIO_WHO_PROCESS)]),
        (libc::SYS_ioprio_set, vec![int(1, Ne, 0)]),
        (libc::SYS_sched_setparam, vec![other_process()]),
        (libc::SYS_sched_setscheduler, vec![other_process()]),
        (libc::SYS_sched_setattr, vec![other_process()]),
        (libc::SYS_sched_setaffinity, vec![other_process()]),
        (libc::SYS_migrate_pages, vec![other_process()]),
        (libc::SYS_move_pages, vec![other_process()]),
        // Flags of a file that is open for reading; words for a terminal, as if typed.
        (libc::SYS_ioctl, vec![group(b'f'.into())]),
        (libc::SYS_ioctl, vec![group(b'v'.into())]),
        (libc::SYS_ioctl, vec![group(b'X'.into())]),
        (libc::SYS_ioctl, vec![int(1, Eq, libc::TIOCSTI)]),
        (libc::SYS_ioctl, vec![int(1, Eq, libc::TIOCLINUX)]),
    ];
    let mut by_call: Vec<(i64, Vec<Rule>)> = Vec::new();
    for (call, conditions) in rules {
        let conditions = conditions.into_iter().collect::<Result<_, _>>();
        let rule = conditions.and_then(Rule::new).map_err(seccompiler::Error::Backend)?;
        match by_call.last_mut() {
            Some((last, rules)) if *last == call => rules.push(rule),
            _ => by_call.push((call, vec![rule])),
        }
    }
    Ok(by_call)
}

#[cfg(target_os = "linux")]
const IOPRIO_WHO_PROCESS: u64 = 1;
