// SPDX-License-Identifier: Apache-2.0
//! Derives values per operation from pairs of batches. Also writes and reads traces.

use super::trace::{SystemCalls, TraceError};
use crate::host::hardware::{COUNTED, EventCounts, HardwareCounters};
use crate::subject::dialog::connection_lost;
use crate::subject::fault::{Fault, SubjectResult};
use lab_host::procfs::ProcessUsage;
use lab_model::{Counted, CountedValue, Direction, Metric, Unit};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The number of pairs of batches. The result is the median of their differences.
///
/// The range of six differences is a confidence interval of the median at 1 - 2/2^6 = 96.9 %.
pub(super) const REPEATS: usize = 6;

/// The maximum number of characters that strace shows of a message.
pub(super) const SHOWN: &str = "48";

/// The sizes of the batches that a process runs at a point.
#[derive(Clone, Copy)]
pub(super) struct ExplainedBatches {
    /// The number of operations before the first counted batch.
    pub(super) warm_up: u64,
    /// The number of operations of the smaller batch in a pair.
    pub(super) operations: u64,
}

/// Returns the command prefix that traces a program.
pub(super) fn tracing(tracer: &Path, file: &Path, further: &[&str]) -> Vec<String> {
    let options = [
        "-f",
        "-y",
        "-q",
        "-q",
        "-s",
        SHOWN,
        "-e",
        "signal=none",
        "-o",
    ];
    let words = [tracer.display().to_string()].into_iter();
    let further = further.iter().map(|option| (*option).to_owned());
    let words = words.chain(further).chain(options.map(str::to_owned));
    words
        .chain([file.display().to_string(), "--".into()])
        .collect()
}

/// Opens a trace file and parses it.
pub(super) fn read_trace_file<T>(
    file: &Path,
    read: impl FnOnce(BufReader<File>) -> Result<T, TraceError>,
) -> SubjectResult<T> {
    let trace = File::open(file).map_err(TraceError::from);
    let content = trace.and_then(|trace| read(BufReader::new(trace)));
    content.map_err(|e| Fault::Failed("trace", e.to_string()))
}

/// Returns the processor's event counts so far, or `None` if there are no counters.
pub(super) fn read_events(
    counters: Option<&HardwareCounters>,
) -> SubjectResult<Option<EventCounts>> {
    let counts = counters.map(HardwareCounters::read);
    counts.transpose().map_err(connection_lost)
}

/// Returns the processor's events between two readings. Empty if there are no counters, or if the
/// processor did not count one of the events in this time.
pub(super) fn events_between(
    before: Option<&EventCounts>,
    after: Option<&EventCounts>,
) -> Vec<f64> {
    let (Some(before), Some(after)) = (before, after) else {
        return Vec::new();
    };
    after.since(before).unwrap_or_default()
}

/// Adds the usage of resources: the metrics `usage`, followed by the processor's events if all rows
/// have them.
pub(super) fn add_usage(
    counted: &mut Counted,
    usage: &[Metric],
    rows: &[Vec<f64>],
    has_counters: bool,
) -> SubjectResult<()> {
    counted.add_metrics(usage.iter().chain(&COUNTED), rows);
    let has_events = rows.iter().all(|row| row.len() > usage.len());
    if !has_counters || has_events {
        return Ok(());
    }
    let reason = "the processor did not count an event between two readings";
    counted.note_missing("instructions and cache misses", Err(missing(reason)))
}

/// The metrics of a process's resource usage: the wall time, followed by the metrics of [`usage_between`].
pub(super) static USAGE_METRICS: [Metric; 6] = [
    Metric::MEAN_WALL,
    Metric::MEAN_CPU,
    Metric::VOLUNTARY_SWITCHES,
    Metric::INVOLUNTARY_SWITCHES,
    Metric::MINOR_FAULTS,
    Metric::MAJOR_FAULTS,
];

