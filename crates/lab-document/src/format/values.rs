// SPDX-License-Identifier: Apache-2.0
//! The values of a chart as a table, for formats that cannot draw the chart.

use crate::chart::tone_number;
use crate::document::{
    Axis, Band, BarRow, Bars, Cell, Chart, Column, Distribution, Drawing, Flame, Forest, ForestRow,
    HeatMaps, Line, Lines, Quantity, Scale, Stroke, Table,
};
use lab_model::Unit;
use std::collections::BTreeMap;

/// The maximum number of points of a line in a table. Longer lines are reduced to this number.
const POINTS: usize = 24;
/// The number of functions of a flame graph that are listed by name.
const INNERMOST: usize = 12;

/// Builds a table of a chart's values, with the chart's title and caption.
pub fn table(chart: &Chart) -> Table {
    let table = match &chart.drawing {
        Drawing::Lines(lines) => self::lines(lines),
        Drawing::Bars(bars) => self::bars(bars),
        Drawing::Forest(forest) => self::bars(&forest_bars(forest)),
        Drawing::Heat(maps) => heat(maps),
        Drawing::Distribution(distribution) => self::distribution(distribution),
        Drawing::Flame(flame) => self::bars(&flame_bars(flame)),
    };
    Table {
        title: chart.title.clone(),
        caption: chart.caption.clone(),
        ..table
    }
}

/// Returns the lines whose values are listed: all except for the models of lines that were measured.
///
/// A model has the name of the line that it describes.
pub fn listed(lines: &Lines) -> Vec<&Line> {
    let is_measured = |name: &str| {
        let mut measured = lines.lines.iter().filter(|l| l.stroke != Stroke::Model);
        measured.any(|line| line.name == name)
    };
    let is_listed = |line: &&Line| line.stroke != Stroke::Model || !is_measured(&line.name);
    lines.lines.iter().filter(is_listed).collect()
}

/// Returns at most `max` x values of the lines, in ascending order.
///
/// If there are more, each line contributes the same number of evenly spaced values, because the
/// lines may have no x value in common.
pub fn x_values(lines: &[&Line], max: usize) -> Vec<f64> {
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    let of_line = |line: &&Line| sorted(line.points.iter().map(|(x, _)| *x).collect());
    let mut each: Vec<Vec<f64>> = lines.iter().map(of_line).collect();
    each.sort_by_cached_key(|values| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>());
    each.dedup();
    let all = sorted(each.concat());
    if all.len() <= max {
        return all;
    }
    let share = (max / each.len()).max(2);
    thinned(
        &sorted(each.iter().flat_map(|x| thinned(x, share)).collect()),
        max,
    )
}

/// Returns the value of a line at `x`, or `None` if the line has no value there.
///
/// A step function keeps each value until the next point, and a model is interpolated. Other lines
/// have values only at their points.
pub fn value_at(line: &Line, x: f64) -> Option<Quantity> {
    let after = line.points.partition_point(|(other, _)| *other <= x);
    let (before, y) = line.points[..after].last()?;
    if *before == x || line.stroke == Stroke::Measured {
        return (*before == x).then(|| y.clone());
    }
    let (next, next_y) = line.points.get(after)?;
    if line.stroke == Stroke::Steps {
        return Some(y.clone());
    }
    let value = y.value + (next_y.value - y.value) * (x - before) / (next - before);
    value
        .is_finite()
        .then(|| Quantity::exact(value, y.unit.clone()))
}

/// Returns at most `max` of the values, evenly spaced, including the first and the last.
pub fn thinned<T: Clone>(values: &[T], max: usize) -> Vec<T> {
    if values.len() <= max {
        return values.to_vec();
    }
    let last = (values.len() - 1) as f64;
    let step = last / (max.max(2) - 1) as f64;
    (0..max)
        .map(|i| values[(i as f64 * step).round() as usize].clone())
        .collect()
}

