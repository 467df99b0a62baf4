// SPDX-License-Identifier: Apache-2.0
//! Throughput over connections: a dot with its interval for each point, and the curve of the Universal
//! Scalability Law where the points follow it.

use super::canvas::{self, Area, Drawn, UNIT, words};
use super::colour::of_subject;
use super::{Plot, name_of, rate_tick, title_of};
use crate::Error;
use crate::content::{LAW, scaling_of, throughput};
use crate::number;
use crate::view::{Group, View, capital};
use lab_model::SubjectId;
use lab_stats::analysis::{Interval, ScalingLaw};
use lab_stats::usl;
use plotters::prelude::*;

const SIZE: (i32, i32) = (680, 420);

/// Points of a curve.
const STEPS: usize = 96;

/// One plot for each group of points that do several operations at once.
pub fn plots(view: &View) -> Result<Vec<Option<Plot>>, Error> {
    let groups = view.scaling_groups();
    groups.iter().map(|group| plot(view, group)).collect()
}

/// A subject's throughputs in the order of the sweep, and their law where they follow it.
struct Line<'a> {
    subject: SubjectId,
    places: Vec<(f64, Interval)>,
    law: Option<&'a ScalingLaw>,
}

fn plot(view: &View, group: &Group) -> Result<Option<Plot>, Error> {
    let lines: Vec<Line> = view
        .shown()
        .into_iter()
        .map(|subject| line(view, group, subject))
        .filter(|line| line.places.len() > 1)
        .collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let label = view.group_label(group);
    let name = name_of(view, &format!("throughput-{label}"));
    let sweep = view.plan.cases[group.case].sweep.as_deref().unwrap_or("n");
    let svg = canvas::draw(&name, SIZE, |area| draw(area, view, &lines, sweep))?;
    let astray: Vec<&str> = lines
        .iter()
        .filter(|line| line.law.is_none())
        .map(|line| view.name(line.subject))
        .collect();
    let astray = match astray.is_empty() {
        true => String::new(),
        false => format!(
            " Thin straight lines: the points of {} do not follow the law.",
            astray.join(", ")
        ),
    };
    let description = format!(
        "{}s per second, from zero; the number of connections is logarithmic; the lines through the dots are \
         intervals. Curves: {LAW}{astray}",
        capital(view.words.operation),
    );
    let what = format!("throughput against {sweep}");
    let title = title_of(view, &view.group_title(group, &what));
    let plot = Plot::new(&name, title, description, svg);
    Ok(Some(plot.of_group(group)))
}

fn line<'a>(view: &View<'a>, group: &Group, subject: SubjectId) -> Line<'a> {
    let places = group.points.iter().filter_map(|&point| {
        let x = view.plan.points[point].x.filter(|x| *x > 0.0)?;
        let rate = throughput(&view.cell(subject, point)?.wall_ns);
        rate.estimate.is_finite().then_some((x, rate))
    });
    let mut places: Vec<(f64, Interval)> = places.collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let law = scaling_of(view, group, subject).and_then(|s| s.law.as_ref());
    Line {
        subject,
        places,
        law: law.filter(|law| !law.departs),
    }
}

fn draw(area: &Area, view: &View, lines: &[Line], sweep: &str) -> Drawn<()> {
    let mut values: Vec<f64> = lines
        .iter()
        .flat_map(|l| l.places.iter().map(|(x, _)| *x))
        .collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (x0, x1) = (values[0], values[values.len() - 1]);
    let rates = lines.iter().flat_map(|l| l.places.iter().map(|(_, r)| r));
    let top = rates.map(upper).fold(f64::MIN_POSITIVE, f64::max) * 1.08;
    let names = lines.iter().map(|l| canvas::width_of(view.name(l.subject)));
    let right = (names.max().unwrap_or(0) + 30).min(SIZE.0 / 3);
    let mut chart = ChartBuilder::on(area)
        .margin_top(10 * UNIT)
        .margin_right(right * UNIT)
        .x_label_area_size(46 * UNIT)
        .y_label_area_size(70 * UNIT)
        .build_cartesian_2d(
            (x0 / 1.08..x1 * 1.08)
                .log_scale()
                .with_key_points(values.clone()),
            0.0..top,
        )
        .map_err(words)?;
    canvas::axes(&mut chart, 7, canvas::tick, rate_tick)?;
    let (width, height) = (SIZE.0 - right, SIZE.1);
    canvas::name_below(area, sweep, (70, width), height)?;
    for line in lines {
        let colour = of_subject(view, line.subject);
        let (path, thick) = match line.law {
            Some(law) => (curve(law, x0, x1), 2),
            None => (dots(line).collect(), 1),
        };
        let style = colour.stroke_width(thick * UNIT as u32);
        chart
            .draw_series(LineSeries::new(path, style))
            .map_err(words)?;
        for (x, rate) in &line.places {
            if number::bounded(rate) {
                let bounds = vec![(*x, rate.low.max(0.0)), (*x, rate.high)];
                let whisker = PathElement::new(bounds, colour.stroke_width(UNIT as u32));
                chart.draw_series([whisker]).map_err(words)?;
            }
        }
        let dots = dots(line).map(|at| Circle::new(at, 3 * UNIT, colour.filled()));
        chart.draw_series(dots).map_err(words)?;
    }
    let ends: Vec<(i32, i32)> = lines
        .iter()
        .filter_map(|line| dots(line).last())
        .map(|last| chart.backend_coord(&last))
        .collect();
    let named = lines.iter().map(|line| line.subject);
    let named = named.map(|s| (view.name(s), of_subject(view, s)));
    let named: Vec<_> = named.collect();
    super::sweep::labels(area, &named, &ends, (width, SIZE.1))
}

fn dots(line: &Line) -> impl Iterator<Item = (f64, f64)> {
    line.places.iter().map(|(x, rate)| (*x, rate.estimate))
}

fn curve(law: &ScalingLaw, from: f64, to: f64) -> Vec<(f64, f64)> {
    let step = |i: usize| from * (to / from).powf(i as f64 / STEPS as f64);
    let [one, contention, coherency] =
        [&law.one, &law.contention, &law.coherency].map(|part| part.estimate);
    let at = |n: f64| (n, usl::throughput(one, contention, coherency, n));
    (0..=STEPS).map(|i| at(step(i))).collect()
}

fn upper(rate: &Interval) -> f64 {
    match number::bounded(rate) {
        true => rate.high,
        false => rate.estimate,
    }
}
