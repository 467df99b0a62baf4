// SPDX-License-Identifier: Apache-2.0
//! Parses and evaluates gates such as `--fail-if 'p99(/search)>300ms'`.

use super::is_notable;
use crate::finding::GateProblem;
use crate::query;
use crate::sketch::MAX_NS;
use lab_model::{
    AssumptionKind, Comparison, ConditionError, ConditionProblem, Dimension, LogAdvice,
    LogAnalysis, LogAssumption, LogPage, PageKind, Relation, Unit,
};
use std::str::FromStr;

/// A bound that a metric of a page must not cross.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    /// The part of the condition before the operator, such as `p99(/search)`.
    name: String,
    metric: GateMetric,
    /// The page. `None` means all pages together.
    page: Option<String>,
    relation: Relation,
    bound: f64,
}

/// A value that a gate bounds: a statistic of the durations, a fraction, or a number of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateMetric {
    /// A quantile of the durations, 0 to 1.
    Quantile(f64),
    /// The mean duration, in ns.
    Mean,
    /// The maximum duration, in ns.
    Max,
    /// The fraction of failed requests.
    Errors,
    /// The page's fraction of the total time.
    Fraction,
    /// The number of requests.
    Requests,
    /// The requests per second of the busiest minute.
    Rate,
}

/// The outcome of evaluating a gate: the value, the bound, and whether the value crosses the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The gate's text as the user wrote it.
    pub gate: String,
    /// The part of the condition before the operator, such as `p99(/search)`.
    pub name: String,
    /// The page, or an empty string for all pages together.
    pub page: String,
    /// The metric that the gate bounds.
    pub metric: GateMetric,
    /// The value in the unit of the bound (ns, a fraction or a count), or the problem that prevents
    /// a decision.
    pub value: Result<f64, GateProblem>,
    /// True if the value is beyond the bound.
    pub is_crossed: bool,
    /// The operator between the metric and the bound.
    pub relation: Relation,
    /// The bound: a duration in ns, a fraction or a count.
    pub bound: f64,
}

impl FromStr for Gate {
    type Err = ConditionError;

    /// Parses a condition such as `p99(/search)>300ms`.
    fn from_str(text: &str) -> Result<Gate, ConditionError> {
        Comparison::resolve(text, |condition| {
            let metric = GateMetric::parse(&condition)?;
            Ok(Gate {
                text: text.trim().into(),
                name: match condition.argument {
                    Some(page) => format!("{}({page})", condition.name),
                    None => condition.name.into(),
                },
                metric,
                page: condition.argument.map(str::to_owned),
                relation: condition.relation,
                bound: metric.dimension().parse(condition.bound)?,
            })
        })
    }
}

impl GateMetric {
    fn parse(condition: &Comparison) -> Result<GateMetric, ConditionProblem> {
        let metric = match condition.name {
            "mean" => GateMetric::Mean,
            "max" => GateMetric::Max,
            "errors" => GateMetric::Errors,
            "share" => GateMetric::Fraction,
            "requests" => GateMetric::Requests,
            "rate" => GateMetric::Rate,
            name => {
                let percent = name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
                let percent = percent.filter(|p| *p > 0.0 && *p < 100.0);
                let percent = percent.ok_or_else(|| {
                    condition.unknown_name(
                        "p50, p99 or another percentile, mean, max, errors, requests, rate, share(PAGE)",
                    )
                })?;
                GateMetric::Quantile(percent / 100.0)
            }
        };
        match metric {
            GateMetric::Fraction if condition.argument.is_none() => {
                Err(ConditionProblem::ArgumentMissing("share(PAGE)"))
            }
            GateMetric::Rate => condition.without_argument().map(|()| metric),
            metric => Ok(metric),
        }
    }

