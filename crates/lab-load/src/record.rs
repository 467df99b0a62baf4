// SPDX-License-Identifier: Apache-2.0
//! The record of a slice of load.

use crate::content_coding::ContentCoding;
use crate::expect::Expect;
use hdrhistogram::Histogram;
use lab_model::{Counts, ErrorKind, PointId, Slice, SubjectId, add_statuses};

/// Counts of times. No bucket of a slice reaches 2^32 requests.
pub type Times = Histogram<u32>;

/// A complete response.
pub(crate) struct CompleteResponse {
    pub status: u16,
    pub coding: ContentCoding,
    /// Its body, or as much of it as is checked.
    pub body: Vec<u8>,
}

/// The record of a slice of load, in one thread or in all. Its size is constant.
#[derive(Clone, Debug)]
pub struct SliceRecord {
    /// The length of the slice, ns.
    pub wall_ns: u64,
    /// How long after the load's end its last answer came, ns; in the last slice.
    pub drain_ns: u64,
    /// Requests that were due in it; in a closed loop, that were sent.
    pub offered: u64,
    /// Requests that were answered as they should be.
    pub served: u64,
    /// Requests that were not answered as they should be, in the order of [`ErrorKind::ALL`].
    pub errors: [u64; ErrorKind::ALL.len()],
    /// How many responses had which status code, in ascending order.
    pub statuses: Vec<(u16, u64)>,
    /// Connections opened.
    pub connects: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Answers timed by when they were read, since the kernel's arrival time did not fit.
    pub read_times: u64,
    /// CPU time of the threads, ns.
    pub cpu_ns: u64,
    /// CPU time of the busiest thread, ns.
    pub busiest_cpu_ns: u64,
    /// From due (in a closed loop: from sent) to the end of the answer, ns, of those served.
    pub response: Times,
    /// From sent to the end of the answer, ns, of those served.
    pub service: Times,
    /// How much later than due the generator looked at a request, ns; in an open loop.
    pub lag: Times,
    /// The first error of each kind, if there is more to say than its kind.
    pub words: [Option<String>; ErrorKind::ALL.len()],
}

impl SliceRecord {
    /// The record of a time in which nothing happened.
    pub fn new() -> SliceRecord {
        let empty = || {
            Histogram::new_with_bounds(1, Counts::MAX_NS, Counts::DIGITS)
                .expect("an hour has three digits")
        };
        SliceRecord {
            wall_ns: 0,
            drain_ns: 0,
            offered: 0,
            served: 0,
            errors: Default::default(),
            statuses: Vec::new(),
            connects: 0,
            received_bytes: 0,
            read_times: 0,
            cpu_ns: 0,
            busiest_cpu_ns: 0,
            response: empty(),
            service: empty(),
            lag: empty(),
            words: Default::default(),
        }
    }

    /// Counts an error, and keeps the text of the first of its kind.
    pub fn error(&mut self, kind: ErrorKind, words: impl FnOnce() -> String) {
        self.errors[kind as usize] += 1;
        self.words[kind as usize].get_or_insert_with(words);
    }

    /// Counts a response: served, if it is as expected. `times` are the response and the service time, ns.
    pub(crate) fn judge(
        &mut self,
        expect: &Expect,
        response: &CompleteResponse,
        times: (u64, u64),
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
            self.response.saturating_record(times.0);
            self.service.saturating_record(times.1);
        }
    }

    /// Adds what another thread did in the same time.
    pub fn add(&mut self, other: &SliceRecord) {
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.drain_ns = self.drain_ns.max(other.drain_ns);
        self.offered += other.offered;
        self.served += other.served;
        for (own, others) in self.errors.iter_mut().zip(&other.errors) {
            *own += others;
        }
        add_statuses(&mut self.statuses, &other.statuses);
        self.connects += other.connects;
        self.received_bytes += other.received_bytes;
        self.read_times += other.read_times;
        self.cpu_ns += other.cpu_ns;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        let pairs = [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.lag, &other.lag),
        ];
        for (own, others) in pairs {
            own.add(others).expect("both have the same bounds");
        }
        for (own, others) in self.words.iter_mut().zip(&other.words) {
            *own = own.take().or_else(|| others.clone());
        }
    }

    /// Resets all counts and keeps the memory.
    pub fn clear(&mut self) {
        let [response, service, lag] = [&mut self.response, &mut self.service, &mut self.lag];
        // Resetting an empty histogram would touch all its pages.
        let used = [response, service, lag]
            .into_iter()
            .filter(|h| !h.is_empty());
        used.for_each(Histogram::reset);
        self.words.iter_mut().for_each(|words| *words = None);
        (self.offered, self.served, self.errors) = (0, 0, Default::default());
        self.statuses.clear();
        (self.wall_ns, self.drain_ns) = (0, 0);
        (self.connects, self.received_bytes, self.read_times) = (0, 0, 0);
        (self.cpu_ns, self.busiest_cpu_ns) = (0, 0);
    }

    /// The slice of a run. The server's CPU time and memory are not known here.
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
            connects: self.connects,
            received_bytes: self.received_bytes,
            read_times: self.read_times,
            cpu_ns: self.cpu_ns,
            busiest_cpu_ns: self.busiest_cpu_ns,
            response: counts(&self.response).into(),
            service: counts(&self.service).into(),
            lag: counts(&self.lag).into(),
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
