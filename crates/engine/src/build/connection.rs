//! A TCP connection with its algorithms.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{find, refused};
use crate::application::Application;
use crate::attributes::Attributes;
use crate::congestion;
use crate::error::Error;
use crate::hosts::{Address, Connection};
use crate::lowered::{Algorithm, Flow, Stack};
use crate::recovery;
use crate::tcp::{Config, Socket};
use crate::user::{Setup, UserCode, is_user_code};

pub fn build(
    flow: &Flow,
    address: Address,
    seed: u64,
    user: &dyn UserCode,
) -> Result<Connection, Error> {
    let [of_sender, of_receiver] = configs(&flow.socket, [flow.tos, flow.return_tos]);
    let receiver = build_socket(flow.into(), of_receiver, seed, user)?;
    let sender = build_socket(flow.into(), of_sender, seed, user)?;
    Ok(Connection::new(address, sender, receiver, Application::new(&flow.application, seed)))
}

/// Of a sender and a receiver with these types of service; one for both if that is the same.
pub fn configs(given: &BTreeMap<String, String>, services: [u8; 2]) -> [Arc<Config>; 2] {
    let sender = Arc::new(Config::new(given, services[0]));
    if services[0] == services[1] {
        return [Arc::clone(&sender), sender];
    }
    let receiver = Arc::new(Config { tos: services[1], ..(*sender).clone() });
    [sender, receiver]
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
    config: Arc<Config>,
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
