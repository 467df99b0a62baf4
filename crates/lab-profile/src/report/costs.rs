// SPDX-License-Identifier: Apache-2.0
//! Instructions, memory accesses and misses in a profile: for the program, by function and by source line.

use super::ProfilePair;
use super::ranked::{MAX_ROWS, RankedRow, RankedTable};
use crate::runs::RunWarning;
use crate::wording;
use lab_document::{
    Axis, BarRow, Bars, Chart, Drawing, Forest, ForestRow, Quantity, Scale, Section, Table, Tone,
};
use lab_model::Unit;
use lab_valgrind::{
    CostProfile, FunctionPair, LinePair, base_name, clean, has_symbol, join, join_lines,
};

/// The minimum fraction of an event's total for a function to be listed (like `cg_annotate --threshold=0.1`).
const THRESHOLD: f64 = 0.001;
/// The minimum fraction of instructions in code without symbols that triggers a warning.
const UNKNOWN: f64 = 0.05;
/// Events that get tables by function and line. Some are sums of other events.
const RANKED: [&str; 5] = ["Ir", "D1mr", "D1mw", "LL", "mispredicts"];
/// The metrics in the chart at the top of the report.
const CHARTED: [&str; 9] = [
    "Ir",
    "Dr",
    "Dw",
    "I1",
    "D1mr",
    "D1mw",
    "D1",
    "LL",
    "mispredicts",
];

/// A unit without a name, for tables whose title states the unit.
const UNNAMED: Unit = Unit::Count(std::borrow::Cow::Borrowed(""));

/// Returns true if a function accounts for at least a thousandth of any event.
pub fn is_above_threshold(costs: &[u64], totals: &[u64]) -> bool {
    let mut pairs = costs.iter().zip(totals);
    pairs.any(|(cost, total)| *cost > 0 && *cost as f64 >= *total as f64 * THRESHOLD)
}

/// Builds a chart of the costs after the change as ratios to the costs before it. For a single
/// program, the chart shows its functions.
pub fn chart(pair: &ProfilePair) -> Option<Chart> {
    let before = pair.before.costs()?;
    let Some(after) = pair.after else {
        return functions_chart(before);
    };
    let after = after.costs()?;
    let row = |event: &&str| {
        let (old, new) = (before.total_of(event)?, after.total_of(event)?);
        let ratio = (old > 0).then(|| new as f64 / old as f64)?;
        let tone = match ratio {
            less if less < 1.0 => Tone::Better,
            more if more > 1.0 => Tone::Worse,
            _ => Tone::Same,
        };
        Some(ForestRow::new(
            wording::meaning(event),
            Quantity::exact(ratio, Unit::Ratio),
            tone,
        ))
    };
    let rows: Vec<ForestRow> = CHARTED.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Chart {
        id: "costs".into(),
        title: wording::costs_chart(pair.names),
        caption: wording::COSTS_CAPTION.into(),
        drawing: Drawing::Forest(Forest::from_ratios(
            wording::COSTS_AXIS,
            Scale::LinearFromLeast,
            rows,
        )),
    })
}

fn functions_chart(costs: &CostProfile) -> Option<Chart> {
    let event = if costs.value("D1", &costs.totals).is_some() {
        "D1"
    } else {
        costs.events.first()?
    };
    let value = |costs_of: &[u64]| costs.value(event, costs_of).unwrap_or(0);
    let mut functions: Vec<(&str, u64)> = costs
        .functions()
        .map(|f| (f.name, value(f.costs)))
        .collect();
    functions.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let rows = functions.iter().take(12).filter(|(_, cost)| *cost > 0);
    let rows = rows.map(|(name, cost)| {
        BarRow::new(
            clean(name),
            0,
            Quantity::exact(*cost as f64, wording::unit(event)),
        )
    });
    Some(Chart {
        id: "functions".into(),
        title: wording::by_function(event),
        caption: wording::FUNCTIONS_CAPTION.into(),
        drawing: Drawing::Bars(Bars::whole(
            Axis::new(wording::meaning(event), wording::unit(event), Scale::Linear),
            rows,
        )),
    })
}

/// Builds the sections: totals, functions, lines, and functions that exist only before or only after the change.
pub fn sections(pair: &ProfilePair) -> Vec<Section> {
    let Some(before) = pair.before.costs() else {
        return Vec::new();
    };
    let after = pair.after.and_then(|after| after.costs());
    let mut program = Section::new(wording::COSTS);
    program.table(totals(pair, before));
    if pair.after.is_some() {
        program.chart(chart(pair));
    }
    let joined = match after {
        Some(after) => join(before, after),
        None => alone(before),
    };
    let mut functions = Section::new(wording::BY_FUNCTION);
    let mut lines = Section::new(wording::BY_LINE);
    let joined_lines = join_lines(before, after);
    for event in RANKED
        .into_iter()
        .filter(|event| before.total_of(event).is_some_and(|total| total > 0))
    {
        functions.table(function_table(pair, before, event, &joined));
        lines.table(line_table(pair, before, event, &joined_lines));
    }
    if after.is_some() {
        let one_sided = |title, is_chosen: fn(&FunctionPair) -> bool| {
            one_sided(pair, before, title, &joined, is_chosen)
        };
        functions.table(one_sided(wording::APPEARED, |j| j.before.is_none()));
        functions.table(one_sided(wording::VANISHED, |j| j.after.is_none()));
    }
    let mut calls = Section::folded(wording::CALLS);
    for (name, profile) in pair.each() {
        if let Some(costs) = &profile.callgrind {
            calls.table(call_table(name, costs));
        }
    }
    vec![program, functions, lines, calls]
}

