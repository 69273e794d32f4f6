//! The system calls that the guest makes, and nothing else: the only `unsafe` code of this crate.

mod memory;
mod netlink;
mod port;
mod ring;
mod tap;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void};
pub use netlink::Netlink;
use netlink::index;
pub use port::{Fate, Note, Port};
pub use ring::{Delivery, MOST, Ring};
pub use tap::Tap;

/// -1 is an error.
fn checked(result: c_int) -> Result<c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

fn text(text: &str) -> CString {
    CString::new(text).expect("no zeros in it")
}

pub fn mount(kind: &str, place: &str) -> Result<()> {
    let (kind, place) = (text(kind), text(place));
    // SAFETY: the strings end with zeros and outlive the call.
    checked(unsafe {
        libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, std::ptr::null())
    })?;
    Ok(())
}

/// The device that makes others: <https://docs.kernel.org/networking/tuntap.html>.
pub fn make_tun_node(path: &str) -> Result<()> {
    let path = text(path);
    // SAFETY: the string ends with a zero and outlives the call.
    checked(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(10, 200)) })?;
    Ok(())
}

/// Before everything else that the kernel has to do; timers have no slack then.
pub fn become_urgent() -> Result<()> {
    let param: c_int = 1; // all that the kernel reads
    // SAFETY: a system call of its own for this thread; musl's wrapper refuses all.
    checked(unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const param) as c_int
    })?;
    Ok(())
}

/// Ends the kernel.
pub fn power_off() -> ! {
    // SAFETY: no memory is passed.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
        libc::_exit(0)
    }
}

/// This thread has a network of its own from now on; what is opened then belongs to it.
pub fn unshare_network() -> Result<()> {
    // SAFETY: no memory is passed.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    Ok(())
}

pub fn enter_network(of: &File) -> Result<()> {
    // SAFETY: no memory is passed.
    checked(unsafe { libc::setns(of.as_raw_fd(), libc::CLONE_NEWNET) })?;
    Ok(())
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// How far the clock of days is ahead of it; both go alike.
pub fn days_ahead() -> u64 {
    clock(libc::CLOCK_REALTIME) - now()
}

fn clock(which: libc::clockid_t) -> u64 {
    // SAFETY: all zeros is a time.
    let mut time: libc::timespec = unsafe { zeroed() };
    // SAFETY: `time` may be written.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: all zeros is a request.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// A device whose file gives what it sends, and takes what it is to receive.
fn tun(name: &str, flags: i16) -> Result<OwnedFd> {
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    const IFF_TUN: i16 = 1;
    const IFF_NO_PI: i16 = 0x1000;
    let node = text("/dev/net/tun");
    // SAFETY: the string ends with a zero; the descriptor is new and ours.
    let device = unsafe {
        OwnedFd::from_raw_fd(checked(libc::open(
            node.as_ptr(),
            libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC,
        ))?)
    };
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = IFF_TUN | IFF_NO_PI | flags;
    // SAFETY: the request is as long as the kernel reads and writes.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF as _, &raw mut request) })?;
    Ok(device)
}

/// A host's devices: one that it sends through, with these addresses and the default route, and routes of their own
/// to some; and one that it receives from.  The first forgets what it sends, and a [`Tap`] has it; the second's
/// file takes what is to be received.  So whoever looks what has been sent needs no system call.
pub fn host(
    mtu: u32,
    addresses: &[Ipv4Addr],
    routes: &BTreeMap<Ipv4Addr, BTreeMap<String, u32>>,
) -> Result<(Tap, OwnedFd)> {
    let receives = tun("wire", 0)?;
    let netlink = Netlink::open()?;
    netlink.add_device("dummy", "host", 0)?;
    let host = index("host")?;
    leave_sums_to_the_kernel(&netlink, "host")?;
    netlink.set_up(index("lo")?, None)?;
    netlink.set_up(index("wire")?, Some(mtu))?;
    netlink.set_up(host, Some(mtu))?;
    for address in addresses {
        netlink.add_address(host, *address)?;
    }
    netlink.add_route(host, None, &BTreeMap::new())?;
    for (to, metrics) in routes {
        netlink.add_route(host, Some(*to), metrics)?;
    }
    Ok((Tap::new(host)?, receives))
}

/// A device computes no checksums, and so cuts no segments either: what it sends is whole (ethtool(8), `tx off`).
fn leave_sums_to_the_kernel(netlink: &Netlink, name: &str) -> Result<()> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    const ETHTOOL_STXCSUM: u32 = 0x17;
    let mut value = [ETHTOOL_STXCSUM, 0];
    let mut request = interface(name);
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    // SAFETY: the request is as long as the kernel reads, and so is what it points to.
    checked(unsafe { libc::ioctl(netlink.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
    Ok(())
}

/// Puts a module into the kernel.
pub fn load_module(path: &str, parameters: &str) -> Result<()> {
    let file = File::open(path)?;
    let parameters = text(parameters);
    // SAFETY: the string ends with a zero and outlives the call.
    checked(unsafe {
        libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), parameters.as_ptr(), 0) as c_int
    })
    .map_err(|error| {
        let why = match error.raw_os_error() {
            Some(libc::EBUSY | libc::EEXIST) => "the kernel has one of its name already".into(),
            _ => error.to_string(),
        };
        Error::other(format!("the module {path} cannot be loaded: {why}"))
    })?;
    Ok(())
}

/// As many files as the kernel allows.
pub fn open_many() -> Result<()> {
    let many = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
    // SAFETY: the kernel reads the limits.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const many) })?;
    Ok(())
}

fn inet(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

fn generic(address: SocketAddrV4) -> libc::sockaddr {
    // SAFETY: both are 16 bytes without padding; IPv4's is one kind of the other.
    unsafe { std::mem::transmute(inet(address)) }
}

/// Bytes read, or none if there is nothing now.
fn unless_again(result: isize) -> Result<Option<usize>> {
    if result >= 0 {
        return Ok(Some(result as usize));
    }
    let error = Error::last_os_error();
    if error.kind() == std::io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) }
}

pub fn read(from: &OwnedFd, to: &mut [u8]) -> Result<Option<usize>> {
    // SAFETY: as many bytes may be written as there are.
    unless_again(unsafe { libc::read(from.as_raw_fd(), to.as_mut_ptr().cast(), to.len()) })
}

/// Headers and what follows as one packet.
pub fn write(to: &OwnedFd, parts: [&[u8]; 2]) -> Result<()> {
    let parts = parts
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // SAFETY: the kernel reads the parts, which outlive the call.
    unless_again(unsafe { libc::writev(to.as_raw_fd(), parts.as_ptr(), 2) })?;
    Ok(())
}

/// A TCP socket of this thread's network that never waits.
pub fn tcp_socket() -> Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_INET, kind, 0))?) })
}

