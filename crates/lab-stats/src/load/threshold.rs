// SPDX-License-Identifier: Apache-2.0
//! Gates on a load run: what `--fail-if 'p99>20ms'` says, and whether it is so.
//!
//! A gate is on the estimate, for a single run's reader wants to know of that run. Where the interval
//! reaches across the bound the finding says so. A gate that cannot be judged does not pass: it is undecided.

use super::analysis::{LoadAnalysis, LoadCell};
use super::{error_share, errors, hidden};
use crate::analysis::Interval;
use lab_model::{Plan, PointId, SubjectId};
use serde::Serialize;
use std::str::FromStr;

/// A quantity, and the bound beyond which a run has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As it was written, without blanks at its ends.
    text: String,
    quantity: Quantity,
    comparison: Comparison,
    /// In ns, bytes, requests, parts or whatever the quantity is in.
    bound: f64,
}

/// A threshold that a server crossed at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossed {
    /// Who.
    pub subject: SubjectId,
    /// Where.
    pub point: PointId,
    /// The threshold, what was found, and whether another run might find otherwise.
    pub text: String,
    /// What was found: ns, bytes, requests per second, a number, or a part of 1.
    pub value: f64,
}

/// A threshold that could not be judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undecided {
    /// Who.
    pub subject: SubjectId,
    /// Where.
    pub point: PointId,
    /// The threshold, and why it could not be judged.
    pub text: String,
}

/// What thresholds say of a run. If both are empty, it has passed them all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judgement {
    /// By threshold, then point, then subject.
    pub crossed: Vec<Crossed>,
    /// In the same order.
    pub undecided: Vec<Undecided>,
}

