//! Schedules of links: each is one pending event, however many rows it has.
//!
//! ns-3's driver schedules every row before time starts.  So all rows draw their numbers then; the
//! next one of a schedule is queued when the one before it has happened, under the number that it has.

use ccperf_schema::lowered::{Change, Link, Schedule};

use crate::base::event::{Event, EventQueue, Key, RunEvent};
use crate::base::time::Time;

/// The schedules of all links, by their numbers in [`RunEvent::Schedule`].
#[derive(Clone, Debug, Default)]
pub struct Schedules(Vec<Running>);

#[derive(Clone, Copy, Debug)]
struct Running {
    link: usize,
    /// Among the link's.
    index: usize,
    /// The next row, and the number of the first one's event.
    next: usize,
    first: u64,
}

impl Schedules {
    /// Draws the numbers of all rows, in order, and queues the first ones.
    pub fn start(links: &[Link], events: &mut EventQueue) -> Self {
        let mut schedules = Schedules::default();
        for (link, spec) in links.iter().enumerate() {
            for (index, schedule) in spec.schedules.iter().enumerate() {
                let mut keys = schedule.times_ns.iter().map(|&time| events.reserve(Time(time)));
                let Some(first) = keys.next() else { continue };
                keys.for_each(drop);
                let number = schedules.0.len() as u32;
                schedules.0.push(Running { link, index, next: 0, first: first.number });
                events.insert(first, Event::Run(RunEvent::Schedule, number));
            }
        }
        schedules
    }

    /// What the row of schedule `number` that is due changes; queues the next one.
    pub fn due(&mut self, number: u32, links: &[Link], events: &mut EventQueue) -> Change {
        let running = &mut self.0[number as usize];
        let schedule = &links[running.link].schedules[running.index];
        let row = running.next;
        running.next += 1;
        if let Some(&time) = schedule.times_ns.get(running.next) {
            let number_of_row = running.first + running.next as u64;
            let key = Key { time: Time(time), number: number_of_row };
            events.insert(key, Event::Run(RunEvent::Schedule, number));
        }
        change(running.link, schedule, row)
    }
}

fn change(link: usize, schedule: &Schedule, row: usize) -> Change {
    let rate = schedule.rates_bps.as_ref().map(|rates| rates[row]);
    let loss = schedule.losses.as_ref().map(|losses| losses[row]);
    Change {
        time_ns: schedule.times_ns[row],
        link,
        rate_bps: schedule.sides.map(|yes| rate.filter(|_| yes)),
        delay_ns: schedule.delays_ns.as_ref().map(|delays| delays[row]),
        loss: schedule.sides.map(|yes| loss.filter(|_| yes)),
    }
}
