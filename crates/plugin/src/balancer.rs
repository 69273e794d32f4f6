//! Load balancers: the trait that a user's implements, and the adapter that makes one of the engine's of
//! it.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use ccperf_engine::base::time::Time;
use ccperf_engine::host::user;
use ccperf_engine::net::routing::balance::{Balancer, Choice, Ports, SwitchContext};

use crate::abi::{Hop, Switch};
use crate::tcb::Code;

/// A load balancer of one's own: one object a switch.
pub trait LoadBalancer: fmt::Debug + Send {
    /// A packet has several paths: the position in [`Switch::ports`] of the one that it takes.
    fn pick(&mut self, packet: &mut Hop, switch: &mut Switch) -> u32;

    /// Whether packets with one way come to [`LoadBalancer::pick`] as well.
    fn sees_every_hop(&self) -> bool {
        false
    }

    /// How often [`LoadBalancer::tick`] wants to be called; never, if 0.  The same at every switch.
    fn period(&self) -> Time {
        Time::ZERO
    }

    /// A period is over; [`Switch::ports`] are all that the switch has.
    fn tick(&mut self, _switch: &mut Switch) {}
}

impl Switch {
    pub fn now(&self) -> Time {
        Time(self.now_ns as u64)
    }

    /// Those to choose from, in the order of links; their numbers stay the same when links fail.
    pub fn ports(&self) -> &[u32] {
        // SAFETY: the adapter below made both of one slice, which outlives the call.
        unsafe { std::slice::from_raw_parts(self.ports, self.port_count as usize) }
    }

    /// Bytes that wait at a port of this switch: IP packets in its queue discipline, frames in its device.
    pub fn waiting_bytes(&self, port: u32) -> u32 {
        // SAFETY: the functions are the adapter's below, and its host outlives the call.
        (unsafe { (self.waiting_bytes)(self.host, port) }) as u32
    }

    /// Bytes of the transmissions that a port of this switch has begun.
    pub fn sent_bytes(&self, port: u32) -> u64 {
        // SAFETY: as in `waiting_bytes`.
        (unsafe { (self.sent_bytes)(self.host, port) }) as u64
    }

    /// Of a port of this switch, in bit/s, at present.
    pub fn rate_bps(&self, port: u32) -> u64 {
        // SAFETY: as in `waiting_bytes`.
        (unsafe { (self.rate_bps)(self.host, port) }) as u64
    }
}

/// Makes one of the engine's balancers of a user's.
#[derive(Debug)]
pub struct BalancerAdapter<B> {
    name: String,
    inner: B,
    node: u32,
    /// All of the switch, in the order of links.
    ports: Vec<u32>,
}

impl<B: LoadBalancer> BalancerAdapter<B> {
    pub fn new(name: &str, inner: B, switch: SwitchContext<'_>) -> Self {
        let SwitchContext { node, ports } = switch;
        BalancerAdapter { name: name.to_owned(), inner, node, ports: ports.to_vec() }
    }

    /// `offered`: the ports that are shown; all of the switch, if none.
    fn call<T>(
        &mut self,
        now: Time,
        offered: Option<&[u32]>,
        all: &dyn Ports,
        call: impl FnOnce(&mut B, &mut Switch) -> T,
    ) -> T {
        let mut host = Host { all, own: &self.ports, error: None, lifetime: PhantomData };
        let shown = offered.unwrap_or(&self.ports);
        let mut switch = Switch {
            now_ns: now.ns(),
            error: ptr::null(),
            node: self.node,
            reserved: 0,
            port_count: shown.len() as i64,
            ports: shown.as_ptr(),
            host: ptr::from_mut(&mut host).cast(),
            waiting_bytes,
            sent_bytes,
            rate_bps,
        };
        let result = call(&mut self.inner, &mut switch);
        // SAFETY: a library leaves null or a C string here.
        let said = unsafe { crate::tcb::text(switch.error) };
        if let Some(message) = said.or(host.error) {
            user::fail(&self.name, message);
        }
        result
    }
}

impl<B: LoadBalancer> Balancer for BalancerAdapter<B> {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let mut hop = hop(choice);
        let Choice { now, ports, all, .. } = *choice;
        let position = self.call(now, Some(ports), all, |b, switch| b.pick(&mut hop, switch));
        if position as usize >= ports.len() {
            let message = format!(
                "pick returned {}, which is not the position of one of {} ports",
                position as i32,
                ports.len()
            );
            user::fail(&self.name, message);
        }
        choice.packet.notes = hop.notes;
        position
    }

    fn sees_every_hop(&self) -> bool {
        self.inner.sees_every_hop()
    }

    fn period(&self) -> Time {
        self.inner.period()
    }

    fn tick(&mut self, now: Time, ports: &dyn Ports) {
        self.call(now, None, ports, |b, switch| b.tick(switch));
    }
}

fn hop(choice: &Choice<'_>) -> Hop {
    let packet = &*choice.packet;
    Hop {
        flow: packet.flow,
        backward: packet.backward.into(),
        hash: choice.origin.hash,
        source: choice.origin.node,
        destination: choice.leaves_of.hosts[choice.origin.destination as usize],
        source_leaf: choice.source_leaf(),
        destination_leaf: choice.destination_leaf(),
        bytes: packet.ip_bytes.into(),
        payload: packet.payload.into(),
        seq: packet.seq.0,
        ack: packet.ack.0,
        flags: packet.flags.0.into(),
        ecn: packet.ecn.code(),
        notes: packet.notes,
        reserved: 0,
    }
}

/// What [`Switch::host`] points to, during one call.
struct Host<'a> {
    all: &'a dyn Ports,
    own: &'a [u32],
    error: Option<String>,
    lifetime: PhantomData<&'a mut ()>,
}

impl Host<'_> {
    /// What a port says of itself; 0, and an error, if the switch has no such port.
    fn ask(&mut self, port: u32, question: impl FnOnce(&dyn Ports) -> u64) -> i64 {
        if !self.own.contains(&port) {
            self.error = Some(format!("it asked for port {port}, which the switch has not got"));
            return 0;
        }
        i64::try_from(question(self.all)).unwrap_or(i64::MAX)
    }
}

unsafe extern "C" fn waiting_bytes(host: *mut c_void, port: u32) -> i64 {
    // SAFETY: a library passes on the `host` of the switch that it was called with.
    let host = unsafe { &mut *host.cast::<Host<'_>>() };
    host.ask(port, |all| all.waiting_bytes(port).into())
}

unsafe extern "C" fn sent_bytes(host: *mut c_void, port: u32) -> i64 {
    // SAFETY: as in `waiting_bytes`.
    let host = unsafe { &mut *host.cast::<Host<'_>>() };
    host.ask(port, |all| all.sent_bytes(port))
}

unsafe extern "C" fn rate_bps(host: *mut c_void, port: u32) -> i64 {
    // SAFETY: as in `waiting_bytes`.
    let host = unsafe { &mut *host.cast::<Host<'_>>() };
    host.ask(port, |all| all.rate(port))
}
