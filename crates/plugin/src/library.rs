//! The side that loads: algorithms out of shared libraries.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::{fmt, ptr};

use ccperf_engine::base::time::Time;
use ccperf_engine::congestion_control_callbacks;
use ccperf_engine::host::tcp::control::{
    CaEvent, Callback, CongestionControl, Control, EarlyAck, Hears,
};
use ccperf_engine::host::tcp::rate::AckSample;
use ccperf_engine::host::tcp::{CongState, Tcb};
use ccperf_engine::host::user::{Setup, fail};
use ccperf_engine::net::qdisc::Qdisc;
use ccperf_engine::net::routing::balance::{Balancer, SwitchContext};
use libloading::Library;

use crate::abi::{
    ABI_VERSION, Attribute, BALANCER_SYMBOL, BalancerTable, CCA_SYMBOL, CcaTable, ConfigView,
    EarlyAckView, Header, Hop, Packet, QDISC_SYMBOL, QdiscTable, Queue, SampleView, Switch,
    TcbView,
};
use crate::balancer::{BalancerAdapter, LoadBalancer};
use crate::calls::{Answer, Argument};
use crate::monitor::{Call, Probe};
use crate::queue::{Adapter, QueueDisc};
use crate::tcb::text;

/// The congestion control of the library that `setup` names.
///
/// # Errors
/// What is wrong with the library, or with its configuration.
pub fn congestion_control(setup: Setup<'_>, probe: Probe) -> Result<Control, String> {
    // SAFETY: whoever names a library wants its functions called; `ccperf.h` says what they may do.
    unsafe {
        control_of(table::<CcaTable, TcbView, SampleView>(setup.name, CCA_SYMBOL)?, setup, probe)
    }
}

/// The congestion control of a table.
///
/// # Errors
/// What is wrong with the table, or with its configuration.
///
/// # Safety
/// Its functions do what `ccperf.h` says.
pub unsafe fn control_of(
    table: CcaTable,
    setup: Setup<'_>,
    probe: Probe,
) -> Result<Control, String> {
    if table.ssthresh.is_none() {
        return Err("its table has no ssthresh".to_owned());
    }
    let object = Object::new(setup, table.create, table.destroy, &probe)?;
    let name = setup.name.to_owned();
    let algorithm = LibraryCca { name, probe, table, object };
    let hears = algorithm.hears();
    let is_rate_control = hears.has(Callback::CongControl);
    let control = if is_rate_control { Control::rate(algorithm) } else { algorithm.into() };
    Ok(control.hearing(hears))
}

/// The queue discipline of the library that `setup` names.
///
/// # Errors
/// What is wrong with the library, or with its configuration.
pub fn queue_disc(setup: Setup<'_>, probe: Probe) -> Result<Box<dyn Qdisc>, String> {
    // SAFETY: as in `congestion_control`.
    unsafe {
        queue_disc_of(table::<QdiscTable, Queue, ()>(setup.name, QDISC_SYMBOL)?, setup, probe)
    }
}

/// The queue discipline of a table.
///
/// # Errors
/// What is wrong with the table, or with its configuration.
///
/// # Safety
/// Its functions do what `ccperf.h` says.
pub unsafe fn queue_disc_of(
    table: QdiscTable,
    setup: Setup<'_>,
    probe: Probe,
) -> Result<Box<dyn Qdisc>, String> {
    let (Some(enqueue), Some(dequeue)) = (table.enqueue, table.dequeue) else {
        return Err("its table lacks enqueue or dequeue".to_owned());
    };
    let object = Object::new(setup, table.create, table.destroy, &probe)?;
    let inner = LibraryQdisc { probe, enqueue, dequeue, timer: table.timer, object };
    Ok(Box::new(Adapter::new(setup.name, inner)))
}

/// The load balancer of the library that `setup` names.
///
/// # Errors
/// What is wrong with the library, or with its configuration.
pub fn load_balancer(
    setup: Setup<'_>,
    switch: SwitchContext<'_>,
    probe: Probe,
) -> Result<Box<dyn Balancer>, String> {
    // SAFETY: as in `congestion_control`.
    unsafe {
        let table = table::<BalancerTable, Switch, ()>(setup.name, BALANCER_SYMBOL)?;
        load_balancer_of(table, setup, switch, probe)
    }
}

