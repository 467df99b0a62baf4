// SPDX-License-Identifier: Apache-2.0
//! The sheets of a run on several targets: one for each, with charts of the time against the
//! baseline's, of its parts and of throughput; all figures with their intervals; what subjects use.

use super::charts::{bar_chart, colour, part_chart, throughput_chart};
use super::sheet::{Sheet, Value};
use super::sheets::{self, bounds, leveled, pairs, place};
use crate::answer::conclusions;
use crate::content::{
    self, Bar, scaling_of, short_label, single_points, splits, throughput, warnings,
};
use crate::view::{Group, Standing, View, verdict_word};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::Interval;
use rust_xlsxwriter::{Chart, ChartSolidFill};

/// Rows of a sheet that a chart of so many pixels covers, and one more.
pub fn rows_of(pixels: u32) -> usize {
    pixels.div_ceil(20) as usize + 1
}

/// Names and sheets, in order.
pub fn sheets(views: &[View]) -> Vec<(&'static str, Sheet)> {
    let mut sheets = vec![("Summary", summary(views))];
    sheets.extend(views.iter().map(|view| (view.place(), target(view))));
    sheets.push(("Figures", figures(views)));
    sheets.push(("Resources", resources(views)));
    sheets.push(("Conditions", conditions(views)));
    sheets
}

fn summary(views: &[View]) -> Sheet {
    let mut sheet = Sheet {
        prose: true,
        ..Sheet::default()
    };
    let mut say = |name: &str, value: Value| sheet.rows.push(vec![name.into(), value]);
    let Some(first) = views.first() else {
        return sheet;
    };
    sheets::origin(first, &mut say);
    for (name, text) in conclusions(views) {
        let name = if name.is_empty() { "Limits" } else { name };
        say(name, text.into());
    }
    for warning in &warnings(views) {
        let text = content::warning_text(warning);
        say(&format!("Warning: {}", warning.1.kind), text.into());
    }
    for view in views {
        for failure in &view.run.failures {
            let at = view.at(failure.point);
            let what = format!("{}{at}: {}", failure.kind, failure.message);
            let who = format!("{} on {}", view.name(failure.subject), view.place());
            say(&format!("Failed: {who}"), what.into());
        }
    }
    sheet.rows.push(Vec::new());
    let headings = [
        "Subject",
        "Database",
        "Ratio (geometric mean)",
        "low",
        "high",
        "level",
        "points",
    ];
    sheet.headings.push(sheet.rows.len());
    sheet.rows.push(headings.map(Value::from).into());
    for view in views {
        for overall in &view.analysis.overall {
            let mut row = vec![view.name(overall.subject).into(), view.place().into()];
            row.extend(leveled(&overall.ratio));
            row.push(overall.points.into());
            sheet.rows.push(row);
        }
    }
    sheet
}

/// What is to be seen of one target: tables with their charts below.
fn target(view: &View) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        widest: Some(20),
        ..Sheet::default()
    };
    ratios(view, &mut sheet);
    parts(view, &mut sheet);
    for group in view.scaling_groups() {
        rates(view, &group, view.place(), &mut sheet);
        laws(view, &group, &mut sheet);
    }
    for further in [sheets::fits(view), sheets::factors(view)] {
        if further.rows.len() > 1 {
            append(&mut sheet, further.rows);
        }
    }
    sheet
}

/// A table whose first row holds headings, and an empty row; returns where it begins.
pub fn append(sheet: &mut Sheet, rows: Vec<Vec<Value>>) -> u32 {
    let begin = sheet.rows.len();
    sheet.headings.push(begin);
    sheet.rows.extend(rows);
    sheet.rows.push(Vec::new());
    begin as u32
}

/// A chart below what there is, and room for it.
pub fn chart_below(sheet: &mut Sheet, chart: Chart, height: u32) {
    let row = sheet.rows.len() as u32;
    sheet.charts.push((row, 1, chart));
    let room = std::iter::repeat_with(Vec::new).take(rows_of(height));
    sheet.rows.extend(room);
}

