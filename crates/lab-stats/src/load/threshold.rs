// SPDX-License-Identifier: Apache-2.0
//! Gates on a load run: parses and evaluates conditions such as `--fail-if 'p99>20ms'`.
//!
//! A gate tests the estimate, because the user of a single run wants to know about that run. If the
//! interval contains the bound, the finding says so. A gate that cannot be evaluated does not pass.
//! It is undecided.

use super::{error_share, hidden, quantiles};
use crate::results::{Results, Value};
use lab_model::{Interval, Metric, Plan, PointId, RESPONSE_TIMES, SIZES, SubjectId, Unit};
use serde::Serialize;
use std::str::FromStr;

/// A metric and the bound beyond which a run has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The condition as written, without surrounding whitespace.
    text: String,
    quantity: ThresholdFigure,
    comparison: Relation,
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
    /// At least as many requests failed as lie beyond the percentile, and their response times are
    /// unknown.
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
    let points = 0..plan.points.len();
    let all = points.flat_map(|point| plan.compared().map(move |subject| (point, subject)));
    all.filter(|&(point, subject)| plan.takes_part(subject, point))
}

/// An error for a text that is not a valid threshold, with the text, the mistake and a valid
/// example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no threshold: {reason}")]
pub struct ThresholdError {
    text: String,
    reason: String,
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    /// Parses a name, `>`, `>=`, `<` or `<=`, and a bound with its unit, such as `p99.9 >= 1s` or
    /// `errors>1%`.
    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        let text = text.trim();
        let wrong = |reason: String| ThresholdError {
            text: text.escape_default().to_string(),
            reason,
        };
        let at = text.find(['<', '>']).ok_or_else(|| {
            wrong(format!(
                "it needs `>` or `<` and a bound, such as `p99>20ms`; {}",
                known_names()
            ))
        })?;
        let (name, rest) = text.split_at(at);
        let (comparison, bound) = Relation::split(rest);
        let quantity = ThresholdFigure::named(name.trim()).ok_or_else(|| {
            wrong(format!(
                "`{}` is not known; {}",
                name.trim().escape_default(),
                known_names()
            ))
        })?;
        let (quantity, bound) = quantity.bound(bound.trim()).map_err(wrong)?;
        Ok(Threshold {
            text: text.to_string(),
            quantity,
            comparison,
            bound,
        })
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
            && self.comparison.holds(f64::INFINITY, self.bound)
        {
            return ThresholdOutcome::Crossed(f64::INFINITY, None);
        }
        let measured = match self.quantity.value(server) {
            Ok(measured) => measured,
            Err(reason) => return ThresholdOutcome::Undecided(reason),
        };
        let value = measured.value();
        if self.comparison.holds(value, self.bound) {
            return ThresholdOutcome::Crossed(value, self.doubt(measured.interval()));
        }
        match self.quantity.reason_hidden(server) {
            Some(reason) => ThresholdOutcome::Undecided(reason),
            None => ThresholdOutcome::Passed,
        }
    }

    /// Returns the interval if it contains the bound.
    fn doubt(&self, interval: Option<&Interval>) -> Option<Interval> {
        let holds = |value| self.comparison.holds(value, self.bound);
        interval.copied().filter(|i| holds(i.low) != holds(i.high))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Relation {
    /// Splits `text` into the comparison at its beginning and the rest.
    fn split(text: &str) -> (Relation, &str) {
        let signs = [
            (">=", Relation::AtLeast),
            ("<=", Relation::AtMost),
            ("<", Relation::Below),
        ];
        let found = signs.into_iter().find_map(|(sign, comparison)| {
            let rest = text.strip_prefix(sign)?;
            Some((comparison, rest))
        });
        found.unwrap_or((Relation::Above, text.strip_prefix('>').unwrap_or(text)))
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Relation::Above => value > bound,
            Relation::AtLeast => value >= bound,
            Relation::Below => value < bound,
            Relation::AtMost => value <= bound,
        }
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

const TIMES: [(&str, f64); 6] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
];

fn known_names() -> String {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    format!("known are {}", names.join(", "))
}

impl ThresholdFigure {
    fn named(name: &str) -> Option<ThresholdFigure> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, metric)| ThresholdFigure::Metric(metric))
    }

    fn is(self, metric: &Metric) -> bool {
        matches!(self, ThresholdFigure::Metric(known) if known == metric)
    }

    /// Parses the bound.
    ///
    /// For errors, its unit determines whether the bound is a count or a fraction.
    fn bound(self, text: &str) -> Result<(ThresholdFigure, f64), String> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let number: f64 = number.parse().map_err(|_| {
            format!(
                "`{}` is no bound; {}",
                text.escape_default(),
                self.example()
            )
        })?;
        let unit = unit.trim();
        if unit == "%" && self.is(&Metric::ERRORS) {
            return Ok((ThresholdFigure::ErrorShare, number / 100.0));
        }
        let scale = self.units().iter().find(|(known, _)| *known == unit);
        let scale = scale.ok_or_else(|| match unit {
            "" => format!("its bound has no unit; {}", self.example()),
            unit => format!(
                "`{}` is not its unit; {}",
                unit.escape_default(),
                self.example()
            ),
        })?;
        Ok((self, number * scale.1))
    }

    fn unit(self) -> &'static Unit {
        match self {
            ThresholdFigure::Metric(metric) => &metric.unit,
            ThresholdFigure::ErrorShare => &Unit::Share,
        }
    }

    fn units(self) -> &'static [(&'static str, f64)] {
        match self.unit() {
            Unit::Nanoseconds => &TIMES,
            Unit::Bytes => &SIZES,
            Unit::PerSecond(_) => &[("", 1.0), ("/s", 1.0)],
            _ => &[("", 1.0)],
        }
    }

    fn example(self) -> &'static str {
        match self.unit() {
            Unit::Nanoseconds => "a time is such as `20ms`, in ns, us, ms, s or m",
            Unit::Bytes => "memory is such as `64MiB`, in B, KiB, MiB, GiB, kB, MB or GB",
            Unit::PerSecond(_) => "a rate is requests per second, such as `1000`",
            _ if self.is(&Metric::ERRORS) => "errors are a number or a part, such as `0` or `1%`",
            _ => "it is a number, such as `4`",
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

    /// Returns the reason why a time within its bound is inconclusive.
    fn reason_hidden(self, server: &ServerFigures) -> Option<UndecidedReason> {
        let ThresholdFigure::Metric(metric) = self else {
            return None;
        };
        let (failed, served) = (server.count(&Metric::ERRORS), server.count(&Metric::SERVED));
        let is_hidden = hidden(failed, served, part_of_10_000(metric)?);
        is_hidden.then_some(UndecidedReason::ErrorsHide { failed })
    }
}

/// Returns how many of 10,000 requests do not exceed a percentile of the response time.
fn part_of_10_000(metric: &Metric) -> Option<u32> {
    let index = RESPONSE_TIMES.iter().position(|known| known == metric)?;
    Some(quantiles::PARTS.get(index).copied().unwrap_or(10_000))
}
