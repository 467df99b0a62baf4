// SPDX-License-Identifier: Apache-2.0
//! A thread of the generator that speaks HTTP/2: the same load as over HTTP/1.1, by means of libraries
//! and at their price.

mod link;

use crate::clock::{now_ns, thread_cpu_ns, wake_exactly};
use crate::job::Job;
use crate::queue::{Queue, Wait};
use crate::record::Record;
use crate::worker::{Ears, Order, Told};
use lab_model::{Arrivals, ErrorKind};
use link::{Answer, Fault, Meter, Place};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{sleep, timeout};

/// Connections that are being opened at once, so that the server's queue of them does not overflow.
const MOST_OPENING: usize = 100;

/// The longest time without a look whether to stop, and after the end of a load whether all is answered.
const LOOK_NS: u64 = 20_000_000;
const LOOK_AT_END_NS: u64 = 1_000_000;

/// In a closed loop, a connection that could not be opened is tried again after this, and each further
/// time after twice as long, seven times at the most.
const RETRY: Duration = Duration::from_millis(10);
const MOST_DOUBLINGS: u32 = 7;

/// One thread's part of a job over HTTP/2.
pub struct Http2Worker {
    job: Arc<Job>,
    thread: usize,
    stop: Arc<AtomicBool>,
    ears: Ears,
    runtime: Runtime,
}

