// SPDX-License-Identifier: Apache-2.0
//! The report on a bisection.

use crate::bisection::{Bisection, BisectionCommit, NextMeasurement, StepConfirmation};
use crate::wording;
use lab_document::{Answer, Cell, Document, Finding, Item, Quantity, Row, Section, Table, Tone};
use lab_model::{Interval, Metric};
use lab_stats::bisection::{BisectedMetric, Ends, HalfChange, LogInterval, Segment};
use serde::Serialize;

/// The data of a change in JSON and other data formats.
#[derive(Serialize)]
struct ChangeData<'a> {
    code: &'static str,
    commits: Vec<&'a str>,
    ratio: Option<[f64; 3]>,
    confirmed: bool,
}

/// A change that was found, with its data.
struct Change<'a> {
    range: &'a [BisectionCommit],
    confirmation: Option<&'a StepConfirmation>,
    ratio: Option<Interval>,
}

impl Change<'_> {
    /// Returns true if the new measurement confirms the change.
    fn is_confirmed(&self) -> bool {
        self.confirmation
            .is_some_and(StepConfirmation::is_confirmed)
    }

    /// Returns the reason for doubt in the change: a remark, and a sentence. Returns `None` if the
    /// new measurement confirms the change, or is still to be taken.
    fn doubt(&self) -> Option<(&'static str, String)> {
        let confirmation = self.confirmation.filter(|c| !c.is_confirmed())?;
        let commits = wording::commits(self.range);
        Some(match self.ratio.filter(|_| confirmation.is_open()) {
            Some(ratio) => (
                wording::half(HalfChange::Open),
                wording::open_confirmation(&commits, confirmation.blocks, &ratio),
            ),
            None => (
                wording::UNCONFIRMED,
                wording::unconfirmed(&commits, self.ratio.as_ref()),
            ),
        })
    }
}

/// Builds the report. `file` is the path of the bisection's directory, for `benchlab resume`.
pub fn document(bisection: &Bisection, file: &str) -> Document {
    let changes = changes(bisection);
    let mut document = Document {
        title: wording::title(bisection),
        question: wording::QUESTION.into(),
        made: wording::made_at(bisection),
        benchlab_version: bisection.benchlab_version.clone(),
        answer: headline_section(bisection, &changes, file),
        source: wording::source(file),
        kept: true,
        ..Document::default()
    };
    for change in &changes {
        document.section(section(bisection, change));
    }
    document.section(probes(bisection));
    document.section(skipped(bisection));
    let mut method = Section::folded(wording::METHOD);
    method.push(Item::Facts(wording::method(bisection)));
    document.section(method);
    document.rows = rows(bisection, &changes);
    document
}

fn changes(bisection: &Bisection) -> Vec<Change<'_>> {
    let Some(search) = bisection.search() else {
        return Vec::new();
    };
    let confirmed = bisection.confirmed();
    let found = search.found().into_iter().map(|found| {
        let is_same = |c: &&&StepConfirmation| (c.low, c.high) == (found.low, found.high);
        let confirmation = confirmed.iter().find(is_same).copied();
        let ratio = confirmation.and_then(|c| c.ratio).map(|ratio| Interval {
            estimate: ratio.estimate,
            low: ratio.low,
            high: ratio.high,
            level: ratio.level,
        });
        Change {
            range: range(bisection, found),
            confirmation,
            ratio,
        }
    });
    found.collect()
}

/// Returns the commits that may have caused the change in a range: all commits after `low`, up to
/// and including `high`.
fn range(bisection: &Bisection, segment: Segment) -> &[BisectionCommit] {
    &bisection.commits[segment.low + 1..=segment.high]
}

fn headline_section(bisection: &Bisection, changes: &[Change], file: &str) -> Answer {
    let is_done = bisection.next() == NextMeasurement::Done;
    let needs_time = is_done && bisection.is_inconclusive();
    let headline = headline(bisection, changes);
    Answer {
        headline: if is_done {
            headline
        } else {
            wording::so_far(&headline)
        },
        table: (!changes.is_empty()).then(|| table(changes)),
        findings: findings(bisection, changes),
        undecided: (!is_done || needs_time).then(|| wording::to_continue(file, needs_time)),
        ..Answer::default()
    }
}

