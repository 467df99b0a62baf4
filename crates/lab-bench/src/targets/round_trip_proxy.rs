// SPDX-License-Identifier: Apache-2.0
//! Relays traffic between a subject and its server, and counts how often the subject waits for the server.

use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use lab_services::Service;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The maximum number of bytes per read.
const PIECE: usize = 16 * 1024;

/// A proxy that listens on a port of the loopback interface. Dropping it closes its connections.
pub struct RoundTripProxy {
    port: u16,
    shared: Arc<ProxyState>,
}

struct ProxyState {
    server: (String, u16),
    /// The number of requests that the server has responded to.
    round_trips: AtomicU64,
    is_closed: AtomicBool,
    connections: Mutex<Vec<Arc<ProxiedConnection>>>,
}

struct ProxiedConnection {
    client: TcpStream,
    server: TcpStream,
    /// True if the client has sent something since the last response.
    awaits_response: AtomicBool,
}

impl RoundTripProxy {
    /// Starts to listen for connections, which are relayed to a server.
    pub fn start(service: &Service) -> SubjectResult<RoundTripProxy> {
        let fault = |reason: String| Fault::Failed("target", reason);
        let server = service.endpoint();
        let server = server.ok_or_else(|| fault("the server has no TCP port".into()))?;
        let listen = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            Ok((listener.local_addr()?.port(), listener))
        };
        let (port, listener) =
            listen().map_err(|e: io::Error| fault(format!("cannot start the proxy: {e}")))?;
        let shared = Arc::new(ProxyState {
            server,
            round_trips: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let accepting = shared.clone();
        thread::spawn(move || accepting.accept(&listener));
        Ok(RoundTripProxy { port, shared })
    }

    /// Returns the listening port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of responses to client requests.
    ///
    /// Multiple chunks that the client sends before a response count as one request. Multiple
    /// chunks of a response count as one response.
    pub fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::Relaxed)
    }
}

impl Drop for RoundTripProxy {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Release);
        // Wake the accepting thread.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        self.shared.connections().iter().for_each(|c| c.close());
    }
}

impl ProxyState {
    fn connections(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ProxiedConnection>>> {
        let connections = self.connections.lock();
        connections.unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<Self>, listener: &TcpListener) {
        sys::leave_measured_core();
        for client in listener.incoming() {
            if self.is_closed.load(Ordering::Acquire) {
                return;
            }
            // If relaying fails, the client sees a closed connection.
            if let Ok(client) = client {
                let _ = self.clone().connect(client);
            }
        }
    }

    fn connect(self: Arc<Self>, client: TcpStream) -> io::Result<()> {
        let (host, port) = &self.server;
        let server = TcpStream::connect((host.as_str(), *port))?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let connection = Arc::new(ProxiedConnection {
            client,
            server,
            awaits_response: AtomicBool::new(false),
        });
        self.connections().push(connection.clone());
        let (up, down) = (connection.clone(), connection);
        thread::spawn(move || {
            let _ = up.send_up();
            up.close();
        });
        thread::spawn(move || {
            let _ = self.send_down(&down);
            down.close();
        });
        Ok(())
    }

    /// Relays data from the server to the client.
    fn send_down(&self, connection: &ProxiedConnection) -> io::Result<()> {
        let mut piece = [0; PIECE];
        loop {
            let length = (&connection.server).read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            let is_response = connection.awaits_response.swap(false, Ordering::AcqRel);
            self.round_trips
                .fetch_add(u64::from(is_response), Ordering::Relaxed);
            (&connection.client).write_all(&piece[..length])?;
        }
    }
}

impl ProxiedConnection {
    /// Relays data from the client to the server.
    fn send_up(&self) -> io::Result<()> {
        let mut piece = [0; PIECE];
        loop {
            let length = (&self.client).read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            self.awaits_response.store(true, Ordering::Release);
            (&self.server).write_all(&piece[..length])?;
        }
    }

    fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}
