// SPDX-License-Identifier: Apache-2.0
//! Counts a server's connections in the kernel's tables (proc(5), `/proc/net/tcp`).

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

/// `ESTABLISHED` in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";

/// Returns the number of open connections to a server at an address of this machine, or `None` if
/// it cannot be read.
///
/// A server that listens on an IPv6 socket also accepts IPv4 connections.
pub fn established(server: SocketAddr) -> Option<usize> {
    let IpAddr::V4(address) = server.ip() else {
        return None;
    };
    let read = |table: &str| std::fs::read_to_string(format!("/proc/net/{table}"));
    let tables = [read("tcp").ok()?, read("tcp6").unwrap_or_default()];
    // The address is a native-endian number. In IPv6, it is the last of four numbers.
    let number = u32::from_ne_bytes(address.octets());
    let mapped = u32::from_ne_bytes([0, 0, 0xFF, 0xFF]);
    let port = server.port();
    let local_addresses = [
        format!("{number:08X}:{port:04X}"),
        format!("{:016X}{mapped:08X}{number:08X}:{port:04X}", 0),
    ];
    // A line may appear twice if other connections open and close during the reading.
    let peer = |line: &'_ str| {
        let mut words = line.split_whitespace().skip(1);
        let is_own = words
            .next()
            .is_some_and(|local| local_addresses.iter().any(|w| w == local));
        let peer = words.next()?.to_owned();
        (is_own && words.next() == Some(ESTABLISHED)).then_some(peer)
    };
    let lines = tables.iter().flat_map(|table| table.lines());
    let peers: HashSet<String> = lines.filter_map(peer).collect();
    Some(peers.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn connections_are_seen_whatever_the_server_s_socket_is() {
        for (listens, loaded) in [("127.0.0.1:0", "127.0.0.1"), ("[::]:0", "127.0.0.1")] {
            let Ok(listener) = TcpListener::bind(listens) else {
                // The machine does not support IPv6.
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let address = SocketAddr::new(loaded.parse().unwrap(), port);
            assert_eq!(established(address), Some(0));
            let clients: Vec<_> = (0..3)
                .map(|_| TcpStream::connect(address).unwrap())
                .collect();
            let served: Vec<_> = (0..3).map(|_| listener.accept().unwrap()).collect();
            assert_eq!(established(address), Some(3), "{listens}");
            drop((clients, served));
        }
    }
}