fn lines(lines: &Lines) -> Table {
    let listed = listed(lines);
    let columns = listed
        .iter()
        .map(|line| Column::with_unit(&line.name, lines.y.unit.clone()));
    let x = Column::with_unit(&lines.x.title, lines.x.unit.clone());
    let mut table = Table::new("", std::iter::once(x).chain(columns));
    for x in x_values(&listed, POINTS) {
        let values = listed.iter().map(|line| Cell::from(value_at(line, x)));
        table.named_row(Quantity::exact(x, lines.x.unit.clone()), values);
    }
    table
}

/// Lists a heat map cell by cell if it has a row for each value, otherwise by its quantiles.
fn heat(maps: &HeatMaps) -> Table {
    let Some(rows) = maps.row_values() else {
        return lines(&quantile_lines(maps));
    };
    let cells = || {
        maps.maps
            .iter()
            .flat_map(|map| map.columns.iter().map(move |c| (map, c)))
    };
    let columns = cells().map(|(map, column)| {
        let title = format!("{} {}", map.name, column.label);
        Column::with_unit(title.trim(), map.unit.clone())
    });
    let first = Column::with_unit(&maps.axis.title, maps.axis.unit.clone());
    let mut table = Table::new("", std::iter::once(first).chain(columns));
    for row in rows {
        let values = cells().map(|(map, column)| {
            let count = column.count_of(row);
            Cell::from(count.map(|n| Quantity::exact(n as f64, map.unit.clone())))
        });
        table.named_row(Quantity::exact(row, maps.axis.unit.clone()), values);
    }
    table
}

fn bars(bars: &Bars) -> Table {
    let unit = || bars.axis.unit.clone();
    let grouped = bars.rows.iter().any(|row| !row.group.is_empty());
    let mut columns = vec![
        Column::from(""),
        Column::with_unit(&bars.axis.title, unit()),
    ];
    columns.extend(
        bars.parts
            .iter()
            .map(|(name, _)| Column::with_unit(name, unit())),
    );
    columns.extend(grouped.then(|| Column::from("group")));
    let mut table = Table::new("", columns);
    let mut group = "";
    for row in &bars.rows {
        if !row.group.is_empty() {
            group = &row.group;
        }
        let parts = (0..bars.parts.len()).map(|i| {
            let part = row.parts.iter().find(|part| part.part == i);
            Cell::from(part.map(|part| part.value.clone()))
        });
        let total = std::iter::once(Cell::from(row.total.clone()));
        let group = grouped.then(|| Cell::from(group));
        table.named_row(row.name.as_str(), total.chain(parts).chain(group));
    }
    table
}

/// Converts a forest plot to bars that start at the reference value, colored by tone.
pub fn forest_bars(forest: &Forest) -> Bars {
    let rows = forest.groups.iter().flat_map(|group| {
        let mut title = group.title.clone();
        let row = move |row: &ForestRow| BarRow {
            group: std::mem::take(&mut title),
            ..BarRow::new(&row.name, tone_number(row.tone), row.value.clone())
        };
        group.rows.iter().map(row)
    });
    Bars::whole(forest.axis.clone(), rows)
}

