// SPDX-License-Identifier: Apache-2.0
//! Servers against the baseline: what a request costs in each case and over all, and what they hold.

use crate::content::served::ranked;
use crate::plot::Plot;
use crate::plot::colour::{INK, numbered};
use crate::plot::forest::{self, Forest, ForestRow, Mark};
use crate::served::ServedView;
use crate::{Error, number};
use lab_model::SubjectId;
use lab_stats::analysis::Interval;

/// CPU time of a request: a row for each server, a dot for each case.
pub fn costs(view: &ServedView) -> Result<Option<Plot>, Error> {
    let keep_alive = view.usual();
    let cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    let several = cases.len() > 1;
    let lanes: Vec<Option<usize>> = cases.into_iter().chain(several.then_some(None)).collect();
    let rows = others(view).into_iter().map(|subject| {
        let marks = lanes.iter().enumerate().filter_map(|(lane, &case)| {
            let overall = view.overall(subject, case, keep_alive)?;
            mark(lane, &overall.ratio)
        });
        ForestRow {
            label: view.name(subject),
            marks: marks.collect(),
        }
    });
    let rows: Vec<ForestRow> = rows.filter(|row| !row.marks.is_empty()).collect();
    let baseline = view.common().baseline();
    let lane = |(i, &case): (usize, &Option<usize>)| {
        let colour = case.map_or(INK, |_| numbered(i));
        (view.case_name(case).to_string(), colour)
    };
    forest::plot(Forest {
        name: "costs".into(),
        title: format!("CPU time of a request / {baseline}'s"),
        description: format!(
            "Geometric means over {}{}, logarithmic; lines are intervals, simultaneous over the servers; the band is \
             the margin of {}. Left is less CPU time, and more requests per CPU second.",
            view.connections(None, keep_alive),
            if keep_alive { " kept alive" } else { "" },
            number::level(view.load.analysis.margin),
        ),
        axis: format!("CPU time of a request / that of {baseline}"),
        margin: view.load.analysis.margin,
        lanes: lanes.iter().enumerate().map(lane).collect(),
        rows,
    })
}

/// Resident memory after the load: a row for each server.
pub fn memory(view: &ServedView) -> Result<Option<Plot>, Error> {
    let baseline = view.common().baseline();
    let most = view.load.analysis.footprints.iter().map(|f| f.connections);
    let most = most.max().unwrap_or(0);
    let rows = others(view).into_iter().filter_map(|subject| {
        let ratio = view.footprint(subject)?.ratio?;
        Some(ForestRow {
            label: view.name(subject),
            marks: vec![mark(0, &ratio)?],
        })
    });
    let mut rows: Vec<ForestRow> = rows.collect();
    let ratio = |row: &ForestRow| row.marks[0].interval.estimate;
    rows.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let name = format!("after {most} connections");
    forest::plot(Forest {
        name: "memory".into(),
        title: format!("Resident memory / {baseline}'s"),
        description: format!(
            "After the load over {most} connections, logarithmic; lines are intervals, simultaneous over the servers; \
             the band is the margin of {}. Left is less.",
            number::level(view.load.analysis.margin),
        ),
        axis: format!("memory / that of {baseline}"),
        margin: view.load.analysis.margin,
        lanes: vec![(name, numbered(0))],
        rows,
    })
}

fn others(view: &ServedView) -> Vec<SubjectId> {
    let baseline = view.common().plan.baseline;
    ranked(view)
        .into_iter()
        .filter(|&s| s != baseline)
        .collect()
}

fn mark(lane: usize, ratio: &Interval) -> Option<Mark> {
    (ratio.estimate > 0.0 && ratio.estimate.is_finite()).then_some(Mark {
        lane,
        interval: *ratio,
    })
}
