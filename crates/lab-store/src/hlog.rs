// SPDX-License-Identifier: Apache-2.0
//! Exports a load run as an HdrHistogram log, for HdrHistogram tools and plotters of latency over time.

use crate::histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use lab_model::{Plan, Run, Slice};
use std::time::{Duration, UNIX_EPOCH};

/// Returns the histograms of a load run's complete blocks in the HdrHistogram log format, version 1.3.
///
/// The log has an interval for each slice and each of the tags `response` and `service`, in chronological
/// order. If there are multiple servers or points, tags start with their labels: `A/connections=64/response`.
/// Times are in ns, and the third column is in ms. An interval starts at its offset in seconds from the start
/// of the run.
///
/// # Errors
/// Returns an error message if a time or a number of requests exceeds the range of a histogram, which never
/// happens for a run that was loaded from a file.
///
/// Source: `HistogramLogWriter` of HdrHistogram (Java), the reference implementation of the format.
pub fn hlog(run: &Run) -> Result<String, String> {
    let started = UNIX_EPOCH + seconds(run.started_unix_s);
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment("[Histogram log format version 1.3]")
        .with_start_time(started)
        .with_base_time(started)
        .with_max_value_divisor(1e6);
    let (mut log, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let begun = builder.begin_log_with(&mut log, &mut serializer);
    let mut writer = begun.map_err(|e| e.to_string())?;
    for block in run.complete_blocks() {
        let mut begin = seconds(block.started_unix_s - run.started_unix_s);
        for slice in &block.slices {
            let length = Duration::from_nanos(slice.wall_ns.saturating_add(slice.drain_ns));
            for (kind, times) in [("response", &slice.response), ("service", &slice.service)] {
                let tag = tag(run.plan(), slice, kind);
                let histogram = histogram::histogram(&times.counts())?;
                let written = writer.write_histogram(&histogram, begin, length, Tag::new(&tag));
                written.map_err(|e| e.to_string())?;
            }
            begin = begin.saturating_add(length);
        }
    }
    String::from_utf8(log).map_err(|e| e.to_string())
}

/// Converts seconds to a duration of at least 0. A modified file can contain any time.
fn seconds(s: f64) -> Duration {
    const MAX_SECONDS: f64 = 1e12;
    Duration::from_secs_f64(if s > 0.0 { s.min(MAX_SECONDS) } else { 0.0 })
}

fn tag(plan: Option<&Plan>, slice: &Slice, kind: &str) -> String {
    let plan_with = |is_it: fn(&Plan) -> bool| plan.filter(|plan| is_it(plan));
    let subject =
        plan_with(|plan| plan.subjects.len() > 1).and_then(|plan| plan.subjects.get(slice.subject));
    let point =
        plan_with(|plan| plan.points.len() > 1).and_then(|plan| plan.points.get(slice.point));
    let params = point.into_iter().flat_map(|point| &point.params);
    let words = subject.map(|subject| subject.name.clone()).into_iter();
    let words = words.chain(params.map(|(key, value)| format!("{key}={value}")));
    let words: Vec<String> = words.chain([kind.to_string()]).collect();
    // Fields end with a comma, and lines end with a line terminator.
    words.join("/").replace(
        |c: char| c == ',' || c.is_whitespace() || c.is_control(),
        "_",
    )
}
