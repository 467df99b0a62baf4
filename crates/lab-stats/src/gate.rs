// SPDX-License-Identifier: Apache-2.0
//! Gates on a measured run: parses and judges conditions such as `--fail-if 'p99>20ms'` or
//! `'time>+5%'`.
//!
//! A condition is judged by the interval of its value, not by the estimate. It is met if every
//! value within the interval meets it. A value without an interval, such as a count, is judged
//! directly. A ratio needs an interval of the requested level. A gate that cannot be judged is
//! inconclusive and does not pass.

use crate::analysis::Verdict;
use crate::between::{Between, Changed};
use crate::kind::kind_of;
use crate::load::{error_fraction, hidden, quantiles};
use crate::results::{Comparison, Results, Value};
use lab_model::{
    Comparison as Condition, ConditionError, ConditionProblem, Decision, Dimension, Direction,
    Interval, Metric, Plan, PointId, RESPONSE_TIMES, Relation, SubjectId, Unit, distinct,
};
use serde::Serialize;

/// A condition of `--fail-if`: a metric, and the bound beyond which a run fails.
#[derive(Clone, Debug, PartialEq)]
pub struct GateCondition {
    /// The condition as the user wrote it, without surrounding whitespace.
    text: String,
    metric: GateMetric,
    relation: Relation,
    bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A bound on the value, in the unit of the metric: ns, bytes, requests or a fraction.
    Value(f64),
    /// A bound on the change from the baseline, as a fraction of the baseline's value.
    Change(f64),
}

/// The quantity that a condition limits.
#[derive(Clone, Debug, PartialEq)]
enum GateMetric {
    Metric(Metric),
    /// The number of errors divided by the number of requests that ended.
    ErrorFraction,
    /// Every metric with a verdict. A positive change is a change for the worse.
    Any,
}

/// The decision about a condition for one subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedGate {
    /// The condition as the user wrote it.
    pub condition: String,
    /// The subject that was judged.
    pub subject: SubjectId,
    /// The point. `None` means the whole run.
    pub point: Option<PointId>,
    /// The judged metric. A condition on `any` is judged for the [cost](Metric::cost) of each
    /// metric with a verdict.
    pub metric: Metric,
    /// The outcome of the condition: passed, failed or inconclusive.
    pub decision: Decision,
    /// The judged value, or the reason for its absence.
    pub found: GateFound,
}

/// The value that a gate judged, or the reason for its absence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum GateFound {
    /// A value of the subject.
    Value {
        /// The value in `unit`.
        value: Value,
        /// The unit of the value and the limit.
        unit: Unit,
        /// The limit, in `unit`.
        limit: f64,
    },
    /// The subject's value divided by the baseline's value.
    Ratio {
        /// The subject whose value is the divisor.
        baseline: SubjectId,
        /// The ratio. Its confidence level is 0 if both values are counts.
        ratio: Interval,
        /// The limit of the ratio.
        limit: f64,
        /// The limit that the user requested, if it was raised because two copies of the baseline
        /// differ.
        raised_from: Option<f64>,
    },
    /// The condition's percentile has no interval, but a lower percentile has one. The lower bound
    /// of this interval exceeds the limit, so the condition's percentile exceeds the limit, too.
    LowerPercentile {
        /// The lower percentile.
        metric: Metric,
        /// The value of the lower percentile, in ns.
        value: Interval,
        /// The limit in ns.
        limit: f64,
    },
    /// The server was overloaded, so its response times exceed any limit.
    Overloaded,
    /// The gate could not be judged.
    Unknown(InconclusiveReason),
}

/// The reason for an inconclusive gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum InconclusiveReason {
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
    /// The run has no value of the condition's metric for the subject.
    NotMeasured,
    /// The subject was not compared with the baseline of its target.
    NotCompared,
    /// The metric has values for both subjects, but their ratio has no interval.
    NoRatio,
    /// The run has no other subject to compare with.
    NoBaseline,
}

