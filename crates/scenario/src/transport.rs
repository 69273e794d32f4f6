//! Checks of what belongs to a flow's transport.

use std::collections::BTreeMap;

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::units;
use ccperf_engine::host::rate_control;
use ccperf_engine::host::tcp::profile::{self, changes, ns3};
use ccperf_engine::host::tcp::socket_params::{PROFILE, SOCKET};
use ccperf_engine::packet::TRIMMING_HEADERS;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Algorithm, Application, Flow, default_recovery};

use super::check::{Path, Report};
use super::names::Registry;

/// As RoCE is configured most: data in priority 3, and what answers it in priority 6.
const DATA_DSCP: u8 = 26;
const ANSWER_DSCP: u8 = 48;

/// Where its congestion control is found.
pub(super) fn controls(flow: &Flow) -> Registry {
    match flow.transport {
        Transport::Roce => Registry::RateControl,
        Transport::Trimming => Registry::Trimming,
        Transport::Tcp | Transport::Udp => Registry::CongestionControl,
    }
}

/// Headers of a full packet over RoCE, or of one that switches may cut, IP's included.
pub(super) fn headers(flow: &Flow) -> u32 {
    match flow.transport {
        Transport::Trimming => TRIMMING_HEADERS,
        _ => flow.cc.as_ref().map_or(0, |law| rate_control::headers(&law.kind)),
    }
}

impl Report {
    pub(super) fn tcp(&mut self, path: Path<'_>, flow: &mut Flow) {
        match &mut flow.cc {
            Some(cc) => self.algorithm(&format_args!("{path}.cc"), cc, Registry::CongestionControl),
            None => self.add(format!("{path}.cc"), "is missing; write one like `cubic`"),
        }
        let recovery = Registry::Recovery.find(&flow.recovery);
        if let Some(spec) = self.keep(&format_args!("{path}.recovery"), recovery) {
            flow.recovery = spec.ns3.to_owned();
        }
        self.types_of_service(path, [flow.tos, flow.return_tos]);
        self.attributes_of_releases(path, flow.cc.as_ref(), &flow.tcp);
    }

    /// An attribute that came with a later ns-3 needs a profile that has it, and one whose bound a later
    /// ns-3 moved keeps to that of its profile.
    pub(super) fn attributes_of_releases(
        &mut self,
        path: Path<'_>,
        cc: Option<&Algorithm>,
        tcp: &BTreeMap<String, String>,
    ) {
        let profile = tcp.get(PROFILE).map_or(profile::DEFAULT, String::as_str);
        let has = ns3::changes(profile);
        let of_cc = cc.map(|cc| ("cc.attributes", cc.kind.as_str(), &cc.attributes));
        for (field, class, given) in [("tcp", SOCKET.ns3, tcp)].into_iter().chain(of_cc) {
            for (name, value) in given {
                if let Some((change, least)) = changes::least_of_attribute(class, name)
                    && has.has(change)
                    && value.parse::<f64>().is_ok_and(|value| value < least)
                {
                    let message =
                        format!("{value} is too small for {profile}; write at least {least}");
                    self.add(format!("{path}.{field}.{name}"), message);
                }
                let Some(about) = changes::of_attribute(class, name) else { continue };
                if !has.has(about.change) {
                    let first = ns3::RELEASES.iter().find(|r| r.changes.has(about.change));
                    let enough = first.map_or("", |release| release.name);
                    let message = format!(
                        "came with ns-3 {}, and this is {profile}; write profile = \"{enough}\"",
                        about.release
                    );
                    self.add(format!("{path}.{field}.{name}"), message);
                }
            }
        }
    }

    /// TCP sets the ECN bits itself.
    pub(super) fn types_of_service(&mut self, path: Path<'_>, there_and_back: [u8; 2]) {
        for (field, tos) in ["tos", "return_tos"].into_iter().zip(there_and_back) {
            if tos & 3 != 0 {
                self.add(
                    format!("{path}.{field}"),
                    format!("{tos} sets the two ECN bits; write a multiple of 4, like 16"),
                );
            }
        }
    }

