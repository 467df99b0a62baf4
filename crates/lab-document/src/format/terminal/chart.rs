// SPDX-License-Identifier: Apache-2.0
//! Charts drawn with characters. Each subject has one or more lines.

use super::pen::Pen;
use super::table;
use crate::chart::{Span, bar_ends, length_of, reach};
use crate::document::{
    Axis, BarRow, Bars, Chart, Drawing, Forest, ForestRow, HeatColumn, HeatMap, HeatMaps, Line,
    Lines, Precision, Quantity,
};
use crate::format::grid::Grid;
use crate::format::text::{clean, cut, pad, pad_left, wrap};
use crate::format::{quantity, values};
use lab_model::Unit;
use unicode_width::UnicodeWidthStr;

/// Blocks that fill a character in eighths, from the bottom.
const UPWARDS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Blocks that fill a character in eighths, from the left.
const RIGHTWARDS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// The fill characters for the segments of a bar, in order. They distinguish segments even without
/// colors.
const FILLS: [char; 4] = ['█', '▒', '▓', '░'];

/// Draws a chart in lines of at most `width` columns. The caller writes the title and the caption.
pub fn draw(chart: &Chart, width: usize, pen: Pen) -> Vec<String> {
    match &chart.drawing {
        Drawing::Forest(forest) => self::forest(forest, width, pen),
        Drawing::Bars(bars) => self::bars(bars, width, pen),
        Drawing::Lines(lines) => self::lines(lines, None, width, pen),
        Drawing::Heat(maps) => {
            if let Some(rows) = maps.row_values() {
                return heat(maps, &rows, width, pen);
            }
            let mut lines = values::quantile_lines(maps);
            lines.x.title = maps.columns.clone();
            let columns = maps.maps.iter().flat_map(|map| &map.columns);
            let labels: Vec<&str> = columns.map(|column| column.label.as_str()).collect();
            let ends = labels.first().zip(labels.last());
            let ends = ends.map(|(first, last)| [first, last].map(|label| clean(label)));
            self::lines(&lines, ends, width, pen)
        }
        Drawing::Flame(flame) => self::bars(&values::flame_bars(flame), width, pen),
        Drawing::Distribution(_) => table::lines(&Grid::new(&values::table(chart)), width, pen),
    }
}

/// The characters of a heat map, from the smallest to the largest fraction.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// The width of a heat map's column including the gap to the next column, in characters.
const HEAT_COLUMN: usize = 4;

/// The gap between two heat maps, in characters.
const HEAT_GAP: usize = 3;

