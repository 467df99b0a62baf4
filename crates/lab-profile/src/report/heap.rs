// SPDX-License-Identifier: Apache-2.0
//! The heap in a profile: its size over time and at the peak, churn, and memory that was never freed.

use super::ranked::{MAX_ROWS, RankedRow, RankedTable};
use super::{ProfilePair, figure_unit};
use crate::heap::{never_freed, sawtooth};
use crate::wording::{self, function_and_location};
use crate::{Profile, explain};
use lab_document::{
    Axis, Band, CellContent, Chart, Drawing, Item, Line, Lines, Quantity, Scale, Section, Stroke,
    Table,
};
use lab_model::Unit;
use lab_valgrind::{AllocationPoint, Dhat, Massif, TimeUnit, churn};
use std::collections::{BTreeMap, BTreeSet};

/// The ID of the heap chart at the top of the report.
const MAIN: &str = "heap";

/// Builds the chart of the heap over time.
///
/// The chart contains the programs that have the same time unit as the first program. Returns
/// `None` without heap data.
pub fn chart(pair: &ProfilePair) -> Option<Chart> {
    chart_of(pair, MAIN, |profile| profile.massif.as_ref())
}

/// Builds the charts of the heap over time in the other units of time.
fn further_charts(pair: &ProfilePair) -> Vec<Chart> {
    let by = |(id, unit): (&str, TimeUnit)| {
        chart_of(pair, id, move |profile| {
            profile.heaps.iter().find(|massif| massif.time_unit == unit)
        })
    };
    let units = [
        ("heap-instructions", TimeUnit::Instructions),
        ("heap-bytes", TimeUnit::Bytes),
        ("heap-time", TimeUnit::Milliseconds),
    ];
    units.into_iter().filter_map(by).collect()
}

fn chart_of<'p>(
    pair: &ProfilePair<'p>,
    id: &str,
    heap: impl Fn(&'p Profile) -> Option<&'p Massif>,
) -> Option<Chart> {
    let all = pair
        .each()
        .filter_map(|(name, profile)| Some((name, heap(profile)?)));
    let all: Vec<(&str, &Massif)> = all.collect();
    let unit = all.first()?.1.time_unit;
    let has_heap = |profile: &Profile| profile.figure("peak").is_some_and(|bytes| bytes > 0);
    if !pair.each().any(|(_, profile)| has_heap(profile)) {
        return None;
    }
    let alike = all.iter().filter(|(_, massif)| massif.time_unit == unit);
    let alike: Vec<&(&str, &Massif)> = alike.collect();
    // All lines have points at the same times, so that they share the columns of a table.
    let snapshots = alike.iter().flat_map(|(_, massif)| &massif.snapshots);
    let times: BTreeSet<u64> = snapshots.map(|snapshot| snapshot.time).collect();
    let lines = alike
        .iter()
        .enumerate()
        .map(|(color, (name, massif))| Line {
            name: (*name).into(),
            color,
            stroke: Stroke::Steps,
            points: to_steps(massif, &times),
            band: Band::Hidden,
        });
    let (title, unit) = wording::heap_time(unit);
    Some(Chart {
        id: id.into(),
        title: wording::heap_chart(id == MAIN, title),
        caption: wording::HEAP_CHART_CAPTION.into(),
        drawing: Drawing::Lines(Lines {
            x: Axis::new(title, unit, Scale::Linear),
            y: Axis::new(wording::HEAP_AXIS, Unit::Bytes, Scale::Linear),
            lines: lines.collect(),
        }),
    })
}

/// Returns the size of the heap at each of the given times, up to the end of the program.
fn to_steps(massif: &Massif, times: &BTreeSet<u64>) -> Vec<(f64, Quantity)> {
    let mut snapshots = massif.snapshots.iter().peekable();
    let (mut points, mut total) = (Vec::new(), 0);
    for time in times {
        if snapshots.peek().is_none() {
            break;
        }
        while let Some(snapshot) = snapshots.next_if(|snapshot| snapshot.time <= *time) {
            total = snapshot.total();
        }
        points.push((scale_time(*time, massif.time_unit), bytes(total)));
    }
    points
}

fn scale_time(time: u64, unit: TimeUnit) -> f64 {
    match unit {
        TimeUnit::Milliseconds => time as f64 * 1e6,
        TimeUnit::Instructions | TimeUnit::Bytes => time as f64,
    }
}

fn bytes(value: u64) -> Quantity {
    Quantity::exact(value as f64, Unit::Bytes)
}

/// Builds the section about memory.
pub fn section(pair: &ProfilePair) -> Section {
    let mut section = Section::new(wording::MEMORY);
    let sentences = sentences(pair);
    if !sentences.is_empty() {
        section.push(Item::List(sentences));
    }
    section.table(totals(pair));
    for chart in further_charts(pair) {
        section.push(chart);
    }
    for (name, profile) in pair.each() {
        section.table(churn_table(name, profile));
    }
    section.table(sites(pair, wording::ALLOCATED, |_, p| p.bytes));
    section.table(sites(pair, wording::AT_PEAK, |_, p| p.peak_bytes));
    section.table(sites(pair, wording::NEVER_FREED, |_, p| p.end_bytes));
    section.table(sites(pair, wording::NEVER_READ, |_, p| p.unread_bytes()));
    section.table(sites(pair, wording::SHORT_LIVED, Dhat::short_lived_bytes));
    section.table(at_peak(pair));
    section
}

