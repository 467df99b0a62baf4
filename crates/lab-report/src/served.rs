// SPDX-License-Identifier: Apache-2.0
//! A run of servers that the lab started, arranged to be read: many servers, several cases, closed and open
//! points.

use crate::csv::load as to_csv;
use crate::load::LoadView;
use crate::plot::served as to_files;
use crate::view::{Group, View};
use crate::{Error, Format, Rendered, Terminal, html, json, markdown, terminal, xlsx};
use lab_model::{PointId, Serving, SubjectId};
use lab_stats::analysis::Interval;
use lab_stats::load::analysis::{
    LoadCell, LoadControl, LoadOverall, Metric, Reconnect, ServerFootprint,
};

/// What a report says of servers that the lab started.
pub struct ServedView<'v, 'a> {
    /// What it has in common with any load run.
    pub load: &'v LoadView<'a>,
    /// What the servers were given, and had to answer.
    pub serving: &'a Serving,
}

/// Renders a run of servers that the lab started.
pub fn render(format: Format, view: &ServedView, terminal: Terminal) -> Result<Rendered, Error> {
    Ok(match format {
        Format::Terminal => Rendered::Text(terminal::served(view, terminal)),
        Format::Markdown => Rendered::Text(markdown::served(view)),
        Format::Csv => Rendered::Text(to_csv::served(view)?),
        Format::Json => Rendered::Text(json::render(view.common().report)?),
        Format::Xml => return Err(Error::NoLoad(Format::Xml)),
        Format::Xlsx => Rendered::Bytes(xlsx::served(view)?),
        Format::Svg => Rendered::Files(to_files::files(view)?),
        Format::Html => Rendered::Text(html::served(view)?),
    })
}

impl<'v, 'a> ServedView<'v, 'a> {
    /// Of a load run whose servers the lab started; nothing of another.
    pub fn of(load: &'v LoadView<'a>) -> Option<ServedView<'v, 'a>> {
        let serving = load.load.serving.as_ref()?;
        Some(ServedView { load, serving })
    }

    /// What it has in common with any run.
    pub fn common(&self) -> &'v View<'a> {
        &self.load.view
    }

    /// A server's name; the limit's says so.
    pub fn name(&self, subject: SubjectId) -> String {
        let name = self.common().name(subject);
        match self.is_limit(subject) {
            true => format!("{name} (limit)"),
            false => name.to_string(),
        }
    }

    /// Whether it shows what the machine allows.
    pub fn is_limit(&self, subject: SubjectId) -> bool {
        let subjects = &self.common().plan.subjects;
        subjects.get(subject).is_some_and(|s| s.limit)
    }

    /// Servers without controls, of which some slice counts.
    pub fn measured(&self) -> Vec<SubjectId> {
        let any = |subject: &SubjectId| {
            let mut cells = self.load.analysis.cells.iter();
            cells.any(|cell| cell.subject == *subject)
        };
        let shown = self.common().shown().into_iter();
        shown.filter(any).collect()
    }

    /// All cases that have points.
    pub fn cases(&self) -> Vec<usize> {
        let plan = self.common().plan;
        let any = |case: &usize| plan.points.iter().any(|p| p.case == *case);
        (0..plan.cases.len()).filter(any).collect()
    }

