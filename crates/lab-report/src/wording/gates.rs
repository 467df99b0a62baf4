// SPDX-License-Identifier: Apache-2.0
//! Results of gates (`--fail-if`) in sentences.

use lab_document::say;
use lab_model::{Interval, Metric, Unit, trimmed};
use lab_stats::gate::InconclusiveReason;
use lab_stats::results::Value;

/// The parts of a sentence about a gate.
#[derive(Clone, Copy, Debug)]
pub struct GateWords<'a> {
    /// The condition as written.
    pub condition: &'a str,
    /// The subject's name.
    pub subject: &'a str,
    /// The point, such as ` at n=10`, or an empty string.
    pub at: &'a str,
    /// The judged metric.
    pub metric: &'a Metric,
    /// True if the run has only one subject, which then needs no name.
    pub is_only: bool,
}

impl GateWords<'_> {
    /// Formats the metric with its subject: `p99 of new at connections=8`.
    fn metric_name(&self) -> String {
        let title = match self.metric.id.as_ref() {
            "errors" => "the errors",
            _ => &self.metric.title,
        };
        if self.is_only {
            format!("{title}{}", self.at)
        } else {
            format!("{title} of {}{}", self.subject, self.at)
        }
    }
}

/// Describes a value: `p99 is 23 ms (21 to 25 ms)`.
pub fn value(words: &GateWords, value: &Value, unit: &Unit, level: f64) -> String {
    let number = match value {
        Value::Estimate(interval) if interval.level > 0.0 => say::figure(interval, unit, level),
        value => say::reading(value.value(), unit),
    };
    let verb = if is_plural(words.metric) { "are" } else { "is" };
    format!("{} {verb} {number}", words.metric_name())
}

/// Returns true if the metric's title is a plural, such as `instructions` or `calls lost`.
fn is_plural(metric: &Metric) -> bool {
    let title = &metric.title;
    let is_plural =
        title.ends_with('s') || title.starts_with("calls ") || title.starts_with("connections ");
    is_plural && !title.starts_with("inverse of ")
}

/// Describes a ratio: `head takes 1.08 times base's time (1.05 to 1.11)`.
pub fn ratio(words: &GateWords, baseline: &str, ratio: &Interval, level: f64) -> String {
    let GateWords {
        subject,
        at,
        metric,
        ..
    } = words;
    let times = |of: &str| {
        if ratio.level > 0.0 {
            say::times(ratio, of, level)
        } else {
            format!("{} times {of}", say::reading(ratio.estimate, &Unit::Ratio))
        }
    };
    match metric.id.as_ref() {
        "wall" => format!(
            "{subject} takes {}{at}",
            times(&format!("{baseline}'s time"))
        ),
        _ => {
            let title = &metric.title;
            let [verb, that] = if is_plural(metric) {
                ["are", "those"]
            } else {
                ["is", "that"]
            };
            format!(
                "the {title} of {subject} {verb} {}{at}",
                times(&format!("{that} of {baseline}"))
            )
        }
    }
}

/// Explains why the limit is higher than the requested limit.
pub fn raised(requested: f64, baseline: &str) -> String {
    let requested = format!("{requested:.4}");
    format!(
        "raised from {} because two copies of {baseline} differed by that much",
        trimmed(&requested)
    )
}

/// States that a percentile exceeds a limit because a lower percentile does. `statement` describes the
/// lower percentile.
pub fn lower_percentile(words: &GateWords, statement: &str) -> String {
    format!("{statement}, and {} is not below it", words.metric.title)
}

/// Describes a server that was overloaded, so that its response times exceed any limit.
pub fn overloaded(words: &GateWords) -> String {
    format!(
        "{}: the server was overloaded, so response times grow for as long as the load lasts and exceed any limit",
        words.condition
    )
}

/// Describes an inconclusive gate and the reason.
pub fn unknown(words: &GateWords, reason: InconclusiveReason) -> String {
    let reason = match reason {
        InconclusiveReason::NothingMeasured => "nothing was measured".into(),
        InconclusiveReason::NothingServed => "nothing was served".into(),
        InconclusiveReason::NothingEnded => "no request completed".into(),
        InconclusiveReason::Overloaded => "the server was overloaded and has no percentiles".into(),
        InconclusiveReason::TooFewRequests { responses } => {
            match responses {
                1 => "1 request is too few".into(),
                _ => format!("{responses} requests are too few"),
            }
        }
        InconclusiveReason::ServerUnknown => {
            "the resources that the server uses are unknown; name its process with --server-pid"
                .into()
        }
        InconclusiveReason::ErrorsHide { failed: 1 } => {
            "1 request failed, which is more than lie beyond this percentile, and its response time is unknown".into()
        }
        InconclusiveReason::ErrorsHide { failed } => format!(
            "{failed} requests failed, which is more than lie beyond this percentile, and their response times are \
             unknown"
        ),
        InconclusiveReason::NotMeasured => "the run has no such value".into(),
        InconclusiveReason::NotCompared => format!(
            "{}{} was not compared; the report says why",
            words.subject, words.at
        ),
        InconclusiveReason::NoRatio => {
            "this run has no interval for the change; set a bound on the value instead, without + or -".into()
        }
        InconclusiveReason::NoBaseline => {
            "there is nothing to compare with: a change needs a baseline".into()
        }
    };
    let of = match reason.starts_with(words.subject) || words.is_only {
        true => String::new(),
        false => format!(" of {}{}", words.subject, words.at),
    };
    format!("{}{of}: {reason}", words.condition)
}
