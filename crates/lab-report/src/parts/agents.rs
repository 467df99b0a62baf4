// SPDX-License-Identifier: Apache-2.0
//! The agents of a load: their requests, clocks and machines.

use super::cell;
use super::scope::Scope;
use lab_document::say;
use lab_document::{Cell, Column, Quantity, Section, Table, Tone};
use lab_model::{Agent, Host, LoadSpec, Metric, PointId, Run, Unit};
use lab_stats::load::agents::{AgentResult, AgentTrouble, agents, unaccounted};

/// Builds the section on the agents. It is empty if benchlab's own process generated the load.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("Agents");
    let run = scope.run;
    if run.agents.is_empty() {
        return section;
    }
    section.table(work_table(scope));
    section.table(machines(run));
    if let Some(text) = one_machine(&run.agents) {
        section.text(text);
    }
    let results = agents(run, scope.plan.measure.alpha);
    let is_late = |result: &&AgentResult| result.problems.contains(&AgentTrouble::BeganLate);
    let late = results.iter().filter(is_late);
    let late: Vec<String> = late.map(|result| run.agent_name(result.agent)).collect();
    section.text(format!(
        "Rates and connections were divided equally. {}, as far as the comparison of clocks shows. Each response \
         time was measured with its agent's monotonic clock. The agents' histograms were added up bucket by bucket, \
         so percentiles over all agents are as exact as those of one agent.",
        begin_sentence(&late)
    ));
    section
}

/// Returns the beginning of a sentence about the agents that began at the same moment. `late` names
/// the exceptions.
fn begin_sentence(late: &[String]) -> String {
    match late {
        [] => "All began at the same moment".into(),
        late => format!("All but {} began at the same moment", say::list(late)),
    }
}

/// Formats the connections at a point, such as `64 connections of 3 agents`.
pub fn connections(scope: &Scope, point: PointId) -> String {
    let run = scope.run;
    let connections = run.connections_in_figures(scope.plan.connections(point));
    let connections = say::count(connections, "connection");
    match run.load_agents().len() {
        0 => connections,
        all => {
            let agents = say::count(all - run.excluded_agents().len(), "agent");
            format!("{connections} of {agents}")
        }
    }
}

/// Describes the load generator, such as `3 agents with 1 thread each`.
pub fn generator(scope: &Scope, load: &LoadSpec) -> String {
    let threads = say::count(load.threads as usize, "thread");
    let all = scope.run.load_agents().len();
    let agents = say::count(all, "agent");
    match (all, scope.run.excluded_agents().len()) {
        (0, _) => threads,
        (_, 0) => format!("{agents} with {threads} each"),
        (all, out) => format!("{agents} with {threads} each; {} are included", all - out),
    }
}

/// Returns a sentence about the number of offered requests that are not accounted for.
pub fn account(scope: &Scope) -> String {
    let every = "Every request that was offered was served or counted as an error";
    match unaccounted(scope.run) {
        None => format!("{every}."),
        Some(0) => format!(
            "{every}, among those that agents reported; the results of a lost agent's last slice are unknown."
        ),
        Some(n) => format!(
            "{every}, except for {} that were in flight when an agent was lost. Their results, and those of that \
             agent's last slice, are unknown.",
            say::reading(n as f64, &Unit::Count("requests".into()))
        ),
    }
}

/// Builds the table of each agent's requests and times.
fn work_table(scope: &Scope) -> Table {
    let requests = || Unit::Count("requests".into());
    let columns = [
        Column::from("agent"),
        Column::with_unit("offered", requests()),
        Column::with_unit("not sent", requests()),
        Column::with_unit("served", requests()),
        Column::with_unit("errors", requests()),
        Column::with_unit("p50", Unit::Nanoseconds),
        Column::with_unit("p99", Unit::Nanoseconds),
        Column::with_unit("service time, others = 1", Unit::Ratio),
        Column::with_unit("send delay p99", Unit::Nanoseconds),
        Column::with_unit("busy", Unit::Share),
        Column::from("marks"),
    ];
    let mut table = Table::new("Work of each agent", columns);
    for result in agents(scope.run, scope.plan.measure.alpha) {
        table.row(row(scope, &result));
    }
    table.caption = "Single measurements without intervals. Only the service time has intervals, which are \
                     simultaneous over all agents. It is the median over slices of the slice's median, divided by \
                     the other agents' median."
        .into();
    table.without_empty_columns()
}

fn row(scope: &Scope, result: &AgentResult) -> Vec<Cell> {
    let requests = |n: u64| Cell::from(Quantity::count(n, "requests"));
    let alarming = |n: u64| match n {
        0 => Cell::default(),
        n => requests(n).with_tone(Tone::Alarm),
    };
    let time = |ns: Option<u64>| cell::time(ns.map(|ns| ns as f64));
    let problems: Vec<&str> = result
        .problems
        .iter()
        .map(|problem| word(*problem))
        .collect();
    let tone = if problems.is_empty() {
        Tone::Plain
    } else {
        Tone::Alarm
    };
    vec![
        scope.run.agent_name(result.agent).into(),
        requests(result.offered),
        alarming(result.not_sent),
        requests(result.served),
        alarming(result.errors),
        time(result.p50),
        time(result.p99),
        result.path.as_ref().map(Quantity::ratio).into(),
        time(result.send_delay_p99),
        Quantity::exact(result.busy, Metric::GENERATOR_BUSY.unit).into(),
        Cell::from(problems.join(", ")).with_tone(tone),
    ]
}

