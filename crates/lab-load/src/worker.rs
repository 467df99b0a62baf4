// SPDX-License-Identifier: Apache-2.0
//! A thread of the generator: its connections, and the load that it puts on over them.

use crate::arrival;
use crate::clock::{now_ns, sleep_until, thread_cpu_ns, wake_exactly};
use crate::connection::{Connection, Received, UnderWay};
use crate::job::Job;
use crate::poll::Poll;
use crate::queue::{Queue, Wait};
use crate::record::Record;
use crate::response::Answer;
use crate::stream::Stream;
use lab_model::{Arrivals, ErrorKind};
use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender};

/// Bytes received at once.
const ROOM: usize = 64 * 1024;

/// Connections that are being opened at once, so that the server's queue of them does not overflow.
const MOST_OPENING: usize = 100;

/// How often requests are looked through for those that take too long, and the longest time without a
/// look whether to stop.
const LOOK_NS: u64 = 20_000_000;

/// In a closed loop, a connection that could not be opened is tried again after this, and each further
/// time after twice as long, seven times at the most.
const RETRY_NS: u64 = 10_000_000;
const MOST_DOUBLINGS: u32 = 7;

/// Load from one time to another, ns, in slices.
#[derive(Clone, Copy)]
pub struct Order {
    /// How many loads the generator has had with this one.
    pub number: u64,
    pub begin_ns: u64,
    pub end_ns: u64,
    pub slice_ns: u64,
}

/// What happened in a slice, or when the connections were opened.
pub struct Told {
    pub record: Record,
    /// All answers are in or given up.
    pub last: bool,
}

/// A worker's ends of its channels.
pub struct Ears {
    pub orders: Receiver<Order>,
    /// Records that were read and can be used again.
    pub spares: Receiver<Record>,
    pub tell: Sender<Told>,
}

/// One thread's part of a job.
pub struct Worker {
    job: Arc<Job>,
    /// From 0.
    thread: usize,
    stop: Arc<AtomicBool>,
    ears: Ears,
    poll: Poll,
    room: Box<[u8]>,
    connections: Vec<Connection>,
    /// Connections without enough requests, as often as they lack one.
    idle: VecDeque<usize>,
    /// Connections that could not be sent on.
    broken: Vec<usize>,
    /// Requests under way on all of them.
    under_way: usize,
    /// Connections being opened, while all are.
    opening: usize,
    /// In the order of requests.
    position: usize,
    /// How far the clock by which arrivals are noted is ahead.
    ahead_ns: u64,
    /// Of the load that is on.
    end_ns: u64,
    /// In an open loop.
    queue: Option<Queue>,
    record: Record,
    answered_ns: u64,
}

impl Worker {
    /// With a part of the job's connections, none of them open yet.
    pub fn new(
        job: Arc<Job>,
        thread: usize,
        stop: Arc<AtomicBool>,
        ears: Ears,
    ) -> io::Result<Worker> {
        let connections = (thread..job.connections).step_by(job.threads).count();
        Ok(Worker {
            thread,
            stop,
            ears,
            poll: Poll::new()?,
            room: vec![0; ROOM].into(),
            connections: (0..connections).map(|_| Connection::default()).collect(),
            idle: VecDeque::new(),
            broken: Vec::new(),
            under_way: 0,
            opening: 0,
            position: thread,
            ahead_ns: arrival::ahead_ns(),
            end_ns: 0,
            queue: None,
            record: Record::new(),
            answered_ns: 0,
            job,
        })
    }

    /// Opens the connections, and then does what it is told until nobody is there to tell.
    pub fn run(mut self) {
        wake_exactly();
        if self.job.keep_alive {
            self.open_all();
        }
        let mut heard = self.tell(true);
        while heard.is_some()
            && let Ok(order) = self.ears.orders.recv()
        {
            heard = self.load(order);
        }
    }

