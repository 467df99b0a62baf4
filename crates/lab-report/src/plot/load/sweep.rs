// SPDX-License-Identifier: Apache-2.0
//! Half and 99 % of the response times over the number of connections, with their intervals as bands.

use crate::Error;
use crate::load::{LoadView, QUANTILES};
use crate::plot::Plot;
use crate::plot::colour::numbered;
use crate::plot::sweep::{Line, Place, drawing, ends};

/// The median and the 99th percentile.
const SHOWN: [usize; 2] = [0, 3];

/// The plot, if there is a sweep.
pub fn plot(view: &LoadView) -> Result<Option<Plot>, Error> {
    let mut lines: Vec<Line> = Vec::new();
    let common = &view.view;
    let groups = common.scaling_groups();
    for group in groups.iter().filter(|group| group.points.len() > 1) {
        for subject in common.shown() {
            for (name, _, of) in SHOWN.map(|i| QUANTILES[i]) {
                let places = group.points.iter().filter_map(|&point| {
                    let time = of(&view.cell(subject, point)?.response)?;
                    Place::new(common.plan.points[point].x?, &time)
                });
                let name = match common.plan.subjects.len() {
                    1 => name.to_string(),
                    _ => format!("{} {name}", common.name(subject)),
                };
                let line = Line::new(name, numbered(lines.len()), places.collect());
                lines.extend(Some(line).filter(|line| !line.places.is_empty()));
            }
        }
    }
    let sweep = common.plan.cases.iter().find_map(|case| case.sweep.clone());
    let Some(sweep) = sweep.filter(|_| !lines.is_empty()) else {
        return Ok(None);
    };
    let svg = drawing("latency", &lines, &sweep)?;
    let description = format!(
        "Half of the requests served took no longer than p50, 99 % no longer than p99; both axes logarithmic; the \
         bands are intervals. {}",
        ends(&lines, &sweep)
    );
    let title = format!("Response time against {sweep}");
    Ok(Some(Plot::new("latency", title, description, svg)))
}
