// SPDX-License-Identifier: Apache-2.0
//! The canonical name and the reverse name of an address, and the system's resolvers.

use dns_lookup::{
    AddrInfo, AddrInfoHints, LookupError, LookupErrorKind, SockType, getaddrinfo, lookup_addr,
};
use lab_load::IpFamily;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The time after which a resolver counts as not responding.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The names related to one address of a host name.
pub struct AddressNames {
    /// The canonical name, at the end of the chain of CNAME records.
    pub canonical: Option<String>,
    /// The reverse name (from a PTR record or /etc/hosts), or the reason it is unknown.
    pub reverse: Result<Option<String>, String>,
}

impl Default for AddressNames {
    fn default() -> AddressNames {
        AddressNames {
            canonical: None,
            reverse: Ok(None),
        }
    }
}

impl AddressNames {
    /// Looks up the names for one family. `address` is the first address of that family.
    pub fn look_up(name: &str, address: IpAddr, family: IpFamily) -> AddressNames {
        AddressNames {
            canonical: canonical_name(name, family),
            reverse: reverse_lookup(address),
        }
    }

    /// Returns the reverse name, if the address has a reverse name.
    pub fn reverse_name(&self) -> Option<&str> {
        self.reverse.as_ref().ok()?.as_deref()
    }
}

fn hints(family: IpFamily, flags: i32) -> AddrInfoHints {
    AddrInfoHints {
        flags,
        address: match family {
            IpFamily::V4 => libc::AF_INET,
            IpFamily::V6 => libc::AF_INET6,
        },
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    }
}

fn canonical_name(name: &str, family: IpFamily) -> Option<String> {
    let hints = hints(family, libc::AI_CANONNAME);
    let mut infos = getaddrinfo(Some(name), None, Some(hints)).ok()?;
    let first = infos.next()?.ok()?;
    first
        .canonname
        .filter(|name| name.parse::<IpAddr>().is_err())
}

fn reverse_lookup(address: IpAddr) -> Result<Option<String>, String> {
    match lookup_addr(&address) {
        Ok(name) => Ok(Some(name).filter(|name| name.parse::<IpAddr>().is_err())),
        Err(e) if is_no_such_name(&e) => Ok(None),
        Err(e) => Err(format!(
            "The name of the address could not be looked up: {}.",
            io::Error::from(e)
        )),
    }
}

/// Returns a name's addresses in the order in which the system tries them (RFC 6724).
///
/// The result is empty if the name has no address. Returns an error if no resolver responded.
pub fn addresses(name: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let hints = AddrInfoHints {
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    };
    let to_address = |info: io::Result<AddrInfo>| {
        let mut address = info.ok()?.sockaddr;
        address.set_port(port);
        Some(address)
    };
    match getaddrinfo(Some(name), None, Some(hints)) {
        Ok(infos) => Ok(infos.filter_map(to_address).collect()),
        Err(e) if is_no_such_name(&e) => Ok(Vec::new()),
        Err(e) => Err(io::Error::from(e).to_string()),
    }
}

/// Returns true if a resolver reported that the name does not exist. Unreachable resolvers cause a
/// different error, `EAI_AGAIN`.
fn is_no_such_name(error: &LookupError) -> bool {
    matches!(
        error.kind(),
        LookupErrorKind::NoName | LookupErrorKind::NoData
    )
}

/// Measures the lookup of a name's addresses in one family, in ns. Returns `None` if the lookup fails.
pub fn lookup(name: &str, family: IpFamily) -> Option<f64> {
    let began = Instant::now();
    let mut infos = getaddrinfo(Some(name), None, Some(hints(family, 0))).ok()?;
    infos.next()?.ok()?;
    Some(began.elapsed().as_nanos() as f64)
}

/// Parses the resolver addresses in the text of /etc/resolv.conf.
pub fn resolvers(text: &str) -> Vec<IpAddr> {
    let nameserver = |line: &str| {
        let mut words = line.split_whitespace();
        let is_nameserver = words.next()? == "nameserver";
        words.next()?.parse().ok().filter(|_| is_nameserver)
    };
    text.lines().filter_map(nameserver).collect()
}

/// Returns true if a resolver responds to a query for the root servers (RFC 1035, 4.1).
///
/// Returns a sentence as an error if this machine has no route to the resolver.
pub fn responds(resolver: IpAddr) -> Result<bool, String> {
    const QUESTION: [u8; 17] = [0x5a, 0x21, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];
    let local = if resolver.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let connect = || -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(SocketAddr::new(resolver, 53))?;
        Ok(socket)
    };
    let no_way = |e: io::Error| format!("This machine has no route to {resolver}: {e}.");
    let socket = connect().map_err(no_way)?;
    let exchange = || -> io::Result<bool> {
        socket.set_read_timeout(Some(TIMEOUT))?;
        socket.send(&QUESTION)?;
        let mut buffer = [0; 1500];
        let length = socket.recv(&mut buffer)?;
        Ok(length >= 12 && buffer[..2] == QUESTION[..2] && buffer[2] & 0x80 != 0)
    };
    Ok(exchange().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests a resolver on the loopback interface of the test's own network namespace, and a
    /// resolver without a route.
    #[test]
    fn a_responding_resolver_is_distinguished_from_an_unreachable_one() {
        use lab_host::namespace::Namespace;
        let Ok(space) = Namespace::new() else {
            return println!("skipped: it requires root");
        };
        let results = space.run_inside(|| {
            let server = UdpSocket::bind("[::1]:53").expect("a port");
            std::thread::spawn(move || {
                let mut buffer = [0; 512];
                let (length, from) = server.recv_from(&mut buffer).expect("a question");
                buffer[2] |= 0x80;
                server.send_to(&buffer[..length], from).expect("an answer");
            });
            let answers_at = |address: &str| responds(address.parse().expect("an address"));
            (answers_at("::1"), answers_at("2001:db8::53"))
        });
        let (answering, unreachable) = results.expect("a namespace");
        assert_eq!(answering, Ok(true));
        assert!(unreachable.is_err_and(|reason| reason.contains("no route to 2001:db8::53")));
    }

    #[test]
    fn resolvers_are_read() {
        let text = "# nameserver 9.9.9.9\nsearch example.org\nnameserver 127.0.0.53\nnameserver 2001:db8::53\nnameserver\n";
        let expected: [IpAddr; 2] = [
            "127.0.0.53".parse().expect("v4"),
            "2001:db8::53".parse().expect("v6"),
        ];
        assert_eq!(resolvers(text), expected);
    }
}
