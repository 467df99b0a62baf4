// SPDX-License-Identifier: Apache-2.0
//! Why one subject is faster than another: the cost of an operation of each, in counted events.

use crate::kind::kind_of;
use lab_document::format::quantity;
use lab_document::say;
use lab_document::{
    Answer, Cell, Column, Document, Finding, Item, Precision, Quantity, Row, Section, Table, Tone,
};
use lab_model::{Counted, CountedFigure, Message, Metric, Plan, PointId, SubjectId, Unit, trimmed};
use std::collections::{BTreeMap, BTreeSet};

/// Differences of fewer events an operation than this are left out.
const LEAST: f64 = 0.05;

/// Differences below this fraction of the greater figure are not attributed to the programs.
const MIN_PART: f64 = 0.02;

/// Metrics whose differences are listed, the one that tends to cost most first: a round trip waits for
/// another process, a switch for the scheduler; a system call and a fault are a way into the kernel. The
/// program's own costs follow.
const RANKS: [Metric; 17] = [
    Metric::ROUND_TRIPS,
    Metric::VOLUNTARY_SWITCHES,
    Metric::FUTEX_WAITS,
    Metric::SYSTEM_CALLS,
    Metric::MINOR_FAULTS,
    Metric::MAJOR_FAULTS,
    Metric::SENT_BYTES,
    Metric::RECEIVED_BYTES,
    Metric::ALLOCATIONS,
    Metric::ALLOCATED_BYTES,
    Metric::CACHE_MISSES,
    Metric::SIMULATED_LL_MISSES,
    Metric::SIMULATED_D1_MISSES,
    Metric::INSTRUCTIONS,
    Metric::SIMULATED_INSTRUCTIONS,
    Metric::BRANCH_MISSES,
    Metric::CYCLES,
];

/// A function is named if at least this part of a difference lies in it, 0 to 1.
const MOST: f64 = 0.3;

/// How many of [`RANKS`], from the first on, are asked of the system; the rest is the program's own.
const OF_SYSTEM: usize = 8;

/// The input of a report of counted events.
pub struct ExplainReport<'a> {
    /// The subjects, their cases and points.
    pub plan: &'a Plan,
    /// The counts.
    pub counted: &'a [Counted],
    /// Subjects that could not do a point, in sentences.
    pub failed: Vec<String>,
    /// Time of the counting, in seconds since 1970.
    pub made_unix_s: f64,
}

/// A difference between a subject and the baseline.
struct CostDifference {
    rank: usize,
    size: f64,
    text: String,
}

/// Subjects side by side at each point.
pub fn document(report: &ExplainReport) -> Document {
    let plan = report.plan;
    let mut document = Document {
        title: format!(
            "{}: what {} costs",
            plan.title,
            kind_of(&plan.work).traits().words.an_operation
        ),
        question: kind_of(&plan.work).explain_question().into(),
        made: format!("{} UTC", say::minute(report.made_unix_s)),
        lab_version: env!("CARGO_PKG_VERSION").into(),
        answer: answer(report),
        source: "Counted outside of all measuring; no run file holds it.".into(),
        ..Document::default()
    };
    document.section(warnings(report));
    for point in points(report) {
        document.section(section(report, point));
    }
    document.section(method(report));
    document.rows = rows(report);
    document
}

/// The points at which somebody was counted, in the plan's order.
fn points(report: &ExplainReport) -> Vec<PointId> {
    let points: BTreeSet<PointId> = report.counted.iter().map(|c| c.point).collect();
    points.into_iter().collect()
}

fn counted_at<'r>(report: &ExplainReport<'r>, point: PointId) -> Vec<&'r Counted> {
    let counted = report.counted.iter();
    counted.filter(|c| c.point == point).collect()
}

fn answer(report: &ExplainReport) -> Answer {
    let mut ranked: Vec<(PointId, CostDifference)> = Vec::new();
    for point in points(report) {
        ranked.extend(differences(report, point).into_iter().map(|d| (point, d)));
    }
    sort(&mut ranked, |(_, difference)| difference);
    let findings = ranked.into_iter().take(3).map(|(point, difference)| {
        Finding::new(report.plan.label(point), difference.text, Tone::Plain)
    });
    let mut findings: Vec<Finding> = findings.collect();
    if findings.is_empty() {
        findings.push(Finding::plain(
            "No difference was counted that is clear of its own scatter.",
        ));
    }
    Answer {
        findings,
        ..Answer::default()
    }
}

