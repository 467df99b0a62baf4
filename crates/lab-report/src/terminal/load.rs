// SPDX-License-Identifier: Apache-2.0
//! A load run for a terminal: what was sent, figures, how they went over time, and last the answer with
//! all that limits it.

use super::page::Page;
use super::{failures, footer, refusals, warnings};
use crate::Terminal;
use crate::content::load::{self, Moment, moments};
use crate::content::{self, Room};
use crate::load::{LoadView, Series};
use crate::number::{Quantity, range};
use crate::spark::bars;
use crate::table::{Table, Tone};

/// Bars of a line over time, at the most.
const BARS: usize = 48;

/// The report as text; every line ends with a line feed.
pub fn render(view: &LoadView, terminal: Terminal) -> String {
    let mut page = Page::new(terminal);
    let common = &view.view;
    page.heading(&common.plan.title);
    page.text(&common.plan.question, "");
    let asked = load::asked(view).into_iter();
    page.items(
        "What was loaded",
        asked.map(|(name, value)| format!("{name}: {value}")),
        Tone::Plain,
    );
    section(&mut page, &load::request_table(view));
    let times = load::time_table(view, Room::Narrow);
    times.iter().for_each(|table| section(&mut page, table));
    section(&mut page, &load::rate_table(view, Room::Narrow));
    section(&mut page, &load::error_table(view));
    over_time(&mut page, view);
    for group in common.scaling_groups() {
        let law = content::law_table(common, &group, Room::Narrow);
        section(&mut page, &law);
    }
    section(&mut page, &load::comparison_table(view, Room::Narrow));
    section(&mut page, &load::cost_table(view, Room::Narrow));
    refusals(&mut page, common);
    failures(&mut page, common, &common.run.failures);
    warnings(&mut page, common);
    page.heading("Answer");
    page.text(&load::said(view), "");
    for alarm in load::alarms(view) {
        page.toned(&format!("! {alarm}"), Tone::Alarm);
    }
    footer(&mut page, common.report, Some(common));
    page.finish()
}

/// A table below its title; nothing without rows.
fn section(page: &mut Page, table: &Table) {
    if !table.rows.is_empty() {
        page.heading(&table.title);
        page.bare_table(table);
    }
}

/// Rate and response time of each slice as bars, where there is a single point.
fn over_time(page: &mut Page, view: &LoadView) {
    if view.view.plan.points.len() > 1 {
        return;
    }
    for series in view.series().iter().filter(|s| s.slices.len() > 2) {
        let name = view.label(series.cell.subject, series.cell.point);
        page.heading(&format!("Over time: {name}"));
        lines(page, series);
    }
}

fn lines(page: &mut Page, series: &Series) {
    let moments = moments(series);
    // Where there are more than fit, each bar stands for several.
    let each = moments.len().div_ceil(BARS);
    let columns: Vec<&[Moment]> = moments.chunks(each).collect();
    let mean = |of: fn(&Moment) -> Option<f64>| {
        let of_column = move |column: &&[Moment]| {
            let values: Vec<f64> = column.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        columns.iter().map(of_column).collect::<Vec<_>>()
    };
    // From zero, so that noise stays small.
    let mut line = |name: &str, quantity: Quantity, values: Vec<Option<f64>>| {
        let known = values.iter().flatten();
        let low = known.clone().copied().fold(f64::INFINITY, f64::min);
        let high = known.copied().fold(f64::NEG_INFINITY, f64::max);
        if low <= high {
            let range = range(quantity, low, high);
            page.pair(name, 6, &bars(values, 0.0, high), &format!("  {range}"));
        }
    };
    line("served", Quantity::Rate, mean(|m| Some(m.served)));
    line(
        "p50",
        Quantity::Time,
        mean(|m| m.p50_ns.map(|ns| ns as f64)),
    );
    line(
        "p99",
        Quantity::Time,
        mean(|m| m.p99_ns.map(|ns| ns as f64)),
    );
    if moments.iter().any(|m| m.errors > 0.0) {
        line("errors", Quantity::Rate, mean(|m| Some(m.errors)));
    }
}
