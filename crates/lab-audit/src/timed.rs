// SPDX-License-Identifier: Apache-2.0
//! A connection with a deadline for reads, even if the bytes arrive slowly.
//!
//! A library that reads a whole message returns to its caller only at the end, so the caller cannot
//! check the time itself.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

pub struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    pub fn new(stream: TcpStream, deadline: Instant) -> Timed {
        Timed { stream, deadline }
    }

    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
