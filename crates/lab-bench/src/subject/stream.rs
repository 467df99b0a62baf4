// SPDX-License-Identifier: Apache-2.0
//! Reads lines from a pipe without blocking and with a maximum line length.

use crate::subject::protocol::MAX_LINE;
use std::io::{self, Read};
use std::os::fd::AsFd;

/// The number of reads that empty a full pipe: 64 KiB in chunks (pipe(7)).
pub const PIPE_CHUNKS: usize = 65_536 / CHUNK;
/// The number of bytes per read.
const CHUNK: usize = 8192;

/// The end of a pipe, read line by line without blocking.
pub struct LineStream {
    /// The readable end of the pipe.
    pub source: Box<dyn PipeEnd>,
    /// Bytes that were read but not consumed.
    pub buffer: Vec<u8>,
    /// The number of leading bytes of the buffer that are known to contain no line feed.
    pub scanned: usize,
    /// True if the other end was closed.
    pub ended: bool,
}

/// The readable end of a pipe, which can be polled.
pub trait PipeEnd: Read + AsFd {}
impl<T: Read + AsFd> PipeEnd for T {}

impl LineStream {
    /// Creates a stream that reads from a pipe.
    pub fn new(source: impl Read + AsFd + 'static) -> io::Result<LineStream> {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        fcntl(source.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(LineStream {
            source: Box::new(source),
            buffer: Vec::new(),
            scanned: 0,
            ended: false,
        })
    }

    /// Reads the available bytes.
    pub fn read(&mut self) -> io::Result<()> {
        let mut chunk = [0; CHUNK];
        match self.source.read(&mut chunk) {
            Ok(0) => self.ended = true,
            Ok(n) => self.buffer.extend_from_slice(&chunk[..n]),
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// Returns the next complete line without its line feed. Returns an error if it is too long.
    pub fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let end = self.buffer[self.scanned..].iter().position(|&b| b == b'\n');
        match end.map(|i| i + self.scanned) {
            Some(end) if end <= MAX_LINE => {
                let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
                line.pop();
                self.scanned = 0;
                Ok(Some(line))
            }
            None if self.buffer.len() <= MAX_LINE => {
                self.scanned = self.buffer.len();
                Ok(None)
            }
            _ => {
                self.buffer.clear();
                self.scanned = 0;
                Err(format!("a line of more than {MAX_LINE} bytes"))
            }
        }
    }
}
