// SPDX-License-Identifier: Apache-2.0
//! Charts as specifications: what is drawn, not how. Six of them serve every kind of run.

use super::{Quantity, Tone};
use lab_model::Unit;
use serde::Serialize;

/// The number of a colour that recedes: of a baseline, or of time spent waiting.
pub const NEUTRAL: usize = 255;

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Small letters, digits and `-`, unique in its document: the name of its file.
    pub id: String,
    /// The title.
    pub title: String,
    /// One sentence that says what is to be seen in it: its alternative text.
    pub caption: String,
    /// The drawing.
    pub drawing: Drawing,
}

/// The drawing of a chart.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawing {
    /// Values over a quantity, one line per series.
    Lines(Lines),
    /// One bar per row, whole or made of parts.
    Bars(Bars),
    /// Intervals beside a reference.
    Forest(Forest),
    /// How many values lie where, column by column: the darker, the more.
    Heat(HeatMaps),
    /// The part of all values that do not exceed a value.
    Distribution(Distribution),
    /// Calls, and each function's fraction of the whole.
    Flame(Flame),
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The title, without the unit.
    pub title: String,
    /// The unit of its values.
    #[serde(serialize_with = "super::unit_name::serialize_unit")]
    pub unit: Unit,
    /// How values become lengths.
    pub scale: Scale,
}

/// How values become lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly, from 0.
    Linear,
    /// Evenly, from the least value.
    LinearFromLeast,
    /// By their logarithms; values of 0 and less are left out.
    Log,
    /// Parts of a whole, spread out towards 1: 0, 0.9, 0.99, 0.999.
    Percentiles,
}

/// Values over a quantity.
#[derive(Clone, Debug, Serialize)]
pub struct Lines {
    /// From left to right.
    pub x: Axis,
    /// From below.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line with a band: the intervals of its points.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name at its end; of several lines with one name only the first is named.
    pub name: String,
    /// Number of its colour: the same for one subject in all charts of a document.
    pub colour: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// x and y, ascending; a value that is not finite breaks the line.
    pub points: Vec<(f64, Quantity)>,
    /// How intervals are drawn.
    pub band: Band,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stroke {
    /// Points joined by lines.
    Measured,
    /// Dashes: a model, not measured.
    Model,
    /// Steps.
    Steps,
}

/// How the intervals of a line are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// As a band.
    Shown,
    /// Not at all.
    Hidden,
}

/// One bar per row.
#[derive(Clone, Debug, Serialize)]
pub struct Bars {
    /// The axis of the bars' lengths.
    pub axis: Axis,
    /// The names of the parts, with the numbers of their colours; empty: bars are whole.
    pub parts: Vec<(String, usize)>,
    /// From above.
    pub rows: Vec<BarRow>,
}

/// A bar.
#[derive(Clone, Debug, Serialize)]
pub struct BarRow {
    /// Its name.
    pub name: String,
    /// The heading of the rows from here on, where it is another one than before; may be empty.
    pub group: String,
    /// Number of its colour, where it is whole.
    pub colour: usize,
    /// Its length, with its interval.
    pub total: Quantity,
    /// The parts, in order.
    pub parts: Vec<BarPart>,
}

/// A part of a bar.
#[derive(Clone, Debug, Serialize)]
pub struct BarPart {
    /// Index into [`Bars::parts`].
    pub part: usize,
    /// Its length.
    pub value: Quantity,
}

/// Intervals beside a reference.
#[derive(Clone, Debug, Serialize)]
pub struct Forest {
    /// The axis of the values.
    pub axis: Axis,
    /// Where the reference stands, such as 1 of a ratio.
    pub reference: f64,
    /// Values within reference × (1 ± margin) count as equivalent, where there is a margin.
    pub margin: Option<f64>,
    /// From above.
    pub groups: Vec<ForestGroup>,
}

/// Rows with a heading.
#[derive(Clone, Debug, Serialize)]
pub struct ForestGroup {
    /// May be empty.
    pub title: String,
    /// From above.
    pub rows: Vec<ForestRow>,
}

/// An interval.
#[derive(Clone, Debug, Serialize)]
pub struct ForestRow {
    /// Whose.
    pub name: String,
    /// Where.
    pub value: Quantity,
    /// The meaning.
    pub tone: Tone,
    /// The label at its end; if empty, the value.
    pub label: String,
}

/// Maps, one below the other on the same axis.
#[derive(Clone, Debug, Serialize)]
pub struct HeatMaps {
    /// The axis of the values, from below.
    pub axis: Axis,
    /// The meaning of the columns, such as `seconds since the start`.
    pub columns: String,
    /// From above.
    pub maps: Vec<HeatMap>,
}

/// A map.
#[derive(Clone, Debug, Serialize)]
pub struct HeatMap {
    /// Its name.
    pub name: String,
    /// Number of its colour.
    pub colour: usize,
    /// From left to right.
    pub columns: Vec<HeatColumn>,
}

/// A column of a map.
#[derive(Clone, Debug, Serialize)]
pub struct HeatColumn {
    /// Below it, where there is room.
    pub label: String,
    /// Values in the axis's unit, ascending, and how many there are of each.
    pub counts: Vec<(f64, u64)>,
}

/// The part of all values that do not exceed a value.
#[derive(Clone, Debug, Serialize)]
pub struct Distribution {
    /// The axis of the values.
    pub values: Axis,
    /// The scale of the fractions: [`Scale::Linear`] or [`Scale::Percentiles`].
    pub shares: Scale,
    /// The lines.
    pub lines: Vec<DistributionLine>,
}

/// A distribution.
#[derive(Clone, Debug, Serialize)]
pub struct DistributionLine {
    /// Its name.
    pub name: String,
    /// Number of its colour.
    pub colour: usize,
    /// Values in the axis's unit, ascending, and how many there are of each.
    pub counts: Vec<(f64, u64)>,
}

/// A flame graph.
#[derive(Clone, Debug, Serialize)]
pub struct Flame {
    /// The unit of the costs.
    #[serde(serialize_with = "super::unit_name::serialize_unit")]
    pub unit: Unit,
    /// Stacks, the outermost function first, each with what it costs by itself.
    pub stacks: Vec<(Vec<String>, u64)>,
}

impl Axis {
    /// An axis.
    pub fn new(title: impl Into<String>, unit: Unit, scale: Scale) -> Axis {
        Axis {
            title: title.into(),
            unit,
            scale,
        }
    }
}

impl Bars {
    /// Bars without parts.
    pub fn whole(axis: Axis, rows: impl IntoIterator<Item = BarRow>) -> Bars {
        Bars {
            axis,
            parts: Vec::new(),
            rows: rows.into_iter().collect(),
        }
    }
}

impl Forest {
    /// Ratios beside 1 in one group without a heading, without a margin.
    pub fn of_ratios(title: &str, scale: Scale, rows: Vec<ForestRow>) -> Forest {
        Forest {
            axis: Axis::new(title, Unit::Ratio, scale),
            reference: 1.0,
            margin: None,
            groups: vec![ForestGroup {
                title: String::new(),
                rows,
            }],
        }
    }
}

impl ForestRow {
    /// A row with its value at its end.
    pub fn new(name: impl Into<String>, value: Quantity, tone: Tone) -> ForestRow {
        ForestRow {
            name: name.into(),
            value,
            tone,
            label: String::new(),
        }
    }
}

impl BarRow {
    /// A whole bar without a heading.
    pub fn new(name: &str, colour: usize, total: Quantity) -> BarRow {
        BarRow {
            name: name.into(),
            group: String::new(),
            colour,
            total,
            parts: Vec::new(),
        }
    }
}
