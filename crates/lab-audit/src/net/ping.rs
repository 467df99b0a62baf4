// SPDX-License-Identifier: Apache-2.0
//! ICMP echo requests (RFC 792, RFC 4443). They measure the round-trip time, the number of hops (from the TTL of the
//! reply) and the MTU.

use lab_load::IpFamily;
use nix::errno::Errno;
use nix::sys::socket::sockopt::{
    Ipv4RecvErr, Ipv4RecvTtl, Ipv6DontFrag, Ipv6RecvErr, Ipv6RecvHopLimit, ReceiveTimeout,
};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType,
    SockaddrStorage, connect, recvmsg, send, setsockopt, socket,
};
use nix::sys::time::TimeVal;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// The time after which an echo request without a reply counts as lost.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The number of payload bytes after the header. The default of ping(8) is the same.
const PAYLOAD: usize = 56;
/// The size of the ICMP header in bytes.
const HEADER: usize = 8;
/// The size of the receive buffer, and thus of the largest packet that can be received, in bytes.
const MAX_PACKET: usize = 16 * 1024;

/// Sends echo requests to one address.
pub struct Pinger {
    socket: OwnedFd,
    family: IpFamily,
    sequence: u16,
}

/// A reply to an echo request.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// The round-trip time in ns.
    pub ns: f64,
    /// The number of routers on the return path, or `None` if unknown. The number assumes that the
    /// sender uses a common initial TTL.
    pub hops: Option<u8>,
}

/// The result of an echo request of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoProbe {
    /// A reply arrived.
    Answered,
    /// The packet is too large for this machine's own network interface.
    OwnLink,
    /// A router reported that the packet is too large, with the maximum size in bytes.
    Refused(u32),
    /// No reply arrived in time.
    Lost,
}

/// A received packet.
enum Packet {
    /// The reply to the last request, with the reply's TTL if the kernel reports the TTL.
    Reply {
        ttl: Option<u8>,
    },
    Other,
}

impl Pinger {
    /// Opens a socket for an address. Returns a message if the user lacks the permission.
    pub fn open(address: SocketAddr) -> Result<Pinger, String> {
        let family = IpFamily::from_address(&address);
        let (domain, protocol) = match family {
            IpFamily::V4 => (AddressFamily::Inet, SockProtocol::Icmp),
            IpFamily::V6 => (AddressFamily::Inet6, SockProtocol::IcmpV6),
        };
        // Ping sockets need no root privileges if net.ipv4.ping_group_range includes the user's group (icmp(7)).
        let open = |kind| socket(domain, kind, SockFlag::SOCK_CLOEXEC, protocol);
        let opened = open(SockType::Datagram).or_else(|_| open(SockType::Raw));
        let socket = opened.map_err(
            |_| "ICMP requires root, or a net.ipv4.ping_group_range that includes the user's group",
        )?;
        let icmp_error = |e: nix::Error| format!("ICMP: {e}");
        let timeout = TimeVal::new(TIMEOUT.as_secs() as i64, 0);
        setsockopt(&socket, ReceiveTimeout, &timeout).map_err(icmp_error)?;
        match family {
            IpFamily::V4 => setsockopt(&socket, Ipv4RecvTtl, &true).map_err(icmp_error)?,
            IpFamily::V6 => setsockopt(&socket, Ipv6RecvHopLimit, &true).map_err(icmp_error)?,
        }
        let peer = SockaddrStorage::from(SocketAddr::new(address.ip(), 0));
        connect(socket.as_raw_fd(), &peer).map_err(icmp_error)?;
        Ok(Pinger {
            socket,
            family,
            sequence: 0,
        })
    }

    /// Returns the family of the address.
    pub fn family(&self) -> IpFamily {
        self.family
    }

    /// Forbids fragmentation by routers and by this machine, regardless of the path MTU that the kernel has cached.
    pub fn forbid_fragmentation(&self) -> nix::Result<()> {
        let socket = &self.socket;
        match self.family {
            IpFamily::V4 => {
                setsockopt(socket, Ipv4RecvErr, &true)?;
                set_mtu_discovery(
                    socket,
                    libc::IPPROTO_IP,
                    libc::IP_MTU_DISCOVER,
                    libc::IP_PMTUDISC_PROBE,
                )
            }
            IpFamily::V6 => {
                setsockopt(socket, Ipv6RecvErr, &true)?;
                setsockopt(socket, Ipv6DontFrag, &true)?;
                let probe = libc::IPV6_PMTUDISC_PROBE;
                set_mtu_discovery(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, probe)
            }
        }
    }

    /// Sends a request of the given size in bytes, including the IP header.
    pub fn probe(&mut self, bytes: u32, timeout: Duration) -> EchoProbe {
        self.sequence = self.sequence.wrapping_add(1);
        let headers = HEADER + if self.family == IpFamily::V4 { 20 } else { 40 };
        let request = self.request((bytes as usize).saturating_sub(headers));
        // Discards the errors of earlier requests.
        while self.reported_mtu().is_some() {}
        let began = Instant::now();
        let sent = || send(self.socket.as_raw_fd(), &request, MsgFlags::empty());
        // The first attempt may fail with the error of an earlier request.
        match sent().or_else(|_| sent()) {
            Err(Errno::EMSGSIZE) => return EchoProbe::OwnLink,
            Err(_) => return EchoProbe::Lost,
            Ok(_) => {}
        }
        while let Some(left) = timeout.checked_sub(began.elapsed()) {
            let wait = TimeVal::new(0, left.as_micros().clamp(1000, 999_999) as i64);
            if setsockopt(&self.socket, ReceiveTimeout, &wait).is_err() {
                return EchoProbe::Lost;
            }
            match (self.reported_mtu(), self.receive()) {
                (Some(mtu), _) => return EchoProbe::Refused(mtu),
                (None, Some(Packet::Reply { .. })) => return EchoProbe::Answered,
                (None, _) => {}
            }
        }
        self.reported_mtu()
            .map_or(EchoProbe::Lost, EchoProbe::Refused)
    }

