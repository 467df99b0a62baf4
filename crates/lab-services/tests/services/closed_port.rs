// SPDX-License-Identifier: Apache-2.0
//! Ports on which nothing listens.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Returns a port of 127.0.0.1 on which nothing listens.
///
/// It is below the ports that the kernel chooses for connections and servers (ip(7),
/// `ip_local_port_range`), so no other program uses it by chance.
pub fn closed_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Relaxed);
        // Concurrent test programs start far apart.
        let offset = std::process::id().wrapping_mul(7919).wrapping_add(number);
        let port = 10_000 + (offset % 20_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
