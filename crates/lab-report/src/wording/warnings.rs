// SPDX-License-Identifier: Apache-2.0
//! Warnings in sentences: the fact, its meaning for the results, and the advice.

use super::exclusions::server_age;
use super::locations::{are_few, each, listed, location, name, shortened, worst};
use lab_document::say::{self, count, percent};
use lab_model::{ErrorKind, Interval, Metric, Unit, grouped};
use lab_stats::forecast::TimeBudget;
use lab_stats::load::agents::MissingLoad;
use lab_stats::results::warning::*;
use std::collections::BTreeMap;

/// The maximum number of ratios that one warning about differing hosts lists.
const MAX_RATIOS: usize = 3;

/// Formats a warning.
pub fn warning(fact: &WarningFact) -> String {
    use WarningFact as F;
    match fact {
        F::Interrupted {
            run,
            state,
            can_resume,
        } => unfinished(run, *state, *can_resume),
        F::SubjectFailed {
            subject,
            at,
            message,
        } => subject_failed(subject, at, message),
        F::CleanupFailed { subject, message } => {
            format!("The cleanup of {subject} failed after the measurement: {message}")
        }
        F::AgentsLost { agents, end } => agents_lost(agents, end.as_ref()),
        F::AgentsLeftOut { agents } => {
            let (are, their) = match agents.len() {
                1 => ("is", "its"),
                _ => ("are", "their"),
            };
            format!(
                "As requested, {} {are} excluded from all results of the load. The server did serve {their} \
                 requests.",
                shortened(agents)
            )
        }
        F::AgentsDiffer { agents } => agents_differ(agents),
        F::UnfitHosts { hosts } => {
            let hosts = hosts.iter();
            let hosts = hosts.map(|host| format!("{} ({})", host.name, host.findings.join("; ")));
            format!("Hosts are not fit for measurements: {}.", shortened(hosts))
        }
        F::ServerUnknown {
            known: 0, reason, ..
        } => format!("The resources that the server used are unknown: {reason}."),
        F::ServerUnknown {
            known,
            blocks,
            reason,
        } => format!(
            "The resources that the server used are known for only {known} of {blocks} blocks, and the results are \
             based on these: {reason}."
        ),
        F::HostsLost { hosts } => {
            format!("Hosts were lost: {}.", shortened(hosts.iter().map(lost_host)))
        }
        F::HostsLeftOut { hosts } => {
            let hosts = shortened(hosts);
            format!("As requested, blocks measured by {hosts} are excluded from all results.")
        }
        F::HostsDiffer { ratios } => format!(
            "Hosts differ by more than chance: {}. Intervals are for these hosts; other hosts may differ as much.",
            ratio_spreads(ratios)
        ),
        F::HostKindsDiffer { ratios } => format!(
            "Hosts of different kinds differ by more than hosts of the same kind: {}.",
            ratio_spreads(ratios)
        ),
        F::NotSteady { servers } => {
            let servers = servers.iter().map(|server| {
                let case = server.case.as_ref();
                let case = case.map_or(String::new(), |case| format!(" ({case})"));
                format!("{}{case} {}.", server.name, server_age(&server.age))
            });
            say::paragraph(servers).unwrap_or_default()
        }
        F::Errors {
            at,
            hide_percentiles,
        } => errors(at, *hide_percentiles),
        F::GeneratorSaturated { at, started } => generator_saturated(at, *started),
        F::GeneratorLate { at, started } => generator_late(at, *started),
        F::TimedByReading { generators } => timed_by_reading(generators),
        F::Overloaded { at, started } => overloaded(at, *started),
        F::ConnectionsStarved { at, started } => connections_starved(at, *started),
        F::CoresFull { agents, cores, at } => cores_full(agents, *cores, at),
        F::OneCore => "Generator and server shared the only core: each took time from the other, and every value \
                       except the server's CPU time per request includes both."
            .into(),
        F::UnfitHost { what, advice } => format!("{what}: {advice}."),
        F::TooFewBlocks {
            replicates,
            needed,
            unit,
            time,
        } => too_few_blocks(*replicates, *needed, *unit) + &more_replicates(*unit, *needed, *time),
        F::LevelNotReached {
            replicates,
            needed,
            unit,
            level,
            time,
        } => format!(
            "Intervals at {} need {needed} {}, but the run has only {replicates}. Each interval therefore states its \
             actual level.{}",
            percent(*level),
            replicate_nouns(*unit),
            more_replicates(*unit, *needed, *time)
        ),
        F::PeaksUnknown { blocks, needed } => format!(
            "No percentage of a server's peak was offered: finding the peak takes {}, but the run has only {blocks}.{}",
            count(*needed as usize, "block"),
            more_time(None)
        ),
        F::TailsUnknown {
            percentiles,
            blocks,
            seen,
            time,
        } => tails_unknown(percentiles, *blocks, *seen) + &more_time(*time),
        F::CopiesDiffer(copies) => copies_differ(copies),
        F::ReferenceBeaten(beaten) => reference_beaten(beaten),
        F::ShortRun {
            place,
            run,
            start,
            shell,
        } => short_run(place, [run, start], if *shell { "shell" } else { "process" }),
        F::ConditionDiffers(setting) => format!(
            "{} is {}, but {}: this can cause part of a difference.",
            setting.key,
            value_in(&setting.baseline),
            shortened(setting.others.iter().map(value_in)),
        ),
        F::RateChanges => "The rate changed as planned: rates and costs are from the middle of the load, percentiles \
                           cover all of it, and the intervals mean little. See the chart over time."
            .into(),
        F::BlocksDepend {
            at,
            comparisons,
            merged,
        } => blocks_depend(at, *comparisons, *merged),
        F::NoSteadyState {
            subjects,
            cut_short,
        } => no_steady_state(subjects, *cut_short),
        F::BlocksRedone {
            blocks,
            stolen,
            foreign,
        } => {
            let (were, them) = match blocks {
                1 => ("was", "it"),
                _ => ("were", "them"),
            };
            format!(
                "{} {were} redone because the host disturbed {them}: up to {} of the cores' time was stolen, and up \
                 to {} went to other programs. Run nothing else during a measurement.",
                count(*blocks, "block"),
                percent(*stolen),
                percent(*foreign),
            )
        }
        F::ClosedLoop => "Each connection waits for its response before it sends the next request. A server that \
                          stalls therefore receives fewer requests during the stall, and the percentiles omit the \
                          waits of users who would have kept sending requests (coordinated omission). `--rate` sends \
                          requests when they are due."
            .into(),
    }
}