/// Draws heat maps cell by cell, next to each other if there is room. A darker cell has a larger
/// fraction of its column.
fn heat(maps: &HeatMaps, rows: &[f64], width: usize, pen: Pen) -> Vec<String> {
    let max = rows.last().copied().unwrap_or(0.0);
    let names = rows
        .iter()
        .map(|&row| quantity::tick(row, &maps.axis.unit, max));
    let names: Vec<String> = names.collect();
    let title = clean(&maps.axis.title);
    let named = names
        .iter()
        .map(|name| name.width())
        .chain([title.width()])
        .max();
    let named = named.unwrap_or(0);
    let map_width = |map: &HeatMap| {
        let columns = map.columns.len() * HEAT_COLUMN;
        columns.max(clean(&map.name).width()) + HEAT_GAP
    };
    let mut bands: Vec<Vec<&HeatMap>> = vec![Vec::new()];
    let mut used = named + 1;
    for map in &maps.maps {
        let needed = map_width(map);
        if used + needed > width + HEAT_GAP && bands.last().is_some_and(|band| !band.is_empty()) {
            bands.push(Vec::new());
            used = named + 1;
        }
        used += needed;
        bands.last_mut().expect("there is a band").push(map);
    }
    let band = |maps: &Vec<&HeatMap>| {
        let line = |name: &str, parts: Vec<String>| {
            let parts = parts
                .iter()
                .zip(maps)
                .map(|(part, map)| pad(part, map_width(map)));
            let line = format!("{} {}", pad_left(name, named), parts.collect::<String>());
            line.trim_end().to_owned()
        };
        let titles = maps.iter().map(|map| clean(&map.name)).collect();
        let heads = maps.iter().map(|map| {
            let labels = map
                .columns
                .iter()
                .map(|c| pad(&cut(&clean(&c.label), 3), HEAT_COLUMN));
            labels.collect()
        });
        let mut lines = vec![
            pen.bold(&line("", titles)),
            pen.dim(&line(&title, heads.collect())),
        ];
        for (row, name) in rows.iter().zip(&names) {
            let cells = maps.iter().map(|map| {
                let largest = map
                    .columns
                    .iter()
                    .flat_map(|c| fractions(c).map(|(_, f)| f));
                let largest = largest.fold(0.0, f64::max);
                let cell = |column: &HeatColumn| {
                    let here = fractions(column).find(|(y, _)| y == row);
                    let part = here.map_or(0.0, |(_, f)| f / largest.max(f64::MIN_POSITIVE));
                    let last = SHADES.len() - 1;
                    let shade = SHADES[((part * last as f64).ceil() as usize).min(last)];
                    pad(&shade.to_string().repeat(3), HEAT_COLUMN)
                };
                map.columns.iter().map(cell).collect::<String>()
            });
            lines.push(line(name, cells.collect()));
        }
        lines
    };
    bands.iter().flat_map(band).collect()
}

/// Returns each value of a column with its fraction of all occurrences in the column.
fn fractions(column: &HeatColumn) -> impl Iterator<Item = (f64, f64)> {
    let all: u64 = column.counts.iter().map(|(_, n)| n).sum();
    let counts = column.counts.iter();
    counts.map(move |(y, n)| (*y, *n as f64 / all.max(1) as f64))
}

/// An axis that maps values to character columns.
struct Ruler {
    span: Span,
    columns: usize,
}

impl Ruler {
    /// Creates an axis that covers all values.
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, columns: usize) -> Ruler {
        Ruler {
            span: Span::new(axis, values),
            columns: columns.max(1),
        }
    }

    /// Returns the character column of a value, from 0.
    fn column(&self, value: f64) -> usize {
        let column = (self.span.clamped(value) * self.columns as f64) as usize;
        column.min(self.columns - 1)
    }
}

/// The widths of the three columns of a drawing: name, plot and label, with two spaces between them.
#[derive(Clone, Copy)]
struct Layout {
    name: usize,
    plot: usize,
    label: usize,
}

impl Layout {
    fn new<T: AsRef<str>>(width: usize, names: &[T], labels: &[T]) -> Layout {
        let widest = |texts: &[T]| texts.iter().map(|text| text.as_ref().width()).max();
        let name = widest(names).unwrap_or(0).min(width * 3 / 10);
        let label = widest(labels).unwrap_or(0).min(width * 2 / 5);
        Layout {
            name,
            plot: width.saturating_sub(name + label + 4).max(8),
            label,
        }
    }

    /// Formats the lines of a row. `plot` must be as wide as the plot column, not counting escape sequences.
    fn lines(self, name: &str, plot: &str, label: &str) -> Vec<String> {
        self.styled(name, plot, &cut(label, self.label))
    }

    /// Formats the lines of a row whose label is already truncated to its column.
    ///
    /// If a name is wider than its column, it is written on a line above the plot.
    fn styled(self, name: &str, plot: &str, label: &str) -> Vec<String> {
        let (above, name) = if name.width() > self.name {
            let indent = name.len() - name.trim_start().len();
            let all = self.name + self.plot + self.label + 4;
            let lines = wrap(name, all - indent).into_iter();
            let lines = lines.map(|line| " ".repeat(indent) + &line);
            (lines.collect(), "")
        } else {
            (Vec::new(), name)
        };
        let name = pad(name, self.name);
        let line = format!("{name}  {plot}  {label}").trim_end().to_owned();
        [above, vec![line]].concat()
    }

