// SPDX-License-Identifier: Apache-2.0
//! A connection. It stores the pending requests, the number of their bytes that were sent, and the
//! response that is being read.

use crate::requests::Requests;
use crate::response::{Malformed, ResponseEnd, ResponseReader};
use crate::stream::Stream;
use crate::tracker::PendingRequest;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};

/// A slot that holds one connection at a time.
#[derive(Default)]
pub struct Connection {
    stream: Option<Stream>,
    /// True if requests may be sent.
    open: bool,
    reader: ResponseReader,
    /// The stored part of the body of the response that is being read.
    body: Vec<u8>,
    pending: VecDeque<PendingRequest>,
    /// The number of pending requests that were sent completely.
    sent: usize,
    /// The number of bytes of the next pending request that were sent.
    sent_bytes: usize,
    /// A counter that changes whenever the slot is closed, so that events of an earlier connection
    /// in the slot can be ignored.
    pub generation: u32,
    /// The number of consecutive failures to open a connection.
    pub failures: u32,
    /// The time before which no connection is opened, in ns of CLOCK_MONOTONIC.
    pub closed_until_ns: u64,
}

/// The result of an attempt to receive bytes.
pub enum Received {
    /// Bytes were received.
    Bytes {
        /// The number of received bytes.
        n: usize,
        /// The arrival time of the last byte, in ns since 1970, or `None` if the kernel recorded no
        /// timestamp.
        came_ns: Option<u64>,
        /// True if more bytes may be available.
        more: bool,
    },
    /// No bytes are available now.
    Nothing,
    /// The server closed the connection.
    End,
}

impl Connection {
    /// Returns true if a connection is open or being opened.
    pub fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns true if the connection is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the requests without a complete response, oldest first.
    pub fn pending(&self) -> &VecDeque<PendingRequest> {
        &self.pending
    }

    /// Puts a connection that is being opened into the slot, and closes the previous connection.
    pub fn begin(&mut self, stream: Stream) {
        self.close();
        self.stream = Some(stream);
    }

    /// Closes the connection. Its pending requests remain until they are [taken](Connection::take_pending).
    pub fn close(&mut self) {
        self.stream = None;
        self.open = false;
        self.generation = self.generation.wrapping_add(1);
        (self.reader, self.sent, self.sent_bytes) = (ResponseReader::new(), 0, 0);
        self.body = Vec::new();
    }

    /// Removes all pending requests, which will get no response.
    pub fn take_pending(&mut self) -> impl Iterator<Item = PendingRequest> + use<'_> {
        self.pending.drain(..)
    }

    /// Continues to open the connection. Returns true if it has just become open.
    pub fn continue_opening(&mut self) -> io::Result<bool> {
        match &mut self.stream {
            Some(stream) if !self.open => {
                self.open = stream.is_ready()?;
                Ok(self.open)
            }
            _ => Ok(false),
        }
    }

    /// Adds a request to the pending requests, and sends as much of it as the socket accepts.
    pub fn enqueue(&mut self, request: PendingRequest, requests: &Requests) -> io::Result<()> {
        self.pending.push_back(request);
        self.send(requests)
    }

    /// Sends as much of the pending requests as the socket accepts.
    pub fn send(&mut self, requests: &Requests) -> io::Result<()> {
        let Some(stream) = self.stream.as_mut().filter(|_| self.open) else {
            return Ok(());
        };
        while let Some(request) = self.pending.get(self.sent) {
            let bytes = &requests.get(request.position).bytes;
            match stream.send(&bytes[self.sent_bytes..]) {
                Ok(n) if self.sent_bytes + n == bytes.len() => {
                    (self.sent, self.sent_bytes) = (self.sent + 1, 0);
                }
                Ok(n) => self.sent_bytes += n,
                Err(e) if would_block(&e) => break,
                Err(e) => return Err(e),
            }
        }
        match stream.flush() {
            Err(e) if !would_block(&e) => Err(e),
            _ => Ok(()),
        }
    }

    /// Receives the available bytes into `room`.
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<Received> {
        let Some(stream) = &mut self.stream else {
            return Ok(Received::Nothing);
        };
        Ok(match stream.receive(room) {
            Ok((0, _)) => Received::End,
            Ok((n, came_ns)) => Received::Bytes {
                n,
                came_ns,
                more: !stream.is_drained_by(n, room.len()),
            },
            Err(e) if would_block(&e) => Received::Nothing,
            Err(e) => return Err(e),
        })
    }

    /// Parses received bytes as part of the response to the oldest request.
    ///
    /// Returns the number of bytes that belong to the response, and the response if it is complete.
    /// Stores up to `body_room` bytes of the body.
    pub fn read(
        &mut self,
        bytes: &[u8],
        requests: &Requests,
        body_room: usize,
    ) -> Result<(usize, Option<ResponseEnd>), Malformed> {
        let oldest = self.pending.front();
        let oldest = oldest.ok_or(Malformed(
            "the server responded to a request that was not sent",
        ))?;
        let (body, to_head) = (&mut self.body, requests.get(oldest.position).head);
        let (used, end) = self.reader.read(bytes, to_head, |piece| {
            let room = body_room.saturating_sub(body.len());
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        })?;
        let is_fully_sent = self.sent > 0;
        let end = end.map(|end| ResponseEnd {
            // After an early response, the server would parse the rest of the request as another request.
            keep_alive: end.keep_alive && is_fully_sent,
            ..end
        });
        // More bytes follow the only expected response: its length is wrong, or the bytes are not a response.
        if end.is_some() && used < bytes.len() && self.pending.len() == 1 {
            return Err(Malformed("the response is longer than its head declares"));
        }
        Ok((used, end))
    }

    /// Returns the response to the oldest request if the end of the connection completes it, or
    /// `None` if it completes no response.
    pub fn end(&mut self) -> Result<Option<ResponseEnd>, Malformed> {
        self.reader.end()
    }

    /// Removes the oldest request, whose response is complete. Returns the request with the stored
    /// part of the response's body.
    pub fn take_oldest(&mut self) -> Option<(PendingRequest, Vec<u8>)> {
        let request = self.pending.pop_front()?;
        self.sent = self.sent.saturating_sub(1);
        Some((request, std::mem::take(&mut self.body)))
    }

    /// Returns the stream to register with epoll.
    pub fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }
}

fn would_block(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::NotConnected
    )
}
