// SPDX-License-Identifier: Apache-2.0
//! A small HTTP server with configurable faults, in threads of the test.

use crate::closed_port::closed_port;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The server's reaction to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Behavior {
    /// Responds with `{"ok":true}`.
    Honest,
    /// Sends the honest response in chunks.
    Chunked,
    /// Sends the honest response after the given number of milliseconds.
    Slow(u64),
    /// Sends the honest response and closes the connection.
    Closes,
    /// Closes the connection with a reset.
    Resets,
    /// Reads the request and never responds.
    Hangs,
    /// Sends bytes that are not HTTP.
    Garbage,
    /// Responds with status 503.
    Unavailable,
    /// Responds with `{"ok":false}`.
    Lies,
    /// Announces more bytes than it sends, and closes the connection.
    Truncates,
    /// Closes all connections and stops listening.
    Dies,
}

/// A running test server. It stops when this value is dropped.
pub struct Web {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    listener: TcpListener,
    /// The number of honest responses before the reaction changes.
    after: usize,
    behavior: Behavior,
    requests: AtomicUsize,
    received: Mutex<Vec<String>>,
    last: Mutex<Option<String>>,
    is_stopped: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Web {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn new(behavior: Behavior) -> Web {
        Web::after(0, behavior)
    }

    /// Starts a server that is honest for the first `requests` requests.
    pub fn after(requests: usize, behavior: Behavior) -> Web {
        loop {
            // No other server can take this port after the server's death.
            let address = format!("127.0.0.1:{}", closed_port());
            if let Ok(web) = Web::bind(&address, requests, behavior) {
                return web;
            }
        }
    }

    pub fn bind(address: &str, after: usize, behavior: Behavior) -> io::Result<Web> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            listener,
            after,
            behavior,
            requests: AtomicUsize::new(0),
            received: Mutex::default(),
            last: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let all = shared.clone();
        thread::spawn(move || all.accept());
        Ok(Web { address, shared })
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the number of requests that the server has read.
    pub fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// Returns the head and body of the latest request.
    pub fn last(&self) -> Option<String> {
        self.shared.last.lock().unwrap().clone()
    }

    /// Returns the heads and bodies of the first hundred requests.
    pub fn received(&self) -> Vec<String> {
        self.shared.received.lock().unwrap().clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.shared.die();
    }
}

impl Shared {
    fn accept(self: Arc<Shared>) {
        while !self.is_stopped.load(Ordering::SeqCst) {
            let Ok((stream, _)) = self.listener.accept() else {
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            stream.set_nodelay(true).unwrap();
            let mut open = self.open.lock().unwrap();
            if self.is_stopped.load(Ordering::SeqCst) {
                return;
            }
            open.push(stream.try_clone().unwrap());
            drop(open);
            let all = self.clone();
            thread::spawn(move || all.serve(stream));
        }
    }

    /// Stops listening and closes all connections. Later connections are refused.
    fn die(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        stop_listening(&self.listener);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Serves requests until the connection closes.
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while let Some(request) = request(&mut reader) {
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            *self.last.lock().unwrap() = Some(request.clone());
            if number < 100 {
                self.received.lock().unwrap().push(request);
            }
            let behavior = if number < self.after {
                Behavior::Honest
            } else {
                self.behavior
            };
            if !self.respond(&mut stream, behavior).unwrap_or(false) {
                break;
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
    }

    /// Sends a response and returns true if the connection stays open.
    fn respond(&self, stream: &mut TcpStream, behavior: Behavior) -> io::Result<bool> {
        let with_length = |status: &str, body: &str| {
            format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let honest = with_length("200 OK", "{\"ok\":true}");
        let text = match behavior {
            Behavior::Honest => honest,
            Behavior::Chunked => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"ok\r\n7;x=y\r\n\":true}\r\n0\r\nX: y\r\n\r\n".into(),
            Behavior::Slow(ms) => {
                thread::sleep(Duration::from_millis(ms));
                honest
            }
            Behavior::Closes => honest.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
            Behavior::Garbage => "SSH-2.0-OpenSSH_9.2\r\n\x1b[31mgarbage\r\n\r\n".into(),
            Behavior::Unavailable => with_length("503 Service Unavailable", ""),
            Behavior::Lies => with_length("200 OK", "{\"ok\":false}"),
            Behavior::Truncates => honest.replace("{\"ok\":true}", "{"),
            Behavior::Hangs => {
                while !self.is_stopped.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(10));
                }
                return Ok(false);
            }
            Behavior::Resets => {
                reset_at_close(stream);
                return Ok(false);
            }
            Behavior::Dies => {
                self.die();
                return Ok(false);
            }
        };
        stream.write_all(text.as_bytes())?;
        Ok(!matches!(
            behavior,
            Behavior::Closes | Behavior::Truncates | Behavior::Garbage
        ))
    }
}

/// Stops listening immediately, even if another thread is accepting a connection. The port stays in
/// use.
fn stop_listening(listener: &TcpListener) {
    // SAFETY: the descriptor is open.
    unsafe {
        nix::libc::shutdown(listener.as_raw_fd(), nix::libc::SHUT_RDWR);
    }
}

/// Sets a linger time of zero (socket(7)), so that closing the connection sends a reset.
fn reset_at_close(stream: &TcpStream) {
    let linger = nix::libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the option's value is a linger structure of the specified size.
    unsafe {
        nix::libc::setsockopt(
            stream.as_raw_fd(),
            nix::libc::SOL_SOCKET,
            nix::libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of_val(&linger) as u32,
        );
    }
}

/// Reads the head and body of a request. Returns `None` at the end of the connection.
fn request(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is = name.eq_ignore_ascii_case("content-length");
        is.then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}
