// SPDX-License-Identifier: Apache-2.0
//! Relays data between clients and a server, delivering each packet at its arrival time.

use super::wire_queue::WireQueue;
use crate::host::sys;
use lab_model::Shape;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of bytes per read.
const PIECE: usize = 16 * 1024;

/// The maximum number of packets in transit or queued. The sender waits if there are more.
const ON_THE_WAY: usize = 1024;

/// Accepts connections from clients. Dropping it closes them.
pub struct Relay {
    shared: Arc<RelayState>,
    listener: TcpListener,
}

struct RelayState {
    server: PathBuf,
    /// The rate and the delay of the link, or `None` if the kernel shapes the traffic.
    shaping: Option<Shaping>,
    sent: AtomicU64,
    is_closed: AtomicBool,
    connections: Mutex<BTreeMap<u64, Arc<RelayedConnection>>>,
}

struct Shaping {
    shape: Shape,
    up: Mutex<WireQueue>,
    down: Mutex<WireQueue>,
}

struct RelayedConnection {
    client: TcpStream,
    server: UnixStream,
}

impl Relay {
    /// Starts a relay to the server that listens on a Unix socket.
    pub fn start(
        listener: TcpListener,
        server: PathBuf,
        shape: Option<&Shape>,
    ) -> io::Result<Relay> {
        let shaping = shape.map(|shape| {
            let [up, down] = WireQueue::pair(shape).map(Mutex::new);
            let shape = shape.clone();
            Shaping { shape, up, down }
        });
        let shared = Arc::new(RelayState {
            server,
            shaping,
            sent: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let (accepting, listening) = (shared.clone(), listener.try_clone()?);
        thread::spawn(move || accepting.accept(&listening));
        Ok(Relay { shared, listener })
    }

    /// Returns the number of bytes sent by clients.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::Acquire)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Release);
        // Wake up the waiting accept.
        // SAFETY: the descriptor is open.
        unsafe { libc::shutdown(self.listener.as_raw_fd(), libc::SHUT_RDWR) };
        self.shared.connections().values().for_each(|c| c.close());
    }
}

impl RelayState {
    fn connections(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<RelayedConnection>>> {
        lock(&self.connections)
    }

    fn accept(self: Arc<Self>, listener: &TcpListener) {
        sys::leave_measured_core();
        for (number, client) in (0..).zip(listener.incoming()) {
            let accepted = Instant::now();
            if self.is_closed.load(Ordering::Acquire) {
                return;
            }
            // If relaying fails, the client sees a closed connection.
            if let Ok(client) = client {
                let _ = self.clone().connect(number, client, accepted);
            }
        }
    }

    fn connect(
        self: Arc<Self>,
        number: u64,
        client: TcpStream,
        accepted: Instant,
    ) -> io::Result<()> {
        let server = UnixStream::connect(&self.server)?;
        client.set_nodelay(true)?;
        let connection = Arc::new(RelayedConnection { client, server });
        // The client's first bytes leave one round trip after it started to connect, when its connection is
        // established.
        let round_trip = self.shaping.as_ref().map_or(0.0, |s| s.shape.round_trip_ms);
        let established = accepted + Duration::from_secs_f64(round_trip / 1e3);
        let direction = |is_up| -> io::Result<RelayDirection> {
            let client = OwnedFd::from(connection.client.try_clone()?);
            let server = OwnedFd::from(connection.server.try_clone()?);
            let (from, to) = if is_up {
                (client, server)
            } else {
                (server, client)
            };
            Ok(RelayDirection {
                is_up,
                from: from.into(),
                to: to.into(),
                not_before: established,
                shared: self.clone(),
                connection: connection.clone(),
            })
        };
        let directions = [direction(true)?, direction(false)?];
        self.connections().insert(number, connection);
        let (forget, directions) = (self.clone(), directions.map(RelayDirection::start));
        thread::spawn(move || {
            for direction in directions {
                let _ = direction.join();
            }
            forget.connections().remove(&number);
        });
        Ok(())
    }
}

/// One direction of a connection.
struct RelayDirection {
    is_up: bool,
    from: std::fs::File,
    to: std::fs::File,
    /// The time before which no packet is sent.
    not_before: Instant,
    shared: Arc<RelayState>,
    connection: Arc<RelayedConnection>,
}

/// The arrival time and the bytes of a packet.
type Packet = (Instant, Vec<u8>);

impl RelayDirection {
    fn start(self) -> thread::JoinHandle<()> {
        thread::spawn(move || {
            if self.hand_on().is_err() {
                self.connection.close();
            }
        })
    }

