//! Where user code is, for whoever watches the process that runs it: after a crash or a kill nobody is
//! left to ask.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ccperf_engine::base::time::Time;
use ccperf_engine::congestion_control_callbacks;
use memmap2::MmapMut;

/// A file of 64-bit words, shared with the watcher through memory: simulated time in ns of the last
/// call, number of calls so far, and the present call (see [`Probe::call`]; 0 between calls).
#[derive(Debug)]
pub struct Monitor {
    words: MmapMut,
}

const WORDS: usize = 3;

impl Monitor {
    /// # Errors
    /// If the file cannot be mapped.
    pub fn open(path: &Path) -> io::Result<Monitor> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        file.set_len((WORDS * size_of::<u64>()) as u64)?;
        // SAFETY: all accesses are atomic. User code can cut the file off, which ends this process by SIGBUS and no other:
        // the watcher reads the file and does not map it.
        Ok(Monitor { words: unsafe { MmapMut::map_mut(&file) }? })
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < WORDS);
        // SAFETY: in bounds; a mapping is aligned to a page.
        unsafe { AtomicU64::from_ptr(self.words.as_ptr().cast::<u64>().cast_mut().add(index)) }
    }
}

/// Declares the functions of algorithms, with their names in `ccperf.h` and in Python.
macro_rules! calls {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        /// The functions of an algorithm; their numbers in the monitor's file count from 1.
        #[derive(Clone, Copy, Debug)]
        #[repr(u8)]
        pub enum Call {
            Create,
            Enqueue,
            Dequeue,
            Timer,
            Pick,
            Tick,
            Classify,
            Next,
            SentBy,
            Send,
            Ack,
            Timeout,
            Loss,
            $($variant,)*
        }

        impl Call {
            /// All names, in the order of their numbers.
            pub const NAMES: &[&str] =
                &[
                    "create", "enqueue", "dequeue", "timer", "pick", "tick", "classify", "next",
                    "sent", "send", "ack", "timeout", "loss", $(stringify!($name)),*
                ];

            pub fn name(self) -> &'static str {
                Call::NAMES[self as usize]
            }

            fn number(self) -> u64 {
                self as u64 + 1
            }
        }
    };
}

congestion_control_callbacks!(calls);

/// Reports the calls of one algorithm.
#[derive(Clone, Debug)]
pub struct Probe {
    monitor: Option<Arc<Monitor>>,
    algorithm: u64,
}

impl Probe {
    /// `algorithm`: its position in [`ccperf_engine::host::user::names`].
    pub fn new(monitor: Option<Arc<Monitor>>, algorithm: usize) -> Probe {
        Probe { monitor, algorithm: algorithm as u64 }
    }

    /// Makes the call `what`, reported as `256 * (position + 1) + number of the call`.
    #[inline]
    pub fn call<T>(&self, now: Time, what: Call, call: impl FnOnce() -> T) -> T {
        let Some(monitor) = &self.monitor else { return call() };
        monitor.word(0).store(now.0, Ordering::Relaxed);
        monitor.word(1).fetch_add(1, Ordering::Relaxed);
        monitor.word(2).store((self.algorithm + 1) << 8 | what.number(), Ordering::Relaxed);
        let result = call();
        monitor.word(2).store(0, Ordering::Relaxed);
        result
    }
}
