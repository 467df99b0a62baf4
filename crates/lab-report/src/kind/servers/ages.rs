// SPDX-License-Identifier: Apache-2.0
//! The age at which a server reaches its steady state, the cost of its first requests, and its
//! steadiness during the measurement.

use crate::parts::scope::Scope;
use lab_document::chart::file_name;
use lab_document::format::quantity::integer;
use lab_document::say::count;
use lab_document::{
    Axis, Band, Cell, Chart, Column, Drawing, Line, Lines, Quantity, Scale, Section, Stroke, Table,
    Tone,
};
use lab_model::{CaseId, Pilot, Unit};
use lab_stats::results::{AgeState, ServerAge};

/// Builds a table and a chart for each case. The section is empty if the pilots did not record server ages.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("Warm-up");
    let ages: Vec<&ServerAge> = scope.results.ages.iter().collect();
    if ages.is_empty() {
        return section;
    }
    let plan = scope.plan;
    if let Some(age) = plan.measure.age {
        let age = integer(age);
        section.text(format!(
            "As requested, servers were compared at an age of {age} requests: each process was measured after it had \
             served this many requests, whether it was steady or not."
        ));
    }
    let sets = scope.run.replicate_count();
    let blocks = scope.results.blocks as usize;
    if sets > 0 && sets < blocks {
        section.text(format!(
            "{} served {}: a set counts once, with the mean of its blocks' ratios.",
            if sets == 1 {
                "1 set of processes".into()
            } else {
                format!("{sets} sets of processes")
            },
            count(blocks, "block"),
        ));
    }
    for case in plan.cases.ids() {
        let of_case = ages
            .iter()
            .filter(|age| plan.points[age.point].case == case);
        let of_case: Vec<&ServerAge> = of_case.copied().collect();
        if of_case.is_empty() {
            continue;
        }
        section.table(table(scope, case, &of_case));
        section.chart(chart(scope, case));
    }
    section
}

fn table(scope: &Scope, case: CaseId, ages: &[&ServerAge]) -> Table {
    let ns = || Unit::Nanoseconds;
    let mut table = Table::new(
        format!(
            "{}: age at which servers are steady",
            scope.plan.cases[case].name
        ),
        [
            Column::from("server"),
            Column::with_unit("first request", ns()),
            Column::with_unit("mean of the first 1,000", ns()),
            Column::with_unit("mean of the first 100,000", ns()),
            Column::with_unit("steady", ns()),
            Column::from("requests until steady"),
            Column::with_unit("time until steady", ns()),
            Column::with_unit("in turns", ns()),
            Column::from("steady processes in turns"),
        ],
    );
    for age in ages {
        let time =
            |ns: Option<f64>| Cell::from(ns.map(|ns| Quantity::exact(ns, Unit::Nanoseconds)));
        let more = if age.steady { "" } else { "more than " };
        let requests = format!("{more}{}", integer(age.requests));
        let steady = age.processes - age.processes_off;
        let state = match age.state {
            AgeState::Steady if age.processes == 0 => Cell::default(),
            AgeState::LeftOut => Cell::from("left out").with_tone(Tone::Alarm),
            state => {
                let tone = if state == AgeState::Steady {
                    Tone::Plain
                } else {
                    Tone::Alarm
                };
                Cell::from(format!("{steady} of {}", age.processes)).with_tone(tone)
            }
        };
        table.named_row(
            scope.name(age.subject),
            [
                time(age.first_ns[0]),
                time(age.first_ns[1]),
                time(age.first_ns[2]),
                time(Some(age.steady_ns)),
                Cell::from(requests),
                time(Some(age.seconds * 1e9)),
                time(age.turns_ns),
                state,
            ],
        );
    }
    table.with_caption(
        "The values are from the pilot, with one process per server, except for the turns. The first request is wall \
         time. All other values are CPU time per request, including compilers and collectors: the means of the first \
         1,000 and 100,000 requests, the level at the end of the pilot, and, in turns, the level of the process that \
         was farthest from the pilot's level.",
    )
}

/// Builds the chart of the cost per request by server age, for each round of the pilots.
fn chart(scope: &Scope, case: CaseId) -> Option<Chart> {
    let plan = scope.plan;
    let pilots = scope.run.pilots.iter();
    let pilots = pilots.filter(|pilot| {
        plan.points.has_id(pilot.point)
            && plan.points[pilot.point].case == case
            && scope.compared().contains(&pilot.subject)
    });
    let lines: Vec<Line> = pilots.map(|pilot| line(scope, pilot)).collect();
    let lines: Vec<Line> = lines
        .into_iter()
        .filter(|line| line.points.len() > 1)
        .collect();
    let name = &plan.cases[case].name;
    (!lines.is_empty()).then(|| Chart {
        id: file_name(&format!("age-{name}")),
        title: format!("{name}: CPU time of a request by the age of the server"),
        caption: "Each point is a round of the pilot, at the number of requests served so far."
            .into(),
        drawing: Drawing::Lines(Lines {
            x: Axis::new(
                "requests served",
                Unit::Count("requests".into()),
                Scale::Log,
            ),
            y: Axis::new("CPU time of a request", Unit::Nanoseconds, Scale::Log),
            lines,
        }),
    })
}

fn line(scope: &Scope, pilot: &Pilot) -> Line {
    let rounds = pilot.batches.iter().zip(&pilot.ages);
    let points = rounds.map(|(batch, age)| {
        let cost_ns = batch.cpu_ns as f64 / batch.operations.max(1) as f64;
        (
            age.requests as f64,
            Quantity::exact(cost_ns, Unit::Nanoseconds),
        )
    });
    Line {
        name: scope.name(pilot.subject).into(),
        color: scope.color(pilot.subject),
        stroke: Stroke::Measured,
        points: points.collect(),
        band: Band::Hidden,
    }
}