/// Advises the user how to get `needed` replicates. `time` is the run time that they need, if it is
/// known.
fn more_replicates(unit: Replicate, needed: u32, time: Option<TimeBudget>) -> String {
    match unit {
        Replicate::Build => format!(" Make more builds: --builds {needed}."),
        Replicate::Block | Replicate::ProcessSet => more_time(time),
    }
}

/// Returns the noun for multiple units of replication.
pub fn replicate_nouns(unit: Replicate) -> &'static str {
    match unit {
        Replicate::Block => "blocks",
        Replicate::ProcessSet => "sets of processes",
        Replicate::Build => "builds",
    }
}

/// Advises the user to give the run more time, and states how much if `time` is known.
pub fn more_time(time: Option<TimeBudget>) -> String {
    match time {
        Some(time) => format!(" Give the run more time: --for {}.", time.option()),
        None => " Give the run more time (--for).".into(),
    }
}

/// Describes a run that did not finish.
pub fn unfinished(run: &str, state: Unfinished, can_resume: bool) -> String {
    let state = match state {
        Unfinished::Stopped => "was stopped by the user",
        Unfinished::Running => "has not ended",
    };
    let advice = match can_resume {
        true => format!(" `benchlab resume {run}` completes it."),
        false => String::new(),
    };
    format!("The run {run} {state}; the report covers the results so far.{advice}")
}

fn subject_failed(subject: &str, at: &FailedAt, message: &str) -> String {
    match at {
        FailedAt::OnlyPoint => format!("{subject} failed and is not compared: {message}"),
        FailedAt::Everywhere => {
            format!("{subject} failed everywhere and is not compared: {message}")
        }
        FailedAt::Points(points) => {
            let points = match points.as_slice() {
                [one] => one.clone(),
                many => count(many.len(), "point"),
            };
            format!("{subject} failed at {points} and is not compared there: {message}")
        }
    }
}

