// SPDX-License-Identifier: Apache-2.0
//! A load run and its analysis, arranged to be read; and what they have in common with those of any run,
//! so that one table and one plot of scaling serve both.

use crate::csv::load as to_csv;
use crate::plot::load as to_files;
use crate::served::{self, ServedView};
use crate::view::View;
use crate::{Error, Format, Rendered, Report, Terminal, html, json, markdown, terminal, xlsx};
use lab_model::{Arrivals, Block, Load, PointId, Run, Slice, SubjectId};
use lab_stats::analysis::{Analysis, Cell, Comparison, Interval, Warning};
use lab_stats::load::analysis::{LoadAnalysis, LoadCell, LoadComparison, Metric, Quantiles};
use lab_stats::{Analysed, analyse_parts};

/// What a report says of a load run.
pub struct LoadView<'a> {
    /// What it has in common with any run: names, host, failures, warnings. The time of its cells is
    /// that for each request served.
    pub view: View<'a>,
    /// What was sent.
    pub load: &'a Load,
    /// What came of it.
    pub analysis: &'a LoadAnalysis,
}

/// A quantile: what it is called, which part of the requests took no longer, and its value.
pub type Quantile = (&'static str, f64, fn(&Quantiles) -> Option<Interval>);

/// All of them but the maximum.
pub const QUANTILES: [Quantile; 6] = [
    ("p50", 0.5, |q| q.p50_ns),
    ("p75", 0.75, |q| q.p75_ns),
    ("p90", 0.9, |q| q.p90_ns),
    ("p99", 0.99, |q| q.p99_ns),
    ("p99.9", 0.999, |q| q.p999_ns),
    ("p99.99", 0.9999, |q| q.p9999_ns),
];

/// The slices of one server at one point, of complete blocks, in the order of time.
pub struct Series<'a> {
    /// What they say.
    pub cell: &'a LoadCell,
    /// Them.
    pub slices: Vec<&'a Slice>,
}

/// Renders a load run.
pub fn render(format: Format, view: &LoadView, terminal: Terminal) -> Result<Rendered, Error> {
    if let Some(served) = ServedView::of(view) {
        return served::render(format, &served, terminal);
    }
    Ok(match format {
        Format::Terminal => Rendered::Text(terminal::load(view, terminal)),
        Format::Markdown => Rendered::Text(markdown::load(view)),
        Format::Csv => Rendered::Text(to_csv::render(view)?),
        Format::Json => Rendered::Text(json::render(view.view.report)?),
        Format::Xml => return Err(Error::NoLoad(Format::Xml)),
        Format::Xlsx => Rendered::Bytes(xlsx::load(view)?),
        Format::Svg => Rendered::Files(to_files::files(view)?),
        Format::Html => Rendered::Text(html::load(view)?),
    })
}

impl<'a> LoadView<'a> {
    /// Of a load run; nothing of another.
    pub fn of(report: &'a Report<'a>) -> Option<LoadView<'a>> {
        let view = View::only(report)?;
        Some(LoadView {
            load: view.plan.load.as_ref()?,
            analysis: report.load.as_ref()?,
            view,
        })
    }

    /// Requests are due at times of their own.
    pub fn open(&self) -> bool {
        self.load.arrivals != Arrivals::Closed
    }

    /// What came of a server's load at a point.
    pub fn cell(&self, subject: SubjectId, point: PointId) -> Option<&'a LoadCell> {
        let mut cells = self.analysis.cells.iter();
        cells.find(|c| (c.subject, c.point) == (subject, point))
    }

    /// The comparison of a server with the baseline at a point, in one respect.
    pub fn comparison(
        &self,
        subject: SubjectId,
        point: PointId,
        metric: Metric,
    ) -> Option<&'a LoadComparison> {
        let mut comparisons = self.analysis.comparisons.iter();
        comparisons.find(|c| (c.subject, c.point, c.metric) == (subject, point, metric))
    }

    /// All slices by server and point, in the order of the cells.
    pub fn series(&self) -> Vec<Series<'a>> {
        let slices = |cell: &LoadCell| {
            let all = self
                .view
                .report
                .run
                .complete_blocks()
                .flat_map(|b| &b.slices);
            all.filter(|s| (s.subject, s.point) == (cell.subject, cell.point))
                .collect()
        };
        let of = |cell| Series {
            cell,
            slices: slices(cell),
        };
        self.analysis.cells.iter().map(of).collect()
    }

    /// A point's parameters: `connections=64 family=4`; behind its case, where that does not go without
    /// saying.
    pub fn point(&self, point: PointId) -> String {
        if !self.view.plan.has_one_case() && point < self.view.plan.points.len() {
            return self.view.plan.label(point);
        }
        let params = self.view.plan.points.get(point).map(|p| &p.params);
        let words = params.into_iter().flatten();
        let words = words.map(|(key, value)| format!("{key}={value}"));
        words.collect::<Vec<_>>().join(" ")
    }

    /// What tells a server at a point from the others of this run: its name, the point, both; the name
    /// where there are no others.
    pub fn label(&self, subject: SubjectId, point: PointId) -> String {
        let name = self.view.name(subject);
        match (self.view.plan.subjects.len(), self.view.plan.points.len()) {
            (_, 1) => name.into(),
            (1, _) => self.point(point),
            _ => format!("{name} {}", self.point(point)),
        }
    }

    /// ` at connections=64`, where there are several points.
    pub fn at(&self, point: PointId) -> String {
        match self.view.plan.points.len() {
            1 => String::new(),
            _ => format!(" at {}", self.point(point)),
        }
    }
}