/// The names that conditions on a load can use, with their metrics.
static LOAD_NAMES: [(&str, Metric); 13] = [
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

/// The name in conditions that stands for every metric with a verdict.
const ANY: &str = "any";

impl GateCondition {
    /// Returns the condition of `--gate`: a metric with a verdict is worse by more than the margin.
    pub fn text_of_gate(margin: f64) -> String {
        GateCondition::text_of_change(ANY, margin)
    }

    /// Returns the condition that a metric grows by more than a margin.
    pub fn text_of_change(name: &str, margin: f64) -> String {
        let percent = (margin * 1e6).round() / 1e4;
        format!("{name}>+{percent}%")
    }

    /// Parses a condition such as `p99.9 >= 1s`, `errors>1%` or `time>+5%` for a run of `plan`.
    ///
    /// # Errors
    /// Returns an error if the condition is malformed, or names a metric that the plan does not
    /// measure.
    pub fn parse(text: &str, plan: &Plan) -> Result<GateCondition, ConditionError> {
        Condition::resolve(text, |condition| {
            condition.without_argument()?;
            let metric = GateMetric::parse(&condition, plan)?;
            let bound = match metric {
                GateMetric::Any => Bound::Change(Dimension::Change.parse(condition.bound)?),
                _ => Bound::parse(condition.bound, &metric)?,
            };
            Ok(GateCondition {
                text: text.trim().to_string(),
                metric,
                relation: condition.relation,
                bound,
            })
        })
    }

    /// Parses the conditions of a plan.
    ///
    /// # Errors
    /// Returns an error for the first condition that is malformed or names an unknown metric.
    pub fn of_plan(plan: &Plan) -> Result<Vec<GateCondition>, ConditionError> {
        let texts = plan.measure.fail_if.iter();
        texts.map(|text| GateCondition::parse(text, plan)).collect()
    }

    /// Decides the condition for a comparison. Ignores the difference between the two copies of the
    /// baseline.
    ///
    /// Returns `None` if the condition is not about the metric of this comparison.
    pub(crate) fn decide(&self, comparison: &Comparison, level: f64) -> Option<Decision> {
        let Bound::Change(change) = self.bound else {
            return None;
        };
        let is_meant = match &self.metric {
            GateMetric::Metric(metric) => *metric == comparison.key.metric,
            GateMetric::Any => comparison.verdict.is_some(),
            GateMetric::ErrorFraction => false,
        };
        let ratio = self.oriented(&comparison.key.metric, &comparison.ratio);
        is_meant.then(|| {
            let decision = Decision::for_interval(self.relation, &ratio, 1.0 + change, level);
            let (verdict, margin) = (comparison.verdict, comparison.margin);
            supported(decision, verdict, &comparison.ratio, margin)
        })
    }

    /// Returns the metric whose change the condition limits. `None` for other conditions.
    pub(crate) fn changed_metric(&self) -> Option<&Metric> {
        match (&self.metric, self.bound) {
            (GateMetric::Metric(metric), Bound::Change(_)) => Some(metric),
            _ => None,
        }
    }

    /// Converts the ratio of a comparison to the ratio that the condition limits.
    ///
    /// A comparison contains the ratio of the [costs](Metric::cost). A condition on a metric of
    /// which more is better limits the inverse of this ratio.
    fn oriented(&self, metric: &Metric, ratio: &Interval) -> Interval {
        match metric.better {
            Direction::More if self.metric != GateMetric::Any => inverse(ratio),
            _ => *ratio,
        }
    }
}

impl std::fmt::Display for GateCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Bound {
    /// Parses a bound. A signed percentage is a bound on a change. The unit of a bound on errors
    /// decides whether the bound limits their number or their fraction.
    fn parse(text: &str, metric: &GateMetric) -> Result<Bound, ConditionProblem> {
        if text.starts_with(['+', '-']) {
            return Ok(Bound::Change(Dimension::Change.parse(text)?));
        }
        let dimension = match metric {
            GateMetric::ErrorFraction => Dimension::Fraction,
            GateMetric::Any => Dimension::Change,
            GateMetric::Metric(metric) => match metric.unit {
                Unit::Nanoseconds => Dimension::Time,
                Unit::Bytes => Dimension::Size,
                Unit::PerSecond(_) => Dimension::Rate,
                Unit::Share => Dimension::Fraction,
                Unit::Count(_) | Unit::Ratio => Dimension::Count,
            },
        };
        Ok(Bound::Value(dimension.parse(text)?))
    }
}

impl GateMetric {
    fn parse(condition: &Condition, plan: &Plan) -> Result<GateMetric, ConditionProblem> {
        let Condition { name, bound, .. } = *condition;
        let known = names(plan);
        let found = known.iter().find(|(known, _)| known == name);
        match found {
            _ if name == ANY => Ok(GateMetric::Any),
            Some((_, metric))
                if *metric == Metric::ERRORS
                    && bound.ends_with('%')
                    && !bound.starts_with(['+', '-']) =>
            {
                Ok(GateMetric::ErrorFraction)
            }
            Some((_, metric)) => Ok(GateMetric::Metric(metric.clone())),
            None => {
                let mut known: Vec<&str> = known.iter().map(|(known, _)| known.as_str()).collect();
                known.push(ANY);
                Err(condition.unknown_name(known.join(", ")))
            }
        }
    }

    fn metric(&self) -> Metric {
        match self {
            GateMetric::Metric(metric) => metric.clone(),
            GateMetric::ErrorFraction => Metric::ERRORS,
            GateMetric::Any => Metric::WALL,
        }
    }
}

/// Returns the names that conditions on a run of `plan` may use, with their metrics.
fn names(plan: &Plan) -> Vec<(String, Metric)> {
    let own = plan.cases.iter().flat_map(|case| &case.metrics);
    let own = own.map(|metric| (metric.id.to_string(), metric.clone()));
    let standard = kind_of(plan).gate_metrics(plan);
    distinct(standard.into_iter().chain(own))
}

/// Returns the names that conditions on batches or whole commands may use, with their metrics.
pub(crate) fn batch_metrics(plan: &Plan) -> Vec<(String, Metric)> {
    let names = [
        ("time", plan.main_metric().clone()),
        ("mean", Metric::MEAN_WALL),
        ("cpu", Metric::MEAN_CPU),
        ("memory", Metric::PEAK_MEMORY),
    ];
    names.map(|(name, m)| (name.to_owned(), m)).to_vec()
}

/// Returns the names that conditions on a load may use, with their metrics.
pub(crate) fn load_metrics() -> Vec<(String, Metric)> {
    let names = LOAD_NAMES.iter();
    names
        .map(|(name, m)| ((*name).to_owned(), m.clone()))
        .collect()
}

/// Judges the conditions of a run's plan for every subject and point.
///
/// Conditions on a change are judged for all subjects except the baselines. Conditions on a value
/// are judged for all servers of a load. In other runs, the baseline is judged only if there are no
/// other subjects.
pub fn judge(conditions: &[GateCondition], results: &Results, plan: &Plan) -> Vec<JudgedGate> {
    let judged = conditions
        .iter()
        .flat_map(|condition| match condition.bound {
            Bound::Value(bound) => judge_values(condition, bound, results, plan),
            Bound::Change(change) => judge_changes(condition, change, results, plan),
        });
    judged.collect()
}

fn is_baseline(plan: &Plan, subject: SubjectId) -> bool {
    let target = plan.subjects[subject].target;
    plan.baseline_for(target) == subject
}

/// Returns the subjects other than the baselines.
fn others(plan: &Plan) -> Vec<SubjectId> {
    plan.compared().filter(|&s| !is_baseline(plan, s)).collect()
}

fn judge_values(
    condition: &GateCondition,
    bound: f64,
    results: &Results,
    plan: &Plan,
) -> Vec<JudgedGate> {
    let others = others(plan);
    let has_requests = kind_of(plan).has_requests();
    let is_meant = |s: SubjectId| has_requests || others.is_empty() || others.contains(&s);
    let mut judged = Vec::new();
    for point in plan.points.ids() {
        for subject in plan.compared().filter(|&s| plan.takes_part(s, point)) {
            if !is_meant(subject) {
                continue;
            }
            let server = Measurement {
                results,
                subject,
                point,
                has_requests,
            };
            let (decision, found) = judge_value(condition, bound, &server);
            judged.push(JudgedGate {
                condition: condition.text.clone(),
                subject,
                point: Some(point),
                metric: condition.metric.metric(),
                decision,
                found,
            });
        }
    }
    judged
}

fn judge_value(
    condition: &GateCondition,
    bound: f64,
    server: &Measurement,
) -> (Decision, GateFound) {
    let unknown = |reason| (Decision::Inconclusive, GateFound::Unknown(reason));
    let (metric, relation) = (&condition.metric, condition.relation);
    if !server.is_measured() {
        return unknown(InconclusiveReason::NothingMeasured);
    }
    if server.grows_without_limit(metric) && relation.holds(f64::INFINITY, bound) {
        return (Decision::Failed, GateFound::Overloaded);
    }
    let value = match server.value_of(metric) {
        Ok(value) => value,
        Err(reason) => {
            let lower = server.lower_percentile(metric);
            let exceeds = |(_, value): &(Metric, Interval)| {
                relation.is_upward() && relation.holds(value.low, bound)
            };
            return match lower.filter(exceeds) {
                Some((metric, value)) => (
                    Decision::Failed,
                    GateFound::LowerPercentile {
                        metric,
                        value,
                        limit: bound,
                    },
                ),
                None => unknown(reason),
            };
        }
    };
    let decision = match value.interval().filter(|interval| interval.level > 0.0) {
        Some(interval) => Decision::for_interval(relation, interval, bound, 0.0),
        None => Decision::for_value(relation, value.value(), bound),
    };
    if decision != Decision::Failed
        && let Some(reason) = server.reason_hidden(metric)
    {
        return unknown(reason);
    }
    let unit = match metric {
        GateMetric::ErrorFraction => Unit::Share,
        metric => metric.metric().unit,
    };
    let limit = bound;
    (decision, GateFound::Value { value, unit, limit })
}

fn judge_changes(
    condition: &GateCondition,
    change: f64,
    results: &Results,
    plan: &Plan,
) -> Vec<JudgedGate> {
    let others = others(plan);
    let judged = |subject, point, metric: &Metric, (decision, found)| JudgedGate {
        condition: condition.text.clone(),
        subject,
        point,
        metric: metric.clone(),
        decision,
        found,
    };
    let unknown = |reason| (Decision::Inconclusive, GateFound::Unknown(reason));
    if others.is_empty() {
        let metric = condition.metric.metric();
        let none = unknown(InconclusiveReason::NoBaseline);
        return vec![judged(plan.baseline, None, &metric, none)];
    }
    let ratio = |comparison: &Comparison| judge_ratio(condition, change, comparison, results, plan);
    let mut all = Vec::new();
    for &subject in &others {
        let points = plan.points.ids().filter(|&p| plan.takes_part(subject, p));
        let scopes: Vec<Option<PointId>> = points.map(Some).collect();
        let GateMetric::Metric(metric) = &condition.metric else {
            for point in scopes.into_iter().chain([None]) {
                let comparisons = results.comparisons_at(subject, point).iter();
                let compared: Vec<_> = comparisons.filter(|c| c.verdict.is_some()).collect();
                let hidden = point.is_some_and(|p| hides_percentiles(results, subject, p, plan));
                if point.is_some() && (compared.is_empty() || hidden) {
                    let none = unknown(InconclusiveReason::NotCompared);
                    all.push(judged(subject, point, plan.main_metric(), none));
                }
                all.extend(
                    compared
                        .iter()
                        .map(|c| judged(subject, point, &c.key.metric.cost(), ratio(c))),
                );
            }
            continue;
        };
        if let Some(whole) = results.comparison(subject, None, metric) {
            all.push(judged(subject, None, metric, ratio(whole)));
            continue;
        }
        for point in scopes {
            let found = match results.comparison(subject, point, metric) {
                Some(comparison) => ratio(comparison),
                None => match counted_ratio(results, plan, subject, point, metric) {
                    Some(counted) => {
                        let limit = 1.0 + change;
                        let decision =
                            Decision::for_value(condition.relation, counted.estimate, limit);
                        let found = GateFound::Ratio {
                            baseline: plan.baseline_for(plan.subjects[subject].target),
                            ratio: counted,
                            limit,
                            raised_from: None,
                        };
                        (decision, found)
                    }
                    // The values have intervals, but their ratio has none.
                    None if has_estimate(results, subject, point, metric)
                        && results
                            .comparison(subject, point, plan.main_metric())
                            .is_some() =>
                    {
                        unknown(InconclusiveReason::NoRatio)
                    }
                    None => unknown(InconclusiveReason::NotCompared),
                },
            };
            all.push(judged(subject, point, metric, found));
        }
    }
    all
}

/// Returns the decision. If there are too few blocks for a verdict, returns an inconclusive
/// decision instead, even if the interval excludes 1 or lies within the margin.
fn supported(
    decision: Decision,
    verdict: Option<Verdict>,
    ratio: &Interval,
    margin: f64,
) -> Decision {
    let is_inconclusive = matches!(verdict, Some(Verdict::Inconclusive { .. }));
    let excludes_1 = ratio.low > 1.0 || ratio.high < 1.0;
    let is_within = ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin;
    if is_inconclusive && (excludes_1 || is_within) {
        Decision::Inconclusive
    } else {
        decision
    }
}

/// Judges a ratio. If the two copies of the baseline differ by more than the plan's margin, the
/// limit is raised to their difference.
fn judge_ratio(
    condition: &GateCondition,
    change: f64,
    comparison: &Comparison,
    results: &Results,
    plan: &Plan,
) -> (Decision, GateFound) {
    let requested = 1.0 + change;
    let noise = comparison.margin > plan.measure.margin + 1e-12;
    let raises = noise && condition.relation.is_upward() && change >= 0.0;
    let limit = if raises {
        requested.max(1.0 + comparison.margin)
    } else {
        requested
    };
    let ratio = condition.oriented(&comparison.key.metric, &comparison.ratio);
    let decision = Decision::for_interval(condition.relation, &ratio, limit, results.level);
    let decision = supported(
        decision,
        comparison.verdict,
        &comparison.ratio,
        comparison.margin,
    );
    let found = GateFound::Ratio {
        baseline: comparison.baseline,
        ratio,
        limit,
        raised_from: (limit > requested).then_some(requested),
    };
    (decision, found)
}

/// Returns the ratio of two values that have no comparison, such as counts, as an interval with a
/// confidence level of 0.
fn counted_ratio(
    results: &Results,
    plan: &Plan,
    subject: SubjectId,
    point: Option<PointId>,
    metric: &Metric,
) -> Option<Interval> {
    let baseline = plan.baseline_for(plan.subjects[subject].target);
    let value = |subject| match results.value(subject, point, metric)? {
        Value::Reading(value) => Some(value),
        // Estimates are compared with an interval or not at all.
        Value::Estimate(_) => None,
    };
    let (mine, base) = (value(subject)?, value(baseline)?);
    (base > 0.0).then(|| Interval::from_single_block(mine / base))
}

fn has_estimate(
    results: &Results,
    subject: SubjectId,
    point: Option<PointId>,
    metric: &Metric,
) -> bool {
    let value = results.value(subject, point, metric);
    matches!(value, Some(Value::Estimate(_)))
}

/// A condition on the change from one run to another.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeCondition {
    text: String,
    /// The metric. `None` means every metric with a verdict.
    metric: Option<Metric>,
    relation: Relation,
    change: f64,
}