/// Returns the CPU time, context switches and page faults between two readings, in the order of [`USAGE_METRICS`] without
/// the wall time.
pub(super) fn usage_between(cpu_ns: u64, before: &ProcessUsage, after: &ProcessUsage) -> [f64; 5] {
    // The switches of threads that have exited are no longer included.
    let increase =
        |figure: fn(&ProcessUsage) -> u64| figure(after).saturating_sub(figure(before)) as f64;
    [
        cpu_ns as f64,
        increase(|u| u.voluntary_switches),
        increase(|u| u.involuntary_switches),
        increase(|u| u.minor_faults),
        increase(|u| u.major_faults),
    ]
}

/// Adds results to the counts of a subject.
pub(super) trait Adding {
    /// If `outcome` is a fault because `quantity` could not be counted, records the reason. Returns
    /// any other fault, such as an interruption.
    fn note_missing(&mut self, quantity: &str, outcome: SubjectResult<()>) -> SubjectResult<()>;

    /// Adds values of metrics. Each row contains the values from one pair of batches, in the order
    /// of `metrics`.
    fn add_metrics<'m>(&mut self, metrics: impl Iterator<Item = &'m Metric>, rows: &[Vec<f64>]);

    /// Adds the system calls of all batches. The last batch has a single operation.
    fn add(&mut self, batches: ExplainedBatches, calls: Vec<SystemCalls>);

    /// Adds the metrics of system calls. Each item contains calls and the number of operations that
    /// made them.
    fn calls(&mut self, counted: &[(SystemCalls, f64)]);
}

/// Creates a fault for something that cannot be counted.
pub(super) fn missing(reason: &str) -> Fault {
    Fault::Failed("missing", reason.into())
}

impl Adding for Counted {
    fn note_missing(&mut self, quantity: &str, outcome: SubjectResult<()>) -> SubjectResult<()> {
        match outcome {
            Err(Fault::Failed(_, reason)) => self.missing.push((quantity.into(), reason)),
            outcome => return outcome,
        }
        Ok(())
    }

    fn add_metrics<'m>(&mut self, metrics: impl Iterator<Item = &'m Metric>, rows: &[Vec<f64>]) {
        let width = rows.iter().map(Vec::len).min().unwrap_or(0);
        for (i, metric) in metrics.take(width).enumerate() {
            self.figures.push(CountedValue {
                metric: metric.clone(),
                differences: rows.iter().map(|row| row[i]).collect(),
            });
        }
    }

    fn add(&mut self, batches: ExplainedBatches, mut calls: Vec<SystemCalls>) {
        self.messages = calls.pop().map_or(Vec::new(), |single| single.messages);
        let pairs = calls[batches.warm_up as usize..].chunks_exact(2);
        let differences = pairs.map(|pair| (pair[1].minus(&pair[0]), batches.operations as f64));
        let differences: Vec<(SystemCalls, f64)> = differences.collect();
        self.calls(&differences);
    }

    fn calls(&mut self, counted: &[(SystemCalls, f64)]) {
        let mut figure = |metric: Metric, value: &dyn Fn(&SystemCalls) -> i64| {
            let each = counted
                .iter()
                .map(|(calls, operations)| value(calls) as f64 / operations);
            self.figures.push(CountedValue {
                metric,
                differences: each.collect(),
            });
        };
        figure(Metric::ROUND_TRIPS, &|c| c.round_trips);
        figure(Metric::SENT_BYTES, &|c| c.sent_bytes);
        figure(Metric::RECEIVED_BYTES, &|c| c.received_bytes);
        figure(Metric::FUTEX_WAITS, &|c| c.futex_waits);
        figure(Metric::SYSTEM_CALLS, &|c| c.kinds.values().sum());
        let kinds: BTreeSet<&String> = counted.iter().flat_map(|(c, _)| c.kinds.keys()).collect();
        for kind in kinds {
            figure(call(kind), &|c| c.kinds.get(kind).copied().unwrap_or(0));
        }
    }
}

/// Returns the metric of one kind of system call.
pub(super) fn call(kind: &str) -> Metric {
    Metric {
        id: format!("call_{kind}").into(),
        title: kind.to_owned().into(),
        unit: Unit::Count("calls".into()),
        better: Direction::Neither,
    }
}