impl Http2Worker {
    /// With a part of the job's connections, none of them open yet.
    pub fn new(
        job: Arc<Job>,
        thread: usize,
        stop: Arc<AtomicBool>,
        ears: Ears,
    ) -> io::Result<Http2Worker> {
        Ok(Http2Worker {
            job,
            thread,
            stop,
            ears,
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    /// Opens the connections, and then does what it is told until nobody is there to tell.
    pub fn run(self) {
        wake_exactly();
        let tasks = LocalSet::new();
        let load = Rc::new(Load::new(self.job, self.thread));
        if load.job.keep_alive {
            tasks.block_on(&self.runtime, load.clone().open_all(self.stop.clone()));
        }
        let Ok(timer) = tasks.block_on(&self.runtime, async { Timer::new() }) else {
            return;
        };
        let mut driver = Driver {
            load,
            stop: self.stop,
            ears: self.ears,
            timer,
            cpu_ns: thread_cpu_ns(),
        };
        let mut heard = driver.tell(0, true);
        while heard.is_some()
            && let Ok(order) = driver.ears.orders.recv()
        {
            heard = tasks.block_on(&self.runtime, driver.load(order));
        }
    }
}

/// What all tasks of the thread work on.
struct Load {
    job: Arc<Job>,
    thread: usize,
    places: Vec<Place>,
    meter: Rc<Meter>,
    state: RefCell<State>,
    /// Tells tasks that have nothing to send that something is due.
    work: Notify,
}

struct State {
    record: Record,
    /// In an open loop.
    queue: Option<Queue>,
    end_ns: u64,
    /// In the order of requests.
    position: usize,
    under_way: u64,
    answered_ns: u64,
}

/// A request under way.
struct UnderWay {
    due_ns: u64,
    sent_ns: u64,
    position: usize,
}

impl Load {
    fn new(job: Arc<Job>, thread: usize) -> Load {
        let places = (thread..job.connections).step_by(job.threads);
        let state = State {
            record: Record::new(),
            queue: None,
            end_ns: 0,
            position: thread,
            under_way: 0,
            answered_ns: 0,
        };
        Load {
            thread,
            places: places.map(|_| Place::default()).collect(),
            meter: Rc::default(),
            state: RefCell::new(state),
            work: Notify::new(),
            job,
        }
    }

    /// Those that cannot be opened are tried again when there is load. An opener gives up when one fails, so
    /// that this takes no longer than the timeout where nobody answers.
    async fn open_all(self: Rc<Self>, stop: Arc<AtomicBool>) {
        let coming = Rc::new(Cell::new(0));
        let mut openers = JoinSet::new();
        for _ in 0..MOST_OPENING.min(self.places.len()) {
            let (load, coming, stop) = (self.clone(), coming.clone(), stop.clone());
            openers.spawn_local(async move {
                while let Some(place) = load.places.get(coming.replace(coming.get() + 1)) {
                    let opened = timeout(load.job.timeout, place.open(&load.job, &load.meter));
                    if !matches!(opened.await, Ok(Ok(()))) || stop.load(Relaxed) {
                        break;
                    }
                }
            });
        }
        while openers.join_next().await.is_some() {}
    }

    fn begin(&self, order: Order) {
        let mut state = self.state.borrow_mut();
        state.record.clear();
        self.meter.received_bytes.set(0);
        self.meter.connects.set(0);
        (state.end_ns, state.answered_ns) = (order.end_ns, order.begin_ns);
        state.queue = Queue::new(&self.job, self.thread, order);
    }

    /// As many tasks as requests can be under way, each with one at a time.
    fn tasks(self: &Rc<Self>) -> JoinSet<()> {
        let streams = if self.job.keep_alive {
            self.job.pipeline
        } else {
            1
        };
        let mut tasks = JoinSet::new();
        for _ in 0..streams {
            for place in 0..self.places.len() {
                tasks.spawn_local(self.clone().send_and_receive(place));
            }
        }
        tasks
    }

    /// Sends one request after the other until a closed loop's time is over; in an open loop without end.
    async fn send_and_receive(self: Rc<Self>, place: usize) {
        let mut failures = 0;
        loop {
            let Some(request) = self.take() else {
                if self.is_closed_loop() {
                    return;
                }
                self.work.notified().await;
                continue;
            };
            let rendered = self.job.requests.get(request.position);
            let asked = self.places[place].ask(&self.job, &self.meter, rendered);
            let answer = timeout(self.job.timeout, asked).await.unwrap_or_else(|_| {
                Err(Fault {
                    kind: ErrorKind::Timeout,
                    words: "no complete answer in time".to_owned(),
                })
            });
            let unconnected = matches!(&answer, Err(fault) if fault.kind == ErrorKind::Connect);
            self.count(request, answer);
            failures = if unconnected { failures + 1 } else { 0 };
            if unconnected && self.is_closed_loop() {
                sleep(RETRY * (1 << (failures - 1).min(MOST_DOUBLINGS))).await;
            }
        }
    }

    /// The next request that is to be sent now.
    fn take(&self) -> Option<UnderWay> {
        let now = now_ns();
        let state = &mut *self.state.borrow_mut();
        let due_ns = match &mut state.queue {
            Some(queue) => queue.take(now)?,
            None if now >= state.end_ns => return None,
            None => {
                state.record.offered += 1;
                now
            }
        };
        let position = state.position;
        state.position = position.wrapping_add(1);
        state.under_way += 1;
        Some(UnderWay {
            due_ns,
            sent_ns: now,
            position,
        })
    }

    fn count(&self, request: UnderWay, answer: Result<Answer, Fault>) {
        let now = now_ns();
        let state = &mut *self.state.borrow_mut();
        state.under_way -= 1;
        match answer {
            Err(fault) => state.record.error(fault.kind, || fault.words),
            Ok(answer) => {
                state.answered_ns = now;
                let UnderWay {
                    due_ns, sent_ns, ..
                } = request;
                let Answer { status, body } = answer;
                let times = (now.saturating_sub(due_ns), now.saturating_sub(sent_ns));
                state.record.judge(&self.job.expect, status, &body, times);
            }
        }
    }

    /// Takes in what has become due until now.
    fn look(&self, now: u64) {
        let state = &mut *self.state.borrow_mut();
        if let Some(queue) = &mut state.queue {
            let waited = queue.waiting();
            queue.look(now, &mut state.record);
            for _ in waited..queue.waiting() {
                self.work.notify_one();
            }
        }
    }

    /// When to look again.
    fn next_ns(&self, now: u64) -> u64 {
        let state = self.state.borrow();
        let due = match state.queue.as_ref().map(|queue| queue.wait(now)) {
            Some(Wait::ForAnswers(ns) | Wait::Sleep(ns)) => ns,
            None => u64::MAX,
        };
        let end = if now < state.end_ns {
            state.end_ns
        } else {
            now + LOOK_AT_END_NS
        };
        due.min(end).min(now + LOOK_NS)
    }

    fn is_closed_loop(&self) -> bool {
        self.job.arrivals == Arrivals::Closed
    }

    /// Whether everything that was offered is answered.
    fn is_done(&self, now: u64) -> bool {
        let state = self.state.borrow();
        let waiting = state.queue.as_ref().map_or(0, Queue::waiting);
        now >= state.end_ns && state.under_way == 0 && waiting == 0
    }

    /// What is not answered now will not be.
    fn give_up(&self) {
        self.look(now_ns());
        let state = &mut *self.state.borrow_mut();
        for _ in 0..std::mem::take(&mut state.under_way) {
            let why = || "not answered when the load ended".to_owned();
            state.record.error(ErrorKind::Unfinished, why);
        }
        if let Some(queue) = &mut state.queue {
            queue.end();
            for _ in 0..queue.waiting() {
                let why = || "due, and never sent, for all streams were busy".to_owned();
                state.record.error(ErrorKind::Unfinished, why);
            }
        }
    }
}

/// Puts load on when it is told to, and tells of every slice.
struct Driver {
    load: Rc<Load>,
    stop: Arc<AtomicBool>,
    ears: Ears,
    timer: Timer,
    /// At the end of the last slice.
    cpu_ns: u64,
}

impl Driver {
    /// `None`: nobody listens any more.
    async fn load(&mut self, order: Order) -> Option<()> {
        let Order {
            begin_ns,
            end_ns,
            slice_ns,
            ..
        } = order;
        // Connections that the server has closed meanwhile are noticed until then.
        self.timer.until(begin_ns).await;
        self.load.begin(order);
        self.cpu_ns = thread_cpu_ns();
        let mut cut_ns = begin_ns;
        let patience_ns = self.load.job.timeout.as_nanos() as u64;
        let mut tasks = self.load.tasks();
        loop {
            let now = now_ns();
            while now >= cut_ns + slice_ns && cut_ns + slice_ns < end_ns {
                cut_ns += slice_ns;
                self.tell(slice_ns, false)?;
            }
            self.load.look(now);
            let late = now >= end_ns + patience_ns || self.stop.load(Relaxed);
            if late || self.load.is_done(now) {
                break;
            }
            let next = self.load.next_ns(now);
            self.timer.until(next.min(cut_ns + slice_ns)).await;
        }
        tasks.shutdown().await;
        self.load.give_up();
        self.tell(self.end_of_last(end_ns).saturating_sub(cut_ns), true)
    }

    /// A closed loop's last slice lasts until its last answer, for these are served in it too.
    fn end_of_last(&self, end_ns: u64) -> u64 {
        let planned = end_ns.min(now_ns());
        match self.load.is_closed_loop() {
            true => planned.max(self.load.state.borrow().answered_ns),
            false => planned,
        }
    }

    /// Tells what the record holds, and begins a new one. `None`: nobody listens any more.
    fn tell(&mut self, wall_ns: u64, last: bool) -> Option<()> {
        let mut new = self.ears.spares.try_recv().unwrap_or_default();
        new.clear();
        let mut record = std::mem::replace(&mut self.load.state.borrow_mut().record, new);
        let now = thread_cpu_ns();
        let cpu = now - std::mem::replace(&mut self.cpu_ns, now);
        record.wall_ns = wall_ns;
        (record.cpu_ns, record.busiest_cpu_ns) = (cpu, cpu);
        record.connects = self.load.meter.connects.take();
        record.received_bytes = self.load.meter.received_bytes.take();
        self.ears.tell.send(Told { record, last }).ok()
    }
}

/// A timer that is exact to microseconds, where the library's is to milliseconds.
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
        // SAFETY: it is open, and the same, until it is dropped.
        let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
        Ok(Timer(timer?))
    }

    /// Waits until a time of CLOCK_MONOTONIC, ns; others work meanwhile.
    async fn until(&self, ns: u64) {
        let time = TimeSpec::from_duration(Duration::from_nanos(ns.max(1)));
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        let set = self.0.get_ref().0.set(Expiration::OneShot(time), flags);
        set.expect("the time is one of the clock");
        if let Ok(mut expired) = self.0.readable().await {
            expired.clear_ready();
        }
    }
}
