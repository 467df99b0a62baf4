// SPDX-License-Identifier: Apache-2.0
//! The load generator: its threads with their connections, and the merged records of all threads.

use crate::clock::now_ns;
use crate::http2::Http2Worker;
use crate::job::LoadJob;
use crate::job::LoadPeriod;
use crate::record::SliceRecord;
use crate::tracker::{Channels, RequestTracker, SliceMessage};
use crate::worker::Worker;
use lab_model::{LoadCount, Protocol};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The number of files that a process needs in addition to its connections.
const OTHER_FILES: u64 = 64;

/// The time between announcing a load to all threads and its start, in ns.
const NOTICE_NS: u64 = 2_000_000;

/// The interval at which the engine checks whether to stop while it waits for a message from a thread.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A generator with open connections.
pub struct Engine {
    threads: Vec<Thread>,
    stop: Arc<AtomicBool>,
    /// A function that returns true if a load should stop early.
    stops: fn() -> bool,
    total: SliceRecord,
    loads: u64,
    /// The number of connections that were opened before the first load. These connections count in
    /// the first slice of that load.
    opened: u64,
}

/// An error that prevents a load from running.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The process cannot open the requested number of connections.
    #[error(
        "{connections} connections need as many open files, but this process may open only {limit}: raise the \
         limit, for example with `ulimit -n {}`", connections + OTHER_FILES
    )]
    Files {
        /// The requested number of connections.
        connections: u64,
        /// The hard limit on open files.
        limit: u64,
    },
    /// An error of the operating system.
    #[error("cannot start the generator's threads: {0}")]
    System(#[from] io::Error),
}

struct Thread {
    periods: Option<Sender<LoadPeriod>>,
    spares: Sender<SliceRecord>,
    messages: Receiver<SliceMessage>,
    handle: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts the threads and opens the connections.
    ///
    /// The start takes at most the job's timeout. Connections that cannot be opened are retried
    /// during the load.
    ///
    /// # Errors
    /// Returns an error if the number of connections exceeds the limit on open files, or if a
    /// thread cannot be started.
    pub fn start(job: LoadJob) -> Result<Engine, LoadError> {
        allow_files(job.connections as u64)?;
        let stop = Arc::new(AtomicBool::new(false));
        let job = Arc::new(job);
        let threads = (0..job.threads).map(|thread| Thread::start(&job, thread, &stop));
        let threads = threads.collect::<io::Result<Vec<_>>>()?;
        let mut opening = SliceRecord::new();
        for thread in &threads {
            let SliceMessage { record, .. } = thread.messages.recv().map_err(|_| worker_lost())?;
            opening.add(&record);
            let _ = thread.spares.send(record);
        }
        Ok(Engine {
            threads,
            stop,
            stops: || false,
            loads: 0,
            opened: opening.counts[LoadCount::Connects],
            total: opening,
        })
    }

    /// Sets a function that returns true if a load should stop early.
    ///
    /// It is called at regular intervals, even if no messages arrive from the threads.
    pub fn stop_when(&mut self, stops: fn() -> bool) {
        self.stops = stops;
    }

    /// Returns the record of the last slice or, before the first load, the record of opening the
    /// connections.
    pub fn last(&self) -> &SliceRecord {
        &self.total
    }

    /// Runs the load for `length` and passes the record of each slice to `each` in chronological
    /// order.
    ///
    /// The last record follows once all responses have arrived, or once the job's timeout has
    /// passed after the end of the load. If `each` returns false, the load stops early, but `each`
    /// still receives the remaining records.
    pub fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(&SliceRecord) -> bool,
    ) -> Result<(), LoadError> {
        let begin_ns = now_ns() + NOTICE_NS;
        let end_ns = begin_ns + length.as_nanos() as u64;
        let slice_ns = (slice.as_nanos() as u64).max(1);
        self.stop.store(false, Relaxed);
        self.loads += 1;
        for thread in &self.threads {
            thread.load(LoadPeriod {
                number: self.loads,
                begin_ns,
                end_ns,
                slice_ns,
            })?;
        }
        let mut going: Vec<bool> = vec![true; self.threads.len()];
        while going.contains(&true) {
            self.total.clear();
            for (thread, going) in self.threads.iter().zip(&mut going).filter(|(_, g)| **g) {
                let SliceMessage { record, last } = thread.next_message(self.stops, &self.stop)?;
                self.total.add(&record);
                *going = !last;
                let _ = thread.spares.send(record);
            }
            self.total.counts[LoadCount::Connects] += std::mem::take(&mut self.opened);
            if !each(&self.total) {
                self.stop.store(true, Relaxed);
            }
        }
        Ok(())
    }
}

/// Stops the threads, which closes all connections.
impl Drop for Engine {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in &mut self.threads {
            thread.periods = None;
            if let Some(handle) = thread.handle.take() {
                let _ = handle.join();
            }
        }
    }
}

impl Thread {
    fn start(job: &Arc<LoadJob>, thread: usize, stop: &Arc<AtomicBool>) -> io::Result<Thread> {
        let (periods, periods_of_thread) = channel();
        let (spares, spares_of_thread) = channel();
        let (messages_of_thread, messages) = channel();
        let channels = Channels {
            periods: periods_of_thread,
            spares: spares_of_thread,
            messages: messages_of_thread,
        };
        let tracker = RequestTracker::new(job.clone(), thread, stop.clone(), channels);
        let named = Builder::new().name(format!("load-{thread}"));
        let handle = match job.protocol {
            Protocol::Http1 => {
                let worker = Worker::new(tracker)?;
                named.spawn(|| worker.run())?
            }
            Protocol::Http2 => {
                let worker = Http2Worker::new(tracker)?;
                named.spawn(|| worker.run())?
            }
        };
        Ok(Thread {
            periods: Some(periods),
            spares,
            messages,
            handle: Some(handle),
        })
    }

    /// Waits for the next message.
    fn next_message(&self, stops: fn() -> bool, stop: &AtomicBool) -> io::Result<SliceMessage> {
        loop {
            match self.messages.recv_timeout(STOP_CHECK_INTERVAL) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Timeout) => {
                    stop.fetch_or(stops(), Relaxed);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(worker_lost()),
            }
        }
    }

    fn load(&self, period: LoadPeriod) -> io::Result<()> {
        let periods = self.periods.as_ref().ok_or_else(worker_lost)?;
        periods.send(period).map_err(|_| worker_lost())
    }
}

fn worker_lost() -> io::Error {
    io::Error::other("a thread of the generator exited unexpectedly")
}

/// Raises the limit on open files of this process to the hard limit.
///
/// # Errors
/// Returns an error if the hard limit is too low for the given number of connections.
pub fn allow_files(connections: u64) -> Result<(), LoadError> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).map_err(io::Error::from)?;
    let needed = connections + OTHER_FILES;
    if needed > most {
        return Err(LoadError::Files {
            connections,
            limit: most,
        });
    }
    // Raises the limit to the hard limit rather than to the required number of files, because other
    // engines may run in this process.
    setrlimit(Resource::RLIMIT_NOFILE, most, most).map_err(io::Error::from)?;
    Ok(())
}
