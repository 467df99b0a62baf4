// SPDX-License-Identifier: Apache-2.0
//! Reads the kernel's network counters from `/proc/net/netstat` and `/proc/net/snmp` (proc(5)).
//!
//! The counters cover this process's network namespace since the namespace was created.

use std::fs;

/// Returns a counter from the text of `/proc/net/netstat` or `/proc/net/snmp`.
///
/// The files have a line of names and a line of numbers, both with the same prefix, such as
/// `TcpExt:`.
pub fn counter(text: &str, prefix: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
    let column = lines.next()?.split_whitespace().position(|n| n == name)?;
    lines.next()?.split_whitespace().nth(column)?.parse().ok()
}

/// Returns the number of times that the accept queue of a listening socket was full.
pub fn queue_overflows() -> Option<u64> {
    let text = fs::read_to_string("/proc/net/netstat").ok()?;
    counter(&text, "TcpExt:", "ListenOverflows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_the_line_of_names() {
        let text = "TcpExt: A ListenOverflows B\nTcpExt: 1 22 3\nIpExt: X\nIpExt: 9\n";
        assert_eq!(counter(text, "TcpExt:", "ListenOverflows"), Some(22));
        assert_eq!(counter(text, "TcpExt:", "ListenDrops"), None);
    }
}