    /// Formats the axis line. Labels never overlap.
    ///
    /// The label of the reference takes precedence over all others.
    fn axis(self, ruler: &Ruler, reference: Option<f64>, pen: Pen) -> String {
        let mut cells = vec![' '; self.plot];
        let reference: Vec<f64> = reference.into_iter().collect();
        let reference_ticks = ruler.span.ticks_at(&reference).into_iter();
        for (part, word) in reference_ticks.chain(ruler.span.ticks()) {
            let length = word.chars().count();
            let middle = (part * self.plot as f64) as usize;
            let max = self.plot.saturating_sub(length);
            let start = middle.saturating_sub(length / 2).min(max);
            let room = start.saturating_sub(1)..(start + length + 1).min(self.plot);
            if length <= self.plot && cells[room].iter().all(|c| *c == ' ') {
                cells.splice(start..start + length, word.chars());
            }
        }
        let cells: String = cells.into_iter().collect();
        let line = format!("{}  {cells}", " ".repeat(self.name));
        pen.dim(line.trim_end())
    }
}

fn indent_name(name: &str, in_group: bool) -> String {
    let indent = if in_group { "  " } else { "" };
    indent.to_owned() + &clean(name)
}

/// Returns true if a quantity is an estimate whose interval is unknown.
fn is_unknown(quantity: &Quantity) -> bool {
    quantity.bounds().is_none() && quantity.precision != Precision::Exact
}

fn forest(forest: &Forest, width: usize, pen: Pen) -> Vec<String> {
    let rows = || forest.groups.iter().flat_map(|group| &group.rows);
    let names = forest.groups.iter().flat_map(|group| {
        let rows = group.rows.iter();
        rows.map(|row| indent_name(&row.name, !group.title.is_empty()))
    });
    let names: Vec<String> = names.collect();
    let label = |row: &ForestRow| match row.label.as_str() {
        "" => quantity::label(&row.value),
        label => clean(label),
    };
    let labels: Vec<String> = rows().map(label).collect();
    let layout = Layout::new(width, &names, &labels);
    let values = rows().flat_map(|row| reach(&row.value, forest.axis.scale));
    let values = values.chain([forest.reference]);
    let ruler = Ruler::new(&forest.axis, values, layout.plot);
    let mut key = String::from("● estimate");
    if rows().any(|row| row.value.bounds().is_some()) {
        key += "   ├─┤ interval";
    }
    if rows().any(|row| is_unknown(&row.value)) {
        key += "   ○ no interval";
    }
    let reference = quantity::tick(forest.reference, &forest.axis.unit, forest.reference);
    key += &format!("   │ {reference}");
    if let Some(margin) = forest.margin {
        key += &format!(", equivalent within ±{}", quantity::level(margin));
    }
    let axis = layout.axis(&ruler, Some(forest.reference), pen);
    let mut lines = vec![pen.dim(&cut(&key, width)), axis];
    let mut texts = names.iter().zip(&labels);
    for group in &forest.groups {
        let title = cut(&clean(&group.title), width);
        if !group.rows.is_empty() && !title.is_empty() {
            lines.push(pen.bold(&title));
        }
        for (row, (name, label)) in group.rows.iter().zip(&mut texts) {
            let plot = interval(row, &ruler, forest.reference, pen);
            let label = pen.paint(&cut(label, layout.label), row.tone);
            lines.extend(layout.styled(name, &plot, &label));
        }
    }
    lines
}