/// The decision about a change from one run to another.
#[derive(Clone, Debug)]
pub struct JudgedChange<'b> {
    /// The condition as the user wrote it.
    pub condition: String,
    /// The outcome of the condition: passed, failed or inconclusive.
    pub decision: Decision,
    /// The change, or `None` if the runs have no comparable value of the condition's metric.
    pub found: Option<(&'b Changed, Interval)>,
    /// The largest change that passes, as a ratio.
    pub limit: f64,
}

impl ChangeCondition {
    /// Parses a condition such as `time>+5%` or `p99>+10%` on the change between two runs.
    ///
    /// # Errors
    /// Returns an error if the condition is malformed, or names a metric without a verdict.
    pub fn parse(text: &str, between: &Between) -> Result<ChangeCondition, ConditionError> {
        Condition::resolve(text, |condition| {
            condition.without_argument()?;
            let metrics = distinct(between.judged().map(|changed| changed.metric.clone()));
            let named = |metric: &Metric| match LOAD_NAMES.iter().find(|(_, m)| m == metric) {
                _ if *metric == Metric::WALL => "time".to_owned(),
                Some((name, _)) => (*name).to_owned(),
                None => metric.id.to_string(),
            };
            let mut known: Vec<String> = metrics.iter().map(named).collect();
            let at = known.iter().position(|known| known == condition.name);
            known.push(ANY.into());
            if at.is_none() && condition.name != ANY {
                return Err(condition.unknown_name(known.join(", ")));
            }
            Ok(ChangeCondition {
                text: text.trim().into(),
                metric: at.map(|at| metrics[at].clone()),
                relation: condition.relation,
                change: Dimension::Change.parse(condition.bound)?,
            })
        })
    }

