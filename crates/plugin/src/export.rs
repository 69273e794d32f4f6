//! The side of a library written in Rust: the tables of functions behind the macros.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use ccperf_engine::base::time::Time;
use ccperf_engine::host::tcp::control::Control;
use ccperf_engine::host::tcp::{CongState, Tcb};

use crate::abi::{
    BalancerTable, CcaTable, ConfigView, EarlyAckView, ErrorText, Header, Hop, Packet, QdiscTable,
    Queue, RateSampleView, Switch, TcbView,
};
use crate::balancer::LoadBalancer;
use crate::config::Config;
use crate::queue::QueueDisc;
use crate::tcb::Code;

/// Exports a congestion control: give the function that makes one, `fn(&Config) -> impl
/// CongestionControl`, or `fn(&Config) -> Control` where that is [`Control::rate`] of a
/// [`RateControl`](crate::RateControl).  Once a library.
#[macro_export]
macro_rules! export_congestion_control {
    ($new:expr) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static ccperf_cca_v1: $crate::abi::CcaTable = {
            unsafe extern "C" fn create(
                config: *mut $crate::abi::ConfigView,
            ) -> *mut ::std::ffi::c_void {
                unsafe { $crate::export::create_cca(config, $new) }
            }
            $crate::export::cca_table(create)
        };
    };
}

/// Exports a queue discipline: give the function that makes one, `fn(&Config) -> impl QueueDisc`.
/// Once a library.
#[macro_export]
macro_rules! export_queue_disc {
    ($new:expr) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static ccperf_qdisc_v1: $crate::abi::QdiscTable = {
            unsafe extern "C" fn create(
                config: *mut $crate::abi::ConfigView,
            ) -> *mut ::std::ffi::c_void {
                unsafe { $crate::export::create_qdisc(config, $new) }
            }
            $crate::export::qdisc_table(create)
        };
    };
}

/// Exports a load balancer: give the function that makes one, `fn(&Config) -> impl LoadBalancer`.
/// Once a library.
#[macro_export]
macro_rules! export_load_balancer {
    ($new:expr) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static ccperf_balancer_v1: $crate::abi::BalancerTable = {
            unsafe extern "C" fn create(
                config: *mut $crate::abi::ConfigView,
            ) -> *mut ::std::ffi::c_void {
                unsafe { $crate::export::create_balancer(config, $new) }
            }
            $crate::export::balancer_table(create)
        };
    };
}

/// The object behind `self`, with the text of its last panic.
struct Instance<T> {
    algorithm: T,
    error: CString,
}

type Cca = Instance<Control>;
type Disc = Instance<Box<dyn QueueDisc>>;
type Balancer = Instance<Box<dyn LoadBalancer>>;

/// Nothing unwinds into the caller: a panic becomes the text at `error`.
impl<T> Instance<T> {
    fn guarded<R: Default>(
        &mut self,
        error: &mut *const c_char,
        call: impl FnOnce(&mut T) -> R,
    ) -> R {
        let algorithm = &mut self.algorithm;
        catch_unwind(AssertUnwindSafe(|| call(algorithm))).unwrap_or_else(|thrown| {
            self.error = message(thrown.as_ref());
            *error = self.error.as_ptr();
            R::default()
        })
    }
}

fn message(thrown: &(dyn std::any::Any + Send)) -> CString {
    let text = thrown.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| thrown.downcast_ref::<String>().cloned());
    let text = format!("panic: {}", text.as_deref().unwrap_or("unknown"));
    CString::new(text.replace('\0', " ")).expect("no zero byte is left")
}

/// # Safety
/// `config` is the host's.
unsafe fn create<T>(config: *mut ConfigView, new: impl FnOnce(&Config) -> T) -> *mut c_void {
    // SAFETY: the caller's promise.
    let view = unsafe { &mut *config };
    // SAFETY: all texts of the host's configuration are C strings.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    let count = usize::try_from(view.attribute_count).unwrap_or(0);
    let attributes = (0..count).map(|i| {
        // SAFETY: `i` is below the number of attributes that the host has put there.
        let attribute = unsafe { *view.attributes.add(i) };
        (text(attribute.name), text(attribute.value))
    });
    let config = Config { attributes: attributes.collect(), seed: view.seed as u64 };
    match catch_unwind(AssertUnwindSafe(|| new(&config))) {
        Ok(algorithm) => {
            Box::into_raw(Box::new(Instance { algorithm, error: CString::default() })).cast()
        }
        Err(thrown) => {
            // Once per run that fails: the text may stay.
            view.error = message(thrown.as_ref()).into_raw();
            ptr::null_mut()
        }
    }
}

/// # Safety
/// `config` is the host's.
pub unsafe fn create_cca<C: Into<Control>>(
    config: *mut ConfigView,
    new: impl FnOnce(&Config) -> C,
) -> *mut c_void {
    // SAFETY: the caller's promise, passed on.
    unsafe { create::<Control>(config, |config| new(config).into()) }
}