fn warnings(report: &ExplainReport) -> Section {
    let mut section = Section::new("Warnings");
    for text in &report.failed {
        section.push(Finding::new("failed", text, Tone::Alarm));
    }
    // One sentence for all that lack the same for the same reason.
    let mut missing: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for counted in report.counted {
        for (event, reason) in &counted.missing {
            let name = report.plan.subject_label(counted.subject);
            missing.entry((event, reason)).or_default().push(name);
        }
    }
    for ((event, reason), subjects) in missing {
        // With multiple warnings the first screen shows only labels, so this one names the event.
        let subjects = say::list(&say::distinct(subjects));
        let text = format!("Not counted for {subjects}: {reason}.");
        section.push(Finding::new(format!("no {event}"), text, Tone::Alarm));
    }
    section
}

/// The unit of counting: an operation, a request, or a run of a whole command.
fn counted_unit(plan: &Plan) -> &'static str {
    kind_of(&plan.work).traits().words.operation
}

/// One point: the table, the differences, the messages.
fn section(report: &ExplainReport, point: PointId) -> Section {
    let counted = counted_at(report, point);
    let label = report.plan.label(point);
    let mut section = Section::new(if label.is_empty() { "Counted" } else { &label });
    let mut ranked: Vec<CostDifference> = differences(report, point);
    sort(&mut ranked, |difference| difference);
    let texts: Vec<String> = ranked.into_iter().map(|d| d.text).collect();
    if !texts.is_empty() {
        section.push(Item::List(texts));
    }
    section.table(table(report.plan, &counted));
    let functions = counted.iter().map(|c| (c.subject, c.functions.as_slice()));
    section.section(instructions(report.plan, "function", functions));
    let libraries = counted.iter().map(|c| (c.subject, c.libraries.as_slice()));
    section.section(instructions(report.plan, "library", libraries));
    section.section(settings(report.plan, &counted));
    section.section(messages(report.plan, &counted));
    section
}

/// A column with this heading, and one for each subject.
fn columns(plan: &Plan, counted: &[&Counted], heading: String) -> Vec<String> {
    let subjects = counted
        .iter()
        .map(|c| plan.subjects[c.subject].name.clone());
    std::iter::once(heading).chain(subjects).collect()
}

fn table(plan: &Plan, counted: &[&Counted]) -> Table {
    let mut table = Table::new(
        "",
        columns(plan, counted, format!("per {}", counted_unit(plan))),
    );
    for metric in metrics(counted) {
        let cells = counted.iter().map(|c| match figure(c, &metric) {
            Some(figure) => Cell::from(quantity(figure)),
            None if is_call(&metric) && figure(c, &Metric::SYSTEM_CALLS).is_some() => {
                Cell::from(Quantity::exact(0.0, metric.unit.clone()))
            }
            None => Cell::from("–"),
        });
        let title = if is_call(&metric) {
            format!("{}(2)", metric.title)
        } else {
            metric.title.to_string()
        };
        table.named_row(title, cells);
    }
    table.caption = "Medians; in brackets the least and the greatest.".into();
    table
}

/// The figures of a table: the totals, then the kinds of system call, those made most often first.
fn metrics(counted: &[&Counted]) -> Vec<Metric> {
    let most = |metric: &Metric| {
        let values = counted.iter().filter_map(|c| figure(c, metric));
        values.map(|f| median(f).abs()).fold(0.0, f64::max)
    };
    let mut totals = vec![Metric::MEAN_CPU];
    totals.extend(RANKS);
    totals.insert(3, Metric::INVOLUNTARY_SWITCHES);
    totals.push(Metric::MEMORY);
    let is_counted = |m: &Metric| counted.iter().any(|c| figure(c, m).is_some());
    totals.retain(|m| is_counted(m) || *m == Metric::SYSTEM_CALLS);
    let always = [
        Metric::MEAN_CPU,
        Metric::ROUND_TRIPS,
        Metric::SYSTEM_CALLS,
        Metric::ALLOCATIONS,
    ];
    totals.retain(|m| always.contains(m) || most(m) >= LEAST);
    let all = counted.iter().flat_map(|c| &c.figures).map(|f| &f.metric);
    let calls = all.filter(|metric| is_call(metric) && most(metric) >= LEAST);
    let mut kinds: Vec<Metric> = say::distinct(calls.cloned());
    kinds.sort_by(|a, b| most(b).total_cmp(&most(a)).then(a.id.cmp(&b.id)));
    totals.into_iter().chain(kinds).collect()
}

