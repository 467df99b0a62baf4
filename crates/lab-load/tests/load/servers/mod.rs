// SPDX-License-Identifier: Apache-2.0
//! HTTP/1.1 test servers, with one thread per connection.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A server that listens on a free port until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    counts: Arc<Counts>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Counts {
    ends: AtomicBool,
    connections: AtomicU64,
    requests: AtomicU64,
    max_concurrent: AtomicU64,
    open: Mutex<Vec<TcpStream>>,
}

impl Server {
    /// Starts a server that responds to every request with `bytes`.
    pub fn responding(bytes: &'static [u8]) -> Server {
        Server::new(move |stream, _| respond(stream, bytes))
    }

    /// Starts a server that calls `respond` for each request of a connection, numbered from 0. If
    /// `respond` returns false, the server closes the connection.
    pub fn new(respond: impl Fn(&mut TcpStream, u64) -> bool + Send + Sync + 'static) -> Server {
        Server::with_counts(move |stream, counts| {
            let (mut received, mut number) = (Vec::new(), 0);
            let mut room = [0; 65_536];
            while let Ok(n) = stream.read(&mut room)
                && n > 0
            {
                received.extend_from_slice(&room[..n]);
                let mut at_once = 0;
                while let Some(end) = received.windows(4).position(|w| w == b"\r\n\r\n") {
                    received.drain(..end + 4);
                    at_once += 1;
                    counts.requests.fetch_add(1, SeqCst);
                    counts.max_concurrent.fetch_max(at_once, SeqCst);
                    if !respond(stream, number) {
                        return;
                    }
                    number += 1;
                }
            }
        })
    }

    /// Starts a server that calls `serve` for each connection.
    pub fn raw(serve: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Server {
        Server::with_counts(move |stream, _| serve(stream))
    }

    fn with_counts(serve: impl Fn(&mut TcpStream, &Counts) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (counts, serve) = (Arc::new(Counts::default()), Arc::new(serve));
        let shared = counts.clone();
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if shared.ends.load(SeqCst) {
                    return;
                }
                shared.connections.fetch_add(1, SeqCst);
                shared
                    .open
                    .lock()
                    .unwrap()
                    .push(stream.try_clone().unwrap());
                let (serve, counts) = (serve.clone(), shared.clone());
                std::thread::spawn(move || {
                    serve(&mut stream, &counts);
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                });
            }
        });
        Server {
            address,
            counts,
            accepting: Some(accepting),
        }
    }

    pub fn connections(&self) -> u64 {
        self.counts.connections.load(SeqCst)
    }

    pub fn requests(&self) -> u64 {
        self.counts.requests.load(SeqCst)
    }

    /// Returns the highest number of requests that arrived together.
    pub fn max_concurrent(&self) -> u64 {
        self.counts.max_concurrent.load(SeqCst)
    }
}

/// Stops listening and closes all connections.
impl Drop for Server {
    fn drop(&mut self) {
        self.counts.ends.store(true, SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            accepting.join().unwrap();
        }
        for stream in self.counts.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Sends a response. Returns true if the connection stays open.
pub fn respond(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    stream.write_all(bytes).is_ok()
}

/// Sends the last response on a connection.
pub fn respond_and_close(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    respond(stream, bytes);
    false
}

/// Sends a response one byte at a time.
pub fn sent_in_pieces(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    stream.set_nodelay(true).unwrap();
    bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok())
}
