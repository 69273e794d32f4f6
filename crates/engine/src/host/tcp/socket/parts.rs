//! What a socket is made of.

use std::mem::offset_of;

use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::config::Config;
use crate::host::tcp::ecn::Feedbacks;
use crate::host::tcp::loss::{Feedback, LossDetection};
use crate::host::tcp::profile::{Profile, SynAttempts};
use crate::host::tcp::rate::{RateEstimator, SentRate};
use crate::host::tcp::reassembly::Reassembly;
use crate::host::tcp::resequencing::Resequencer;
use crate::host::tcp::rtt::{DeliveryTimes, RttEstimation};
use crate::host::tcp::scoreboard::{Deliveries, Scoreboard, Segment};
use crate::packet::SackBlock;

/// Which data may leave next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// What is lost goes before what is new.
    Any,
    New,
    Lost,
}

/// The half that sends data.  What an end that only receives asks for, too, is in front, and last what few ACKs do.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Sending<P: Profile> {
    /// The peer's window, in bytes.
    pub window: u32,
    pub highest_ack: Seq,
    /// Highest sequence number of a segment that updated the window.
    pub window_seq: Seq,
    pub connected: bool,
    pub close_on_empty: bool,
    /// The application has closed, and what it wrote before has not been looked at yet, or left no room for a FIN.
    pub is_closing: bool,
    /// Behind all data there is a FIN that is a segment of its own, a byte to the scoreboard (Linux's write queue).
    pub has_fin: bool,
    pub is_recover_active: bool,
    pub is_first_partial_ack: bool,
    pub rate: RateEstimator,
    pub dup_acks: u32,
    /// The recovery point: the episode ends when it is acknowledged.
    pub recover: Seq,
    /// Bytes acknowledged that do not make a segment yet.
    pub acked_remainder: u32,
    /// The highest byte that is known to have come, plus one: SND.FACK.
    pub forward_ack: Seq,
    /// Timeouts in a row left before the connection is given up.
    pub retries_left: u32,
    pub syns: SynAttempts,
    /// The ACK in hand restarts the retransmission timer, for a profile that takes samples of what ACKs deliver.
    pub restarts_rto: bool,
    /// Loss recovery has taken its step for this ACK.
    pub has_stepped: bool,
    /// New data waits for more of it, and a wider cwnd had let it leave.
    pub is_cwnd_deferred: bool,
    /// The new segment that leaves now is the last of a burst.
    pub ends_burst: bool,
    pub next: Next,
    pub scoreboard: Scoreboard,
    pub pacing: P::Pacing,
    pub segmentation: P::Segmentation,
    pub validation: P::Validation,
    pub loss: P::Loss,
    /// When loss detection is to be called.
    pub loss_due: Option<Time>,
    /// When what the ACK in hand delivers had left, for a profile that takes samples of that.
    pub times: Option<Box<DeliveryTimes>>,
    /// Bytes that the algorithm has been told are lost.
    pub told_lost: u64,
    /// Before the last loss, in bytes.
    pub prior: PriorWindow,
    /// Until the next probe of a closed window.
    pub persist_timeout: Time,
}

/// What a loss has reduced, should it turn out to be none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PriorWindow {
    pub cwnd: u32,
    pub ssthresh: u32,
}

/// Those that follow what is delivered.
struct Followers<'a, P: Profile> {
    rate: &'a mut RateEstimator,
    loss: &'a mut P::Loss,
    times: Option<&'a mut DeliveryTimes>,
}

impl<P: Profile> Deliveries for Followers<'_, P> {
    #[inline(always)]
    fn on_delivered(
        &mut self,
        now: Time,
        segment: &mut Segment,
        bytes: u32,
        rate: Option<&SentRate>,
    ) {
        if let Some(times) = &mut self.times
            && P::Rtt::OF_DELIVERIES
        {
            times.on_delivered(segment);
        }
        self.loss.on_delivered(now, segment);
        let Segment { last_sent, is_repeated, .. } = *segment;
        if std::mem::take(&mut segment.counts) {
            self.rate.on_delivered(now, bytes, last_sent, is_repeated, rate);
        }
    }
}

impl<P: Profile> Sending<P> {
    /// So many bytes of it does an end ask for that only receives, and one that sends.
    pub(super) const OF_RECEIVERS: usize = offset_of!(Sending<P>, scoreboard) + 8;
    pub(super) const HOT: usize = offset_of!(Sending<P>, scoreboard) + Scoreboard::HOT;

