//! The side of a library written in Rust: the tables of functions behind the macros.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use ccperf_engine::base::time::Time;
use ccperf_engine::congestion_control_callbacks;
use ccperf_engine::host::tcp::control::{CaEvent, Control, EarlyAck};
use ccperf_engine::host::tcp::rate::AckSample;
use ccperf_engine::host::tcp::{CongState, Tcb};

use crate::abi::{
    BalancerTable, CcaTable, ConfigView, EarlyAckView, ErrorText, Header, Hop, Packet, QdiscTable,
    Queue, SampleView, Switch, TcbView, answer,
};
use crate::balancer::LoadBalancer;
use crate::calls::{Answer, Argument};
use crate::config::Config;
use crate::queue::QueueDisc;

/// Exports a congestion control: give the function that makes one, `fn(&Config) -> impl
/// CongestionControl`, or `fn(&Config) -> Control` where that is [`Control::rate`] of a
/// algorithm with `cong_control`.  Once a library.
///
/// Each segment, loss and ACK is told it (`on_sent`, `on_loss`, `on_ack`), which costs time; an algorithm that has no use
/// for that says so: `Control::from(algorithm).hearing(Hears::NOTHING)`.
#[macro_export]
macro_rules! export_congestion_control {
    ($new:expr) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static ccperf_cca_v2: $crate::abi::CcaTable = {
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
        pub static ccperf_qdisc_v2: $crate::abi::QdiscTable = {
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
        pub static ccperf_balancer_v2: $crate::abi::BalancerTable = {
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

/// The table of every queue discipline written in Rust.
pub const fn qdisc_table(
    create: unsafe extern "C" fn(*mut ConfigView) -> *mut c_void,
) -> QdiscTable {
    QdiscTable {
        header: Header::of::<QdiscTable, Queue, ()>(),
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
        header: Header::of::<BalancerTable, Switch, ()>(),
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

macro_rules! functions {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        $(unsafe extern "C" fn $name(
            object: *mut c_void,
            view: *mut TcbView,
            $($arg: <$type as Argument>::C,)*
            $($out: *mut EarlyAckView,)?
        ) -> <answer!($($answer)?) as Answer>::C {
            // SAFETY: what the host hands over lives for the call.
            $(let Some($arg) = (unsafe { <$type as Argument>::owned($arg) }) else {
                return Default::default();
            };)*
            // SAFETY: the host passes its own, see `with_tcb`.
            let answer: answer!($($answer)?) = unsafe {
                with_tcb(object, view, |cca, tcb| {
                    cca.algorithm().$name(tcb, $(<$type as Argument>::lend(&$arg)),*)
                })
            };
            $(
                // SAFETY: the host wants an answer there, and waits for it.
                unsafe { *$out = EarlyAckView::of(answer) };
            )?
            Answer::there(answer)
        })*

        /// The table of every congestion control written in Rust.
        pub const fn cca_table(
            create: unsafe extern "C" fn(*mut ConfigView) -> *mut c_void,
        ) -> CcaTable {
            CcaTable {
                header: Header::of::<CcaTable, TcbView, SampleView>(),
                create: Some(create),
                destroy: Some(destroy::<Control>),
                hears: Some(hears),
                $($name: Some($name),)*
            }
        }
    };
}

congestion_control_callbacks!(functions);

unsafe extern "C" fn hears(object: *mut c_void) -> u32 {
    // SAFETY: the host passes what `create_cca` has made.
    let cca = unsafe { &*object.cast::<Cca>() };
    cca.algorithm.heard().bits()
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
