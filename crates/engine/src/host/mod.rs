//! What stands at the ends: TCP with its parts, congestion control, loss recovery, applications, user code.

pub mod application;
pub mod congestion;
pub mod departures;
pub mod hosts;
pub mod outside;
pub mod path;
pub mod rate_control;
pub mod recovery;
pub mod slow_start;
pub mod tcp;
pub mod trimming;
pub mod user;
