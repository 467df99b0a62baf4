// SPDX-License-Identifier: Apache-2.0
//! The history of imported runs.

use super::series::{SubjectSeries, all_series};
use super::table;
use crate::wording;
use lab_document::{
    Answer, Axis, Band, Chart, Document, Drawing, Finding, Line, Lines, Quantity, Row, Scale,
    Section, Stroke, Table, Tone,
    say::{self, count},
};
use lab_model::{Content, Direction, Interval, Run, Unit, distinct};
use lab_stats::processes::{ALPHA, changed, typical};
use lab_stats::shifts;
use std::collections::BTreeSet;

/// The maximum number of lines in the chart.
const LINES: usize = 8;

/// An imported run in a history.
#[derive(Clone, Debug)]
pub struct ImportSummary {
    /// The run's name.
    pub run: String,
    /// The time of the measurement, in seconds since 1970.
    pub measured_unix_s: f64,
    series: Vec<SubjectSeries>,
}

impl ImportSummary {
    /// Summarizes a run. Returns `None` if it was not imported from another tool's file.
    pub fn new(run: &Run) -> Option<ImportSummary> {
        let Content::Imported(imports) = &run.content else {
            return None;
        };
        imports
            .iter()
            .any(|import| !import.series.is_empty())
            .then(|| ImportSummary {
                run: run.name.clone(),
                measured_unix_s: run.started_unix_s,
                series: all_series(run),
            })
    }

    /// Returns the names of the subjects.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        self.series.iter().map(|one| one.subject.as_str())
    }
}

/// The values of one benchmark's metric in all runs.
struct Track<'a> {
    name: String,
    /// For each run, oldest first: the run's index, its series and its typical value.
    runs: Vec<(usize, &'a SubjectSeries, Interval)>,
}

impl<'a> Track<'a> {
    /// Returns the runs that ended like the latest run. The other runs did different work.
    fn comparable(&self) -> Vec<&(usize, &'a SubjectSeries, Interval)> {
        let latest = self.runs.last().map(|(_, one, _)| *one);
        let ended_alike = |(_, one, _): &&(usize, &SubjectSeries, Interval)| {
            latest.is_some_and(|l| l.ended_like(one))
        };
        self.runs.iter().filter(ended_alike).collect()
    }
}

/// Builds the history of all runs with one name, oldest first. `subjects` selects the subjects to
/// show. If it is empty, all subjects are shown.
pub fn history(name: &str, runs: &[ImportSummary], subjects: &[String]) -> Document {
    let tracks = tracks(runs, subjects);
    let judged: Vec<&Track> = tracks
        .iter()
        .filter(|track| track.runs[0].1.series.metric.better != Direction::Neither)
        .collect();
    let values: Vec<Vec<f64>> = judged
        .iter()
        .map(|track| {
            let comparable = track.comparable().into_iter();
            comparable.map(|(.., value)| value.estimate).collect()
        })
        .collect();
    let found = shifts::of_history(&values, ALPHA);
    let mut findings = different(&tracks, runs);
    for (track, shifts) in judged.iter().zip(&found) {
        let metric = &track.runs[0].1.series.metric;
        let comparable = track.comparable();
        for shift in shifts {
            let is_worse = (shift.after > shift.before) == (metric.better == Direction::Less);
            let run = &runs[comparable[shift.at].0].run;
            let text = wording::shift(&track.name, metric, run, shift);
            findings.push(Finding::new(
                "",
                text,
                if is_worse { Tone::Worse } else { Tone::Better },
            ));
        }
    }
    let too_few = shifts::too_few(&values, ALPHA);
    let changed_count = found.iter().filter(|shifts| !shifts.is_empty()).count();
    let headline = match (runs.len(), changed_count) {
        (0, _) => "There are no runs with this name.".into(),
        (n, 0) => format!("No lasting change in {}.", count(n, "run")),
        (n, changed) => format!(
            "{} of {} changed in {}.",
            changed,
            count(values.len(), "value"),
            count(n, "run")
        ),
    };
    let mut document = Document {
        title: format!("History of {name}: {}", count(runs.len(), "run")),
        question: "How did the values change from run to run?".into(),
        made: say::extremes(runs.iter().map(|run| run.measured_unix_s))
            .map_or(String::new(), |(first, last)| {
                format!("{} to {} UTC", say::minute(first), say::minute(last))
            }),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: Answer {
            headline,
            chart: chart(&tracks),
            findings,
            undecided: too_few
                .map(|needed| format!("Finding a lasting change takes at least {needed} runs.")),
            ..Answer::default()
        },
        source: "All values are in the run files.".into(),
        ..Document::default()
    };
    let mut section = Section::new("Run by run");
    for track in &tracks {
        section.table(run_by_run(track, runs));
    }
    document.section(section);
    document.rows = tracks.iter().flat_map(|track| rows(track, runs)).collect();
    document
}