fn agents_lost(agents: &[LostAgent], end: Option<&MissingLoad>) -> String {
    let agents = agents.iter().map(|agent| {
        let not_sent = match agent.not_sent {
            0 => String::new(),
            1 => "; 1 request that was due was not sent, or was sent in its last slice, whose results are unknown".into(),
            n => format!(
                "; {} requests that were due were not sent, or were sent in its last slice, whose results are \
                 unknown",
                grouped(n)
            ),
        };
        format!("{} ({}{not_sent})", agent.name, agent.reason)
    });
    let agents = shortened(agents);
    match end {
        None => format!(
            "Agents were lost: {agents}. After that, the load was lower than requested. The percentiles include only requests \
             that were sent."
        ),
        Some(MissingLoad {
            complete,
            planned,
            due,
        }) => {
            let due = match due {
                0 => String::new(),
                1 => " 1 request that was due later was not sent.".into(),
                n => format!(
                    " {} requests that were due later were not sent.",
                    grouped(n)
                ),
            };
            format!(
                "All agents were lost: {agents}. The load ended after {complete} of {planned} blocks.{due}"
            )
        }
    }
}

fn agents_differ(agents: &[UnlikeAgent]) -> String {
    let agents = agents.iter().map(|agent| {
        let differences = agent.differences.iter().map(agent_difference);
        format!("{} {}", agent.name, listed(differences))
    });
    let agents = say::joined(agents, "; ").unwrap_or_default();
    format!(
        "These agents differed from the others: {agents}. To exclude one, use `benchlab report --without NAME`."
    )
}

/// Formats a difference as a verb phrase after the agent's name.
fn agent_difference(difference: &AgentDifference) -> String {
    match difference {
        AgentDifference::BeganLate { late_ns } => {
            format!("began {:.0} ms late", *late_ns as f64 / 1e6)
        }
        AgentDifference::SentLate => "sent requests later than they were due".into(),
        AgentDifference::Saturated { busy } => format!(
            "was the limit (its busiest thread was running {} of the time)",
            percent(*busy)
        ),
        AgentDifference::SlowPath { ratio } => format!(
            "waited longer for responses, {:.2} times as long as the others ({:.2} to {:.2})",
            ratio.estimate, ratio.low, ratio.high
        ),
        AgentDifference::Errors { own, others } => format!(
            "failed in {} of its requests, compared with {} for the others",
            percent(*own),
            percent(*others)
        ),
    }
}

fn lost_host(host: &LostHost) -> String {
    let LostHost { name, reason, .. } = host;
    let blocks: Vec<String> = host.moved_blocks.iter().map(u32::to_string).collect();
    match blocks.len() {
        0 => format!("{name} ({reason})"),
        1 => format!(
            "{name} ({reason}; its block {} was measured on another host)",
            listed(blocks)
        ),
        _ => format!(
            "{name} ({reason}; its blocks {} were measured on other hosts)",
            shortened(blocks)
        ),
    }
}

fn ratio_spreads(ratios: &[RatioSpread]) -> String {
    let texts = ratios.iter().take(MAX_RATIOS).map(|spread| {
        let subject = spread.place.subject.as_deref().unwrap_or_default();
        let point = spread.place.point.as_ref();
        format!(
            "{subject}'s ratio{} is {:.2} on {} and {:.2} on {}",
            point.map_or(String::new(), |point| format!(" at {point}")),
            spread.least.ratio,
            spread.least.host,
            spread.greatest.ratio,
            spread.greatest.host,
        )
    });
    let more = match ratios.len().saturating_sub(MAX_RATIOS) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    say::joined(texts, "; ").unwrap_or_default() + &more
}

fn errors(all: &[ErrorsAt], hide_percentiles: bool) -> String {
    let fraction = |one: &ErrorsAt| match one.fraction {
        fraction if fraction < 0.0001 => "less than 0.01 %".to_string(),
        fraction => percent(fraction),
    };
    let fact = match worst(all, |one| one.fraction) {
        Some(worst) if !are_few(all.len()) => {
            let mut sums: BTreeMap<ErrorKind, u64> = BTreeMap::new();
            for (kind, count) in all.iter().flat_map(|one| &one.kinds) {
                let sum = sums.entry(*kind).or_default();
                *sum = sum.saturating_add(*count);
            }
            format!(
                "Some requests failed{} ({}); most for {}: {}",
                location(&places(all, |one| &one.place)),
                error_kinds(sums.iter()),
                name(&worst.place),
                fraction(worst),
            )
        }
        _ => {
            let each = each(
                all,
                |one| &one.place,
                |one, at| {
                    let kinds = error_kinds(one.kinds.iter().map(|(kind, n)| (kind, n)));
                    format!("{} ({kinds}){at}", fraction(one))
                },
            );
            format!("Some requests failed: {each}")
        }
    };
    let hidden = match hide_percentiles {
        true => " Percentiles are not compared where more requests failed than lie beyond them.",
        false => "",
    };
    format!("{fact}. Percentiles cover served requests only.{hidden}")
}

