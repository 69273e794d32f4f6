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
pub trait Scheduler: std::fmt::Debug + Send {
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
