// SPDX-License-Identifier: Apache-2.0
//! The record of a slice of load.

use crate::content_coding::ContentCoding;
use crate::expect::Expect;
use hdrhistogram::Histogram;
use lab_model::{Counts, ErrorKind, LoadCounts, PointId, Slice, SubjectId, add_statuses};

/// A histogram of times in ns. In a slice, every bucket contains fewer than 2^32 requests.
pub type Times = Histogram<u32>;

/// A response that was received completely.
pub(crate) struct CompleteResponse {
    pub status: u16,
    pub coding: ContentCoding,
    /// The body, or the part of the body that is checked.
    pub body: Vec<u8>,
}

/// The record of a slice of load, from one thread or merged from all threads. Its size is constant.
#[derive(Clone, Debug)]
pub struct SliceRecord {
    /// The length of the slice, in ns.
    pub wall_ns: u64,
    /// The time from the end of the load to the last response, in ns. Set only in the last slice.
    pub drain_ns: u64,
    /// The number of requests that were due in the slice. In a closed loop, the number of requests
    /// sent.
    pub offered: u64,
    /// The number of requests with an expected response.
    pub served: u64,
    /// The number of requests that were not served, by error, in the order of [`ErrorKind::ALL`].
    pub errors: [u64; ErrorKind::ALL.len()],
    /// The number of responses for each status code, in ascending order of the codes.
    pub statuses: Vec<(u16, u64)>,
    /// Further counts.
    pub counts: LoadCounts,
    /// The CPU time of all threads, in ns.
    pub cpu_ns: u64,
    /// The CPU time of the busiest thread, in ns.
    pub busiest_cpu_ns: u64,
    /// The response times of served requests: from the time when a request was due (in a closed
    /// loop: sent) to the end of its response, in ns.
    pub response: Times,
    /// The service times of served requests: from the time when a request was sent to the end of
    /// its response, in ns.
    pub service: Times,
    /// The send delays of an open loop: from the time when a request was due to the time when the
    /// generator queued it, in ns.
    pub send_delay: Times,
    /// The message of the first error of each kind, unless it only repeats the kind.
    pub words: [Option<String>; ErrorKind::ALL.len()],
}

impl SliceRecord {
    /// Creates an empty record.
    pub fn new() -> SliceRecord {
        let empty = || {
            Histogram::new_with_bounds(1, Counts::MAX_NS, Counts::DIGITS)
                .expect("the bounds of the histogram are valid")
        };
        SliceRecord {
            wall_ns: 0,
            drain_ns: 0,
            offered: 0,
            served: 0,
            errors: Default::default(),
            statuses: Vec::new(),
            counts: LoadCounts::default(),
            cpu_ns: 0,
            busiest_cpu_ns: 0,
            response: empty(),
            service: empty(),
            send_delay: empty(),
            words: Default::default(),
        }
    }

    /// Counts an error, and stores the message of the first error of each kind.
    pub fn error(&mut self, kind: ErrorKind, words: impl FnOnce() -> String) {
        self.errors[kind as usize] += 1;
        self.words[kind as usize].get_or_insert_with(words);
    }

    /// Counts a response. The request counts as served if its response is expected.
    pub(crate) fn judge(
        &mut self,
        expect: &Expect,
        response: &CompleteResponse,
        response_ns: u64,
        service_ns: u64,
    ) {
        let CompleteResponse {
            status,
            coding,
            body,
        } = response;
        add_statuses(&mut self.statuses, &[(*status, 1)]);
        if !expect.status(*status) {
            self.error(ErrorKind::Status, || format!("status {status}"));
        } else if let Err(reason) = expect.body(*coding, body) {
            self.error(ErrorKind::Body, || reason);
        } else {
            self.served += 1;
            self.response.saturating_record(response_ns);
            self.service.saturating_record(service_ns);
        }
    }

    /// Adds the record of another thread for the same slice.
    pub fn add(&mut self, other: &SliceRecord) {
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.drain_ns = self.drain_ns.max(other.drain_ns);
        self.offered += other.offered;
        self.served += other.served;
        for (own, others) in self.errors.iter_mut().zip(&other.errors) {
            *own += others;
        }
        add_statuses(&mut self.statuses, &other.statuses);
        self.counts.add(&other.counts);
        self.cpu_ns += other.cpu_ns;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        let pairs = [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.send_delay, &other.send_delay),
        ];
        for (own, others) in pairs {
            own.add(others).expect("both have the same bounds");
        }
        for (own, others) in self.words.iter_mut().zip(&other.words) {
            *own = own.take().or_else(|| others.clone());
        }
    }

    /// Resets all counters, but keeps the allocated memory.
    pub fn clear(&mut self) {
        let [response, service, send_delay] =
            [&mut self.response, &mut self.service, &mut self.send_delay];
        // Resetting an empty histogram would touch all its pages.
        let used = [response, service, send_delay]
            .into_iter()
            .filter(|h| !h.is_empty());
        used.for_each(Histogram::reset);
        self.words.iter_mut().for_each(|words| *words = None);
        (self.offered, self.served, self.errors) = (0, 0, Default::default());
        self.statuses.clear();
        (self.wall_ns, self.drain_ns) = (0, 0);
        self.counts = LoadCounts::default();
        (self.cpu_ns, self.busiest_cpu_ns) = (0, 0);
    }

    /// Converts the record to a slice of a run. The server's CPU time and memory are unknown here.
    pub fn slice(&self, point: PointId, subject: SubjectId, pass: u32) -> Slice {
        let errors = ErrorKind::ALL.into_iter().zip(self.errors);
        Slice {
            point,
            subject,
            pass,
            wall_ns: self.wall_ns,
            drain_ns: self.drain_ns,
            offered: self.offered,
            served: self.served,
            errors: errors.filter(|(_, count)| *count > 0).collect(),
            statuses: self.statuses.clone(),
            counts: self.counts,
            cpu_ns: self.cpu_ns,
            busiest_cpu_ns: self.busiest_cpu_ns,
            response: counts(&self.response).into(),
            service: counts(&self.service).into(),
            send_delay: counts(&self.send_delay).into(),
            ..Slice::default()
        }
    }
}

impl Default for SliceRecord {
    fn default() -> Self {
        SliceRecord::new()
    }
}

fn counts(histogram: &Times) -> Counts {
    let recorded = histogram.iter_recorded();
    let pairs = recorded.map(|v| (v.value_iterated_to(), v.count_since_last_iteration()));
    Counts(pairs.collect())
}
