// SPDX-License-Identifier: Apache-2.0
//! One connection: which requests are under way on it, what of them is sent, and where its answers are.

use crate::requests::Requests;
use crate::response::{Malformed, Reader, ResponseEnd};
use crate::stream::Stream;
use crate::tracker::PendingRequest;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};

/// A place for one connection after the other.
#[derive(Default)]
pub struct Connection {
    stream: Option<Stream>,
    /// It is opened and may be sent on.
    open: bool,
    reader: Reader,
    /// The body of the answer that is being read, where it is looked at.
    body: Vec<u8>,
    pending: VecDeque<PendingRequest>,
    /// Of the requests under way, those that are sent as a whole, and the bytes sent of the next one.
    sent: usize,
    sent_bytes: usize,
    /// How often a connection was begun here: what is told of an earlier one does not count.
    pub generation: u32,
    /// Openings that failed one after the other.
    pub failures: u32,
    /// Before then it is not opened again, ns.
    pub closed_until_ns: u64,
}

/// What came in.
pub enum Received {
    /// Bytes.
    Bytes {
        /// How many.
        n: usize,
        /// When they came, ns since 1970, if that is noted.
        came_ns: Option<u64>,
        /// There may be more.
        more: bool,
    },
    /// Nothing for now.
    Nothing,
    /// The end.
    End,
}

impl Connection {
    /// Whether there is one, open or being opened.
    pub fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Requests that are not answered yet, the oldest first.
    pub fn pending(&self) -> &VecDeque<PendingRequest> {
        &self.pending
    }

    /// Takes up a connection that is being opened.
    pub fn begin(&mut self, stream: Stream) {
        self.close();
        self.stream = Some(stream);
    }

    /// Ends the connection. Its pending requests stay until they are [taken](Connection::take_pending).
    pub fn close(&mut self) {
        self.stream = None;
        self.open = false;
        self.generation = self.generation.wrapping_add(1);
        (self.reader, self.sent, self.sent_bytes) = (Reader::new(), 0, 0);
        self.body = Vec::new();
    }

    /// The requests that will not be answered.
    pub fn take_pending(&mut self) -> impl Iterator<Item = PendingRequest> + use<'_> {
        self.pending.drain(..)
    }

    /// Goes on with the opening: whether the connection is open now and was not before.
    pub fn continue_opening(&mut self) -> io::Result<bool> {
        match &mut self.stream {
            Some(stream) if !self.open => {
                self.open = stream.is_ready()?;
                Ok(self.open)
            }
            _ => Ok(false),
        }
    }

    /// Adds a pending request. It is sent as soon as it can be.
    pub fn enqueue(&mut self, request: PendingRequest, requests: &Requests) -> io::Result<()> {
        self.pending.push_back(request);
        self.send(requests)
    }

    /// Sends what there is room for.
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

    /// Receives what is there.
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

    /// Reads what was received: how many bytes belong to the oldest request's answer, and the answer if
    /// it is complete. Its body is kept up to `body_room` bytes.
    pub fn read(
        &mut self,
        bytes: &[u8],
        requests: &Requests,
        body_room: usize,
    ) -> Result<(usize, Option<ResponseEnd>), Malformed> {
        let oldest = self.pending.front();
        let oldest = oldest.ok_or(Malformed("it answers what was not asked"))?;
        let (body, to_head) = (&mut self.body, requests.get(oldest.position).head);
        let (used, answer) = self.reader.read(bytes, to_head, |piece| {
            let room = body_room.saturating_sub(body.len());
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        })?;
        let answered_whole = self.sent > 0;
        let answer = answer.map(|answer| ResponseEnd {
            // The rest of a request that was answered early would be read as another one.
            keep_alive: answer.keep_alive && answered_whole,
            ..answer
        });
        // More than its length says: the length is wrong, or there is something that was not asked for.
        if answer.is_some() && used < bytes.len() && self.pending.len() == 1 {
            return Err(Malformed("more came than its head says"));
        }
        Ok((used, answer))
    }

    /// The answer that the end of the connection completes, if it does.
    pub fn end(&mut self) -> Option<ResponseEnd> {
        self.reader.end().filter(|_| self.pending.len() == 1)
    }

    /// Takes the oldest request, which is answered, with what was kept of the answer's body.
    pub fn answered(&mut self) -> Option<(PendingRequest, Vec<u8>)> {
        let request = self.pending.pop_front()?;
        self.sent = self.sent.saturating_sub(1);
        Some((request, std::mem::take(&mut self.body)))
    }

    /// For epoll.
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
