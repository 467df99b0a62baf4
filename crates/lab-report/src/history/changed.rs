// SPDX-License-Identifier: Apache-2.0
//! Detects shifts in the level of a ratio or of the baseline's time over a history of runs.

use super::record::{HistoryRow, REMARKS};
use crate::wording::changes;
use lab_document::say;
use lab_document::{Finding, Table, Tone};
use lab_model::{Interval, Metric, Unit};
use lab_stats::shifts::{HistoryShift, of_history, runs_needed_per_series};

/// The significance level: among histories without a real change, the fraction for which a change
/// is reported.
const ALPHA: f64 = 0.05;

/// The shifts in the level of each series of a history.
pub struct HistoryChanges<'r, 'a> {
    /// The series that were searched, each with its changes.
    series: Vec<(Series<'r, 'a>, Vec<HistoryShift>)>,
    /// The series with a single run, which were not searched.
    single: Vec<Series<'r, 'a>>,
    /// The minimum number of runs for detecting a change of a series.
    needed: usize,
    /// The start of the latest run (Unix time, s).
    latest_unix_s: f64,
}

/// The latest change of a series.
pub struct LatestChange {
    /// The series, such as `b's ratio to a`.
    pub title: String,
    /// The number of runs.
    pub runs: usize,
    /// The change as a ratio, and the first run after it. `None` if there is no change.
    pub change: Option<(Interval, String)>,
    /// The minimum number of runs for detecting a change, if the series has fewer.
    pub needed: Option<usize>,
}

/// A ratio or a time over the runs.
struct Series<'r, 'a> {
    title: String,
    unit: Unit,
    records: Vec<&'r HistoryRow<'a>>,
}

