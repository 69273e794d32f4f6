//! rtnetlink(7), as far as it is needed here: devices, addresses, routes, queue disciplines.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::c_int;

use super::{checked, read, set_option, text, unless_again};

/// The number of a device.
pub fn index(name: &str) -> Result<u32> {
    let name = text(name);
    // SAFETY: the string ends with a zero and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 { Err(Error::last_os_error()) } else { Ok(index) }
}

/// A socket that devices, addresses and routes are asked for through: those of the network in which it was opened.
#[derive(Debug)]
pub struct Netlink(OwnedFd);

/// A message: its fixed part, and attributes.
#[derive(Clone)]
struct Message {
    kind: u16,
    flags: i32,
    body: Vec<u8>,
}

impl Message {
    fn new(kind: u16, flags: i32, fixed: &[u8]) -> Self {
        Message { kind, flags, body: fixed.to_vec() }
    }

    /// With `struct ifinfomsg` of a device that has this number; `set`: what its flags are to have.
    fn of_device(flags: i32, number: u32, set: u32) -> Self {
        Message::new(
            libc::RTM_NEWLINK,
            flags,
            &[0, number, set, set].map(u32::to_ne_bytes).concat(),
        )
    }

    /// With `struct tcmsg` of the discipline at the root of a device.
    fn of_discipline(kind: u16, flags: i32, device: u32, handle: u32) -> Self {
        const TC_H_ROOT: u32 = u32::MAX;
        let numbers = [0, device, handle, TC_H_ROOT, 0].map(u32::to_ne_bytes);
        Message::new(kind, flags, &numbers.concat())
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
        let socket = unsafe {
            OwnedFd::from_raw_fd(checked(libc::socket(
                libc::AF_NETLINK,
                kind,
                libc::NETLINK_ROUTE,
            ))?)
        };
        let on: c_int = 1;
        set_option(&socket, libc::SOL_NETLINK, libc::NETLINK_EXT_ACK, &on.to_ne_bytes())?;
        Ok(Netlink(socket))
    }

    /// Makes a device of this kind: `dummy` forgets what it sends.  `number`: its own, or 0 for any.
    pub fn add_device(&self, kind: &str, name: &str, number: u32) -> Result<()> {
        const IFLA_INFO_KIND: u16 = 1;
        let mut info = Vec::new();
        put_attribute(&mut info, IFLA_INFO_KIND, kind.as_bytes());
        let message = Message::of_device(libc::NLM_F_CREATE, number, 0)
            .with(libc::IFLA_IFNAME, text(name).as_bytes_with_nul())
            .with(libc::IFLA_LINKINFO, &info);
        self.ask(&message).map_err(said("device"))
    }

    /// Puts a queue discipline onto a device; `options` are the attributes inside `TCA_OPTIONS`.
    pub fn set_discipline(&self, device: u32, kind: &str, options: &[u8]) -> Result<()> {
        const TCA_KIND: u16 = 1;
        const TCA_OPTIONS: u16 = 2;
        const HANDLE: u32 = 0x1_0000; // 1:
        let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
        let mut message = Message::of_discipline(libc::RTM_NEWQDISC, flags, device, HANDLE)
            .with(TCA_KIND, text(kind).as_bytes_with_nul());
        if !options.is_empty() {
            message = message.with(TCA_OPTIONS | libc::NLA_F_NESTED as u16, options);
        }
        self.ask(&message)
    }

    pub fn set_up(&self, device: u32, mtu: Option<u32>) -> Result<()> {
        let mut message = Message::of_device(0, device, libc::IFF_UP as u32);
        if let Some(mtu) = mtu {
            message = message.with(libc::IFLA_MTU, &mtu.to_ne_bytes());
        }
        self.ask(&message).map_err(said("device"))
    }

    /// What the queue discipline of a device says of itself (`tc -s`): its own structure, <linux/pkt_sched.h>.
    pub fn statistics(&self, device: u32) -> Result<Vec<u8>> {
        const TCA_STATS2: u16 = 7;
        const TCA_STATS_APP: u16 = 4;
        /// Header of a message, and the fixed part.
        const BEFORE: usize = 16 + 20;
        // Without the flag only those who listen are told.
        self.send(&Message::of_discipline(libc::RTM_GETQDISC, libc::NLM_F_ECHO, device, 0))?;
        let mut answer = vec![0; 1 << 16];
        let length = read(&self.0, &mut answer)?.unwrap_or(0);
        let all = attribute(answer.get(BEFORE..length).unwrap_or(&[]), TCA_STATS2);
        Ok(all.and_then(|all| attribute(all, TCA_STATS_APP)).unwrap_or(&[]).to_vec())
    }

    /// The length of a device's queue, `txqueuelen`.
    pub fn set_queue(&self, device: u32, packets: u32) -> Result<()> {
        let message =
            Message::of_device(0, device, 0).with(libc::IFLA_TXQLEN, &packets.to_ne_bytes());
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
        self.send(&Message { flags: message.flags | libc::NLM_F_ACK, ..message.clone() })?;
        let mut answer = [0; 4096];
        let length = read(&self.0, &mut answer)?.unwrap_or(0);
        let number = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
        if number == 0 {
            return Ok(());
        }
        let error = Error::from_raw_os_error(-number);
        Err(match reason(&answer[..length]) {
            Some(reason) => Error::other(format!("{reason} ({error})")),
            None => error,
        })
    }

    fn send(&self, message: &Message) -> Result<()> {
        let flags = (message.flags | libc::NLM_F_REQUEST) as u16;
        let mut bytes = (message.body.len() as u32 + 16).to_ne_bytes().to_vec();
        bytes.extend(message.kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(&message.body);
        // SAFETY: the kernel reads as many bytes as there are.
        unless_again(unsafe {
            libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0)
        })?;
        Ok(())
    }
}

/// The value of the attribute of this kind among some.
fn attribute(mut among: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(among.get(..2)?.try_into().ok()?));
        let value = among.get(4..length)?;
        if u16::from_ne_bytes([among[2], among[3]]) & libc::NLA_TYPE_MASK as u16 == kind {
            return Some(value);
        }
        among = among.get(length.next_multiple_of(4)..)?;
    }
}

/// What the kernel says of a message that it refuses, in words (`NLMSGERR_ATTR_MSG`).
fn reason(answer: &[u8]) -> Option<String> {
    const NLM_F_CAPPED: u16 = 0x100;
    const NLMSGERR_ATTR_MSG: u16 = 1;
    let u16_at = |at: usize| Some(u16::from_ne_bytes(answer.get(at..at + 2)?.try_into().ok()?));
    // Header, error, and the message that was refused, or its header.
    let refused = u32::from_ne_bytes(answer.get(20..24)?.try_into().ok()?) as usize;
    let is_capped = u16_at(6)? & NLM_F_CAPPED != 0;
    let begin = 20 + if is_capped { 16 } else { refused.next_multiple_of(4) };
    let words = attribute(answer.get(begin..)?, NLMSGERR_ATTR_MSG)?;
    Some(String::from_utf8_lossy(words).trim_end_matches('\0').to_owned())
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
    move |error| Error::other(format!("a {what} cannot be set: {error}"))
}
