//! A TCP connection with its algorithms.

use std::collections::BTreeMap;
use std::sync::Arc;

use ccperf_schema::lowered::{Algorithm, Flow, Stack};

use super::{find, refused};
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::host::application::Application;
use crate::host::congestion;
use crate::host::hosts::{Address, AnyEndpoint, Connection};
use crate::host::recovery;
use crate::host::slow_start;
use crate::host::tcp::profile::{self, ForProfile};
use crate::host::tcp::{Config, Ns3, Profile, Socket};
use crate::host::user::{Setup, UserCode, is_user_code};

pub fn build(
    flow: &Flow,
    address: Address,
    seed: u64,
    user: &dyn UserCode,
) -> Result<AnyEndpoint, Error> {
    let configs = configs(&flow.socket, [flow.tos, flow.return_tos]);
    let application = Application::new(&flow.application, seed);
    Ends { of: flow.into(), configs: &configs, seed, user }.connect(address, application)
}

/// What both ends of a connection are made of.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    pub of: Algorithms<'a>,
    /// Of the sender and the receiver.
    pub configs: &'a [Arc<Config>; 2],
    pub seed: u64,
    pub user: &'a dyn UserCode,
}

impl Ends<'_> {
    pub fn connect(self, address: Address, application: Application) -> Result<AnyEndpoint, Error> {
        let name = &self.configs[0].profile;
        let unknown =
            || Error::Scenario(format!("{}: no TCP has the profile {name}", self.of.name));
        profile::choose(name, Connect { ends: self, address, application }).ok_or_else(unknown)?
    }

    /// Makes the sender, whose algorithms may not be there.
    pub fn check(self) -> Result<(), Error> {
        let [of_sender, _] = self.configs;
        build_socket::<Ns3>(self.of, Arc::clone(of_sender), self.seed, self.user).map(drop)
    }

    /// The receiver's algorithm is made before the sender's.
    fn sockets<P: Profile>(&self) -> Result<[Socket<P>; 2], Error> {
        let [of_sender, of_receiver] = self.configs;
        let make = |config| build_socket(self.of, Arc::clone(config), self.seed, self.user);
        let receiver = make(of_receiver)?;
        Ok([make(of_sender)?, receiver])
    }
}

struct Connect<'a> {
    ends: Ends<'a>,
    address: Address,
    application: Application,
}

impl ForProfile for Connect<'_> {
    type Made = Result<AnyEndpoint, Error>;

    fn make<P: Profile>(self) -> Self::Made {
        let [sender, receiver] = self.ends.sockets::<P>()?;
        let ends = Connection::new(self.address, sender, receiver, self.application);
        Ok(AnyEndpoint::new(ends))
    }
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

fn build_socket<P: Profile>(
    of: Algorithms<'_>,
    config: Arc<Config>,
    seed: u64,
    user: &dyn UserCode,
) -> Result<Socket<P>, Error> {
    let unknown = || Error::Scenario(format!("unknown algorithm in {}", of.name));
    let algorithm = of.congestion_control.ok_or_else(unknown)?;
    let cc = if is_user_code(&algorithm.kind) {
        let made = user.congestion_control(Setup::new(algorithm, seed));
        made.map_err(|message| refused(algorithm, message))?
    } else {
        let spec = find(congestion::SPECS, algorithm)?;
        let attributes = Attributes::new(spec, &algorithm.attributes);
        let (changes, stack) = (config.changes, P::STACK);
        let cx = congestion::BuildContext { attributes, seed, changes, stack };
        congestion::build(&algorithm.kind, &cx).ok_or_else(unknown)?
    };
    let named = slow_start::build(&config.slow_start)
        .or_else(|| P::slow_start(&algorithm.kind).and_then(slow_start::build));
    let cc = match named {
        Some(named) => cc.starting_with(named),
        None => cc,
    };
    let recovery = recovery::build(of.recovery, config.changes).ok_or_else(unknown)?;
    Ok(Socket::new(config, cc, recovery))
}
