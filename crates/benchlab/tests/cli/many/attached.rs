// SPDX-License-Identifier: Apache-2.0
//! A container whose streams are sent over a WebSocket (RFC 6455) with the protocol
//! `v5.channel.k8s.io`.
//!
//! The first byte of a message is the number of the stream.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sha1::{Digest, Sha1};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const STATUS: u8 = 3;

/// The message that closes standard input.
const STDIN_ENDS: [u8; 2] = [255, 0];

/// A running container, identified by its process group.
pub struct Attached(i32);

impl Attached {
    /// Returns the container's first process.
    pub fn pid(&self) -> i32 {
        self.0
    }

    pub fn kill(&self) {
        // A container that has exited needs no signal.
        let _ = killpg(Pid::from_raw(self.0), Signal::SIGKILL);
    }
}

/// A container and the connection that is attached to it.
pub struct Container {
    child: Child,
    out: Arc<Mutex<TcpStream>>,
}

/// Accepts a WebSocket and runs a container's command.
pub fn start(mut command: Command, key: &str, mut out: TcpStream) -> (Attached, Container) {
    let digest = Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    let accepted = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n",
        STANDARD.encode(digest)
    );
    out.write_all(accepted.as_bytes()).unwrap();
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let out = Arc::new(Mutex::new(out));
    (Attached(child.id() as i32), Container { child, out })
}

impl Container {
    /// Serves the container until it exits. When the connection closes, the container's standard
    /// input ends.
    pub fn serve(mut self, mut input: impl Read + Send + 'static) {
        let mut stdin = self.child.stdin.take();
        let out = self.out.clone();
        thread::spawn(move || {
            while let Ok((code, message)) = read(&mut input) {
                match (code, message.as_slice()) {
                    (8, _) => return,
                    (9, _) => send(&out, 10, &message),
                    (_, message) if message == STDIN_ENDS => stdin = None,
                    (2, [0, bytes @ ..]) => {
                        let written = stdin.as_mut().map(|stdin| stdin.write_all(bytes));
                        if !matches!(written, Some(Ok(()))) {
                            stdin = None;
                        }
                    }
                    _ => {}
                }
            }
        });
        let stderr = self.child.stderr.take().unwrap();
        let errors = forward(stderr, STDERR, self.out.clone());
        let stdout = self.child.stdout.take().unwrap();
        let writer = forward(stdout, STDOUT, self.out.clone());
        writer.join().unwrap();
        errors.join().unwrap();
        self.child.wait().unwrap();
        let status = br#"{"metadata":{},"status":"Success"}"#;
        send(&self.out, 2, &[&[STATUS], &status[..]].concat());
        send(&self.out, 8, &1000_u16.to_be_bytes());
    }
}

fn forward(
    mut from: impl Read + Send + 'static,
    stream: u8,
    out: Arc<Mutex<TcpStream>>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut message = vec![0; 1 << 15];
        message[0] = stream;
        while let Ok(n @ 1..) = from.read(&mut message[1..]) {
            send(&out, 2, &message[..=n]);
        }
    })
}

/// Sends a message in one frame. Ignores errors, because the reading thread detects a closed
/// connection.
fn send(out: &Mutex<TcpStream>, code: u8, message: &[u8]) {
    let mut frame = vec![0x80 | code];
    match message.len() {
        length @ ..126 => frame.push(length as u8),
        length => {
            frame.push(126);
            frame.extend((length as u16).to_be_bytes());
        }
    }
    frame.extend(message);
    let _ = out.lock().unwrap().write_all(&frame);
}

/// Reads a message or a control frame, with its opcode.
fn read(input: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let (mut code, mut message) = (0, Vec::new());
    loop {
        let [first, second] = bytes(input)?;
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(bytes(input)?)),
            127 => u64::from_be_bytes(bytes(input)?),
            length => length.into(),
        };
        let mask = bytes(input)?;
        let mut payload = vec![0; length as usize];
        input.read_exact(&mut payload)?;
        unmask(&mut payload, mask);
        if first & 0x0f >= 8 {
            return Ok((first & 0x0f, payload));
        }
        code = code.max(first & 0x0f);
        message.append(&mut payload);
        if first & 0x80 != 0 {
            return Ok((code, message));
        }
    }
}

/// Unmasks a message, eight bytes at a time for speed: benchlab's program is sent through this
/// function, and tests are not optimized.
fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (chunks, rest) = payload.as_chunks_mut();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

fn bytes<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}
