// SPDX-License-Identifier: Apache-2.0
//! Relays traffic between a subject and its server, and drops some responses to COMMIT.

use super::commits::Commits;
use super::outage::{FirstAnswer, FirstCommit};
use crate::host::sys;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

/// The maximum number of bytes per read.
const PIECE: usize = 16 * 1024;

/// Listens on a port of the loopback interface. Dropping it closes its connections.
pub struct Proxy {
    port: u16,
    shared: Arc<ProxyState>,
}

struct ProxyState {
    server: (String, u16),
    /// The parser for new connections.
    commits: Commits,
    /// A function that returns true if the response to the COMMIT with this number must be dropped.
    drops_answer: Box<dyn Fn(u64) -> bool + Send + Sync>,
    commit_count: AtomicU64,
    /// The number of chunks sent by clients.
    requests: AtomicU64,
    /// The number of chunks that got a response.
    round_trips: AtomicU64,
    is_closed: AtomicBool,
    connections: Mutex<BTreeMap<u64, Arc<ProxiedConnection>>>,
    /// The first COMMIT on a connection that was opened since the last call of `await_first_commit`.
    first_commit: Mutex<Arc<OnceLock<FirstCommit>>>,
}

struct ProxiedConnection {
    client: TcpStream,
    server: TcpStream,
    first_answer: OnceLock<FirstAnswer>,
    /// The first COMMIT on this connection, or on any other connection opened since the same
    /// outage.
    first_commit: Arc<OnceLock<FirstCommit>>,
    /// True if the next response is dropped.
    drops_answer: AtomicBool,
    /// True if the client has sent something since the last response.
    awaits_answer: AtomicBool,
}

impl Proxy {
    /// Starts listening for connections to a server.
    pub fn start(
        server: (String, u16),
        commits: Commits,
        drops_answer: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(ProxyState {
            server,
            commits,
            drops_answer: Box::new(drops_answer),
            commit_count: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            round_trips: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            connections: Mutex::default(),
            first_commit: Mutex::default(),
        });
        let accepting = shared.clone();
        thread::spawn(move || accepting.accept(&listener));
        Ok(Proxy { port, shared })
    }

    /// Returns the listening port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of COMMITs seen.
    pub fn commits(&self) -> u64 {
        self.shared.commit_count.load(Ordering::Relaxed)
    }

    /// Returns the number of requests relayed. Everything that a client sends at once counts as one request.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of responses to client requests.
    ///
    /// Multiple chunks sent before a response count once, and so do multiple chunks of a response.
    pub fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::Relaxed)
    }

    /// Forgets the first COMMIT. COMMITs on connections that are already open do not count.
    pub fn await_first_commit(&self) {
        *self.shared.first_commit() = Arc::default();
    }

    /// Returns the first COMMIT since the last call of [`Proxy::await_first_commit`].
    pub fn first_commit(&self) -> Option<FirstCommit> {
        self.shared.first_commit().get().copied()
    }

    /// Returns the local ports of the connections to the server.
    pub fn server_ports(&self) -> Vec<u16> {
        let connections = self.shared.connections();
        let ports = connections.values().map(|c| c.server.local_addr());
        ports.flatten().map(|address| address.port()).collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Release);
        // Wake the accepting thread.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        self.shared.connections().values().for_each(|c| c.close());
    }
}

impl ProxyState {
    fn connections(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<ProxiedConnection>>> {
        let connections = self.connections.lock();
        connections.unwrap_or_else(PoisonError::into_inner)
    }

    fn first_commit(&self) -> std::sync::MutexGuard<'_, Arc<OnceLock<FirstCommit>>> {
        let first_commit = self.first_commit.lock();
        first_commit.unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<Self>, listener: &TcpListener) {
        sys::leave_measured_core();
        for (number, client) in (0..).zip(listener.incoming()) {
            if self.is_closed.load(Ordering::Acquire) {
                return;
            }
            // If relaying fails, the client sees a closed connection.
            if let Ok(client) = client {
                let _ = self.clone().connect(number, client);
            }
        }
    }

