//! A scheduler from outside, over classes with a discipline of ours in each.
//!
//! It says which class an arriving packet goes into, and which of those that have packets sends next; what a class
//! keeps, marks and drops is its discipline's matter, as inside `DwrrQueueDisc`.

use super::{AnyQdisc, Classes, Head, Qdisc, QdiscContext};
use crate::packet::PacketId;

/// What a scheduler sees of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassView {
    pub packets: u32,
    pub bytes: u32,
    /// What it would send, if the scheduler asks to see that.
    pub head: Option<PacketId>,
}

/// Chooses between classes, which have numbers from 0.
pub trait Scheduler: Send {
    /// The class of an arriving packet.
    fn classify(&mut self, id: PacketId, classes: usize, cx: &QdiscContext<'_>) -> usize;

    /// The class that sends; one that has packets.
    fn next(&mut self, classes: &[ClassView], cx: &QdiscContext<'_>) -> usize;

    /// That class has sent this packet.
    fn sent(&mut self, _class: usize, _id: PacketId, _cx: &QdiscContext<'_>) {}

    /// Whether [`ClassView::head`] is wanted.  (A discipline that decides when a packet leaves, as CoDel, decides
    /// then when somebody looks.)
    fn sees_heads(&self) -> bool {
        false
    }
}

crate::opaque!(Scheduler);

/// A scheduler with its classes.
#[derive(Debug)]
pub struct Scheduled {
    classes: Classes,
    scheduler: Box<dyn Scheduler>,
    /// Work of one choice.
    views: Vec<ClassView>,
}

impl Scheduled {
    /// `children`: one for each class.
    pub fn new(children: Vec<AnyQdisc>, scheduler: Box<dyn Scheduler>) -> Self {
        let views = vec![ClassView::default(); children.len()];
        Scheduled { classes: Classes::new(children), scheduler, views }
    }

    fn look(&mut self, cx: &mut QdiscContext<'_>) -> bool {
        for class in 0..self.classes.len() {
            let head = if self.scheduler.sees_heads() && self.classes.packets(class) > 0 {
                self.classes.peek(class, cx)
            } else {
                None
            };
            let (packets, bytes) = (self.classes.packets(class), self.classes.bytes(class));
            self.views[class] = ClassView { packets, bytes, head };
        }
        self.views.iter().any(|view| view.packets > 0)
    }
}

impl Qdisc for Scheduled {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let class = self.scheduler.classify(id, self.classes.len(), cx);
        self.classes.enqueue(class, id, cx)
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        while self.look(cx) {
            let class = self.scheduler.next(&self.views, cx);
            if let Some(id) = self.classes.dequeue(class, cx) {
                self.scheduler.sent(class, id, cx);
                return Some(id);
            }
        }
        None
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Undecided
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.classes.timer(tag, cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    /// What a scheduler was shown and told, in order.
    #[derive(Clone, Debug, Default)]
    struct Told(Arc<Mutex<Vec<String>>>);

    /// Sends from the last class that has packets.
    #[derive(Debug)]
    struct Last(Told, bool);

    impl Scheduler for Last {
        fn classify(&mut self, id: PacketId, classes: usize, cx: &QdiscContext<'_>) -> usize {
            cx.packets[id].flow as usize % classes
        }

        fn next(&mut self, classes: &[ClassView], _cx: &QdiscContext<'_>) -> usize {
            let seen: Vec<_> = classes
                .iter()
                .map(|class| format!("{}/{}/{}", class.packets, class.bytes, class.head.is_some()))
                .collect();
            self.0.0.lock().unwrap().push(seen.join(" "));
            classes.iter().rposition(|class| class.packets > 0).unwrap()
        }

        fn sent(&mut self, class: usize, id: PacketId, cx: &QdiscContext<'_>) {
            let bytes = cx.packets[id].ip_bytes;
            self.0.0.lock().unwrap().push(format!("sent {bytes} of {class}"));
        }

        fn sees_heads(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn a_scheduler_sees_what_there_is_and_hears_of_what_it_sends() {
        for sees_heads in [false, true] {
            let told = Told::default();
            let class = || Bench::new("FifoQueueDisc", &[]).qdisc;
            let scheduler = Box::new(Last(told.clone(), sees_heads));
            let mut bench = Bench::new("FifoQueueDisc", &[]);
            let scheduled = Scheduled::new(vec![class(), class()], scheduler);
            bench.qdisc = AnyQdisc::Dyn(Box::new(scheduled));
            bench.call(|q, cx| q.attach(cx));
            assert!(bench.depart().is_none());
            for (flow, bytes) in [(0, 100), (1, 200), (1, 300)] {
                assert!(bench.arrive(flow, bytes, Ecn::NotEct));
            }
            while bench.depart().is_some() {}
            let h = sees_heads;
            let wanted = [
                format!("1/100/{h} 2/500/{h}"),
                "sent 200 of 1".to_owned(),
                format!("1/100/{h} 1/300/{h}"),
                "sent 300 of 1".to_owned(),
                format!("1/100/{h} 0/0/false"),
                "sent 100 of 0".to_owned(),
            ];
            assert_eq!(*told.0.lock().unwrap(), wanted);
        }
    }
}
