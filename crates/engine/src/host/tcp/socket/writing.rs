//! What the application writes.

use super::output::opening;
use super::{Environment, Socket, State, Timer, Write};
use crate::base::time::Time;
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::segmentation::{Opening, Segmentation};
use crate::host::tcp::validation::WindowValidation;

impl<P: Profile> Socket<P> {
    /// The application may write: takes what it has to say.
    #[inline(never)]
    pub fn offer_space<E: Environment>(&mut self, env: &mut E) {
        self.offer_space_here(env);
    }

    /// The same where it happens most.
    #[inline(always)]
    pub(super) fn offer_space_here<E: Environment>(&mut self, env: &mut E) {
        // Linux takes nothing before it is connected.
        if self.receiving.is_sink || (P::Segmentation::WAITS && self.state == State::SynSent) {
            return;
        }
        let free = self.room_to_write();
        if free == 0 {
            return;
        }
        let write = if P::Segmentation::WAITS { env.fill(free) } else { env.writable(free) };
        self.write(write, write.bytes == free, env);
    }

    /// The application writes at a time of its own; returns how many bytes are accepted: all or none, or by Linux a part.
    pub fn send<E: Environment>(&mut self, bytes: u32, now: Time, env: &mut E) -> u32 {
        self.tcb.now = now;
        let may_write =
            matches!(self.state, State::SynSent | State::Established | State::CloseWait);
        let room = if may_write { self.room_to_write() } else { 0 };
        let is_cut = room < bytes;
        if room == 0 || (is_cut && !P::Segmentation::WAITS) {
            return 0;
        }
        let bytes = bytes.min(room);
        self.write(Write { bytes, size: bytes, close: false }, is_cut, env);
        self.settle_loss_timer(env);
        bytes
    }

    /// The application, which had nothing to say, has something again.
    pub fn resume<E: Environment>(&mut self, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.offer_space(env);
        self.settle_loss_timer(env);
    }

    /// Accepts a write that fits, or `fills` all that there is room for.  It leaves later, by an event of its own.
    #[inline(always)] // on every acknowledgement
    fn write<E: Environment>(&mut self, write: Write, fills: bool, env: &mut E) {
        self.found_nothing = false;
        if write.bytes > 0 {
            self.before_write(write.bytes, fills);
        }
        // Each write re-evaluates "application limited" (RateEstimator) with the pipe as it is known.
        // The first write knows it as last evaluated; asking for the window evaluates it, so that the
        // second may find another.  From then on only what is unsent changes, and grows: none of
        // the later writes would find a limit that the second has not found.
        // Where nobody asks for samples all writes are one.
        let size = if self.sending.rate.is_sampling() { write.size } else { write.bytes };
        let first = size.min(write.bytes);
        if first > 0 {
            self.accept(first);
            let may_send = matches!(self.state, State::Established | State::CloseWait);
            if may_send && !self.is_pending(Timer::SendPending) {
                if self.available_window() > 0 {
                    self.arm(Timer::SendPending, P::WRITE_DELAY, env);
                } else {
                    self.sending.is_cwnd_deferred = false;
                    self.judge_window(false);
                }
            }
            let rest = write.bytes - first;
            if rest > 0 {
                let second = rest.min(size);
                self.accept(second);
                self.sending.scoreboard.add(rest - second);
            }
        }
        self.statistics.written_bytes += u64::from(write.bytes);
        if write.close {
            self.close_behind_write(env);
        }
    }

    /// Bytes that the application may write.
    #[inline(always)]
    fn room_to_write(&mut self) -> u32 {
        let available = self.sending.scoreboard.available();
        if !P::Segmentation::WAITS {
            return available;
        }
        let room = self.ask_segmentation(P::Segmentation::room);
        room.map_or(available, |room| room.min(available))
    }

    /// With what of the window a write may use at once.
    fn ask_segmentation<T>(
        &mut self,
        ask: impl FnOnce(&mut P::Segmentation, Opening<'_>) -> T,
    ) -> T {
        let is_held = self.is_pacing() && self.is_pending(Timer::Pacing);
        let room = if is_held { 0 } else { self.available_window() };
        let Socket { tcb, config, sending, .. } = self;
        let opening = opening(tcb, config, &sending.scoreboard, sending.window, room, false);
        ask(&mut sending.segmentation, opening)
    }

    /// Nothing, for a profile that neither validates windows nor lets segments wait.
    #[inline(always)]
    fn before_write(&mut self, bytes: u32, fills: bool) {
        if P::Validation::IS_ACTIVE {
            self.restart_after_silence();
        }
        if P::Segmentation::WAITS {
            self.ask_segmentation(|segmentation, opening| {
                segmentation.on_write(bytes, fills, opening)
            });
        }
    }

    /// Whether the window is reduced that is not used, and what limits it judged by that: not for who sets a rate.
    #[inline(always)]
    pub(super) fn validates(&self) -> bool {
        P::Validation::IS_ACTIVE && !self.congestion.is_rate_control()
    }

    /// Of data that begins a flight.
    fn restart_after_silence(&mut self) {
        if self.sending.scoreboard.sent_size() == 0 && self.validates() {
            let validation = &mut self.sending.validation;
            validation.on_write(&mut self.tcb, self.round_trips.rto);
        }
    }

    /// A write of `bytes`.
    #[inline]
    fn accept(&mut self, bytes: u32) {
        // Linux looks at what was left before a write, ns-3 at what there is after it.
        if P::STACK == TcpStack::Linux {
            self.check_app_limited();
            self.sending.scoreboard.add(bytes);
        } else {
            self.sending.scoreboard.add(bytes);
            self.check_app_limited();
        }
    }

    #[inline(always)]
    fn check_app_limited(&mut self) {
        let unsent = self.sending.scoreboard.tail() - self.tcb.next_tx_seq;
        self.sending.rate.check_app_limited(unsent, self.pipe());
    }
}
