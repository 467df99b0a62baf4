// SPDX-License-Identifier: Apache-2.0
//! A row of a history: a run and a subject, with the differences from the latest run.

use super::summary::{RunSummary, SubjectStanding};
use std::ops::Deref;

/// A row of a history: one subject in one run.
#[derive(Clone, Debug)]
pub struct HistoryRow<'a> {
    /// The summary of the run.
    pub summary: &'a RunSummary,
    /// The subject's name. It includes the target's name if any run has more than one target.
    pub name: String,
    /// The letters of the [`REMARKS`] that apply to this row.
    pub remarks: String,
    standing: &'a SubjectStanding,
}

/// Letters that mark a change, a difference from the latest run, or a shortcoming of the run. Each
/// letter comes with its meaning.
pub const REMARKS: [(char, &str); 8] = [
    ('c', "the ratio changed with this run"),
    (
        'h',
        "a different host (CPU or kernel) than in the latest run",
    ),
    ('b', "a different baseline program than in the latest run"),
    ('s', "a different subject program than in the latest run"),
    ('p', "different points than in the latest run"),
    (
        'w',
        "a different workload (its file or data) than in the latest run",
    ),
    ('f', "too few blocks for the requested confidence level"),
    ('u', "the run has not ended"),
];

impl<'a> Deref for HistoryRow<'a> {
    type Target = SubjectStanding;

    fn deref(&self) -> &SubjectStanding {
        self.standing
    }
}

impl<'a> HistoryRow<'a> {
    /// Returns the subject's name. It includes the case if cases are reported separately.
    pub fn title(&self) -> String {
        match &self.case {
            Some(case) => format!("{}, {case}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the start of the run, in seconds since 1970, if known.
    pub fn started_unix_s(&self) -> Option<f64> {
        Some(self.summary.started_unix_s).filter(|s| s.is_finite())
    }

    /// Returns the key of the row's series: its subject, baseline and case.
    pub fn line(&self) -> (&str, &'a str, Option<&'a str>) {
        let SubjectStanding { baseline, case, .. } = self.standing;
        (&self.name, &baseline.name, case.as_deref())
    }
}

/// Builds the rows of all runs, the oldest first.
///
/// If any run has more than one target, every subject's name includes the target.
pub fn records<'a>(runs: &'a [RunSummary], subjects: &[String]) -> Vec<HistoryRow<'a>> {
    let has_multiple_targets = |summary: &RunSummary| {
        let mut pairs = summary.standings.windows(2);
        pairs.any(|pair| pair[0].target != pair[1].target)
    };
    let has_multiple_targets = runs.iter().any(has_multiple_targets);
    let is_chosen = |s: &&SubjectStanding| is_chosen(subjects, &s.subject.name);
    let record = |summary: &'a RunSummary, standing: &'a SubjectStanding| HistoryRow {
        summary,
        name: match standing.target.filter(|_| has_multiple_targets) {
            Some(target) => format!("{} on {}", standing.subject.name, target.name()),
            None => standing.subject.name.clone(),
        },
        remarks: remarks(runs, summary, standing),
        standing,
    };
    let all = runs.iter().flat_map(|summary| {
        let standings = summary.standings.iter().filter(is_chosen);
        standings.map(move |standing| record(summary, standing))
    });
    all.collect()
}

fn remarks(runs: &[RunSummary], summary: &RunSummary, standing: &SubjectStanding) -> String {
    let later = runs.iter().rev().flat_map(|run| &run.standings);
    let later = || later.clone().filter(|other| other.is_like(standing));
    let subject = later().find(|other| other.subject.name == standing.subject.name);
    let baseline = later().find(|other| other.baseline.name == standing.baseline.name);
    let holds = [
        runs.last()
            .is_some_and(|latest| latest.host != summary.host),
        baseline.is_some_and(|other| other.baseline.differs(&standing.baseline)),
        subject.is_some_and(|other| other.subject.differs(&standing.subject)),
        later()
            .next()
            .is_some_and(|other| other.points != standing.points),
        runs.last()
            .is_some_and(|latest| latest.workload != summary.workload),
        standing.few_blocks,
        !summary.ended,
    ];
    // The first letter marks a change of the ratio, which needs all runs, so `HistoryChanges` determines it.
    let letters = REMARKS[1..].iter().zip(holds).filter(|(_, holds)| *holds);
    letters.map(|((letter, _), _)| letter).collect()
}

/// Returns true if a subject is selected; an empty list selects all.
fn is_chosen(subjects: &[String], name: &str) -> bool {
    subjects.is_empty() || subjects.iter().any(|subject| subject == name)
}
