// SPDX-License-Identifier: Apache-2.0
//! Turns on fixed addresses. A turn measures the TCP connection, the TLS handshake and the first
//! byte. A separate test checks whether large packets arrive.

use super::names;
use super::path::{self, Path};
use super::ping::Pinger;
use crate::site::tls::{TlsClient, is_timeout};
use lab_load::IpFamily;
use nix::sys::socket::sockopt::{SendTimeout, TcpMaxSeg};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, setsockopt, socket,
};
use nix::sys::time::TimeVal;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a step counts as failed.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The number of connections that a local listener serves concurrently.
const AT_ONCE: usize = 4;
/// The pause between two turns, so that servers do not mistake the turns for an attack.
const PAUSE: Duration = Duration::from_millis(20);
/// A segment size in bytes that every path supports.
const SMALL_SEGMENT: u32 = 500;
/// The number of consecutive failures after which an address is skipped.
const MAX_FAILURES: u32 = 3;

/// A timed step of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetStep {
    /// The lookup of the name's addresses in the family of the turn, through the system's resolver.
    Lookup,
    /// An ICMP echo request and its reply.
    Echo,
    /// The opening of the TCP connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// The time from the request to the first byte of the response.
    FirstByte,
}

/// A turn on an address, with times in ns. A time is `None` if the step failed or was skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct NetTurn {
    /// The family of the address.
    pub family: IpFamily,
    lookup: Option<f64>,
    echo: Option<f64>,
    connect: Option<f64>,
    tls: Option<f64>,
    first_byte: Option<f64>,
}

/// One address of a name, with the results of its turns.
pub struct AddressTurns {
    pub family: IpFamily,
    pub address: SocketAddr,
    /// The path MTU in bytes, as the kernel reports it after connecting.
    pub mtu: Option<u32>,
    /// True if a request larger than one packet got a response, or `None` if no such request was
    /// sent.
    pub large_got_response: Option<bool>,
    /// True if the large request got a response, either in full-size packets or in small packets.
    /// `None` if no large request was sent.
    pub small_got_response: Option<bool>,
    /// The path MTU as measured with echo requests.
    pub path: Option<Path>,
    /// The number of echo requests and the number of replies, or the reason no requests can be
    /// sent.
    pub echoes: Result<[u32; 2], String>,
    /// The number of routers on the return path.
    pub hops: Option<u8>,
    pinger: Option<Pinger>,
    /// The failures, in order.
    failures: Vec<(NetStep, String)>,
    /// The duration of the last failed connection attempt.
    pub failed_after: Option<Duration>,
    /// True if the last failure was a missing route from this machine to the address.
    pub has_no_route: bool,
    /// The number of connections that the server refused.
    pub refused: u32,
    /// The number of connections that failed without being refused, such as by a timeout.
    silent: u32,
    failures_in_a_row: u32,
    has_name: bool,
}

impl NetStep {
    /// Returns the step's name in words.
    pub fn name(self) -> &'static str {
        match self {
            NetStep::Lookup => "name lookup",
            NetStep::Echo => "round trip (ICMP)",
            NetStep::Connect => "connect",
            NetStep::Tls => "TLS",
            NetStep::FirstByte => "first byte",
        }
    }
}

impl NetTurn {
    fn new(family: IpFamily) -> NetTurn {
        NetTurn {
            family,
            lookup: None,
            echo: None,
            connect: None,
            tls: None,
            first_byte: None,
        }
    }

    /// Returns the time of a step, in ns.
    pub fn time(&self, step: NetStep) -> Option<f64> {
        match step {
            NetStep::Lookup => self.lookup,
            NetStep::Echo => self.echo,
            NetStep::Connect => self.connect,
            NetStep::Tls => self.tls,
            NetStep::FirstByte => self.first_byte,
        }
    }

    /// Returns the step that failed, for a failed turn.
    fn failed_step(&self, tls: bool) -> NetStep {
        match (self.connect, self.tls) {
            (None, _) => NetStep::Connect,
            (_, None) if tls => NetStep::Tls,
            _ => NetStep::FirstByte,
        }
    }
}

impl AddressTurns {
    /// Creates the state of an address before its first turn.
    pub fn new(address: SocketAddr) -> AddressTurns {
        let (pinger, echoes) = match Pinger::open(address) {
            Ok(pinger) => (Some(pinger), Ok([0, 0])),
            Err(reason) => (None, Err(reason)),
        };
        AddressTurns {
            echoes,
            hops: None,
            pinger,
            family: IpFamily::from_address(&address),
            address,
            mtu: None,
            large_got_response: None,
            small_got_response: None,
            path: None,
            failures: Vec::new(),
            failed_after: None,
            has_no_route: false,
            refused: 0,
            silent: 0,
            failures_in_a_row: 0,
            has_name: false,
        }
    }

    /// Adds a lookup to each turn, unless the name is itself an address.
    pub fn with_lookups(mut self, name: &str) -> AddressTurns {
        self.has_name = name.parse::<IpAddr>().is_err();
        self
    }

