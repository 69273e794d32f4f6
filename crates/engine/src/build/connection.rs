//! A TCP connection with its algorithms.

use super::{find, refused};
use crate::application::Application;
use crate::attributes::Attributes;
use crate::congestion;
use crate::error::Error;
use crate::hosts::Connection;
use crate::lowered::Flow;
use crate::recovery;
use crate::tcp::{Config, Socket};
use crate::user::{Setup, UserCode, is_user_code};

/// `number`: the flow's, which its packets carry.
pub fn build(
    flow: &Flow,
    number: u32,
    seed: u64,
    user: &dyn UserCode,
) -> Result<Connection, Error> {
    let receiver = build_socket(flow, flow.return_tos, seed, user)?;
    let sender = build_socket(flow, flow.tos, seed, user)?;
    Ok(Connection::new(number, sender, receiver, Application::new(&flow.application, seed)))
}

fn build_socket(flow: &Flow, tos: u8, seed: u64, user: &dyn UserCode) -> Result<Socket, Error> {
    let unknown = || Error::Scenario(format!("unknown algorithm in flow {}", flow.name));
    let algorithm = flow.congestion_control.as_ref().ok_or_else(unknown)?;
    let cc = if is_user_code(&algorithm.kind) {
        let made = user.congestion_control(Setup::new(algorithm, seed));
        made.map_err(|message| refused(algorithm, message))?
    } else {
        let spec = find(congestion::SPECS, algorithm)?;
        let attributes = Attributes::new(spec, &algorithm.attributes);
        let cx = congestion::BuildContext { attributes, seed };
        congestion::build(&algorithm.kind, &cx).ok_or_else(unknown)?
    };
    let recovery = recovery::build(&flow.recovery).ok_or_else(unknown)?;
    Ok(Socket::new(Config::new(&flow.socket, tos), cc, recovery))
}