/// The instructions of each program, by function or by library.
fn instructions<'c>(
    plan: &Plan,
    by: &str,
    all: impl Iterator<Item = (SubjectId, &'c [(String, f64)])>,
) -> Section {
    let mut section = Section::folded(format!("Instructions by {by}, the most first"));
    for (subject, costs) in all.filter(|(_, costs)| !costs.is_empty()) {
        let unit = Metric::SIMULATED_INSTRUCTIONS.unit;
        let columns = [
            Column::from(by),
            Column::of(
                format!("instructions per {}", counted_unit(plan)),
                unit.clone(),
            ),
        ];
        let mut table = Table::new(plan.subjects[subject].name.clone(), columns)
            .captioned("As Valgrind counts them.");
        for (name, cost) in costs {
            let cost = Quantity::exact(*cost, unit.clone());
            table.row(vec![name.as_str().into(), cost.into()]);
        }
        section.table(table);
    }
    section
}

/// Settings in which the subjects differ.
fn settings(plan: &Plan, counted: &[&Counted]) -> Section {
    let mut section = Section::folded("Settings that differ");
    let keys = counted
        .iter()
        .flat_map(|c| c.settings.iter().map(|(key, _)| key));
    let mut table = Table::new("", columns(plan, counted, "setting".into()))
        .captioned("Settings that are not the same for all.");
    for key in say::distinct(keys) {
        let value = |c: &&Counted| {
            let setting = c.settings.iter().find(|(k, _)| k == key);
            setting.map_or("–".to_owned(), |(_, value)| value.clone())
        };
        let values: Vec<String> = counted.iter().map(value).collect();
        if values.iter().any(|value| *value != values[0]) {
            table.named_row(key.as_str(), values.into_iter().map(Cell::from));
        }
    }
    section.table(table);
    section
}

/// The messages that each subject sends and receives in one operation.
fn messages(plan: &Plan, counted: &[&Counted]) -> Section {
    let mut section = Section::folded(format!("Messages on sockets in one {}", counted_unit(plan)));
    for counted in counted.iter().filter(|c| !c.messages.is_empty()) {
        section.text(format!("{}:", plan.subjects[counted.subject].name));
        section.push(Item::Log(counted.messages.iter().map(message).collect()));
    }
    section
}

fn message(message: &Message) -> String {
    let way = if message.sent { "sent" } else { "received" };
    format!("{way:8} {:6} B  {}", message.bytes, message.begins)
}

/// The differences of the subjects of a point from the baseline, or from the first of them.
fn differences(report: &ExplainReport, point: PointId) -> Vec<CostDifference> {
    let counted = counted_at(report, point);
    let plan = report.plan;
    let baseline = plan.baseline_on(plan.points[point].target);
    let base = counted.iter().find(|c| c.subject == baseline);
    let Some(base) = base.or(counted.first()) else {
        return Vec::new();
    };
    let others = counted.iter().filter(|c| c.subject != base.subject);
    others
        .flat_map(|other| subject_differences(plan, other, base))
        .collect()
}

fn subject_differences(plan: &Plan, other: &Counted, base: &Counted) -> Vec<CostDifference> {
    let mut differences = Vec::new();
    for (rank, metric) in RANKS.iter().enumerate() {
        let figures = figure(other, metric).zip(figure(base, metric));
        let Some((mine, theirs)) = figures.filter(|(a, b)| differ(a, b)) else {
            continue;
        };
        let size = (median(mine) - median(theirs)).abs();
        let part = size / median(mine).abs().max(median(theirs).abs());
        if size >= LEAST && (rank < OF_SYSTEM || part >= MIN_PART) {
            let mut text = sentence(plan, metric, (other.subject, mine), (base.subject, theirs));
            if *metric == Metric::SIMULATED_INSTRUCTIONS {
                text.extend(most_apart(plan, other, base));
            }
            differences.push(CostDifference { rank, size, text });
        }
    }
    let asks_the_same = differences.iter().all(|d| d.rank >= OF_SYSTEM);
    differences.extend(own_difference(plan, other, base).filter(|_| asks_the_same));
    differences
}

