// SPDX-License-Identifier: Apache-2.0
//! Gates on a load run: parses and evaluates conditions such as `--fail-if 'p99>20ms'`.
//!
//! A gate tests the estimate, because the user of a single run wants to know about that run. If the
//! interval contains the bound, the finding states this. A gate that cannot be evaluated is
//! undecided and does not pass.

use super::{error_share, hidden, quantiles};
use crate::results::{Results, Value};
use lab_model::{
    Comparison, ConditionError, ConditionProblem, Dimension, Interval, Metric, Plan, PointId,
    RESPONSE_TIMES, Relation, SubjectId, Unit,
};
use serde::Serialize;
use std::str::FromStr;

/// A metric and the bound beyond which a run has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The condition as written, without surrounding whitespace.
    text: String,
    quantity: ThresholdFigure,
    relation: Relation,
    /// The bound in the unit of the metric, such as ns, bytes, requests or a fraction.
    bound: f64,
}

/// A threshold that a server crossed at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossed {
    /// The server.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// The threshold as written.
    pub threshold: String,
    /// The value in ns, bytes or requests per second, or as a count or a fraction. It is infinite
    /// (`null` in JSON) for response times of an overloaded server.
    pub value: f64,
    /// The unit of the value.
    pub unit: Unit,
    /// The interval of the value if it contains the bound, so that another run might have a
    /// different outcome.
    pub doubt: Option<Interval>,
}

/// A threshold that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undecided {
    /// The server.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// The threshold as written.
    pub threshold: String,
    /// The reason why the threshold could not be evaluated.
    #[serde(flatten)]
    pub reason: UndecidedReason,
}

/// The reason why a threshold could not be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum UndecidedReason {
    /// Nothing was measured.
    NothingMeasured,
    /// No request was served.
    NothingServed,
    /// No request ended.
    NothingEnded,
    /// The server was overloaded, so it has no percentiles.
    Overloaded,
    /// The percentile needs more requests.
    TooFewRequests {
        /// The number of responses.
        responses: u64,
    },
    /// The server's process is unknown.
    ServerUnknown,
    /// More requests failed than lie beyond the percentile, and their response times are unknown.
    ErrorsHide {
        /// The number of failed requests.
        failed: u64,
    },
}

/// The result of all thresholds on a run.
///
/// The run passed if both lists are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judgement {
    /// The crossed thresholds, by threshold, then point, then subject.
    pub crossed: Vec<Crossed>,
    /// The undecided thresholds, in the same order.
    pub undecided: Vec<Undecided>,
}

/// Evaluates the thresholds for every server at every point of the plan, including those without
/// measurements.
pub fn judge(thresholds: &[Threshold], results: &Results, plan: &Plan) -> Judgement {
    let mut judgement = Judgement::default();
    for threshold in thresholds {
        for (point, subject) in places(plan) {
            let server = ServerFigures {
                results,
                subject,
                point,
            };
            match threshold.outcome(&server) {
                ThresholdOutcome::Passed => {}
                ThresholdOutcome::Crossed(value, doubt) => judgement.crossed.push(Crossed {
                    subject,
                    point,
                    threshold: threshold.text.clone(),
                    value,
                    unit: threshold.quantity.unit().clone(),
                    doubt,
                }),
                ThresholdOutcome::Undecided(reason) => judgement.undecided.push(Undecided {
                    subject,
                    point,
                    threshold: threshold.text.clone(),
                    reason,
                }),
            }
        }
    }
    judgement
}

fn places(plan: &Plan) -> impl Iterator<Item = (PointId, SubjectId)> {
    let points = plan.points.ids();
    let all = points.flat_map(|point| plan.compared().map(move |subject| (point, subject)));
    all.filter(|&(point, subject)| plan.takes_part(subject, point))
}

impl FromStr for Threshold {
    type Err = ConditionError;

    /// Parses a condition such as `p99.9 >= 1s` or `errors>1%`.
    fn from_str(text: &str) -> Result<Threshold, ConditionError> {
        let parse = || {
            let condition = Comparison::parse(text)?;
            if condition.argument.is_some() {
                let name = condition.name.escape_default().to_string();
                return Err(ConditionProblem::ArgumentUnexpected(name));
            }
            let (quantity, bound) = ThresholdFigure::parse(condition.name, condition.bound)?;
            Ok(Threshold {
                text: text.trim().to_string(),
                quantity,
                relation: condition.relation,
                bound,
            })
        };
        parse().map_err(|problem| ConditionError::new(text, problem))
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The results of a server at a point.
struct ServerFigures<'r> {
    results: &'r Results,
    subject: SubjectId,
    point: PointId,
}

impl ServerFigures<'_> {
    fn value(&self, metric: &Metric) -> Option<Value> {
        self.results.value(self.subject, self.point, metric)
    }

    fn count(&self, metric: &Metric) -> u64 {
        self.value(metric).map_or(0, |value| value.value() as u64)
    }

    fn is_measured(&self) -> bool {
        !self.results.cells_at(self.subject, self.point).is_empty()
    }
}

/// The outcome of a threshold for a server at a point.
enum ThresholdOutcome {
    Passed,
    Crossed(f64, Option<Interval>),
    Undecided(UndecidedReason),
}