/// Draws one row of a forest plot.
fn interval(row: &ForestRow, ruler: &Ruler, reference: f64, pen: Pen) -> String {
    let mut cells = vec![' '; ruler.columns];
    cells[ruler.column(reference)] = '│';
    let value = &row.value;
    if let Some((low, high)) = value.bounds() {
        let (first, last) = (ruler.column(low), ruler.column(high));
        if first + 1 < last {
            cells[first..=last].fill('─');
            cells[first] = if ruler.span.is_below(low) {
                '◂'
            } else {
                '├'
            };
            cells[last] = if ruler.span.is_above(high) {
                '▸'
            } else {
                '┤'
            };
        }
    }
    if value.value.is_finite() {
        cells[ruler.column(value.value)] = if is_unknown(value) { '○' } else { '●' };
    }
    let is_drawn = |c: &char| !matches!(c, ' ' | '│');
    let begin = cells.iter().position(is_drawn).unwrap_or(0);
    let end = cells
        .iter()
        .rposition(is_drawn)
        .map_or(begin, |last| last + 1);
    let text = |cells: &[char]| cells.iter().collect::<String>();
    pen.dim(&text(&cells[..begin]))
        + &pen.paint(&text(&cells[begin..end]), row.tone)
        + &pen.dim(&text(&cells[end..]))
}

fn bars(bars: &Bars, width: usize, pen: Pen) -> Vec<String> {
    let grouped = bars.rows.iter().any(|row| !row.group.is_empty());
    let names = bars.rows.iter().map(|row| indent_name(&row.name, grouped));
    let labels = bars.rows.iter().map(|row| quantity::label(&row.total));
    let (names, labels): (Vec<String>, Vec<String>) = (names.collect(), labels.collect());
    let layout = Layout::new(width, &names, &labels);
    let ends = bars
        .rows
        .iter()
        .flat_map(|row| bar_ends(row, bars.axis.scale));
    let ruler = Ruler::new(&bars.axis, ends, layout.plot);
    let parts = bars.parts.iter().enumerate();
    let parts = parts.map(|(i, (name, _))| format!("{} {}", FILLS[i % FILLS.len()], clean(name)));
    let key = match parts.collect::<Vec<_>>().join("   ") {
        parts if !parts.is_empty() => Some(parts),
        _ if bars.rows.iter().any(|row| uncertain(row, &ruler).is_some()) => {
            Some("█ value   ░ within its interval".into())
        }
        _ => None,
    };
    let key = key.map(|key| pen.dim(&cut(&key, width)));
    let axis = layout.axis(&ruler, None, pen);
    let mut lines: Vec<String> = key.into_iter().chain([axis]).collect();
    let mut group = String::new();
    for ((row, name), label) in bars.rows.iter().zip(&names).zip(&labels) {
        let title = cut(&clean(&row.group), width);
        if !title.is_empty() && title != group {
            lines.push(pen.bold(&title));
            group = title;
        }
        let plot = if row.parts.is_empty() {
            whole_bar(row, &ruler)
        } else {
            parted_bar(row, bars, &ruler, pen)
        };
        lines.extend(layout.lines(name, &plot, label));
    }
    lines
}

/// Returns the character columns of an interval. Returns `None` if the interval is too narrow to be
/// visible.
fn uncertain(row: &BarRow, ruler: &Ruler) -> Option<(usize, usize)> {
    let (low, high) = row.total.bounds()?;
    let (low, high) = (ruler.column(low), ruler.column(high));
    (row.parts.is_empty() && high > low + 1).then_some((low, high))
}

/// Returns true if a bar's interval continues beyond the axis.
fn is_cut_off(row: &BarRow, ruler: &Ruler) -> bool {
    let bounds = row.total.bounds();
    bounds.is_some_and(|(_, high)| ruler.span.is_above(high))
}

fn whole_bar(row: &BarRow, ruler: &Ruler) -> String {
    let bar = match uncertain(row, ruler) {
        Some((low, high)) if is_cut_off(row, ruler) => {
            "█".repeat(low) + &"░".repeat(high - low) + "▸"
        }
        Some((low, high)) => "█".repeat(low) + &"░".repeat(high + 1 - low),
        None => {
            let length = ruler.span.clamped(row.total.value) * ruler.columns as f64 * 8.0;
            let min = usize::from(row.total.value > 0.0);
            let eighths = (length.round() as usize).max(min);
            let rest = RIGHTWARDS[eighths % 8];
            "█".repeat(eighths / 8) + rest.to_string().trim_end()
        }
    };
    pad(&bar, ruler.columns)
}

