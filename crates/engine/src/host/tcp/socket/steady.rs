//! The steady state: data that comes in order, acknowledgements of new data, and whole segments that are
//! sent for the first time, while nothing is lost, marked or closing.
//!
//! Nearly every segment of a transfer is one of these.  Each takes the steps that the general path
//! (`input.rs`, `ack.rs`, `output.rs`) would take, in the same order: those that are left once the
//! conditions are known, which stand here in one place.  All else is the general path's, and with
//! [`Environment::is_plain`] everything.

use super::ack::Rto;
use super::parts::Sending;
use super::{Environment, RetransmitAction, Socket, State, Timer};
use crate::host::tcp::acks::{AckPolicy, NewSegment};
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::loss::LossDetection;
use crate::host::tcp::memory::memory_of;
use crate::host::tcp::pacing::Pacing;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::segmentation::Segmentation;
use crate::host::tcp::tcb::{CongState, EcnState};
use crate::host::tcp::validation::WindowValidation;
use crate::packet::{Ecn, Flags, Options, Packet};

impl<P: Profile> Socket<P> {
    /// Takes the segment if it is one of the steady state.
    #[inline(always)]
    pub(super) fn take_steadily<E: Environment>(&mut self, packet: &Packet, env: &mut E) -> bool {
        let is_usual = packet.flags == Flags::ACK
            && packet.beside == 0
            && packet.window > 0
            && packet.options == Options::new(self.agreed.timestamps);
        // A detection with a timer may find losses where nothing looks like one.
        let may_be_steady =
            !P::Loss::HAS_TIMER && is_usual && self.has_shortcuts && !env.is_plain();
        if !may_be_steady || !self.is_undisturbed() || self.sending.window == 0 {
            return false;
        }
        if packet.payload > 0 {
            let is_next = self.has_only_received(packet);
            if is_next {
                self.take_next_data(packet, env);
            }
            is_next
        } else {
            let is_new = self.is_first_ack_of(packet);
            if is_new {
                self.take_new_ack(packet, env);
            }
            is_new
        }
    }

    /// The connection is open in both directions, and nothing is deemed lost or to be answered with CWR.
    #[inline(always)]
    fn is_undisturbed(&self) -> bool {
        self.state == State::Established
            && self.tcb.cong_state == CongState::Open
            && self.tcb.ecn_state != EcnState::EceRcvd
    }

    /// The segment brings the very next data to an end that has nothing to send, and nothing out of order.
    #[inline(always)]
    fn has_only_received(&self, packet: &Packet) -> bool {
        packet.ack == self.tcb.high_tx_mark
            && self.is_all_acked()
            && self.sending.scoreboard.size() == 0
            && self.round_trips.is_idle()
            && self.receiving.reassembly.is_next(packet.seq)
    }

    /// The segment acknowledges data that was sent once, as is all that is in flight.
    #[inline(always)]
    fn is_first_ack_of(&self, packet: &Packet) -> bool {
        packet.ack > self.sending.scoreboard.head()
            && packet.ack <= self.tcb.high_tx_mark
            && self.sending.scoreboard.is_unmarked()
    }