pub fn set_option(socket: &OwnedFd, level: c_int, option: c_int, value: &[u8]) -> Result<()> {
    // SAFETY: the kernel reads as many bytes as there are.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast::<c_void>(),
            value.len() as u32,
        )
    })?;
    Ok(())
}

pub fn bind(socket: &OwnedFd, address: SocketAddrV4) -> Result<()> {
    let address = generic(address);
    // SAFETY: the address is as long as is said.
    checked(unsafe { libc::bind(socket.as_raw_fd(), &raw const address, 16) })?;
    Ok(())
}

pub fn listen(socket: &OwnedFd) -> Result<()> {
    // SAFETY: no memory is passed.
    checked(unsafe { libc::listen(socket.as_raw_fd(), 4096) })?;
    Ok(())
}

/// Begins; the handshake takes its time.
pub fn connect(socket: &OwnedFd, address: SocketAddrV4) -> Result<()> {
    let address = generic(address);
    // SAFETY: the address is as long as is said.
    let result = checked(unsafe { libc::connect(socket.as_raw_fd(), &raw const address, 16) });
    match result {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// The connection that is established, if one is.
pub fn accept(socket: &OwnedFd) -> Result<Option<OwnedFd>> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let null = std::ptr::null_mut();
    // SAFETY: nobody asks for the address.
    let found = unsafe { libc::accept4(socket.as_raw_fd(), null, null.cast(), flags) };
    let found = unless_again(found as isize)?;
    // SAFETY: the descriptor is new and ours.
    Ok(found.map(|fd| unsafe { OwnedFd::from_raw_fd(fd as c_int) }))
}

/// So many pieces of memory may one call write (`UIO_MAXIOV`).
const MOST_PIECES: u64 = 1024;

/// Sends so many zeros as one write, at most 1,024 times those that are given.  Returns how many it has offered, and how many were
/// taken: none if the buffer is full or the connection is not there yet.
pub fn send(socket: &OwnedFd, zeros: &[u8], bytes: u64) -> (u64, Result<Option<usize>>) {
    let whole = zeros.len() as u64;
    let bytes = bytes.min(MOST_PIECES * whole);
    let piece = |at: u64| libc::iovec {
        iov_base: zeros.as_ptr().cast_mut().cast(),
        iov_len: whole.min(bytes - at * whole) as usize,
    };
    let mut pieces: Vec<_> = (0..bytes.div_ceil(whole)).map(piece).collect();
    // SAFETY: all zeros are a valid header, and the kernel reads as many bytes as each piece has.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = pieces.as_mut_ptr();
        header.msg_iovlen = pieces.len() as _;
        libc::sendmsg(socket.as_raw_fd(), &header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    (bytes, unless_again(sent))
}

/// Takes all that has come and throws it away; 0 is the end.
pub fn discard(socket: &OwnedFd) -> Result<Option<usize>> {
    // SAFETY: with `MSG_TRUNC` TCP writes nothing (tcp(7)).
    unless_again(unsafe {
        libc::recv(
            socket.as_raw_fd(),
            std::ptr::null_mut(),
            1 << 30,
            libc::MSG_TRUNC | libc::MSG_DONTWAIT,
        )
    })
}

/// Sends no more; nothing happens if the connection is over.
pub fn shut_down(socket: &OwnedFd) -> Result<()> {
    // SAFETY: no memory is passed.
    match checked(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }) {
        Err(error) if !is_over(&error) => Err(error),
        _ => Ok(()),
    }
}

/// What a socket says whose connection was given up or reset: tcp(7).
pub fn is_over(error: &Error) -> bool {
    let over = [libc::ETIMEDOUT, libc::ECONNRESET, libc::ECONNREFUSED, libc::EPIPE, libc::ENOTCONN];
    error.raw_os_error().is_some_and(|number| over.contains(&number))
}

/// `TCP_INFO`: the fields that we read, at the places that <linux/tcp.h> gives them for good.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    pub scales: u8,
    pub limited: u8,
    pub rto_us: u32,
    pub ato_us: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last: [u32; 4],
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt_us: u32,
    pub rttvar_us: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt_us: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes: [u64; 2],
    pub segments: [u32; 2],
    pub notsent_bytes: u32,
    pub min_rtt: u32,
    pub data_segments: [u32; 2],
    pub delivery_rate: u64,
    pub limited_times: [u64; 3],
    pub delivered: [u32; 2],
    pub bytes_sent: [u64; 2],
    pub dsack_dups: u32,
    pub reordering_seen: u32,
    pub out_of_order: u32,
    pub windows: [u32; 2],
    pub rehashes: u32,
    /// From Linux 6.7 on.
    pub total_rto: u16,
    pub total_rto_recoveries: u16,
    pub total_rto_time: u32,
}