    /// Those that cannot be opened are tried again when there is load.
    fn open_all(&mut self) {
        let mut coming = 0..self.connections.len();
        let deadline = |now: u64, job: &Job| now + job.timeout.as_nanos() as u64;
        let mut end = deadline(now_ns(), &self.job);
        while (self.opening > 0 || !coming.is_empty()) && now_ns() < end && !self.stopped() {
            while self.opening < MOST_OPENING
                && let Some(next) = coming.next()
            {
                self.opening += 1;
                if let Err(error) = self.open(next) {
                    self.fail(next, ErrorKind::Connect, &Words(error));
                }
                end = deadline(now_ns(), &self.job);
            }
            self.poll.wait(LOOK_NS);
            self.take_events();
        }
        self.opening = 0;
    }

    /// `None`: nobody listens any more.
    fn load(&mut self, order: Order) -> Option<()> {
        let Order {
            begin_ns,
            end_ns,
            slice_ns,
            ..
        } = order;
        self.begin(order);
        let mut cut_ns = begin_ns;
        let mut cpu_ns = thread_cpu_ns();
        let mut look_ns = begin_ns + LOOK_NS;
        sleep_until(begin_ns);
        let patience_ns = self.job.timeout.as_nanos() as u64;
        loop {
            let now = now_ns();
            while now >= cut_ns + slice_ns && cut_ns + slice_ns < end_ns {
                cut_ns += slice_ns;
                self.close_record(slice_ns, &mut cpu_ns);
                self.tell(false)?;
            }
            self.take_in(now);
            if self.is_done(now) || now >= end_ns + patience_ns || self.stopped() {
                break;
            }
            if now >= look_ns {
                self.expire(now, patience_ns);
                self.ahead_ns = arrival::ahead_ns();
                look_ns = now + LOOK_NS;
            }
            self.give_work(now);
            let next = if now < end_ns { end_ns } else { u64::MAX };
            self.wait(next.min(cut_ns + slice_ns).min(look_ns));
            self.take_events();
        }
        self.give_up();
        // A closed loop's last slice lasts until its last answer, for these are served in it too.
        let planned = end_ns.min(now_ns());
        let last = match self.queue.take() {
            None => planned.max(self.answered_ns),
            Some(_) => planned,
        };
        self.close_record(last.saturating_sub(cut_ns), &mut cpu_ns);
        self.tell(true)
    }

    fn begin(&mut self, order: Order) {
        // Connections that the server has closed meanwhile.
        self.poll.wait(0);
        self.take_events();
        self.record.clear();
        (self.end_ns, self.answered_ns) = (order.end_ns, order.begin_ns);
        self.ahead_ns = arrival::ahead_ns();
        let all = 0..self.connections.len();
        self.idle = (0..self.job.pipeline).flat_map(|_| all.clone()).collect();
        self.queue = Queue::new(&self.job, self.thread, order);
    }

    /// Whether everything that was offered is answered.
    fn is_done(&self, now: u64) -> bool {
        let waiting = self.queue.as_ref().map_or(0, Queue::waiting);
        now >= self.end_ns && self.under_way == 0 && waiting == 0
    }

    fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Takes in what has become due until now.
    fn take_in(&mut self, now: u64) {
        if let Some(queue) = &mut self.queue {
            queue.look(now, &mut self.record);
        }
    }

    /// What is not answered now will not be.
    fn give_up(&mut self) {
        self.take_in(now_ns());
        if let Some(queue) = &mut self.queue {
            queue.end();
            for _ in 0..queue.waiting() {
                let why = || "due, and never sent, for all connections were busy".to_owned();
                self.record.error(ErrorKind::Unfinished, why);
            }
        }
        for i in 0..self.connections.len() {
            if !self.connections[i].under_way().is_empty() {
                self.fail(
                    i,
                    ErrorKind::Unfinished,
                    &"not answered when the load ended",
                );
            }
        }
    }

    fn close_record(&mut self, wall_ns: u64, cpu_ns: &mut u64) {
        let now = thread_cpu_ns();
        let cpu = now - std::mem::replace(cpu_ns, now);
        self.record.wall_ns = wall_ns;
        (self.record.cpu_ns, self.record.busiest_cpu_ns) = (cpu, cpu);
    }