fn headline(bisection: &Bisection, changes: &[Change]) -> String {
    let Some(ends) = bisection.ends() else {
        return wording::not_started();
    };
    let total = ratio(&ends.log_ratio, 1.0 - bisection.request.alpha);
    let Some(search) = bisection.search() else {
        return match ends.judgment {
            Ends::Equivalent => wording::equivalent(bisection, &total),
            _ => wording::open_ends(bisection, &total, ends.blocks),
        };
    };
    let credible: Vec<&Change> = changes.iter().filter(|c| c.doubt().is_none()).collect();
    match credible[..] {
        [] => {}
        [one] => return wording::one_change(bisection, one.range, one.ratio.as_ref()),
        ref credible => {
            let each = credible
                .iter()
                .map(|c| (wording::commits(c.range), c.ratio));
            return wording::changes(bisection, &each.collect::<Vec<_>>());
        }
    }
    if let Some((_, sentence)) = changes.iter().find_map(Change::doubt) {
        return sentence;
    }
    match (search.open().first(), bisection.next()) {
        (_, NextMeasurement::Probe { segment, .. }) => {
            wording::open_range(range(bisection, segment))
        }
        (Some(open), _) => wording::open_range(range(bisection, *open)),
        (None, _) => wording::gradual(bisection, &total),
    }
}

/// Converts an interval of a logarithm to an interval of the ratio.
fn ratio(log: &LogInterval, level: f64) -> Interval {
    Interval {
        estimate: log.estimate.exp(),
        low: log.low.exp(),
        high: log.high.exp(),
        level,
    }
}

fn table(changes: &[Change]) -> Table {
    let mut table = Table::new(wording::CHANGES, wording::CHANGE_COLUMNS);
    for change in changes {
        let tone = match change.ratio {
            Some(ratio) if ratio.low > 1.0 => Tone::Worse,
            Some(ratio) if ratio.high < 1.0 => Tone::Better,
            _ => Tone::Inconclusive,
        };
        let subject = match change.range {
            [one] => one.subject.clone(),
            _ => String::new(),
        };
        let remark = change.doubt().map_or("", |(remark, _)| remark);
        table.named_row(
            wording::commits(change.range),
            [
                Cell::from(subject),
                Cell::from(change.ratio.as_ref().map(Quantity::ratio)).with_tone(tone),
                blocks(change.confirmation.map(|c| c.blocks)),
                remark.into(),
            ],
        );
    }
    table.without_empty_columns()
}

fn blocks(blocks: Option<u32>) -> Cell {
    blocks
        .map(|blocks| Quantity::count(blocks.into(), "blocks"))
        .into()
}

fn findings(bisection: &Bisection, changes: &[Change]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for change in changes {
        if change.range.len() > 1 {
            findings.push(Finding::plain(wording::not_measurable(
                change.range.len() - 1,
            )));
        }
        if let Some((_, text)) = change.doubt() {
            findings.push(Finding::new("", text, Tone::Inconclusive));
        }
        if let (Some(confirmation), [commit]) = (change.confirmation, change.range)
            && confirmation.parents > 1
        {
            findings.push(Finding::plain(wording::merge(commit)));
        }
    }
    let Some(search) = bisection.search() else {
        return findings;
    };
    for segment in search.open() {
        if !changes.is_empty() {
            let text = wording::open_range(range(bisection, segment));
            findings.push(Finding::new("", text, Tone::Inconclusive));
        }
    }
    for segment in search.gradual() {
        if !changes.is_empty() {
            findings.push(Finding::plain(wording::gradual_range(range(
                bisection, segment,
            ))));
        }
    }
    let ratios: Option<Vec<f64>> = changes.iter().map(|c| Some(c.ratio?.estimate)).collect();
    if let (Some(ratios), Some(ends)) = (ratios, bisection.ends())
        && !ratios.is_empty()
        && bisection.next() == NextMeasurement::Done
    {
        let found: f64 = ratios.iter().product();
        let total = ratio(&ends.log_ratio, 1.0 - bisection.request.alpha);
        if found < total.low || found > total.high {
            findings.push(Finding::plain(wording::rest(bisection, found, &total)));
        }
    }
    findings
}