/// Judges every server at every point of the plan, also those of which nothing is known.
pub fn judge(thresholds: &[Threshold], analysis: &LoadAnalysis, plan: &Plan) -> Judgement {
    let mut judgement = Judgement::default();
    for threshold in thresholds {
        for (point, subject) in places(plan) {
            let here = |cell: &&LoadCell| (cell.point, cell.subject) == (point, subject);
            let cell = analysis.cells.iter().find(here);
            match threshold.found(cell) {
                Found::Passed => {}
                Found::Crossed(value, text) => judgement.crossed.push(Crossed {
                    subject,
                    point,
                    text,
                    value,
                }),
                Found::Undecided(text) => judgement.undecided.push(Undecided {
                    subject,
                    point,
                    text,
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

/// Why a threshold cannot be understood: shows it, says what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no threshold: {why}")]
pub struct ThresholdError {
    text: String,
    why: String,
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    /// A name, `>`, `>=`, `<` or `<=`, and a bound with its unit: `p99.9 >= 1s`, `errors>1%`.
    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        let text = text.trim();
        let wrong = |why: String| ThresholdError {
            text: text.escape_default().to_string(),
            why,
        };
        let at = text.find(['<', '>']).ok_or_else(|| {
            wrong(format!(
                "it needs `>` or `<` and a bound, such as `p99>20ms`; {}",
                known()
            ))
        })?;
        let (name, rest) = text.split_at(at);
        let (comparison, bound) = Comparison::split(rest);
        let quantity = Quantity::named(name.trim()).ok_or_else(|| {
            wrong(format!(
                "`{}` is not known; {}",
                name.trim().escape_default(),
                known()
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

/// What a threshold finds at one place.
enum Found {
    Passed,
    Crossed(f64, String),
    Undecided(String),
}

impl Threshold {
    fn found(&self, cell: Option<&LoadCell>) -> Found {
        let undecided = |why: String| Found::Undecided(format!("{self}: {why}"));
        let Some(cell) = cell else {
            return undecided("nothing was measured".to_string());
        };
        let (value, interval) = match self.quantity.value(cell) {
            Ok(found) => found,
            Err(why) => return undecided(why),
        };
        if self.comparison.holds(value, self.bound) {
            return Found::Crossed(value, self.sentence(value, interval));
        }
        match self.quantity.hidden(cell) {
            Some(why) => undecided(why),
            None => Found::Passed,
        }
    }

    fn sentence(&self, value: f64, interval: Option<Interval>) -> String {
        let shown = |value| self.quantity.shown(value);
        let across = |i: &Interval| {
            self.comparison.holds(i.low, self.bound) != self.comparison.holds(i.high, self.bound)
        };
        let doubt = interval.filter(across).map(|i| {
            format!(
                ", but its interval, {} to {}, reaches across the bound: another run may find otherwise",
                shown(i.low),
                shown(i.high)
            )
        });
        format!(
            "{self}: it is {}{}",
            shown(value),
            doubt.unwrap_or_default()
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Comparison {
    /// Of what begins with one, and what follows it.
    fn split(text: &str) -> (Comparison, &str) {
        let signs = [
            (">=", Comparison::AtLeast),
            ("<=", Comparison::AtMost),
            ("<", Comparison::Below),
        ];
        let found = signs.into_iter().find_map(|(sign, comparison)| {
            let rest = text.strip_prefix(sign)?;
            Some((comparison, rest))
        });
        found.unwrap_or((Comparison::Above, text.strip_prefix('>').unwrap_or(text)))
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Comparison::Above => value > bound,
            Comparison::AtLeast => value >= bound,
            Comparison::Below => value < bound,
            Comparison::AtMost => value <= bound,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    /// A quantile of the response times, by how many in 10,000 do not exceed it.
    Quantile(u32),
    Max,
    Errors,
    /// Errors as a part of all requests that came to an end.
    ErrorShare,
    Rate,
    ServerCpu,
    ServerCores,
    ServerMemory,
    ServerThreads,
}

const NAMES: [(&str, Quantity); 13] = [
    ("p50", Quantity::Quantile(5000)),
    ("p75", Quantity::Quantile(7500)),
    ("p90", Quantity::Quantile(9000)),
    ("p99", Quantity::Quantile(9900)),
    ("p99.9", Quantity::Quantile(9990)),
    ("p99.99", Quantity::Quantile(9999)),
    ("max", Quantity::Max),
    ("errors", Quantity::Errors),
    ("rate", Quantity::Rate),
    ("server_cpu", Quantity::ServerCpu),
    ("server_cores", Quantity::ServerCores),
    ("server_memory", Quantity::ServerMemory),
    ("server_threads", Quantity::ServerThreads),
];

const TIMES: [(&str, f64); 6] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
];

const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

fn known() -> String {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    format!("known are {}", names.join(", "))
}

impl Quantity {
    fn named(name: &str) -> Option<Quantity> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, quantity)| *quantity)
    }

    /// A bound on it. Of errors, the unit says whether their number or their part is meant.
    fn bound(self, text: &str) -> Result<(Quantity, f64), String> {
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
        if (self, unit) == (Quantity::Errors, "%") {
            return Ok((Quantity::ErrorShare, number / 100.0));
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

    fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Quantity::Quantile(_) | Quantity::Max | Quantity::ServerCpu => &TIMES,
            Quantity::ServerMemory => &SIZES,
            Quantity::Rate => &[("", 1.0), ("/s", 1.0)],
            _ => &[("", 1.0)],
        }
    }

    fn example(self) -> &'static str {
        match self {
            Quantity::Quantile(_) | Quantity::Max | Quantity::ServerCpu => {
                "a time is such as `20ms`, in ns, us, ms, s or m"
            }
            Quantity::ServerMemory => {
                "memory is such as `64MiB`, in B, KiB, MiB, GiB, kB, MB or GB"
            }
            Quantity::Rate => "a rate is requests per second, such as `1000`",
            Quantity::Errors | Quantity::ErrorShare => {
                "errors are a number or a part, such as `0` or `1%`"
            }
            Quantity::ServerCores | Quantity::ServerThreads => "it is a number, such as `4`",
        }
    }

    /// Its estimate, and its interval if it has one. Errors: why it has no value.
    fn value(self, cell: &LoadCell) -> Result<(f64, Option<Interval>), String> {
        let response = &cell.response;
        let estimate = |interval: Option<Interval>, why: &str| {
            let interval = interval.ok_or_else(|| match cell.served {
                0 => "nothing was served".to_string(),
                _ => why.to_string(),
            })?;
            Ok((interval.estimate, Some(interval)))
        };
        let quantile = |interval| {
            estimate(
                interval,
                &format!("{} requests are too few for it", response.count),
            )
        };
        let server = |interval| estimate(interval, UNKNOWN_SERVER);
        match self {
            Quantity::Quantile(5000) => quantile(response.p50_ns),
            Quantity::Quantile(7500) => quantile(response.p75_ns),
            Quantity::Quantile(9000) => quantile(response.p90_ns),
            Quantity::Quantile(9900) => quantile(response.p99_ns),
            Quantity::Quantile(9990) => quantile(response.p999_ns),
            Quantity::Quantile(_) => quantile(response.p9999_ns),
            Quantity::Max => reading(response.max_ns.map(|ns| ns as f64), "nothing was served"),
            Quantity::Errors => Ok((errors(cell) as f64, None)),
            Quantity::ErrorShare => reading(
                error_share(errors(cell), cell.served),
                "no request came to an end",
            ),
            Quantity::Rate => Ok((cell.served_per_s.estimate, Some(cell.served_per_s))),
            Quantity::ServerCpu => server(cell.server_cpu_ns),
            Quantity::ServerCores => server(cell.server_cores),
            Quantity::ServerMemory => server(cell.server_bytes),
            Quantity::ServerThreads => reading(cell.server_threads.map(f64::from), UNKNOWN_SERVER),
        }
    }

    /// Why a time that lies within its bound says nothing: as many requests failed as lie beyond it, and
    /// nobody knows how long they would have taken.
    fn hidden(self, cell: &LoadCell) -> Option<String> {
        let part = match self {
            Quantity::Quantile(part) => part,
            Quantity::Max => 10_000,
            _ => return None,
        };
        let failed = errors(cell);
        hidden(failed, cell.served, part).then(|| {
            format!(
                "{failed} requests failed, which is more than lie beyond it, and how long they would have \
                 taken is not known"
            )
        })
    }

    fn shown(self, value: f64) -> String {
        match self {
            Quantity::Quantile(_) | Quantity::Max | Quantity::ServerCpu => {
                in_unit(value, &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)])
            }
            Quantity::ServerMemory => in_unit(
                value,
                &[
                    ("GiB", 1_073_741_824.0),
                    ("MiB", 1_048_576.0),
                    ("KiB", 1024.0),
                    ("B", 1.0),
                ],
            ),
            Quantity::ErrorShare => format!("{} %", digits(100.0 * value)),
            Quantity::Rate => format!("{} per second", digits(value)),
            Quantity::ServerCores => digits(value),
            Quantity::Errors | Quantity::ServerThreads => value.to_string(),
        }
    }
}

const UNKNOWN_SERVER: &str =
    "what the server uses is not known: name its process with --server-pid";

fn reading(value: Option<f64>, why: &str) -> Result<(f64, Option<Interval>), String> {
    value
        .map(|value| (value, None))
        .ok_or_else(|| why.to_string())
}

/// In the first unit of which it is at least one, from the greatest to the least.
fn in_unit(value: f64, units: &[(&str, f64)]) -> String {
    let fits = units.iter().find(|(_, scale)| value >= *scale);
    let (unit, scale) = fits.or(units.last()).copied().unwrap_or(("", 1.0));
    format!("{} {unit}", digits(value / scale))
}

/// With three significant digits, or all before the point.
fn digits(value: f64) -> String {
    let whole = value.abs().max(1e-3).log10().floor() as i32;
    let text = format!("{value:.*}", (2 - whole).clamp(0, 5) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}