    /// Returns the unit of the value.
    pub fn unit(self) -> Unit {
        match self {
            GateMetric::Quantile(_) | GateMetric::Mean | GateMetric::Max => Unit::Nanoseconds,
            GateMetric::Errors | GateMetric::Fraction => Unit::Share,
            GateMetric::Requests => Unit::Count("requests".into()),
            GateMetric::Rate => Unit::PerSecond("requests".into()),
        }
    }

    /// Returns true for a statistic on durations.
    fn is_duration(self) -> bool {
        matches!(
            self,
            GateMetric::Quantile(_) | GateMetric::Mean | GateMetric::Max
        )
    }

    fn dimension(self) -> Dimension {
        match self {
            GateMetric::Quantile(_) | GateMetric::Mean | GateMetric::Max => Dimension::Time,
            GateMetric::Errors | GateMetric::Fraction => Dimension::Fraction,
            GateMetric::Requests => Dimension::Count,
            GateMetric::Rate => Dimension::Rate,
        }
    }
}

impl Gate {
    /// Evaluates the gate against the analysis.
    pub fn judge(&self, analysis: &LogAnalysis) -> GateResult {
        let result = self
            .value(analysis)
            .and_then(|value| self.check_lower_bound(value, analysis))
            .and_then(|value| self.check_lines(value, analysis));
        let is_crossed = result
            .as_ref()
            .is_ok_and(|value| self.relation.holds(*value, self.bound));
        GateResult {
            gate: self.text.clone(),
            name: self.name.clone(),
            page: self.page.clone().unwrap_or_default(),
            metric: self.metric,
            value: result,
            is_crossed,
            relation: self.relation,
            bound: self.bound,
        }
    }

    fn value(&self, analysis: &LogAnalysis) -> Result<f64, GateProblem> {
        if let Some(assumption) = self.assumption(analysis) {
            return Err(GateProblem::Assumed(assumption.clone()));
        }
        if let Some(problem) = self.translated(analysis) {
            return Err(problem);
        }
        if self.metric == GateMetric::Rate {
            let peak = analysis.peak_minute.ok_or(GateProblem::NoPeak)?;
            return match missing_times(analysis) {
                Some(missing) => Err(GateProblem::Assumed(missing)),
                None => Ok(peak.1 as f64 / 60.0),
            };
        }
        let page = self.page(analysis)?;
        if let Some(missing) = self.missing_durations(&page, analysis) {
            return Err(GateProblem::Assumed(missing));
        }
        let unknown = || GateProblem::NoDurations;
        let value = match self.metric {
            GateMetric::Quantile(part) => {
                let ns = page.quantile(part).ok_or_else(unknown)?;
                let is_beyond =
                    page.max_ns > MAX_NS && ns as f64 >= MAX_NS as f64 * (1.0 - analysis.error);
                if is_beyond && self.bound >= ns as f64 {
                    return Err(GateProblem::BeyondHour);
                }
                ns as f64
            }
            GateMetric::Mean if page.is_total_capped() => return Err(GateProblem::CappedSum),
            GateMetric::Mean => page.mean_ns().ok_or_else(unknown)?,
            GateMetric::Max if page.timed == 0 => return Err(unknown()),
            GateMetric::Max => page.known_max_ns().ok_or(GateProblem::NoMax)? as f64,
            GateMetric::Errors => self.errors(&page)?,
            GateMetric::Requests => page.requests as f64,
            GateMetric::Fraction => fraction(&page, analysis)?,
            GateMetric::Rate => 0.0,
        };
        Ok(value)
    }

    /// Returns an assumption if the metric depends on durations that many requests of the page, or
    /// many requests or statements together, do not have.
    fn missing_durations(&self, page: &LogPage, analysis: &LogAnalysis) -> Option<LogAssumption> {
        match self.metric {
            GateMetric::Fraction => {
                missing_durations(page).or_else(|| missing_durations(&sum(analysis, page.kind)))
            }
            metric if metric.is_duration() => missing_durations(page),
            _ => None,
        }
    }