/// The analysis of a run's parts; of a load run also its own, of which the part holds what it has in
/// common with any run.
pub fn analyse(run: &Run) -> (Vec<Analysed>, Option<LoadAnalysis>) {
    let load = lab_stats::load::load(run);
    let mut parts = match &load {
        // They stay in the run itself, of which there is one part: they can be many.
        Some(_) => analyse_parts(&without_slices(run)),
        None => analyse_parts(run),
    };
    if let (Some(load), [only]) = (&load, parts.as_mut_slice()) {
        only.analysis = in_common(load);
        // One server alone is compared with nothing.
        let compares = run.plan.iter().any(|plan| plan.compared().nth(1).is_some());
        only.analysis.refusals.retain(|_| compares);
    }
    (parts, load)
}

/// A copy, but of what its slices hold.
fn without_slices(run: &Run) -> Run {
    let block = |block: &Block| Block {
        slices: Vec::new(),
        processes: block.processes.clone(),
        resources: block.resources.clone(),
        samples: block.samples.clone(),
        exits: block.exits.clone(),
        latencies: block.latencies.clone(),
        ..*block
    };
    Run {
        name: run.name.clone(),
        lab_version: run.lab_version.clone(),
        plan: run.plan.clone(),
        host: run.host.clone(),
        pilots: run.pilots.clone(),
        blocks: run.blocks.iter().map(block).collect(),
        looks: run.looks.clone(),
        settings: run.settings.clone(),
        failures: run.failures.clone(),
        log: run.log.clone(),
        imports: run.imports.clone(),
        services: run.services.clone(),
        ..*run
    }
}

/// What any run says, of a load run: the typical time is that for each request served, of the wall and of
/// the server's CPU.
fn in_common(load: &LoadAnalysis) -> Analysis {
    let unknown = Interval {
        estimate: f64::NAN,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        level: 0.0,
    };
    let cell = |cell: &LoadCell| {
        let wall_ns = time_of(&cell.served_per_s);
        let cpu_ns = cell.server_cpu_ns.unwrap_or(unknown);
        Cell {
            subject: cell.subject,
            point: cell.point,
            blocks: cell.blocks,
            wall_ns,
            cpu_ns,
            whole_wall_ns: wall_ns,
            whole_cpu_ns: cpu_ns,
            warm_up: None,
            cold_ns: None,
        }
    };
    let cpu = |of: &LoadComparison| {
        let here = |c: &&LoadComparison| {
            (c.subject, c.point, c.metric) == (of.subject, of.point, Metric::ServerCpu)
        };
        load.comparisons.iter().find(here).map(|c| c.ratio)
    };
    let comparison = |c: &LoadComparison| Comparison {
        subject: c.subject,
        point: c.point,
        blocks: c.blocks,
        ratio: c.ratio,
        p: c.p,
        verdict: c.verdict,
        whole_ratio: c.ratio,
        cpu_ratio: cpu(c).unwrap_or(unknown),
        disagree: false,
        merged: false,
    };
    let throughputs = load.comparisons.iter();
    let throughputs = throughputs.filter(|c| c.metric == Metric::Throughput);
    Analysis {
        blocks: load.blocks,
        level: load.level,
        margin: load.margin,
        cells: load.cells.iter().map(cell).collect(),
        comparisons: throughputs.map(comparison).collect(),
        scalings: load.scalings.clone(),
        refusals: load.refusals.clone(),
        warnings: warnings(load, false).cloned().collect(),
        ..Analysis::default()
    }
}

/// Warnings that must stand right beside the figures, for without them the figures mislead; or the
/// others.
pub fn warnings(load: &LoadAnalysis, grave: bool) -> impl Iterator<Item = &Warning> {
    let kinds = ["errors", "saturated", "late", "not-delivered"];
    let is_grave = move |w: &&Warning| kinds.contains(&w.kind.as_str()) == grave;
    load.warnings.iter().filter(is_grave)
}

/// 1 / rate in ns, the bounds changing places.
fn time_of(per_s: &Interval) -> Interval {
    let ns = |rate: f64| {
        if rate > 0.0 {
            1e9 / rate
        } else {
            f64::INFINITY
        }
    };
    Interval {
        estimate: ns(per_s.estimate),
        low: ns(per_s.high),
        high: ns(per_s.low),
        level: per_s.level,
    }
}
