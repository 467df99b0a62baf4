// SPDX-License-Identifier: Apache-2.0
//! A comparison of whole commands for a terminal: their lines, a line of figures for each with a
//! small histogram, and last the sentences that answer it.

use super::page::Page;
use super::{failures, refusals, warnings};
use crate::answer::{answer, missing};
use crate::content::{self, Room};
use crate::distribution::{Distribution, bars};
use crate::number::{Quantity, short, single};
use crate::table::{Cell, Column, Table, Tone, cut};
use crate::view::{Group, Standing, View};
use lab_model::{PointId, SubjectId};
use unicode_width::UnicodeWidthStr;

/// Columns of a histogram.
const BINS: usize = 20;

/// Letters of a revision: enough to tell it from others.
const REVISION: usize = 12;

/// Names take at most this many columns.
const NAME: usize = 20;

/// The whole report.
pub fn measured(page: &mut Page, view: &View) {
    lines(page, view);
    for group in view.groups() {
        figures(page, view, &group);
    }
    let fits = content::fit_tables(view, Room::Narrow);
    page.tables("Fixed and marginal cost", &fits);
    let factors = content::factor_tables(view, Room::Narrow);
    page.tables("What a parameter costs", &factors);
    page.blank();
    let overheads = content::overheads(view).into_iter();
    for sentence in overheads.chain(content::noise_floor(view)) {
        page.toned(&sentence, Tone::Open);
    }
    refusals(page, view);
    failures(page, view, &view.run.failures);
    warnings(page, view);
    page.blank();
    conclusion(page, view);
    page.blank();
    page.toned(&content::extent(view), Tone::Open);
    page.toned(view.report.file, Tone::Open);
}

/// `A  sort a.txt`, with what else tells it from the others.
fn lines(page: &mut Page, view: &View) {
    let names = view.with_controls().map(|s| view.name(s).width());
    let width = names.max().unwrap_or(0).min(NAME);
    for subject in view.with_controls() {
        let Some(command) = &view.plan.subjects[subject].command else {
            continue;
        };
        let shell = command.shell.then(|| content::shell_name(view));
        let revision = command
            .revision
            .as_ref()
            .map(|r| r.chars().take(REVISION).collect());
        let marks: Vec<String> = [shell.map(String::from), revision]
            .into_iter()
            .flatten()
            .map(|mark| format!("  ({})", cut(&mark, NAME)))
            .collect();
        let marks = marks.concat();
        page.pair(view.name(subject), width, &command.line, &marks);
    }
}

/// What is known of the points that differ in the sweep alone.
fn figures(page: &mut Page, view: &View, group: &Group) {
    page.heading(&view.group_label(group));
    match group.points.as_slice() {
        &[point] => {
            page.blank();
            page.bare_table(&times(view, point));
        }
        _ => {
            for table in content::group_tables(view, group, Room::Narrow) {
                page.blank();
                page.bare_table(&table);
            }
        }
    }
    page.blank();
    let uses = content::use_table(view, group, Room::Narrow);
    if !uses.rows.is_empty() {
        page.bare_table(&uses);
    }
}

/// Typical and whole time of each command, and how the times of its runs are spread.
fn times(view: &View, point: PointId) -> Table {
    let spread = Distribution::of(view, point);
    let column = |title: String, numeric| Column { title, numeric };
    let mut table = Table {
        columns: vec![
            column(String::new(), false),
            column("time".into(), true),
            column("whole".into(), true),
            column(spread.as_ref().map_or(String::new(), axis), false),
        ],
        ..Table::default()
    };
    for subject in view.with_controls() {
        let name = Cell::from(cut(view.name(subject), NAME));
        table.rows.push(match view.standing(subject, point) {
            Standing::Missing(why) => {
                vec![
                    name,
                    Cell::from(why).tone(Tone::Alarm),
                    "".into(),
                    "".into(),
                ]
            }
            _ => row(view, name, subject, point, spread.as_ref()),
        });
    }
    table.notes.extend(spread.as_ref().and_then(clipped));
    table
}

fn row(
    view: &View,
    name: Cell,
    subject: SubjectId,
    point: PointId,
    spread: Option<&Distribution>,
) -> Vec<Cell> {
    let times = view
        .cell(subject, point)
        .map(|c| (c.wall_ns, c.whole_wall_ns));
    let [time, whole] = times.map_or([String::new(), String::new()], |(time, whole)| {
        [time, whole].map(|i| short(Quantity::Time, &i))
    });
    let histogram = spread.and_then(|spread| {
        let (_, times) = spread.times.iter().find(|(s, _)| *s == subject)?;
        Some(bars(&spread.bins(times, BINS)))
    });
    vec![
        name,
        time.into(),
        whole.into(),
        histogram.unwrap_or_default().into(),
    ]
}

/// The ends of the axis above its ends.
fn axis(spread: &Distribution) -> String {
    let [low, high] = [spread.low, spread.high].map(|ns| single(Quantity::Time, ns));
    let gap = BINS.saturating_sub(low.chars().count() + high.chars().count());
    format!("{low}{}{high}", " ".repeat(gap.max(1)))
}

fn clipped(spread: &Distribution) -> Option<String> {
    let (beyond, all) = spread.beyond();
    (beyond > 0).then(|| {
        format!("{beyond} of {all} runs lie beyond the ends of the axis and count in the outermost columns.")
    })
}

/// The sentences, or why there are none.
fn conclusion(page: &mut Page, view: &View) {
    let sentences = content::sentences(view);
    if sentences.is_empty() {
        page.toned(&answer(view.report), Tone::Alarm);
        return;
    }
    for sentence in sentences {
        page.toned(&sentence.text, sentence.tone);
    }
    page.toned(&missing(view), Tone::Alarm);
}
