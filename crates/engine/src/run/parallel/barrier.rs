//! Where threads wait for each other: a moment awake, for that of the standard library wakes threads, which takes longer than a
//! window.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Looks before a thread sleeps: a tenth to half of a millisecond, by how long a processor pauses.  A window takes less, but a
/// part whose core the host takes away for a moment comes later, and to be woken takes as long again.
const LOOKS: u32 = 10_000;

#[derive(Debug)]
pub struct Barrier {
    members: usize,
    /// None where there are fewer cores than threads: who looks keeps others from coming.
    looks: u32,
    here: AtomicUsize,
    rounds: AtomicUsize,
    /// Somebody will not come any more.
    is_off: AtomicBool,
    /// How many sleep.
    asleep: Mutex<usize>,
    wakes: Condvar,
}

impl Barrier {
    pub fn new(members: usize) -> Self {
        let has_cores = thread::available_parallelism().is_ok_and(|cores| cores.get() >= members);
        Barrier {
            members,
            looks: if has_cores { LOOKS } else { 0 },
            here: AtomicUsize::new(0),
            rounds: AtomicUsize::new(0),
            is_off: AtomicBool::new(false),
            asleep: Mutex::new(0),
            wakes: Condvar::new(),
        }
    }

    /// Waits until all are here.  Returns false if somebody will not come any more.
    pub fn wait(&self) -> bool {
        let round = self.rounds.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.here.store(0, Ordering::Relaxed);
            self.rounds.store(round + 1, Ordering::Release);
            self.wake();
            return true;
        }
        let is_waiting =
            || self.rounds.load(Ordering::Acquire) == round && !self.is_off.load(Ordering::Acquire);
        for _ in 0..self.looks {
            if !is_waiting() {
                break;
            }
            spin_loop();
        }
        if is_waiting() {
            let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            *asleep += 1;
            while is_waiting() {
                asleep = self.wakes.wait(asleep).unwrap_or_else(PoisonError::into_inner);
            }
            *asleep -= 1;
        }
        !self.is_off.load(Ordering::Acquire)
    }

    /// Whoever sleeps looks again.
    fn wake(&self) {
        if *self.asleep.lock().unwrap_or_else(PoisonError::into_inner) > 0 {
            self.wakes.notify_all();
        }
    }

    /// For one of the threads, to be held as long as it comes.
    pub fn member(&self) -> Member<'_> {
        Member { barrier: self, is_done: false }
    }
}

/// Calls the barrier off if it is dropped before it is done: by a panic, say.
#[derive(Debug)]
pub struct Member<'a> {
    barrier: &'a Barrier,
    pub is_done: bool,
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.barrier.is_off.store(true, Ordering::Release);
            self.barrier.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each adds its number in every round, and sees what all have added after it.
    #[test]
    fn nobody_goes_on_before_all_are_there() {
        for members in [1, 2, 5] {
            let barrier = Barrier::new(members);
            let sum = AtomicUsize::new(0);
            thread::scope(|scope| {
                for number in 0..members {
                    let (barrier, sum) = (&barrier, &sum);
                    scope.spawn(move || {
                        for round in 1..=200 {
                            sum.fetch_add(number + 1, Ordering::Relaxed);
                            assert!(barrier.wait());
                            assert_eq!(
                                sum.load(Ordering::Relaxed),
                                round * members * (members + 1) / 2
                            );
                            assert!(barrier.wait());
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn whoever_leaves_lets_nobody_wait() {
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            let waiting = [(); 2].map(|()| scope.spawn(|| barrier.wait()));
            drop(barrier.member());
            assert_eq!(waiting.map(|thread| thread.join().ok()), [Some(false); 2]);
        });
    }
}