    /// Judges the condition for every change that the condition names.
    pub fn judge<'b>(&self, between: &'b Between) -> Vec<JudgedChange<'b>> {
        let requested = 1.0 + self.change;
        let is_meant = |changed: &&Changed| {
            let names = self.metric.as_ref().is_none_or(|m| *m == changed.metric);
            // The second copy of the baseline shows only noise.
            names && !(changed.relative && changed.reference)
        };
        let judged = between.judged().filter(is_meant).map(|changed| {
            let is_rate = changed.metric == Metric::THROUGHPUT && self.metric.is_some();
            let ratio = if is_rate {
                inverse(&changed.change)
            } else {
                changed.change
            };
            let raises = changed.margin > between.margin + 1e-12 && self.change >= 0.0;
            let limit = if raises && self.relation.is_upward() {
                requested.max(1.0 + changed.margin)
            } else {
                requested
            };
            let decision = Decision::for_interval(self.relation, &ratio, limit, between.level);
            JudgedChange {
                condition: self.text.clone(),
                decision: supported(decision, changed.verdict, &changed.change, changed.margin),
                found: Some((changed, ratio)),
                limit,
            }
        });
        let judged: Vec<JudgedChange> = judged.collect();
        let nothing = JudgedChange {
            condition: self.text.clone(),
            decision: Decision::Inconclusive,
            found: None,
            limit: requested,
        };
        if judged.is_empty() {
            vec![nothing]
        } else {
            judged
        }
    }
}