impl<'r, 'a> HistoryChanges<'r, 'a> {
    /// Searches all ratios and all baseline times for changes.
    pub fn new(records: &'r [HistoryRow<'a>]) -> HistoryChanges<'r, 'a> {
        let mut series = Vec::new();
        for (_, mine) in say::grouped(records.iter().map(|r| (r.line(), r))) {
            let records = mine
                .into_iter()
                .filter(|r| r.ratio.is_some() && !r.is_alone());
            series.push(Series::new(Unit::Ratio, records.collect()));
        }
        let base = |r: &&HistoryRow| r.time_ns.is_some();
        let base = records
            .iter()
            .filter(base)
            .map(|r| ((r.target, &*r.baseline.name), r));
        for (_, mut mine) in say::grouped(base) {
            mine.dedup_by_key(|r| &r.summary.run);
            series.push(Series::new(Unit::Nanoseconds, mine));
        }
        series.retain(|s| !s.records.is_empty());
        let (series, single): (Vec<Series>, Vec<Series>) =
            series.into_iter().partition(|s| s.records.len() > 1);
        let values: Vec<Vec<f64>> = series.iter().map(Series::values).collect();
        let shifts = of_history(&values, ALPHA);
        HistoryChanges {
            needed: runs_needed_per_series(&values, ALPHA),
            series: series.into_iter().zip(shifts).collect(),
            single,
            latest_unix_s: records
                .iter()
                .map(|record| record.summary.started_unix_s)
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Returns the series that were searched.
    fn searched(&self) -> impl Iterator<Item = &Series<'r, 'a>> {
        self.series.iter().map(|(series, _)| series)
    }

    /// Returns the series with too few runs for detecting a change.
    fn short(&self) -> impl Iterator<Item = &Series<'r, 'a>> {
        let all = self.searched().chain(&self.single);
        all.filter(|series| series.records.len() < self.needed)
    }

    fn each(&self) -> impl Iterator<Item = (&Series<'r, 'a>, &HistoryShift)> {
        let series = self.series.iter();
        series.flat_map(|(series, shifts)| shifts.iter().map(move |shift| (series, shift)))
    }

    /// Returns the latest change of each ratio, or of each baseline's time if there are no ratios. The
    /// result is empty if no series has multiple runs.
    ///
    /// A series with too few runs is omitted if it ended before the latest run: its subject is no
    /// longer measured, so it never gets enough runs.
    pub fn latest(&self) -> Vec<LatestChange> {
        if self.series.is_empty() {
            return Vec::new();
        }
        let may_grow = |series: &Series| series.started_unix_s() >= self.latest_unix_s;
        let is_judged = |series: &Series| series.records.len() >= self.needed || may_grow(series);
        let searched = self
            .series
            .iter()
            .map(|(series, shifts)| (series, shifts.last()));
        let all = searched.chain(self.single.iter().map(|series| (series, None)));
        let judged: Vec<_> = all.filter(|(series, _)| is_judged(series)).collect();
        let has_ratio = judged.iter().any(|(series, _)| series.unit == Unit::Ratio);
        let is_meant = |series: &Series| series.unit == Unit::Ratio || !has_ratio;
        let latest = judged.into_iter().filter(|(series, _)| is_meant(series));
        let latest = latest.map(|(series, shift)| LatestChange {
            title: series.title.clone(),
            runs: series.records.len(),
            // Ratios and times are above 0, so that each change has a ratio.
            change: shift.and_then(|shift| Some((shift.change?, series.run(shift)))),
            needed: (series.records.len() < self.needed).then_some(self.needed),
        });
        latest.collect()
    }

    /// Describes the changes in sentences, the latest change first.
    pub fn findings(&self) -> Vec<Finding> {
        let mut all: Vec<_> = self.each().collect();
        let when = |(series, shift): &(&Series, &HistoryShift)| {
            series.records[shift.at].summary.started_unix_s
        };
        all.sort_by(|a, b| when(b).total_cmp(&when(a)));
        let finding = |(series, shift): (&Series, &HistoryShift)| {
            let text = format!(
                "{} changed with the run of {}: {}, previously {}.",
                series.title,
                series.run(shift),
                say::reading(shift.after, &series.unit),
                say::reading(shift.before, &series.unit),
            );
            let is_worse = shift.after > shift.before;
            let tone = if is_worse { Tone::Worse } else { Tone::Better };
            Finding::plain(text).with_tone(tone)
        };
        all.into_iter().map(finding).collect()
    }

    /// Builds a table with one row per change.
    pub fn table(&self) -> Table {
        let columns = [
            "value",
            "with the run of (UTC)",
            "before",
            "after",
            "change",
        ];
        let mut table = Table::new("", columns)
            .with_caption("The runs at which a value shifted to another level.");
        for (series, shift) in self.each() {
            let part = (shift.after / shift.before - 1.0) * 1000.0;
            table.row(vec![
                series.title.as_str().into(),
                series.run(shift).into(),
                say::reading(shift.before, &series.unit).into(),
                say::reading(shift.after, &series.unit).into(),
                format!("{:+} %", part.round() / 10.0).into(),
            ]);
        }
        table
    }

    /// Returns a sentence with the number of runs that are needed to detect a change. Returns
    /// `None` if some series has enough runs.
    pub fn open(&self) -> Option<String> {
        let is_short = |series: &Series| series.records.len() < self.needed;
        let is_open = !self.series.is_empty() && self.searched().all(is_short);
        is_open.then(|| {
            format!(
                "Too few runs to detect a change: at least {} are needed.",
                self.needed
            )
        })
    }

    /// Returns a note on how to interpret the changes, or their absence.
    pub fn note(&self) -> String {
        if self.series.is_empty() {
            return String::new();
        }
        if let Some(reason) = self.open() {
            return reason;
        }
        let note = match self.each().next() {
            None => {
                "No ratio or baseline time shifted to another level. At most 5 % of histories without a real change would \
                 show one."
            }
            Some(_) => {
                "Each change is attributed to its first run, which may be off by a run or two. At most 5 % of histories \
                 without a real change show one."
            }
        };
        match self.short().count() {
            0 => note.into(),
            short => format!("{note} {}", changes::too_short(short, self.needed)),
        }
    }

    /// Returns the mean level of each segment between changes, for every chart line that has changes.
    ///
    /// The x values are the positions of the runs in `runs`, starting at 1.
    pub fn levels(&self, runs: &[&str]) -> Vec<(String, Vec<(f64, f64)>)> {
        let changed = self
            .series
            .iter()
            .filter(|(s, shifts)| s.unit == Unit::Ratio && !shifts.is_empty());
        let line_levels = |(series, shifts): &(Series, Vec<HistoryShift>)| {
            let run_position = |at: usize| {
                let run = &*series.records[at].summary.run;
                runs.iter()
                    .position(|other| *other == run)
                    .map_or(0.0, |i| i as f64 + 1.0)
            };
            let ends = shifts
                .iter()
                .map(|s| s.at - 1)
                .chain([series.records.len() - 1]);
            let starts = [0].into_iter().chain(shifts.iter().map(|s| s.at));
            let means = [shifts[0].before]
                .into_iter()
                .chain(shifts.iter().map(|s| s.after));
            let points = starts.zip(ends).zip(means);
            let points = points.flat_map(|((start, end), mean)| {
                [(run_position(start), mean), (run_position(end), mean)]
            });
            (series.records[0].title(), points.collect())
        };
        changed.map(line_levels).collect()
    }

    /// Returns the letter for a change if the record's ratio changed with its run, otherwise an
    /// empty string.
    pub fn letter(&self, record: &HistoryRow) -> &'static str {
        let has_changed = |(series, shift): (&Series, &HistoryShift)| {
            let changed = series.records[shift.at];
            series.unit == Unit::Ratio
                && changed.summary.run == record.summary.run
                && changed.line() == record.line()
        };
        if self.each().any(has_changed) {
            CHANGED
        } else {
            ""
        }
    }
}

