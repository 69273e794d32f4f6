//! Why a lowered scenario could not be run, or not to its end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::base::time::Time;

/// Why a lowered scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Scenario(String),
    #[error("cannot write the packet trace: {0}")]
    Trace(#[from] io::Error),
    #[error(
        "cannot keep samples in a file in {}: {}; let TMPDIR name a folder with room, or record less",
        std::env::temp_dir().display(), .0
    )]
    Samples(#[source] io::Error),
    #[error("{algorithm} failed at {:.9} s of simulated time: {message}", time.secs_f64())]
    UserCode { algorithm: String, time: Time, message: String },
    #[error(
        "more than {most} transfers are under way at {:.9} s of simulated time, and a run has places for no more; \
         lower the load of its workloads, or let it end earlier",
        time.secs_f64()
    )]
    Crowded { most: usize, time: Time },
}

/// What ends a run from within.
///
/// It unwinds, so that no call on the packet path has to carry a result for its sake.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A user's algorithm, and what it did.
    UserCode { algorithm: String, message: String },
    /// There is no room for samples.
    Samples(io::Error),
    /// A transfer begins for which there is no place.
    Crowded { most: usize },
}

impl Failure {
    pub(crate) fn throw(self) -> ! {
        resume_unwind(Box::new(self))
    }

    /// The error that it is if it happened at `time`.
    pub(crate) fn at(self, time: Time) -> Error {
        match self {
            Failure::UserCode { algorithm, message } => {
                Error::UserCode { algorithm, time, message }
            }
            Failure::Samples(error) => Error::Samples(error),
            Failure::Crowded { most } => Error::Crowded { most, time },
        }
    }
}

/// Runs `call` and catches what [`Failure::throw`] throws, and only that.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Box<Failure>> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|thrown| thrown.downcast::<Failure>().unwrap_or_else(|other| resume_unwind(other)))
}
