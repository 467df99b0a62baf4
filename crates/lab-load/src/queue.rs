// SPDX-License-Identifier: Apache-2.0
//! The queue of an open loop. It contains the requests that are due but wait for a connection.
//!
//! The queue uses constant memory. It does not store due times, but computes them twice: when a
//! request becomes due, and when it is sent.

use crate::job::{LoadJob, LoadPeriod};
use crate::pace::ArrivalSchedule;
use crate::record::SliceRecord;
use lab_model::Arrivals;

/// The time before a due request, in ns, during which the thread only sleeps until it can send the
/// request, and does not read responses. The sleep does not distort response times, because the
/// kernel records when responses arrive.
const CLOSE_NS: u64 = 200_000;

/// The requests of one thread that are due but wait for a connection.
pub struct Queue {
    begin_ns: u64,
    end_ns: u64,
    /// The schedule, starting at the first request that is not due yet.
    coming: ArrivalSchedule,
    /// The schedule, starting at the first request that has not been sent yet.
    sending: ArrivalSchedule,
    waiting: u64,
    tick_ns: u64,
    /// The time when the last request was sent, in ns.
    sent_ns: u64,
}

/// The method by which a thread waits for the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Wait for responses, but no later than the given time, in ns.
    ForResponses(u64),
    /// Sleep until the given time, in ns, even if responses arrive.
    Sleep(u64),
}

impl Queue {
    /// Creates the queue of a job's thread for a load. Returns `None` for a closed loop.
    pub fn new(job: &LoadJob, thread: usize, period: LoadPeriod) -> Option<Queue> {
        let Arrivals::Open { poisson, stages } = &job.arrivals else {
            return None;
        };
        // Arrivals differ between loads.
        let seed = job.seed.wrapping_add(period.number);
        let schedule = ArrivalSchedule::new(stages, *poisson, thread, job.threads, seed);
        let LoadPeriod {
            begin_ns, end_ns, ..
        } = period;
        Some(Queue {
            begin_ns,
            end_ns,
            coming: schedule.clone(),
            sending: schedule,
            waiting: 0,
            tick_ns: job.tick_ns,
            sent_ns: 0,
        })
    }

    /// Adds the requests that have become due.
    pub fn admit_due(&mut self, now_ns: u64, record: &mut SliceRecord) {
        while let Some(due) = self.next_due_ns().filter(|&due| due <= now_ns) {
            record.offered += 1;
            record.send_delay.saturating_record(now_ns - due);
            self.waiting += 1;
            self.coming.advance();
        }
    }

    /// Removes the request that has waited the longest, so that it can be sent now. Returns its due
    /// time in ns, or `None` if no request is waiting.
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        self.waiting = self.waiting.checked_sub(1)?;
        let due = self.sending.due_ns()?;
        self.sending.advance();
        self.sent_ns = now_ns;
        Some(self.begin_ns + due)
    }

    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Returns the method by which the thread waits for the next request.
    pub fn wait(&self, now_ns: u64) -> Wait {
        match self.next_due_ns() {
            Some(due) if due < now_ns + CLOSE_NS => {
                Wait::Sleep(due.max(self.sent_ns + self.tick_ns))
            }
            due => Wait::ForResponses(due.unwrap_or(u64::MAX)),
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        let due = self.begin_ns + self.coming.due_ns()?;
        Some(due).filter(|&due| due < self.end_ns)
    }
}
