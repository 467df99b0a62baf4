// SPDX-License-Identifier: Apache-2.0
//! A generator thread for HTTP/1.1, with its connections and its fraction of the load.

use crate::arrival::ArrivalClock;
use crate::clock::{now_ns, sleep_until, wake_exactly};
use crate::connection::{Connection, Received};
use crate::job::LoadJob;
use crate::job::LoadPeriod;
use crate::poll::Poll;
use crate::queue::Wait;
use crate::record::CompleteResponse;
use crate::response::ResponseEnd;
use crate::stream::Stream;
use crate::tracker::{
    CHECK_INTERVAL_NS, MAX_OPENING, PendingRequest, RequestTracker, retry_after_ns,
};
use lab_model::{ErrorKind, LoadCount};
use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::io;
use std::sync::Arc;

/// The maximum number of bytes received at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// The time when bytes arrived.
#[derive(Clone, Copy)]
struct Arrival {
    /// The kernel's timestamp, in ns since 1970, or `None` if the kernel recorded no timestamp.
    noted_ns: Option<u64>,
    /// The time when the bytes were read, in ns of CLOCK_MONOTONIC.
    read_ns: u64,
}

/// One thread of a job over HTTP/1.1.
pub struct Worker {
    job: Arc<LoadJob>,
    tracker: RequestTracker,
    poll: Poll,
    room: Box<[u8]>,
    connections: Vec<Connection>,
    /// The connections that can accept requests. Each connection occurs once for every request that
    /// it can accept.
    idle: VecDeque<usize>,
    /// The connections on which sending failed.
    broken: Vec<usize>,
    /// The number of connections that are being opened before the first load.
    opening: usize,
    /// Converts the kernel's arrival times.
    arrivals: ArrivalClock,
}

impl Worker {
    /// Creates a worker for the thread's connections, which are not opened yet.
    pub fn new(tracker: RequestTracker) -> io::Result<Worker> {
        let job = tracker.job.clone();
        let connections = (tracker.thread..job.connections).step_by(job.threads);
        let connections = connections.map(|_| Connection::default()).collect();
        Ok(Worker {
            job,
            tracker,
            poll: Poll::new()?,
            room: vec![0; BUFFER_BYTES].into(),
            connections,
            idle: VecDeque::new(),
            broken: Vec::new(),
            opening: 0,
            arrivals: ArrivalClock::new(),
        })
    }

    /// Opens the connections, and then runs loads until the engine exits.
    pub fn run(mut self) {
        wake_exactly();
        if self.job.keep_alive {
            self.open_all();
        }
        let mut sent = self.tracker.send(true);
        while sent.is_some()
            && let Some(period) = self.tracker.next_period()
        {
            sent = self.load(period);
        }
    }

    /// Opens all connections. Connections that cannot be opened are retried during the load.
    fn open_all(&mut self) {
        let mut coming = 0..self.connections.len();
        let deadline = |now: u64, job: &LoadJob| now + job.timeout.as_nanos() as u64;
        let mut end = deadline(now_ns(), &self.job);
        while (self.opening > 0 || !coming.is_empty())
            && now_ns() < end
            && !self.tracker.is_stopped()
        {
            while self.opening < MAX_OPENING
                && let Some(next) = coming.next()
            {
                self.opening += 1;
                if let Err(error) = self.open(next) {
                    self.fail(next, ErrorKind::Connect, &ErrorText(error));
                }
                end = deadline(now_ns(), &self.job);
            }
            self.poll.wait(CHECK_INTERVAL_NS);
            self.take_events();
        }
        self.opening = 0;
    }

    /// Runs a load. Returns `None` if the engine has exited.
    fn load(&mut self, period: LoadPeriod) -> Option<()> {
        self.begin(period);
        sleep_until(period.begin_ns);
        let mut next_check_ns = period.begin_ns + CHECK_INTERVAL_NS;
        loop {
            let now = now_ns();
            self.tracker.cut(now)?;
            self.tracker.admit_due(now);
            if self.tracker.is_over(now) {
                break;
            }
            if now >= next_check_ns {
                self.expire(now);
                next_check_ns = now + CHECK_INTERVAL_NS;
            }
            self.give_work(now);
            self.wait(self.tracker.next_end_ns(now).min(next_check_ns));
            self.take_events();
        }
        for connection in &mut self.connections {
            if !connection.pending().is_empty() {
                connection.close();
                connection.take_pending().for_each(drop);
            }
        }
        self.tracker.end()
    }

    fn begin(&mut self, period: LoadPeriod) {
        self.take_past_events();
        let all = 0..self.connections.len();
        self.idle = (0..self.job.pipeline).flat_map(|_| all.clone()).collect();
        self.tracker.begin(period);
    }

