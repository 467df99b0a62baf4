// SPDX-License-Identifier: Apache-2.0
//! Chart specifications, independent of the output format.
//!
//! All kinds of runs use these six kinds of charts.

use super::{Quantity, Tone};
use lab_model::Unit;
use serde::Serialize;

/// The color index for muted elements, such as a baseline or time spent waiting.
pub const NEUTRAL: usize = 255;

/// A chart with its title and its caption.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// The ID, which is unique in the document and serves as the file name. It consists of
    /// lowercase letters, digits and `-`.
    pub id: String,
    /// The title above the chart.
    pub title: String,
    /// A sentence that describes the chart. It is also the chart's alternative text.
    pub caption: String,
    /// The kind of chart and its data.
    pub drawing: Drawing,
}

/// The kind of a chart, with its data.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawing {
    /// A line chart: values against a quantity, with one line per series.
    Lines(Lines),
    /// A bar chart with one bar per row, plain or stacked.
    Bars(Bars),
    /// A forest plot: intervals compared with a reference value.
    Forest(Forest),
    /// Heat maps: one distribution per column. A darker cell contains more values.
    Heat(HeatMaps),
    /// Cumulative distributions: for each value, the fraction of values at or below it.
    Distribution(Distribution),
    /// A flame graph: call stacks, and each function's fraction of the total cost.
    Flame(Flame),
}

/// An axis of a chart, with its title, unit and scale.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The title without the unit.
    pub title: String,
    /// The unit of the values.
    #[serde(serialize_with = "super::unit_name::serialize_unit")]
    pub unit: Unit,
    /// The mapping of values to positions on the axis.
    pub scale: Scale,
}

/// The mapping of values to positions on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Linear, starting at 0.
    Linear,
    /// Linear, starting at the minimum value.
    LinearFromLeast,
    /// Logarithmic. Values of 0 or less are omitted.
    Log,
    /// Fractions of a whole, spread out toward 1: 0, 0.9, 0.99, 0.999.
    Percentiles,
}

/// A line chart: values against a quantity.
#[derive(Clone, Debug, Serialize)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub lines: Vec<Line>,
}

/// A line with a band that shows the intervals of its points.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The name at the end of the line. Among lines with the same name, only the first is labeled.
    pub name: String,
    /// The color index. A subject has the same color in all charts of a document.
    pub color: usize,
    /// The style of the line.
    pub stroke: Stroke,
    /// The points as x and y, in ascending order of x. A value that is not finite breaks the line.
    pub points: Vec<(f64, Quantity)>,
    /// The visibility of the intervals.
    pub band: Band,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stroke {
    /// Points joined by straight lines.
    Measured,
    /// A dashed line, for a model rather than measured values.
    Model,
    /// A step function.
    Steps,
}

/// The visibility of a line's intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// Intervals are drawn as a band.
    Shown,
    /// Intervals are not drawn.
    Hidden,
}

/// A bar chart with one bar per row.
#[derive(Clone, Debug, Serialize)]
pub struct Bars {
    /// The axis of the bars' lengths.
    pub axis: Axis,
    /// The names and color indexes of the segments. Empty if the bars are not stacked.
    pub parts: Vec<(String, usize)>,
    /// The rows, from top to bottom.
    pub rows: Vec<BarRow>,
}

/// A bar of a bar chart.
#[derive(Clone, Debug, Serialize)]
pub struct BarRow {
    /// The name of the row.
    pub name: String,
    /// The heading above this row if it is the first row of a group, otherwise empty.
    pub group: String,
    /// The color index, if the bar is not stacked.
    pub color: usize,
    /// The bar's length, with its interval.
    pub total: Quantity,
    /// The segments, in order.
    pub parts: Vec<BarPart>,
}

/// A segment of a bar.
#[derive(Clone, Debug, Serialize)]
pub struct BarPart {
    /// Index into [`Bars::parts`].
    pub part: usize,
    /// The segment's length.
    pub value: Quantity,
}

/// A forest plot: intervals compared with a reference value.
#[derive(Clone, Debug, Serialize)]
pub struct Forest {
    /// The axis of the values.
    pub axis: Axis,
    /// The reference value, such as 1 for a ratio.
    pub reference: f64,
    /// The equivalence margin: values within reference × (1 ± margin) are equivalent. `None` if the
    /// plot has no margin.
    pub margin: Option<f64>,
    /// The groups, from top to bottom.
    pub groups: Vec<ForestGroup>,
}

/// A group of rows with a heading.
#[derive(Clone, Debug, Serialize)]
pub struct ForestGroup {
    /// The heading, which may be empty.
    pub title: String,
    /// The rows, from top to bottom.
    pub rows: Vec<ForestRow>,
}

/// An interval in a forest plot.
#[derive(Clone, Debug, Serialize)]
pub struct ForestRow {
    /// The row's name.
    pub name: String,
    /// The estimate with its interval.
    pub value: Quantity,
    /// The tone of the verdict, shown as a color.
    pub tone: Tone,
    /// The label at the end of the row. If it is empty, the row is labeled with its value.
    pub label: String,
}

