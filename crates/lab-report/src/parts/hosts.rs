// SPDX-License-Identifier: Apache-2.0
//! The hosts that measured an experiment's blocks: their properties, their ratios, and the
//! differences between them.

use super::agents::{fact, machine, name, one_machine, unfit};
use super::measured::Measured;
use lab_document::say;
use lab_document::{Cell, Column, Quantity, Section, Table, Tone};
use lab_model::{Interval, Unit};
use lab_stats::hosts::{HostEffect, HostKind, MeasuringHost, effects, hosts, kinds};

/// The highest standard deviation of ratios between hosts that is reported. Higher values are reported as unbounded.
const MAX_BETWEEN: f64 = 10.0;

/// Builds the section on the hosts of a run. It is empty if this machine measured the run.
pub fn section(measured: &Measured) -> Section {
    let mut section = Section::new("Hosts");
    let run = measured.run;
    let hosts = hosts(run);
    if hosts.is_empty() {
        return section;
    }
    let effects = effects(run);
    if !effects.is_empty() {
        section.table(ratios(measured, &hosts, &effects));
        let kinds = kinds(&hosts);
        if !kinds.is_empty() {
            section.table(on_kinds(measured, &kinds, &effects));
        }
        let mut scatter = Section::folded("Differences between hosts");
        scatter.table(scatters(measured, &effects));
        section.section(scatter);
    }
    section.table(machines(&hosts));
    if let Some(text) = one_machine(&run.agents) {
        section.text(text);
    }
    section
}

/// Returns a sentence about the hosts that measured a run. It is empty if this machine measured the
/// run.
pub fn measured_on(measured: &Measured) -> String {
    let hosts = hosts(measured.run);
    let measuring = hosts.iter().filter(|host| host.blocks > 0);
    let names = measuring.map(|host| format!("{} ({})", host.agent.name, host.blocks));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "Each block was measured on one host. Blocks by host: {}. Ratios are computed within a block.",
        say::list(&names)
    )
}

fn effect_location(measured: &Measured, effect: &HostEffect) -> String {
    let subject = measured.label(effect.subject);
    match effect.point {
        Some(point) => format!("{subject} {}", measured.location(Some(point))),
        None => format!("{subject} over all points"),
    }
}

/// Returns a column for the subjects, followed by a column of ratios for each heading.
fn ratio_columns<'n>(headings: impl Iterator<Item = &'n str>) -> impl Iterator<Item = Column> {
    let ratios = headings.map(|heading| Column::with_unit(heading, Unit::Ratio));
    std::iter::once("subject".into()).chain(ratios)
}

fn ratio_cells(ratios: &[Option<Interval>]) -> impl Iterator<Item = Cell> {
    let quantity = |ratio: &Option<Interval>| ratio.as_ref().map(Quantity::ratio).into();
    ratios.iter().map(quantity)
}

/// Builds the table of ratios with a column per host.
fn ratios(measured: &Measured, hosts: &[MeasuringHost], effects: &[HostEffect]) -> Table {
    let columns = ratio_columns(hosts.iter().map(|host| host.agent.name.as_str()));
    let mut table = Table::new("Ratio on each host", columns);
    for effect in effects {
        table.named_row(
            effect_location(measured, effect),
            ratio_cells(&effect.ratios),
        );
    }
    let compared_metric = measured.traits.compared_on_hosts;
    table.caption = format!(
        "{compared_metric} relative to the baseline on the same host: geometric means over its blocks, each with an \
         individual interval (Student's t)."
    );
    table.without_empty_columns()
}

/// Builds the table of ratios with a column per kind of host.
fn on_kinds(measured: &Measured, kinds: &[HostKind], effects: &[HostEffect]) -> Table {
    let columns = ratio_columns(kinds.iter().map(|kind| kind.name.as_str()));
    let columns = columns.chain(["p", "kinds differ"].map(Column::from));
    let mut table = Table::new("Ratio on each kind of host", columns);
    for effect in effects {
        let (p, word) = match effect.kinds_p {
            Some(p) => (p_text(p), decision_cell(effect.kinds_differ)),
            None => (String::new(), Cell::from("no kind has two hosts")),
        };
        let cells = ratio_cells(&effect.on_kinds).chain([Cell::from(p), word]);
        table.named_row(effect_location(measured, effect), cells);
    }
    let each = kinds.iter().map(|kind| {
        let names = kind.hosts.len();
        format!("{} has {}", kind.name, say::count(names, "host"))
    });
    table.caption = format!(
        "Hosts with the same processor and system are of one kind. {}. Means are over the blocks of all hosts of a \
         kind; p compares the differences between kinds with those between hosts of one kind.",
        say::list(&each.collect::<Vec<String>>())
    );
    table.without_empty_columns()
}

