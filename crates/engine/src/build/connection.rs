//! A TCP connection with its algorithms.

use super::{find, refused};
use crate::application::Application;
use crate::attributes::Attributes;
use crate::congestion;
use crate::error::Error;
use crate::hosts::Connection;
use crate::lowered::{Algorithm, Flow, Stack};
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
    let socket = |tos| build_socket(flow.into(), Config::new(&flow.socket, tos), seed, user);
    let receiver = socket(flow.return_tos)?;
    let sender = socket(flow.tos)?;
    Ok(Connection::new(number, number, sender, receiver, Application::new(&flow.application, seed)))
}

/// The algorithms of a socket, and of whose.
#[derive(Clone, Copy, Debug)]
pub struct Algorithms<'a> {
    name: &'a str,
    /// None over UDP, which has no socket.
    congestion_control: Option<&'a Algorithm>,
    recovery: &'a str,
}

impl<'a> From<&'a Flow> for Algorithms<'a> {
    fn from(flow: &'a Flow) -> Self {
        let Flow { name, congestion_control, recovery, .. } = flow;
        Algorithms { name, congestion_control: congestion_control.as_ref(), recovery }
    }
}

impl<'a> From<&'a Stack> for Algorithms<'a> {
    fn from(stack: &'a Stack) -> Self {
        let Stack { name, congestion_control, recovery, .. } = stack;
        Algorithms { name, congestion_control: Some(congestion_control), recovery }
    }
}

pub fn build_socket(
    of: Algorithms<'_>,
    config: Config,
    seed: u64,
    user: &dyn UserCode,
) -> Result<Socket, Error> {
    let unknown = || Error::Scenario(format!("unknown algorithm in {}", of.name));
    let algorithm = of.congestion_control.ok_or_else(unknown)?;
    let cc = if is_user_code(&algorithm.kind) {
        let made = user.congestion_control(Setup::new(algorithm, seed));
        made.map_err(|message| refused(algorithm, message))?
    } else {
        let spec = find(congestion::SPECS, algorithm)?;
        let attributes = Attributes::new(spec, &algorithm.attributes);
        let cx = congestion::BuildContext { attributes, seed };
        congestion::build(&algorithm.kind, &cx).ok_or_else(unknown)?
    };
    let recovery = recovery::build(of.recovery).ok_or_else(unknown)?;
    Ok(Socket::new(config, cc, recovery))
}
