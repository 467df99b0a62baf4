// SPDX-License-Identifier: Apache-2.0
//! The slices of a load run, combined into one result for each block, server and point.

use lab_model::{ErrorKind, LoadCounts, Metric, Plan, PointId, Run, Slice, SliceTimes, SubjectId};
use std::collections::BTreeMap;

/// The complete blocks of a load run, reduced to visits.
///
/// All blocks of one set of processes count as one replicate.
pub struct Visits<'r> {
    subjects: usize,
    points: usize,
    /// The visits by replicate, then point, then subject.
    visits: Vec<Option<Visit<'r>>>,
    /// The visits by block, then point, then subject.
    by_block: Vec<Option<Visit<'r>>>,
    /// The replicate of each block.
    replicates: Vec<usize>,
}

/// All slices of one server at one point in one replicate.
#[derive(Clone, Debug, Default)]
pub struct Visit<'r> {
    slices: Vec<&'r Slice>,
    /// The total length of the slices, in ns, at least 1.
    pub wall_ns: f64,
    /// The time needed to serve the requests, in ns, at least 1; see [`Slice::served_in_ns`].
    pub served_in_ns: f64,
    /// The time from the start of the slices to the last responses, in ns, at least 1; see
    /// [`Slice::elapsed_ns`].
    pub elapsed_ns: f64,
    /// The longest time from the end of a load to its last response, in ns.
    pub drain_ns: u64,
    /// The number of requests that were due or sent.
    pub offered: u64,
    /// The number of requests that were served.
    pub served: u64,
    /// The number of errors by kind.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// The counts of the load engine, such as the number of opened connections.
    pub counts: LoadCounts,
    /// The CPU time of the generator, in ns.
    pub cpu_ns: u64,
    /// The CPU time of the generator's busiest thread, in ns.
    pub busiest_cpu_ns: u64,
    /// The CPU time of the server, in ns, if all slices report it.
    pub server_cpu_ns: Option<u64>,
    /// The maximum memory of the server at the end of a slice, in bytes.
    pub server_bytes: Option<u64>,
    /// The maximum number of threads of the server at the end of a slice.
    pub server_threads: Option<u32>,
}

impl<'r> Visits<'r> {
    /// Collects the complete blocks of `run`, whose plan is `plan`.
    ///
    /// Slices of subjects or points that are not in the plan are ignored.
    pub fn new(run: &'r Run, plan: &Plan) -> Visits<'r> {
        let (subjects, points) = (plan.subjects.len(), plan.points.len());
        let cells = subjects * points;
        let replicates = run.replicates();
        let count = replicates.iter().max().map_or(0, |last| last + 1);
        let mut all: Vec<Vec<&Slice>> = vec![Vec::new(); cells * count];
        let mut by_block = Vec::new();
        for (block, replicate) in run.complete_blocks().zip(&replicates) {
            let mut slices: Vec<Vec<&Slice>> = vec![Vec::new(); cells];
            for slice in &block.slices {
                let (point, subject) = (slice.point.index(), slice.subject.index());
                if point < points && subject < subjects {
                    let cell = point * subjects + subject;
                    slices[cell].push(slice);
                    all[replicate * cells + cell].push(slice);
                }
            }
            if count < replicates.len() {
                by_block.extend(slices.into_iter().map(Visit::new));
            }
        }
        Visits {
            subjects,
            points,
            visits: all.into_iter().map(Visit::new).collect(),
            by_block,
            replicates,
        }
    }

    /// Returns the visits to `subject` at `point`, one for each replicate, in chronological order.
    pub fn by_replicate(
        &self,
        subject: SubjectId,
        point: PointId,
    ) -> impl Iterator<Item = Option<&Visit<'r>>> {
        self.cells(&self.visits, subject, point)
    }

