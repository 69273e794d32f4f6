//! rtnetlink(7), as far as hosts need it: devices, addresses, routes.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::c_int;

use super::{checked, read, text, unless_again};

/// The number of a device.
pub fn index(name: &str) -> Result<u32> {
    let name = text(name);
    // SAFETY: the string ends with a zero and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 { Err(Error::last_os_error()) } else { Ok(index) }
}

/// A socket that devices, addresses and routes are asked for through.
pub struct Netlink(OwnedFd);

/// A message: its fixed part, and attributes.
struct Message {
    kind: u16,
    flags: i32,
    body: Vec<u8>,
}

impl Message {
    fn new(kind: u16, flags: i32, fixed: &[u8]) -> Self {
        Message { kind, flags, body: fixed.to_vec() }
    }

    fn with(mut self, attribute: u16, value: &[u8]) -> Self {
        put_attribute(&mut self.body, attribute, value);
        self
    }
}

/// Length, type and value, padded to a multiple of four.
fn put_attribute(to: &mut Vec<u8>, attribute: u16, value: &[u8]) {
    to.extend((value.len() as u16 + 4).to_ne_bytes());
    to.extend(attribute.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

impl AsRawFd for Netlink {
    fn as_raw_fd(&self) -> c_int {
        self.0.as_raw_fd()
    }
}

impl Netlink {
    pub fn open() -> Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: the descriptor is new and ours.
        Ok(Netlink(unsafe {
            OwnedFd::from_raw_fd(checked(libc::socket(
                libc::AF_NETLINK,
                kind,
                libc::NETLINK_ROUTE,
            ))?)
        }))
    }

    /// Makes a device that forgets what it sends.
    pub fn add_dummy(&self, name: &str) -> Result<()> {
        const IFLA_INFO_KIND: u16 = 1;
        let mut kind = Vec::new();
        put_attribute(&mut kind, IFLA_INFO_KIND, b"dummy");
        let message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE, &[0; 16])
            .with(libc::IFLA_IFNAME, text(name).as_bytes_with_nul())
            .with(libc::IFLA_LINKINFO, &kind);
        self.ask(&message).map_err(said("device"))
    }

    pub fn set_up(&self, device: u32, mtu: Option<u32>) -> Result<()> {
        let up = (libc::IFF_UP as u32).to_ne_bytes();
        let fixed = [[0; 4], device.to_ne_bytes(), up, up].concat();
        let mut message = Message::new(libc::RTM_NEWLINK, 0, &fixed);
        if let Some(mtu) = mtu {
            message = message.with(libc::IFLA_MTU, &mtu.to_ne_bytes());
        }
        self.ask(&message).map_err(said("device"))
    }

    pub fn add_address(&self, device: u32, address: Ipv4Addr) -> Result<()> {
        let fixed = [[libc::AF_INET as u8, 32, 0, 0], device.to_ne_bytes()].concat();
        let message = Message::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE, &fixed)
            .with(libc::IFA_LOCAL, &address.octets())
            .with(libc::IFA_ADDRESS, &address.octets());
        self.ask(&message).map_err(said("address"))
    }

    pub fn add_route(
        &self,
        device: u32,
        to: Option<Ipv4Addr>,
        metrics: &BTreeMap<String, u32>,
    ) -> Result<()> {
        let length = if to.is_some() { 32 } else { 0 };
        let kind =
            [libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, libc::RT_SCOPE_LINK, libc::RTN_UNICAST];
        let fixed = [[libc::AF_INET as u8, length, 0, 0], kind, [0; 4]].concat();
        let mut message = Message::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE, &fixed)
            .with(libc::RTA_OIF, &device.to_ne_bytes());
        if let Some(to) = to {
            message = message.with(libc::RTA_DST, &to.octets());
        }
        let mut nested = Vec::new();
        for (name, value) in metrics {
            put_attribute(&mut nested, metric(name)?, &value.to_ne_bytes());
        }
        self.ask(&message.with(libc::RTA_METRICS, &nested)).map_err(said("route"))
    }

    /// Sends a message; the kernel says whether it did as it says.
    fn ask(&self, message: &Message) -> Result<()> {
        let flags = (message.flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = (message.body.len() as u32 + 16).to_ne_bytes().to_vec();
        bytes.extend(message.kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(&message.body);
        // SAFETY: the kernel reads as many bytes as there are.
        unless_again(unsafe {
            libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0)
        })?;
        let mut answer = [0; 4096];
        read(&self.0, &mut answer)?;
        let number = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
        if number == 0 { Ok(()) } else { Err(Error::from_raw_os_error(-number)) }
    }
}

/// <linux/rtnetlink.h>
fn metric(name: &str) -> Result<u16> {
    Ok(match name {
        "ssthresh" => 6,
        "initcwnd" => 11,
        "quickack" => 15,
        _ => return Err(Error::other(format!("a route has no {name}"))),
    })
}

/// Says of an error what was to be set.
fn said(what: &'static str) -> impl Fn(Error) -> Error {
    move |error| Error::other(format!("a host's {what} cannot be set: {error}"))
}
