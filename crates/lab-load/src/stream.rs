// SPDX-License-Identifier: Apache-2.0
//! A non-blocking connection, with or without TLS.

use crate::arrival;
use crate::tls::{Tls, handshake_error};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, setsockopt, socket, sockopt,
};
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;

/// A connection, which may still be opening.
pub enum Stream {
    Plain(TcpStream),
    /// A TCP connection for which the kernel records arrival times.
    Noted(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Starts to open a connection. It is open once [`Stream::is_ready`] returns true.
    ///
    /// If `noted` is true and the connection does not use TLS, the kernel records when bytes
    /// arrive.
    pub fn open(address: SocketAddr, tls: Option<&Tls>, noted: bool) -> io::Result<Stream> {
        let tcp = begin_tcp(address)?;
        let tls = match tls {
            Some(tls) => tls,
            None if noted => {
                arrival::enable_timestamps(&tcp)?;
                return Ok(Stream::Noted(tcp));
            }
            None => return Ok(Stream::Plain(tcp)),
        };
        let session = ClientConnection::new(tls.config.clone(), tls.name.clone());
        let session = session.map_err(io::Error::other)?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(session, tcp))))
    }

    /// Returns the underlying TCP connection.
    pub fn tcp(&self) -> &TcpStream {
        match self {
            Stream::Plain(tcp) | Stream::Noted(tcp) => tcp,
            Stream::Tls(tls) => &tls.sock,
        }
    }

    /// Continues to open the connection. Returns true if it is open.
    ///
    /// # Errors
    /// Returns an error if the connection cannot be opened.
    pub fn is_ready(&mut self) -> io::Result<bool> {
        if let Some(error) = self.tcp().take_error()? {
            return Err(error);
        }
        match self.tcp().peer_addr() {
            Err(e) if e.kind() == ErrorKind::NotConnected => return Ok(false),
            Err(e) => return Err(e),
            Ok(_) => {}
        }
        let Stream::Tls(tls) = self else {
            return Ok(true);
        };
        while tls.conn.is_handshaking() {
            match tls.conn.complete_io(&mut tls.sock) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(handshake_error(e)),
            }
        }
        Ok(true)
    }

    /// Sends as many of the bytes as the socket accepts, and returns their number.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) | Stream::Noted(tcp) => tcp.write(bytes),
            Stream::Tls(tls) => tls.write(bytes),
        }
    }

    /// Sends encrypted bytes that the TLS library has buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) | Stream::Noted(_) => Ok(()),
            Stream::Tls(tls) => tls.flush(),
        }
    }

    /// Receives the available bytes.
    ///
    /// Returns the number of bytes, which is 0 at the end of the stream, and their arrival time in ns since 1970, if
    /// the kernel records it.
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
        match self {
            Stream::Plain(tcp) => Ok((tcp.read(room)?, None)),
            Stream::Noted(tcp) => arrival::receive(tcp, room),
            Stream::Tls(tls) => Ok((tls.read(room)?, None)),
        }
    }

    /// Returns true if no more bytes are available after `received` bytes were read into a buffer
    /// of `room` bytes.
    pub fn is_drained_by(&self, received: usize, room: usize) -> bool {
        !matches!(self, Stream::Tls(_)) && received < room
    }
}

/// Starts a TCP connection. Returns an error if no local port is free.
fn begin_tcp(address: SocketAddr) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(family, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::TcpNoDelay, &true)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(address)) {
        Ok(()) | Err(nix::Error::EINPROGRESS) => Ok(TcpStream::from(socket)),
        Err(e) => Err(e.into()),
    }
}
