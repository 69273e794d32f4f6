//! Transports whose receivers decide who sends: what each can be told, one file each, one line in the registry below
//! each.  Their endpoints are in `host/hosts/`.

pub mod ndp;

use crate::base::attributes::Spec;

/// Every one, in the order in which they are listed to users.
pub const SPECS: &[&Spec] = &[&ndp::SPEC];
