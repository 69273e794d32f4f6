//! Checks of links: their directions, addresses, and single changes of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::Ipv4Addr;

use ccperf_engine::base::time::Time;
use ccperf_engine::base::units::{self, QueueSize};
use ccperf_engine::packet::PPP_HEADER;
use ccperf_schema::lowered::DeviceSelect;
use ccperf_schema::written::{Change, Direction, DirectionName, Link};

use super::check::{CheckedLink, Path, Report};
use super::names::{self, Registry};

/// Stream numbers are exact in a double.
const MAX_STREAM: u64 = 1 << 52;
const MAX_DEVICE_QUEUES: u16 = 256;
/// A pure ACK with three SACK blocks: IP 20, TCP 20, options 36.
const LARGEST_ACK: u32 = 76;

impl Report {
    pub(super) fn link(
        &mut self,
        path: Path<'_>,
        link: &mut Link,
        nodes: &HashMap<String, usize>,
        stop: Option<Time>,
    ) -> Option<CheckedLink> {
        self.rate(&format_args!("{path}.rate"), &mut link.rate);
        self.delay(&format_args!("{path}.delay"), &mut link.delay);
        let mtu = [
            self.direction(&format_args!("{path}.forward"), &mut link.forward),
            self.direction(&format_args!("{path}.reverse"), &mut link.reverse),
        ];
        self.schedules(path, link, stop);
        let [a, b] = &link.ends;
        if a == b {
            self.add(format!("{path}.ends"), format!("both are `{a}`; a link joins two nodes"));
        }
        let a = self.node(&format_args!("{path}.ends[0]"), a, nodes);
        let b = self.node(&format_args!("{path}.ends[1]"), b, nodes);
        Some(CheckedLink { ends: [a?, b?], mtu })
    }

    fn device_queues(&mut self, path: Path<'_>, direction: &Direction) {
        let count = direction.device_queues;
        let (most, why) = match direction.device_select {
            DeviceSelect::Flow => (MAX_DEVICE_QUEUES, ""),
            DeviceSelect::Priority => (4, " for device_select `priority`, which tells 4 apart"),
        };
        if !(1..=most).contains(&count) {
            self.add(
                format!("{path}.device_queues"),
                format!("{count} is not from 1 to {most}{why}"),
            );
        }
    }

    /// Returns the MTU.
    fn direction(&mut self, path: Path<'_>, direction: &mut Direction) -> Option<u32> {
        if let Some(rate) = &mut direction.rate {
            self.rate(&format_args!("{path}.rate"), rate);
        }
        if let Some(root) = &mut direction.qdisc {
            let path = format!("{path}.qdisc");
            self.algorithm(&path, root, Registry::Qdisc);
            self.children(&path, root, direction.device_queues);
        }
        self.device_queues(path, direction);
        self.probability(&format_args!("{path}.loss"), &mut direction.loss);
        if let Some(stream) = direction.loss_stream.filter(|&stream| stream >= MAX_STREAM) {
            self.add(
                format!("{path}.loss_stream"),
                format!("{stream} is no stream number; write one below {MAX_STREAM}"),
            );
        }
        self.impairments(path, direction);
        let mtu = self.mtu(&format_args!("{path}.mtu"), &mut direction.mtu);
        self.device_queue(&format_args!("{path}.device_queue"), &mut direction.device_queue, mtu);
        if let Some(limits) = &mut direction.queue_limits {
            self.time(&format_args!("{path}.queue_limits.hold_time"), &mut limits.hold_time);
            if direction.device_queues > 1 {
                self.add(
                    format!("{path}.queue_limits"),
                    format!("are for one queue, not {} device_queues", direction.device_queues),
                );
            }
        }
        let mut seen = BTreeSet::new();
        for (i, &packet) in direction.drop.iter().enumerate() {
            if !seen.insert(packet) {
                self.add(format!("{path}.drop[{i}]"), format!("packet {packet} is listed twice"));
            }
        }
        direction.drop = seen.into_iter().collect();
        mtu
    }

    fn mtu(&mut self, path: Path<'_>, text: &mut String) -> Option<u32> {
        let bytes = self.size(path, text)?;
        let mtu = u16::try_from(bytes).ok().map(u32::from).filter(|&mtu| mtu >= LARGEST_ACK);
        if mtu.is_none() {
            self.add(path, format!("{text} is not between {LARGEST_ACK}B and 65535B"));
        }
        mtu
    }

