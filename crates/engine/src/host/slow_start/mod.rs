//! Slow start: how a window grows below ssthresh, one file each, one line in the registry below each.
//!
//! An algorithm has one of its own, or grows by itself.  A scenario may name another (`tcp.SlowStart`), which then grows
//! the window below ssthresh, whatever the algorithm; one with `cong_control` keeps its own.

mod counted;
mod hystart;
mod hystart_linux;
mod hystart_pp;
mod standard;

pub use hystart::{HyStart, Settings};
pub use standard::{Standard, slow_start};

use crate::host::tcp::slow_start::SlowStart;

macro_rules! registry {
    ($($name:literal = $made:expr,)*) => {
        /// The names by which scenarios choose one, besides the first of `SLOW_STARTS`.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),*];

        /// The slow start of this name; none for any other.
        pub fn build(name: &str) -> Option<Box<dyn SlowStart>> {
            match name {
                $($name => Some(Box::new($made)),)*
                _ => None,
            }
        }
    };
}

registry! {
    "Standard" = Standard,
    "HyStart" = HyStart::new(Settings::default()),
    "HyStart++" = hystart_pp::HyStartPlusPlus::default(),
    "Counted" = counted::Counted,
    "HyStartLinux" = hystart_linux::HyStartLinux::default(),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::socket_params::SLOW_STARTS;

    #[test]
    fn scenarios_can_name_each() {
        assert_eq!(&SLOW_STARTS[1..], NAMES);
        assert!(build(SLOW_STARTS[0]).is_none());
        assert!(NAMES.iter().all(|name| build(name).is_some()));
    }
}
