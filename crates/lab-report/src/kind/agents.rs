// SPDX-License-Identifier: Apache-2.0
//! The agents of a load: what each did, its clock, and its machine.

use super::say;
use super::scope::Scope;
use crate::document::{Cell, Column, Quantity, Section, Table, Tone};
use lab_model::{Agent, Metric, Unit};
use lab_stats::load::agents::{AgentResult, Mark, agents};

/// Nothing where the lab put the load on itself.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("Agents");
    let run = scope.run;
    if run.agents.is_empty() {
        return section;
    }
    section.table(did(scope));
    section.table(machines(&run.agents));
    section.text(
        "Rates and connections were divided equally. All began at the same moment, as far as the comparison of clocks \
         tells; each response time is told by its agent's monotonic clock. What the agents measured was added up, \
         bucket by bucket: percentiles of all are exact, as those of one are.",
    );
    section
}

/// What each did.
fn did(scope: &Scope) -> Table {
    let requests = || Unit::Count("requests".into());
    let columns = [
        Column::from("agent"),
        Column::of("offered", requests()),
        Column::of("not sent", requests()),
        Column::of("served", requests()),
        Column::of("errors", requests()),
        Column::of("p50", Unit::Nanoseconds),
        Column::of("p99", Unit::Nanoseconds),
        Column::of("service time, others = 1", Unit::Ratio),
        Column::of("lag p99", Unit::Nanoseconds),
        Column::of("busy", Unit::Share),
        Column::from("marks"),
    ];
    let mut table = Table::new("What each agent did", columns);
    for result in agents(scope.run, scope.plan.measure.alpha) {
        table.row(row(scope, &result));
    }
    table.caption = "Readings without intervals, but for the service time: the median over slices of its median as a \
                     multiple of the other agents', with its interval for all agents together."
        .into();
    table.without_empty_columns()
}

fn row(scope: &Scope, result: &AgentResult) -> Vec<Cell> {
    let requests = |n: u64| Cell::from(Quantity::exact(n as f64, Unit::Count("requests".into())));
    let alarming = |n: u64| match n {
        0 => Cell::default(),
        n => requests(n).toned(Tone::Alarm),
    };
    let time =
        |ns: Option<u64>| Cell::from(ns.map(|ns| Quantity::exact(ns as f64, Unit::Nanoseconds)));
    let marks: Vec<&str> = result.marks.iter().map(|mark| word(*mark)).collect();
    vec![
        scope.run.agents[result.agent].name.as_str().into(),
        requests(result.offered),
        alarming(result.not_sent),
        requests(result.served),
        alarming(result.errors),
        time(result.p50),
        time(result.p99),
        result.path.as_ref().map(Quantity::ratio).into(),
        time(result.lag_p99),
        Quantity::exact(result.busy, Metric::GENERATOR_BUSY.unit).into(),
        Cell::from(marks.join(", ")).toned(if marks.is_empty() {
            Tone::Plain
        } else {
            Tone::Alarm
        }),
    ]
}

fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Lost => "lost",
        Mark::BeganLate => "began late",
        Mark::Behind => "behind",
        Mark::Limit => "the limit",
        Mark::Path => "longer path",
    }
}

/// Where each was, and how far its clock was from the coordinator's.
fn machines(agents: &[Agent]) -> Table {
    let columns = [
        Column::from("agent"),
        Column::from("machine"),
        Column::from("cores"),
        Column::from("clock ahead"),
        Column::from("known to"),
        Column::of("round trip", Unit::Nanoseconds),
        Column::from("unfit"),
        Column::from("lost"),
    ];
    let mut table = Table::new("Their machines and clocks", columns);
    for agent in agents {
        let clock = &agent.clock;
        let sign = if clock.ahead_ns < 0 { "-" } else { "" };
        table.row(vec![
            name(agent).into(),
            machine(agent).into(),
            fact(agent, "cores").into(),
            format!("{sign}{}", say::time(clock.ahead_ns.unsigned_abs())).into(),
            format!("± {}", say::time(clock.error_ns)).into(),
            Quantity::exact(clock.round_trip_ns as f64, Unit::Nanoseconds).into(),
            unfit(agent).into(),
            agent.lost.clone().unwrap_or_default().into(),
        ]);
    }
    table.caption = "How far each clock (UTC) was ahead of the coordinator's, and the most that this is off. Nothing that \
                     is measured depends on it."
        .into();
    table.without_empty_columns()
}

/// Its name, and whether the reader left it out.
pub(super) fn name(agent: &Agent) -> String {
    if agent.is_left_out {
        format!("{} (left out)", agent.name)
    } else {
        agent.name.clone()
    }
}

/// Where it was, and what started it there.
pub(super) fn machine(agent: &Agent) -> String {
    format!("{} ({})", agent.machine, agent.launcher)
}

/// A fact about its machine; empty: not known.
pub(super) fn fact(agent: &Agent, name: &str) -> String {
    let mut facts = agent.host.facts.iter();
    let fact = facts.find(|(n, _)| n == name);
    fact.map_or(String::new(), |(_, value)| value.clone())
}

/// What makes its machine unfit to measure; empty: nothing.
pub(super) fn unfit(agent: &Agent) -> String {
    let unfit = agent.host.findings.iter().filter(|f| f.unfit);
    let unfit: Vec<&str> = unfit.map(|f| f.what.as_str()).collect();
    unfit.join("; ")
}
