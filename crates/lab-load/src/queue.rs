// SPDX-License-Identifier: Apache-2.0
//! The open loop's requests that are due and wait for a connection. However many wait, they take no
//! memory: their due times are reckoned once when they become due and once more when they are sent.

use crate::job::{LoadJob, LoadPeriod};
use crate::pace::ArrivalSchedule;
use crate::record::SliceRecord;
use lab_model::Arrivals;

/// If the next request is due within this time, ns, the thread sleeps until then and reads answers after it is sent:
/// the kernel has noted when they came.
const CLOSE_NS: u64 = 200_000;

/// Requests of one thread.
pub struct Queue {
    begin_ns: u64,
    end_ns: u64,
    /// At the first request that is not due yet.
    coming: ArrivalSchedule,
    /// At the first request that is not sent yet.
    sending: ArrivalSchedule,
    waiting: u64,
    tick_ns: u64,
    /// When the last one was sent.
    sent_ns: u64,
}

/// How a thread waits until it has something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For answers, but not longer than until then, ns.
    ForAnswers(u64),
    /// Until then, ns, even if answers come.
    Sleep(u64),
}

impl Queue {
    /// The queue of a job's thread in a period; `None`: the loop is closed.
    pub fn new(job: &LoadJob, thread: usize, period: LoadPeriod) -> Option<Queue> {
        let Arrivals::Open { poisson, stages } = &job.arrivals else {
            return None;
        };
        // Each load has other arrivals.
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

    /// Adds the requests that became due until now.
    pub fn admit_due(&mut self, now_ns: u64, record: &mut SliceRecord) {
        while let Some(due) = self.next_due_ns().filter(|&due| due <= now_ns) {
            record.offered += 1;
            record.lag.saturating_record(now_ns - due);
            self.waiting += 1;
            self.coming.advance();
        }
    }

    /// When the longest waiting request, which is sent now, was due, ns; `None`: none waits.
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        self.waiting = self.waiting.checked_sub(1)?;
        let due = self.sending.due_ns()?;
        self.sending.advance();
        self.sent_ns = now_ns;
        Some(self.begin_ns + due)
    }

    /// The number of waiting requests.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// How to wait for the next request.
    pub fn wait(&self, now_ns: u64) -> Wait {
        match self.next_due_ns() {
            Some(due) if due < now_ns + CLOSE_NS => {
                Wait::Sleep(due.max(self.sent_ns + self.tick_ns))
            }
            due => Wait::ForAnswers(due.unwrap_or(u64::MAX)),
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        let due = self.begin_ns + self.coming.due_ns()?;
        Some(due).filter(|&due| due < self.end_ns)
    }
}