fn decision_cell(differ: bool) -> Cell {
    if differ {
        Cell::from("yes").with_tone(Tone::Alarm)
    } else {
        Cell::from("inconclusive")
    }
}

fn scatters(measured: &Measured, effects: &[HostEffect]) -> Table {
    let columns = [
        Column::from("subject"),
        Column::with_unit("between hosts", Unit::Share),
        Column::with_unit("between blocks", Unit::Share),
        Column::from("p"),
        Column::from("hosts differ"),
    ];
    let mut table = Table::new("Standard deviations of the ratio", columns);
    for effect in effects {
        let between = &effect.between;
        table.row(vec![
            effect_location(measured, effect).into(),
            deviation(&part(&between.deviation), effect.ratios.len()),
            Quantity::exact(between.within.exp_m1(), Unit::Share).into(),
            p_text(between.p).into(),
            decision_cell(effect.differ),
        ]);
    }
    table.caption = "The model is a random effect of the host on the logarithm of the ratio (Wald 1940). It \
                     assumes that the values of blocks are normally distributed with the same variance on all \
                     hosts. All intervals are simultaneous. With only a few hosts, the result says little about \
                     how much other hosts would differ."
        .into();
    table
}

/// Returns the cell of a standard deviation.
///
/// With few hosts, the upper bound can be implausibly high, as if one machine were ten times as
/// fast as another. Such a bound is not reported.
fn deviation(part: &Interval, hosts: usize) -> Cell {
    if part.high <= MAX_BETWEEN {
        return Quantity::estimate(part, Unit::Share).into();
    }
    let estimate = say::reading(part.estimate, &Unit::Share);
    let hosts = say::count(hosts, "host");
    if part.estimate <= MAX_BETWEEN {
        format!("{estimate}, not bounded: {hosts}").into()
    } else {
        format!("not bounded: {hosts}").into()
    }
}

fn p_text(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".into()
    } else {
        format!("{p:.3}")
    }
}

/// Converts the logarithm of a ratio and its interval to the ratio minus 1.
fn part(of_logs: &Interval) -> Interval {
    Interval {
        estimate: of_logs.estimate.exp_m1(),
        low: of_logs.low.exp_m1(),
        high: of_logs.high.exp_m1(),
        ..*of_logs
    }
}

fn machines(hosts: &[MeasuringHost]) -> Table {
    let columns = [
        Column::from("host"),
        Column::from("machine"),
        Column::with_unit("blocks", Unit::Count("blocks".into())),
        Column::from("cpu"),
        Column::from("cores"),
        Column::from("kernel"),
        Column::from("databases"),
        Column::from("unfit"),
        Column::from("lost"),
    ];
    let mut table =
        Table::new("Machines", columns).with_caption("The hosts that measured the blocks.");
    for host in hosts {
        let agent = host.agent;
        table.row(vec![
            name(agent).into(),
            machine(agent).into(),
            Quantity::count(host.blocks as u64, "blocks").into(),
            fact(agent, "cpu").into(),
            fact(agent, "cores").into(),
            fact(agent, "kernel").into(),
            fact(agent, "databases").into(),
            unfit(agent).into(),
            agent.lost.clone().unwrap_or_default().into(),
        ]);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uninformative_interval_is_described_in_words() {
        let cell = |estimate: f64, high: f64| {
            let interval = Interval {
                estimate,
                low: 0.0,
                high,
                level: 0.95,
            };
            format!("{:?}", deviation(&interval, 2))
        };
        assert!(!cell(0.05, 0.4).contains("not bounded"));
        for high in [2.1e25, f64::INFINITY] {
            assert!(cell(0.05, high).contains("5 %, not bounded: 2 hosts"));
            assert!(cell(5.94e3, high).contains("\"not bounded: 2 hosts"));
        }
    }
}
