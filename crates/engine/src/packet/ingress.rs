//! What switches hold of the packets that came over each wire, and when they have the other end pause: priority-based flow
//! control (IEEE 802.1Q clause 36, once 802.1Qbb), by ingress accounting.
//!
//! ```text
//! T      = XOFF,  or  Alpha x (buffer - shared bytes of all wires into the switch)   (Choudhury and Hahne 1998)
//! shared += bytes      if nothing is in the headroom and shared + bytes <= T
//! headroom += bytes    or else; what does not fit there is lost
//! pause                as soon as another frame of the MTU would not fit below T, or something is in the headroom
//! resume               as soon as the headroom is empty and shared <= T - hysteresis, or nothing is left
//! ```
//!
//! What leaves empties the headroom first.  A packet counts from its arrival to the beginning of its transmission.  Those are
//! the rules of the switch in the ns-3 fork of HPCC (Li et al., SIGCOMM 2019), but for two: there the threshold is that of the
//! frame that has come, here that of the next one, so that an MTU less of headroom is needed; and a pause ends there with
//! XON only, here after its quanta as well, which are renewed while the other end is to wait.

use crate::base::time::{Rate, Time};

/// Of a link: those of its IEEE 802.1Q tags.
pub const PRIORITIES: usize = 8;

/// The priority of a code point: its class selector (RFC 2474 section 4.2.2).
pub const fn priority_of(dscp: u8) -> usize {
    (dscp >> 3) as usize & (PRIORITIES - 1)
}

/// Bytes of a pause frame on the wire: the least of Ethernet.
pub const PAUSE_FRAME: u64 = 64;

/// Bits of a quantum of pausing (IEEE 802.3 annex 31B).
pub const QUANTUM_BITS: u64 = 512;

/// How long so many quanta last at a rate.
pub fn quanta_at(rate: Rate, quanta: u16) -> Time {
    let ns = u128::from(QUANTUM_BITS) * u128::from(quanta) * 1_000_000_000 / u128::from(rate.0);
    Time(ns as u64)
}

/// From where on the other end is to pause.
#[derive(Clone, Copy, Debug)]
pub enum Threshold {
    /// So many bytes of a wire's priority.
    Static(u64),
    /// So many times what is free of a buffer that all wires into the switch share.
    Dynamic { alpha: f64, buffer: u64 },
}

/// How what comes over a wire is held back.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The node at the far end.
    pub switch: u32,
    /// A bit for each priority that loses nothing.
    pub priorities: u8,
    pub threshold: Threshold,
    pub hysteresis: u64,
    pub headroom: u64,
    /// The largest frame.
    pub frame: u64,
    /// Of each pause.
    pub quanta: u16,
    /// At which the other end counts them.
    pub rate: Rate,
}

/// Bytes and counters of a priority of a wire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    shared: u64,
    headroom: u64,
    /// The other end is to pause.
    is_paused: bool,
    /// How often it was told to from not pausing on.
    pub pauses: u64,
    /// The most that there was, and the most in the headroom.
    pub peak_bytes: u64,
    pub peak_headroom: u64,
    /// What did not fit.
    pub dropped_packets: u64,
}

#[derive(Debug)]
struct Wire {
    rules: Rules,
    accounts: [Account; PRIORITIES],
    /// Priorities of which something is to be said.
    news: u8,
}

/// Where a packet counts.
#[derive(Clone, Copy, Debug)]
struct Held {
    wire: u32,
    priority: u8,
    bytes: u32,
}

/// What a pause frame says: of which priorities, which of them are to pause, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub priorities: u8,
    pub pausing: u8,
    pub quanta: u16,
}

impl Pause {
    /// The quanta of a priority, if the frame is about it.
    pub fn quanta_of(self, priority: usize) -> Option<u16> {
        let bit = 1 << priority;
        let is_told = self.priorities & bit != 0;
        is_told.then_some(if self.pausing & bit != 0 { self.quanta } else { 0 })
    }
}

/// Of all wires that have it.
#[derive(Debug)]
pub struct Ingress {
    /// By port.
    wires: Vec<Option<Box<Wire>>>,
    /// By node: bytes below thresholds.
    used: Vec<u64>,
    /// By packet; as long as was needed so far.
    held: Vec<Option<Held>>,
    /// Wires of which something is to be said, each once.
    due: Vec<u32>,
}

impl Ingress {
    /// `rules`: by port.
    pub fn new(rules: Vec<Option<Rules>>, nodes: usize) -> Self {
        let wire = |rules| Box::new(Wire { rules, accounts: Default::default(), news: 0 });
        Ingress {
            wires: rules.into_iter().map(|rules| rules.map(wire)).collect(),
            used: vec![0; nodes],
            held: Vec::new(),
            due: Vec::new(),
        }
    }

