// SPDX-License-Identifier: Apache-2.0
//! Names around an address: what it is an alias of, what the address is called, who resolves.

use super::Family;
use dns_lookup::{AddrInfoHints, SockType, getaddrinfo, lookup_addr};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// A resolver that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name at the end of a name's CNAME records, for one family.
pub fn canonical(name: &str, family: Family) -> Option<String> {
    let hints = AddrInfoHints {
        flags: libc::AI_CANONNAME,
        address: match family {
            Family::V4 => libc::AF_INET,
            Family::V6 => libc::AF_INET6,
        },
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    };
    let mut found = getaddrinfo(Some(name), None, Some(hints)).ok()?;
    let first = found.next()?.ok()?;
    first
        .canonname
        .filter(|name| name.parse::<IpAddr>().is_err())
}

/// The name of an address (a PTR record, or /etc/hosts).
pub fn reverse(address: IpAddr) -> Option<String> {
    let name = lookup_addr(&address).ok()?;
    name.parse::<IpAddr>().is_err().then_some(name)
}

/// The resolvers of /etc/resolv.conf.
pub fn resolvers(text: &str) -> Vec<IpAddr> {
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let is = words.next()? == "nameserver";
        words.next()?.parse().ok().filter(|_| is)
    };
    text.lines().filter_map(of).collect()
}

/// Whether a resolver answers a question for the root's servers (RFC 1035, 4.1).
pub fn answers(resolver: IpAddr) -> bool {
    const QUESTION: [u8; 17] = [0x5a, 0x21, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];
    let own = if resolver.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let asked = || -> std::io::Result<bool> {
        let socket = UdpSocket::bind(own)?;
        socket.connect(SocketAddr::new(resolver, 53))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.send(&QUESTION)?;
        let mut room = [0; 1500];
        let length = socket.recv(&mut room)?;
        Ok(length >= 12 && room[..2] == QUESTION[..2] && room[2] & 0x80 != 0)
    };
    asked().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolvers_are_read() {
        let text = "# nameserver 9.9.9.9\nsearch example.org\nnameserver 127.0.0.53\nnameserver 2001:db8::53\nnameserver\n";
        let wanted: [IpAddr; 2] = [
            "127.0.0.53".parse().expect("v4"),
            "2001:db8::53".parse().expect("v6"),
        ];
        assert_eq!(resolvers(text), wanted);
    }
}