    /// Handles everything that has happened since the last load. Detects all connections that the
    /// server has closed, so that no request is sent on them.
    fn take_past_events(&mut self) {
        loop {
            self.poll.wait(0);
            self.take_events();
            if !self.poll.is_full() {
                return;
            }
        }
    }

    fn wait(&mut self, until_ns: u64) {
        let now = now_ns();
        let wait = if self.poll.is_full() || !self.broken.is_empty() {
            Wait::ForResponses(now)
        } else {
            self.tracker.wait(now)
        };
        match wait {
            Wait::ForResponses(ns) => {
                self.poll.wait(ns.min(until_ns).saturating_sub(now));
            }
            Wait::Sleep(ns) => {
                sleep_until(ns.min(until_ns));
                self.poll.wait(0);
            }
        }
    }

    /// Sends due requests over connections that can accept them.
    fn give_work(&mut self, now: u64) {
        for _ in 0..self.idle.len() {
            let Some(i) = self.idle.pop_front() else {
                return;
            };
            if self.tracker.is_closed_loop() && now < self.connections[i].closed_until_ns {
                self.idle.push_back(i);
                continue;
            }
            match self.tracker.take(now) {
                Some(request) => self.enqueue(i, request),
                None => return self.idle.push_front(i),
            }
        }
    }

    /// Adds a request to a connection, and opens the connection if necessary.
    fn enqueue(&mut self, i: usize, request: PendingRequest) {
        let opened = if self.connections[i].has_stream() {
            Ok(())
        } else {
            self.open(i)
        };
        let sent = self.connections[i].enqueue(request, &self.job.requests);
        match (opened, sent) {
            (Err(error), _) => self.fail(i, ErrorKind::Connect, &ErrorText(error)),
            (Ok(()), Err(_)) => self.broken.push(i),
            (Ok(()), Ok(())) => {}
        }
    }

    fn open(&mut self, i: usize) -> io::Result<()> {
        let noted = !self.tracker.is_closed_loop();
        let stream = Stream::open(self.job.address, self.job.tls.as_ref(), noted)?;
        let connection = &mut self.connections[i];
        connection.begin(stream);
        let key = u64::from(connection.generation) << 32 | i as u64;
        connection
            .stream()
            .map_or(Ok(()), |stream| self.poll.add(stream.tcp(), key))
    }

    /// Closes a connection and counts all of its pending requests as failed for the same reason.
    fn fail(&mut self, i: usize, kind: ErrorKind, reason: &dyn Display) {
        let connection = &mut self.connections[i];
        if kind == ErrorKind::Connect {
            connection.closed_until_ns = now_ns() + retry_after_ns(connection.failures);
            connection.failures += 1;
            self.opening = self.opening.saturating_sub(1);
        }
        connection.close();
        for _ in connection.take_pending() {
            self.tracker.failed(kind, || reason.to_string());
            self.idle.push_back(i);
        }
    }

    fn take_events(&mut self) {
        if self.poll.event_count() > 0 && !self.tracker.is_closed_loop() {
            self.arrivals.refresh();
        }
        for index in 0..self.poll.event_count() {
            let event = self.poll.event(index);
            let (i, generation) = (event.key as u32 as usize, (event.key >> 32) as u32);
            // The event belongs to a connection that was closed before it was handled.
            if self.connections[i].generation != generation {
                continue;
            }
            if !self.continue_connection(i, event.writable) {
                continue;
            }
            if event.readable {
                self.receive(i, event.ended);
            }
        }
        // A response may have arrived although sending failed.
        while let Some(i) = self.broken.pop() {
            self.receive(i, true);
        }
    }

    /// Continues to open a connection or to send its requests. Returns true if the connection is
    /// open.
    fn continue_connection(&mut self, i: usize, writable: bool) -> bool {
        let connection = &mut self.connections[i];
        match connection.continue_opening() {
            Err(error) => {
                self.fail(i, ErrorKind::Connect, &ErrorText(error));
                return false;
            }
            Ok(true) => {
                connection.failures = 0;
                self.tracker.record.counts[LoadCount::Connects] += 1;
                self.opening = self.opening.saturating_sub(1);
            }
            Ok(false) if !writable => return connection.is_open(),
            Ok(false) => {}
        }
        if connection.send(&self.job.requests).is_err() {
            self.broken.push(i);
        }
        self.connections[i].is_open()
    }

    /// Receives and parses the available bytes. If the connection has `ended`, receives everything up to the end.
    fn receive(&mut self, i: usize, ended: bool) {
        let generation = self.connections[i].generation;
        let mut room = std::mem::take(&mut self.room);
        loop {
            let (n, came_ns, more) = match self.connections[i].receive(&mut room) {
                Ok(Received::Bytes { n, came_ns, more }) => (n, came_ns, more || ended),
                Ok(Received::Nothing) => break,
                Ok(Received::End) => {
                    self.end_connection(i);
                    break;
                }
                Err(error) => {
                    self.fail(i, ErrorKind::Reset, &ErrorText(error));
                    break;
                }
            };
            self.tracker.record.counts[LoadCount::ReceivedBytes] += n as u64;
            let arrival = Arrival {
                noted_ns: came_ns,
                read_ns: now_ns(),
            };
            self.read(i, &room[..n], arrival);
            if !more || self.connections[i].generation != generation {
                break;
            }
        }
        self.room = room;
    }