/// The function with most of a difference in instructions, or the library where it has no symbol.
fn most_apart(plan: &Plan, other: &Counted, base: &Counted) -> Option<String> {
    let total = median(figure(other, &Metric::SIMULATED_INSTRUCTIONS)?)
        - median(figure(base, &Metric::SIMULATED_INSTRUCTIONS)?);
    let subject = |counted: &Counted| &plan.subjects[counted.subject].name;
    let lists = [
        (&other.functions, &base.functions),
        (&other.libraries, &base.libraries),
    ];
    let (name, mine, theirs) = lists.into_iter().find_map(|(others, bases)| {
        let (name, mine, theirs) = furthest_apart(others, bases, total)?;
        let is_most = (mine - theirs).abs() >= MOST * total.abs();
        (is_symbol(name) && is_most).then_some((name, mine, theirs))
    })?;
    Some(format!(
        " Most of that in {name}: {} {}, {} {}.",
        subject(other),
        number(mine),
        subject(base),
        number(theirs),
    ))
}

/// Among costs of two, the name whose costs differ most in the way in which the totals do.
fn furthest_apart<'c>(
    other: &'c [(String, f64)],
    base: &'c [(String, f64)],
    total: f64,
) -> Option<(&'c str, f64, f64)> {
    let cost_of = |costs: &[(String, f64)], name: &str| {
        let cost = costs.iter().find(|(other, _)| other == name);
        cost.map_or(0.0, |(_, cost)| *cost)
    };
    let names = other.iter().chain(base).map(|(name, _)| name.as_str());
    let apart = names.map(|name| (name, cost_of(other, name), cost_of(base, name)));
    let same_way = apart.filter(|(_, mine, theirs)| (mine - theirs).signum() == total.signum());
    same_way.max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()))
}

/// An address stands for a function without a symbol.
fn is_symbol(name: &str) -> bool {
    !name.starts_with("0x") && !name.starts_with("???")
}

/// A difference in the programs' own work, where both ask the same of the system.
fn own_difference(plan: &Plan, other: &Counted, base: &Counted) -> Option<CostDifference> {
    let cpu = |counted| figure(counted, &Metric::MEAN_CPU);
    let (mine, theirs) = (cpu(other)?, cpu(base)?);
    figure(other, &Metric::SYSTEM_CALLS)?;
    figure(base, &Metric::SYSTEM_CALLS)?;
    differ(mine, theirs).then(|| CostDifference {
        rank: OF_SYSTEM,
        size: (median(mine) - median(theirs)).abs(),
        text: format!(
            "{}. Both ask the system for the same: the difference lies in their own instructions.{}",
            sentence(
                plan,
                &Metric::MEAN_CPU,
                (other.subject, mine),
                (base.subject, theirs)
            )
            .trim_end_matches('.'),
            settings_apart(plan, other, base)
        ),
    })
}

/// ` rust has threading multi-thread, c serialized.` Empty: no setting that both have differs.
fn settings_apart(plan: &Plan, other: &Counted, base: &Counted) -> String {
    let name = |counted: &Counted| &plan.subjects[counted.subject].name;
    let theirs = |key: &String| base.settings.iter().find(|(other, _)| other == key);
    let pairs = other.settings.iter().filter_map(|(key, mine)| {
        let (_, theirs) = theirs(key)?;
        (mine != theirs).then_some((key, mine, theirs))
    });
    pairs
        .map(|(key, mine, theirs)| {
            format!(
                " {} has {key} {mine}, {} {theirs}.",
                name(other),
                name(base)
            )
        })
        .collect()
}

/// `java: 2 round trips per operation, c: 3.`
fn sentence(
    plan: &Plan,
    metric: &Metric,
    (other, mine): (SubjectId, &CountedFigure),
    (base, theirs): (SubjectId, &CountedFigure),
) -> String {
    let name = |subject: SubjectId| &plan.subjects[subject].name;
    let (mine, theirs) = (median(mine), median(theirs));
    let amount = |value: f64| match metric.unit {
        Unit::Nanoseconds => format!("{} µs", number(value / 1000.0)),
        Unit::Bytes => format!("{} B", number(value)),
        _ => number(value),
    };
    let title = match metric.unit {
        Unit::Count(_) if number(mine) == "1" => singular(&metric.title),
        _ => metric.title.to_string(),
    };
    format!(
        "{}: {} {title} per {}, {}: {}.",
        name(other),
        amount(mine),
        counted_unit(plan),
        name(base),
        amount(theirs)
    )
}

fn singular(plural: &str) -> String {
    let ending = if plural.ends_with("sses") { "es" } else { "s" };
    plural.strip_suffix(ending).unwrap_or(plural).to_owned()
}

