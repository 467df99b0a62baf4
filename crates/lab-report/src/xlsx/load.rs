// SPDX-License-Identifier: Apache-2.0
//! The sheets of a load run: what was sent and the answer, all figures with their bounds, percentiles,
//! the course over time, scaling and comparisons.

use super::charts::colour;
use super::sheet::{Sheet, Value};
use super::sheets::{self, bounds, leveled, texts};
use super::targets::{append, chart_below, laws, rates};
use crate::content::{self, load};
use crate::load::{LoadView, QUANTILES, Series};
use crate::view::verdict_word;
use lab_model::ErrorKind;
use lab_stats::analysis::Interval;
use lab_stats::load::analysis::{LoadCell, Quantiles};
use rust_xlsxwriter::{Chart, ChartLine, ChartType, Color};

/// Names and sheets, in order; comparisons, scaling and the course only where there are some.
pub fn sheets(view: &LoadView) -> Vec<(&'static str, Sheet)> {
    let all = [
        ("Summary", summary(view)),
        ("Figures", figures(view)),
        ("Percentiles", percentiles(view)),
        ("Compared", comparisons(view)),
        ("Scaling", scaling(view)),
        ("Over time", over_time(view)),
        ("Conditions", conditions(view)),
    ];
    let sometimes = ["Compared", "Scaling", "Over time"];
    let there = |(name, sheet): &(&str, Sheet)| !sometimes.contains(name) || sheet.rows.len() > 1;
    all.into_iter().filter(there).collect()
}

fn summary(view: &LoadView) -> Sheet {
    let common = &view.view;
    let mut sheet = Sheet {
        prose: true,
        ..Sheet::default()
    };
    let mut say = |name: &str, value: Value| sheet.rows.push(vec![name.into(), value]);
    say("Experiment", common.plan.title.as_str().into());
    for (name, value) in load::asked(view) {
        say(name, value.into());
    }
    say("Answer", load::said(view).into());
    for alarm in load::alarms(view) {
        say("Beware", alarm.into());
    }
    for warning in common.warnings() {
        say(
            &format!("Warning: {}", warning.kind),
            warning.text.as_str().into(),
        );
    }
    for failure in &common.run.failures {
        let at = common.at(failure.point);
        let what = format!("{}{at}: {}", failure.kind, failure.message);
        say(
            &format!("Failed: {}", common.name(failure.subject)),
            what.into(),
        );
    }
    say("Started", content::started(common.run).into());
    say("Run file", common.report.file.into());
    say("Lab version", common.run.lab_version.as_str().into());
    say("Blocks", view.analysis.blocks.into());
    say("Margin", view.analysis.margin.into());
    sheet
}