/// Formats the number of errors of each kind, such as `360 timeout and 80 reset`.
fn error_kinds<'k>(kinds: impl Iterator<Item = (&'k ErrorKind, &'k u64)>) -> String {
    let kinds = kinds.map(|(kind, count)| format!("{count} {}", kind.name()));
    shortened(kinds)
}

fn places<'t, T>(all: &'t [T], place: impl Fn(&'t T) -> &'t CellName) -> Vec<&'t CellName> {
    all.iter().map(place).collect()
}

fn generator_saturated(all: &[BusyAt], started: bool) -> String {
    let busy = |one: &BusyAt| percent((100.0 * one.busy).round() / 100.0);
    let fact = match worst(all, |one| one.busy) {
        Some(worst) if !are_few(all.len()) => format!(
            "The load generator was the limit, not the server,{}: its busiest thread used up to {} of a core.",
            location(&places(all, |one| &one.place)),
            busy(worst),
        ),
        _ => format!(
            "The load generator was the limit, not the server. Its busiest thread used {}.",
            each(
                all,
                |one| &one.place,
                |one, at| format!("{} of a core{at}", busy(one))
            )
        ),
    };
    let meaning = match started {
        true => {
            "At these points, the generator limits the requests per second, and the server could serve more. benchlab \
                 compares throughput measured there only with that of even slower servers, and omits these points \
                 from the scalability law. CPU time per request does not depend on the generator."
        }
        false => {
            "Results there show the capacity of the generator, not of the server. Give it more threads (--threads), \
                  let the server send smaller responses, or generate the load on another machine."
        }
    };
    format!("{fact} {meaning}")
}

fn generator_late(all: &[LateAt], started: bool) -> String {
    let fact = match worst(all, |one| one.p99_ns) {
        Some(worst) if !are_few(all.len()) => format!(
            "The load generator itself was late{}: its own latency can be more than a tenth of some percentiles \
             there. The worst case was {}, where one request in a hundred was sent at least {:.2} ms late.",
            location(&places(all, |one| &one.place)),
            name(&worst.place),
            worst.p99_ns / 1e6,
        ),
        _ => {
            let own = |one: &LateAt, at: &str| {
                let own = one
                    .percentiles
                    .iter()
                    .map(|own| format!("{:.2} ms of the {}", own.delay_ns / 1e6, own.percentile));
                shortened(own) + at
            };
            format!(
                "The load generator itself was late. Its own latency can be more than a tenth of these percentiles: \
                 {}.",
                each(all, |one| &one.place, own)
            )
        }
    };
    let advice = match started {
        true => "",
        false => {
            " Give it a core of its own or more threads (--threads), a lower --rate, or another machine."
        }
    };
    format!("{fact} None of these percentiles is reported as equivalent.{advice}")
}

fn timed_by_reading(generators: &[ReadBy]) -> String {
    let generators = generators.iter().map(|generator| match &generator.agent {
        Some(agent) => format!("{} on {agent}", percent(generator.fraction)),
        None => percent(generator.fraction),
    });
    format!(
        "The system clock was set during the load, or the kernel timestamps arrivals with another clock. Therefore \
         a fraction of the responses was timed when the generator read them, which may be later than their arrival: {}.",
        shortened(generators)
    )
}

fn overloaded(all: &[OverloadAt], started: bool) -> String {
    let missing = |one: &OverloadAt| 1.0 - one.served / one.offered.max(f64::MIN_POSITIVE);
    let rates = |one: &OverloadAt| format!("{:.0} of {:.0} requests/s", one.served, one.offered);
    let fact = match worst(all, missing) {
        Some(worst) if !are_few(all.len()) => format!(
            "Not all requests were served when they were due{}; the worst case was {}: {}.",
            location(&places(all, |one| &one.place)),
            name(&worst.place),
            rates(worst),
        ),
        _ => {
            let until = |one: &OverloadAt, at: &str| {
                let late_s = one.drain_ns / 1e9;
                format!(
                    "{}{at} (the last one {late_s:.2} s after the end)",
                    rates(one)
                )
            };
            format!(
                "The server was overloaded and did not serve all requests when they were due: {}.",
                each(all, |one| &one.place, until)
            )
        }
    };
    let advice = match started {
        true => "",
        false => " Find the highest rate that the server sustains, or raise --connections.",
    };
    format!(
        "{fact} Where requests pile up, response times grow for as long as the load lasts: there are no \
         percentiles.{advice}"
    )
}