/// # Safety
/// `config` is the host's.
pub unsafe fn create_qdisc<D: QueueDisc + 'static>(
    config: *mut ConfigView,
    new: impl FnOnce(&Config) -> D,
) -> *mut c_void {
    // SAFETY: the caller's promise, passed on.
    unsafe { create::<Box<dyn QueueDisc>>(config, |config| Box::new(new(config))) }
}

/// # Safety
/// `config` is the host's.
pub unsafe fn create_balancer<B: LoadBalancer + 'static>(
    config: *mut ConfigView,
    new: impl FnOnce(&Config) -> B,
) -> *mut c_void {
    // SAFETY: the caller's promise, passed on.
    unsafe { create::<Box<dyn LoadBalancer>>(config, |config| Box::new(new(config))) }
}

unsafe extern "C" fn destroy<T>(object: *mut c_void) {
    // A destructor that panics must not unwind into the caller either; there is no one to tell.
    // SAFETY: the host destroys once, and last, what `create` made of this type.
    let _ = catch_unwind(|| drop(unsafe { Box::from_raw(object.cast::<Instance<T>>()) }));
}

/// The table of every congestion control written in Rust.
pub const fn cca_table(create: unsafe extern "C" fn(*mut ConfigView) -> *mut c_void) -> CcaTable {
    CcaTable {
        header: Header::of::<CcaTable, TcbView>(),
        create: Some(create),
        destroy: Some(destroy::<Control>),
        init: Some(init),
        ssthresh: Some(ssthresh),
        cong_avoid: Some(cong_avoid),
        pkts_acked: Some(pkts_acked),
        set_state: Some(set_state),
        cwnd_event: Some(cwnd_event),
        cong_control: Some(cong_control),
        has_cong_control: Some(has_cong_control),
    }
}

/// The table of every queue discipline written in Rust.
pub const fn qdisc_table(
    create: unsafe extern "C" fn(*mut ConfigView) -> *mut c_void,
) -> QdiscTable {
    QdiscTable {
        header: Header::of::<QdiscTable, Queue>(),
        create: Some(create),
        destroy: Some(destroy::<Box<dyn QueueDisc>>),
        enqueue: Some(enqueue),
        dequeue: Some(dequeue),
        timer: Some(timer),
    }
}

/// The table of every load balancer written in Rust.
pub const fn balancer_table(
    create: unsafe extern "C" fn(*mut ConfigView) -> *mut c_void,
) -> BalancerTable {
    BalancerTable {
        header: Header::of::<BalancerTable, Switch>(),
        create: Some(create),
        destroy: Some(destroy::<Box<dyn LoadBalancer>>),
        pick: Some(pick),
        sees_every_hop: Some(sees_every_hop),
        period_ns: Some(period_ns),
        tick: Some(tick),
    }
}

/// One call of a congestion control on a block of its own, of which the view gets the changes.
///
/// # Safety
/// `object` is of [`create_cca`], `view` the host's.
unsafe fn with_tcb<R: Default>(
    object: *mut c_void,
    view: *mut TcbView,
    call: impl FnOnce(&mut Control, &mut Tcb) -> R,
) -> R {
    // SAFETY: the caller's promise; nobody else uses either during the call.
    let (cca, view) = unsafe { (&mut *object.cast::<Cca>(), &mut *view) };
    let mut tcb = view.to_tcb();
    let mut error = ptr::null();
    let result = cca.guarded(&mut error, |cca| call(cca, &mut tcb));
    *view = TcbView::of(&tcb);
    view.error = ErrorText(error);
    result
}

unsafe extern "C" fn init(object: *mut c_void, view: *mut TcbView) {
    // SAFETY: the host passes its own, see `with_tcb`.
    unsafe { with_tcb(object, view, |cca, tcb| cca.algorithm().init(tcb)) }
}

unsafe extern "C" fn ssthresh(object: *mut c_void, view: *mut TcbView, in_flight: i64) -> i64 {
    // SAFETY: as in `init`.
    unsafe {
        with_tcb(object, view, |cca, tcb| cca.algorithm().ssthresh(tcb, in_flight as u32).into())
    }
}

unsafe extern "C" fn cong_avoid(object: *mut c_void, view: *mut TcbView, acked: i64) {
    // SAFETY: as in `init`.
    unsafe { with_tcb(object, view, |cca, tcb| cca.algorithm().cong_avoid(tcb, acked as u32)) }
}

unsafe extern "C" fn pkts_acked(object: *mut c_void, view: *mut TcbView, acked: i64, rtt: i64) {
    // SAFETY: as in `init`.
    unsafe {
        with_tcb(object, view, |cca, tcb| {
            cca.algorithm().pkts_acked(tcb, acked as u32, Time(rtt as u64))
        });
    }
}

