// SPDX-License-Identifier: Apache-2.0
//! A generator thread for HTTP/2.
//!
//! It sends the same load as the thread for HTTP/1.1, but it uses libraries, which take more CPU
//! time.

mod link;

use crate::clock::{now_ns, wake_exactly};
use crate::job::LoadJob;
use crate::job::LoadPeriod;
use crate::queue::Wait;
use crate::record::CompleteResponse;
use crate::tracker::{
    CHECK_INTERVAL_NS, MAX_OPENING, PendingRequest, RequestTracker, retry_after_ns,
};
use lab_model::{ErrorKind, LoadCount};
use link::{ConnectionSlot, HttpFault, Meter};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{sleep, timeout};

/// The maximum interval between checks for outstanding responses after the end of a load, in ns.
const CHECK_INTERVAL_AT_END_NS: u64 = 1_000_000;

/// One thread of a job over HTTP/2.
pub struct Http2Worker {
    tracker: RequestTracker,
    runtime: Runtime,
}

impl Http2Worker {
    /// Creates a worker for the thread's connections, which are not opened yet.
    pub fn new(tracker: RequestTracker) -> io::Result<Http2Worker> {
        Ok(Http2Worker {
            tracker,
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    /// Opens the connections, and then runs loads until the engine exits.
    pub fn run(self) {
        wake_exactly();
        let tasks = LocalSet::new();
        let load = Rc::new(ThreadLoad::new(self.tracker));
        if load.job.keep_alive {
            tasks.block_on(&self.runtime, load.clone().open_all());
        }
        let Ok(timer) = tasks.block_on(&self.runtime, async { Timer::new() }) else {
            return;
        };
        load.note_traffic();
        let mut sent = load.tracker.borrow_mut().send(true);
        while sent.is_some()
            && let Some(period) = load.next_period()
        {
            sent = tasks.block_on(&self.runtime, load.clone().run_period(period, &timer));
        }
    }
}

/// The state that all tasks of the thread share.
struct ThreadLoad {
    job: Arc<LoadJob>,
    slots: Vec<ConnectionSlot>,
    meter: Rc<Meter>,
    tracker: RefCell<RequestTracker>,
    /// Wakes idle tasks when a request is due.
    work: Notify,
}

impl ThreadLoad {
    fn new(tracker: RequestTracker) -> ThreadLoad {
        let job = tracker.job.clone();
        let slots = (tracker.thread..job.connections).step_by(job.threads);
        ThreadLoad {
            slots: slots.map(|_| ConnectionSlot::default()).collect(),
            meter: Rc::default(),
            tracker: RefCell::new(tracker),
            work: Notify::new(),
            job,
        }
    }

    /// Opens all connections. Connections that cannot be opened are retried during the load.
    ///
    /// Each of the concurrent tasks stops after its first failure. This function therefore takes at
    /// most the timeout, even if the server does not respond.
    async fn open_all(self: Rc<Self>) {
        let coming = Rc::new(Cell::new(0));
        let mut openers = JoinSet::new();
        for _ in 0..MAX_OPENING.min(self.slots.len()) {
            let (load, coming) = (self.clone(), coming.clone());
            openers.spawn_local(async move {
                while let Some(slot) = load.slots.get(coming.replace(coming.get() + 1)) {
                    let opened = timeout(load.job.timeout, slot.open(&load.job, &load.meter));
                    if !matches!(opened.await, Ok(Ok(()))) || load.tracker.borrow().is_stopped() {
                        break;
                    }
                }
            });
        }
        while openers.join_next().await.is_some() {}
    }

    fn next_period(&self) -> Option<LoadPeriod> {
        self.tracker.borrow().next_period()
    }

    /// Runs a load, and sends the record of every slice. Returns `None` if the engine has exited.
    async fn run_period(self: Rc<Self>, period: LoadPeriod, timer: &Timer) -> Option<()> {
        // While this waits, other tasks notice connections that the server has closed.
        timer.wait_until(period.begin_ns).await;
        self.note_traffic();
        self.tracker.borrow_mut().begin(period);
        let mut tasks = self.tasks();
        loop {
            let now = now_ns();
            self.note_traffic();
            self.tracker.borrow_mut().cut(now)?;
            self.admit_due(now);
            if self.tracker.borrow().is_over(now) {
                break;
            }
            timer.wait_until(self.next_ns(now)).await;
        }
        tasks.shutdown().await;
        self.note_traffic();
        self.tracker.borrow_mut().end()
    }

    fn note_traffic(&self) {
        let record = &mut self.tracker.borrow_mut().record;
        record.counts[LoadCount::Connects] += self.meter.connects.take();
        record.counts[LoadCount::ReceivedBytes] += self.meter.received_bytes.take();
    }

    /// Starts a task for each request that can be in flight at the same time.
    fn tasks(self: &Rc<Self>) -> JoinSet<()> {
        let streams = if self.job.keep_alive {
            self.job.pipeline
        } else {
            1
        };
        let mut tasks = JoinSet::new();
        for _ in 0..streams {
            for slot in 0..self.slots.len() {
                tasks.spawn_local(self.clone().send_and_receive(slot));
            }
        }
        tasks
    }

    /// Sends requests one after another.
    ///
    /// In a closed loop, returns when the load's time is over. In an open loop, runs until the task
    /// is aborted.
    async fn send_and_receive(self: Rc<Self>, slot: usize) {
        let closed_loop = self.tracker.borrow().is_closed_loop();
        let mut failures = 0;
        loop {
            let Some(request) = self.take() else {
                if closed_loop {
                    return;
                }
                self.work.notified().await;
                continue;
            };
            let rendered = self.job.requests.get(request.position);
            let exchange = self.slots[slot].exchange(&self.job, &self.meter, rendered);
            let outcome = timeout(self.job.timeout, exchange)
                .await
                .unwrap_or_else(|_| {
                    Err(HttpFault {
                        kind: ErrorKind::Timeout,
                        words: "no complete response in time".to_owned(),
                    })
                });
            let unconnected = matches!(&outcome, Err(fault) if fault.kind == ErrorKind::Connect);
            self.count(request, outcome);
            failures = if unconnected { failures + 1 } else { 0 };
            if unconnected && closed_loop {
                sleep(Duration::from_nanos(retry_after_ns(failures - 1))).await;
            }
        }
    }

    /// Returns the next request to send, or `None` if there is no request to send now.
    fn take(&self) -> Option<PendingRequest> {
        self.tracker.borrow_mut().take(now_ns())
    }

    fn count(&self, request: PendingRequest, outcome: Result<CompleteResponse, HttpFault>) {
        let mut tracker = self.tracker.borrow_mut();
        match outcome {
            Err(fault) => tracker.failed(fault.kind, || fault.words),
            Ok(response) => tracker.count_response(request, &response, now_ns()),
        }
    }

    /// Queues the requests that have become due, and wakes a task for each of them.
    fn admit_due(&self, now: u64) {
        let mut tracker = self.tracker.borrow_mut();
        let waited = tracker.waiting();
        tracker.admit_due(now);
        for _ in waited..tracker.waiting() {
            self.work.notify_one();
        }
    }

    /// Returns the time at which the main loop must run again, in ns.
    fn next_ns(&self, now: u64) -> u64 {
        let tracker = self.tracker.borrow();
        let (Wait::ForResponses(due) | Wait::Sleep(due)) = tracker.wait(now);
        let most = if tracker.is_past_end(now) {
            CHECK_INTERVAL_AT_END_NS
        } else {
            CHECK_INTERVAL_NS
        };
        due.min(tracker.next_end_ns(now)).min(now + most)
    }
}

/// A timer with a precision of microseconds. The timer of tokio has a precision of one millisecond.
struct Timer(AsyncFd<Descriptor>);

struct Descriptor(TimerFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Timer {
    fn new() -> io::Result<Timer> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
        let timer = Descriptor(timer);
        // SAFETY: the descriptor stays open until `self` is dropped.
        let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
        Ok(Timer(timer?))
    }

    /// Waits until a time of CLOCK_MONOTONIC, in ns. Other tasks run in the meantime.
    async fn wait_until(&self, ns: u64) {
        let time = TimeSpec::from_duration(Duration::from_nanos(ns.max(1)));
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        let set = self.0.get_ref().0.set(Expiration::OneShot(time), flags);
        set.expect("the time was read from the clock");
        if let Ok(mut expired) = self.0.readable().await {
            expired.clear_ready();
        }
    }
}
