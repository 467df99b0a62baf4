// SPDX-License-Identifier: Apache-2.0
//! A report on two runs of one experiment, in every format that can hold it.

use crate::content::load::between::servers;
use crate::content::load::metric_name;
use crate::content::{Room, between as content};
use crate::csv::Row;
use crate::markdown::{heading, item, paragraph, tables};
use crate::plot::{self, Forest, ForestRow, Mark};
use crate::table::Tone;
use crate::terminal::Page;
use crate::view::verdict_word;
use crate::{Error, File, Format, Rendered, Terminal, csv, html, json, number, xlsx};
use lab_model::Run;
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::between::{Between, Change, LevelChange};
use serde::Serialize;

/// What a report on two runs is made from.
#[derive(Clone, Copy, Debug)]
pub struct BetweenReport<'a> {
    /// What changed from the first to the second.
    pub between: &'a Between,
    /// The first and the second.
    pub runs: [&'a Run; 2],
    /// Where their files are, for people.
    pub files: [&'a str; 2],
}

/// The columns of the CSV, in order; units are in their names.
pub const COLUMNS: [&str; 32] = [
    "first_run",
    "second_run",
    "subject",
    "point",
    "program",
    "role",
    "first_ns",
    "first_low_ns",
    "first_high_ns",
    "second_ns",
    "second_low_ns",
    "second_high_ns",
    "time_change",
    "time_change_low",
    "time_change_high",
    "time_change_level",
    "first_ratio",
    "first_ratio_low",
    "first_ratio_high",
    "second_ratio",
    "second_ratio_low",
    "second_ratio_high",
    "ratio_change",
    "ratio_change_low",
    "ratio_change_high",
    "ratio_change_level",
    "verdict",
    "blocks_needed",
    "margin",
    "merged",
    "first_blocks",
    "second_blocks",
];

/// Renders a report on two runs. The XML format holds single figures of one run: it is refused.
pub fn render_between(
    format: Format,
    report: &BetweenReport,
    terminal: Terminal,
) -> Result<Rendered, Error> {
    Ok(match format {
        Format::Terminal => Rendered::Text(to_terminal(report, terminal)),
        Format::Markdown => Rendered::Text(to_markdown(report)),
        Format::Csv => Rendered::Text(to_csv(report)?),
        Format::Json => Rendered::Text(to_json(report)?),
        Format::Xml => return Err(Error::NoForm(Format::Xml)),
        Format::Xlsx => Rendered::Bytes(xlsx::between(report)?),
        Format::Svg => Rendered::Files(to_files(report)?),
        Format::Html => Rendered::Text(html::between(report, plot(report)?.as_ref())),
    })
}

/// The answer comes last, where it is seen first.
fn to_terminal(report: &BetweenReport, terminal: Terminal) -> String {
    let mut page = Page::new(terminal);
    page.heading(&content::title(report));
    page.text(&content::method(report), "");
    for point in content::points(report) {
        for table in content::point_tables(report, point, Room::Narrow) {
            page.blank();
            page.table(&table);
        }
    }
    let between = report.between;
    let differences = between.differences.iter().map(|difference| {
        let value = |value: &Option<String>| value.clone().unwrap_or("nothing".into());
        let (first, second) = (value(&difference.first), value(&difference.second));
        format!(
            "{}: {first} in the first, {second} in the second",
            difference.what
        )
    });
    let reservations = between.reservations.iter();
    let reservations = reservations.map(|r| format!("{}: {}", r.kind, r.text));
    page.items("What differs", differences, Tone::Plain);
    page.items("Not compared", between.apart.iter().cloned(), Tone::Alarm);
    page.items("Reservations", reservations, Tone::Open);
    page.heading("Answer");
    page.text(&content::answer(report), "");
    page.blank();
    for row in content::run_table(report).rows {
        let [which, file, began, blocks, version] = &row[..] else {
            continue;
        };
        page.text(
            &format!(
                "{}: {}, {}, {} blocks, benchlab {}",
                which.text, file.text, began.text, blocks.text, version.text
            ),
            "",
        );
    }
    page.finish()
}

fn to_markdown(report: &BetweenReport) -> String {
    let mut text = String::new();
    heading(&mut text, 1, &content::title(report));
    heading(&mut text, 2, "Answer");
    paragraph(&mut text, &content::answer(report));
    let between = report.between;
    if !between.reservations.is_empty() {
        heading(&mut text, 2, "Reservations");
    }
    for reservation in &between.reservations {
        item(
            &mut text,
            &format!("{}: {}", reservation.kind, reservation.text),
        );
    }
    if !between.apart.is_empty() {
        heading(&mut text, 2, "Not compared");
    }
    between.apart.iter().for_each(|what| item(&mut text, what));
    heading(&mut text, 2, "Point by point");
    for point in content::points(report) {
        let shown = content::point_tables(report, point, Room::Wide);
        tables(&mut text, point, &shown);
    }
    let difference = content::difference_table(report);
    tables(&mut text, "What differs", &[difference]);
    tables(&mut text, "The runs", &[content::run_table(report)]);
    paragraph(&mut text, &content::method(report));
    text
}

fn to_csv(report: &BetweenReport) -> Result<String, Error> {
    if !report.between.metrics.is_empty() {
        return csv::load_between::render(report);
    }
    let levels = report.between.levels.iter();
    csv::write(&COLUMNS, levels.map(|level| row(report, level)))
}

fn row(report: &BetweenReport, level: &LevelChange) -> Row {
    let between = report.between;
    let mut row = Row::default();
    row.set("first_run", &report.runs[0].name);
    row.set("second_run", &report.runs[1].name);
    row.set("subject", &level.subject);
    row.set("point", &level.point);
    row.set("program", content::program_word(level.program));
    row.set("role", role(report, level));
    let [first, second] = &level.times_ns;
    row.interval(["first_ns", "first_low_ns", "first_high_ns"], first);
    row.interval(["second_ns", "second_low_ns", "second_high_ns"], second);
    let names = ["time_change", "time_change_low", "time_change_high"];
    row.interval(names, &level.change);
    row.number("time_change_level", level.change.level);
    row.set("first_blocks", between.blocks[0]);
    row.set("second_blocks", between.blocks[1]);
    if let Some(change) = change_of(between, level) {
        changed(&mut row, change);
    }
    row
}

fn changed(row: &mut Row, change: &Change) {
    let [first, second] = &change.ratios;
    row.interval(
        ["first_ratio", "first_ratio_low", "first_ratio_high"],
        first,
    );
    row.interval(
        ["second_ratio", "second_ratio_low", "second_ratio_high"],
        second,
    );
    let names = ["ratio_change", "ratio_change_low", "ratio_change_high"];
    row.interval(names, &change.change);
    row.number("ratio_change_level", change.change.level);
    row.set("verdict", verdict_word(&change.verdict));
    if let Verdict::Inconclusive {
        blocks_needed: Some(n),
    } = change.verdict
    {
        row.set("blocks_needed", n);
    }
    row.number("margin", change.margin);
    row.set("merged", change.merged);
}

/// The change of the ratio of whom and where a time is.
pub fn change_of<'a>(between: &'a Between, level: &LevelChange) -> Option<&'a Change> {
    let mut changes = between.changes.iter();
    changes.find(|c| c.subject == level.subject && c.point == level.point)
}