impl Threshold {
    fn outcome(&self, server: &ServerFigures) -> ThresholdOutcome {
        if !server.is_measured() {
            return ThresholdOutcome::Undecided(UndecidedReason::NothingMeasured);
        }
        if self.quantity.grows_without_limit(server)
            && self.relation.holds(f64::INFINITY, self.bound)
        {
            return ThresholdOutcome::Crossed(f64::INFINITY, None);
        }
        let measured = match self.quantity.value(server) {
            Ok(measured) => measured,
            Err(reason) => return ThresholdOutcome::Undecided(reason),
        };
        let value = measured.value();
        if self.relation.holds(value, self.bound) {
            return ThresholdOutcome::Crossed(value, self.doubt(measured.interval()));
        }
        match self.quantity.reason_hidden(server) {
            Some(reason) => ThresholdOutcome::Undecided(reason),
            None => ThresholdOutcome::Passed,
        }
    }

    /// Returns the interval if it contains the bound.
    fn doubt(&self, interval: Option<&Interval>) -> Option<Interval> {
        let holds = |value| self.relation.holds(value, self.bound);
        interval.copied().filter(|i| holds(i.low) != holds(i.high))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ThresholdFigure {
    Metric(&'static Metric),
    /// The fraction of errors among all requests that ended.
    ErrorShare,
}

static NAMES: [(&str, Metric); 13] = [
    ("p50", Metric::P50),
    ("p75", Metric::P75),
    ("p90", Metric::P90),
    ("p99", Metric::P99),
    ("p99.9", Metric::P999),
    ("p99.99", Metric::P9999),
    ("max", Metric::MAX),
    ("errors", Metric::ERRORS),
    ("rate", Metric::THROUGHPUT),
    ("server_cpu", Metric::SERVER_CPU),
    ("server_cores", Metric::SERVER_CORES),
    ("server_memory", Metric::SERVER_MEMORY),
    ("server_threads", Metric::THREADS),
];

impl ThresholdFigure {
    /// Parses a name and a bound. The unit of a bound on errors decides whether it applies to their
    /// count or fraction.
    fn parse(name: &str, bound: &str) -> Result<(ThresholdFigure, f64), ConditionProblem> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let (_, metric) = found.ok_or_else(|| ConditionProblem::Name {
            name: name.escape_default().to_string(),
            known: NAMES.each_ref().map(|(known, _)| *known).join(", "),
        })?;
        let is_fraction = *metric == Metric::ERRORS && bound.ends_with('%');
        let (quantity, dimension) = match &metric.unit {
            _ if is_fraction => (ThresholdFigure::ErrorShare, Dimension::Fraction),
            Unit::Nanoseconds => (ThresholdFigure::Metric(metric), Dimension::Time),
            Unit::Bytes => (ThresholdFigure::Metric(metric), Dimension::Size),
            Unit::PerSecond(_) => (ThresholdFigure::Metric(metric), Dimension::Rate),
            _ => (ThresholdFigure::Metric(metric), Dimension::Count),
        };
        Ok((quantity, dimension.parse(bound)?))
    }

    fn unit(self) -> &'static Unit {
        match self {
            ThresholdFigure::Metric(metric) => &metric.unit,
            ThresholdFigure::ErrorShare => &Unit::Share,
        }
    }

    /// Returns true for a response time of a server that could not keep up with the offered rate.
    fn grows_without_limit(self, server: &ServerFigures) -> bool {
        let ThresholdFigure::Metric(metric) = self else {
            return false;
        };
        part_of_10_000(metric).is_some()
            && server.value(metric).is_none()
            && server.count(&Metric::SERVED) > 0
            && server.results.is_overloaded(server.subject, server.point)
    }

    /// Returns the value with its interval, if any, or the reason why it is missing.
    fn value(self, server: &ServerFigures) -> Result<Value, UndecidedReason> {
        let (errors, served) = (server.count(&Metric::ERRORS), server.count(&Metric::SERVED));
        let ThresholdFigure::Metric(metric) = self else {
            let share = error_share(errors, served).map(Value::Reading);
            return share.ok_or(UndecidedReason::NothingEnded);
        };
        let reason = || match part_of_10_000(metric) {
            _ if served == 0 && *metric != Metric::THREADS => UndecidedReason::NothingServed,
            Some(_) if server.results.is_overloaded(server.subject, server.point) => {
                UndecidedReason::Overloaded
            }
            Some(_) => UndecidedReason::TooFewRequests {
                responses: server.count(&Metric::RESPONSES),
            },
            None => UndecidedReason::ServerUnknown,
        };
        server.value(metric).ok_or_else(reason)
    }

    /// Returns the reason why a response time within its bound is undecided, if failed requests
    /// hide it.
    fn reason_hidden(self, server: &ServerFigures) -> Option<UndecidedReason> {
        let ThresholdFigure::Metric(metric) = self else {
            return None;
        };
        let (failed, served) = (server.count(&Metric::ERRORS), server.count(&Metric::SERVED));
        let is_hidden = hidden(failed, served, part_of_10_000(metric)?);
        is_hidden.then_some(UndecidedReason::ErrorsHide { failed })
    }
}

/// Returns the percentile that a response-time metric measures, in units of 1/10,000. The maximum
/// is 10,000.
fn part_of_10_000(metric: &Metric) -> Option<u32> {
    let index = RESPONSE_TIMES.iter().position(|known| known == metric)?;
    Some(quantiles::PARTS.get(index).copied().unwrap_or(10_000))
}