fn inverse(ratio: &Interval) -> Interval {
    Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
        level: ratio.level,
    }
}

/// Returns true if the comparison of a percentile is missing at a point because failed requests of
/// the server or of the baseline hide the percentile.
fn hides_percentiles(results: &Results, subject: SubjectId, point: PointId, plan: &Plan) -> bool {
    let kind = kind_of(plan);
    let hides = |metric: &Metric| {
        [subject, plan.baseline].into_iter().any(|subject| {
            let server = Measurement {
                results,
                subject,
                point,
                has_requests: kind.has_requests(),
            };
            let metric = GateMetric::Metric(metric.clone());
            server.reason_hidden(&metric).is_some()
        })
    };
    let mut compared = kind.compared_metrics(plan.is_open(point)).iter();
    compared.any(|m| results.comparison(subject, point, m).is_none() && hides(m))
}

/// The results of a subject at a point.
struct Measurement<'r> {
    results: &'r Results,
    subject: SubjectId,
    point: PointId,
    has_requests: bool,
}

impl Measurement<'_> {
    fn value(&self, metric: &Metric) -> Option<Value> {
        let at_point = self.results.value(self.subject, self.point, metric);
        at_point.or_else(|| self.results.value(self.subject, None, metric))
    }

    fn count(&self, metric: &Metric) -> u64 {
        self.value(metric).map_or(0, |value| value.value() as u64)
    }

    fn is_measured(&self) -> bool {
        !self.results.cells_at(self.subject, self.point).is_empty()
    }

    /// Returns true for a response time of a server that could not keep up with the offered rate.
    fn grows_without_limit(&self, metric: &GateMetric) -> bool {
        let GateMetric::Metric(metric) = metric else {
            return false;
        };
        self.has_requests
            && part_of_10_000(metric).is_some()
            && self.value(metric).is_none()
            && self.count(&Metric::SERVED) > 0
            && self.results.is_overloaded(self.subject, self.point)
    }

    /// Returns the highest percentile that has an interval and is lower than the percentile
    /// `metric`, with its interval.
    fn lower_percentile(&self, metric: &GateMetric) -> Option<(Metric, Interval)> {
        let GateMetric::Metric(metric) = metric else {
            return None;
        };
        let part = part_of_10_000(metric)?;
        let is_lower = |other: &&Metric| part_of_10_000(other).is_some_and(|p| p < part);
        let mut lower = RESPONSE_TIMES.iter().rev().filter(is_lower);
        lower.find_map(|other| {
            let value = self.value(other)?;
            let interval = value.interval().filter(|interval| interval.level > 0.0)?;
            Some((other.clone(), *interval))
        })
    }

    /// Returns the value, with its interval if there is one, or the reason for its absence.
    fn value_of(&self, metric: &GateMetric) -> Result<Value, InconclusiveReason> {
        let (errors, served) = (self.count(&Metric::ERRORS), self.count(&Metric::SERVED));
        let GateMetric::Metric(metric) = metric else {
            let fraction = error_fraction(errors, served).map(Value::Reading);
            return fraction.ok_or(InconclusiveReason::NothingEnded);
        };
        let reason = || match part_of_10_000(metric) {
            _ if !self.has_requests => InconclusiveReason::NotMeasured,
            _ if served == 0 && *metric != Metric::THREADS => InconclusiveReason::NothingServed,
            Some(_) if self.results.is_overloaded(self.subject, self.point) => {
                InconclusiveReason::Overloaded
            }
            Some(_) => InconclusiveReason::TooFewRequests {
                responses: self.count(&Metric::RESPONSES),
            },
            None => InconclusiveReason::ServerUnknown,
        };
        self.value(metric).ok_or_else(reason)
    }

    /// Returns a reason if failed requests may hide larger response times. A response time below
    /// its bound is then inconclusive.
    fn reason_hidden(&self, metric: &GateMetric) -> Option<InconclusiveReason> {
        let GateMetric::Metric(metric) = metric else {
            return None;
        };
        let (failed, served) = (self.count(&Metric::ERRORS), self.count(&Metric::SERVED));
        let is_hidden = self.has_requests && hidden(failed, served, part_of_10_000(metric)?);
        is_hidden.then_some(InconclusiveReason::ErrorsHide { failed })
    }
}

/// Returns the percentile that a response-time metric measures, in units of 1/10,000. The maximum
/// is 10,000.
fn part_of_10_000(metric: &Metric) -> Option<u32> {
    let index = RESPONSE_TIMES.iter().position(|known| known == metric)?;
    Some(quantiles::PARTS.get(index).copied().unwrap_or(10_000))
}