unsafe extern "C" fn set_state(object: *mut c_void, view: *mut TcbView, state: i32) {
    let state = CongState::of(state).unwrap_or_default();
    // SAFETY: as in `init`.
    unsafe { with_tcb(object, view, |cca, tcb| cca.algorithm().set_state(tcb, state)) }
}

unsafe extern "C" fn cwnd_event(
    object: *mut c_void,
    view: *mut TcbView,
    event: i32,
    early: *mut EarlyAckView,
) {
    let Some(event) = Code::of(event) else { return };
    // SAFETY: as in `init`.
    let ack = unsafe { with_tcb(object, view, |cca, tcb| cca.algorithm().cwnd_event(tcb, event)) };
    if let Some(ack) = ack {
        // SAFETY: the host wants an answer there, and waits for it.
        let early = unsafe { &mut *early };
        *early = EarlyAckView { send: 1, ece: ack.ece.into(), ack: ack.ack.0, reserved: 0 };
    }
}

unsafe extern "C" fn cong_control(
    object: *mut c_void,
    view: *mut TcbView,
    sample: *const RateSampleView,
) {
    // SAFETY: the host has filled the sample in.
    let (connection, sample) = unsafe { *sample }.to_rate();
    // SAFETY: as in `init`.
    unsafe {
        with_tcb(object, view, |cca, tcb| {
            if let Control::Rate(algorithm) = cca {
                algorithm.cong_control(tcb, &connection, &sample);
            }
        })
    }
}

unsafe extern "C" fn has_cong_control(object: *mut c_void) -> i32 {
    // SAFETY: as in `init`.
    let cca = unsafe { &*object.cast::<Cca>() };
    matches!(cca.algorithm, Control::Rate(_)).into()
}

/// # Safety
/// `object` is of [`create_qdisc`], `queue` the host's.
unsafe fn with_queue<R: Default>(
    object: *mut c_void,
    queue: *mut Queue,
    call: impl FnOnce(&mut dyn QueueDisc, &mut Queue) -> R,
) -> R {
    // SAFETY: the caller's promise; nobody else uses either during the call.
    let (disc, queue) = unsafe { (&mut *object.cast::<Disc>(), &mut *queue) };
    let mut error = ptr::null();
    let result = disc.guarded(&mut error, |disc| call(&mut **disc, queue));
    queue.error = error;
    result
}

unsafe extern "C" fn enqueue(object: *mut c_void, queue: *mut Queue, packet: *const Packet) -> i32 {
    // SAFETY: the packet is the host's, and lives for the call.
    let packet = unsafe { &*packet };
    // SAFETY: the host passes its own, see `with_queue`.
    unsafe { with_queue(object, queue, |disc, queue| disc.enqueue(packet, queue)) }.into()
}

unsafe extern "C" fn dequeue(object: *mut c_void, queue: *mut Queue) -> i64 {
    // SAFETY: as in `enqueue`.
    unsafe { with_queue(object, queue, |disc, queue| disc.dequeue(queue)) }.map_or(-1, i64::from)
}

unsafe extern "C" fn timer(object: *mut c_void, queue: *mut Queue, tag: u32) -> i32 {
    // SAFETY: as in `enqueue`.
    unsafe { with_queue(object, queue, |disc, queue| disc.timer(tag, queue)) }.into()
}

/// # Safety
/// `object` is of [`create_balancer`], `switch` the host's.
unsafe fn with_switch<R: Default>(
    object: *mut c_void,
    switch: *mut Switch,
    call: impl FnOnce(&mut dyn LoadBalancer, &mut Switch) -> R,
) -> R {
    // SAFETY: the caller's promise; nobody else uses either during the call.
    let (balancer, switch) = unsafe { (&mut *object.cast::<Balancer>(), &mut *switch) };
    let mut error = ptr::null();
    let result = balancer.guarded(&mut error, |balancer| call(&mut **balancer, switch));
    switch.error = error;
    result
}

unsafe extern "C" fn pick(object: *mut c_void, switch: *mut Switch, hop: *mut Hop) -> i64 {
    // SAFETY: the packet is the host's, and nobody else's during the call.
    let hop = unsafe { &mut *hop };
    // SAFETY: the host passes its own, see `with_switch`.
    unsafe { with_switch(object, switch, |balancer, switch| balancer.pick(hop, switch)) }.into()
}

unsafe extern "C" fn tick(object: *mut c_void, switch: *mut Switch) {
    // SAFETY: as in `pick`.
    unsafe { with_switch(object, switch, |balancer, switch| balancer.tick(switch)) }
}

unsafe extern "C" fn sees_every_hop(object: *mut c_void) -> i32 {
    // SAFETY: as in `pick`.
    let balancer = unsafe { &*object.cast::<Balancer>() };
    balancer.algorithm.sees_every_hop().into()
}

unsafe extern "C" fn period_ns(object: *mut c_void) -> i64 {
    // SAFETY: as in `pick`.
    let balancer = unsafe { &*object.cast::<Balancer>() };
    balancer.algorithm.period().ns()
}
