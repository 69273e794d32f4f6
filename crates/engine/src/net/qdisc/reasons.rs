//! Reasons that several disciplines give, in ns-3's words.

pub const LIMIT_EXCEEDED: &str = "Queue disc limit exceeded";
pub const OVERLIMIT_DROP: &str = "Overlimit drop";
/// No class of ns-3's has it.
pub const DATA_QUEUE_FULL: &str = "Data queue full";
pub const UNFORCED_DROP: &str = "Unforced drop";
pub const UNFORCED_MARK: &str = "Unforced mark";
pub const FORCED_DROP: &str = "Forced drop";
pub const TARGET_EXCEEDED_DROP: &str = "Target exceeded drop";
pub const TARGET_EXCEEDED_MARK: &str = "Target exceeded mark";
pub const CE_THRESHOLD_MARK: &str = "CE threshold exceeded mark";