fn ratios(view: &View, sheet: &mut Sheet) {
    let others: Vec<SubjectId> = view
        .shown()
        .into_iter()
        .filter(|&s| s != view.plan.baseline)
        .collect();
    let title = format!("Time / {}'s (intervals: sheet Figures)", view.baseline());
    let names = others.iter().map(|&s| view.name(s).into());
    let mut rows = vec![std::iter::once(title.clone().into()).chain(names).collect()];
    let points = single_points(view);
    for &point in &points {
        let ratio = |&s: &SubjectId| {
            let comparison = view.comparison(s, point);
            comparison.map_or(Value::Blank, |c| c.ratio.estimate.into())
        };
        let label = std::iter::once(short_label(view, point).into());
        rows.push(label.chain(others.iter().map(ratio)).collect());
    }
    let begin = append(sheet, rows);
    let (first, last) = (begin + 1, begin + points.len() as u32);
    let mut chart = bar_chart(
        &format!("Time as a multiple of {}'s", view.baseline()),
        &format!("multiple of {}'s", view.baseline()),
    );
    let height = 120 + 9 * (points.len() * others.len().max(1)) as u32;
    chart.set_height(height);
    for (i, &subject) in others.iter().enumerate() {
        let (name, column) = (view.place(), 1 + i as u16);
        let series = chart.add_series().set_name(view.name(subject));
        series.set_format(ChartSolidFill::new().set_color(colour(view, subject)));
        series
            .set_categories((name, first, 0, last, 0))
            .set_values((name, first, column, last, column));
    }
    if !others.is_empty() && !points.is_empty() {
        chart_below(sheet, chart, height);
    }
}

const PARTS: [&str; 5] = ["Wall", "Client's CPU", "Server's CPU", "Waiting", "Overlap"];

/// The parts of the time at the main points: estimates first, which the charts show.
fn parts(view: &View, sheet: &mut Sheet) {
    let all = splits(view);
    if all.is_empty() {
        return;
    }
    let units = PARTS.map(|part| format!("{part} (ns/op)"));
    let ends = PARTS
        .iter()
        .flat_map(|part| [format!("{part} low"), format!("{part} high")]);
    let head = ["Subject".to_string(), "Point".to_string()];
    let head = head.into_iter().chain(units).chain(ends);
    let mut rows: Vec<Vec<Value>> = vec![head.map(Value::from).collect()];
    let mut places = Vec::new();
    for (point, bars) in &all {
        places.push((*point, rows.len() as u32, bars.len() as u32));
        rows.extend(bars.iter().map(|bar| part_row(view, *point, bar)));
    }
    let begin = append(sheet, rows);
    let height = 150 + 26 * all.iter().map(|(_, bars)| bars.len()).max().unwrap_or(0) as u32;
    let row = sheet.rows.len() as u32;
    for (i, (point, first, count)) in places.iter().enumerate() {
        let (first, last) = (begin + first, begin + first + count - 1);
        let label = view.plan.label(*point);
        let chart = part_chart(view.place(), &label, (first, last), height);
        let line = row + (i as u32 / 2) * rows_of(height) as u32;
        sheet
            .charts
            .push((line, if i % 2 == 0 { 0 } else { 6 }, chart));
    }
    let room = rows_of(height) * places.len().div_ceil(2);
    sheet
        .rows
        .extend(std::iter::repeat_with(Vec::new).take(room));
}

fn part_row(view: &View, point: PointId, bar: &Bar) -> Vec<Value> {
    let cost = bar.cost;
    let parts: [Option<&Interval>; 5] = [
        Some(&cost.wall_ns),
        Some(&cost.client_ns),
        cost.server_ns.as_ref(),
        Some(&cost.waiting_ns),
        Some(&cost.overlap_ns),
    ];
    let value = |of: fn(&Interval) -> f64, part: &Option<&Interval>| {
        part.map_or(Value::Blank, |i| of(i).into())
    };
    let mut row: Vec<Value> = vec![bar.name.as_str().into(), short_label(view, point).into()];
    row.extend(parts.iter().map(|part| value(|i| i.estimate, part)));
    let ends = |part| [value(|i| i.low, part), value(|i| i.high, part)];
    row.extend(parts.iter().flat_map(ends));
    row
}

