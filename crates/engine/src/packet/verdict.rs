//! What a queue discipline can decide of a packet, and why.

use std::fmt;

/// Why a packet was dropped or marked, in ns-3's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    pub text: &'static str,
    /// How many levels below the root the decision was made: 1 is a child discipline.
    pub depth: u8,
}

impl Reason {
    /// As ns-3 says it: each level that a child discipline's decision goes up puts a prefix before.
    pub fn of(self, verdict: Verdict) -> impl fmt::Display {
        InWords { reason: self, verdict }
    }
}

struct InWords {
    reason: Reason,
    verdict: Verdict,
}

impl fmt::Display for InWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.verdict {
            Verdict::Mark => "(Marked by child queue disc) ",
            Verdict::Trim => "(Trimmed by child queue disc) ",
            _ => "(Dropped by child queue disc) ",
        };
        (0..self.reason.depth).try_for_each(|_| f.write_str(prefix))?;
        f.write_str(self.reason.text)
    }
}

/// What was decided of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    DropBeforeEnqueue,
    DropAfterDequeue,
    Mark,
    /// Its payload was cut off; bytes are those of the payload.
    Trim,
}