/// The letter that marks a change of the ratio: the first of [`REMARKS`].
const CHANGED: &str = "c";
const _: () = assert!(REMARKS[0].0 == 'c');

impl<'r, 'a> Series<'r, 'a> {
    fn new(unit: Unit, records: Vec<&'r HistoryRow<'a>>) -> Series<'r, 'a> {
        let title = records.first().map_or(String::new(), |first| {
            let (subject, base) = (first.title(), &first.baseline.name);
            match unit {
                Unit::Ratio => format!("{subject}'s ratio to {base}"),
                _ => format!("The {} of {base} (the baseline)", Metric::WALL.title),
            }
        });
        Series {
            title,
            unit,
            records,
        }
    }

    /// Returns the start of the series' latest run (Unix time, s).
    fn started_unix_s(&self) -> f64 {
        let starts = self.records.iter().map(|r| r.summary.started_unix_s);
        starts.fold(f64::NEG_INFINITY, f64::max)
    }

    fn values(&self) -> Vec<f64> {
        let value = |r: &&HistoryRow| match self.unit {
            Unit::Ratio => r.ratio,
            _ => r.time_ns,
        };
        self.records
            .iter()
            .filter_map(value)
            .map(|i| i.estimate)
            .collect()
    }

    /// Formats the run in which a change happened, such as `2026-11-21 09:15 UTC (commit 1a2b3c4)`.
    fn run(&self, shift: &HistoryShift) -> String {
        let record = self.records[shift.at];
        let revision = record
            .subject
            .revision
            .as_ref()
            .filter(|_| self.unit == Unit::Ratio);
        let commit = revision.or(record.summary.commit.as_ref());
        let commit = commit.map(|commit| {
            let (id, rest) = commit.split_at(commit.find(' ').unwrap_or(commit.len()));
            let id: String = id.chars().take(7).collect();
            format!(" (commit {id}{rest})")
        });
        let began = say::minute(record.started_unix_s().unwrap_or_default());
        began + &commit.unwrap_or_default()
    }
}