fn role(report: &BetweenReport, level: &LevelChange) -> &'static str {
    match () {
        _ if level.baseline && report.between.baseline.is_some() => "baseline",
        _ if level.reference => "control",
        _ => "subject",
    }
}

/// The schema is described in docs/reports.md.
#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    title: String,
    answer: String,
    runs: [Origin<'a>; 2],
    between: &'a Between,
}

#[derive(Serialize)]
struct Origin<'a> {
    name: &'a str,
    file: &'a str,
    lab_version: &'a str,
    started_unix_s: f64,
}

fn to_json(report: &BetweenReport) -> Result<String, Error> {
    let origin = |i: usize| Origin {
        name: &report.runs[i].name,
        file: report.files[i],
        lab_version: &report.runs[i].lab_version,
        started_unix_s: report.runs[i].started_unix_s,
    };
    let document = Document {
        format: json::RUNS_FORMAT,
        title: content::title(report),
        answer: content::answer(report),
        runs: [origin(0), origin(1)],
        between: report.between,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn to_files(report: &BetweenReport) -> Result<Vec<File>, Error> {
    Ok(plot(report)?.into_iter().map(plot::Plot::alone).collect())
}

/// What changed in load runs: a row for each point and metric, a dot for each server.
fn metric_plot(report: &BetweenReport) -> Result<Option<plot::Plot>, Error> {
    let between = report.between;
    let names = servers(report);
    let several = content::points(report).len() > 1;
    let mut rows: Vec<ForestRow> = Vec::new();
    for change in between.metrics.iter().filter(|m| drawable(&m.change)) {
        let metric = metric_name(change.metric);
        let label = match several {
            true => format!("{metric} at {}", change.point),
            false => metric.to_string(),
        };
        let lane = names.iter().position(|name| *name == change.subject);
        let mark = Mark {
            lane: lane.unwrap_or(0),
            interval: change.change,
        };
        match rows.iter_mut().find(|row| row.label == label) {
            Some(row) => row.marks.push(mark),
            None => rows.push(ForestRow {
                label,
                marks: vec![mark],
            }),
        }
    }
    plot::forest(Forest {
        name: "changes".into(),
        title: "What changed from the first run to the second".into(),
        description: format!(
            "Second / first, of times and costs, logarithmic; lines are intervals, simultaneous within a point; \
             the band is the margin of {}, within which changes count as equivalent. Left is better.",
            number::level(between.margin)
        ),
        axis: "time or cost in the second run / that in the first".into(),
        margin: between.margin,
        lanes: plot::numbered(&names),
        rows,
    })
}

/// The changes of the ratios, a row per point, if there are any.
fn plot(report: &BetweenReport) -> Result<Option<plot::Plot>, Error> {
    let between = report.between;
    if !between.metrics.is_empty() {
        return metric_plot(report);
    }
    let mut names: Vec<&str> = Vec::new();
    for change in &between.changes {
        if !names.contains(&alone(change)) {
            names.push(alone(change));
        }
    }
    let lane = |change: &Change| names.iter().position(|name| *name == alone(change));
    let mark = |change: &'_ Change| -> Option<Mark> {
        Some(Mark {
            lane: lane(change)?,
            interval: change.change,
        })
    };
    let row = |point: &str| ForestRow {
        label: point.to_string(),
        marks: between
            .changes
            .iter()
            .filter(|c| c.point == point && drawable(&c.change))
            .filter_map(mark)
            .collect(),
    };
    let rows = content::points(report).into_iter().map(row);
    let baseline = between.baseline.as_deref().unwrap_or("");
    let forest = Forest {
        name: "changes".into(),
        title: format!("How the ratios to {baseline} changed from the first run to the second"),
        description: format!(
            "Ratio in the second run / ratio in the first, logarithmic; lines are intervals, simultaneous \
             within a row; the band is the margin of {}, within which changes count as equivalent. Left is \
             faster.",
            number::level(between.margin)
        ),
        axis: "ratio in the second run / ratio in the first".into(),
        margin: between.margin,
        lanes: plot::numbered(&names),
        rows: rows.filter(|row| !row.marks.is_empty()).collect(),
    };
    plot::forest(forest)
}

/// A subject's name without the target, which the row's label tells.
fn alone(change: &Change) -> &str {
    let name = change.target.and_then(|kind| {
        let plain = change.subject.strip_suffix(kind.name())?;
        plain.strip_suffix(" on ")
    });
    name.unwrap_or(&change.subject)
}

/// A logarithmic axis has no place for what is not above 0.
fn drawable(interval: &Interval) -> bool {
    interval.estimate > 0.0 && interval.estimate.is_finite()
}
