// SPDX-License-Identifier: Apache-2.0
//! Listeners in another network namespace.

use super::turns;
use lab_host::namespace::Namespace;
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

/// The timeout for an address to become usable.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Responds to requests at two addresses of a namespace until the process exits.
///
/// Returns the addresses with their ports.
///
/// # Errors
///
/// Returns a message if a listener cannot be created.
pub fn listen(space: &Namespace, addresses: [&str; 2]) -> Result<[SocketAddr; 2], String> {
    let bind_all = || -> Result<Vec<TcpListener>, String> {
        let listeners = addresses.iter().map(|address| listener(address));
        listeners.collect()
    };
    let listeners = space.run_inside(bind_all)??;
    let bound = listeners.iter().map(TcpListener::local_addr);
    let bound: Result<Vec<SocketAddr>, _> = bound.collect();
    let bound = bound.map_err(|e| e.to_string())?;
    listeners.into_iter().for_each(turns::respond);
    <[SocketAddr; 2]>::try_from(bound).map_err(|_| "a listener is missing".into())
}

fn listener(address: &str) -> Result<TcpListener, String> {
    let address = SocketAddr::new(
        address
            .parse()
            .map_err(|_| format!("{address} is not an IP address"))?,
        0,
    );
    let limit = Instant::now() + TIMEOUT;
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return Ok(listener),
            Err(e) if Instant::now() > limit => return Err(format!("{address}: {e}")),
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}