type Figure = (&'static str, fn(&LoadCell) -> Option<Interval>);

const FIGURES: [Figure; 8] = [
    ("Offered (requests/s)", |c| Some(c.offered_per_s)),
    ("Served (requests/s)", |c| Some(c.served_per_s)),
    ("Received (bytes/s)", |c| Some(c.received_bytes_per_s)),
    ("Server's CPU (ns/request)", |c| c.server_cpu_ns),
    ("Server's cores", |c| c.server_cores),
    ("Server's memory (bytes)", |c| c.server_bytes),
    ("Generator's CPU (ns/request)", |c| c.generator_cpu_ns),
    ("Generator busy (part)", |c| Some(c.generator_busy)),
];

type Times = (&'static str, fn(&LoadCell) -> &Quantiles);

const TIMES: [Times; 3] = [
    ("Response", |c| &c.response),
    ("Service", |c| &c.service),
    ("Lag", |c| &c.lag),
];

/// A row for each server and point.
pub fn figures(view: &LoadView) -> Sheet {
    let place = [
        "Server",
        "Point",
        "Blocks",
        "Requests offered",
        "Served",
        "Failed",
    ];
    let errors = ErrorKind::ALL.map(|kind| format!("Errors: {}", kind.name()));
    let further = [
        "Connections opened",
        "Longest wait for the last answer (ns)",
        "The generator was the limit",
        "Server's threads",
    ];
    let with_bounds = |name: String| [name, "low".to_string(), "high".to_string()];
    let figures = FIGURES
        .iter()
        .flat_map(|(name, _)| with_bounds(name.to_string()));
    let times = TIMES.iter().flat_map(|(kind, _)| {
        let of = |(name, ..): &crate::load::Quantile| with_bounds(format!("{kind} {name} (ns)"));
        let most = format!("{kind} max, one reading (ns)");
        QUANTILES
            .iter()
            .flat_map(of)
            .chain([most])
            .collect::<Vec<_>>()
    });
    let headings = place.map(String::from).into_iter().chain(errors);
    let headings = headings
        .chain(further.map(String::from))
        .chain(figures)
        .chain(times);
    let headings: Vec<String> = headings.collect();
    let mut sheet = Sheet::new(&headings.iter().map(String::as_str).collect::<Vec<_>>(), 2);
    sheet.rows.extend(
        view.analysis
            .cells
            .iter()
            .map(|cell| figure_row(view, cell)),
    );
    sheet
}

fn figure_row(view: &LoadView, cell: &LoadCell) -> Vec<Value> {
    let counted = |n: u64| Value::from(n as f64);
    let mut row: Vec<Value> = vec![
        view.view.name(cell.subject).into(),
        view.point(cell.point).into(),
        cell.blocks.into(),
        counted(cell.offered),
        counted(cell.served),
        counted(load::failed(cell)),
    ];
    row.extend(ErrorKind::ALL.map(|kind| {
        let found = cell.errors.iter().find(|(k, _)| *k == kind);
        counted(found.map_or(0, |(_, n)| *n))
    }));
    row.push(counted(cell.connects));
    row.push(counted(cell.drain_ns));
    row.push(if cell.saturated { "yes" } else { "no" }.into());
    row.push(cell.server_threads.map_or(Value::Blank, Value::from));
    row.extend(FIGURES.iter().flat_map(|(_, of)| maybe(of(cell))));
    for (_, times) in TIMES {
        row.extend(QUANTILES.iter().flat_map(|(.., of)| maybe(of(times(cell)))));
        row.push(
            times(cell)
                .max_ns
                .map_or(Value::Blank, |ns| Value::from(ns as f64)),
        );
    }
    row
}

fn maybe(interval: Option<Interval>) -> [Value; 3] {
    match interval {
        Some(interval) => bounds(&interval),
        None => [Value::Blank, Value::Blank, Value::Blank],
    }
}

/// Rows are percentiles of the response time, columns servers and points, with a chart of both.
fn percentiles(view: &LoadView) -> Sheet {
    let cells = &view.analysis.cells;
    let names = cells.iter().map(|c| view.label(c.subject, c.point));
    let headings = names.flat_map(|name| [format!("{name} (ns)"), "low".into(), "high".into()]);
    let headings: Vec<String> = std::iter::once("Response time".to_string())
        .chain(headings)
        .collect();
    let mut sheet = Sheet::new(&headings.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    for (name, _, of) in QUANTILES {
        let values = cells.iter().flat_map(|cell| maybe(of(&cell.response)));
        sheet
            .rows
            .push(std::iter::once(name.into()).chain(values).collect());
    }
    let last = sheet.rows.len() as u32 - 1;
    let mut chart = Chart::new(ChartType::Line);
    chart.title().set_name("Response time by percentile");
    chart.y_axis().set_name("ns").set_log_base(10);
    chart.set_width(720).set_height(420);
    chart.set_alt_text("Response time by percentile, logarithmic");
    for (i, cell) in cells.iter().enumerate() {
        let column = 1 + 3 * i as u16;
        let series = chart
            .add_series()
            .set_name(&view.label(cell.subject, cell.point));
        series.set_categories(("Percentiles", 1, 0, last, 0));
        series.set_values(("Percentiles", 1, column, last, column));
        if view.view.plan.points.len() == 1 {
            series.set_format(ChartLine::new().set_color(colour(&view.view, cell.subject)));
        }
    }
    sheet.rows.push(Vec::new());
    if !cells.is_empty() {
        chart_below(&mut sheet, chart, 420);
    }
    sheet
}

fn comparisons(view: &LoadView) -> Sheet {
    let baseline = view.view.baseline();
    let headings = [
        "Server",
        "Point",
        "Metric",
        &format!("Ratio to {baseline}"),
        "low",
        "high",
        "level",
        "p",
        "Verdict",
        "Blocks",
    ];
    let mut sheet = Sheet::new(&headings, 3);
    for c in &view.analysis.comparisons {
        let mut row: Vec<Value> = vec![
            view.view.name(c.subject).into(),
            view.point(c.point).into(),
            load::metric_name(c.metric).into(),
        ];
        row.extend(leveled(&c.ratio));
        row.extend([c.p.into(), verdict_word(&c.verdict).into(), c.blocks.into()]);
        sheet.rows.push(row);
    }
    sheet
}

/// Throughput over the number of connections with its chart, and the law.
fn scaling(view: &LoadView) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        widest: Some(24),
        ..Sheet::default()
    };
    let groups = view.view.scaling_groups();
    for group in groups.iter().filter(|group| group.points.len() > 1) {
        rates(&view.view, group, "Scaling", &mut sheet);
        laws(&view.view, group, &mut sheet);
    }
    sheet
}

/// A row for each slice, with a chart of the rates.
fn over_time(view: &LoadView) -> Sheet {
    let headings = [
        "Server",
        "Point",
        "From (s of load)",
        "To (s of load)",
        "Offered (requests/s)",
        "Served (requests/s)",
        "Errors (1/s)",
        "p50 (ns)",
        "p99 (ns)",
    ];
    let mut sheet = Sheet::new(&headings, 2);
    let mut places = Vec::new();
    for series in view.series() {
        let begin = sheet.rows.len() as u32;
        sheet.rows.extend(slices(view, &series));
        places.push((series.cell, begin, sheet.rows.len() as u32 - 1));
    }
    if view.view.plan.points.len() > 1 || sheet.rows.len() < 3 {
        return sheet;
    }
    let mut chart = Chart::new(ChartType::ScatterStraight);
    chart.title().set_name("Rate over time");
    chart.x_axis().set_name("seconds of load").set_min(0.0);
    chart
        .y_axis()
        .set_name("requests served per second")
        .set_min(0.0);
    chart.set_width(720).set_height(420);
    chart.set_alt_text("Requests served per second over the time under load");
    for (cell, first, last) in places.into_iter().filter(|(_, first, last)| last > first) {
        let series = chart
            .add_series()
            .set_name(&view.label(cell.subject, cell.point));
        series.set_categories(("Over time", first, 3, last, 3));
        series.set_values(("Over time", first, 5, last, 5));
        let colour: Color = colour(&view.view, cell.subject);
        series.set_format(ChartLine::new().set_color(colour));
    }
    sheet.charts.push((1, 10, chart));
    sheet
}

fn slices(view: &LoadView, series: &Series) -> Vec<Vec<Value>> {
    let time = |ns: Option<u64>| ns.map_or(Value::Blank, |ns| Value::from(ns as f64));
    let moments = load::moments(series).into_iter();
    let row = |m: load::Moment| {
        let mut row: Vec<Value> = vec![
            view.view.name(series.cell.subject).into(),
            view.point(series.cell.point).into(),
        ];
        row.extend([m.from_s, m.to_s, m.offered, m.served, m.errors].map(Value::from));
        row.extend([time(m.p50_ns), time(m.p99_ns)]);
        row
    };
    moments.map(row).collect()
}

/// The requests, the server, the host and how it was measured.
fn conditions(view: &LoadView) -> Sheet {
    let mut sheet = Sheet::new(&["What", "Value"], 1);
    let common = std::slice::from_ref(&view.view);
    let requests = load::request_table(view);
    for table in std::iter::once(requests).chain(content::services(common)) {
        if !table.rows.is_empty() {
            append(&mut sheet, texts(&table));
        }
    }
    sheets::host_and_method(&view.view, &load::method(view), &mut sheet);
    sheet
}
