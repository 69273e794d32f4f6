//! What a queue discipline can decide of a packet, and why.

/// Why a packet was dropped or marked, in ns-3's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    pub text: &'static str,
    /// How many levels below the root the decision was made: 1 is a child discipline.
    pub depth: u8,
}

impl Reason {
    /// What ns-3 puts before the text of a reason that a child discipline gave: once a level.
    pub fn prefix(self, verdict: Verdict) -> String {
        let level = match verdict {
            Verdict::Mark => "(Marked by child queue disc) ",
            _ => "(Dropped by child queue disc) ",
        };
        level.repeat(self.depth.into())
    }
}

/// What was decided of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    DropBeforeEnqueue,
    DropAfterDequeue,
    Mark,
}