    /// Returns the time when the last bytes of a response arrived, in ns. If the kernel's timestamp
    /// is implausible, returns the time when the bytes were read.
    fn came_ns(&mut self, arrival: Arrival, sent_ns: u64) -> u64 {
        let Arrival { noted_ns, read_ns } = arrival;
        let Some(noted_ns) = noted_ns else {
            return read_ns;
        };
        let came_ns = self.arrivals.came_ns(noted_ns, sent_ns, read_ns);
        came_ns.unwrap_or_else(|| {
            self.tracker.record.counts[LoadCount::ReadTimes] += 1;
            read_ns
        })
    }

    /// Parses received bytes as responses.
    fn read(&mut self, i: usize, mut bytes: &[u8], arrival: Arrival) {
        let body_room = self.job.expect.body_capacity();
        while !bytes.is_empty() {
            match self.connections[i].read(bytes, &self.job.requests, body_room) {
                Ok((_, None)) => return,
                Ok((used, Some(end))) => {
                    bytes = &bytes[used..];
                    if !self.count_response(i, end, arrival) {
                        return;
                    }
                }
                Err(malformed) => {
                    return self.fail(i, ErrorKind::Malformed, &malformed);
                }
            }
        }
    }

    /// Handles a connection that the server has closed. Its end may complete a response.
    fn end_connection(&mut self, i: usize) {
        match self.connections[i].end() {
            Ok(Some(end)) => {
                let arrival = Arrival {
                    noted_ns: None,
                    read_ns: now_ns(),
                };
                self.count_response(i, end, arrival);
            }
            Ok(None) => self.fail(
                i,
                ErrorKind::Reset,
                &"the connection ended before the response was complete",
            ),
            Err(malformed) => self.fail(i, ErrorKind::Malformed, &malformed),
        }
    }

    /// Counts the response to a connection's oldest request. Returns true if the connection stays open.
    fn count_response(&mut self, i: usize, end: ResponseEnd, arrival: Arrival) -> bool {
        let Some((request, body)) = self.connections[i].take_oldest() else {
            return true;
        };
        let now = self.came_ns(arrival, request.sent_ns);
        let response = CompleteResponse {
            status: end.status,
            coding: end.coding,
            body,
        };
        self.tracker.count_response(request, &response, now);
        let stays = end.keep_alive && self.job.keep_alive;
        if !stays {
            self.connections[i].close();
            // Requests sent after the last one that the server responds to are sent again (RFC 9112, section 9.3.2).
            if !self.connections[i].pending().is_empty()
                && let Err(error) = self.open(i)
            {
                self.fail(i, ErrorKind::Connect, &ErrorText(error));
            }
        }
        let next = if self.tracker.is_closed_loop() {
            self.tracker.take(now)
        } else {
            None
        };
        match next {
            Some(request) => self.enqueue(i, request),
            None => self.idle.push_back(i),
        }
        stays
    }

    /// Closes the connections that have a request whose timeout has passed.
    fn expire(&mut self, now: u64) {
        let timeout_ns = self.job.timeout.as_nanos() as u64;
        for i in 0..self.connections.len() {
            let oldest = self.connections[i].pending().front();
            if oldest.is_some_and(|request| now > request.sent_ns + timeout_ns) {
                self.fail(i, ErrorKind::Timeout, &"no complete response in time");
            }
        }
    }
}

/// Displays an operating system error without its number. If a limit of this machine caused the
/// error, names the limit, so that it is not blamed on the server.
pub struct ErrorText(pub io::Error);

impl Display for ErrorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.raw_os_error() {
            Some(libc::EADDRNOTAVAIL) => f.write_str("no local port is free"),
            Some(libc::EMFILE) => f.write_str(
                "the generator reached its limit on open files; raise it with `ulimit -n`",
            ),
            Some(libc::ENFILE) => f.write_str(
                "this machine reached its limit on open files; raise it with `sysctl fs.file-max`",
            ),
            Some(_) => write!(f, "{}", self.0.kind()),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_exhausted_limit() {
        for (error, words) in [
            (libc::EADDRNOTAVAIL, "no local port is free"),
            (
                libc::EMFILE,
                "limit on open files; raise it with `ulimit -n`",
            ),
            (libc::ENFILE, "this machine reached its limit on open files"),
            (libc::ECONNREFUSED, "connection refused"),
        ] {
            let text = ErrorText(io::Error::from_raw_os_error(error)).to_string();
            assert!(text.contains(words), "{text}");
        }
    }
}