/// The load balancer of a table.
///
/// # Errors
/// What is wrong with the table, or with its configuration.
///
/// # Safety
/// Its functions do what `ccperf.h` says.
pub unsafe fn load_balancer_of(
    table: BalancerTable,
    setup: Setup<'_>,
    switch: SwitchContext<'_>,
    probe: Probe,
) -> Result<Box<dyn Balancer>, String> {
    let Some(pick) = table.pick else {
        return Err("its table lacks pick".to_owned());
    };
    let object = Object::new(setup, table.create, table.destroy, &probe)?;
    // SAFETY: as `LibraryBalancer` says.
    let sees_every_hop = table.sees_every_hop.is_some_and(|ask| (unsafe { ask(object.0) }) != 0);
    // SAFETY: as above.
    let period = table.period_ns.map_or(0, |ask| unsafe { ask(object.0) });
    let Ok(period) = u64::try_from(period) else {
        return Err(format!("its period_ns is {period}"));
    };
    if period > 0 && table.tick.is_none() {
        return Err("its table has a period_ns and lacks tick".to_owned());
    }
    let (period, tick) = (Time(period), table.tick);
    let inner = LibraryBalancer { probe, pick, tick, sees_every_hop, period, object };
    Ok(Box::new(BalancerAdapter::new(setup.name, inner, switch)))
}

/// Loads a library and copies the table that it exports.
fn table<Table, View, Other>(path: &str, symbol: &str) -> Result<Table, String> {
    if !Path::new(path).is_absolute() {
        return Err("a library is named by its absolute path".to_owned());
    }
    // SAFETY: running its initialisers is what the user asks for.
    let library = unsafe { Library::new(path) }.map_err(|e| format!("it cannot be loaded: {e}"))?;
    // Its functions and texts may be in use until the process ends.
    let library: &'static Library = Box::leak(Box::new(library));
    // All tables begin with a header; sizes are looked at before the rest is read.
    // SAFETY: the symbol is the address of a table that begins with a header (`ccperf.h`).
    let found: *const Header = match unsafe { library.get::<*const Header>(symbol.as_bytes()) } {
        Ok(found) => *found,
        Err(_) => return Err(not_exported(library, symbol)),
    };
    // SAFETY: a loaded library's static outlives this process's use of it.
    let header = unsafe { *found };
    let (table, view, other) = (size_of::<Table>(), size_of::<View>(), size_of::<Other>());
    if header.abi_version != ABI_VERSION {
        let version = header.abi_version;
        return Err(format!("it has version {version} of the interface, not {ABI_VERSION}"));
    }
    if (header.table_size as usize) < size_of::<Header>() {
        return Err("its header is wrong; begin the table with CCPERF_CCA_HEADER".to_owned());
    }
    let sizes = [(header.table_size, table), (header.view_size, view), (header.other_size, other)];
    if sizes.iter().any(|&(theirs, ours)| theirs as usize > ours) {
        return Err("it was built with a newer ccperf.h; update ccperf or build it again".into());
    }
    // Functions that an older library does not know are absent: all zero is `None`.
    let mut copy = std::mem::MaybeUninit::<Table>::zeroed();
    let from = found.cast::<u8>();
    // SAFETY: the table has as many bytes as its header says, which is no more than ours; what is left
    // zero is `None`, and the rest is functions and numbers.
    unsafe {
        ptr::copy_nonoverlapping(from, copy.as_mut_ptr().cast::<u8>(), header.table_size as usize);
        Ok(copy.assume_init())
    }
}

/// What to do about a library without `symbol`.
fn not_exported(library: &Library, symbol: &str) -> String {
    let (kind, _) = symbol.rsplit_once("_v").expect("it ends with the version");
    let has = |version| {
        let symbol = format!("{kind}_v{version}");
        // SAFETY: only looked for.
        unsafe { library.get::<*const Header>(symbol.as_bytes()) }.is_ok()
    };
    match (1..ABI_VERSION).find(|&version| has(version)) {
        Some(version) => format!(
            "it has version {version} of the interface, not {ABI_VERSION}: build it again with the ccperf.h of this \
             ccperf, and export `{symbol}`"
        ),
        None => format!("it does not export `{symbol}`; see ccperf.h"),
    }
}

