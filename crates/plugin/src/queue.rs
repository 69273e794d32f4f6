//! Queue disciplines: the trait that a user's implements, and the adapter that makes one of the
//! engine's of it and keeps the accounts.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use ccperf_engine::base::time::Time;
use ccperf_engine::host::user;
use ccperf_engine::net::qdisc::{Qdisc, QdiscContext};
use ccperf_engine::packet::PacketId;

use crate::abi::{Packet, Queue};
use crate::tcb::Code;

/// A queue discipline of one's own.  Counting and tracing are done for it: it says which packets it
/// keeps, in which order they leave, and which it drops.
pub trait QueueDisc: fmt::Debug + Send {
    /// A packet arrives; true keeps it, false drops it.
    fn enqueue(&mut self, packet: &Packet, queue: &mut Queue) -> bool;

    /// The device has room: the [`Packet::id`] of one that was kept.
    fn dequeue(&mut self, queue: &mut Queue) -> Option<u32>;

    /// A timer set with [`Queue::set_timer`] has fired.  True: there may be a packet to send now.
    fn timer(&mut self, _tag: u32, _queue: &mut Queue) -> bool {
        false
    }
}

impl Queue {
    pub fn now(&self) -> Time {
        Time(self.now_ns as u64)
    }

    /// Sets the CE mark if the packet is ECN capable (RFC 3168 section 5); whether it is marked now.
    pub fn mark(&mut self, packet: u32, reason: &str) -> bool {
        let reason = c_string(reason);
        // SAFETY: the table's functions are the adapter's below, and its host outlives the call.
        (unsafe { (self.mark)(self.host, packet, reason.as_ptr()) }) != 0
    }

    /// Drops a packet of the queue; the arriving one, if `enqueue` then returns false.
    ///
    /// `reason` is one of a few texts, by which drops are counted.
    pub fn drop_packet(&mut self, packet: u32, reason: &str) {
        let reason = c_string(reason);
        // SAFETY: as in `mark`.
        unsafe { (self.drop)(self.host, packet, reason.as_ptr()) }
    }

    /// Calls `timer` with this tag once, after `delay`.
    pub fn set_timer(&mut self, delay: Time, tag: u32) {
        // SAFETY: as in `mark`.
        unsafe { (self.set_timer)(self.host, delay.ns(), tag) }
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).expect("no zero byte is left")
}

/// Makes one of the engine's disciplines of a user's.
#[derive(Debug)]
pub struct Adapter<D> {
    name: String,
    inner: D,
    /// Which packets are in the queue, by id.
    held: Vec<bool>,
}

impl<D: QueueDisc> Adapter<D> {
    pub fn new(name: &str, inner: D) -> Self {
        Adapter { name: name.to_owned(), inner, held: Vec::new() }
    }

    /// Returns what `call` returns, and why the arriving packet was dropped, if it was.
    fn call<T>(
        &mut self,
        arriving: Option<PacketId>,
        cx: &mut QdiscContext<'_>,
        call: impl FnOnce(&mut D, &mut Queue) -> T,
    ) -> (T, Option<&'static str>) {
        let mut queue = Queue {
            now_ns: cx.now.ns(),
            error: ptr::null(),
            packets: cx.state.packets.into(),
            bytes: cx.state.bytes.into(),
            rate_bps: i64::try_from(cx.rate.0).unwrap_or(i64::MAX),
            host: ptr::null_mut(),
            mark,
            drop: drop_packet,
            set_timer,
        };
        let mut host = Host {
            cx: ptr::from_mut(cx).cast(),
            held: &mut self.held,
            arriving,
            refused: None,
            error: None,
            lifetime: PhantomData,
        };
        queue.host = ptr::from_mut(&mut host).cast();
        let result = call(&mut self.inner, &mut queue);
        // SAFETY: a library leaves null or a C string here.
        let said = unsafe { crate::tcb::text(queue.error) };
        let Host { refused, error, .. } = host;
        if let Some(message) = said.or(error) {
            user::fail(&self.name, message);
        }
        (result, refused)
    }

    fn fail(&self, message: impl Into<String>) -> ! {
        user::fail(&self.name, message)
    }
}

impl<D: QueueDisc> Qdisc for Adapter<D> {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let packet = packet(id, cx);
        let (keeps, refused) = self.call(Some(id), cx, |d, queue| d.enqueue(&packet, queue));
        if keeps && refused.is_some() {
            self.fail("enqueue kept a packet that it had dropped");
        }
        if !keeps {
            cx.drop_before_enqueue(id, refused.unwrap_or("Refused by the queue disc"));
            return false;
        }
        let slot = id.0 as usize;
        if self.held.len() <= slot {
            self.held.resize(slot + 1, false);
        }
        self.held[slot] = true;
        cx.enqueued(id);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let id = PacketId(self.call(None, cx, |d, queue| d.dequeue(queue)).0?);
        if !take(&mut self.held, id) {
            self.fail(format!("dequeue returned packet {}, which is not in the queue", id.0));
        }
        cx.dequeued(id);
        Some(id)
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.call(None, cx, |d, queue| d.timer(tag, queue)).0
    }
}