/// Returns a sentence for each subject of which earlier runs ended differently than the latest run.
fn different(tracks: &[Track], runs: &[ImportSummary]) -> Vec<Finding> {
    let sentence = |track: &Track| {
        let (latest_run, latest, _) = track.runs.last()?;
        let earlier = track.runs.iter().map(|(_, one, _)| *one);
        let earlier: Vec<_> = earlier.filter(|one| !one.ended_like(latest)).collect();
        let codes: BTreeSet<Option<i64>> = earlier
            .iter()
            .flat_map(|one| one.exit_codes.iter().copied())
            .collect();
        (!earlier.is_empty()).then(|| {
            let run = &runs[*latest_run].run;
            let codes = [&codes, &latest.exit_codes];
            wording::earlier_ends_differ(&latest.subject, earlier.len(), run, codes)
        })
    };
    // All metrics of a subject have the same exit codes.
    let sentences = distinct(tracks.iter().filter_map(sentence));
    let finding = |text: String| Finding::new("", text, Tone::Inconclusive);
    sentences.into_iter().map(finding).collect()
}

fn tracks<'a>(runs: &'a [ImportSummary], subjects: &[String]) -> Vec<Track<'a>> {
    let mut labels = runs
        .iter()
        .flat_map(ImportSummary::subjects)
        .collect::<Vec<_>>();
    labels.dedup();
    let mut tracks: Vec<Track> = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for one in &run.series {
            if !subjects.is_empty() && !subjects.contains(&one.subject) {
                continue;
            }
            let label = one.series.label();
            let mut name = match label.as_str() {
                "" => one.subject.clone(),
                label if labels.len() > 1 => format!("{}, {label}", one.subject),
                label => label.to_owned(),
            };
            if !["wall", "mean_wall"].contains(&&*one.series.metric.id) {
                name = format!("{name}, {}", one.series.metric.title);
            }
            let Some(value) = typical(&one.series) else {
                continue;
            };
            let entry = (i, one, value);
            match tracks.iter_mut().find(|track| track.name == name) {
                Some(track) => track.runs.push(entry),
                None => tracks.push(Track {
                    name,
                    runs: vec![entry],
                }),
            }
        }
    }
    tracks
}

fn chart(tracks: &[Track]) -> Option<Chart> {
    let drawn = tracks
        .iter()
        .filter(|track| track.runs.len() > 1 && track.runs[0].2.estimate > 0.0);
    let line = |(color, track): (usize, &Track)| {
        let base = track.runs[0].2.estimate;
        let point = |(run, _, value): &(usize, &SubjectSeries, Interval)| {
            let relative = Interval {
                estimate: value.estimate / base,
                low: value.low / base,
                high: value.high / base,
                level: value.level,
            };
            (*run as f64 + 1.0, table::quantity(&relative, &Unit::Ratio))
        };
        Line {
            name: track.name.clone(),
            color,
            stroke: Stroke::Measured,
            points: track.runs.iter().map(point).collect(),
            band: Band::Shown,
        }
    };
    let lines: Vec<Line> = drawn.take(LINES).enumerate().map(line).collect();
    (!lines.is_empty()).then(|| Chart {
        id: "history".into(),
        title: "Values relative to the first run".into(),
        caption: "Each line is a benchmark; the bands are the intervals of each run.".into(),
        drawing: Drawing::Lines(Lines {
            x: Axis::new(
                "run, the oldest first",
                Unit::Count("runs".into()),
                Scale::LinearFromLeast,
            ),
            y: Axis::new(
                "ratio to the first run",
                Unit::Ratio,
                Scale::LinearFromLeast,
            ),
            lines,
        }),
    })
}

fn run_by_run(track: &Track, runs: &[ImportSummary]) -> Table {
    let columns = [
        "run",
        "measured (UTC)",
        "value",
        "processes",
        "change from the previous run",
    ];
    let mut table = Table::new(track.name.clone(), columns);
    let family = track.runs.len().saturating_sub(1).max(1);
    for (i, (run, one, value)) in track.runs.iter().enumerate() {
        let series = &one.series;
        let before = i.checked_sub(1).map(|before| track.runs[before].1);
        let before = before.filter(|before| before.ended_like(one));
        let change = before.and_then(|before| changed(&before.series, series, family));
        table.row(vec![
            runs[*run].run.as_str().into(),
            say::minute(runs[*run].measured_unix_s).into(),
            table::quantity(value, &series.metric.unit).into(),
            table::processes(series).into(),
            match before {
                Some(_) => table::change(change.as_ref(), series),
                None => "–".into(),
            },
        ]);
    }
    table
}

fn rows<'a>(track: &'a Track, runs: &'a [ImportSummary]) -> impl Iterator<Item = Row> + 'a {
    track.runs.iter().map(|(run, one, value)| Row {
        value: Some(Quantity::estimate(value, one.series.metric.unit.clone())),
        ..table::row(&runs[*run].run, &track.name, &one.series, None)
    })
}