/// Returns a bar for each of the functions with the highest self costs, and one bar for all other
/// functions.
pub fn flame_bars(flame: &Flame) -> Bars {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (stack, cost) in &flame.stacks {
        let innermost = stack.last().map_or("", String::as_str);
        let sum = sums.entry(innermost).or_default();
        *sum = sum.saturating_add(*cost);
    }
    let mut sums: Vec<(&str, u64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let rest = sums.iter().skip(INNERMOST).map(|(_, cost)| cost);
    let rest = rest.fold(0, |sum: u64, cost| sum.saturating_add(*cost));
    sums.truncate(INNERMOST);
    sums.extend((rest > 0).then_some(("all others", rest)));
    let exact = |cost: u64| Quantity::exact(cost as f64, flame.unit.clone());
    let rows = sums
        .iter()
        .map(|(name, cost)| BarRow::new(name, 0, exact(*cost)));
    let axis = Axis::new("self cost", flame.unit.clone(), Scale::Linear);
    Bars::whole(axis, rows)
}

/// Returns the quantiles of each heat map as lines over its columns.
pub fn quantile_lines(maps: &HeatMaps) -> Lines {
    let mut lines = Vec::new();
    for map in &maps.maps {
        for &quantile_fraction in quantiles(maps) {
            let columns = (1..).zip(&map.columns);
            let points = columns.filter_map(|(x, column)| {
                let value = quantile(&column.counts, quantile_fraction)?;
                Some((f64::from(x), Quantity::exact(value, maps.axis.unit.clone())))
            });
            lines.push(Line {
                name: match quantiles(maps) {
                    [_] => map.name.clone(),
                    _ => format!("{} {}", map.name, quantile_name(quantile_fraction)),
                },
                color: map.color,
                stroke: Stroke::Measured,
                points: points.collect(),
                band: Band::Hidden,
            });
        }
    }
    let labels = maps.maps.iter().flat_map(|map| &map.columns);
    let labels: Vec<&str> = labels.map(|column| column.label.as_str()).collect();
    let columns = match labels.as_slice() {
        [first, .., last] => format!("{}: {first} to {last}", maps.columns),
        _ => maps.columns.clone(),
    };
    Lines {
        x: Axis::new(columns, Unit::Count("".into()), Scale::LinearFromLeast),
        y: maps.axis.clone(),
        lines,
    }
}

/// Returns the quantiles to list.
///
/// If every column has few values, only the maximum is listed, because the other quantiles would hardly differ from it.
fn quantiles(maps: &HeatMaps) -> &'static [f64] {
    const FEW: u64 = 10;
    let columns = maps.maps.iter().flat_map(|map| &map.columns);
    let mut totals = columns.map(|column| column.counts.iter().map(|(_, n)| n).sum::<u64>());
    if totals.all(|total| total < FEW) {
        &[1.0]
    } else {
        &[0.5, 0.9, 0.99, 1.0]
    }
}

fn distribution(distribution: &Distribution) -> Table {
    let quantiles: &[f64] = match distribution.shares {
        Scale::Percentiles => &[0.5, 0.9, 0.99, 0.999, 1.0],
        Scale::Linear | Scale::LinearFromLeast | Scale::Log => &[0.0, 0.25, 0.5, 0.75, 1.0],
    };
    let unit = &distribution.values.unit;
    let of_values = Unit::Count("values".into());
    let mut columns = vec![Column::from("")];
    columns.extend(quantiles.iter().map(|quantile_fraction| {
        Column::with_unit(quantile_name(*quantile_fraction), unit.clone())
    }));
    columns.push(Column::with_unit("values", of_values.clone()));
    let mut table = Table::new("", columns);
    for line in &distribution.lines {
        let values = quantiles
            .iter()
            .map(|quantile_fraction| quantile(&line.counts, *quantile_fraction));
        let values =
            values.map(|value| Cell::from(value.map(|v| Quantity::exact(v, unit.clone()))));
        let counted = line.counts.iter().map(|(_, count)| *count as f64).sum();
        let counted = Cell::from(Quantity::exact(counted, of_values.clone()));
        table.named_row(line.name.as_str(), values.chain([counted]));
    }
    table
}

/// Formats the name of a quantile: `min`, `p50`, `p99.9`, `max`.
fn quantile_name(quantile_fraction: f64) -> String {
    match quantile_fraction {
        0.0 => "min".into(),
        1.0 => "max".into(),
        quantile_fraction => format!("p{}", (quantile_fraction * 1e6).round() / 1e4),
    }
}

/// Returns the smallest value for which at least the fraction `quantile_fraction` of all values is at or below
/// it.
fn quantile(counts: &[(f64, u64)], quantile_fraction: f64) -> Option<f64> {
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let rank = (total as f64 * quantile_fraction).ceil().max(1.0) as u64;
    let mut cumulative = 0;
    let quantile = counts.iter().find(|(_, count)| {
        cumulative += count;
        cumulative >= rank
    });
    quantile.map(|(value, _)| *value)
}