    /// Looks up the name once. If a lookup fails or is slow, later turns skip it.
    fn lookup(&mut self, name: &str) -> Option<f64> {
        let time_ns = self.has_name.then(|| names::lookup(name, self.family))?;
        self.has_name = time_ns.is_some_and(|ns| ns < TIMEOUT.as_nanos() as f64);
        time_ns
    }

    /// Sends one echo request.
    ///
    /// Many hosts never reply to echo requests, so no more requests are sent after three requests
    /// without a reply.
    fn echo(&mut self) -> Option<f64> {
        let (pinger, Ok([sent, replies])) = (self.pinger.as_mut()?, &mut self.echoes) else {
            return None;
        };
        if *replies == 0 && *sent >= MAX_FAILURES {
            return None;
        }
        *sent += 1;
        let echo = pinger.echo()?;
        *replies += 1;
        self.hops = echo.hops.or(self.hops);
        Some(echo.ns)
    }

    /// Tests large packets, with a TCP request and with echo requests.
    fn try_large(&mut self, name: &str, client: Option<&TlsClient>, round_trip: Duration) {
        let responds_at_all = self.failures_in_a_row == 0;
        let large = gets_large_response(self, name, client, None);
        let small = large || gets_large_response(self, name, client, Some(SMALL_SEGMENT));
        // A server that never responds says nothing about the path.
        if small || responds_at_all {
            (self.large_got_response, self.small_got_response) = (Some(large), Some(small));
        }
        // If a router reported an MTU for the large packets, a new connection uses it.
        if let Ok(tcp) = TcpStream::connect_timeout(&self.address, TIMEOUT) {
            self.mtu = path_mtu(&tcp, self.family).or(self.mtu);
        }
        let has_echo_replies = matches!(self.echoes, Ok([_, replies]) if replies > 0);
        let pinger = self.pinger.as_mut().filter(|_| has_echo_replies);
        // The loopback path is not measured.
        let pinger = pinger.filter(|_| !self.address.ip().is_loopback());
        if let Some((pinger, mtu)) = pinger.zip(self.mtu) {
            self.path = path::probe(pinger, mtu, round_trip);
        }
    }

    /// Returns the more common kind of connection failure: `refused`, which takes one round trip,
    /// or `silent`, which takes a timeout.
    pub fn failing(&self) -> &'static str {
        if self.refused >= self.silent {
            "refused"
        } else {
            "silent"
        }
    }

    /// Returns the reason for the last failure of a step.
    pub fn last_failure(&self, failed_step: NetStep) -> Option<&str> {
        let mut last = self.failures.iter().rev();
        let (_, reason) = last.find(|(step, _)| *step == failed_step)?;
        Some(reason)
    }

    /// Returns the reason for the last failure of any step.
    pub fn failure(&self) -> Option<&str> {
        self.failures.last().map(|(_, reason)| reason.as_str())
    }

    /// Records a failure. `after` is the time since the start of the turn.
    fn add_failure(&mut self, step: NetStep, reason: &io::Error, after: Duration) {
        self.failures_in_a_row += 1;
        if step == NetStep::Connect {
            self.failed_after = Some(after);
            match reason.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => {
                    self.refused += 1;
                }
                _ => self.silent += 1,
            }
        }
        self.has_no_route = matches!(
            reason.kind(),
            io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::AddrNotAvailable
        );
        self.failures.push((step, reason.to_string()));
    }
}

/// Runs rounds of turns. With two addresses A and B, a round has four turns in the order A, B, B, A or the reverse.
pub fn take_turns(
    sides: &mut [AddressTurns],
    name: &str,
    tls: bool,
    rounds: u32,
    step: &mut dyn FnMut(u32),
) -> Vec<NetTurn> {
    let client = tls.then(TlsClient::new).and_then(Result::ok);
    // The first packets wait for neighbor discovery (ARP, RFC 826; RFC 4861), so these connections are not measured.
    for side in &*sides {
        let _ = TcpStream::connect_timeout(&side.address, TIMEOUT);
    }
    let mut turns = Vec::new();
    for round in 0..rounds {
        step(round);
        let forward: Vec<usize> = (0..sides.len()).collect();
        let mut order = forward.clone();
        if round % 2 == 1 {
            order.reverse();
        }
        let back: Vec<usize> = order.iter().rev().copied().collect();
        for index in order.into_iter().chain(back) {
            let side = &mut sides[index];
            if side.failures_in_a_row >= MAX_FAILURES {
                continue;
            }
            turns.push(turn(side, name, client.as_ref()));
            if !side.address.ip().is_loopback() {
                thread::sleep(PAUSE);
            }
        }
    }
    // Without an MTU, no connection to the address ever succeeded.
    for side in sides.iter_mut().filter(|side| side.mtu.is_some()) {
        let echoes = turns.iter().filter(|turn| turn.family == side.family);
        let max = echoes.filter_map(|turn| turn.echo).fold(0.0, f64::max);
        let round_trip = Duration::from_nanos(max as u64);
        side.try_large(name, client.as_ref(), round_trip);
    }
    turns
}

