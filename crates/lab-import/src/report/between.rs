// SPDX-License-Identifier: Apache-2.0
//! The document of two imported runs.

use super::series::{SubjectSeries, advice, all_series, tool};
use super::table;
use crate::wording;
use lab_document::{
    Answer, Column, Document, Finding, Item, Section, Table,
    say::{self, count},
};
use lab_model::{Direction, Run};
use lab_stats::analysis::Verdict;
use lab_stats::processes::{ProcessChange, changed};

/// The input for the comparison of two imported runs.
#[derive(Clone, Copy, Debug)]
pub struct BetweenImports<'a> {
    /// The first and the second run.
    pub runs: [&'a Run; 2],
    /// The paths of both files as shown to users.
    pub files: [&'a str; 2],
}

/// A series that both runs have.
struct Pair {
    first: SubjectSeries,
    second: SubjectSeries,
    change: Option<ProcessChange>,
}

impl Pair {
    /// Returns false if the runs ended in different ways, so that they are not compared.
    fn is_compared(&self) -> bool {
        self.first.ended_like(&self.second)
    }

    /// Returns true if one of the two series comes from a single process.
    fn has_one_process(&self) -> bool {
        let sides = [&self.first.series, &self.second.series];
        sides.iter().any(|series| series.processes.len() < 2)
    }

    /// Returns true if a value is 0, so that there is no ratio.
    fn has_zero(&self) -> bool {
        self.is_compared() && self.change.is_none()
    }
}

/// Builds the document of the changes from the first run to the second.
///
/// # Errors
/// Returns a sentence that explains why the two runs cannot be compared.
pub fn compare(report: &BetweenImports) -> Result<Document, String> {
    let [first, second] = report.runs;
    let [before, after] = report.runs.map(all_series);
    let (pairs, alone) = pairs(&before, &after);
    if pairs.is_empty() {
        return Err("the two runs have no benchmark in common".into());
    }
    let has_multiple = is_varied(&before) || is_varied(&after);
    let mut document = Document {
        title: format!("Two runs of {}", tool(second)),
        question: "What changed from the first run to the second?".into(),
        made: format!(
            "{} and {} UTC",
            say::minute(first.started_unix_s),
            say::minute(second.started_unix_s)
        ),
        benchlab_version: second.benchlab_version.clone(),
        answer: answer(&pairs, report),
        source: format!("The values are in {}.", say::list(&report.files)),
        ..Document::default()
    };
    let changes = changes(&pairs, has_multiple);
    if changes.rows.len() <= table::ROWS {
        document.answer.table = Some(changes);
    } else {
        document.section(Section::from_table("Values", changes));
    }
    let mut section = Section::new("Not compared");
    for (which, names) in ["first", "second"].into_iter().zip(alone) {
        if !names.is_empty() {
            section.push(Item::List(vec![format!(
                "Only the {which} run has {}: {}.",
                count(names.len(), "value"),
                names.join(", ")
            )]));
        }
    }
    document.section(section);
    let mut section = Section::folded("How it was computed");
    section.text(
        "A process counts as one value. Ratios are two-sample Hodges-Lehmann estimates of the values in the second run \
         relative to the values in the first run. Their intervals hold simultaneously.",
    );
    section.text(wording::NOT_IN_TURNS);
    document.section(section);
    document.rows = pairs
        .iter()
        .flat_map(|pair| {
            [
                table::row(&first.name, &pair.first.subject, &pair.first.series, None),
                table::row(
                    &second.name,
                    &pair.second.subject,
                    &pair.second.series,
                    pair.change.as_ref(),
                ),
            ]
        })
        .collect();
    Ok(document)
}

/// Returns true if the series have more than one subject.
fn is_varied(all: &[SubjectSeries]) -> bool {
    all.iter().any(|one| one.subject != all[0].subject)
}

/// Pairs the series of both runs. Also returns the names of the series that only one run has.
///
/// If each run has only one subject, the subjects count as the same.
fn pairs(before: &[SubjectSeries], after: &[SubjectSeries]) -> (Vec<Pair>, [Vec<String>; 2]) {
    let has_multiple = is_varied(before) || is_varied(after);
    let same = |a: &SubjectSeries, b: &SubjectSeries| {
        let (one, other) = (&a.series, &b.series);
        (!has_multiple || a.subject == b.subject)
            && one.case == other.case
            && one.params == other.params
            && one.metric == other.metric
            && one.metric.unit == other.metric.unit
    };
    let common: Vec<(&SubjectSeries, &SubjectSeries)> = before
        .iter()
        .filter_map(|a| Some((a, after.iter().find(|b| same(a, b))?)))
        .collect();
    let judged = |(a, b): &&(&SubjectSeries, &SubjectSeries)| {
        let counts = [a, b].map(|s| s.series.processes.len());
        counts.iter().all(|n| *n > 1)
            && a.series.metric.better != Direction::Neither
            && a.ended_like(b)
    };
    let family = common.iter().filter(judged).count();
    let name = |one: &SubjectSeries| {
        let label = one.series.label();
        let label = if label.is_empty() {
            one.subject.clone()
        } else {
            label
        };
        format!("{label} ({})", one.series.metric.title)
    };
    let alone = [
        before
            .iter()
            .filter(|a| !after.iter().any(|b| same(a, b)))
            .map(name)
            .collect(),
        after
            .iter()
            .filter(|b| !before.iter().any(|a| same(a, b)))
            .map(name)
            .collect(),
    ];
    let pairs = common.into_iter().map(|(a, b)| Pair {
        first: a.clone(),
        second: b.clone(),
        change: match a.ended_like(b) {
            true => changed(&a.series, &b.series, family),
            false => None,
        },
    });
    (pairs.collect(), alone)
}

fn answer(pairs: &[Pair], report: &BetweenImports) -> Answer {
    let verdict = |pair: &Pair| pair.change.as_ref().and_then(|change| change.verdict);
    let verdicts: Vec<Verdict> = pairs.iter().filter_map(verdict).collect();
    let label = |pair: &Pair| match pair.second.series.label() {
        label if label.is_empty() => pair.second.subject.clone(),
        label => label,
    };
    let one = |pair: &Pair| {
        let change = pair.change.as_ref()?;
        let base = &report.runs[0].name;
        Some(wording::comparison(&label(pair), base, &pair.first.series.metric, change) + ".")
    };
    let judged: Vec<&Pair> = pairs
        .iter()
        .filter(|pair| verdict(pair).is_some())
        .collect();
    let different: Vec<String> = different(pairs);
    let same: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_compared()).collect();
    let alone = same.iter().filter(|pair| pair.has_one_process()).count();
    let zeros = same.iter().filter(|pair| pair.has_zero()).count();
    let headline = match (judged.as_slice(), verdicts.as_slice()) {
        _ if same.is_empty() => wording::NOTHING_COMPARED.into(),
        ([pair], _) => one(pair).unwrap_or_default(),
        ([], _) => {
            let first = if pairs.len() == 1 {
                one(&pairs[0])
            } else {
                None
            };
            let text =
                first.unwrap_or_else(|| format!("{} in both runs.", count(pairs.len(), "value")));
            match alone {
                0 => text,
                _ => format!("{} {text}", wording::ONE_PROCESS),
            }
        }
        (_, all) => {
            let text = wording::counts(all, "values");
            format!("{text} in the second run.")
        }
    };
    let one_process = (alone > 0).then(|| {
        let advice = advice(tool(report.runs[0]));
        let which = if alone == pairs.len() {
            String::new()
        } else {
            format!("{alone} of {} values: ", pairs.len())
        };
        format!(
            "{which}{} {} {advice}",
            wording::ONE_PROCESS,
            wording::WHY_ONE_PROCESS
        )
        .trim()
        .to_owned()
    });
    let without_ratio = (zeros > 0).then(|| wording::without_ratio(zeros, pairs.len()));
    let reasons: Vec<String> = one_process.into_iter().chain(without_ratio).collect();
    Answer {
        headline,
        findings: different
            .iter()
            .map(String::as_str)
            .chain([wording::NOT_IN_TURNS])
            .map(Finding::plain)
            .collect(),
        undecided: (!reasons.is_empty()).then(|| reasons.join(" ")),
        ..Answer::default()
    }
}

