//! Whether routers tell senders that they have no route.

use ccperf_schema::lowered::Lowered;

use crate::host::tcp::profile::changes::Change;
use crate::host::tcp::profile::{DEFAULT, changes};
use crate::host::tcp::socket_params::PROFILE;
use crate::net::network::Exit;

/// By port, where messages leave routers; none if these say nothing.  They do if links fail and one of the scenario's
/// profiles has it.  Where hosts choose the paths, which ns-3 has nothing of, they do not.
pub fn exits(scenario: &Lowered, is_steered: bool) -> Option<Vec<Exit>> {
    let flows = scenario.flows.iter().map(|flow| &flow.socket);
    let mut sockets = flows.chain(scenario.stacks.iter().map(|stack| &stack.socket));
    let told = sockets.any(|socket| {
        let name = socket.get(PROFILE).map_or(DEFAULT, String::as_str);
        changes(name).has(Change::NetUnreachable)
    });
    let ends = scenario.links.iter().flat_map(|link| link.ends.into_iter().zip(link.addresses));
    let exit = |(router, address)| Exit { router: router as u32, address };
    (told && !scenario.failures.is_empty() && !is_steered).then(|| ends.map(exit).collect())
}
