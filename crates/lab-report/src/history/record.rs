// SPDX-License-Identifier: Apache-2.0
//! A row of a history: what CSV and JSON hold, and what the tables are made from.

use super::past::{Past, PastPart, Standing};
use crate::content::VerdictCounts;
use crate::number::bounded;
use crate::view::verdict_word;
use lab_model::Kind;
use lab_stats::analysis::{Interval, Verdict};
use serde::Serialize;

/// A run and a subject. The fields up to `case` are columns, documented in docs/reports.md.
#[derive(Clone, Debug, Serialize)]
pub struct Record<'a> {
    pub run: &'a str,
    pub started_unix_s: Option<f64>,
    /// With its target, where there are several.
    pub subject: String,
    pub revision: Option<&'a str>,
    pub baseline: &'a str,
    pub points: usize,
    pub ratio: Option<f64>,
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    pub ratio_level: Option<f64>,
    pub verdict: Option<&'static str>,
    pub faster: usize,
    pub slower: usize,
    pub equivalent: usize,
    pub small_but_real: usize,
    pub inconclusive: usize,
    pub baseline_wall_ns: Option<f64>,
    pub baseline_wall_low_ns: Option<f64>,
    pub baseline_wall_high_ns: Option<f64>,
    pub baseline_level: Option<f64>,
    pub blocks: u32,
    pub few_blocks: bool,
    pub other_host: bool,
    pub other_baseline: bool,
    pub other_subject: bool,
    pub other_points: bool,
    pub ended: bool,
    pub target: Option<&'static str>,
    pub p99_ns: Option<f64>,
    pub p99_low_ns: Option<f64>,
    pub p99_high_ns: Option<f64>,
    pub failed: Option<u64>,
    pub case: Option<&'a str>,
    /// It is the baseline itself, with nothing to compare.
    #[serde(skip)]
    pub alone: bool,
    /// What the ratio's columns hold, if it has an interval.
    #[serde(skip)]
    pub shown_ratio: Option<Interval>,
    /// What the baseline's columns hold.
    #[serde(skip)]
    pub shown_time: Option<Interval>,
    /// What the columns of p99 hold.
    #[serde(skip)]
    pub shown_p99: Option<Interval>,
    /// Point by point.
    #[serde(skip)]
    pub verdicts: &'a [Verdict],
}

/// The rows of runs, the oldest first; what is other is so in comparison with the latest. Where some
/// run has several targets, the target is in every subject's name.
pub fn records<'a>(runs: &'a [Past], subjects: &[String]) -> Vec<Record<'a>> {
    let several = runs
        .iter()
        .any(|past| past.parts.iter().filter(|p| p.kind.is_some()).count() > 1);
    let wanted = |s: &&Standing| subjects.is_empty() || subjects.contains(&s.subject.name);
    let mut records = Vec::new();
    for past in runs {
        for part in &past.parts {
            let standings = part.standings.iter().filter(wanted);
            records.extend(standings.map(|s| record(runs, (past, part), s, several)));
        }
    }
    records
}

fn record<'a>(
    runs: &'a [Past],
    (past, part): (&'a Past, &'a PastPart),
    standing: &'a Standing,
    several: bool,
) -> Record<'a> {
    let ratio = standing.ratio.filter(bounded);
    let time = part.baseline_wall_ns.filter(bounded);
    let load = standing.load.as_ref();
    let p99 = load.and_then(|load| load.p99_ns).filter(bounded);
    let verdicts = standing.verdicts.as_slice();
    let counts = VerdictCounts::of(verdicts);
    let name = &standing.subject.name;
    let later = || runs.iter().rev().filter_map(|run| run.like(part));
    let subject = later().find_map(|r| r.subject(name));
    let mut baselines = later().map(|r| &r.baseline);
    let baseline = baselines.find(|b| b.name == part.baseline.name);
    let latest = runs.last();
    let target = part.kind.map(Kind::name);
    Record {
        run: &past.run,
        started_unix_s: Some(past.started_unix_s).filter(|s| s.is_finite()),
        subject: match target.filter(|_| several) {
            Some(target) => format!("{name} on {target}"),
            None => name.clone(),
        },
        revision: standing.subject.revision.as_deref(),
        baseline: &part.baseline.name,
        points: part.points.len(),
        ratio: ratio.map(|r| r.estimate),
        ratio_low: ratio.map(|r| r.low),
        ratio_high: ratio.map(|r| r.high),
        ratio_level: ratio.map(|r| r.level),
        verdict: match verdicts {
            [] => Some(standing.missing),
            [verdict] => Some(verdict_word(verdict)),
            _ => None,
        },
        faster: counts.faster,
        slower: counts.slower,
        equivalent: counts.equivalent,
        small_but_real: counts.small,
        inconclusive: counts.open,
        baseline_wall_ns: time.map(|t| t.estimate),
        baseline_wall_low_ns: time.map(|t| t.low),
        baseline_wall_high_ns: time.map(|t| t.high),
        baseline_level: time.map(|t| t.level),
        blocks: part.blocks,
        few_blocks: standing.ratio.is_some_and(|r| r.level < part.level - 1e-9),
        other_host: latest.is_some_and(|l| l.host != past.host),
        other_baseline: baseline.is_some_and(|b| b.differs(&part.baseline)),
        other_subject: subject.is_some_and(|s| s.differs(&standing.subject)),
        other_points: later().next().is_some_and(|l| l.points != part.points),
        ended: past.ended,
        target,
        p99_ns: p99.map(|t| t.estimate),
        p99_low_ns: p99.map(|t| t.low),
        p99_high_ns: p99.map(|t| t.high),
        failed: load.map(|load| load.failed),
        case: part.case.as_deref(),
        alone: *name == part.baseline.name,
        shown_ratio: ratio,
        shown_time: time,
        shown_p99: p99,
        verdicts,
    }
}