    /// Returns a problem if many messages of PostgreSQL's log are in a language other than English,
    /// so that statements are missing.
    fn translated(&self, analysis: &LogAnalysis) -> Option<GateProblem> {
        let messages = translated_messages(analysis)?;
        let is_affected = self.is_on_statements(analysis);
        is_affected.then_some(GateProblem::Translated { messages })
    }

    /// Returns true if the gate bounds a value of a query or of all queries.
    fn is_on_statements(&self, analysis: &LogAnalysis) -> bool {
        match &self.page {
            None => together(analysis).kind == PageKind::Query,
            Some(_) => self
                .page(analysis)
                .is_ok_and(|page| page.kind == PageKind::Query),
        }
    }

    /// Returns the page that the gate names, or all pages together.
    fn page(&self, analysis: &LogAnalysis) -> Result<LogPage, GateProblem> {
        let Some(name) = &self.page else {
            return Ok(together(analysis));
        };
        let name = name.strip_prefix("GET ").unwrap_or(name);
        let mut pages = analysis.pages.iter().filter(|p| p.kind.is_use());
        let page = pages.find(|p| p.name == name).cloned();
        let page = page.or_else(|| query_named(name, analysis));
        page.ok_or_else(|| GateProblem::NoPage {
            page: name.into(),
            nearest: nearest(name, analysis),
        })
    }

    /// Returns the fraction of a page's requests that failed.
    ///
    /// Returns an error if no status is known, or if many are unknown and could change the
    /// decision.
    fn errors(&self, page: &LogPage) -> Result<f64, GateProblem> {
        let (unknown, of) = (page.without_status, page.requests);
        let is_query = page.kind == PageKind::Query;
        if unknown > 0 && unknown == of {
            return Err(match is_query {
                true => GateProblem::NoOutcome,
                false => GateProblem::NoStatus,
            });
        }
        let fraction = |errors: u64| errors as f64 / of.max(1) as f64;
        let errors = fraction(page.errors);
        let highest = fraction(page.errors.saturating_add(unknown));
        if is_notable(unknown, of) && !self.decides_alike(errors, highest) {
            return Err(match is_query {
                true => GateProblem::UnknownOutcome {
                    statements: unknown,
                    of,
                },
                false => GateProblem::UnknownStatus {
                    requests: unknown,
                    of,
                },
            });
        }
        Ok(errors)
    }

    /// Returns true if the gate has the same result for both values.
    fn decides_alike(&self, one: f64, other: f64) -> bool {
        self.relation.holds(one, self.bound) == self.relation.holds(other, self.bound)
    }

    /// Checks that a gate does not pass only because requests were not read.
    fn check_lines(&self, value: f64, analysis: &LogAnalysis) -> Result<f64, GateProblem> {
        if self.relation.holds(value, self.bound) {
            return Ok(value);
        }
        if let Some(unread) = unread_lines(analysis)
            && !self.is_decided_without(value, unread, analysis)?
        {
            return Err(GateProblem::Malformed {
                lines: unread,
                of: analysis.lines.all,
            });
        }
        match together(analysis).requests {
            0 => Err(GateProblem::NoRequests),
            _ => Ok(value),
        }
    }

    /// Returns true if the gate has the same result no matter which requests the unread lines
    /// contain.
    fn is_decided_without(
        &self,
        value: f64,
        unread: u64,
        analysis: &LogAnalysis,
    ) -> Result<bool, GateProblem> {
        let unread = unread as f64;
        let highest = match self.metric {
            GateMetric::Requests => value + unread,
            GateMetric::Rate => value + unread / 60.0,
            GateMetric::Errors => {
                let requests = self.page(analysis)?.requests as f64;
                (value * requests + unread) / (requests + unread)
            }
            // A single long duration changes the mean, and many change a percentile.
            _ => return Ok(false),
        };
        Ok(self.decides_alike(value, highest))
    }