fn connections_starved(all: &[StarvedAt], started: bool) -> String {
    let longest = |one: &StarvedAt| format!("{:.1} s", one.longest_ns / 1e9);
    let fact = match worst(all, |one| one.longest_ns) {
        Some(worst) if !are_few(all.len()) => format!(
            "Some connections waited for their response while others were served{}. The longest wait was {}, for {}.",
            location(&places(all, |one| &one.place)),
            longest(worst),
            name(&worst.place),
        ),
        _ => format!(
            "Some connections waited for their response while others were served. The longest wait was {}.",
            each(all, |one| &one.place, |one, at| longest(one) + at)
        ),
    };
    let cause = match started {
        true => "",
        false => " The server may serve fewer connections at once than there were.",
    };
    format!("{fact} Rates cover only the duration of the load itself.{cause}")
}

fn cores_full(agents: &[String], cores: f64, all: &[CellName]) -> String {
    let machine = match agents {
        [] => "the generator's machine".into(),
        agents => format!("the machine of {}", shortened(agents)),
    };
    format!(
        "The server is on {machine}, and together they used nearly all of its {cores:.0} core{}{}: each took time from \
         the other. On two machines the server would serve more.",
        if cores == 1.0 { "" } else { "s" },
        location(&places(all, |place| place)),
    )
}

fn too_few_blocks(replicates: u32, needed: u32, unit: Replicate) -> String {
    match (replicates, unit) {
        (0 | 1, Replicate::Block) => {
            "One block does not show how blocks vary: no comparison has an interval, and no \
                                      winner is named."
                .into()
        }
        (0 | 1, Replicate::ProcessSet) => {
            "One set of processes does not show how processes differ: no comparison has \
                                           an interval, and no winner is named."
                .into()
        }
        (0 | 1, Replicate::Build) => {
            "One build does not show how builds differ: no comparison has an interval, and no \
                                      winner is named."
                .into()
        }
        (n, Replicate::Block) => format!(
            "With {n} blocks, intervals of comparisons assume that blocks are normally distributed. With {needed} or \
             more blocks, they do not."
        ),
        (n, Replicate::ProcessSet) => format!(
            "With {n} sets of processes, intervals of comparisons assume that processes are normally distributed. \
             With {needed} or more sets, they do not."
        ),
        (n, Replicate::Build) => format!(
            "With {n} builds, intervals of comparisons assume that builds are normally distributed. With {needed} or \
             more builds, they do not."
        ),
    }
}

fn tails_unknown(percentiles: &[TailWithoutInterval], blocks: u32, seen: u32) -> String {
    let names = percentiles.iter().map(|tail| &tail.percentile);
    let needed = percentiles.iter().filter_map(|tail| {
        let beyond = match tail.percentile == Metric::P99.title {
            true => " and beyond",
            false => "",
        };
        let blocks = format!("{} blocks", tail.needed?);
        Some(format!("{blocks} for {}{beyond}", tail.percentile))
    });
    let needed = match shortened(needed) {
        needed if needed.is_empty() => format!("requests that slow in {seen} blocks"),
        needed => format!("{needed}, and requests that slow in {seen} of them"),
    };
    format!(
        "The run's {} give no interval for {}. An interval needs {needed}.",
        count(blocks as usize, "block"),
        shortened(names),
    )
}

fn copies_differ(copies: &CopiesDiffer) -> String {
    let CopiesDiffer {
        baseline,
        at,
        controls,
        by_chance,
        margin,
        one_point,
    } = copies;
    let Some(worst) = worst(at, |copy| copy.margin) else {
        return String::new();
    };
    let widest = percent(worst.margin);
    if *one_point {
        return format!(
            "Two copies of {baseline} differ: the machine was not quiet enough. Only differences beyond {widest} count. \
             Measure again when it is quiet."
        );
    }
    let points = lab_model::distinct(at.iter().map(|copy| copy.point.as_str()));
    let place = match points.len() {
        n if are_few(n) => format!("at {}", listed(points)),
        _ => format!("in {} of {controls} comparisons", at.len()),
    };
    let margin = match worst.margin > *margin {
        true => format!(
            "The margin is raised there, up to {widest} for {} at {}",
            metric(&worst.metric),
            worst.point
        ),
        false => format!("They differ by less than the margin of {widest}"),
    };
    format!(
        "Two copies of {baseline} differ {place}. {margin}. Of {controls} comparisons, {by_chance} can be expected to \
         differ by chance alone."
    )
}

