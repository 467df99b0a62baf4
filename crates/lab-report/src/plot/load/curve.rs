// SPDX-License-Identifier: Apache-2.0
//! Latency by percentile, on the scale of HdrHistogram's plots: each step to the right is ten times
//! rarer. A line for each server and point, dashed for the service time, with the intervals of the main
//! percentiles.

use super::{colour, some};
use crate::Error;
use crate::content::load::merged;
use crate::load::{LoadView, QUANTILES, Series};
use crate::number;
use crate::plot::canvas::{self, Area, Drawn, UNIT, words};
use crate::plot::{Plot, plain_time};
use plotters::prelude::*;

const SIZE: (i32, i32) = (760, 420);
const LEFT: i32 = 70;

/// A point is left out if it lies nearer than this part to the last in both directions.
const NEAR: f64 = 0.01;

/// A line's points: 1 / (1 - part), and the time in ns.
pub type Path = Vec<(f64, f64)>;

struct Curve {
    name: String,
    colour: RGBColor,
    response: Path,
    service: Path,
    /// Place, low and high.
    intervals: Vec<(f64, f64, f64)>,
}

/// The plot, if anything was served.
pub fn plot(view: &LoadView, series: &[Series]) -> Result<Option<Plot>, Error> {
    let some = some(series);
    let curves: Vec<Curve> = some
        .iter()
        .enumerate()
        .map(|(i, s)| curve(view, s, i))
        .collect();
    let curves: Vec<Curve> = curves
        .into_iter()
        .filter(|c| !c.response.is_empty())
        .collect();
    if curves.is_empty() {
        return Ok(None);
    }
    let svg = canvas::draw("percentiles", SIZE, |area| draw(area, &curves))?;
    let service = match view.open() {
        true => {
            " Dashed: the service time, from the sending of a request; what lies between the two is waiting."
        }
        false => "",
    };
    let description = format!(
        "Response time by percentile of the requests served; each step to the right is ten times rarer; time is \
         logarithmic. Vertical lines are intervals.{service}"
    );
    let title = "Response time by percentile".to_string();
    Ok(Some(Plot::new("percentiles", title, description, svg)))
}

fn curve(view: &LoadView, series: &Series, place: usize) -> Curve {
    let intervals = QUANTILES.iter().filter_map(|(_, part, of)| {
        let time = of(&series.cell.response).filter(number::bounded)?;
        Some((1.0 / (1.0 - part), time.low, time.high))
    });
    let path = |of: fn(&lab_model::Slice) -> &lab_model::Counts| {
        path(&merged(series.slices.iter().map(|slice| of(slice))))
    };
    Curve {
        name: name(view, series),
        colour: colour(view, series, place),
        response: path(|s| &s.response),
        service: match view.open() {
            true => path(|s| &s.service),
            false => Vec::new(),
        },
        intervals: intervals.collect(),
    }
}

/// In few words: there is no room for the parameters' names.
fn name(view: &LoadView, series: &Series) -> String {
    let common = &view.view;
    let who = (common.plan.subjects.len() > 1 || common.plan.points.len() == 1)
        .then(|| common.name(series.cell.subject).to_string());
    let params = common.plan.points.get(series.cell.point).map(|p| &p.params);
    let params = params
        .into_iter()
        .flatten()
        .filter(|_| common.plan.points.len() > 1);
    let params = params.map(|(key, value)| match key.as_str() {
        "connections" => format!("{value} conn."),
        _ => format!("{key}={value}"),
    });
    who.into_iter().chain(params).collect::<Vec<_>>().join(" ")
}

/// Steps: a value holds from the part of those below it to the part of those up to it.
pub fn path(counts: &[(u64, u64)]) -> Path {
    let total: f64 = counts.iter().map(|(_, n)| *n as f64).sum();
    let mut path: Path = Vec::new();
    let mut below = 0.0;
    for (value, count) in counts {
        let value = (*value).max(1) as f64;
        let from = total / (total - below);
        below += *count as f64;
        // The greatest has no end: it is drawn as one in all.
        let to = total / (total - below).max(1.0);
        for at in [(from, value), (to, value)] {
            let far = path
                .last()
                .is_none_or(|last| (at.0 / last.0).ln() > NEAR || (at.1 / last.1).ln() > NEAR);
            if far {
                path.push(at);
            }
        }
    }
    path
}

fn draw(area: &Area, curves: &[Curve]) -> Drawn<()> {
    let all = || {
        curves
            .iter()
            .flat_map(|c| c.response.iter().chain(&c.service))
    };
    let right = all().map(|p| p.0).fold(10.0, f64::max);
    let bounds = || {
        let intervals = curves.iter().flat_map(|c| &c.intervals);
        all()
            .map(|p| p.1)
            .chain(intervals.flat_map(|(_, low, high)| [*low, *high]))
    };
    let low = bounds().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min) / 1.15;
    let high = bounds().fold(low * 2.0, f64::max) * 1.15;
    let places: Vec<f64> = [1.0, 2.0, 4.0]
        .into_iter()
        .chain((1..10).map(|e| 10f64.powi(e)))
        .filter(|x| *x <= right)
        .collect();
    let mut chart = ChartBuilder::on(area)
        .margin_top(34 * UNIT)
        .margin_right(28 * UNIT)
        .x_label_area_size(46 * UNIT)
        .y_label_area_size(LEFT * UNIT)
        .build_cartesian_2d(
            (1.0..right).log_scale().with_key_points(places),
            (low..high)
                .log_scale()
                .with_key_points(canvas::log_ticks(low, high)),
        )
        .map_err(words)?;
    canvas::axes(&mut chart, 10, percentile, plain_time)?;
    for curve in curves {
        let thick = curve.colour.stroke_width(2 * UNIT as u32);
        let line = LineSeries::new(curve.response.iter().copied(), thick);
        chart.draw_series(line).map_err(words)?;
        let thin = curve.colour.stroke_width(UNIT as u32);
        if !curve.service.is_empty() {
            let dashes =
                DashedLineSeries::new(curve.service.iter().copied(), 5 * UNIT, 4 * UNIT, thin);
            chart.draw_series(dashes).map_err(words)?;
        }
        for &(x, low, high) in curve.intervals.iter().filter(|(x, ..)| *x <= right) {
            let whisker = PathElement::new(vec![(x, low.max(1.0)), (x, high)], thin);
            chart.draw_series([whisker]).map_err(words)?;
        }
    }
    let names: Vec<_> = curves.iter().map(|c| (c.name.clone(), c.colour)).collect();
    canvas::legend(area, &names, LEFT + 8)?;
    let below = "part of the requests served that took no longer";
    canvas::name_below(area, below, (LEFT, SIZE.0), SIZE.1)
}

/// `99.9 %` for 1000.
pub fn percentile(x: f64) -> String {
    let decimals = (x.log10().round() as usize).saturating_sub(2);
    format!("{:.decimals$} %", 100.0 * (1.0 - 1.0 / x))
}
