// SPDX-License-Identifier: Apache-2.0
//! The plots of a load run.

mod curve;
mod heat;
mod over_time;
mod ratios;
mod sweep;

pub use curve::{Path, path, percentile};

use super::{Plot, scaling};
use crate::load::{LoadView, Series};
use crate::plot::colour::{numbered, of_subject};
use crate::{Error, File};
use plotters::style::RGBColor;

/// Curves and heat maps beyond this many would not be told apart.
const MANY: usize = 6;

/// All plots that a run supports, in the order in which a report shows them.
pub fn plots(view: &LoadView) -> Result<Vec<Plot>, Error> {
    let series = view.series();
    let mut plots = vec![
        curve::plot(view, &series)?,
        heat::plot(view, &series)?,
        sweep::plot(view)?,
        over_time::plot(view, &series)?,
        ratios::plot(view)?,
    ];
    plots.extend(scaling::plots(&view.view)?);
    Ok(plots.into_iter().flatten().collect())
}

/// The plots as files that stand alone.
pub fn files(view: &LoadView) -> Result<Vec<File>, Error> {
    Ok(plots(view)?.into_iter().map(Plot::alone).collect())
}

/// Those that are shown where not all can be: the first, the last, and some between.
fn some<'s, 'a>(series: &'s [Series<'a>]) -> Vec<&'s Series<'a>> {
    let served: Vec<&Series> = series.iter().filter(|s| s.cell.served > 0).collect();
    if served.len() <= MANY {
        return served;
    }
    let place = |i: usize| i * (served.len() - 1) / (MANY - 1);
    (0..MANY).map(|i| served[place(i)]).collect()
}

/// A server's colour; where points are told apart, the next for each.
fn colour(view: &LoadView, series: &Series, place: usize) -> RGBColor {
    match view.view.plan.points.len() {
        1 => of_subject(&view.view, series.cell.subject),
        _ => numbered(place),
    }
}