    /// Returns the visits to `subject` at `point`, one for each block, in chronological order.
    pub fn of_blocks(
        &self,
        subject: SubjectId,
        point: PointId,
    ) -> impl Iterator<Item = Option<&Visit<'r>>> {
        self.cells(self.blocks(), subject, point)
    }

    fn cells<'v>(
        &self,
        visits: &'v [Option<Visit<'r>>],
        subject: SubjectId,
        point: PointId,
    ) -> impl Iterator<Item = Option<&'v Visit<'r>>> + use<'v, 'r> {
        let blocks = visits.chunks((self.subjects * self.points).max(1));
        let cell = point.index() * self.subjects + subject.index();
        blocks.map(move |block| block[cell].as_ref())
    }

    /// Returns the logarithm of the first server's value divided by the second server's value in
    /// each block that contains both, by replicate.
    pub fn logs_by_set(
        &self,
        [first, second]: [SubjectId; 2],
        point: PointId,
        value: impl Fn(&Visit) -> Option<f64>,
    ) -> Vec<Vec<f64>> {
        let of = |subject| self.cells(self.blocks(), subject, point);
        let pairs = of(first).zip(of(second));
        let logs = pairs.map(|(a, b)| Some((a.and_then(&value)? / b.and_then(&value)?).ln()));
        self.sets(logs)
    }

    /// Returns a server's value in each block that contains the value, by replicate.
    pub fn values_by_set(
        &self,
        subject: SubjectId,
        point: PointId,
        value: impl Fn(&Visit) -> Option<f64>,
    ) -> Vec<Vec<f64>> {
        let visits = self.cells(self.blocks(), subject, point);
        self.sets(visits.map(|visit| visit.and_then(&value)))
    }

    fn blocks(&self) -> &[Option<Visit<'r>>] {
        // If no blocks share their processes, each replicate is a block.
        if self.by_block.is_empty() {
            &self.visits
        } else {
            &self.by_block
        }
    }

    fn sets(&self, by_block: impl Iterator<Item = Option<f64>>) -> Vec<Vec<f64>> {
        let count = self.replicates.iter().max().map_or(0, |last| last + 1);
        let mut sets = vec![Vec::new(); count];
        for (value, &replicate) in by_block.zip(&self.replicates) {
            sets[replicate].extend(value);
        }
        sets
    }

    /// Returns, for each replicate, the mean of the logarithms of the ratios of two servers.
    ///
    /// Ratios are computed within blocks, and a set of processes counts once.
    pub fn mean_logs(
        &self,
        pair: [SubjectId; 2],
        point: PointId,
        value: impl Fn(&Visit) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let sets = self.logs_by_set(pair, point, value).into_iter();
        let mean = |set: Vec<f64>| {
            let sum: f64 = set.iter().sum();
            (!set.is_empty()).then(|| sum / set.len() as f64)
        };
        sets.map(mean).collect()
    }

    /// Returns the visits of two servers at `point` in the blocks that contain both servers, or
    /// `None` if there is no such block.
    pub fn common(
        &self,
        [first, second]: [SubjectId; 2],
        point: PointId,
    ) -> Option<[Vec<&Visit<'r>>; 2]> {
        let pairs = self
            .by_replicate(first, point)
            .zip(self.by_replicate(second, point));
        let (first, second): (Vec<_>, Vec<_>) = pairs.filter_map(|(a, b)| Some((a?, b?))).unzip();
        (!first.is_empty()).then_some([first, second])
    }
}