fn turn(side: &mut AddressTurns, name: &str, client: Option<&TlsClient>) -> NetTurn {
    let mut round = NetTurn::new(side.family);
    round.lookup = side.lookup(name);
    round.echo = side.echo();
    let began = Instant::now();
    if let Err(reason) = take_steps(side, name, client, ("", None), &mut round) {
        side.add_failure(
            round.failed_step(client.is_some()),
            &reason,
            began.elapsed(),
        );
    } else {
        side.failures_in_a_row = 0;
    }
    round
}

/// Returns true if a request with a header field of 4,000 bytes gets a response.
///
/// The request takes three packets, and a path may drop full-size packets. `segment` limits the
/// size of the segments, in bytes.
fn gets_large_response(
    side: &mut AddressTurns,
    name: &str,
    client: Option<&TlsClient>,
    segment: Option<u32>,
) -> bool {
    let large = format!("X-Large: {}\r\n", "x".repeat(4000));
    let mut round = NetTurn::new(side.family);
    let result = take_steps(side, name, client, (&large, segment), &mut round);
    result.is_ok() && round.first_byte.is_some()
}

fn take_steps(
    side: &mut AddressTurns,
    name: &str,
    client: Option<&TlsClient>,
    (extra_fields, segment): (&str, Option<u32>),
    round: &mut NetTurn,
) -> io::Result<()> {
    let began = Instant::now();
    let tcp = match segment {
        None => TcpStream::connect_timeout(&side.address, TIMEOUT)?,
        Some(bytes) => connect_in_segments(side.address, bytes)?,
    };
    round.connect = Some(began.elapsed().as_nanos() as f64);
    tcp.set_read_timeout(Some(TIMEOUT))?;
    tcp.set_write_timeout(Some(TIMEOUT))?;
    tcp.set_nodelay(true)?;
    side.mtu = path_mtu(&tcp, side.family);
    let request =
        format!("HEAD / HTTP/1.1\r\nHost: {name}\r\n{extra_fields}Connection: close\r\n\r\n");
    match client {
        None => round.first_byte = Some(first_byte(&mut &tcp, &request)?),
        Some(client) => {
            let deadline = || Instant::now() + TIMEOUT;
            let stream = client.begin(name, tcp, deadline());
            let mut stream = stream.map_err(io::Error::other)?;
            let began = Instant::now();
            stream.handshake()?;
            round.tls = Some(began.elapsed().as_nanos() as f64);
            stream.set_deadline(deadline());
            round.first_byte = Some(first_byte(&mut stream, &request)?);
        }
    }
    Ok(())
}

/// Opens a connection whose packets carry at most `bytes` bytes of payload in each direction.
fn connect_in_segments(address: SocketAddr, bytes: u32) -> io::Result<TcpStream> {
    let domain = match IpFamily::from_address(&address) {
        IpFamily::V4 => AddressFamily::Inet,
        IpFamily::V6 => AddressFamily::Inet6,
    };
    let fd = socket(domain, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&fd, TcpMaxSeg, &bytes)?;
    // The timeout applies to connect(2), too (socket(7)).
    setsockopt(&fd, SendTimeout, &TimeVal::new(TIMEOUT.as_secs() as i64, 0))?;
    connect(fd.as_raw_fd(), &SockaddrStorage::from(address))?;
    Ok(TcpStream::from(fd))
}

fn first_byte(stream: &mut (impl Read + Write), request: &str) -> io::Result<f64> {
    let began = Instant::now();
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    match stream.read(&mut [0]) {
        Ok(0) => Err(io::Error::other("the connection was closed")),
        Ok(_) => Ok(began.elapsed().as_nanos() as f64),
        Err(e) if is_timeout(&e) => {
            Err(io::Error::other(format!("no response within {TIMEOUT:?}")))
        }
        Err(e) => Err(e),
    }
}

/// Returns IP_MTU or IPV6_MTU of a connected socket (ip(7), ipv6(7)).
fn path_mtu(stream: &TcpStream, family: IpFamily) -> Option<u32> {
    let (level, name) = match family {
        IpFamily::V4 => (libc::IPPROTO_IP, libc::IP_MTU),
        IpFamily::V6 => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mut mtu: libc::c_int = 0;
    let mut size = std::mem::size_of_val(&mtu) as libc::socklen_t;
    // SAFETY: the descriptor is open, and `mtu` has the given size.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            level,
            name,
            (&raw mut mtu).cast(),
            &mut size,
        )
    };
    u32::try_from(mtu)
        .ok()
        .filter(|mtu| status == 0 && *mtu > 0)
}

/// Responds to every request with one line, until the process exits.
pub fn respond(listener: TcpListener) {
    let listener = Arc::new(listener);
    // While one connection waits for a packet that never arrives, the other threads still respond.
    for _ in 0..AT_ONCE {
        let listener = Arc::clone(&listener);
        thread::spawn(move || {
            listener
                .incoming()
                .flatten()
                .for_each(respond_to_connection)
        });
    }
}

fn respond_to_connection(mut stream: TcpStream) {
    let (mut request, mut buffer) = (Vec::new(), [0; 8192]);
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(n @ 1..) => request.extend_from_slice(&buffer[..n]),
            _ => return,
        }
    }
    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
}