/// The library's object, destroyed with its owner.
struct Object(*mut c_void, Option<unsafe extern "C" fn(*mut c_void)>);

// SAFETY: like the objects of the engine it is used by one thread at a time; `ccperf.h` says so.
unsafe impl Send for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Object {
    fn new(
        setup: Setup<'_>,
        create: Option<unsafe extern "C" fn(*mut ConfigView) -> *mut c_void>,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        probe: &Probe,
    ) -> Result<Object, String> {
        let Some(create) = create else {
            return match setup.attributes.keys().next() {
                None => Ok(Object(ptr::null_mut(), None)),
                Some(name) => Err(format!("it takes no attributes, but `{name}` is given")),
            };
        };
        let c_string = |text: &String| CString::new(text.as_str()).map_err(|e| e.to_string());
        let names: Vec<_> = setup.attributes.keys().map(c_string).collect::<Result<_, _>>()?;
        let values: Vec<_> = setup.attributes.values().map(c_string).collect::<Result<_, _>>()?;
        let pairs = names.iter().zip(&values);
        let attributes: Vec<_> =
            pairs.map(|(n, v)| Attribute { name: n.as_ptr(), value: v.as_ptr() }).collect();
        let mut config = ConfigView {
            attributes: attributes.as_ptr(),
            attribute_count: attributes.len() as i64,
            seed: setup.seed as i64,
            error: ptr::null(),
        };
        // SAFETY: everything that the configuration points to lives until the call returns.
        let object = probe.call(Time::ZERO, Call::Create, || unsafe { create(&mut config) });
        // SAFETY: null, or a C string that the library has left.
        match unsafe { text(config.error) } {
            None => Ok(Object(object, destroy)),
            Some(message) => Err(message),
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(destroy) = self.1 {
            // SAFETY: nobody uses it after its owner.
            unsafe { destroy(self.0) }
        }
    }
}

/// Its functions are those that the library exports for this object; what they are given lives at
/// least as long as the call, and they keep none of it (`ccperf.h`).
#[derive(Debug)]
struct LibraryCca {
    name: String,
    probe: Probe,
    table: CcaTable,
    object: Object,
}

impl LibraryCca {
    /// Makes one call with a view of `tcb`, and takes over what it changed there.
    #[inline]
    fn call<T>(&self, tcb: &mut Tcb, what: Call, call: impl FnOnce(&mut TcbView) -> T) -> T {
        let mut view = TcbView::of(tcb);
        let result = self.probe.call(tcb.now, what, || call(&mut view));
        // SAFETY: null, or a C string that the library has left.
        let said = unsafe { view.take_error() };
        if let Err(message) = said.map_or_else(|| view.store(tcb), Err) {
            fail(&self.name, format!("{message} (in {})", what.name()));
        }
        result
    }
}

macro_rules! calls {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        impl CongestionControl for LibraryCca {
            $(
            #[allow(clippy::question_mark, reason = "one macro for answers with and without `Option`")]
            fn $name(&mut self, $tcb: block!($access), $($arg: $type),*) $(-> $answer)? {
                let Some(function) = self.table.$name else { absent!($($default)?) };
                let segment_size = $tcb.segment_size;
                $(let $arg = <$type as Argument>::view($arg);)*
                #[allow(unused_mut, reason = "most have no argument for the answer")]
                let mut early = EarlyAckView::default();
                $(let $out = &mut early;)?
                // SAFETY: as `LibraryCca` says.
                let crossed = self.call(scratch!($access $tcb), Call::$variant, |view| unsafe {
                    function(
                        self.object.0,
                        view,
                        $(<$type as Argument>::c(&$arg),)*
                        $($out)?
                    )
                });
                let name = Call::$variant.name();
                Answer::back(crossed, early, name, segment_size)
                    .unwrap_or_else(|message| fail(&self.name, format!("{message} (in {name})")))
            })*
        }

        impl LibraryCca {
            /// What it has, and wants.
            fn hears(&self) -> Hears {
                // SAFETY: as `LibraryCca` says.
                let wanted = self.table.hears.map(|ask| unsafe { ask(self.object.0) });
                let wanted = wanted.map_or(Hears::ALL, Hears::of_bits);
                let mut hears = Hears::NOTHING;
                $(if self.table.$name.is_some() && wanted.has(Callback::$variant) {
                    hears = hears.and(Callback::$variant);
                })*
                hears
            }
        }
    };
}

