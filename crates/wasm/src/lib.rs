//! The engine for browsers: a scenario goes in as JSON, the tables of its recording come out.
//!
//! Whoever calls these functions writes text to the place that `input` names, and reads the answer,
//! `output_length()` bytes from `output()` on.  What a function returns says what the answer is:
//! [`DONE`], [`MORE`] or [`FAILED`] with the text of an error.  One simulation is open at a time.
//!
//! A panic of the engine is a bug in it.  It ends the instance with a trap; `output` then still has the
//! message.

#![allow(unsafe_code, reason = "names to export; nothing is dereferenced")]

mod pack;
mod session;

use std::cell::{Cell, RefCell};
use std::panic;

use session::{Answer, Session};

/// The answer is what was asked for.
pub const DONE: u32 = 0;
/// As [`DONE`], and the simulation has not ended yet.
pub const MORE: u32 = 1;
/// The answer says what is wrong: problems of a scenario as JSON, or a text.
pub const FAILED: u32 = 2;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Session> = const { RefCell::new(Session::new()) };
    static IS_LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// Room for so many bytes of text, which the next call reads.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}

/// The input is a scenario.  Answers the settings that it has, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn settings() -> u32 {
    answer(|_, input| session::settings(input))
}

/// The input is a scenario, and from byte `scenario_length` on the settings to change.  Answers the
/// canonical form of what is then open.
#[unsafe(no_mangle)]
pub extern "C" fn open(scenario_length: usize) -> u32 {
    answer(|session, input| {
        let (scenario, settings) = input.split_at_checked(scenario_length).unwrap_or((input, ""));
        session.open(scenario, settings)
    })
}

/// Simulates the next so many events.  Answers the simulated time and the scenario's end, in ns: two
/// little-endian integers of 64 bits.
#[unsafe(no_mangle)]
pub extern "C" fn advance(events: u32) -> u32 {
    answer(|session, _| session.advance(events.into()))
}

/// Answers the tables as they stand, packed.
#[unsafe(no_mangle)]
pub extern "C" fn so_far() -> u32 {
    answer(|session, _| session.so_far())
}

/// Simulates the rest.  Answers all tables, packed; nothing is open then.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> u32 {
    answer(|session, _| session.finish())
}

fn answer(work: impl FnOnce(&mut Session, &str) -> Answer) -> u32 {
    keep_message_of_panic();
    let input = INPUT.take();
    let (status, output) = match str::from_utf8(&input) {
        Ok(text) => match SESSION.with_borrow_mut(|session| work(session, text)) {
            Ok((true, output)) => (MORE, output),
            Ok((false, output)) => (DONE, output),
            Err(message) => (FAILED, message.into_bytes()),
        },
        Err(error) => (FAILED, error.to_string().into_bytes()),
    };
    OUTPUT.set(output);
    status
}

fn keep_message_of_panic() {
    if !IS_LISTENING.replace(true) {
        panic::set_hook(Box::new(|panic| OUTPUT.set(panic.to_string().into_bytes())));
    }
}

#[cfg(test)]
mod tests;