    /// A connection of RDMA: its sender has a rate, and its application all the data at once.
    pub(super) fn roce(&mut self, path: Path<'_>, flow: &mut Flow) {
        match &mut flow.cc {
            Some(cc) => self.rate_control(&format_args!("{path}.cc"), cc),
            None => self.add(format!("{path}.cc"), "is missing; write one like `dcqcn`"),
        }
        self.message(path, flow, "RoCE");
        for (tos, dscp, usual) in [
            (&mut flow.tos, flow.dscp, DATA_DSCP),
            (&mut flow.return_tos, flow.return_dscp, ANSWER_DSCP),
        ] {
            if *tos == 0 && dscp == 0 {
                *tos = usual << 2;
            }
        }
    }

    /// Packets that switches may cut: its application has all the data at once.
    pub(super) fn trimming(&mut self, path: Path<'_>, flow: &mut Flow) {
        let control = flow.cc.get_or_insert_with(|| Algorithm::named("ndp"));
        self.algorithm(&format_args!("{path}.cc"), control, Registry::Trimming);
        self.message(path, flow, "TRIMMING");
    }

    /// What a transport that is not TCP and sends whole packets of an application cannot have.
    fn message(&mut self, path: Path<'_>, flow: &Flow, transport: &str) {
        if !matches!(flow.application, Application::Greedy { .. }) {
            let message = format!("{transport} sends what there is at its own rate; write Greedy");
            self.add(format!("{path}.application.type"), message);
        }
        let given = [
            ("recovery", flow.recovery != default_recovery()),
            ("tcp", flow.tcp.keys().any(|name| name != PROFILE)),
            ("pias", !flow.pias.is_empty()),
        ];
        self.not_of(path, transport, given);
        self.types_of_service(path, [flow.tos, flow.return_tos]);
    }

    /// Fields that only TCP has.
    pub(crate) fn not_of(&mut self, path: Path<'_>, transport: &str, given: [(&str, bool); 3]) {
        for (field, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let message = format!("is TCP's, and this transport is {transport}; leave it out");
            self.add(format!("{path}.{field}"), message);
        }
    }

    fn rate_control(&mut self, path: Path<'_>, law: &mut Algorithm) {
        self.algorithm(path, law, Registry::RateControl);
        if let Ok(spec) = Registry::RateControl.find(&law.kind)
            && let Err((name, message)) =
                rate_control::check(spec, &Attributes::new(spec, &law.attributes))
        {
            self.add(format!("{path}.attributes.{name}"), message);
        }
    }

    /// A packet of RDMA is not fragmented, and none that switches may cut is.
    pub(super) fn message_size(&mut self, path: Path<'_>, flow: &Flow, mtu: Option<u32>) {
        let path = format!("{path}.application.write");
        self.packet_size(&path, flow.application.write(), headers(flow), mtu);
    }

    /// A packet carries a write, and is not cut into fragments.
    pub(crate) fn packet_size(
        &mut self,
        path: Path<'_>,
        write: &str,
        headers: u32,
        mtu: Option<u32>,
    ) {
        let written = units::parse_size(write).unwrap_or(0);
        let Some(most) = mtu.map(|mtu| u64::from(mtu.saturating_sub(headers))) else {
            return;
        };
        if written > most {
            let message = format!(
                "{written} B do not fit in the path's MTU beside {headers} B of headers; write at most {most}B"
            );
            self.add(path, message);
        }
    }

    /// What only a connection has is refused.  The profile is not: a release of ns-3 is its routers', too.
    pub(super) fn udp(&mut self, path: Path<'_>, flow: &Flow) {
        let given = [
            ("cc", flow.cc.is_some()),
            ("recovery", flow.recovery != default_recovery()),
            ("tcp", flow.tcp.keys().any(|name| name != PROFILE)),
        ];
        for (field, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let message = "is TCP's, and this flow's transport is UDP; leave it out";
            self.add(format!("{path}.{field}"), message);
        }
        if flow.dscp != 0 || flow.return_dscp != 0 {
            let message =
                "marks whole connections; over UDP write tos, which is 4 times the code point";
            self.add(format!("{path}.dscp"), message);
        }
        if flow.return_tos != 0 {
            let message = "has no effect: nothing comes back over UDP; leave it out";
            self.add(format!("{path}.return_tos"), message);
        }
    }
}