/// Returns a sentence for each pair of subjects that is not compared because its runs ended in
/// different ways.
fn different(pairs: &[Pair]) -> Vec<String> {
    let different = pairs.iter().filter(|pair| !pair.is_compared());
    let different = different.map(|pair| {
        let [first, second] = [&pair.first, &pair.second];
        let names = [
            format!("the first run's {}", first.subject),
            format!("The second run's {}", second.subject),
        ];
        let names = [names[0].as_str(), names[1].as_str()];
        wording::ends_differ(names, [&first.exit_codes, &second.exit_codes])
    });
    let mut different: Vec<String> = different.collect();
    different.dedup();
    different
}

fn changes(pairs: &[Pair], has_multiple: bool) -> Table {
    let labeled = pairs
        .iter()
        .any(|pair| !pair.first.series.label().is_empty());
    let mut columns = vec![Column::from(if labeled { "benchmark" } else { "subject" })];
    let shows_subject = has_multiple && labeled;
    if shows_subject {
        columns.push("subject".into());
    }
    columns.extend(["metric", "first", "second", "second / first", "processes"].map(Column::from));
    let mut table = Table::new("What changed", columns);
    for pair in pairs {
        let (a, b) = (&pair.first.series, &pair.second.series);
        let label = b.label();
        let mut cells = vec![if label.is_empty() {
            pair.second.subject.as_str().into()
        } else {
            label.into()
        }];
        if shows_subject {
            cells.push(pair.second.subject.as_str().into());
        }
        cells.extend([
            (&*b.metric.title).into(),
            table::typical(a).into(),
            table::typical(b).into(),
            match pair.has_zero() {
                true => wording::NO_RATIO.into(),
                false => table::change(pair.change.as_ref(), b),
            },
            format!("{} and {}", a.processes.len(), b.processes.len()).into(),
        ]);
        table.row(cells);
    }
    table
}
