// SPDX-License-Identifier: Apache-2.0
//! Locks an SQLite file for writing, like another program that writes to the file.

use super::outage::{Dependency, FirstCommit, Outages, Recovery};
use super::thread_state::ThreadState;
use crate::host::random::random;
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::SubjectProcess;
use crate::targets::sqlite_header::SqliteHeader;
use lab_model::Injection;
use rusqlite::{Connection, ErrorCode};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The interval between two readings of the file and of the subject's state.
const PAUSE: Duration = Duration::from_millis(1);

/// The interval between two attempts to take the lock, which subjects hold most of the time.
const BETWEEN_TRIES: Duration = Duration::from_micros(100);

/// The maximum time to wait for the lock. No subject holds the lock for this long.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Injects the faults of a visit to a file. Dropping it unlocks the file.
pub struct FileInjector {
    locker: Option<Locker>,
    outages: Option<(Outages, LockedFile)>,
}

impl FileInjector {
    /// Starts the injector for a visit with `clients` concurrent clients. Returns `None` if no faults are injected.
    pub fn start(
        path: &Path,
        header: Arc<SqliteHeader>,
        injection: Option<&Injection>,
        clients: u64,
        seed: u64,
    ) -> SubjectResult<Option<FileInjector>> {
        let write_lock = || WriteLock::new(path, header.clone()).map_err(Fault::injection);
        let (mut locker, mut outages) = (None, None);
        match injection {
            Some(Injection::Busy { part, lock_s }) => {
                // All clients that wait for the lock fail.
                let commits = clients as f64 / part;
                let time = Duration::from_secs_f64(*lock_s);
                locker = Some(Locker::start(write_lock()?, commits, time, seed));
            }
            Some(Injection::OutageS(seconds)) => {
                let file = LockedFile {
                    lock: write_lock()?,
                    commits_before: Cell::new(0),
                };
                outages = Some((Outages::new(*seconds, seed), file));
            }
            _ => return Ok(None),
        }
        Ok(Some(FileInjector { locker, outages }))
    }

    /// Sets whether the subject is at work. The file is locked only while it is at work.
    pub fn set_at_work(&self, is_at_work: bool) {
        if let Some(locker) = &self.locker {
            locker.state.set_at_work(is_at_work);
        }
    }

    /// Returns true if measured batches have an outage.
    pub fn has_outages(&self) -> bool {
        self.outages.is_some()
    }

    /// Causes an outage during a batch of about `turn` length that the subject is running.
    pub fn interrupt(
        &self,
        process: &mut SubjectProcess,
        turn: Duration,
    ) -> SubjectResult<Recovery> {
        match &self.outages {
            Some((outages, file)) => outages.make(file, process, turn),
            None => Ok(Recovery::default()),
        }
    }

    /// Checks the injector after a batch. Returns a fault if faults could not be injected.
    pub fn check_work(&self) -> SubjectResult<()> {
        let failure = self.locker.as_ref().and_then(Locker::failure);
        failure.map_or(Ok(()), |message| Err(Fault::injection(message)))
    }
}

/// A connection that takes the write lock without writing.
struct WriteLock {
    connection: Connection,
    header: Arc<SqliteHeader>,
}

impl WriteLock {
    fn new(path: &Path, header: Arc<SqliteHeader>) -> Result<WriteLock, String> {
        let connection = Connection::open(path).map_err(lock_error)?;
        connection
            .busy_timeout(Duration::ZERO)
            .map_err(lock_error)?;
        Ok(WriteLock { connection, header })
    }

    /// Takes the lock as soon as it is free. Returns false if the attempt was aborted.
    fn take(&self, is_given_up: impl Fn() -> bool) -> Result<bool, String> {
        let deadline = Instant::now() + TIMEOUT;
        while !is_given_up() {
            match self.connection.execute_batch("BEGIN IMMEDIATE") {
                Ok(()) => return Ok(true),
                Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
                Err(e) => return Err(lock_error(e)),
            }
            if Instant::now() > deadline {
                return Err(format!("the file stayed locked for {TIMEOUT:?}"));
            }
            thread::sleep(BETWEEN_TRIES);
        }
        Ok(false)
    }

    fn release(&self) -> Result<(), String> {
        self.connection
            .execute_batch("ROLLBACK")
            .map_err(lock_error)
    }

    /// Returns the total number of commits to the file.
    fn commits(&self) -> Result<u32, String> {
        self.header.commits().map_err(|e| e.to_string())
    }
}

/// A file that is locked for the duration of an outage.
struct LockedFile {
    lock: WriteLock,
    /// The number of commits before the file was locked.
    commits_before: Cell<u32>,
}

impl LockedFile {
    fn commits(&self) -> SubjectResult<u32> {
        self.lock.commits().map_err(Fault::injection)
    }
}

impl Dependency for LockedFile {
    fn take_away(&self) -> SubjectResult<()> {
        self.lock.take(|| false).map_err(Fault::injection)?;
        self.commits_before.set(self.commits()?);
        Ok(())
    }

    fn bring_back(&self) -> SubjectResult<Instant> {
        let released_at = Instant::now();
        self.lock.release().map_err(Fault::injection)?;
        Ok(released_at)
    }

    fn first_commit(&self) -> SubjectResult<Option<FirstCommit>> {
        let has_commits = self.commits()? != self.commits_before.get();
        Ok(has_commits.then(|| FirstCommit {
            at: Instant::now(),
            answer: None,
        }))
    }

    fn requests(&self) -> Option<u64> {
        None
    }
}

/// A thread that takes the lock repeatedly until it is dropped.
struct Locker {
    state: Arc<ThreadState>,
    thread: Option<JoinHandle<()>>,
}

impl Locker {
    /// Starts taking the lock after `commits` commits on average, each time for `time`.
    fn start(lock: WriteLock, commits: f64, time: Duration, seed: u64) -> Locker {
        let state = Arc::new(ThreadState::default());
        let shared = state.clone();
        let thread = thread::spawn(move || {
            sys::leave_measured_core();
            shared.keep_failure(lock_repeatedly(&shared, &lock, commits, time, seed));
        });
        Locker {
            state,
            thread: Some(thread),
        }
    }

    fn failure(&self) -> Option<String> {
        self.state.failure()
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.state.end();
        // Release the lock before closing the file, because closing releases all locks of the process.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn lock_repeatedly(
    state: &ThreadState,
    lock: &WriteLock,
    commits: f64,
    time: Duration,
    seed: u64,
) -> Result<(), String> {
    for number in 0.. {
        // Every call has the same probability of a fault, so the distance between faults is exponentially
        // distributed.
        let chance = (random(seed, &[number]) as f64 + 1.0) / u64::MAX as f64;
        let wait = (-chance.min(1.0).ln() * commits) as u32;
        let first = lock.commits()?;
        while lock.commits()?.wrapping_sub(first) < wait && !state.is_over() {
            thread::sleep(PAUSE);
        }
        if state.is_over() {
            break;
        }
        if lock.take(|| state.is_at_rest())? {
            let until = Instant::now() + time;
            while Instant::now() < until && !state.is_at_rest() {
                thread::sleep(PAUSE);
            }
            lock.release()?;
        }
    }
    Ok(())
}

fn lock_error(e: rusqlite::Error) -> String {
    format!("cannot lock the file: {e}")
}