    /// Checks that the value decides the gate even if some durations are only lower bounds.
    ///
    /// A lower bound that exceeds the gate's bound decides the gate, because the true value is at
    /// least as large. Otherwise, returns an error with the reason.
    fn check_lower_bound(&self, value: f64, analysis: &LogAnalysis) -> Result<f64, GateProblem> {
        let is_duration = self.metric.is_duration();
        // With `>=` or `<`, a value equal to the bound also decides the gate.
        let is_certain_at_bound = matches!(self.relation, Relation::AtLeast | Relation::Below);
        let is_beyond = value > self.bound || (value == self.bound && is_certain_at_bound);
        let is_decided = is_duration && is_beyond;
        let is_affected = is_duration || self.metric == GateMetric::Fraction;
        let mut assumptions = analysis.assumptions.iter();
        let has_bounds = assumptions.any(|a| a.kind() == AssumptionKind::LowerBounds);
        if !has_bounds || !is_affected || is_decided {
            Ok(value)
        } else if is_duration {
            Err(GateProblem::LowerBound(value))
        } else {
            Err(GateProblem::BoundedFraction)
        }
    }

    /// Returns the assumption about the logs that the metric depends on.
    fn assumption<'w>(&self, analysis: &'w LogAnalysis) -> Option<&'w LogAssumption> {
        let about: &[AssumptionKind] = match self.metric {
            GateMetric::Quantile(_) | GateMetric::Mean => &[AssumptionKind::Durations],
            GateMetric::Max => &[AssumptionKind::Durations, AssumptionKind::Counts],
            GateMetric::Fraction => &[AssumptionKind::Durations, AssumptionKind::Counts],
            GateMetric::Rate => &[
                AssumptionKind::Times,
                AssumptionKind::Counts,
                AssumptionKind::Requests,
            ],
            GateMetric::Requests => &[AssumptionKind::Counts, AssumptionKind::Requests],
            GateMetric::Errors => &[AssumptionKind::Requests],
        };
        let is_missing = |a: &LogAssumption| matches!(a, LogAssumption::MissingDurations { .. });
        let is_one_log = analysis.sources.len() < 2;
        let affects = |a: &&LogAssumption| match self.metric {
            // Statements without durations do not affect pages, and are checked where the value of
            // a query is computed.
            _ if matches!(a, LogAssumption::UntimedStatements { .. }) => false,
            metric if matches!(a, LogAssumption::StatementsCountedTwice { .. }) => {
                let is_count = about.contains(&a.kind()) || metric == GateMetric::Fraction;
                is_count && self.is_on_statements(analysis)
            }
            // Durations that are missing are checked where the value is computed.
            _ if is_missing(a) => false,
            // Within one log, a common factor cancels out.
            GateMetric::Fraction if is_one_log && a.is_common_factor() => false,
            _ => a.kind() == AssumptionKind::All || about.contains(&a.kind()),
        };
        analysis.assumptions.iter().find(affects)
    }
}

/// The minimum similarity, from 0 to 1, at which a page's name is suggested.
const LIKENESS: f64 = 0.7;

/// Returns the query that `name` denotes. The spelling may differ, for example in blanks.
fn query_named(name: &str, analysis: &LogAnalysis) -> Option<LogPage> {
    let key = query::key(name);
    let mut queries = analysis.pages.iter().filter(|p| p.kind == PageKind::Query);
    queries.find(|p| query::key(&p.name) == key).cloned()
}

/// Returns the page with the most similar name by normalized Damerau-Levenshtein similarity.
fn nearest(name: &str, analysis: &LogAnalysis) -> Option<String> {
    let likeness = |page: &&LogPage| strsim::normalized_damerau_levenshtein(name, &page.name);
    let pages = analysis.pages.iter().filter(|page| page.kind.is_use());
    let best = pages.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) >= LIKENESS).then(|| best.name.clone())
}