macro_rules! block {
    (mut) => {
        &mut Tcb
    };
    (ref) => {
        &Tcb
    };
}

/// The engine does not expect such a call to change the connection.
macro_rules! scratch {
    (mut $tcb:ident) => {
        $tcb
    };
    (ref $tcb:ident) => {
        &mut $tcb.clone()
    };
}

macro_rules! absent {
    () => {
        unreachable!("looked for when the library was loaded")
    };
    ($default:expr) => {
        return $default
    };
}

congestion_control_callbacks!(calls);

/// As [`LibraryCca`].
#[derive(Debug)]
struct LibraryQdisc {
    probe: Probe,
    enqueue: unsafe extern "C" fn(*mut c_void, *mut Queue, *const Packet) -> i32,
    dequeue: unsafe extern "C" fn(*mut c_void, *mut Queue) -> i64,
    timer: Option<unsafe extern "C" fn(*mut c_void, *mut Queue, u32) -> i32>,
    object: Object,
}

impl QueueDisc for LibraryQdisc {
    fn enqueue(&mut self, packet: &Packet, queue: &mut Queue) -> bool {
        let now = queue.now();
        // SAFETY: as `LibraryQdisc` says.
        let call = || unsafe { (self.enqueue)(self.object.0, queue, packet) };
        self.probe.call(now, Call::Enqueue, call) != 0
    }

    fn dequeue(&mut self, queue: &mut Queue) -> Option<u32> {
        let now = queue.now();
        // SAFETY: as `LibraryQdisc` says.
        let call = || unsafe { (self.dequeue)(self.object.0, queue) };
        match self.probe.call(now, Call::Dequeue, call) {
            ..0 => None,
            // No packet has such a number, so the adapter refuses it with the rest.
            id => Some(u32::try_from(id).unwrap_or(u32::MAX)),
        }
    }

    fn timer(&mut self, tag: u32, queue: &mut Queue) -> bool {
        let Some(timer) = self.timer else { return false };
        let now = queue.now();
        // SAFETY: as `LibraryQdisc` says.
        let call = || unsafe { timer(self.object.0, queue, tag) };
        self.probe.call(now, Call::Timer, call) != 0
    }
}

/// As [`LibraryCca`].
#[derive(Debug)]
struct LibraryBalancer {
    probe: Probe,
    pick: unsafe extern "C" fn(*mut c_void, *mut Switch, *mut Hop) -> i64,
    tick: Option<unsafe extern "C" fn(*mut c_void, *mut Switch)>,
    sees_every_hop: bool,
    period: Time,
    object: Object,
}

impl LoadBalancer for LibraryBalancer {
    fn pick(&mut self, packet: &mut Hop, switch: &mut Switch) -> u32 {
        let now = switch.now();
        // SAFETY: as `LibraryBalancer` says.
        let call = || unsafe { (self.pick)(self.object.0, switch, packet) };
        // No port has such a position, so the adapter refuses it with the rest.
        u32::try_from(self.probe.call(now, Call::Pick, call)).unwrap_or(u32::MAX)
    }

    fn sees_every_hop(&self) -> bool {
        self.sees_every_hop
    }

    fn period(&self) -> Time {
        self.period
    }

    fn tick(&mut self, switch: &mut Switch) {
        let Some(tick) = self.tick else { return };
        let now = switch.now();
        // SAFETY: as `LibraryBalancer` says.
        self.probe.call(now, Call::Tick, || unsafe { tick(self.object.0, switch) });
    }
}
