//! Flow control between a device queue and the queue discipline that feeds it (ns-3's
//! `NetDeviceQueue`, Linux's `netif_tx_stop_queue` and `netif_tx_wake_queue`).
//!
//! When the device queue has no room for another packet of the largest size, the device tells the
//! discipline to stop.  Whenever it takes a packet out, it looks a moment later (an event at the same
//! time, the "wake") whether there is room now, and if so, the discipline goes on.
//!
//! ```text
//!                       no room for another packet
//!               ┌─────────────────────────────────────────────┐
//!               │                                             ▼
//!         ┌───────────┐     a wake finds room            ┌─────────┐
//!    ────▶│  Started  │◀─────────────────────────────────│ Stopped │
//!         └───────────┘                                  └─────────┘
//!            │     ▲                                          ▲
//!            │     │ somebody comes                           │ somebody comes
//!            │     │ after the wake                           │ before the wake
//!            │  ┌──────────────┐                              │
//!            └─▶│ StoppedUntil │──────────────────────────────┘
//!               └──────────────┘
//!      a packet on its way through filled the queue
//! ```
//!
//! In ns-3 there is an event for each wake.  Here a wake is queued only in `Stopped`, where the
//! discipline waits for it: in `Started` it would find nothing to do, so its key is only remembered, in
//! case the queue fills before it is due; and in `StoppedUntil` it is sure to find room, for the only
//! packet has left, so that whoever comes next can tell from the time alone whether it has run.

use crate::base::event::{Event, EventQueue, Key, PortEvent};
use crate::base::time::Time;

#[derive(Clone, Copy, Debug)]
pub enum FlowControl {
    /// The discipline may send.  `wake`: that of the last transmission, which is not queued.
    Started { wake: Key },
    /// The discipline waits.  A wake is queued, or will be with the next transmission; or what it would do was done
    /// before it was due, last at `hurried`.
    Stopped { hurried: Time },
    /// The discipline waits for a wake that is not queued.
    StoppedUntil { wake: Key },
}

impl Default for FlowControl {
    fn default() -> Self {
        FlowControl::Started { wake: Key::default() }
    }
}

impl FlowControl {
    pub const STOPPED: FlowControl = FlowControl::Stopped { hurried: Time::MAX };

    pub fn is_stopped(self) -> bool {
        !matches!(self, FlowControl::Started { .. })
    }

    /// The device queue has no room for another packet.
    pub fn stop(&mut self, port: u32, events: &mut EventQueue) {
        if let FlowControl::Started { wake } | FlowControl::StoppedUntil { wake } = *self
            && wake > events.now()
        {
            // It is due in this nanosecond, and matters now.
            events.insert(wake, Event::Port(PortEvent::Wake, port));
        }
        *self = FlowControl::STOPPED;
    }

    /// Whether the discipline may send now, without anything queued for it to find out.  `found_empty` is
    /// told of the wake that has passed unseen, as [`FlowControl::catch_up`] returns it.
    #[inline(always)] // on every hop
    pub fn may_send(&mut self, now: Key, found_empty: impl FnOnce(Time)) -> bool {
        match *self {
            FlowControl::Started { .. } => true,
            FlowControl::StoppedUntil { wake } if wake <= now => {
                *self = FlowControl::Started { wake };
                found_empty(wake.time);
                true
            }
            FlowControl::StoppedUntil { .. } | FlowControl::Stopped { .. } => false,
        }
    }

    /// A packet of an empty discipline goes straight through; it `fills` the device queue for a moment
    /// or does not.
    #[inline]
    pub fn pass(&mut self, wake: Key, fills: bool) {
        *self =
            if fills { FlowControl::StoppedUntil { wake } } else { FlowControl::Started { wake } };
    }

    /// Somebody comes who has to know whether the discipline may send.  Returns the wake that has
    /// passed unseen, if there was one: it let the discipline look for a packet, and there was none.
    pub fn catch_up(&mut self, port: u32, events: &mut EventQueue) -> Option<Key> {
        let FlowControl::StoppedUntil { wake } = *self else { return None };
        if wake > events.now() {
            events.insert(wake, Event::Port(PortEvent::Wake, port));
            *self = FlowControl::STOPPED;
            return None;
        }
        *self = FlowControl::Started { wake };
        Some(wake)
    }

    /// A transmission has begun, whose wake is due at `wake`.  `is_plain`: every wake is queued.
    pub fn on_transmission(
        &mut self,
        wake: Key,
        port: u32,
        is_plain: bool,
        events: &mut EventQueue,
    ) {
        match self {
            FlowControl::Started { wake: last } if !is_plain => return *last = wake,
            FlowControl::Started { .. } => {}
            _ => *self = FlowControl::STOPPED,
        }
        events.insert(wake, Event::Port(PortEvent::Wake, port));
    }

    /// A wake finds room.
    pub fn start(&mut self) {
        let wake = match *self {
            FlowControl::Started { wake } | FlowControl::StoppedUntil { wake } => wake,
            FlowControl::Stopped { .. } => Key::default(),
        };
        *self = FlowControl::Started { wake };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::event::RunEvent;

    const PORT: u32 = 7;

    fn at(time: u64) -> (EventQueue, Key) {
        let mut events = EventQueue::default();
        events.schedule(Time(time), Event::Run(RunEvent::Stop, 0));
        let wake = events.reserve(Time(time));
        events.pop(Time::MAX);
        (events, wake)
    }

    #[test]
    fn a_wake_is_queued_only_when_the_queue_fills_before_it_is_due() {
        let (mut events, wake) = at(5);
        let mut flow_control = FlowControl::default();
        flow_control.on_transmission(wake, PORT, false, &mut events);
        assert!(events.is_empty());
        flow_control.stop(PORT, &mut events);
        assert!(flow_control.is_stopped());
        assert_eq!(events.pop(Time::MAX), Some(Event::Port(PortEvent::Wake, PORT)));
        assert_eq!(events.now(), wake);
        flow_control.start();
        // It has passed: the next stop waits for the next transmission.
        flow_control.stop(PORT, &mut events);
        assert!(events.is_empty());
    }

    #[test]
    fn a_packet_on_its_way_through_stops_until_its_wake() {
        let (mut events, wake) = at(5);
        let mut flow_control = FlowControl::default();
        flow_control.pass(wake, true);
        assert!(flow_control.is_stopped() && events.is_empty());
        let mut early = flow_control;
        assert_eq!(early.catch_up(PORT, &mut events), None);
        assert!(early.is_stopped());
        assert_eq!(events.pop(Time::MAX), Some(Event::Port(PortEvent::Wake, PORT)));
        // Now it has passed, for whoever did not wait for it.
        assert_eq!(flow_control.catch_up(PORT, &mut events), Some(wake));
        assert!(!flow_control.is_stopped() && events.is_empty());
    }
}