/// Builds the section of one change: its data, and what its commit changed.
fn section(bisection: &Bisection, change: &Change) -> Section {
    let title = match change.range {
        [one] => format!("{} {}", one.short, one.subject),
        range => wording::commits(range),
    };
    let mut section = Section::new(title);
    let data = ChangeData {
        code: "change",
        commits: change.range.iter().map(|c| c.id.as_str()).collect(),
        ratio: change.ratio.map(|r| [r.estimate, r.low, r.high]),
        confirmed: change.is_confirmed(),
    };
    let text = match change.doubt() {
        Some((_, sentence)) => sentence,
        None => wording::one_change(bisection, change.range, change.ratio.as_ref()),
    };
    if change.range.len() > 1 {
        let lines = change.range.iter();
        let lines = lines.map(|c| format!("{} {}", c.short, c.subject));
        section.push(Item::List(lines.collect()));
    }
    section.push(Finding::plain(text).with_data(&data));
    let stat = change.confirmation.map_or(&[][..], |c| &c.stat);
    if !stat.is_empty() {
        section.push(Item::Log(stat.to_vec()));
    }
    section
}

fn probes(bisection: &Bisection) -> Section {
    let mut table = Table::new("", wording::PROBE_COLUMNS).with_caption(wording::PROBES_CAPTION);
    let level = 1.0 - bisection.request.alpha;
    let cell = |log: &LogInterval| Cell::from(Quantity::ratio(&ratio(log, level)));
    if let Some(ends) = bisection.ends() {
        table.named_row(
            wording::ENDS,
            [
                Cell::default(),
                wording::commits(&bisection.commits).into(),
                Cell::default(),
                cell(&ends.log_ratio),
                blocks(Some(ends.blocks)),
                Cell::default(),
            ],
        );
    }
    for probe in bisection.probes() {
        let commit = &bisection.commits[probe.at];
        let ends = [probe.low, probe.high].map(|at| bisection.commits[at].short.clone());
        let judgment = &probe.judgment;
        table.named_row(
            commit.short.clone(),
            [
                Cell::from(commit.subject.clone()),
                format!("{}..{}", ends[0], ends[1]).into(),
                cell(&judgment.before.log_ratio),
                cell(&judgment.after.log_ratio),
                blocks(Some(probe.blocks)),
                wording::searched(judgment.before.change, judgment.after.change).into(),
            ],
        );
    }
    Section::from_table(wording::PROBES, table)
}

/// Builds a row for each change, with its new measurement, and a row for each probe, relative to
/// the start of its range.
fn rows(bisection: &Bisection, changes: &[Change]) -> Vec<Row> {
    let metric = match bisection.request.metric {
        BisectedMetric::Wall => Metric::WALL,
        BisectedMetric::Cpu => Metric::CPU,
        BisectedMetric::Instructions => Metric::INSTRUCTIONS,
        BisectedMetric::Memory => Metric::PEAK_MEMORY,
    };
    let row = |subject: &str| Row::new(&bisection.request.name, subject, metric.clone());
    let changed = changes.iter().map(|change| {
        let verdict = match change.ratio {
            Some(ratio) if ratio.low > 1.0 => "slower",
            Some(ratio) if ratio.high < 1.0 => "faster",
            _ => "inconclusive",
        };
        Row {
            case: wording::CHANGE_ROW.into(),
            ratio: change.ratio.as_ref().map(Quantity::ratio),
            verdict: verdict.into(),
            blocks: change.confirmation.map(|c| c.blocks),
            ..row(&wording::commits(change.range))
        }
    });
    let level = 1.0 - bisection.request.alpha;
    let probed = bisection.probes().map(|probe| {
        let judgment = &probe.judgment;
        Row {
            case: wording::PROBE_ROW.into(),
            ratio: Some(Quantity::ratio(&ratio(&judgment.before.log_ratio, level))),
            blocks: Some(probe.blocks),
            note: wording::searched(judgment.before.change, judgment.after.change),
            ..row(&bisection.commits[probe.at].short)
        }
    });
    changed.chain(probed).collect()
}

fn skipped(bisection: &Bisection) -> Section {
    let mut table = Table::new("", wording::SKIP_COLUMNS);
    for skipped in bisection.skipped() {
        let commit = &bisection.commits[skipped.commit];
        table.named_row(
            commit.short.clone(),
            [
                Cell::from(commit.subject.clone()),
                wording::stage(skipped).into(),
                skipped.message.lines().next().unwrap_or_default().into(),
            ],
        );
    }
    Section::from_table(wording::SKIPPED, table)
}
