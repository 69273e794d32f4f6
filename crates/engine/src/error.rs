//! Why a lowered scenario could not be run, or not to its end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::time::Time;
use crate::user::Failure;

/// Why a lowered scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Scenario(String),
    #[error("cannot write the packet trace: {0}")]
    Trace(#[from] io::Error),
    #[error("{algorithm} failed at {:.9} s of simulated time: {message}", time.secs_f64())]
    UserCode { algorithm: String, time: Time, message: String },
}

impl Failure {
    /// The error that it is if it happened at `time`.
    pub(crate) fn at(self, time: Time) -> Error {
        Error::UserCode { algorithm: self.algorithm, time, message: self.message }
    }
}

/// Runs `call` and catches what [`crate::user::fail`] throws, and only that.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Box<Failure>> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|thrown| thrown.downcast::<Failure>().unwrap_or_else(|other| resume_unwind(other)))
}