/// A packet as a user's discipline sees it.
pub fn packet(id: PacketId, cx: &QdiscContext<'_>) -> Packet {
    let packet = &cx.packets[id];
    let key = cx.flow_key(id);
    Packet {
        id: id.0,
        source: key.source,
        destination: key.destination,
        source_port: key.source_port,
        destination_port: key.destination_port,
        bytes: packet.ip_bytes.into(),
        payload: packet.payload.into(),
        enqueued_ns: cx.now.ns(),
        ecn: packet.ecn.code(),
        protocol: key.protocol.into(),
        flow: packet.flow,
        backward: packet.backward.into(),
        seq: packet.seq.0,
        ack: packet.ack.0,
        flags: packet.flags.0.into(),
        dscp: cx.dscp(id).into(),
    }
}

fn take(held: &mut [bool], id: PacketId) -> bool {
    held.get_mut(id.0 as usize).is_some_and(std::mem::take)
}

/// What [`Queue::host`] points to, during one call.
struct Host<'a> {
    /// A `QdiscContext`, whose lifetimes a C function cannot carry.
    cx: *mut QdiscContext<'static>,
    held: &'a mut Vec<bool>,
    arriving: Option<PacketId>,
    refused: Option<&'static str>,
    error: Option<String>,
    lifetime: PhantomData<&'a mut ()>,
}

impl Host<'_> {
    /// The context and the reason, if `id` is a packet that may be touched.
    fn checked(
        &mut self,
        what: &str,
        id: PacketId,
        reason: *const c_char,
    ) -> Option<(&mut QdiscContext<'static>, &'static str)> {
        let is_arriving = self.arriving == Some(id) && self.refused.is_none();
        if !is_arriving && !self.held.get(id.0 as usize).is_some_and(|&held| held) {
            self.error = Some(format!("it tried to {what} packet {}, which it has not got", id.0));
            return None;
        }
        if reason.is_null() {
            self.error = Some(format!("it gave no reason to {what} a packet"));
            return None;
        }
        // SAFETY: a C string by contract.
        let Some(reason) = intern(&unsafe { CStr::from_ptr(reason) }.to_string_lossy()) else {
            self.error = Some(format!("it gave more than {MAX_REASONS} different reasons"));
            return None;
        };
        // SAFETY: the adapter made the pointer from a reference that it does not use during the call.
        Some((unsafe { &mut *self.cx }, reason))
    }
}

unsafe extern "C" fn mark(host: *mut c_void, id: u32, reason: *const c_char) -> i32 {
    // SAFETY: a library passes on the `host` of the queue that it was called with.
    let host = unsafe { &mut *host.cast::<Host<'_>>() };
    let id = PacketId(id);
    host.checked("mark", id, reason).is_some_and(|(cx, reason)| cx.mark(id, reason)).into()
}

unsafe extern "C" fn drop_packet(host: *mut c_void, id: u32, reason: *const c_char) {
    // SAFETY: as in `mark`.
    let host = unsafe { &mut *host.cast::<Host<'_>>() };
    let id = PacketId(id);
    let is_arriving = host.arriving == Some(id);
    let Some((cx, reason)) = host.checked("drop", id, reason) else { return };
    if is_arriving {
        host.refused = Some(reason);
        return;
    }
    cx.dequeued(id);
    cx.drop_after_dequeue(id, reason);
    take(host.held, id);
}

unsafe extern "C" fn set_timer(host: *mut c_void, delay_ns: i64, tag: u32) {
    // SAFETY: as in `mark`.
    let host = unsafe { &mut *host.cast::<Host<'_>>() };
    match u64::try_from(delay_ns) {
        // SAFETY: as in `Host::checked`.
        Ok(delay) => unsafe { &mut *host.cx }.set_timer(Time(delay), tag),
        Err(_) => host.error = Some(format!("it set a timer {delay_ns} ns from now")),
    }
}

/// Texts are compared by the engine and stay with the counters: they live as long as the process.
const MAX_REASONS: usize = 1000;

fn intern(text: &str) -> Option<&'static str> {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return Some(known);
    }
    if texts.len() == MAX_REASONS {
        return None;
    }
    let text: &'static str = Box::leak(text.into());
    texts.insert(text);
    Some(text)
}