impl<'r> Visit<'r> {
    fn new(slices: Vec<&'r Slice>) -> Option<Visit<'r>> {
        let sum = |part: fn(&Slice) -> u64| slices.iter().map(|s| part(s)).fold(0, add);
        let mut errors = BTreeMap::new();
        for (kind, count) in slices.iter().flat_map(|s| &s.errors) {
            let sum = errors.entry(*kind).or_insert(0);
            *sum = add(*sum, *count);
        }
        let mut counts = LoadCounts::default();
        slices.iter().for_each(|s| counts.add(&s.counts));
        let server = slices.iter().map(|s| s.server_cpu_ns);
        let visit = Visit {
            wall_ns: sum(|s| s.wall_ns).max(1) as f64,
            served_in_ns: sum(Slice::served_in_ns).max(1) as f64,
            elapsed_ns: sum(Slice::elapsed_ns).max(1) as f64,
            drain_ns: slices.iter().map(|s| s.drain_ns).max().unwrap_or(0),
            offered: sum(|s| s.offered),
            served: sum(|s| s.served),
            errors,
            counts,
            cpu_ns: sum(|s| s.cpu_ns),
            busiest_cpu_ns: sum(|s| s.busiest_cpu_ns),
            server_cpu_ns: server.reduce(|a, b| Some(add(a?, b?))).flatten(),
            server_bytes: slices.iter().filter_map(|s| s.server_bytes).max(),
            server_threads: slices.iter().filter_map(|s| s.server_threads).max(),
            slices,
        };
        (!visit.slices.is_empty()).then_some(visit)
    }

    /// Returns the sum over all loads of the time from the end of the load to its last response, in
    /// ns. `expected_ns` is subtracted for each load.
    pub fn drained_ns(&self, expected_ns: f64) -> f64 {
        let drains = self.slices.iter().map(|s| s.drain_ns as f64);
        drains
            .map(|drain_ns| (drain_ns - expected_ns).max(0.0))
            .sum()
    }

    /// Returns the number of requests that were due but had no response when the load ended. The
    /// number is estimated from the rate and the drain time.
    pub fn backlog(&self) -> f64 {
        let never = self.errors.get(&ErrorKind::Unfinished);
        let late = self.per_second(self.served) * self.drain_ns as f64 / 1e9;
        late + never.map_or(0.0, |count| *count as f64)
    }

    /// Returns the number of requests due per second.
    pub fn offered_per_second(&self) -> f64 {
        self.offered as f64 * 1e9 / self.wall_ns
    }

    /// Converts a number of served requests, or of events while requests were served, to a rate per
    /// second.
    pub fn per_second(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.served_in_ns
    }

    /// Returns `ns` divided by the number of served requests, or `None` if no request was served.
    pub fn per_request(&self, ns: f64) -> Option<f64> {
        (self.served > 0).then(|| ns / self.served as f64)
    }

    /// Returns the wall time per served request in ns: 1 / throughput.
    pub fn wall_ns_per_request(&self) -> Option<f64> {
        self.per_request(self.served_in_ns)
    }

    /// Returns the server's CPU time per served request in ns. The CPU time counts as at least 1
    /// ns.
    pub fn server_ns_per_request(&self) -> Option<f64> {
        self.per_request(self.server_cpu_ns?.max(1) as f64)
    }

    /// Returns the value of a metric by which servers are compared, which is positive, or `None` if
    /// the visit has no such value.
    ///
    /// For throughput, this is the time per request.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        // A value of 0 is below the clock's resolution and has no logarithm.
        if *metric == Metric::SERVER_CPU {
            self.server_ns_per_request()
        } else if *metric == Metric::SERVER_MEMORY {
            self.server_bytes.map(|bytes| bytes.max(1) as f64)
        } else {
            self.wall_ns_per_request()
        }
    }

    /// Returns the total number of errors.
    pub fn failed(&self) -> u64 {
        self.errors.values().copied().fold(0, add)
    }

    /// Returns the number of requests.
    ///
    /// In a closed loop, these are the requests that ended: if disturbed parts of the load were
    /// left out, requests may have been sent in one part and have ended in another. In an open
    /// loop, requests that were due and have not ended count, too.
    pub fn requests(&self) -> u64 {
        let ended = self.served.saturating_add(self.failed());
        match self.waits_for_nothing() {
            true => ended,
            false => ended.max(self.offered),
        }
    }

    /// Returns true if every request was sent when it was due, without waiting for a free
    /// connection.
    pub fn waits_for_nothing(&self) -> bool {
        self.slices.iter().all(|s| s.response == s.service)
    }

    /// Returns the buckets of a distribution, slice by slice.
    ///
    /// Different slices may have buckets with the same value.
    pub fn buckets(&self, of: Distribution) -> impl Iterator<Item = (u64, u64)> {
        self.slices
            .iter()
            .flat_map(move |s| of(s).counts().into_owned().0)
    }
}

/// Returns the percentile that a response-time metric measures, in units of 1/10,000, such as 9900
/// for p99.
pub fn per_10_000(metric: &Metric) -> Option<u32> {
    let parts = [5000, 7500, 9000, 9900, 9990];
    let percentiles = [
        Metric::P50,
        Metric::P75,
        Metric::P90,
        Metric::P99,
        Metric::P999,
    ];
    let mut all = percentiles.iter().zip(parts);
    all.find(|(known, _)| *known == metric)
        .map(|(_, part)| part)
}

/// Returns the sum of a count over visits.
pub fn total(visits: &[&Visit], of: fn(&Visit) -> u64) -> u64 {
    visits.iter().map(|visit| of(visit)).fold(0, add)
}

/// A function that selects a distribution of a slice.
pub type Distribution = fn(&Slice) -> &SliceTimes;

/// Returns the sum. It saturates instead of overflowing.
///
/// A file that was tampered with may contain any number.
fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}
