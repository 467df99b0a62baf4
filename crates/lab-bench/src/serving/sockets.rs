// SPDX-License-Identifier: Apache-2.0
//! The connections that a server has, as the kernel tells (proc(5), `/proc/net/tcp`).

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

/// `ESTABLISHED` in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";

/// How many connections a server at an address of this machine has; `None`: it cannot be read.
pub fn established(server: SocketAddr) -> Option<usize> {
    let IpAddr::V4(address) = server.ip() else {
        return None;
    };
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    // The address is one number in the machine's order of bytes.
    let number = u32::from_ne_bytes(address.octets());
    let wanted = format!("{number:08X}:{:04X}", server.port());
    // While connections come and go elsewhere, a line may be read twice.
    let peer = |line: &'_ str| {
        let mut words = line.split_whitespace().skip(1);
        let mine = words.next() == Some(&wanted);
        let peer = words.next()?.to_owned();
        (mine && words.next() == Some(ESTABLISHED)).then_some(peer)
    };
    let peers: HashSet<String> = table.lines().filter_map(peer).collect();
    Some(peers.len())
}
