//! What ns-3 has changed in its TCP since 3.44, one by one.  A release is the set of changes that it has
//! ([`Release`]); a part that has changed asks for its change when it is made.

/// One change of ns-3's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Change {
    BbrAppLimited,
    Abe,
    Fack,
    LedbatWindow,
    CwrEvents,
    PrrArithmetic,
    SackedRetransmissions,
    DctcpLoss,
    NetUnreachable,
    WindowUpdate,
    LostRetransmissions,
    PrrDelivered,
    PrrRecoverFs,
}

/// What is known of a change.
#[derive(Clone, Copy, Debug)]
pub struct About {
    pub change: Change,
    pub name: &'static str,
    /// The first release that has it.
    pub release: &'static str,
    /// In ns-3's repository, and the number of the issue or merge request there.
    pub commit: &'static str,
    pub issue: &'static str,
    /// What became of what.
    pub doc: &'static str,
    /// Whose packets change, and when.
    pub shows: &'static str,
    /// The attributes that came with it: of which class, and which.
    pub attributes: &'static [(&'static str, &'static str)],
}

/// Every change, in the order in which ns-3 made them.
pub const ALL: &[About] = &[
    About {
        change: Change::BbrAppLimited,
        name: "bbr-app-limited",
        release: "3.45",
        commit: "0bf177fff",
        issue: "#1013",
        doc: "BBR marks what it sends in ProbeRTT as limited by the application where the rate sampler looks, and the \
              mark ends; it was a mark of its own, which stayed.",
        shows: "TcpBbr, from its first ProbeRTT on (10 s)",
        attributes: &[],
    },
    About {
        change: Change::Abe,
        name: "abe",
        release: "3.47",
        commit: "93f076bc6",
        issue: "!2410",
        doc: "Alternative backoff with ECN (RFC 8511): `UseAbe` makes a mark cost less than a loss, and asks for ECN; the \
              shares that remain are attributes.",
        shows: "nothing, unless an attribute is set",
        attributes: &[
            ("TcpSocket", "UseAbe"),
            ("TcpNewReno", "BetaLoss"),
            ("TcpNewReno", "BetaEcn"),
            ("TcpLinuxReno", "BetaLoss"),
            ("TcpLinuxReno", "BetaEcn"),
            ("TcpCubic", "BetaEcn"),
        ],
    },
    About {
        change: Change::Fack,
        name: "fack",
        release: "3.47",
        commit: "655ef2062",
        issue: "!2405",
        doc: "Forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996): `Fack` begins recovery when more than three \
              segments lie between SND.UNA and the highest SACK, and takes what lies beyond that for what is in flight.",
        shows: "nothing, unless the attribute is set",
        attributes: &[("TcpSocket", "Fack")],
    },
    About {
        change: Change::LedbatWindow,
        name: "ledbat-window",
        release: "3.47",
        commit: "609503fb5",
        issue: "!2624",
        doc: "LEDBAT reckons the growth of its window in real numbers, bounds the window by what was in flight before \
              the ACK plus ALLOWED_INCREASE (RFC 6817 section 2.4.2), and starts a base delay after 60 s, not 61.",
        shows: "TcpLedbat, always",
        attributes: &[("TcpLedbat", "AllowedIncrease")],
    },
    About {
        change: Change::CwrEvents,
        name: "cwr-events",
        release: "3.48",
        commit: "533350aeb",
        issue: "#1319",
        doc: "The congestion control is told when CWR begins and ends (`CongestionStateSet`), as of the other states.",
        shows: "TcpVegas, TcpVeno and TcpYeah with ECN",
        attributes: &[],
    },
    About {
        change: Change::PrrArithmetic,
        name: "prr-arithmetic",
        release: "dev",
        commit: "25f76649d",
        issue: "#1282",
        doc: "PRR reckons with 64 bits and a sign; prr_delivered * ssthresh wrapped at 2^32, and prr_delivered - \
              prr_out below 0.",
        shows: "TcpPrrRecovery with windows above 64 KiB",
        attributes: &[],
    },
    About {
        change: Change::SackedRetransmissions,
        name: "sacked-retransmissions",
        release: "dev",
        commit: "380573ef1",
        issue: "#1190",
        doc: "A retransmission that is SACKed is no longer in flight; it counted until the cumulative ACK.",
        shows: "recovery of more than one loss, with SACK",
        attributes: &[],
    },
    About {
        change: Change::DctcpLoss,
        name: "dctcp-loss",
        release: "dev",
        commit: "d3181b537",
        issue: "#1012",
        doc: "DCTCP halves ssthresh on a loss (RFC 8257 section 3.5), but only in the state Loss: at a timeout that \
              follows another, not in fast recovery.",
        shows: "TcpDctcp with repeated timeouts",
        attributes: &[],
    },
    About {
        change: Change::NetUnreachable,
        name: "net-unreachable",
        release: "dev",
        commit: "22f433929",
        issue: "#825",
        doc: "A router that has no route for a packet tells its sender by ICMP (RFC 1812 section 5.2.7.1); it was silent. \
              All routers do, if one flow or stack has the profile.",
        shows: "links that fail, with packets on the way",
        attributes: &[],
    },
    About {
        change: Change::WindowUpdate,
        name: "window-update",
        release: "dev",
        commit: "948aa0303",
        issue: "#125",
        doc: "An application that reads where the window had closed to less than a segment sends an ACK with the new \
              window (RFC 1122 section 4.2.3.3).",
        shows: "receive buffers of less than two segments",
        attributes: &[],
    },
    About {
        change: Change::LostRetransmissions,
        name: "lost-retransmissions",
        release: "dev",
        commit: "5ada3ae14",
        issue: "#1349",
        doc: "A retransmission is lost if something that was sent later is SACKed (RFC 8985 with a reordering window \
              of 0), and is sent again; it took a timeout.",
        shows: "retransmissions that are lost, with SACK",
        attributes: &[],
    },
    About {
        change: Change::PrrDelivered,
        name: "prr-delivered",
        release: "dev",
        commit: "05c9099bb",
        issue: "#1350",
        doc: "With SACK, PRR counts what a duplicate ACK delivers once; it added a segment.",
        shows: "TcpPrrRecovery with SACK",
        attributes: &[],
    },
    About {
        change: Change::PrrRecoverFs,
        name: "prr-recover-fs",
        release: "dev",
        commit: "6523c1aad f2ccf2af2",
        issue: "#1351",
        doc: "PRR's RecoverFS is RFC 9937's (section 6.1): all that is unacknowledged, without what was SACKed before; \
              it was the pipe.",
        shows: "TcpPrrRecovery",
        attributes: &[],
    },
];