    /// The headers of such a segment say nothing new but of time and of the peer's window.
    #[inline(always)]
    fn take_headers<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let tells = P::CWR_ENDS_ECHO || packet.ecn != Ecn::NotEct;
        if tells && P::STACK == TcpStack::Ns3 {
            self.note_ecn(packet, env);
        }
        if self.agreed.timestamps {
            self.process_timestamp(packet);
        }
        self.update_peer_window(packet);
        if tells && P::STACK == TcpStack::Linux {
            self.note_ecn(packet, env);
        }
        self.tcb.last_acked_seq = packet.ack;
        self.tcb.is_retrans_data_acked = false;
    }

    fn take_next_data<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let bytes = u32::from(packet.payload);
        self.receiving.received_bytes += u64::from(bytes);
        self.take_headers(packet, env);
        self.tcb.last_acked_sacked = 0;
        self.sample_rate(0, 0, self.tcb.bytes_in_flight);
        self.receiving.reassembly.advance(bytes);
        self.sync_rx();
        env.readable(bytes);
        self.announce_window(bytes, env);
        let (end, rto) = (self.tcb.next_rx_seq, self.round_trips.rto);
        let (unread, joined, held) = (memory_of(bytes), 0, 0);
        let segment = NewSegment { bytes, end, unread, joined, held, rto, is_pushed: false };
        self.receiving.acks.on_new(&self.tcb, segment);
        self.acknowledge_in_order(env);
    }

    fn take_new_ack<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let (ack, now) = (packet.ack, self.tcb.now);
        self.take_headers(packet, env);
        let is_clear = self.round_trips.is_clear_from(self.sending.scoreboard.head());
        if !is_clear {
            self.estimate_rtt(packet);
        }
        let prior_in_flight = self.tcb.bytes_in_flight;
        let delivered_before = self.sending.rate.delivered();
        let left = self.sending.discard_up_to(ack, now);
        if is_clear && let Some(left) = left {
            let of_echo = self.rtt_of_echo(packet);
            self.round_trips.on_clear_ack(ack, left, of_echo, &mut self.tcb);
        }
        let delivered = (self.sending.rate.delivered() - delivered_before) as u32;
        self.tcb.last_acked_sacked = delivered;
        self.publish_pipe();

        let segments = self.sending.count_segments(delivered, self.tcb.segment_size);
        self.sending.dup_acks = 0;
        self.tell_acked(segments);
        self.sending.is_recover_active &= ack < self.sending.recover;
        self.congestion.grow(&mut self.tcb, segments);
        self.restart_here(ack, Rto::Anew, env);
        self.update_pacing_rate();
        self.sample_rate(delivered, 0, prior_in_flight);
        self.send_pending(env);
    }

    /// Sends whole segments that were not sent before.  Returns whether nothing is left to do: the window,
    /// the pacing timer or the fear of small segments stands in the way of more.
    pub(super) fn send_steadily<E: Environment>(&mut self, env: &mut E) -> bool {
        let is_steady = self.is_undisturbed()
            && self.sending.connected
            && self.sending.scoreboard.is_unmarked();
        if !is_steady || !self.has_shortcuts || env.is_plain() {
            return false;
        }
        loop {
            let window = self.window();
            let room = window.saturating_sub(self.publish_pipe());
            let (size, unsent) = (self.tcb.segment_size, self.sending.scoreboard.unsent());
            let is_full = room == 0 || (room < size && unsent > room && !self.is_cut_next());
            if is_full || self.is_paced() {
                self.found_nothing = true;
                self.gather(room);
                return true;
            }
            // The application is asked for more, unless it has closed; then the last segment has a FIN.
            let goes_on = if self.sending.close_on_empty { unsent > size } else { unsent >= room };
            if room < size || !goes_on || self.tcb.bytes_in_flight == 0 {
                return false; // also where the algorithm is told that it begins
            }
            self.found_nothing = false;
            if self.is_deferred(room) {
                return true;
            }
            if let Some(cut) = self.sending.segmentation.cut() {
                let seq = self.tcb.high_tx_mark;
                self.tcb.next_tx_seq = seq;
                let sent = self.send_data(seq, cut, Flags::ACK, env);
                self.tcb.next_tx_seq += sent;
                return false;
            }
            self.send_whole_segment(env);
            if self.is_pacing() && !P::Pacing::BY_BURSTS && !self.is_pending(Timer::Pacing) {
                self.pace(size, env);
                return true;
            }
        }
    }

    /// Evaluates and publishes it: where nothing is marked, what was sent is on its way.
    #[inline(always)]
    fn publish_pipe(&mut self) -> u32 {
        let scoreboard = &self.sending.scoreboard;
        self.tcb.bytes_in_flight =
            if P::COUNTS_SEGMENTS { scoreboard.outstanding() } else { scoreboard.sent_size() };
        self.tcb.bytes_in_flight
    }

    #[inline(always)]
    fn send_whole_segment<E: Environment>(&mut self, env: &mut E) {
        let (now, size) = (self.tcb.now, self.tcb.segment_size);
        let (in_flight, lost) = (self.tcb.bytes_in_flight, self.sending.scoreboard.found_lost());
        let Sending { scoreboard, rate, .. } = &mut self.sending;
        let seq = scoreboard.push_new(size, now, || rate.on_sent(now, in_flight, lost));
        if P::Segmentation::WAITS && !self.sending.segmentation.is_within_burst() {
            let is_pushed = self.sending.segmentation.is_pushed();
            self.sending.scoreboard.end_burst_here(is_pushed);
        }
        if self.is_pacing() {
            self.pace(size, env);
        }
        self.disarm(Timer::DelayedAck, env);
        self.receiving.acks.on_ack_sent();
        let window = self.window_field(self.agreed.receive_shift);
        let pushed = self.push(seq + size, false);
        let flags = self.with_owed_cwr(seq, Flags::ACK.with(pushed));
        let mut packet = self.segment(seq, flags, window, size);
        packet.ecn = self.ecn_of_data(false);
        if self.starts_rto(seq, size, false) {
            self.arm_retransmit(RetransmitAction::Data, env);
        }
        self.statistics.count_departure(&self.tcb, seq, size);
        if P::Validation::IS_ACTIVE {
            self.tcb.last_departure = now;
        }
        env.transmit(packet);

        let in_flight = self.publish_pipe();
        self.note_limit(in_flight);
        self.tcb.next_tx_seq = seq + size;
        self.tcb.high_tx_mark = self.tcb.high_tx_mark.max(seq + size);
        self.note_departure(seq, size, false);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;
    use crate::base::time::Time;
    use crate::host::tcp::bench;
    use crate::host::tcp::control::{CongestionControl, Control};
    use crate::host::tcp::profile::Ns3;
    use crate::host::tcp::rate::AckSample;
    use crate::host::tcp::socket::Write;
    use crate::host::tcp::tcb::Tcb;
    use crate::packet::Beside;

    /// One end's world: what leaves it, and an application that always has more to say.
    #[derive(Default)]
    struct End {
        sent: VecDeque<Packet>,
        timers: Vec<(Time, Timer)>,
        writes: bool,
    }

    impl Environment for End {
        fn transmit(&mut self, segment: Packet) {
            self.sent.push_back(segment);
        }

        fn transmit_with_options(&mut self, _segment: Packet, _beside: &Beside) {
            unreachable!("nothing is lost");
        }

        fn options(&self) -> &Beside {
            unreachable!("nothing is lost");
        }

        fn arm(&mut self, timer: Timer, at: Time) {
            self.timers.push((at, timer));
        }

        fn disarm(&mut self, timer: Timer) {
            self.timers.retain(|&(_, set)| set != timer);
        }

        fn connected(&mut self) {}

        fn writable(&mut self, free: u32) -> Write {
            Write { bytes: if self.writes { free } else { 0 }, size: 500, close: false }
        }

        fn readable(&mut self, _bytes: u32) {}
    }

    /// So many segments come to these two in 400 ms, and so many of them are taken steadily.
    fn transfer(mut sockets: [Socket<Ns3>; 2]) -> (u32, u32) {
        let mut ends = [true, false].map(|writes| End { writes, ..End::default() });
        sockets[1].listen();
        sockets[0].connect(Time::ZERO, &mut ends[0]);
        let (mut steady, mut all) = (0, 0);
        for ms in 1..400 {
            let now = Time::from_ms(ms);
            for here in 0..2 {
                let (socket, end) = (&mut sockets[here], here);
                while let Some(i) = ends[end].timers.iter().position(|&(at, _)| at <= now) {
                    let (_, timer) = ends[end].timers.remove(i);
                    socket.on_timer(timer, now, &mut ends[end]);
                }
                for segment in std::mem::take(&mut ends[1 - here].sent) {
                    socket.tcb.now = now;
                    all += 1;
                    if socket.take_steadily(&segment, &mut ends[here]) {
                        steady += 1;
                    } else {
                        socket.on_segment(&segment, now, &mut ends[here]);
                    }
                }
            }
        }
        (all, steady)
    }

    /// An algorithm that counts how often it is asked to control.
    struct Counter(Arc<AtomicU32>);

    impl CongestionControl for Counter {
        fn ssthresh(&mut self, _tcb: &Tcb, bytes_in_flight: u32) -> u32 {
            bytes_in_flight
        }

        fn cong_control(&mut self, _tcb: &mut Tcb, _sample: AckSample<'_>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// The engine's own has nothing to control there; users may count, or share something with the sender.
    #[test]
    fn an_end_that_only_receives_asks_the_algorithm_of_a_user_to_control() {
        for is_ours in [false, true] {
            let counts = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
            let sockets = counts.each_ref().map(|count| {
                let control = Control::rate(Counter(count.clone()));
                let control = if is_ours { control.ours() } else { control };
                bench::with_control::<Ns3>(control, &[])
            });
            let (all, _) = transfer(sockets);
            let [sender, receiver] = counts.map(|count| count.load(Relaxed));
            assert!(sender > all / 10, "{sender} of {all}");
            assert_eq!(receiver > all / 10, !is_ours, "{receiver} of {all}");
            assert!(receiver == 0 || !is_ours);
        }
    }

    /// So that the tests that compare it with the general path have something to compare.
    #[test]
    fn nearly_every_segment_of_an_undisturbed_transfer_is_taken_steadily() {
        for settings in [&[("Timestamp", "true"), ("Sack", "true")][..], &[("DelAckCount", "2")]] {
            let sockets = [(); 2].map(|()| bench::socket::<Ns3>("TcpNewReno", settings));
            let (all, steady) = transfer(sockets);
            assert!(all > 5_000 && all - steady < 10, "{steady} of {all}");
        }
    }
}