/// Throughput over the sweep, with its chart, on the sheet of that name.
pub fn rates(view: &View, group: &Group, name: &str, sheet: &mut Sheet) {
    let subjects = view.shown();
    let sweep = view.plan.cases[group.case].sweep.as_deref().unwrap_or("n");
    let headings = subjects.iter().flat_map(|&s| {
        let name = view.name(s);
        [
            format!("{name} ({}s/s)", view.words.operation),
            format!("{name} below"),
            format!("{name} above"),
        ]
    });
    let head = std::iter::once(sweep.to_string()).chain(headings);
    let mut rows: Vec<Vec<Value>> = vec![head.map(Value::from).collect()];
    for &point in &group.points {
        let mut row = vec![view.plan.points[point].x.map_or(Value::Blank, Value::from)];
        row.extend(subjects.iter().flat_map(|&s| match view.cell(s, point) {
            Some(cell) => {
                let rate = throughput(&cell.wall_ns);
                let ends = [rate.estimate - rate.low, rate.high - rate.estimate];
                [rate.estimate, ends[0], ends[1]].map(Value::from)
            }
            None => [Value::Blank, Value::Blank, Value::Blank],
        }));
        rows.push(row);
    }
    let begin = append(sheet, rows);
    let chart = throughput_chart(view, group, &subjects, (name, begin));
    chart_below(sheet, chart, 420);
}

/// The scalability law of each subject over the sweep.
pub fn laws(view: &View, group: &Group, sheet: &mut Sheet) {
    let operation = view.words.operation;
    let headings = [
        "Subject",
        &format!("Throughput of one ({operation}s/s)"),
        "low",
        "high",
        "level",
        "Contention",
        "low",
        "high",
        "Coherency",
        "low",
        "high",
        "Peak at",
        "low",
        "high",
        &format!("Peak throughput ({operation}s/s)"),
        "low",
        "high",
        "Worst residual (part)",
        "Follows the law",
    ];
    let mut rows: Vec<Vec<Value>> = vec![headings.map(Value::from).into()];
    for subject in view.shown() {
        let Some(scaling) = scaling_of(view, group, subject) else {
            continue;
        };
        let mut row: Vec<Value> = vec![view.name(subject).into()];
        match &scaling.law {
            Some(law) => {
                row.extend(leveled(&law.one));
                row.extend(bounds(&law.contention));
                row.extend(bounds(&law.coherency));
                match &law.peak {
                    Some(peak) => {
                        row.extend(bounds(&peak.connections));
                        row.extend(bounds(&peak.throughput));
                    }
                    None => row.extend(std::iter::repeat_with(|| Value::Blank).take(6)),
                }
                row.push(law.worst_residual.into());
                row.push(if law.departs { "no" } else { "yes" }.into());
            }
            None => row.push(scaling.why.as_deref().unwrap_or("").into()),
        }
        rows.push(row);
    }
    append(sheet, rows);
}

/// A row for each subject and point of every target.
fn figures(views: &[View]) -> Sheet {
    let place_of = [
        "Database", "Subject", "Case", "Factors", "Sweep", "x", "Status", "Blocks",
    ];
    let times = [
        "Wall time (ns/op)",
        "Whole wall time (ns/op)",
        "CPU time (ns/op)",
        "Whole CPU time (ns/op)",
        "Server's CPU time (ns/op)",
        "Waiting (ns/op)",
        "Ratio",
        "Latency p50 (ns)",
        "Latency p99 (ns)",
        "Latency p99.9 (ns)",
        "Longest latency (ns)",
    ];
    let times = times.into_iter().flat_map(|time| [time, "low", "high"]);
    let head = place_of.into_iter().chain(times).chain(["Verdict"]);
    let mut sheet = Sheet::new(&head.collect::<Vec<_>>(), 3);
    for view in views {
        for (point, subject) in pairs(view) {
            sheet.rows.push(figure_row(view, subject, point));
        }
    }
    sheet
}

