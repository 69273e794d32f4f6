//! The classes of a classful discipline: a child discipline each, with its backlog (ns-3's
//! `QueueDiscClass`).
//!
//! Who schedules classes may have to know the packet that comes next without taking it.  Where a
//! child can show it, looking changes nothing.  Where only `dequeue` decides (CoDel may drop or
//! mark on the way), the packet is taken out and held until its turn comes: it still counts as
//! queued, but what the child decided was decided when somebody looked (ns-3's `QueueDisc::Peek`).

use super::{AnyQdisc, Head, Qdisc, QdiscContext};
use crate::packet::PacketId;

#[derive(Debug)]
struct Class {
    child: AnyQdisc,
    /// Taken out of the child to be looked at.
    held: Option<PacketId>,
    packets: u32,
    bytes: u32,
}

/// Addressed by number, from 0.
#[derive(Debug)]
pub struct Classes {
    classes: Vec<Class>,
}

impl Classes {
    pub fn new(children: Vec<AnyQdisc>) -> Self {
        let class = |child| Class { child, held: None, packets: 0, bytes: 0 };
        Classes { classes: children.into_iter().map(class).collect() }
    }

    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Packets of the class that are queued, one that is held included.
    pub fn packets(&self, class: usize) -> u32 {
        self.classes[class].packets
    }

    /// Their bytes.
    pub fn bytes(&self, class: usize) -> u32 {
        self.classes[class].bytes
    }

    /// As [`Qdisc::attach`], for the owner's.
    pub fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        for class in 0..self.len() {
            self.call(class, cx, |child, cx| child.attach(cx));
        }
    }

    /// As [`Qdisc::start`], for the owner's.
    pub fn start(&mut self, cx: &mut QdiscContext<'_>) {
        for class in 0..self.len() {
            self.call(class, cx, |child, cx| child.start(cx));
        }
    }

    /// The tag for a timer of the owner itself.
    pub fn own_tag(&self) -> u32 {
        self.len() as u32
    }

    /// As [`Qdisc::timer`], for the owner's timers but for one of its own.
    pub fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        let places = self.len() as u32 + 1;
        let (tag, class) = (tag / places, (tag % places) as usize);
        self.call(class, cx, |child, cx| child.timer(tag, cx))
    }

    /// As [`Qdisc::enqueue`], into one class.
    pub fn enqueue(&mut self, class: usize, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        self.call(class, cx, |child, cx| child.enqueue(id, cx))
    }

    /// As [`Qdisc::dequeue`], from one class.
    pub fn dequeue(&mut self, class: usize, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        if let Some(id) = self.classes[class].held.take() {
            self.call(class, cx, |_, cx| cx.dequeued(id));
            return Some(id);
        }
        self.call(class, cx, |child, cx| child.dequeue(cx))
    }

    /// The packet that `dequeue` would return.
    pub fn peek(&mut self, class: usize, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        if self.classes[class].held.is_none() {
            match self.call(class, cx, |child, cx| child.peek(cx)) {
                Head::Known(head) => return head,
                Head::Undecided => {
                    let taken =
                        self.call(class, cx, |child, cx| cx.peeking(|cx| child.dequeue(cx)));
                    self.classes[class].held = taken;
                }
            }
        }
        self.classes[class].held
    }

    /// Calls a child: what it drops and marks is counted as a child's decision, and a timer of its
    /// own comes back to it.
    fn call<T>(
        &mut self,
        class: usize,
        cx: &mut QdiscContext<'_>,
        call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T,
    ) -> T {
        let places = self.classes.len() as u32 + 1;
        let own = &mut self.classes[class];
        let others = cx.state.packets - own.packets;
        let (packets, bytes) = (cx.state.packets, cx.state.bytes);
        let timers = cx.timers.len();
        let held = own.held.map_or(0, |id| cx.packets[id].ip_bytes);
        let result = cx.class(others, held, |cx| call(&mut own.child, cx));
        own.packets = own.packets + cx.state.packets - packets;
        own.bytes = own.bytes + cx.state.bytes - bytes;
        for (_, tag) in &mut cx.timers[timers..] {
            *tag = *tag * places + class as u32;
        }
        result
    }
}