fn parted_bar(row: &BarRow, bars: &Bars, ruler: &Ruler, pen: Pen) -> String {
    let (mut plot, mut used, mut length) = (String::new(), 0, 0.0);
    for part in &row.parts {
        length += length_of(part);
        let end = (ruler.span.clamped(length) * ruler.columns as f64).round() as usize;
        let fill = FILLS[part.part % FILLS.len()].to_string();
        let color = bars.parts.get(part.part).map_or(part.part, |part| part.1);
        plot += &pen.part(&fill.repeat(end.saturating_sub(used)), color);
        used = end.max(used);
    }
    plot + &" ".repeat(ruler.columns.saturating_sub(used))
}

/// The maximum width of the horizontal axis's title, in columns. It leaves enough room for
/// `instructions`.
const TITLE: usize = 14;

/// Draws a line chart. If the ends of the horizontal axis are not numbers, `ends` contains their
/// labels.
fn lines(lines: &Lines, ends: Option<[String; 2]>, width: usize, pen: Pen) -> Vec<String> {
    let listed = values::listed(lines);
    let names: Vec<String> = listed.iter().map(|line| clean(&line.name)).collect();
    let labels: Vec<String> = listed.iter().map(|line| from_to(line)).collect();
    let title = clean(&lines.x.title);
    let layout = Layout::new(
        width,
        &names,
        &[&labels[..], &[cut(&title, TITLE)]].concat(),
    );
    let points = listed.iter().flat_map(|line| &line.points);
    let reached = points.flat_map(|(_, y)| reach(y, lines.y.scale));
    let ruler = Ruler::new(&lines.y, reached, UPWARDS.len());
    let x_values = values::x_values(&listed, layout.plot);
    let across = (layout.plot / x_values.len().max(1)).clamp(1, 6);
    let [low, high] = [0.0, 1.0].map(|part| {
        let end = Quantity::exact(ruler.span.value(part), lines.y.unit.clone());
        quantity::short(&end)
    });
    let counted = match &lines.y.unit {
        Unit::Count(name) | Unit::PerSecond(name) => format!(", {name}"),
        Unit::Nanoseconds | Unit::Bytes | Unit::Share | Unit::Ratio => String::new(),
    };
    let heights = format!("{}{counted}: ▁ {low} to █ {high}", lines.y.title);
    let x = |at: f64| quantity::tick(at, &lines.x.unit, at);
    let [first, last] = ends.unwrap_or_else(|| {
        [x_values.first(), x_values.last()].map(|at| at.map_or(String::new(), |at| x(*at)))
    });
    let wide = (x_values.len() * across).saturating_sub(first.width());
    let indent = " ".repeat(layout.name);
    let axis = format!("{indent}  {first}{last:>wide$}  {title}");
    let rows = listed.iter().zip(names.iter().zip(&labels));
    let rows = rows.flat_map(|(line, (name, label))| {
        let height = |x: &f64| height(line, *x, &ruler).to_string().repeat(across);
        let bars: String = x_values.iter().map(height).collect();
        layout.lines(name, &pad(&bars, layout.plot), label)
    });
    let head = [clean(&heights), axis].map(|line| pen.dim(&cut(&line, width)));
    head.into_iter().chain(rows).collect()
}

fn height(line: &Line, x: f64, ruler: &Ruler) -> char {
    let value = values::value_at(line, x).map(|value| value.value);
    let value = value.filter(|value| ruler.span.position(*value).is_some());
    value.map_or('·', |value| UPWARDS[ruler.column(value)])
}

fn from_to(line: &Line) -> String {
    let text = |(_, value): &(f64, Quantity)| quantity::short(value);
    match line.points.as_slice() {
        [] => String::new(),
        [only] => text(only),
        [first, .., last] => format!("{} → {}", text(first), text(last)),
    }
}
