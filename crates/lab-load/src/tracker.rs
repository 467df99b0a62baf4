// SPDX-License-Identifier: Apache-2.0
//! Tracks the requests of one thread, whatever the protocol: which is to be sent next, which are pending, and how
//! they ended.

use crate::clock::{now_ns, thread_cpu_ns};
use crate::job::{LoadJob, LoadPeriod};
use crate::queue::{Queue, Wait};
use crate::record::{CompleteResponse, SliceRecord};
use lab_model::{Arrivals, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender};

/// The most connections that are opened at once, so that the server's queue of them does not overflow.
pub const MAX_OPENING: usize = 100;

/// The longest time until the next check whether to stop, ns.
pub const LOOK_NS: u64 = 20_000_000;

/// In a closed loop, a connection that could not be opened is tried again after this, and each further
/// time after twice as long, seven times at the most.
const RETRY_NS: u64 = 10_000_000;
const MAX_DOUBLINGS: u32 = 7;

/// The time until a connection is tried again, ns; `failures`: how often in a row its opening failed before this time.
pub fn retry_after_ns(failures: u32) -> u64 {
    RETRY_NS << failures.min(MAX_DOUBLINGS)
}

/// A thread's message about a slice, or about the opened connections.
pub struct SliceMessage {
    pub record: SliceRecord,
    /// It is the last of the load: all answers are in or given up.
    pub last: bool,
}

/// A thread's ends of its channels.
pub struct Channels {
    pub periods: Receiver<LoadPeriod>,
    /// Records to use again.
    pub spares: Receiver<SliceRecord>,
    pub messages: Sender<SliceMessage>,
}

/// A request that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub struct PendingRequest {
    /// When it was due, ns.
    pub due_ns: u64,
    /// When it was sent, or the opening of its connection began, ns.
    pub sent_ns: u64,
    /// Its position in the order of requests.
    pub position: usize,
}

/// The requests of one thread.
pub struct RequestTracker {
    pub job: Arc<LoadJob>,
    /// The number of the thread, from 0.
    pub thread: usize,
    /// The record of the current slice.
    pub record: SliceRecord,
    stop: Arc<AtomicBool>,
    channels: Channels,
    /// The current load.
    period: LoadPeriod,
    /// The queue of an open loop.
    queue: Option<Queue>,
    /// The position in the order of requests.
    position: usize,
    pending: u64,
    /// When the last answer came, or the load began, ns.
    answered_ns: u64,
    /// When the current slice began, ns.
    cut_ns: u64,
    /// The CPU time of this thread at that time, ns.
    cpu_ns: u64,
}

impl RequestTracker {
    /// The tracker of a job's thread before its first load.
    pub fn new(
        job: Arc<LoadJob>,
        thread: usize,
        stop: Arc<AtomicBool>,
        channels: Channels,
    ) -> RequestTracker {
        RequestTracker {
            job,
            thread,
            record: SliceRecord::new(),
            stop,
            channels,
            period: LoadPeriod::default(),
            queue: None,
            position: thread,
            pending: 0,
            answered_ns: 0,
            cut_ns: 0,
            cpu_ns: 0,
        }
    }

    /// Waits for the next load. `None`: the engine has ended.
    pub fn next_period(&self) -> Option<LoadPeriod> {
        self.channels.periods.recv().ok()
    }

    /// True if the load is to be stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub fn is_closed_loop(&self) -> bool {
        self.job.arrivals == Arrivals::Closed
    }

    /// Begins a load, and drops what the record holds.
    pub fn begin(&mut self, period: LoadPeriod) {
        self.record.clear();
        self.queue = Queue::new(&self.job, self.thread, period);
        (self.cut_ns, self.answered_ns) = (period.begin_ns, period.begin_ns);
        self.cpu_ns = thread_cpu_ns();
        self.period = period;
    }

    /// True if the load's time is over. Answers may still come.
    pub fn is_past_end(&self, now_ns: u64) -> bool {
        now_ns >= self.period.end_ns
    }

    /// True if all that was offered is answered, or no longer waited for.
    pub fn is_over(&self, now_ns: u64) -> bool {
        let timeout_ns = self.job.timeout.as_nanos() as u64;
        let answered = || self.pending == 0 && self.waiting() == 0;
        self.is_stopped()
            || self.is_past_end(now_ns) && answered()
            || now_ns >= self.period.end_ns + timeout_ns
    }

    /// When the current slice or the load's time ends, ns.
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

    /// Sends every slice that is over, except the last one. `None`: the engine has ended.
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

    /// Adds the requests that became due until now.
    pub fn admit_due(&mut self, now_ns: u64) {
        if let Some(queue) = &mut self.queue {
            queue.admit_due(now_ns, &mut self.record);
        }
    }

    /// The number of requests that are due and not sent.
    pub fn waiting(&self) -> u64 {
        self.queue.as_ref().map_or(0, Queue::waiting)
    }

    /// How an open loop waits for the next request that is due.
    pub fn wait(&self, now_ns: u64) -> Wait {
        let queue = self.queue.as_ref();
        queue.map_or(Wait::ForAnswers(u64::MAX), |queue| queue.wait(now_ns))
    }

    /// The request that is to be sent now, if any. It becomes pending.
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

    /// Counts an answer, right or wrong.
    pub fn answered(&mut self, request: PendingRequest, response: &CompleteResponse, at_ns: u64) {
        self.pending -= 1;
        self.answered_ns = self.answered_ns.max(at_ns);
        let times = [request.due_ns, request.sent_ns].map(|from| at_ns.saturating_sub(from));
        self.record.judge(&self.job.expect, response, times.into());
    }

    /// Counts a pending request that will not be answered.
    pub fn failed(&mut self, kind: ErrorKind, words: impl FnOnce() -> String) {
        self.pending -= 1;
        self.record.error(kind, words);
    }

    /// Ends the load, gives up its pending requests, and sends its last slice. `None`: the engine has ended.
    pub fn end(&mut self) -> Option<()> {
        let now = now_ns();
        self.admit_due(now);
        for _ in 0..std::mem::take(&mut self.pending) {
            let reason = || "not answered when the load ended".to_owned();
            self.record.error(ErrorKind::Unfinished, reason);
        }
        let reason = if now < self.period.end_ns {
            "due, and not sent when the load was stopped"
        } else {
            "due, and never sent, for all connections were busy"
        };
        for _ in 0..self.queue.take().map_or(0, |queue| queue.waiting()) {
            self.record
                .error(ErrorKind::Unfinished, || reason.to_owned());
        }
        let end_ns = self.period.end_ns.min(now);
        self.record.wall_ns = end_ns.saturating_sub(self.cut_ns);
        self.record.drain_ns = self.answered_ns.saturating_sub(end_ns);
        self.send(true)
    }

    /// Sends the record and begins a new one. `None`: the engine has ended.
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