fn word(problem: AgentTrouble) -> &'static str {
    match problem {
        AgentTrouble::Lost => "lost",
        AgentTrouble::BeganLate => "began late",
        AgentTrouble::Behind => "behind",
        AgentTrouble::Saturated => "the limit",
        AgentTrouble::Path => "longer path",
        AgentTrouble::Errors => "more errors",
    }
}

/// Builds the table of each agent's machine and the offset of its clock from the coordinator's clock.
fn machines(run: &Run) -> Table {
    let columns = [
        Column::from("agent"),
        Column::from("machine"),
        Column::from("cores"),
        Column::from("clock ahead"),
        Column::from("maximum error"),
        Column::with_unit("round trip", Unit::Nanoseconds),
        Column::from("unfit"),
        Column::from("lost"),
    ];
    let mut table = Table::new("Machines and clocks", columns);
    for (id, agent) in run.agents.enumerated() {
        let clock = &agent.clock;
        let sign = if clock.ahead_ns < 0 { "-" } else { "" };
        table.row(vec![
            exclusion_text(run.agent_name(id), agent).into(),
            machine(agent).into(),
            fact(agent, "cores").into(),
            format!("{sign}{}", say::time(clock.ahead_ns.unsigned_abs())).into(),
            format!("± {}", say::time(clock.error_ns)).into(),
            Quantity::exact(clock.round_trip_ns as f64, Unit::Nanoseconds).into(),
            unfit(agent).into(),
            agent.lost.clone().unwrap_or_default().into(),
        ]);
    }
    table.caption =
        "The offset of each clock (UTC) from the coordinator's clock, and its maximum error. A \
                     positive offset means that the clock is ahead. No measurement depends on it."
            .into();
    table.without_empty_columns()
}

/// Returns the agent's name, marked if the user excluded the agent.
pub fn name(agent: &Agent) -> String {
    exclusion_text(agent.name.clone(), agent)
}

fn exclusion_text(name: String, agent: &Agent) -> String {
    if agent.is_left_out {
        format!("{name} (excluded)")
    } else {
        name
    }
}

/// Returns a sentence for each machine that runs more than one agent.
pub fn one_machine(agents: &[Agent]) -> Option<String> {
    let machine_ids = agents.iter().filter_map(|agent| {
        let id = fact(agent, Host::MACHINE_ID);
        (!id.is_empty()).then_some((id, agent.name.as_str()))
    });
    let machines = say::grouped(machine_ids).into_iter();
    let sentences = machines.filter_map(|(_, mut names)| {
        names.sort();
        names.dedup();
        (names.len() > 1).then(|| {
            let names = say::list(&names);
            format!("{names} are on one machine: they share its cores, caches and memory.")
        })
    });
    say::paragraph(sentences)
}

/// Formats the agent's machine and the launcher that started the agent there.
pub fn machine(agent: &Agent) -> String {
    format!("{} ({})", agent.machine, agent.launcher)
}

/// Returns a fact about the agent's machine, or an empty string if it is unknown.
pub fn fact(agent: &Agent, name: &str) -> String {
    agent.host.fact(name).unwrap_or_default().to_owned()
}

/// Describes the problems that make the agent's machine unfit for measurements. Empty if the machine is fit.
pub fn unfit(agent: &Agent) -> String {
    let unfit = agent.host.findings.iter().filter(|f| f.unfit);
    let unfit: Vec<&str> = unfit.map(|f| f.what.as_str()).collect();
    unfit.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_starter_is_not_among_the_first() {
        assert_eq!(begin_sentence(&[]), "All began at the same moment");
        let late = begin_sentence(&["gen2".into()]);
        assert_eq!(late, "All but gen2 began at the same moment");
    }

    #[test]
    fn agents_of_one_machine_are_named() {
        let agent = |(name, id): (&str, &str)| Agent {
            name: name.into(),
            // The name localhost is the same on every machine.
            machine: "localhost".into(),
            host: Host {
                facts: vec![(Host::MACHINE_ID.into(), id.into())],
                ..Host::default()
            },
            ..Agent::default()
        };
        let of = |all: &[(&str, &str)]| {
            let agents: Vec<Agent> = all.iter().copied().map(agent).collect();
            one_machine(&agents)
        };
        assert_eq!(of(&[("gen1", "a"), ("gen2", "b")]), None);
        let text = of(&[("gen1", "a"), ("gen2", "b"), ("gen3", "a")]).unwrap();
        assert!(
            text.starts_with("gen1 and gen3 are on one machine:"),
            "{text}"
        );
    }
}