fn totals(pair: &ProfilePair) -> Table {
    let columns = pair.columns(wording::FIGURE, &Unit::Bytes);
    let mut table = Table::new(wording::HEAP_TABLE, columns);
    for (name, title) in wording::HEAP_ROWS {
        let unit = figure_unit(name);
        let figures = pair.figure(name);
        if figures.0.is_some() || figures.1.is_some() {
            let mut cells = vec![title.into()];
            cells.extend(pair.cells(figures, &unit, None));
            table.row(cells);
        }
    }
    table.with_caption(wording::HEAP_TABLE_CAPTION)
}

/// Builds a table of a DHAT value by allocation site.
fn sites(
    pair: &ProfilePair,
    title: &str,
    figure: impl Fn(&Dhat, &AllocationPoint) -> u64,
) -> Table {
    let mut by_location: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for (i, (_, profile)) in pair.each().enumerate() {
        let Some(dhat) = &profile.dhat else { continue };
        for point in &dhat.points {
            let frame = dhat.site(point);
            let location = frame.map_or("???".into(), |frame| match frame.line {
                0 => frame.function.clone(),
                _ => function_and_location(frame),
            });
            if let Some(text) = frame.and_then(|frame| pair.source(&frame.file, frame.line)) {
                sources.insert(location.clone(), text.trim().to_owned());
            }
            let sums = by_location.entry(location).or_default();
            sums[i] = sums[i].saturating_add(figure(dhat, point));
        }
    }
    let dhat = pair.before.dhat.as_ref();
    let total = dhat.map(|dhat| dhat.sum(|point| figure(dhat, point)));
    let mut table = ranked_locations(pair, title, by_location, total);
    for row in &mut table.rows {
        if let CellContent::Words(location) = &row[0].content
            && let Some(text) = sources.get(location)
        {
            row[0].note = text.clone();
        }
    }
    table
}

/// Builds a table of the memory at Massif's peak by location, for profiles without DHAT data.
fn at_peak(pair: &ProfilePair) -> Table {
    let mut by_location: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (i, (_, profile)) in pair.each().enumerate() {
        let Some(massif) = profile.massif.as_ref().filter(|_| profile.dhat.is_none()) else {
            continue;
        };
        for site in massif.sites.iter().filter(|site| site.depth == 1) {
            let location = site
                .frame
                .as_ref()
                .map_or(wording::BELOW_THRESHOLD.into(), function_and_location);
            let sums = by_location.entry(location).or_default();
            sums[i] = sums[i].saturating_add(site.bytes);
        }
    }
    let total = pair.before.massif.as_ref().map(Massif::peak_bytes);
    ranked_locations(pair, wording::AT_MASSIFS_PEAK, by_location, total)
}

/// Builds a table of locations with their bytes before and after the change.
fn ranked_locations(
    pair: &ProfilePair,
    title: &str,
    by_location: BTreeMap<String, [u64; 2]>,
    total: Option<u64>,
) -> Table {
    let rows = by_location
        .into_iter()
        .map(|(name, [before, after])| RankedRow {
            name,
            before: Some(before),
            after: Some(after),
        });
    let table = RankedTable {
        title,
        first_column: wording::LOCATION,
        unit: &Unit::Bytes,
        total,
    };
    table.build(pair, rows)
}

fn churn_table(name: &str, profile: &Profile) -> Table {
    let all = profile.dhat.as_ref().map_or_else(Vec::new, churn);
    let mut table = Table::new(wording::churn_table(name), wording::CHURN_COLUMNS)
        .with_caption(wording::CHURN_CAPTION);
    let count = |n: u64| Quantity::exact(n as f64, wording::unit("allocations"));
    for churn in all.iter().take(MAX_ROWS) {
        table.row(vec![
            format!("{} ({})", churn.site.function, churn.site.location()).into(),
            count(churn.blocks).into(),
            bytes(churn.size()).into(),
            count(churn.at_once).into(),
            bytes(churn.bytes).into(),
        ]);
    }
    table
}

/// Describes the worst churn in the first profile or, without churn, the rises and falls of its heap.
pub fn churn_sentence(pair: &ProfilePair) -> Option<String> {
    let dhat = pair.before.dhat.as_ref();
    if let Some(churn) = dhat.and_then(|dhat| churn(dhat).into_iter().next()) {
        let name = pair.after.map(|_| pair.names[0]);
        return Some(wording::first_churn(name, &churn));
    }
    let sawtooth = pair.before.massif.as_ref().and_then(sawtooth);
    sawtooth.as_ref().map(wording::sawtooth)
}

/// Returns one sentence for each explanation of cache misses.
pub fn explanations(pair: &ProfilePair) -> Vec<String> {
    let all = pair.each().flat_map(|(name, profile)| {
        let sentences = explain(profile).into_iter();
        sentences.map(move |explanation| {
            let sentence = wording::explanation(&explanation);
            match pair.after {
                Some(_) => wording::with_name(name, &sentence),
                None => sentence,
            }
        })
    });
    all.collect()
}

/// Returns sentences about the explanations, leaks and churn in all profiles.
fn sentences(pair: &ProfilePair) -> Vec<String> {
    let mut all = explanations(pair);
    for (name, profile) in pair.each() {
        let leak = profile.dhat.as_ref().and_then(never_freed);
        all.extend(leak.map(|leak| wording::with_name(name, &wording::never_freed(&leak))));
    }
    for (name, profile) in pair.each() {
        let churns = profile.dhat.as_ref().map_or_else(Vec::new, churn);
        let worst = churns.iter().take(3);
        all.extend(worst.map(|churn| wording::with_name(name, &wording::churn(churn))));
        if profile.dhat.is_none() {
            let sawtooth = profile.massif.as_ref().and_then(sawtooth);
            all.extend(sawtooth.map(|s| wording::with_name(name, &wording::sawtooth(&s))));
        }
    }
    all
}