    /// A packet has come over `port` and goes on.  Returns false if there is no room for it.
    pub fn admit(&mut self, id: usize, port: u32, priority: usize, bytes: u32) -> bool {
        let Some(wire) = &mut self.wires[port as usize] else { return true };
        let Wire { rules, accounts, .. } = &mut **wire;
        if rules.priorities & 1 << priority == 0 {
            return true;
        }
        let (account, used) = (&mut accounts[priority], &mut self.used[rules.switch as usize]);
        let size = u64::from(bytes);
        if account.headroom == 0 && account.shared + size <= rules.threshold.now(*used) {
            account.shared += size;
            *used += size;
        } else if account.headroom + size <= rules.headroom {
            account.headroom += size;
        } else {
            account.dropped_packets += 1;
            return false;
        }
        account.peak_bytes = account.peak_bytes.max(account.bytes());
        account.peak_headroom = account.peak_headroom.max(account.headroom);
        if !account.is_paused && account.is_to_pause(rules, *used) {
            account.is_paused = true;
            account.pauses += 1;
            self.tell(port, priority);
        }
        if id >= self.held.len() {
            self.held.resize(id + 1, None);
        }
        self.held[id] = Some(Held { wire: port, priority: priority as u8, bytes });
        true
    }

    /// A packet begins to leave, or is dropped.
    pub fn release(&mut self, id: usize) {
        let Some(Held { wire: port, priority, bytes }) =
            self.held.get_mut(id).and_then(Option::take)
        else {
            return;
        };
        let Some(wire) = &mut self.wires[port as usize] else { return };
        let Wire { rules, accounts, .. } = &mut **wire;
        let (account, used) =
            (&mut accounts[usize::from(priority)], &mut self.used[rules.switch as usize]);
        let from_headroom = account.headroom.min(bytes.into());
        let from_shared = u64::from(bytes) - from_headroom;
        account.headroom -= from_headroom;
        account.shared -= from_shared;
        *used -= from_shared;
        if account.is_paused && account.is_to_resume(rules, *used) {
            account.is_paused = false;
            self.tell(port, usize::from(priority));
        }
    }

    fn tell(&mut self, port: u32, priority: usize) {
        let Some(wire) = &mut self.wires[port as usize] else { return };
        if wire.news == 0 {
            self.due.push(port);
        }
        wire.news |= 1 << priority;
    }

    /// A wire of which something is to be said that nobody has been asked to say yet.
    pub fn next_due(&mut self) -> Option<u32> {
        self.due.pop()
    }

    /// Whether the other end of `port` is to be told something.
    pub fn has_news(&self, port: u32) -> bool {
        self.wires[port as usize].as_ref().is_some_and(|wire| wire.news != 0)
    }

    /// What the other end of `port` is to be told now, if anything; it counts as told.  Whoever pauses is told so again.
    pub fn news(&mut self, port: u32) -> Option<Pause> {
        let wire = self.wires[port as usize].as_mut()?;
        let news = std::mem::take(&mut wire.news);
        let paused = wire.accounts.iter().enumerate().filter(|(_, account)| account.is_paused);
        let pausing = paused.fold(0, |bits, (priority, _)| bits | 1 << priority);
        let quanta = wire.rules.quanta;
        (news != 0).then_some(Pause { priorities: news | pausing, pausing, quanta })
    }

    /// A pause at the other end of `port` is to be renewed if it still is one.  Returns whether there is something to be said.
    pub fn renew(&mut self, port: u32) -> bool {
        let Some(wire) = &mut self.wires[port as usize] else { return false };
        for (priority, account) in wire.accounts.iter().enumerate() {
            wire.news |= u8::from(account.is_paused) << priority;
        }
        wire.news != 0
    }

    /// How long a pause lasts before it is renewed: half of it.
    pub fn renewal(&self, port: u32) -> Option<Time> {
        let rules = &self.wires[port as usize].as_ref()?.rules;
        Some(Time(quanta_at(rules.rate, rules.quanta).0 / 2))
    }

    /// The priorities that lose nothing of what comes over `port`, with what has become of them.
    pub fn accounts(&self, port: usize) -> impl Iterator<Item = (usize, &Account)> {
        let wire = self.wires[port].as_deref();
        wire.into_iter().flat_map(|Wire { rules, accounts, .. }| {
            let all = accounts.iter().enumerate();
            all.filter(|(priority, _)| rules.priorities & 1 << priority != 0)
        })
    }
}

impl Threshold {
    /// With so many bytes in use.
    fn now(self, used: u64) -> u64 {
        match self {
            Threshold::Static(bytes) => bytes,
            Threshold::Dynamic { alpha, buffer } => {
                let free = buffer.saturating_sub(used);
                // More than what is free there never is.
                ((alpha * free as f64) as u64).min(buffer)
            }
        }
    }
}

impl Account {
    /// What it holds.
    pub fn bytes(&self) -> u64 {
        self.shared + self.headroom
    }

    fn is_to_pause(&self, rules: &Rules, used: u64) -> bool {
        self.headroom > 0 || self.shared + rules.frame > rules.threshold.now(used)
    }