fn totals(pair: &ProfilePair, before: &CostProfile) -> Table {
    let events = UNNAMED;
    let mut table = Table::new(wording::TOTALS, pair.columns(wording::EVENT, &events))
        .with_caption(wording::TOTALS_CAPTION);
    let sums = ["D1", "LL", "mispredicts"]
        .into_iter()
        .filter(|sum| before.total_of(sum).is_some());
    for event in before.events.iter().map(String::as_str).chain(sums) {
        let mut cells = vec![wording::event_row(event).into()];
        let total = match event {
            "D1mr" | "DLmr" => before.total_of("Dr"),
            "D1mw" | "DLmw" => before.total_of("Dw"),
            "I1mr" | "ILmr" => before.total_of("Ir"),
            "D1" => before.total_of("D"),
            "Bcm" => before.total_of("Bc"),
            "Bim" => before.total_of("Bi"),
            _ => None,
        };
        cells.extend(pair.cells(pair.figure(event), &events, total));
        table.row(cells);
    }
    match pair.after {
        Some(_) => table,
        None => table.with_caption(wording::SHARES_CAPTION),
    }
}

/// Returns the functions of a single program in the form of pairs, as if there were no earlier program.
fn alone(costs: &CostProfile) -> Vec<FunctionPair> {
    let functions = costs.functions().map(|function| FunctionPair {
        file: function.file.into(),
        name: function.name.into(),
        before: Some(function.costs.to_vec()),
        after: None,
    });
    functions.collect()
}

fn value(costs: &CostProfile, event: &str, of: &Option<Vec<u64>>) -> Option<u64> {
    costs.value(event, of.as_ref()?)
}

/// Returns a function's label, and its costs for an event before and after the change.
fn function_row(costs: &CostProfile, event: &str, function: &FunctionPair) -> RankedRow {
    RankedRow {
        name: format!("{} ({})", function.name, base_name(&function.file)),
        before: value(costs, event, &function.before),
        after: value(costs, event, &function.after),
    }
}

fn function_table(
    pair: &ProfilePair,
    costs: &CostProfile,
    event: &str,
    joined: &[FunctionPair],
) -> Table {
    let table = RankedTable {
        title: &wording::by_function(event),
        first_column: wording::FUNCTION,
        unit: &UNNAMED,
        total: costs.total_of(event),
    };
    table.build(pair, joined.iter().map(|j| function_row(costs, event, j)))
}

fn line_table(pair: &ProfilePair, costs: &CostProfile, event: &str, lines: &[LinePair]) -> Table {
    let numbered = lines.iter().filter(|line| line.number > 0);
    let rows = numbered.map(|line| RankedRow {
        name: format!("{}:{}", line.file, line.number),
        before: value(costs, event, &line.before),
        after: value(costs, event, &line.after),
    });
    let table = RankedTable {
        title: &wording::by_line(event),
        first_column: wording::LINE,
        unit: &UNNAMED,
        total: costs.total_of(event),
    };
    table.build(pair, rows)
}

/// Builds a table of the functions that exist only before or only after the change, ordered by the first event.
fn one_sided(
    pair: &ProfilePair,
    costs: &CostProfile,
    title: &str,
    joined: &[FunctionPair],
    is_chosen: impl Fn(&FunctionPair) -> bool,
) -> Table {
    let event = costs.events[0].as_str();
    let chosen = joined
        .iter()
        .filter(|j| is_chosen(j) && has_symbol(&j.name));
    let table = RankedTable {
        title,
        first_column: wording::FUNCTION,
        unit: &UNNAMED,
        total: None,
    };
    table.build(pair, chosen.map(|j| function_row(costs, event, j)))
}

/// Builds a table of the calls with the highest inclusive costs.
fn call_table(name: &str, costs: &CostProfile) -> Table {
    let mut table = Table::new(wording::calls_table(name), wording::CALLS_COLUMNS)
        .with_caption(wording::CALLS_CAPTION);
    let mut calls: Vec<_> = costs.calls().collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.costs[0]));
    for call in calls.into_iter().take(MAX_ROWS) {
        let count = Quantity::count(call.count, "calls");
        let inclusive = Quantity::exact(call.costs[0] as f64, wording::unit(&costs.events[0]));
        table.row(vec![
            call.caller.1.into(),
            call.callee.1.into(),
            count.into(),
            inclusive.into(),
        ]);
    }
    table
}

/// Returns a warning for each program with a large fraction of code without symbols.
pub fn without_symbols(pair: &ProfilePair) -> Vec<RunWarning> {
    let warning = |(name, profile): (&str, &crate::Profile)| {
        let costs = profile.costs()?;
        let total = *costs.totals.first()? as f64;
        let unnamed = costs.functions().filter(|f| !has_symbol(f.name));
        let unnamed: u64 = unnamed.map(|f| f.costs[0]).fold(0, u64::saturating_add);
        let part = unnamed as f64 / total;
        let objects = profile
            .callgrind
            .as_ref()
            .map_or_else(Vec::new, CostProfile::unnamed);
        (part >= UNKNOWN).then(|| RunWarning::NoSymbols {
            name: name.into(),
            part,
            event: costs.events[0].clone(),
            object: objects.first().map(|(object, _)| (*object).to_owned()),
        })
    };
    pair.each().filter_map(warning).collect()
}