/// Returns the page's fraction of the total time of its kind.
///
/// Returns an error if no duration of the page or of its kind is known.
fn fraction(page: &LogPage, analysis: &LogAnalysis) -> Result<f64, GateProblem> {
    let all = sum(analysis, page.kind);
    let (untimed, _) = untimed(page);
    if all.timed == 0 || (page.timed == 0 && untimed > 0) {
        return Err(GateProblem::NoDurations);
    }
    if all.is_total_capped() {
        return Err(GateProblem::CappedSum);
    }
    Ok(page.total_ns as f64 / all.total_ns.max(1) as f64)
}

/// Returns an assumption if many of a page's requests, or of a query's statements, have no duration.
pub fn missing_durations(page: &LogPage) -> Option<LogAssumption> {
    let (missing, of) = untimed(page);
    let is_assumed = page.timed > 0 && is_notable(missing, of);
    let assumption = match page.kind {
        PageKind::Page => LogAssumption::MissingDurations {
            requests: missing,
            of,
        },
        PageKind::Query => LogAssumption::UntimedStatements {
            statements: missing,
            of,
        },
        PageKind::Bot | PageKind::Health => return None,
    };
    is_assumed.then_some(assumption)
}

/// Returns the number of lines that were not read, if there are many.
pub fn unread_lines(analysis: &LogAnalysis) -> Option<u64> {
    let lines = analysis.lines;
    let unread = lines.malformed.saturating_add(lines.too_long);
    is_notable(unread, lines.all).then_some(unread)
}

/// Returns the number of messages of PostgreSQL's log that are in a language other than English, if
/// there are many.
pub fn translated_messages(analysis: &LogAnalysis) -> Option<u64> {
    let mut advice = analysis.advice.iter();
    let messages = advice.find_map(|advice| match advice {
        LogAdvice::TranslatedMessages { messages } => Some(*messages),
        _ => None,
    })?;
    let statements = sum(analysis, PageKind::Query).requests;
    is_notable(messages, messages.saturating_add(statements)).then_some(messages)
}

/// Returns an assumption if many requests are missing in the hours and minutes, because they have no
/// time.
///
/// Returns `None` if the busiest minute is unknown anyway.
pub fn missing_times(analysis: &LogAnalysis) -> Option<LogAssumption> {
    analysis.peak_minute?;
    let of = together(analysis).requests;
    let hours = analysis.hours.iter().map(|hour| hour.requests);
    let requests = of.saturating_sub(hours.fold(0, u64::saturating_add));
    is_notable(requests, of).then_some(LogAssumption::MissingTimes { requests, of })
}

/// Returns the number of requests whose duration is missing, and the number of requests that should
/// have a duration. Failed statements should not have one.
pub fn untimed(page: &LogPage) -> (u64, u64) {
    let failed = match page.kind {
        PageKind::Query => page.errors,
        _ => 0,
    };
    let of = page.requests.saturating_sub(failed);
    (of.saturating_sub(page.timed), of)
}

/// Merges all pages that people use or, if there are no such pages, all queries.
pub fn together(analysis: &LogAnalysis) -> LogPage {
    let has_pages = analysis.pages.iter().any(|p| p.kind == PageKind::Page);
    let kind = if has_pages {
        PageKind::Page
    } else {
        PageKind::Query
    };
    sum(analysis, kind)
}