    fn device_queue(&mut self, path: Path<'_>, text: &mut String, mtu: Option<u32>) {
        let Some(size) = self.keep(path, units::parse_queue_size(text)) else { return };
        let least = mtu.unwrap_or(0) + PPP_HEADER;
        match size {
            QueueSize::Packets(0) => self.add(path, format!("{text} holds no packet; write 1p")),
            QueueSize::Bytes(bytes) if bytes < least => self.add(
                path,
                format!("{text} does not hold one packet of the MTU; write at least {least}B"),
            ),
            _ => *text = units::format_queue_size(size),
        }
    }

    /// Checks the addresses given and counts up through the /30 networks from 10.0.0.0 for the
    /// rest.
    pub(super) fn addresses(&mut self, links: &mut [Link]) {
        let mut networks = HashMap::new();
        for (i, link) in links.iter_mut().enumerate() {
            let Some(pair) = &mut link.addresses else { continue };
            let path = format!("links[{i}].addresses");
            let Some(network) = self.address_pair(&path, pair) else { continue };
            if let Some(other) = networks.insert(network, i) {
                let network = Ipv4Addr::from(network);
                self.add(path, format!("{network}/30 is the network of links[{other}] already"));
            }
        }
        let mut next = u32::from(Ipv4Addr::new(10, 0, 0, 0));
        for link in links.iter_mut().filter(|link| link.addresses.is_none()) {
            while networks.contains_key(&next) {
                next += 4;
            }
            link.addresses = Some([1, 2].map(|host| Ipv4Addr::from(next + host).to_string()));
            next += 4;
        }
    }

    /// Returns the network, if the addresses are the two hosts of one /30.
    fn address_pair(&mut self, path: Path<'_>, pair: &mut [String; 2]) -> Option<u32> {
        let parsed: [Option<u32>; 2] = std::array::from_fn(|i| {
            let text = &pair[i];
            let unusable = || format!("`{text}` is not the address of a host, like 10.0.0.1");
            let address = text.parse::<Ipv4Addr>().ok();
            let host = |a: &Ipv4Addr| (1..=223).contains(&a.octets()[0]) && !a.is_loopback();
            let address = address.filter(host).ok_or_else(unusable);
            self.keep(&format_args!("{path}[{i}]"), address).map(u32::from)
        });
        let (a, b) = (parsed[0]?, parsed[1]?);
        let is_host = |address: u32| matches!(address % 4, 1 | 2);
        if a / 4 != b / 4 || a == b || !is_host(a) || !is_host(b) {
            let [a, b] = pair;
            self.add(
                path,
                format!("{a} and {b} are not the two hosts of one /30, like 10.0.0.1 and 10.0.0.2"),
            );
            return None;
        }
        Some(a / 4 * 4)
    }

    pub(super) fn change(
        &mut self,
        path: Path<'_>,
        change: &mut Change,
        known: &HashSet<&str>,
        links: &[Link],
        stop: Option<Time>,
    ) {
        let time = self.time(&format_args!("{path}.time"), &mut change.time);
        if let (Some(time), Some(stop)) = (time, stop)
            && time >= stop
        {
            let (time, stop) = (&change.time, units::format_time(stop));
            self.add(
                format!("{path}.time"),
                format!("{time} is not before stop_time ({stop}): the change would never happen"),
            );
        }
        if !known.contains(change.link.as_str()) {
            let hint = names::hint(&change.link, links.iter().map(|link| link.name.as_str()));
            self.add(format!("{path}.link"), format!("there is no link `{}`; {hint}", change.link));
        }
        if let Some(rate) = &mut change.rate {
            self.rate(&format_args!("{path}.rate"), rate);
        }
        if let Some(delay) = &mut change.delay {
            self.delay(&format_args!("{path}.delay"), delay);
            if change.direction != DirectionName::Both {
                self.add(
                    format!("{path}.direction"),
                    "a link has one delay for both directions; leave direction out",
                );
            }
        }
        if let Some(loss) = &mut change.loss {
            self.probability(&format_args!("{path}.loss"), loss);
        }
        if change.rate.is_none() && change.delay.is_none() && change.loss.is_none() {
            self.add(path, "changes nothing; give rate, delay or loss");
        }
    }
}