    fn connect(self: Arc<Self>, number: u64, client: TcpStream) -> io::Result<()> {
        let (host, port) = &self.server;
        // Read this before connecting, because the server may be killed in between.
        let first_commit = self.first_commit().clone();
        let server = TcpStream::connect((host.as_str(), *port))?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let connection = Arc::new(ProxiedConnection {
            client,
            server,
            first_answer: OnceLock::new(),
            first_commit,
            drops_answer: AtomicBool::new(false),
            awaits_answer: AtomicBool::new(false),
        });
        self.connections().insert(number, connection.clone());
        let (up, down) = (connection.clone(), connection);
        let (shared, counting) = (self.clone(), self.clone());
        thread::spawn(move || {
            let _ = shared.send_up(&up);
            up.close();
            shared.connections().remove(&number);
        });
        thread::spawn(move || {
            let _ = counting.send_down(&down);
            down.close();
        });
        Ok(())
    }

    /// Relays data from the client to the server.
    fn send_up(&self, connection: &ProxiedConnection) -> io::Result<()> {
        let mut commits = self.commits.clone();
        let mut piece = [0; PIECE];
        loop {
            let length = (&connection.client).read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            self.requests.fetch_add(1, Ordering::Relaxed);
            for _ in 0..commits.count(&piece[..length]) {
                connection.first_commit.get_or_init(|| FirstCommit {
                    at: Instant::now(),
                    answer: connection.first_answer.get().copied(),
                });
                if (self.drops_answer)(self.commit_count.fetch_add(1, Ordering::Relaxed)) {
                    // Set this before the server can respond.
                    connection.drops_answer.store(true, Ordering::Release);
                }
            }
            connection.awaits_answer.store(true, Ordering::Release);
            (&connection.server).write_all(&piece[..length])?;
        }
    }

    /// Relays data from the server to the client, until a response is dropped.
    fn send_down(&self, connection: &ProxiedConnection) -> io::Result<()> {
        let mut piece = [0; PIECE];
        loop {
            let length = (&connection.server).read(&mut piece)?;
            if length == 0 || connection.drops_answer.load(Ordering::Acquire) {
                return Ok(());
            }
            connection.first_answer.get_or_init(|| FirstAnswer {
                at: Instant::now(),
                requests: self.requests.load(Ordering::Relaxed),
            });
            let is_answer = connection.awaits_answer.swap(false, Ordering::AcqRel);
            self.round_trips
                .fetch_add(u64::from(is_answer), Ordering::Relaxed);
            (&connection.client).write_all(&piece[..length])?;
        }
    }
}

impl ProxiedConnection {
    fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::TargetKind;

    const COMMIT: &[u8] = b"\x07\0\0\0\x03COMMIT";
    const OTHER: &[u8] = b"\x07\0\0\0\x03SELECT";

    /// Returns the port of a server that sends a greeting and then responds to each packet of 11 bytes with one byte.
    fn server() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                thread::spawn(move || {
                    let mut packet = [0; 11];
                    while client.write_all(b"!").is_ok() && client.read_exact(&mut packet).is_ok() {
                    }
                });
            }
        });
        port
    }

    fn answer(client: &mut TcpStream) {
        client.read_exact(&mut [0]).unwrap();
    }

    #[test]
    fn the_first_commit_after_an_outage_is_over_a_new_connection() {
        let server = ("127.0.0.1".to_owned(), server());
        let proxy = Proxy::start(server, Commits::of(TargetKind::Mariadb), |_| false).unwrap();
        let connect = || {
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
            answer(&mut client);
            client
        };
        let commit = |client: &mut TcpStream| {
            client.write_all(COMMIT).unwrap();
            answer(client);
        };
        let mut earlier = connect();
        commit(&mut earlier);
        assert!(proxy.first_commit().is_some());
        proxy.await_first_commit();
        commit(&mut earlier);
        assert_eq!(proxy.first_commit(), None);
        let began = Instant::now();
        let mut later = connect();
        later.write_all(OTHER).unwrap();
        answer(&mut later);
        assert_eq!(proxy.first_commit(), None);
        commit(&mut later);
        let first = proxy.first_commit().unwrap();
        let first_answer = first.answer.unwrap();
        assert!(began < first_answer.at && first_answer.at < first.at);
        assert_eq!(first_answer.requests, 2);
        commit(&mut later);
        assert_eq!(proxy.first_commit(), Some(first));
        assert_eq!(proxy.commits(), 4);
    }
}