/// Returns a metric's name in sentences.
fn metric(metric: &Metric) -> &str {
    if *metric == Metric::SERVER_CPU {
        "server CPU per request"
    } else {
        &metric.title
    }
}

fn reference_beaten(beaten: &ReferenceBeaten) -> String {
    let ReferenceBeaten {
        reference,
        faster,
        points,
        settings,
        cheaper,
        explain,
    } = beaten;
    let at = match points.as_slice() {
        [] => String::new(),
        points => format!(" at {}", shortened(points)),
    };
    let settings = settings.iter().map(|setting| {
        format!(
            "{} is {}, {}",
            setting.key.replace('_', " "),
            value_in(&setting.baseline),
            shortened(setting.others.iter().map(value_in))
        )
    });
    let cheaper = cheaper.iter().map(|cheaper| {
        let point = cheaper.place.point.as_ref();
        format!(
            "an operation takes {} of CPU time in {} itself{} and {} in {} itself",
            say::reading(cheaper.cpu_ns, &Unit::Nanoseconds),
            cheaper.place.subject.as_deref().unwrap_or_default(),
            point.map_or(String::new(), |point| format!(" at {point}")),
            say::reading(cheaper.reference_cpu_ns, &Unit::Nanoseconds),
            cheaper.reference,
        )
    });
    let differs = say::joined(settings.chain(cheaper), "; ");
    let differs = differs.map_or(String::new(), |text| format!(" Differences there: {text}."));
    format!(
        "{reference} should show what the machine can do, but {} took less time{at}.{differs} `{explain}` counts \
         what each of them does.",
        shortened(faster)
    )
}

/// Formats a setting of a subject, such as `wal in c`.
fn value_in(setting: &SettingOf) -> String {
    let value = setting.value.as_deref().unwrap_or("not reported");
    format!("{value} in {}", setting.subject)
}

/// States that a command hardly takes longer than starting a process or a shell.
fn short_run(place: &CellName, [run, start]: [&Interval; 2], started: &str) -> String {
    let [took, alone] = [run, start].map(milliseconds);
    let fact = match run.estimate <= start.estimate {
        true => format!("takes {took}, no longer than starting a {started} alone: {alone}"),
        false => format!("takes {took}. Starting a {started} alone takes {alone}"),
    };
    format!(
        "{} {fact}. Let the command do more work in one run.",
        name(place)
    )
}

/// Formats an interval in milliseconds, such as `0.91 ms (0.88 to 0.95)`.
fn milliseconds(time: &Interval) -> String {
    let [estimate, low, high] = [time.estimate, time.low, time.high].map(|ns| ns / 1e6);
    format!("{estimate:.2} ms ({low:.2} to {high:.2})")
}

fn blocks_depend(all: &[CellName], comparisons: Option<usize>, merged: bool) -> String {
    let place = match comparisons {
        Some(n) if !are_few(all.len()) => format!(" in {} of {n} comparisons", all.len()),
        _ => location(&places(all, |place| place)),
    };
    let fact = format!("Neighboring blocks depend on each other{place}");
    match (merged, comparisons) {
        (true, _) => format!("{fact}: they were merged, so fewer blocks count."),
        (false, Some(_)) => format!(
            "{fact}. There are too few blocks to merge those that depend on each other, so the intervals may be too \
             narrow, and no winner is named there.{}",
            more_time(None)
        ),
        (false, None) => format!(
            "{fact}. There are too few blocks to merge those that depend on each other, so the intervals may be too \
             narrow. The server may still be warming up or filling a cache.{}",
            more_time(None)
        ),
    }
}

fn no_steady_state(subjects: &[ChangingSubject], cut_short: bool) -> String {
    let [subject] = subjects else {
        let names = subjects.iter();
        let names = names.map(|s| format!("{} ({})", s.name, s.at.join(", ")));
        let names = shortened(names);
        return match cut_short {
            true => format!(
                "The run was too short to show whether these were steady: {names}. Their results apply to processes \
                 that have hardly warmed up. Give the run more time, or fewer points."
            ),
            false => format!(
                "These were still changing at the end of their pilots: {names}. Their results apply to processes of \
                 that age."
            ),
        };
    };
    let (name, at) = (&subject.name, shortened(&subject.at));
    match cut_short {
        true => format!(
            "The run was too short to show whether {name} was steady at {at}. Its results apply to a process that \
             has hardly warmed up. Give the run more time, or fewer points."
        ),
        false => format!(
            "{name} was still changing at the end of its pilot at {at}. Its results apply to a process of that age."
        ),
    }
}
