// SPDX-License-Identifier: Apache-2.0
//! Tracks the requests of one thread, for any protocol. Determines the next request to send, and
//! records the pending requests and their results.

use crate::clock::{now_ns, thread_cpu_ns};
use crate::job::{LoadJob, LoadPeriod};
use crate::queue::{Queue, Wait};
use crate::record::{CompleteResponse, SliceRecord};
use lab_model::{Arrivals, ErrorKind};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender};

/// The maximum number of connections that a thread opens at the same time. A higher number could
/// overflow the server's accept queue.
pub const MAX_OPENING: usize = 100;

/// The maximum interval between two checks for a request to stop, in ns.
pub const CHECK_INTERVAL_NS: u64 = 20_000_000;

/// The delay before a closed loop retries a connection that could not be opened, in ns. It doubles
/// with each failure, up to [`MAX_DOUBLINGS`] times.
const RETRY_NS: u64 = 10_000_000;
const MAX_DOUBLINGS: u32 = 7;

/// Returns the delay before a connection is retried, in ns. `failures` is the number of consecutive
/// failures before the last failure.
pub fn retry_after_ns(failures: u32) -> u64 {
    RETRY_NS << failures.min(MAX_DOUBLINGS)
}

/// Returns the position in the order of requests at which a thread starts.
///
/// It is random and depends on the job's seed, so that a load of many short visits sends all
/// requests. The threads start at equal distances.
fn first_position(job: &LoadJob, thread: usize) -> usize {
    let period = job.requests.period();
    let first = SmallRng::seed_from_u64(job.seed).random_range(0..period);
    first + thread * period / job.threads
}

/// A thread's message about a slice, or about the opened connections.
pub struct SliceMessage {
    pub record: SliceRecord,
    /// True for the last message of a load. All responses have arrived, or the thread no longer
    /// waits for them.
    pub last: bool,
}

/// The channels between a thread and the engine.
pub struct Channels {
    pub periods: Receiver<LoadPeriod>,
    /// Records that the thread can reuse.
    pub spares: Receiver<SliceRecord>,
    pub messages: Sender<SliceMessage>,
}

/// A request without a complete response.
#[derive(Clone, Copy, Debug)]
pub struct PendingRequest {
    /// The time when the request was due, in ns.
    pub due_ns: u64,
    /// The time when the request was sent, or when its connection started to open, in ns.
    pub sent_ns: u64,
    /// The position of the request in the order of requests.
    pub position: usize,
}

/// The requests of one thread.
pub struct RequestTracker {
    pub job: Arc<LoadJob>,
    /// The index of the thread, from 0.
    pub thread: usize,
    /// The record of the current slice.
    pub record: SliceRecord,
    stop: Arc<AtomicBool>,
    channels: Channels,
    /// The current load.
    period: LoadPeriod,
    /// The queue of an open loop, or `None` for a closed loop.
    queue: Option<Queue>,
    /// The position of the next request in the order of requests.
    position: usize,
    pending: u64,
    /// The time when the last response arrived, in ns. Before the first response, the time when the
    /// load started.
    last_response_ns: u64,
    /// The time when the current slice started, in ns.
    cut_ns: u64,
    /// The CPU time of this thread at the start of the slice, in ns.
    cpu_ns: u64,
}

impl RequestTracker {
    /// Creates the tracker of a thread.
    pub fn new(
        job: Arc<LoadJob>,
        thread: usize,
        stop: Arc<AtomicBool>,
        channels: Channels,
    ) -> RequestTracker {
        RequestTracker {
            position: first_position(&job, thread),
            job,
            thread,
            record: SliceRecord::new(),
            stop,
            channels,
            period: LoadPeriod::default(),
            queue: None,
            pending: 0,
            last_response_ns: 0,
            cut_ns: 0,
            cpu_ns: 0,
        }
    }

    /// Waits for the next load. Returns `None` if the engine has exited.
    pub fn next_period(&self) -> Option<LoadPeriod> {
        self.channels.periods.recv().ok()
    }