/// Merges all pages of a kind.
pub fn sum(analysis: &LogAnalysis, kind: PageKind) -> LogPage {
    let mut sum = LogPage {
        kind,
        ..LogPage::default()
    };
    let mut is_max_known = true;
    let mut times = std::collections::BTreeMap::new();
    for page in analysis.pages.iter().filter(|p| p.kind == kind) {
        sum.requests = sum.requests.saturating_add(page.requests);
        sum.errors = sum.errors.saturating_add(page.errors);
        sum.client_errors = sum.client_errors.saturating_add(page.client_errors);
        sum.without_status = sum.without_status.saturating_add(page.without_status);
        sum.timed = sum.timed.saturating_add(page.timed);
        sum.total_ns = sum.total_ns.saturating_add(page.total_ns);
        sum.max_ns = sum.max_ns.max(page.max_ns);
        is_max_known &= page.timed == 0 || page.known_max_ns().is_some();
        for (value, count) in &page.times.0 {
            let sum: &mut u64 = times.entry(*value).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    if !is_max_known {
        sum.max_ns = 0;
    }
    sum.times = lab_model::Counts(times.into_iter().collect());
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::LogHour;

    #[test]
    fn gates_are_read_and_judged() {
        let page = LogPage {
            name: "/search".into(),
            requests: 100,
            errors: 2,
            timed: 100,
            total_ns: 1_000_000_000,
            max_ns: 400_000_000,
            times: lab_model::Counts(vec![(5_000_000, 98), (400_000_000, 2)]),
            ..LogPage::default()
        };
        let hour = LogHour {
            requests: 100,
            ..LogHour::default()
        };
        let analysis = LogAnalysis {
            pages: vec![page],
            hours: vec![hour],
            ..LogAnalysis::default()
        };
        let crossed = |gate: &str| {
            gate.parse::<Gate>()
                .expect(gate)
                .judge(&analysis)
                .is_crossed
        };
        assert!(crossed("p99(/search)>300ms") && crossed("p99(GET /search) >= 0.3s"));
        assert!(
            !crossed("p50(/search)>300ms")
                && crossed("errors>1%")
                && !crossed("errors(/search)>2%")
        );
        // The bound itself: 2 % of the requests failed.
        assert!(crossed("errors>=2%") && crossed("errors<=2%"));
        assert!(!crossed("errors<2%") && crossed("requests>=100"));
        assert!(crossed("mean<11ms") && crossed("share(/search)>50%") && !crossed("requests>100"));
        let unknown = "p99(/x)>1s"
            .parse::<Gate>()
            .expect("a gate")
            .judge(&analysis);
        assert_eq!(
            (unknown.is_crossed, unknown.value),
            (
                false,
                Err(GateProblem::NoPage {
                    page: "/x".into(),
                    nearest: None
                })
            )
        );
        let misspelled = "p99(/serach)>1s".parse::<Gate>().expect("a gate");
        let answer = misspelled.judge(&analysis).value;
        assert!(
            matches!(&answer, Err(GateProblem::NoPage { nearest: Some(n), .. }) if n == "/search"),
            "{answer:?}"
        );
        let assumed = |assumption| LogAnalysis {
            assumptions: vec![assumption],
            peak_minute: Some((0, 600)),
            ..analysis.clone()
        };
        let is_judged = |gate: &str, analysis: &LogAnalysis| {
            gate.parse::<Gate>()
                .expect(gate)
                .judge(analysis)
                .value
                .is_ok()
        };
        let units = assumed(LogAssumption::DoubtfulUnit {
            place: "%D".into(),
            unit_ns: 1_000,
        });
        let zones = assumed(LogAssumption::NoZone);
        for (gate, by_unit, by_zone) in [
            ("p99>1s", false, true),
            ("mean>1s", false, true),
            ("max(/search)>1s", false, true),
            ("share(/search)>1%", true, true),
            ("errors>1%", true, true),
            ("requests>1", true, true),
            ("rate>1", true, false),
        ] {
            assert_eq!(
                (is_judged(gate, &units), is_judged(gate, &zones)),
                (by_unit, by_zone),
                "{gate}"
            );
        }
        let place = || String::from("%D");
        for (assumption, is_known) in [
            (
                LogAssumption::ChangedUnit {
                    place: place(),
                    unit_ns: 1_000,
                    times: 1_000,
                },
                false,
            ),
            (
                LogAssumption::UnparsedDurations {
                    field: place(),
                    example: "1,234".into(),
                    requests: 1_000,
                },
                false,
            ),
            (LogAssumption::DurationField { place: place() }, false),
            (LogAssumption::SharedIds { requests: 9 }, false),
            (
                LogAssumption::ImplausibleDurations {
                    place: place(),
                    unit_ns: 1_000,
                },
                true,
            ),
            (LogAssumption::SampledStatements { one_in: 10 }, true),
        ] {
            let is_share_judged = is_judged("share(/search)>1%", &assumed(assumption.clone()));
            assert_eq!(is_share_judged, is_known, "{assumption:?}");
        }
        let sampled = assumed(LogAssumption::SampledStatements { one_in: 10 });
        for (gate, is_known) in [
            ("requests>5", false),
            ("requests(/search)>5", false),
            ("rate>1", false),
            ("max>1s", false),
            ("p99>1s", true),
            ("mean>1s", true),
            ("errors>1%", true),
        ] {
            assert_eq!(is_judged(gate, &sampled), is_known, "{gate}");
        }
        let unparsed = assumed(LogAssumption::UnparsedRows {
            rows: 1,
            example: "1,234".into(),
        });
        for gate in ["requests>5", "errors>1%", "share(/search)>1%", "mean>1s"] {
            assert!(!is_judged(gate, &unparsed), "{gate}");
        }
        let mut capped = analysis.clone();
        capped.pages[0].total_ns = LogPage::MAX_TOTAL_NS;
        for gate in ["mean>1s", "mean(/search)>1s", "share(/search)>1%"] {
            let result = gate.parse::<Gate>().expect(gate).judge(&capped);
            assert_eq!(result.value, Err(GateProblem::CappedSum), "{gate}");
        }
        let mut timeless = assumed(LogAssumption::LowerBounds);
        assert!(is_judged("rate>1", &timeless));
        timeless.hours[0].requests = 50;
        assert!(!is_judged("rate>1", &timeless) && is_judged("errors>1%", &timeless));
        // Few of all requests have no duration, but many of the page.
        let mut rare = analysis.clone();
        rare.pages.push(LogPage {
            name: "/slow".into(),
            requests: 4,
            timed: 2,
            total_ns: 1_000_000,
            ..LogPage::default()
        });
        assert!(!is_judged("share(/slow)>1%", &rare) && is_judged("share(/search)>1%", &rare));
        rare.pages[1].timed = 0;
        assert!(!is_judged("share(/slow)>1%", &rare) && is_judged("share(/search)>1%", &rare));
        let mut no_max = analysis.clone();
        no_max.pages[0].max_ns = 0;
        for gate in ["max>1s", "max(/search)>1s"] {
            let result = gate.parse::<Gate>().expect(gate).judge(&no_max);
            assert_eq!(result.value, Err(GateProblem::NoMax), "{gate}");
        }
        // The true value is at least the lower bound.
        let bounds = assumed(LogAssumption::LowerBounds);
        for (gate, is_crossed, is_known) in [
            ("p99>300ms", true, true),
            ("p99>500ms", false, false),
            ("max>1s", false, false),
            ("mean<11ms", false, false),
            ("mean<9ms", false, true),
            ("share(/search)>50%", false, false),
            ("errors>1%", true, true),
            ("rate>1", true, true),
        ] {
            let answer = gate.parse::<Gate>().expect(gate).judge(&bounds);
            assert_eq!(
                (answer.is_crossed, answer.value.is_ok()),
                (is_crossed, is_known),
                "{gate}"
            );
        }
        for bad in [
            "",
            "p99",
            "p99>",
            "p99>3",
            "p0>1s",
            "share>1%",
            "p99(/a>1s",
            "rate(/a)>1",
            "errors>1s",
            "x>1",
        ] {
            assert!(bad.parse::<Gate>().is_err(), "{bad}");
        }
    }
}