    fn is_to_resume(&self, rules: &Rules, used: u64) -> bool {
        let xon = rules.threshold.now(used).saturating_sub(rules.hysteresis);
        self.headroom == 0 && (self.shared == 0 || self.shared <= xon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: u32 = 1000;
    const PRIORITY: usize = 3;

    fn ingress(threshold: Threshold) -> Ingress {
        let rules = Rules {
            switch: 0,
            priorities: 1 << PRIORITY,
            threshold,
            hysteresis: 2000,
            headroom: 3000,
            frame: FRAME.into(),
            quanta: 100,
            rate: Rate(1_000_000_000),
        };
        Ingress::new(vec![Some(rules), Some(rules), None], 1)
    }

    fn said(ingress: &mut Ingress) -> Option<(u32, Pause)> {
        let port = ingress.next_due()?;
        ingress.news(port).map(|pause| (port, pause))
    }

    #[test]
    fn a_quantum_is_512_bit_times() {
        assert_eq!(quanta_at(Rate(10_000_000_000), 1), Time(51));
        assert_eq!(quanta_at(Rate(10_000_000_000), 65_535), Time(3_355_392));
        assert_eq!(quanta_at(Rate(40_000_000_000), 65_535), Time(838_848));
    }

    #[test]
    fn the_other_end_pauses_before_a_frame_too_many_and_resumes_below_the_hysteresis() {
        let mut ingress = ingress(Threshold::Static(5000));
        for id in 0..4 {
            assert!(ingress.admit(id, 0, PRIORITY, FRAME));
            assert_eq!(said(&mut ingress), None);
        }
        assert!(ingress.admit(4, 0, PRIORITY, FRAME));
        let pause = Pause { priorities: 1 << PRIORITY, pausing: 1 << PRIORITY, quanta: 100 };
        assert_eq!(said(&mut ingress), Some((0, pause)));
        assert_eq!(pause.quanta_of(PRIORITY), Some(100));
        assert_eq!(pause.quanta_of(PRIORITY + 1), None);
        ingress.release(0);
        assert_eq!(said(&mut ingress), None);
        ingress.release(1);
        let resume = Pause { pausing: 0, ..pause };
        assert_eq!(said(&mut ingress), Some((0, resume)));
        assert_eq!(resume.quanta_of(PRIORITY), Some(0));
    }

    #[test]
    fn what_is_on_its_way_has_the_headroom_and_not_a_byte_more() {
        let mut ingress = ingress(Threshold::Static(2000));
        for id in 0..5 {
            assert!(ingress.admit(id, 0, PRIORITY, FRAME), "{id}");
        }
        assert!(!ingress.admit(5, 0, PRIORITY, 1));
        let (_, account) = ingress.accounts(0).next().unwrap();
        assert_eq!((account.bytes(), account.peak_headroom), (5000, 3000));
        assert_eq!((account.pauses, account.dropped_packets), (1, 1));
        // What leaves empties the headroom first.
        said(&mut ingress);
        for id in 0..4 {
            ingress.release(id);
            assert_eq!(said(&mut ingress), None, "{id}");
        }
        ingress.release(4);
        assert!(said(&mut ingress).is_some());
        // What is gone is gone: once more changes nothing.
        ingress.release(4);
        assert_eq!(ingress.accounts(0).next().unwrap().1.bytes(), 0);
    }

    #[test]
    fn a_shared_buffer_leaves_each_wire_its_share_of_what_is_free() {
        // Alone: shared <= alpha (buffer - shared), so alpha / (1 + alpha) of it; two alike: alpha / (1 + 2 alpha).
        for (wires, most) in [(1, 60_000), (2, 37_500)] {
            let mut ingress = ingress(Threshold::Dynamic { alpha: 1.5, buffer: 100_000 });
            let mut id = 0;
            while ingress.accounts(0).next().unwrap().1.peak_headroom == 0 {
                for wire in 0..wires {
                    assert!(ingress.admit(id, wire, PRIORITY, 100));
                    id += 1;
                }
            }
            let shared = ingress.accounts(0).next().unwrap().1.shared;
            assert!(shared.abs_diff(most) <= 250, "{wires}: {shared}");
        }
    }

    #[test]
    fn other_priorities_and_other_wires_are_not_held_back() {
        let mut ingress = ingress(Threshold::Static(1000));
        for id in 0..100 {
            assert!(ingress.admit(id, 0, PRIORITY + 1, FRAME));
            assert!(ingress.admit(id + 100, 2, PRIORITY, FRAME));
        }
        assert_eq!(said(&mut ingress), None);
        ingress.release(7);
        assert_eq!(ingress.accounts(2).count(), 0);
    }

    #[test]
    fn a_pause_is_renewed_as_long_as_it_is_one() {
        let mut ingress = ingress(Threshold::Static(1000));
        assert_eq!(ingress.renewal(0), Some(Time(25_600)));
        assert_eq!(ingress.renewal(2), None);
        assert!(!ingress.renew(0) && !ingress.renew(2));
        ingress.admit(0, 0, PRIORITY, FRAME);
        assert!(said(&mut ingress).is_some());
        assert!(ingress.renew(0));
        assert_eq!(ingress.news(0).unwrap().quanta_of(PRIORITY), Some(100));
        ingress.release(0);
        assert_eq!(ingress.news(0).unwrap().quanta_of(PRIORITY), Some(0));
        assert!(!ingress.renew(0));
    }
}