    /// Tells what the record holds, and begins a new one. `None`: nobody listens any more.
    fn tell(&mut self, last: bool) -> Option<()> {
        let mut new = self.ears.spares.try_recv().unwrap_or_default();
        new.clear();
        let record = std::mem::replace(&mut self.record, new);
        self.ears.tell.send(Told { record, last }).ok()
    }

    fn wait(&mut self, until_ns: u64) {
        let now = now_ns();
        let wait = match &self.queue {
            _ if self.poll.is_full() || !self.broken.is_empty() => Wait::ForAnswers(now),
            None => Wait::ForAnswers(until_ns),
            Some(queue) => queue.wait(now),
        };
        match wait {
            Wait::ForAnswers(ns) => {
                self.poll.wait(ns.min(until_ns).saturating_sub(now));
            }
            Wait::Sleep(ns) => {
                sleep_until(ns.min(until_ns));
                self.poll.wait(0);
            }
        }
    }

    /// Sends what there is to send over connections that lack requests.
    fn give_work(&mut self, now: u64) {
        for _ in 0..self.idle.len() {
            let Some(i) = self.idle.pop_front() else {
                return;
            };
            let due = match &mut self.queue {
                Some(queue) => match queue.take(now) {
                    Some(due) => due,
                    None => return self.idle.push_front(i),
                },
                None if now >= self.end_ns => return,
                None if now < self.connections[i].closed_until_ns => {
                    self.idle.push_back(i);
                    continue;
                }
                None => {
                    self.record.offered += 1;
                    now
                }
            };
            self.ask(i, due, now);
        }
    }

    /// Puts a request under way.
    fn ask(&mut self, i: usize, due_ns: u64, now: u64) {
        let request = UnderWay {
            due_ns,
            sent_ns: now,
            position: self.position,
        };
        self.position = self.position.wrapping_add(1);
        self.under_way += 1;
        let opened = match self.connections[i].is_there() {
            true => Ok(()),
            false => self.open(i),
        };
        let asked = self.connections[i].ask(request, &self.job.requests);
        match (opened, asked) {
            (Err(error), _) => self.fail(i, ErrorKind::Connect, &Words(error)),
            (Ok(()), Err(_)) => self.broken.push(i),
            (Ok(()), Ok(())) => {}
        }
    }

    fn open(&mut self, i: usize) -> io::Result<()> {
        let noted = matches!(self.job.arrivals, Arrivals::Open { .. });
        let stream = Stream::open(self.job.address, self.job.tls.as_ref(), noted)?;
        let connection = &mut self.connections[i];
        connection.begin(stream);
        let key = u64::from(connection.generation) << 32 | i as u64;
        connection
            .stream()
            .map_or(Ok(()), |stream| self.poll.add(stream.tcp(), key))
    }

    /// Ends a connection. What was under way on it will not be answered, all for the same reason.
    fn fail(&mut self, i: usize, kind: ErrorKind, why: &dyn Display) {
        let connection = &mut self.connections[i];
        if kind == ErrorKind::Connect {
            let doublings = connection.failures.min(MOST_DOUBLINGS);
            connection.closed_until_ns = now_ns() + (RETRY_NS << doublings);
            connection.failures += 1;
            self.opening = self.opening.saturating_sub(1);
        }
        connection.close();
        for _ in connection.give_up() {
            self.record.error(kind, || why.to_string());
            self.under_way -= 1;
            self.idle.push_back(i);
        }
    }

    fn take_events(&mut self) {
        for index in 0..self.poll.found() {
            let event = self.poll.event(index);
            let (i, generation) = (event.key as u32 as usize, (event.key >> 32) as u32);
            // One that was closed meanwhile, and perhaps replaced.
            if self.connections[i].generation != generation {
                continue;
            }
            if !self.goes_on(i, event.writable) {
                continue;
            }
            if event.readable {
                self.receive(i, event.ended);
            }
        }
        // What could not be sent on may still have been answered.
        while let Some(i) = self.broken.pop() {
            self.receive(i, true);
        }
    }

