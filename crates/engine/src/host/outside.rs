//! For stacks that are not ours, a kernel's say: what their endpoints are made of, and who makes them.

use crate::base::error::Error;
use ccperf_schema::lowered::Flow;

pub use crate::host::application::Greedy;
pub use crate::host::application::{Application, Due, Source};
pub use crate::host::departures::Departures;
pub use crate::host::hosts::{Address, Endpoint, Host, Outcome, Sample, State};
pub use crate::net::network::{Arriving, Lookahead};

/// Makes the ends of connections.
pub trait Stack {
    /// Those of `flow`, which are found at `address`.
    ///
    /// # Errors
    /// What the flow asks for and the stack does not have.
    fn connect(&mut self, flow: &Flow, address: Address) -> Result<Box<dyn Endpoint>, Error>;
}

crate::opaque!(Stack);
