//! The registry of feedbacks of marks, and their names: what a connection's state and settings know of them.
//! [`ecn`](super::ecn) makes the rest of these lines.

/// Hands the registry to a macro.  Each feedback is called in user code as its module is; some have a name in scenarios,
/// too.
macro_rules! feedbacks {
    ($to:ident) => {
        $to! {
            /// RFC 3168.
            Classic: classic;
            /// RFC 8257.
            Dctcp: dctcp;
            /// RFC 9768.
            Accurate: accurate named "Accurate";
        }
    };
}

macro_rules! modes {
    ($($(#[doc = $doc:literal])* $mode:ident: $module:ident $(named $name:literal)?;)*) => {
        /// What is marked and echoed: what is asked for, and from the handshake on what both ends do.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum EcnMode {
            #[default]
            $($(#[doc = $doc])* $mode,)*
        }

        impl EcnMode {
            pub const ALL: &[EcnMode] = &[$(EcnMode::$mode,)*];
            /// In user code.
            pub const WORDS: &[&str] = &[$(stringify!($module),)*];
            /// In scenarios, after the algorithm's own.
            pub const NAMES: &[&str] = &["Own", $($($name,)?)*];

            /// That with this name in scenarios.
            pub fn named(name: &str) -> Option<EcnMode> {
                $($(if name == $name {
                    return Some(EcnMode::$mode);
                })?)*
                None
            }
        }
    };
}

feedbacks!(modes);

pub(super) use feedbacks;