    /// Opens a connection further, or sends what had no room: whether it is open.
    fn goes_on(&mut self, i: usize, writable: bool) -> bool {
        let connection = &mut self.connections[i];
        match connection.opens() {
            Err(error) => {
                self.fail(i, ErrorKind::Connect, &Words(error));
                return false;
            }
            Ok(true) => {
                connection.failures = 0;
                self.record.connects += 1;
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

    /// Receives and reads what is there, and to the end if the connection has `ended`.
    fn receive(&mut self, i: usize, ended: bool) {
        let generation = self.connections[i].generation;
        let mut room = std::mem::take(&mut self.room);
        loop {
            let (n, came_ns, more) = match self.connections[i].receive(&mut room) {
                Ok(Received::Bytes { n, came_ns, more }) => (n, came_ns, more || ended),
                Ok(Received::Nothing) => break,
                Ok(Received::End) => {
                    self.ended(i);
                    break;
                }
                Err(error) => {
                    self.fail(i, ErrorKind::Reset, &Words(error));
                    break;
                }
            };
            self.record.received_bytes += n as u64;
            self.read(i, &room[..n], self.came_ns(came_ns));
            if !more || self.connections[i].generation != generation {
                break;
            }
        }
        self.room = room;
    }

    /// A time since 1970 by the clock of this thread's other times; without one, now.
    fn came_ns(&self, since_1970: Option<u64>) -> u64 {
        let now = now_ns();
        since_1970.map_or(now, |came| came.saturating_sub(self.ahead_ns).min(now))
    }

    /// Reads what came in at some time.
    fn read(&mut self, i: usize, mut bytes: &[u8], now: u64) {
        let most_body = match self.job.expect.wants_body() {
            true => self.job.expect.most_body(),
            false => 0,
        };
        while !bytes.is_empty() {
            match self.connections[i].read(bytes, &self.job.requests, most_body) {
                Ok((_, None)) => return,
                Ok((used, Some(answer))) => {
                    bytes = &bytes[used..];
                    if !self.answered(i, answer, now) {
                        return;
                    }
                }
                Err(malformed) => {
                    return self.fail(i, ErrorKind::Malformed, &malformed);
                }
            }
        }
    }

    /// The server has ended the connection: that may complete an answer.
    fn ended(&mut self, i: usize) {
        match self.connections[i].end() {
            Some(answer) => {
                self.answered(i, answer, now_ns());
            }
            None => self.fail(
                i,
                ErrorKind::Reset,
                &"the connection ended before the answer",
            ),
        }
    }

    /// The oldest request of a connection is answered: whether that goes on.
    fn answered(&mut self, i: usize, answer: Answer, now: u64) -> bool {
        let Some((request, body)) = self.connections[i].answered() else {
            return true;
        };
        self.under_way -= 1;
        self.answered_ns = now;
        let times = (
            now.saturating_sub(request.due_ns),
            now.saturating_sub(request.sent_ns),
        );
        let expect = &self.job.expect;
        self.record.judge(expect, answer.status, &body, times);
        let stays = answer.keep_alive && self.job.keep_alive;
        if !stays {
            self.connections[i].close();
            // What was sent behind the last request that a server answers is sent again (RFC 9112,
            // section 9.3.2).
            if !self.connections[i].under_way().is_empty()
                && let Err(error) = self.open(i)
            {
                self.fail(i, ErrorKind::Connect, &Words(error));
            }
        }
        if self.queue.is_none() && now < self.end_ns {
            self.record.offered += 1;
            self.ask(i, now, now);
        } else {
            self.idle.push_back(i);
        }
        stays
    }

    /// Ends connections on which a request has been under way for too long.
    fn expire(&mut self, now: u64, patience_ns: u64) {
        for i in 0..self.connections.len() {
            let oldest = self.connections[i].under_way().front();
            if oldest.is_some_and(|request| now > request.sent_ns + patience_ns) {
                self.fail(i, ErrorKind::Timeout, &"no complete answer in time");
            }
        }
    }
}

/// An error of the system for people, without its number.
pub struct Words(pub io::Error);

impl Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            io::ErrorKind::AddrNotAvailable => f.write_str("no local port is free"),
            _ if self.0.raw_os_error().is_some() => write!(f, "{}", self.0.kind()),
            _ => write!(f, "{}", self.0),
        }
    }
}