    /// Returns true if the load should stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub fn is_closed_loop(&self) -> bool {
        self.job.arrivals == Arrivals::Closed
    }

    /// Starts a load with an empty record.
    pub fn begin(&mut self, period: LoadPeriod) {
        self.record.clear();
        self.queue = Queue::new(&self.job, self.thread, period);
        (self.cut_ns, self.last_response_ns) = (period.begin_ns, period.begin_ns);
        self.cpu_ns = thread_cpu_ns();
        self.period = period;
    }

    /// Returns true if the load's time is over. Responses may still arrive.
    pub fn is_past_end(&self, now_ns: u64) -> bool {
        now_ns >= self.period.end_ns
    }

    /// Returns true if the load was stopped, if its time is over and all requests have a result, or
    /// if the timeout after its end has passed.
    pub fn is_over(&self, now_ns: u64) -> bool {
        let timeout_ns = self.job.timeout.as_nanos() as u64;
        let has_all_responses = || self.pending == 0 && self.waiting() == 0;
        self.is_stopped()
            || self.is_past_end(now_ns) && has_all_responses()
            || now_ns >= self.period.end_ns + timeout_ns
    }

    /// Returns the time at which the current slice or the load ends, whichever comes first, in ns.
    pub fn next_end_ns(&self, now_ns: u64) -> u64 {
        let LoadPeriod {
            end_ns, slice_ns, ..
        } = self.period;
        if self.is_past_end(now_ns) {
            u64::MAX
        } else {
            end_ns.min(self.cut_ns + slice_ns)
        }
    }

    /// Sends the records of all completed slices except the last slice. Returns `None` if the
    /// engine has exited.
    pub fn cut(&mut self, now_ns: u64) -> Option<()> {
        let LoadPeriod {
            end_ns, slice_ns, ..
        } = self.period;
        while now_ns >= self.cut_ns + slice_ns && self.cut_ns + slice_ns < end_ns {
            self.cut_ns += slice_ns;
            self.record.wall_ns = slice_ns;
            self.send(false)?;
        }
        Some(())
    }

    /// Queues the requests that have become due.
    pub fn admit_due(&mut self, now_ns: u64) {
        if let Some(queue) = &mut self.queue {
            queue.admit_due(now_ns, &mut self.record);
        }
    }

    /// Returns the number of due requests that have not been sent yet.
    pub fn waiting(&self) -> u64 {
        self.queue.as_ref().map_or(0, Queue::waiting)
    }

    /// Returns the method by which an open loop waits for the next due request.
    pub fn wait(&self, now_ns: u64) -> Wait {
        let queue = self.queue.as_ref();
        queue.map_or(Wait::ForResponses(u64::MAX), |queue| queue.wait(now_ns))
    }

    /// Returns the next request to send, or `None` if there is no request to send now. The request
    /// becomes pending.
    pub fn take(&mut self, now_ns: u64) -> Option<PendingRequest> {
        let past_end = self.is_past_end(now_ns);
        let due_ns = match &mut self.queue {
            Some(queue) => queue.take(now_ns)?,
            None if past_end => return None,
            None => {
                self.record.offered += 1;
                now_ns
            }
        };
        let position = self.position;
        self.position = position.wrapping_add(1);
        self.pending += 1;
        Some(PendingRequest {
            due_ns,
            sent_ns: now_ns,
            position,
        })
    }

    /// Counts a response, whether expected or unexpected.
    pub fn count_response(
        &mut self,
        request: PendingRequest,
        response: &CompleteResponse,
        at_ns: u64,
    ) {
        self.pending -= 1;
        self.last_response_ns = self.last_response_ns.max(at_ns);
        self.record.judge(
            &self.job.expect,
            response,
            at_ns.saturating_sub(request.due_ns),
            at_ns.saturating_sub(request.sent_ns),
        );
    }

    /// Counts a pending request as failed.
    pub fn failed(&mut self, kind: ErrorKind, words: impl FnOnce() -> String) {
        self.pending -= 1;
        self.record.error(kind, words);
    }

    /// Ends the load, counts its pending requests as failed, and sends its last slice. Returns
    /// `None` if the engine has exited.
    pub fn end(&mut self) -> Option<()> {
        let now = now_ns();
        self.admit_due(now);
        for _ in 0..std::mem::take(&mut self.pending) {
            let reason = || "no response when the load ended".to_owned();
            self.record.error(ErrorKind::Unfinished, reason);
        }
        let reason = if now < self.period.end_ns {
            "due, but not sent when the load was stopped"
        } else {
            "due, but never sent, because all connections were busy"
        };
        for _ in 0..self.queue.take().map_or(0, |queue| queue.waiting()) {
            self.record
                .error(ErrorKind::Unfinished, || reason.to_owned());
        }
        let end_ns = self.period.end_ns.min(now);
        self.record.wall_ns = end_ns.saturating_sub(self.cut_ns);
        self.record.drain_ns = self.last_response_ns.saturating_sub(end_ns);
        self.send(true)
    }

    /// Sends the record and starts a new one. Returns `None` if the engine has exited.
    pub fn send(&mut self, last: bool) -> Option<()> {
        let now = thread_cpu_ns();
        let cpu = now - std::mem::replace(&mut self.cpu_ns, now);
        (self.record.cpu_ns, self.record.busiest_cpu_ns) = (cpu, cpu);
        let mut new = self.channels.spares.try_recv().unwrap_or_default();
        new.clear();
        let record = std::mem::replace(&mut self.record, new);
        self.channels
            .messages
            .send(SliceMessage { record, last })
            .ok()
    }
}