/// The change that an attribute of a class came with, if it is not as old as 3.44.
pub fn of_attribute(class: &str, attribute: &str) -> Option<&'static About> {
    ALL.iter().find(|about| about.attributes.contains(&(class, attribute)))
}

/// Attributes that a change bounds: of which class, which, and their least value from then on.
const LEAST: [(Change, &str, &str, f64); 2] = [
    (Change::LedbatWindow, "TcpLedbat", "MinCwnd", 1.0),
    (Change::LedbatWindow, "TcpLedbat", "Gain", 1e-6),
];

/// The least value of an attribute, and since which change it has one.
pub fn least_of_attribute(class: &str, attribute: &str) -> Option<(Change, f64)> {
    let of = |(_, of, name, _): &&(Change, &str, &str, f64)| (*of, *name) == (class, attribute);
    LEAST.iter().find(of).map(|&(change, _, _, least)| (change, least))
}

/// A set of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes(u32);

impl Changes {
    pub const NONE: Changes = Changes(0);

    /// These and one more.
    pub const fn with(self, change: Change) -> Changes {
        Changes(self.0 | 1 << change as u8)
    }

    pub const fn has(self, change: Change) -> bool {
        self.0 & 1 << change as u8 != 0
    }
}

/// ns-3 at one time.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// As scenarios name it.
    pub name: &'static str,
    pub doc: &'static str,
    pub changes: Changes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_described_once_and_in_its_place() {
        for (i, about) in ALL.iter().enumerate() {
            assert_eq!(about.change as usize, i, "{}", about.name);
        }
    }
}
