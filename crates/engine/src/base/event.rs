//! Events: what they say, and in which order they run.

pub mod journal;
mod queue;

use std::cmp::Ordering;

pub use queue::{EventQueue, HEADS};

use crate::base::time::Time;

/// When an event runs: time first, then the order of scheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub time: Time,
    pub number: u64,
}

impl Key {
    /// Both words as one, which is compared without a branch between them.
    #[inline(always)]
    fn order(self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.number)
    }
}

impl Ord for Key {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Key {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.order() < other.order()
    }

    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.order() <= other.order()
    }
}

/// Declares what can happen to one kind of thing, and how many bits number the things.
macro_rules! happens {
    ($(#[$about:meta])* $name:ident to one of 2^$bits:literal {
        $($(#[$what:meta])* $event:ident,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$what])* $event,)+
        }

        impl $name {
            /// There are so many things at most, and so many events of each.
            pub const THINGS: usize = 1 << $bits;
            const BITS: u32 = $bits;
            const ROOM: u32 = 1 << (INDEX_BITS - $bits);

            #[inline(always)]
            fn of(number: u32) -> Self {
                $(if number == $name::$event as u32 {
                    return $name::$event;
                })+
                unreachable!("no such event is packed")
            }
        }

        const _: () = assert!([$($name::$event),+].len() <= $name::ROOM as usize);
    };
}

happens! {
    /// In a lane of what waits equally long.
    LaneEvent to one of 2^24 {
        /// Its first packet arrives.
        Arrival,
        /// The first of its transmissions ends.
        Transmitted,
    }
}

happens! {
    /// At a port: one direction of a link.
    PortEvent to one of 2^18 {
        /// It has sent a packet completely.
        TxComplete,
        /// Its device queue may have room again; or something else that it waits for may have come.
        Wake,
        /// A pause frame that it got has its effect.
        PauseTakesEffect,
        /// A pause that it has asked the other end for is to be renewed.
        RenewPause,
    }
}

happens! {
    /// To a timer that a queue discipline has set, by its place in the list of those set.
    DisciplineEvent to one of 2^24 {
        Timer,
    }
}

happens! {
    NodeEvent to one of 2^22 {
        /// It comes up.
        Start,
        /// Fragments have waited long at this destination for what is missing.
        Reassembly,
        /// The next packet that this host asks for may be asked for.
        Pull,
    }
}

happens! {
    /// To both ends of a flow, by its number: its endpoint may have no place yet.
    FlowEvent to one of 2^21 {
        /// Its application begins.
        Open,
        /// Its application closes.
        Close,
        /// Its receiving application closes.
        CloseReceiver,
    }
}

happens! {
    /// To the run as a whole; the number is that of an entry in a list of the scenario's.
    RunEvent to one of 2^22 {
        /// The scenario's end.
        Stop,
        /// An entry of the scenario's changes.
        Change,
        /// The next row of a schedule.
        Schedule,
        /// An entry of the scenario's failures.
        Failure,
        /// A period of what balances load is over: that of switches, or that of hosts.
        Balance,
    }
}

/// One of an endpoint's timers, which only the endpoint can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub u8);

impl Token {
    /// An endpoint has so many.
    pub const COUNT: usize = 1 << Token::BITS;
    const BITS: u32 = 5;
    /// So many endpoints have a place at once.
    pub const PLACES: usize = 1 << (INDEX_BITS - Token::BITS);
}

/// What runs: who is called, with what, packed into one word of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Lane(LaneEvent, u32),
    Port(PortEvent, u32),
    /// A timer of the endpoint at a place.
    Endpoint(Token, u32),
    Discipline(DisciplineEvent, u32),
    Node(NodeEvent, u32),
    Flow(FlowEvent, u32),
    Run(RunEvent, u32),
}

/// Bits of an event: who is called, and the rest.
const EVENT_BITS: u32 = 28;
/// Those that are left for its number.
pub const NUMBER_BITS: u32 = 64 - EVENT_BITS;
const INDEX_BITS: u32 = EVENT_BITS - 3;
const INDEX: u32 = (1 << INDEX_BITS) - 1;

impl Event {
    #[inline(always)] // what the event is, is known where it is made
    fn pack(self) -> u32 {
        let (kind, what, bits, n) = match self {
            Event::Lane(what, n) => (0, what as u32, LaneEvent::BITS, n),
            Event::Port(what, n) => (1, what as u32, PortEvent::BITS, n),
            Event::Endpoint(token, n) => (2, n, Token::BITS, token.0.into()),
            Event::Discipline(what, n) => (3, what as u32, DisciplineEvent::BITS, n),
            Event::Node(what, n) => (4, what as u32, NodeEvent::BITS, n),
            Event::Flow(what, n) => (5, what as u32, FlowEvent::BITS, n),
            Event::Run(what, n) => (6, what as u32, RunEvent::BITS, n),
        };
        debug_assert!(n < 1 << bits && what < 1 << (INDEX_BITS - bits), "{self:?}");
        kind << INDEX_BITS | what << bits | n
    }

    #[inline(always)]
    fn unpack(word: u32) -> Event {
        let (kind, index) = (word >> INDEX_BITS, word & INDEX);
        let split = |bits: u32| (index >> bits, index & ((1 << bits) - 1));
        if word < 1 << LaneEvent::BITS {
            return Event::Lane(LaneEvent::Arrival, word); // as nearly all are
        }
        macro_rules! unpacked {
            ($event:ident of $what:ident) => {{
                let (what, n) = split($what::BITS);
                Event::$event($what::of(what), n)
            }};
        }
        match kind {
            0 => unpacked!(Lane of LaneEvent),
            1 => unpacked!(Port of PortEvent),
            2 => {
                let (place, token) = split(Token::BITS);
                Event::Endpoint(Token(token as u8), place)
            }
            3 => unpacked!(Discipline of DisciplineEvent),
            4 => unpacked!(Node of NodeEvent),
            5 => unpacked!(Flow of FlowEvent),
            _ => unpacked!(Run of RunEvent),
        }
    }
}

/// A key with its event, in two words that are compared as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    time: u64,
    /// Number and event.
    word: u64,
}

impl Entry {
    #[inline]
    pub fn new(key: Key, event: Event) -> Entry {
        Entry { time: key.time.0, word: key.number << EVENT_BITS | u64::from(event.pack()) }
    }

    #[inline]
    pub fn key(self) -> Key {
        Key { time: Time(self.time), number: self.word >> EVENT_BITS }
    }

    #[inline(always)]
    pub fn event(self) -> Event {
        Event::unpack(self.word as u32 & ((1 << EVENT_BITS) - 1))
    }

    #[inline]
    fn order(self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.word)
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