/// At most two decimals, none where they are zeros, and of great numbers the first three digits.
fn number(value: f64) -> String {
    if value.abs() >= 1e6 {
        return format!("{} million", decimals(value / 1e6, 1));
    }
    if value.abs() >= 1e3 {
        quantity::integer(value.round() as u64)
    } else {
        decimals(value, 2)
    }
}

fn decimals(value: f64, most: usize) -> String {
    let text = format!("{value:.most$}");
    match trimmed(&text) {
        "-0" => "0".into(),
        text => text.into(),
    }
}

fn figure<'c>(counted: &'c Counted, metric: &Metric) -> Option<&'c CountedFigure> {
    counted.figures.iter().find(|f| f.metric == *metric)
}

fn is_call(metric: &Metric) -> bool {
    metric.id.starts_with("call_")
}

/// True if their ranges are apart.
fn differ(a: &CountedFigure, b: &CountedFigure) -> bool {
    let ((a_low, a_high), (b_low, b_high)) = (range(a), range(b));
    a_high < b_low || b_high < a_low
}

fn range(figure: &CountedFigure) -> (f64, f64) {
    let values = || figure.differences.iter().copied();
    let low = values().fold(f64::INFINITY, f64::min);
    (low, values().fold(f64::NEG_INFINITY, f64::max))
}

fn median(figure: &CountedFigure) -> f64 {
    lab_stats::order::median(&figure.differences).unwrap_or(0.0)
}

/// The median, with the range of all differences, which is an interval of it (sign test).
fn quantity(figure: &CountedFigure) -> Quantity {
    let (low, high) = range(figure);
    let (value, unit) = (median(figure), figure.metric.unit.clone());
    // A single simulated count is exact.
    let precision = if low == high {
        Precision::Exact
    } else {
        Precision::Within {
            low,
            high,
            level: 1.0 - 2.0 * 0.5f64.powi(figure.differences.len() as i32),
        }
    };
    Quantity {
        value,
        unit,
        precision,
    }
}

fn sort<T>(all: &mut [T], of: impl Fn(&T) -> &CostDifference) {
    all.sort_by(|a, b| {
        let (a, b) = (of(a), of(b));
        a.rank.cmp(&b.rank).then(b.size.total_cmp(&a.size))
    });
}

fn method(report: &ExplainReport) -> Section {
    let mut section = Section::folded("How it was counted");
    let sizes = report.counted.iter().map(|c| c.operations);
    let sizes = match (sizes.clone().min(), sizes.max()) {
        (Some(least), Some(most)) if least == most => format!("n = {least}"),
        (Some(least), Some(most)) => format!("n from {least} to {most}"),
        _ => "n".into(),
    };
    let first = kind_of(&report.plan.work).explain_method(&sizes);
    section.push(Item::List(vec![
        first,
        "CPU time, switches and page faults are of a process without a tracer; system calls, round trips and bytes \
         of another, under `strace -f`, which makes it slower: no time was taken there."
            .into(),
        "Allocations are counted in a process of their own: where memory comes from the C library, by a library in front of \
         it, which counts calls and the bytes asked for (of Python without its own allocator); of Go and Java, by the \
         runtime's counters."
            .into(),
        "Instructions and misses are the processor's own, of code outside of the kernel; where the machine has no such \
         counters, they are Callgrind's, of programs without a runtime: from one process with n operations and one with \
         2n, on simulated caches of 48 KiB (D1) and 8 MiB."
            .into(),
        "A round trip is a send that is followed by a receipt on the same socket.".into(),
        "A difference is told where the six of one subject are all above the six of the other. Differences are \
         ranked by what tends to cost most: round trips, switches, waits for locks, system calls, faults, bytes sent and \
         received; then what is the program's own: allocations, misses, instructions."
            .into(),
    ]));
    section
}

/// Every figure of every subject at every point.
fn rows(report: &ExplainReport) -> Vec<Row> {
    let plan = report.plan;
    let mut rows = Vec::new();
    for counted in report.counted {
        let point = &plan.points[counted.point];
        let subject = &plan.subjects[counted.subject];
        for figure in &counted.figures {
            let row = Row::new("", &subject.name, figure.metric.clone());
            rows.push(Row {
                role: if subject.reference { "reference" } else { "" }.into(),
                target: plan
                    .targets
                    .get(point.target)
                    .map_or(String::new(), |t| t.kind.name().into()),
                case: plan.case(counted.point).name.clone(),
                params: point.params.clone(),
                value: Some(quantity(figure)),
                ..row
            });
        }
    }
    rows
}