/// Heat maps, one below the other, with a common value axis.
#[derive(Clone, Debug, Serialize)]
pub struct HeatMaps {
    /// The value axis, which is vertical.
    pub axis: Axis,
    /// The meaning of the columns, such as `seconds since the start`.
    pub columns: String,
    /// The maps, from top to bottom.
    pub maps: Vec<HeatMap>,
}

/// A heat map of one subject.
#[derive(Clone, Debug, Serialize)]
pub struct HeatMap {
    /// The name of the map, such as a subject.
    pub name: String,
    /// The color index.
    pub color: usize,
    /// The unit of the numbers in the cells, such as requests.
    #[serde(serialize_with = "super::unit_name::serialize_unit")]
    pub unit: Unit,
    /// The columns, from left to right.
    pub columns: Vec<HeatColumn>,
}

/// A column of a heat map, with the distribution of its values.
#[derive(Clone, Debug, Serialize)]
pub struct HeatColumn {
    /// The label below the column. It is drawn only if there is room.
    pub label: String,
    /// Pairs of a value in the axis's unit and its number of occurrences, in ascending order of
    /// values.
    pub counts: Vec<(f64, u64)>,
}

/// Cumulative distributions: for each value, the fraction of values at or below it.
#[derive(Clone, Debug, Serialize)]
pub struct Distribution {
    /// The axis of the values.
    pub values: Axis,
    /// The scale of the cumulative fractions: [`Scale::Linear`] or [`Scale::Percentiles`].
    pub shares: Scale,
    /// The distributions, in the order of the legend.
    pub lines: Vec<DistributionLine>,
}

/// The distribution of one subject's values.
#[derive(Clone, Debug, Serialize)]
pub struct DistributionLine {
    /// The name in the legend.
    pub name: String,
    /// The color index.
    pub color: usize,
    /// Pairs of a value in the axis's unit and its number of occurrences, in ascending order of
    /// values.
    pub counts: Vec<(f64, u64)>,
}

/// A flame graph.
#[derive(Clone, Debug, Serialize)]
pub struct Flame {
    /// The unit of the costs.
    #[serde(serialize_with = "super::unit_name::serialize_unit")]
    pub unit: Unit,
    /// Call stacks, each with the self cost of its innermost function. The outermost function comes
    /// first.
    pub stacks: Vec<(Vec<String>, u64)>,
}

impl Axis {
    /// Creates an axis.
    pub fn new(title: impl Into<String>, unit: Unit, scale: Scale) -> Axis {
        Axis {
            title: title.into(),
            unit,
            scale,
        }
    }
}

impl Bars {
    /// Creates bars that are not stacked.
    pub fn whole(axis: Axis, rows: impl IntoIterator<Item = BarRow>) -> Bars {
        Bars {
            axis,
            parts: Vec::new(),
            rows: rows.into_iter().collect(),
        }
    }
}

impl Forest {
    /// Creates a forest plot of ratios compared with 1. It has one group without a heading, and no
    /// margin.
    pub fn from_ratios(title: &str, scale: Scale, rows: Vec<ForestRow>) -> Forest {
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

impl HeatMaps {
    /// The maximum numbers of columns and of rows of heat maps with a row for each value.
    const MAX_CELLS: (usize, usize) = (31, 31);

    /// Returns the values of the rows in ascending order if the heat maps have a row for each value,
    /// such as each hour of a day. Returns `None` for distributions of times, and if there are too
    /// many cells.
    ///
    /// Rows of whole numbers have no gaps.
    pub fn row_values(&self) -> Option<Vec<f64>> {
        let (max_columns, max_rows) = HeatMaps::MAX_CELLS;
        let has_room = self.maps.iter().all(|map| map.columns.len() <= max_columns);
        if self.axis.unit == Unit::Nanoseconds || !has_room {
            return None;
        }
        let columns = self.maps.iter().flat_map(|map| &map.columns);
        let counts = columns.flat_map(|column| &column.counts);
        let mut values: Vec<f64> = counts.map(|(value, _)| *value).collect();
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (first, last) = (values[0], values[values.len() - 1]);
        let is_whole = values.iter().all(|value| value.fract() == 0.0);
        if is_whole && last - first < max_rows as f64 {
            values = (0..=(last - first) as u32)
                .map(|row| first + f64::from(row))
                .collect();
        }
        (values.len() <= max_rows).then_some(values)
    }
}

impl HeatColumn {
    /// Returns the number of occurrences of a value.
    pub fn count_of(&self, value: f64) -> Option<u64> {
        let count = self.counts.iter().find(|(other, _)| *other == value);
        count.map(|(_, count)| *count)
    }
}

impl ForestRow {
    /// Creates a row whose label is its value.
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
    /// Creates a bar without segments or a heading.
    pub fn new(name: &str, color: usize, total: Quantity) -> BarRow {
        BarRow {
            name: name.into(),
            group: String::new(),
            color,
            total,
            parts: Vec::new(),
        }
    }
}