    pub(super) fn new(config: &Config, rate: RateEstimator) -> Self {
        let mut scoreboard =
            Scoreboard::new(P::room_to_send(config), config.segment_size, config.changes);
        if rate.is_sampling() {
            scoreboard.remember_rates();
        }
        if P::COUNTS_SEGMENTS {
            scoreboard.count_segments();
        }
        Sending {
            scoreboard,
            loss: P::Loss::new(config),
            loss_due: None,
            rate,
            times: P::Rtt::OF_DELIVERIES.then(Box::default),
            syns: SynAttempts::default(),
            retries_left: config.data_retries,
            dup_acks: 0,
            recover: Seq(0),
            is_recover_active: false,
            is_first_partial_ack: true,
            acked_remainder: 0,
            told_lost: 0,
            prior: PriorWindow::default(),
            restarts_rto: false,
            has_stepped: false,
            is_cwnd_deferred: false,
            ends_burst: false,
            next: Next::Any,
            window: 0,
            highest_ack: Seq(0),
            forward_ack: Seq(0),
            window_seq: Seq(0),
            persist_timeout: config.persist_timeout,
            close_on_empty: false,
            is_closing: false,
            has_fin: false,
            connected: false,
            pacing: P::Pacing::default(),
            segmentation: P::Segmentation::default(),
            validation: P::Validation::default(),
        }
    }

    /// See [`Scoreboard::discard_up_to`].
    #[inline(always)]
    pub(super) fn discard_up_to(&mut self, ack: Seq, now: Time) -> Option<[Time; 2]> {
        let Sending { scoreboard, rate, loss, times, .. } = self;
        let times = times.as_deref_mut();
        scoreboard.discard_up_to(ack, now, &mut Followers::<P> { rate, loss, times })
    }

    /// See [`Scoreboard::update`].
    pub(super) fn update(&mut self, blocks: &[SackBlock], now: Time) -> u32 {
        let Sending { scoreboard, rate, loss, times, .. } = self;
        let times = times.as_deref_mut();
        scoreboard.update(blocks, now, &mut Followers::<P> { rate, loss, times })
    }

    /// Whole segments in `bytes` of `size` each; the rest is carried over.
    #[inline]
    pub(super) fn count_segments(&mut self, bytes: u32, size: u32) -> u32 {
        // Mostly one or two, which take no division.
        let (mut segments, rest) = match bytes.wrapping_sub(size) {
            0 => (1, 0),
            rest if rest == size => (2, 0),
            _ => (bytes / size, bytes % size),
        };
        self.acked_remainder += rest;
        if self.acked_remainder >= size {
            segments += 1;
            self.acked_remainder -= size;
        }
        segments
    }
}

/// The half that receives data.
#[derive(Debug)]
#[repr(C)] // as in `Sending`
pub(super) struct Receiving<A> {
    pub highest_ack_sent: Seq,
    /// The window offered last, in bytes.
    pub advertised: u32,
    /// The socket only receives.
    pub is_sink: bool,
    /// The port accepts connections, besides the one that there is.
    pub is_listening: bool,
    /// Payload of all data segments that arrived, duplicates included, in bytes.
    pub received_bytes: u64,
    pub reassembly: Reassembly,
    pub acks: A,
    /// If data is held back that comes out of order.
    pub resequencer: Option<Box<Resequencer>>,
    pub heard: HeardListening,
    /// When a mere ACK was answered last whose timestamp was too old.
    pub last_refusal: Option<Time>,
}

/// The timestamps that the listening port has kept, which takes no part in connections: the largest, and the
/// one that the answer to a SYN echoes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeardListening {
    pub largest: u32,
    pub to_echo: u32,
}

impl<A: AckPolicy> Receiving<A> {
    pub(super) fn new(config: &Config, window: u32) -> Self {
        let timeout = config.resequencing_timeout;
        let resequences = timeout > Time::ZERO;
        Receiving {
            reassembly: Reassembly::new(window).counting_memory(A::COUNTS_MEMORY),
            resequencer: resequences.then(|| Box::new(Resequencer::new(timeout))),
            acks: A::new(config),
            highest_ack_sent: Seq(0),
            advertised: 0,
            is_sink: false,
            is_listening: false,
            received_bytes: 0,
            heard: HeardListening::default(),
            last_refusal: None,
        }
    }
}

/// The options that both ends have agreed on; until the peer's SYN, those that this end offers.
#[derive(Debug)]
pub(super) struct Agreed {
    pub sack: bool,
    pub timestamps: bool,
    pub window_scaling: bool,
    /// Shifts of the window field: of segments that arrive, and that leave.
    pub send_shift: u8,
    pub receive_shift: u8,
    /// TS.Recent (RFC 7323 section 4.3).
    pub timestamp_to_echo: u32,
}

impl Agreed {
    pub(super) fn new(config: &Config) -> Agreed {
        Agreed {
            sack: config.sack,
            timestamps: config.timestamps,
            window_scaling: config.window_scaling,
            send_shift: 0,
            receive_shift: 0,
            timestamp_to_echo: 0,
        }
    }

    pub(super) fn feedback(&self) -> Feedback {
        if self.sack { Feedback::Sack } else { Feedback::DuplicateAcks }
    }
}

/// See `ecn.rs`.
#[derive(Debug, Default)]
pub(super) struct EcnMarks {
    /// The last sequence number of a CE mark received.
    pub ce: Seq,
    /// A segment with ECT or CE has come.
    pub has_ect: bool,
    /// The window has been reduced, and CWR is to tell of it.
    pub owes_cwr: bool,
    /// The SYN that was accepted asked for ECN.
    pub peer_asks: bool,
    /// The SYN-ACK is ECT each time that it is sent.
    pub repeats_ect: bool,
    pub feedbacks: Feedbacks,
}