    /// Returns the MTU that a router reported with ICMP, if any.
    fn reported_mtu(&self) -> Option<u32> {
        // The control message with the hop limit comes before the error, so the buffer has room for both.
        let mut control_buffer = nix::cmsg_space!(i32, libc::sock_extended_err, libc::sockaddr_in6);
        let mut buffer = [0; 64];
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let fd = self.socket.as_raw_fd();
        let received =
            recvmsg::<SockaddrStorage>(fd, &mut parts, Some(&mut control_buffer), flags).ok()?;
        let errors = received.cmsgs().ok()?.filter_map(|message| match message {
            ControlMessageOwned::Ipv4RecvErr(error, _) => Some(error),
            ControlMessageOwned::Ipv6RecvErr(error, _) => Some(error),
            _ => None,
        });
        let mut too_large = errors.filter(|error| error.ee_errno == libc::EMSGSIZE as u32);
        too_large.next().map(|error| error.ee_info)
    }

    /// Sends one request. Returns `None` if no reply arrives in time.
    pub fn echo(&mut self) -> Option<Echo> {
        self.sequence = self.sequence.wrapping_add(1);
        let began = Instant::now();
        let request = self.request(PAYLOAD);
        send(self.socket.as_raw_fd(), &request, MsgFlags::empty()).ok()?;
        while began.elapsed() < TIMEOUT {
            if let Packet::Reply { ttl } = self.receive()? {
                return Some(Echo {
                    ns: began.elapsed().as_nanos() as f64,
                    hops: ttl.map(hops),
                });
            }
        }
        None
    }

    fn request(&self, payload: usize) -> Vec<u8> {
        let kind = if self.family == IpFamily::V4 { 8 } else { 128 };
        let mut packet = vec![kind, 0, 0, 0];
        packet.extend((std::process::id() as u16).to_be_bytes());
        packet.extend(self.sequence.to_be_bytes());
        packet.resize(HEADER + payload, 0);
        let sum = checksum(&packet).to_be_bytes();
        // The kernel overwrites the checksum of ICMPv6.
        packet[2..4].copy_from_slice(&sum);
        packet
    }

    /// Receives the next packet. Returns `None` if no packet arrives in time.
    fn receive(&self) -> Option<Packet> {
        let (mut buffer, mut control_buffer) = (vec![0; MAX_PACKET], nix::cmsg_space!(i32));
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let fd = self.socket.as_raw_fd();
        let received = recvmsg::<SockaddrStorage>(
            fd,
            &mut parts,
            Some(&mut control_buffer),
            MsgFlags::empty(),
        );
        let received = received.ok()?;
        let ttl = received.cmsgs().ok().and_then(|mut all| {
            all.find_map(|message| match message {
                ControlMessageOwned::Ipv4Ttl(ttl) | ControlMessageOwned::Ipv6HopLimit(ttl) => {
                    u8::try_from(ttl).ok()
                }
                _ => None,
            })
        });
        let length = received.bytes;
        let packet = &buffer[..length];
        Some(if is_reply(packet, self.family, self.sequence) {
            Packet::Reply { ttl }
        } else {
            Packet::Other
        })
    }
}

/// Sets how a socket treats the path MTU (ip(7), ipv6(7)).
fn set_mtu_discovery(socket: &OwnedFd, level: i32, option: i32, value: i32) -> nix::Result<()> {
    let size = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the descriptor is open, and `value` has the given size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size,
        )
    };
    Errno::result(result).map(drop)
}

/// Returns true if a packet is the reply to a request. Raw IPv4 sockets receive the IP header, too (raw(7)).
fn is_reply(packet: &[u8], family: IpFamily, sequence: u16) -> bool {
    let skipped = match (family, packet.first()) {
        (IpFamily::V4, Some(first)) if first >> 4 == 4 => usize::from(first & 15) * 4,
        _ => 0,
    };
    let kind = if family == IpFamily::V4 { 0 } else { 129 };
    let header = packet.get(skipped..skipped + 8);
    header.is_some_and(|h| h[0] == kind && h[6..8] == sequence.to_be_bytes())
}

/// Returns the number of routers that a packet passed, assuming an initial TTL of 64, 128 or 255.
fn hops(ttl: u8) -> u8 {
    let begin = [64, 128, 255].into_iter().find(|begin| ttl <= *begin);
    begin.unwrap_or(255) - ttl
}

/// Computes the Internet checksum (RFC 1071).
fn checksum(packet: &[u8]) -> u16 {
    let words = packet.chunks(2).map(|pair| {
        let low = pair.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([pair[0], low]))
    });
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_summed_and_recognized() {
        // The example from RFC 1071, section 3.
        assert_eq!(checksum(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        let reply = [0, 0, 0, 0, 1, 2, 0, 7];
        assert!(is_reply(&reply, IpFamily::V4, 7) && !is_reply(&reply, IpFamily::V4, 8));
        let mut raw = vec![0x45];
        raw.extend([0; 19]);
        raw.extend(reply);
        assert!(is_reply(&raw, IpFamily::V4, 7));
        assert!(!is_reply(&[0x4f], IpFamily::V4, 7) && !is_reply(&[], IpFamily::V6, 7));
        assert_eq!([hops(64), hops(55), hops(118), hops(240)], [0, 9, 10, 15]);
    }
}