fn figure_row(view: &View, subject: SubjectId, point: PointId) -> Vec<Value> {
    let here = (subject, point);
    let standing = view.standing(subject, point);
    let mut row: Vec<Value> = vec![view.place().into()];
    row.extend(place(view, subject, point));
    row.push(match &standing {
        Standing::Missing(why) | Standing::Apart(_, why) => why.as_str().into(),
        Standing::Unable => "cannot do it".into(),
        _ => "measured".into(),
    });
    let cell = view.cell(subject, point);
    row.push(cell.map_or(Value::Blank, |c| c.blocks.into()));
    let analysis = view.analysis;
    let cost = analysis.server_costs.iter();
    let cost = cost.clone().find(|c| (c.subject, c.point) == here);
    let latency = analysis.latencies.iter();
    let latency = latency.clone().find(|l| (l.subject, l.point) == here);
    let control = analysis.controls.iter().find(|c| c.point == point);
    let ratio = match &standing {
        Standing::Compared(_, c) => Some(c.ratio),
        Standing::Control(_) => control.map(|c| c.ratio),
        _ => None,
    };
    let intervals: [Option<Interval>; 11] = [
        cell.map(|c| c.wall_ns),
        cell.map(|c| c.whole_wall_ns),
        cell.map(|c| c.cpu_ns),
        cell.map(|c| c.whole_cpu_ns),
        cost.and_then(|c| c.server_ns),
        cost.map(|c| c.waiting_ns),
        ratio,
        latency.map(|l| l.p50_ns),
        latency.and_then(|l| l.p99_ns),
        latency.and_then(|l| l.p999_ns),
        latency.map(|l| l.max_ns),
    ];
    row.extend(intervals.iter().flat_map(|interval| match interval {
        Some(interval) => bounds(interval),
        None => [Value::Blank, Value::Blank, Value::Blank],
    }));
    row.push(match &standing {
        Standing::Baseline(_) => "baseline".into(),
        Standing::Control(_) => match control {
            Some(control) if !control.met => "noise floor not met".into(),
            _ => "control".into(),
        },
        Standing::Compared(_, c) => verdict_word(&c.verdict).into(),
        _ => Value::Blank,
    });
    row
}

/// Memory, threads and start-up of all subjects.
fn resources(views: &[View]) -> Sheet {
    let headings = [
        "Subject",
        "Database",
        "Language",
        "Driver",
        "Threads (most seen)",
        "Resident memory (bytes)",
        "low",
        "high",
        "Peak resident memory (bytes)",
        "low",
        "high",
        "Server's memory beside it (bytes)",
        "low",
        "high",
        "Start-up (ns)",
        "low",
        "high",
        "Resident (MiB)",
        "Peak (MiB)",
    ];
    let mut sheet = Sheet::new(&headings, 1);
    for view in views {
        for print in &view.analysis.footprints {
            let who = &view.plan.subjects[print.subject];
            if who.control_of.is_some() {
                continue;
            }
            let label = format!("{} on {}", who.name, view.place());
            let mut row: Vec<Value> = vec![
                label.into(),
                view.place().into(),
                who.language.as_str().into(),
                who.driver.as_str().into(),
                print.threads.into(),
            ];
            row.extend(bounds(&print.rss_bytes));
            row.extend(bounds(&print.peak_rss_bytes));
            row.extend(match &print.server_bytes {
                Some(bytes) => bounds(bytes),
                None => [Value::Blank, Value::Blank, Value::Blank],
            });
            row.extend(bounds(&print.startup_ns));
            let mib = |i: &Interval| Value::from(i.estimate / f64::from(1 << 20));
            row.extend([mib(&print.rss_bytes), mib(&print.peak_rss_bytes)]);
            sheet.rows.push(row);
        }
    }
    let last = sheet.rows.len() as u32 - 1;
    if last > 0 {
        let mut chart = bar_chart("Memory", "MiB");
        chart.set_height(120 + 26 * last);
        for column in [17, 18] {
            let series = chart.add_series().set_name(("Resources", 0, column));
            series
                .set_categories(("Resources", 1, 0, last, 0))
                .set_values(("Resources", 1, column, last, column));
        }
        sheet.charts.push((last + 3, 1, chart));
    }
    sheet
}

/// Versions, servers, and the settings of each target; then host and method.
fn conditions(views: &[View]) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        ..Sheet::default()
    };
    let tables = content::versions(views, content::Room::Wide);
    for table in tables.into_iter().chain(content::services(views)) {
        let mut rows = sheets::texts(&table);
        if table.columns.len() == 2 {
            rows[0][0] = table.title.as_str().into();
        }
        append(&mut sheet, rows);
    }
    for view in views {
        let (differing, same) = content::conditions(view);
        if !differing.rows.is_empty() {
            let mut rows = sheets::texts(&differing);
            rows[0][0] = format!("{}: setting", view.place()).into();
            append(&mut sheet, rows);
        }
        for setting in same {
            let what = format!("{}: the same for all", view.place());
            sheet.rows.push(vec![what.into(), setting.into()]);
        }
    }
    if let Some(first) = views.first() {
        sheets::host_and_method(first, &content::method(first), &mut sheet);
    }
    sheet
}
