//! Feedback of marks: how a connection asks for ECN, what a receiver says of the marks that came, and what a sender
//! makes of that.
//!
//! An algorithm asks for one in `init` (`tcb.ecn_mode`), a scenario for one of those that have a name
//! (`tcp.EcnFeedback`).  A peer that does not know it makes it [`EcnMode::Classic`].  One feedback is one file, and one
//! line in the registry of `ecn_mode.rs`.

use super::ecn_mode::{EcnMode, feedbacks};
use super::tcb::Tcb;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::{EcnOption, Flags, Packet};

/// ECE and CWR on a SYN ask for ECN, ECE alone on a SYN-ACK agrees (RFC 3168 section 6.1.1).
pub const ECN_SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// What of a sender's segments is ECN capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ect {
    /// Data that is sent for the first time, where both ends have agreed (RFC 3168 section 6.1.5).
    NewData,
    /// Everything but the two SYNs, where both ends have agreed (RFC 9331 section 4.1,
    /// draft-ietf-tcpm-generalized-ecn section 3.2, and as in Linux).
    Agreed,
    /// Everything, whatever the peer says (RFC 8257 section 3.5, and as in ns-3).
    Everything,
}

/// What holds for all connections with a feedback.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What the flags of a SYN say that asks for it.
    pub request: Flags,
    /// So many SYNs ask for it at most, if those that are lost fall back.
    pub requests: u16,
    pub ect: Ect,
    /// It is nothing without a peer that has agreed to it.
    pub needs_peer: bool,
    /// It reads the ECN fields of each segment, and hides them from all else; the shortcuts of `steady.rs` do not know it.
    pub reads_all: bool,
}

impl Rules {
    pub const CLASSIC: Rules = Rules {
        request: ECN_SETUP,
        requests: 1,
        ect: Ect::NewData,
        needs_peer: false,
        reads_all: false,
    };
}

/// What a SYN-ACK agrees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// To what was asked for; the ACK that answers has these flags.
    Asked(Flags),
    /// To RFC 3168 alone.
    Classic,
    NoEcn,
}

/// An ACK, as a sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct Echo<'a> {
    pub packet: &'a Packet,
    /// SND.UNA before it.
    pub old_head: Seq,
    /// Bytes that it acknowledges or SACKs for the first time.
    pub delivered: u32,
    /// The algorithm has the window alone.
    pub is_rate_control: bool,
}

/// A segment without data that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    pub flags: Flags,
    /// No SYN has been sent again.
    pub is_first_syn: bool,
    /// Bytes that its header could have besides.
    pub room: u32,
    pub now: Time,
    pub round_trip: Time,
}

/// One end's half of it; what is not implemented is RFC 3168's.
pub trait EcnFeedback: Send {
    /// A SYN has come that asks for ECN.  Whether it asks for this.
    fn is_asked_for(&mut self, _syn: &Packet) -> bool {
        true
    }

    /// The flags of the SYN-ACK that agrees.
    fn answer(&self) -> Flags {
        Flags::ECE
    }

    fn agreement(&mut self, syn_ack: &Packet) -> Agreement {
        if syn_ack.flags.0 & ECN_SETUP.0 == Flags::ECE.0 {
            Agreement::Asked(Flags::default())
        } else {
            Agreement::NoEcn
        }
    }

    /// A segment comes in, perhaps with an option; `may_answer`: it may be what answers the SYN-ACK.  Returns it without what
    /// is said of marks.  Called with [`Rules::reads_all`].
    fn read(&mut self, packet: &Packet, _option: Option<&EcnOption>, _may_answer: bool) -> Packet {
        *packet
    }

    /// An ACK has come, with ECN agreed on.  Returns whether the window is to be reduced.
    fn on_ack(&mut self, tcb: &mut Tcb, echo: Echo<'_>) -> bool;

    /// What the flags of a segment with data say of marks.
    fn on_data_sent(&mut self, tcb: &mut Tcb, seq: Seq, is_retransmission: bool) -> Flags;

    /// The same of one without data, which has these flags.
    fn on_control_sent(&mut self, _flags: Flags) -> Flags {
        Flags::default()
    }

    /// The option of one, if it is to have one.
    fn option(&mut self, _leaving: Leaving) -> Option<EcnOption> {
        None
    }

    /// What came may not wait for more before it is acknowledged.
    fn is_ack_due(&self) -> bool {
        false
    }

    /// The port listens again.
    fn restart(&mut self) {}
}

crate::opaque!(EcnFeedback);

/// Declares the modules of all feedbacks, and what chooses among them.
macro_rules! parts {
    ($($(#[doc = $doc:literal])* $mode:ident: $module:ident $(named $name:literal)?;)*) => {
        $(mod $module;)*

        impl EcnMode {
            #[inline(always)]
            pub const fn rules(self) -> Rules {
                match self {
                    $(EcnMode::$mode => $module::RULES,)*
                }
            }
        }

        /// The state of each.
        #[derive(Debug, Default)]
        pub struct Feedbacks {
            $($module: $module::$mode,)*
        }

        impl Feedbacks {
            #[inline(always)]
            pub fn of(&mut self, mode: EcnMode) -> &mut dyn EcnFeedback {
                match mode {
                    $(EcnMode::$mode => &mut self.$module,)*
                }
            }

            pub fn restart(&mut self) {
                $(self.$module.restart();)*
            }
        }
    };
}

feedbacks!(parts);

mod option;

pub use dctcp::PreciseEcho;
