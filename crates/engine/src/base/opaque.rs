//! What `{:?}` says of a value behind a trait: which trait it is.
//!
//! To ask every implementation for its fields would put them all into the traits' tables of functions, and with these
//! into every build, used or not: a tenth of the engine's code, and of what a page loads.

/// Prints the name for values of these traits.
#[macro_export]
macro_rules! opaque {
    ($name:ident) => {
        impl std::fmt::Debug for dyn $name + '_ {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}