    /// Relays data until one of the ends closes.
    fn hand_on(&self) -> io::Result<()> {
        let Some(shaping) = &self.shared.shaping else {
            self.read(|bytes| (&self.to).write_all(bytes))?;
            return self.end();
        };
        let queue = if self.is_up {
            &shaping.up
        } else {
            &shaping.down
        };
        let payload = shaping.shape.payload() as usize;
        let (sender, packets) = sync_channel::<Packet>(ON_THE_WAY);
        thread::scope(|scope| {
            let arriving = scope.spawn(move || self.deliver(&packets));
            let read = self.read(|bytes| {
                let now = Instant::now().max(self.not_before);
                for piece in bytes.chunks(payload) {
                    let at = lock(queue).arrival(now, shaping.shape.packet(piece.len()));
                    let sent = sender.send((at, piece.to_vec()));
                    sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
                }
                Ok(())
            });
            drop(sender);
            let delivered = arriving.join();
            delivered.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
            read
        })?;
        self.end()
    }

    /// Reads the data from one end as soon as it arrives.
    fn read(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        loop {
            let length = (&self.from).read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            if self.is_up {
                self.shared.sent.fetch_add(length as u64, Ordering::AcqRel);
            }
            take(&piece[..length])?;
        }
    }

    /// Writes each packet at its arrival time.
    fn deliver(&self, packets: &Receiver<Packet>) -> io::Result<()> {
        // By default the kernel lets a thread sleep 50 µs longer (prctl(2)).
        let _ = nix::sys::prctl::set_timerslack(1);
        for (at, bytes) in packets {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            let written = (&self.to).write_all(&bytes);
            if written.is_err() {
                self.connection.close();
                return written;
            }
        }
        Ok(())
    }

    /// Closes this direction. The other direction stays open.
    fn end(&self) -> io::Result<()> {
        if self.is_up {
            self.connection.server.shutdown(Shutdown::Write)
        } else {
            self.connection.client.shutdown(Shutdown::Write)
        }
    }
}

impl RelayedConnection {
    fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::Shaper;
    use std::os::unix::net::UnixListener;

    /// A server that echoes its input, and at the end sends the number of bytes that it received.
    fn echo(listener: UnixListener) {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let (mut received, mut buffer) = (0, [0; 4096]);
                while let Ok(length @ 1..) = (&connection).read(&mut buffer) {
                    received += length;
                    let _ = (&connection).write_all(&buffer[..length]);
                }
                let _ = (&connection).write_all(format!("{received} bytes").as_bytes());
            });
        }
    }

    fn connect_through(shape: Option<&Shape>) -> (Relay, TcpStream) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("server");
        let server = UnixListener::bind(&socket).unwrap();
        thread::spawn(move || echo(server));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let relay = Relay::start(listener, socket, shape).unwrap();
        let client = TcpStream::connect(address).unwrap();
        // The relay is connected to the server once a response has arrived.
        (&client).write_all(b"x").unwrap();
        (&client).read_exact(&mut [0]).unwrap();
        (relay, client)
    }

    fn shape(round_trip_ms: f64) -> Shape {
        Shape {
            up_kbit_s: 100_000,
            down_kbit_s: 100_000,
            round_trip_ms,
            mtu: 1500,
            by: Shaper::Lab,
        }
    }

    #[test]
    fn all_bytes_come_in_order_whatever_the_shape() {
        let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for shape in [None, Some(shape(2.0))] {
            let (relay, client) = connect_through(shape.as_ref());
            let mut received = Vec::new();
            thread::scope(|scope| {
                scope.spawn(|| {
                    (&client).write_all(&sent).unwrap();
                    client.shutdown(Shutdown::Write).unwrap();
                });
                (&client).read_to_end(&mut received).unwrap();
            });
            let (echoed, last) = received.split_at(sent.len());
            assert!(echoed == sent, "what comes back is what was sent");
            assert_eq!(
                last, b"400001 bytes",
                "the end of one direction is handed on"
            );
            assert_eq!(relay.sent(), 400_001);
        }
    }

    /// Data never arrives earlier than the link's delay allows, even on a busy machine.
    #[test]
    fn nothing_arrives_before_its_time() {
        let began = Instant::now();
        let (_relay, client) = connect_through(Some(&shape(40.0)));
        assert!(
            began.elapsed() >= Duration::from_millis(80),
            "connection and request"
        );
        let began = Instant::now();
        (&client).write_all(b"x").unwrap();
        (&client).read_exact(&mut [0]).unwrap();
        assert!(began.elapsed() >= Duration::from_millis(40));
    }

    #[test]
    fn a_link_that_is_dropped_ends_its_connections() {
        let (relay, client) = connect_through(None);
        drop(relay);
        assert_eq!((&client).read(&mut [0]).unwrap_or(0), 0);
    }
}