pub fn tcp_info(socket: &OwnedFd) -> Result<TcpInfo> {
    // SAFETY: all zeros is one; it has numbers only.
    let mut info: TcpInfo = unsafe { zeroed() };
    let mut length = size_of::<TcpInfo>() as u32;
    // SAFETY: the kernel writes no more than `length` bytes.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    })?;
    Ok(info)
}

/// Where everybody waits.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl AsRawFd for Epoll {
    fn as_raw_fd(&self) -> c_int {
        self.0.as_raw_fd()
    }
}

impl Epoll {
    pub fn new() -> Result<Self> {
        // SAFETY: the descriptor is new and ours.
        Ok(Epoll(unsafe { OwnedFd::from_raw_fd(checked(libc::epoll_create1(0))?) }))
    }

    /// The same one, for somebody else.
    pub fn share(&self) -> Result<Self> {
        Ok(Epoll(self.0.try_clone()?))
    }

    /// `is_edge`: says once when there is room to write; or else, while there is something to read.
    pub fn add(&self, fd: &impl AsRawFd, token: u64, is_edge: bool) -> Result<()> {
        let events = if is_edge { libc::EPOLLOUT | libc::EPOLLET } else { libc::EPOLLIN };
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: the kernel reads the event.
        checked(unsafe {
            libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &raw mut event)
        })?;
        Ok(())
    }

    /// Waits for so many nanoseconds; returns the tokens of those who are ready before.
    pub fn wait(&self, ns: u64, ready: &mut Vec<u64>) -> Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let time = libc::timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        };
        // SAFETY: the kernel writes no more than 64 events and reads the time; no signal mask.
        let count = checked(unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                64,
                &raw const time,
                std::ptr::null::<c_void>(),
                8,
            ) as c_int
        })?;
        ready.clear();
        ready.extend(events[..count as usize].iter().map(|event| event.u64));
        Ok(())
    }
}