    /// A case's name; `all cases`.
    pub fn case_name(&self, case: Option<usize>) -> &'a str {
        let cases = &self.common().plan.cases;
        match case {
            None => "all cases",
            Some(case) => cases.get(case).map_or("?", |case| case.name.as_str()),
        }
    }

    /// Points of a case at which servers are asked as fast as they answer, by connections.
    pub fn closed(&self, case: usize, keep_alive: bool) -> Vec<PointId> {
        self.points(case, keep_alive, |point| !self.common().plan.is_open(point))
    }

    /// Points of a case at which each server is offered such a part of its own peak.
    pub fn at_part(&self, case: usize, keep_alive: bool, part: f64) -> Vec<PointId> {
        let plan = self.common().plan;
        self.points(case, keep_alive, |point| {
            plan.part_of_peak(point) == Some(part)
        })
    }

    fn points(&self, case: usize, keep_alive: bool, is: impl Fn(PointId) -> bool) -> Vec<PointId> {
        let plan = self.common().plan;
        let all = (0..plan.points.len()).filter(|&point| {
            plan.points[point].case == case && plan.keeps_alive(point) == keep_alive && is(point)
        });
        let mut points: Vec<PointId> = all.collect();
        points.sort_by_key(|&point| plan.connections(point));
        points
    }

    /// The parts of a peak that are offered, ascending.
    pub fn parts(&self) -> Vec<f64> {
        let plan = self.common().plan;
        let points = 0..plan.points.len();
        let mut parts: Vec<f64> = points.filter_map(|p| plan.part_of_peak(p)).collect();
        parts.sort_by(f64::total_cmp);
        parts.dedup();
        parts
    }

    /// The part in the middle: 50 %.
    pub fn middle_part(&self) -> Option<f64> {
        let parts = self.parts();
        parts.get(parts.len().checked_sub(1)? / 2).copied()
    }

    /// Whether connections are kept alive where all is told by one number: they are if at some point.
    pub fn usual(&self) -> bool {
        let mut points = 0..self.common().plan.points.len();
        points.any(|point| self.common().plan.keeps_alive(point))
    }

    /// The connections at which single figures are told: those of the open points, or as near as possible.
    pub fn usual_connections(&self, case: usize) -> Option<usize> {
        let plan = self.common().plan;
        let open = (0..plan.points.len()).find(|&point| plan.is_open(point));
        let wanted = open.map_or(64, |point| plan.connections(point));
        let points = self.closed(case, self.usual()).into_iter();
        let all = points.map(|point| plan.connections(point));
        // In steps of a factor, as sweeps are.
        let apart = |n: &usize| (*n.max(&1) as f64 / wanted.max(1) as f64).ln().abs();
        all.min_by(|a, b| apart(a).total_cmp(&apart(b)))
    }

    /// The closed point of a case with so many connections.
    pub fn closed_at(&self, case: usize, keep_alive: bool, connections: usize) -> Option<PointId> {
        let mut points = self.closed(case, keep_alive).into_iter();
        points.find(|&point| self.common().plan.connections(point) == connections)
    }

    /// Where a server served most of a case.
    pub fn peak(&self, subject: SubjectId, case: usize, keep_alive: bool) -> Option<&'a LoadCell> {
        let points = self.closed(case, keep_alive).into_iter();
        let cells = points.filter_map(|point| self.load.cell(subject, point));
        let served = cells.filter(|cell| cell.served > 0);
        served.max_by(|a, b| a.served_per_s.estimate.total_cmp(&b.served_per_s.estimate))
    }

    /// What a request costs a server as a multiple of the baseline's, over the points of a case or of all.
    pub fn overall(
        &self,
        subject: SubjectId,
        case: Option<usize>,
        keep_alive: bool,
    ) -> Option<&'a LoadOverall> {
        let mut all = self.load.analysis.overall.iter();
        all.find(|o| (o.subject, o.case, o.keep_alive) == (subject, case, keep_alive))
    }

    /// All cases together, or the only one.
    pub fn whole(&self) -> Option<usize> {
        match self.cases().as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// What a server holds.
    pub fn footprint(&self, subject: SubjectId) -> Option<&'a ServerFootprint> {
        let mut all = self.load.analysis.footprints.iter();
        all.find(|f| f.subject == subject)
    }

    /// What a connection for each request costs a server.
    pub fn reconnect(
        &self,
        subject: SubjectId,
        case: Option<usize>,
        metric: Metric,
    ) -> Option<&'a Reconnect> {
        let mut all = self.load.analysis.reconnects.iter();
        all.find(|r| (r.subject, r.case, r.metric) == (subject, case, metric))
    }

    /// The second copy of the baseline at a point.
    pub fn control(&self, point: PointId, metric: Metric) -> Option<&'a LoadControl> {
        let mut all = self.load.analysis.controls.iter();
        all.find(|c| (c.point, c.metric) == (point, metric))
    }

    /// What a server or the lab said of it.
    pub fn setting(&self, subject: SubjectId, key: &str) -> Option<&'a str> {
        let mut settings = self.common().run.settings.iter();
        let found = settings.find(|s| s.subject == subject && s.key == key);
        found.map(|s| s.value.as_str())
    }

    /// The groups of points over whose connections there is a law.
    pub fn closed_groups(&self) -> Vec<Group<'a>> {
        let plan = self.common().plan;
        let groups = self.common().scaling_groups().into_iter();
        groups
            .filter(|group| group.points.len() > 1)
            .filter(|group| group.points.iter().all(|&point| !plan.is_open(point)))
            .collect()
    }

    /// `1 to 512 connections`.
    pub fn connections(&self, case: Option<usize>, keep_alive: bool) -> String {
        let cases = match case {
            Some(case) => vec![case],
            None => self.cases(),
        };
        let plan = self.common().plan;
        let points = cases.iter().flat_map(|&case| self.closed(case, keep_alive));
        let numbers: Vec<usize> = points.map(|point| plan.connections(point)).collect();
        match (numbers.iter().min(), numbers.iter().max()) {
            (Some(1), Some(1)) => "1 connection".into(),
            (Some(low), Some(high)) if low < high => format!("{low} to {high} connections"),
            (_, Some(n)) => format!("{n} connections"),
            _ => "no connections".into(),
        }
    }
}

/// Requests per CPU second, from the CPU time of one, ns; the bounds change places.
pub fn per_cpu_second(cpu_ns: &Interval) -> Interval {
    inverse(cpu_ns, 1e9)
}

/// The inverse of a ratio.
pub fn inverted(ratio: &Interval) -> Interval {
    inverse(ratio, 1.0)
}

fn inverse(interval: &Interval, of: f64) -> Interval {
    let inverse = |value: f64| match value > 0.0 {
        true => of / value,
        false => f64::INFINITY,
    };
    Interval {
        estimate: inverse(interval.estimate),
        low: inverse(interval.high),
        high: inverse(interval.low),
        level: interval.level,
    }
}

/// `50 %`.
pub fn percent_of_peak(part: f64) -> String {
    format!("{} %", (1000.0 * part).round() / 10.0)
}
