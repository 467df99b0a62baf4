// SPDX-License-Identifier: Apache-2.0
//! The conclusion, computed from verdicts and intervals: who serves most for its CPU time, how the others
//! compare with the baseline, what they hold, what users feel, and what limits all this.

use super::method::list;
use super::{MISSING, failure, ranked, transcript};
use crate::content::{count, load::alarms};
use crate::load::QUANTILES;
use crate::number::{self, Quantity, per_second, spoken};
use crate::served::{ServedView, inverted, percent_of_peak};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::load::analysis::{LoadCell, LoadOverall, Metric};

/// The p99 among the quantiles.
const P99: usize = 3;

/// Paragraphs with their names.
pub fn answer(view: &ServedView) -> Vec<(&'static str, String)> {
    let limits = limits(view).map(|text| ("Limits", text));
    let rest = missing(view).into_iter().chain(limits);
    if view.load.analysis.cells.is_empty() {
        let none = "There is no answer yet: no server has a complete block.".into();
        return std::iter::once(("", none)).chain(rest).collect();
    }
    let said = [
        cpu(view).map(|text| ("Requests per CPU second", text)),
        rates(view).map(|text| ("Requests per second", text)),
        memory(view).map(|text| ("Memory", text)),
        latency(view).map(|text| ("Response time", text)),
        reconnects(view).map(|text| ("A connection for each request", text)),
    ];
    said.into_iter().flatten().chain(rest).collect()
}

/// The same as one text.
pub fn joined(view: &ServedView) -> String {
    let paragraphs = answer(view).into_iter();
    let paragraphs = paragraphs.map(|(name, text)| match name {
        "" => text,
        name => format!("{name}: {text}"),
    });
    paragraphs.collect::<Vec<_>>().join(" ")
}

/// How servers stand to the baseline, by what a ratio of costs says.
#[derive(Default)]
struct Standings {
    /// Costs less, and how many times as much it does for the same cost.
    ahead: Vec<(SubjectId, Interval)>,
    /// Costs more, and how many times as much.
    behind: Vec<(SubjectId, Interval)>,
    equivalent: Vec<SubjectId>,
    open: Vec<(SubjectId, Interval)>,
    /// Too few blocks for an interval.
    unknown: Vec<SubjectId>,
}

impl Standings {
    fn of(all: impl Iterator<Item = (SubjectId, Interval, Verdict)>) -> Standings {
        let mut standings = Standings::default();
        for (subject, ratio, verdict) in all {
            match verdict {
                Verdict::Faster | Verdict::SmallButReal { faster: true } => {
                    standings.ahead.push((subject, inverted(&ratio)));
                }
                Verdict::Slower | Verdict::SmallButReal { faster: false } => {
                    standings.behind.push((subject, ratio));
                }
                Verdict::Equivalent => standings.equivalent.push(subject),
                Verdict::Inconclusive { .. } if number::bounded(&ratio) => {
                    standings.open.push((subject, ratio));
                }
                Verdict::Inconclusive { .. } => standings.unknown.push(subject),
            }
        }
        let by = |a: &(SubjectId, Interval), b: &(SubjectId, Interval)| {
            a.1.estimate.total_cmp(&b.1.estimate)
        };
        standings.ahead.sort_by(|a, b| by(b, a));
        standings.behind.sort_by(by);
        standings.open.sort_by(by);
        standings
    }
}

/// `1.92 (1.85 to 2.00)`, with its level where that is not what was asked for.
fn times(view: &ServedView, ratio: &Interval) -> String {
    let text = spoken(Quantity::Ratio, ratio);
    let asked = view.load.analysis.level;
    match ratio.level >= asked - 1e-9 || !number::bounded(ratio) {
        true => text,
        false => text.replacen(')', &format!(" at {})", number::level(ratio.level)), 1),
    }
}

/// `Most requests per CPU second are served by c, which shows what the machine allows: 1.20 (1.17 to 1.24)
/// times as many as by ada-server. …`
fn cpu(view: &ServedView) -> Option<String> {
    let keep_alive = view.usual();
    let case = view.whole();
    let baseline = view.common().plan.baseline;
    let overall = |case| {
        let servers = ranked(view).into_iter().filter(|&s| s != baseline);
        let all = servers.filter_map(|s| view.overall(s, case, keep_alive));
        all.collect::<Vec<&LoadOverall>>()
    };
    let all = overall(case);
    if all.is_empty() {
        return None;
    }
    let standings = Standings::of(all.iter().map(|o| (o.subject, o.ratio, o.verdict)));
    let base = view.common().baseline();
    let mut text = Vec::new();
    let place = match case {
        Some(case) => view.case_name(Some(case)).to_string(),
        None => count(view.cases().len(), "case"),
    };
    let over = format!(
        "Over {place} and {}{}",
        view.connections(case, keep_alive),
        if keep_alive { " kept alive" } else { "" }
    );
    let what = |subject: SubjectId| match view.is_limit(subject) {
        true => format!(
            "{}, which shows what the machine allows",
            view.common().name(subject)
        ),
        false => view.common().name(subject).to_string(),
    };
    text.push(format!("{over}, {}", first(view, &standings, what)));
    if !standings.behind.is_empty() {
        let behind = standings.behind.iter().enumerate();
        let behind: Vec<String> = behind
            .map(|(i, (s, ratio))| match i {
                0 => format!("{} times as many as {}", times(view, ratio), what(*s)),
                _ => format!("{} as {}", times(view, ratio), what(*s)),
            })
            .collect();
        text.push(format!("{base} serves {}.", list(&behind)));
    }
    if !standings.ahead.is_empty() {
        text.extend(equivalent(view, &standings));
    }
    text.extend(undecided(view, &standings));
    text.extend(unknown(view, &standings));
    text.extend(leaders(view, &overall));
    Some(text.join(" "))
}

/// Who serves most, as far as the intervals tell, and who else is ahead of the baseline.
fn first(view: &ServedView, standings: &Standings, what: impl Fn(SubjectId) -> String) -> String {
    let base = view.common().baseline();
    let open = !standings.open.is_empty() || !standings.unknown.is_empty();
    let said = |all: &[&(SubjectId, Interval)]| {
        let one =
            |(s, ratio): &&(SubjectId, Interval)| format!("{} {}", what(*s), times(view, ratio));
        list(&all.iter().map(one).collect::<Vec<_>>())
    };
    let Some((leader, others)) = standings.ahead.split_first() else {
        let equals: Vec<String> = standings.equivalent.iter().map(|&s| what(s)).collect();
        let margin = number::level(view.load.analysis.margin);
        return match (open, equals.is_empty()) {
            (true, true) => format!("no server is shown to serve more than {base}."),
            (true, false) => format!(
                "no server is shown to serve more than {base}, and equivalent to it within {margin}: {}.",
                list(&equals)
            ),
            (false, true) => format!("most are served by {base}."),
            (false, false) => format!(
                "most are served by {base}, and by those that are equivalent to it within {margin}: {}.",
                list(&equals)
            ),
        };
    };
    let reach = leader.1.low;
    let (ties, behind): (Vec<_>, Vec<_>) = others.iter().partition(|(_, r)| r.high >= reach);
    let mut text = match ties.is_empty() {
        true => format!(
            "most are served by {}: {} times as many as by {base}.",
            what(leader.0),
            times(view, &leader.1)
        ),
        false => {
            let together: Vec<_> = std::iter::once(leader).chain(ties).collect();
            format!(
                "most are served by these, which are not told apart: {} times as many as by {base}.",
                said(&together)
            )
        }
    };
    let may = standings
        .open
        .iter()
        .filter(|(_, cost)| inverted(cost).high >= reach);
    let may: Vec<String> = may.map(|(s, _)| what(*s)).collect();
    if !may.is_empty() {
        text += &format!(" {} may serve as many.", list(&may));
    }
    if !behind.is_empty() {
        text += &format!(" Also ahead of {base}: {}.", said(&behind));
    }
    text
}

fn equivalent(view: &ServedView, standings: &Standings) -> Option<String> {
    let names = standings.equivalent.iter();
    let names: Vec<String> = names.map(|&s| view.common().name(s).to_string()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Equivalent to {} within {}: {}.",
            view.common().baseline(),
            number::level(view.load.analysis.margin),
            list(&names)
        )
    })
}

/// Who has no interval.
fn unknown(view: &ServedView, standings: &Standings) -> Option<String> {
    let names = standings.unknown.iter();
    let names: Vec<String> = names.map(|&s| view.common().name(s).to_string()).collect();
    (!names.is_empty()).then(|| format!("Too few blocks for an interval: {}.", list(&names)))
}

/// Ratios of costs, for nobody is ahead.
fn undecided(view: &ServedView, standings: &Standings) -> Option<String> {
    let open = standings.open.iter();
    let open: Vec<String> = open
        .map(|(s, ratio)| {
            format!(
                "{} ({} times the cost)",
                view.common().name(*s),
                times(view, ratio)
            )
        })
        .collect();
    (!open.is_empty()).then(|| format!("Not decided: {}.", list(&open)))
}

/// Who is first in which case, besides what shows the machine's limit.
fn leaders<'a>(
    view: &ServedView<'_, 'a>,
    overall: &dyn Fn(Option<usize>) -> Vec<&'a LoadOverall>,
) -> Option<String> {
    let cases = view.cases();
    let baseline = view.common().plan.baseline;
    let mut first: Vec<(Vec<SubjectId>, Vec<String>)> = Vec::new();
    for &case in cases.iter().filter(|_| cases.len() > 1) {
        let others = overall(Some(case));
        let others = others.iter().filter(|o| !view.is_limit(o.subject));
        let asked = view.load.analysis.level - 1e-9;
        let others = others.filter(|o| number::bounded(&o.ratio) && o.ratio.level >= asked);
        let range = |o: &&LoadOverall| match o.verdict {
            // What is equivalent to the baseline is a tie with it.
            Verdict::Equivalent => Interval {
                low: o.ratio.low.min(1.0),
                high: o.ratio.high.max(1.0),
                ..o.ratio
            },
            _ => o.ratio,
        };
        let mut all: Vec<(SubjectId, Interval)> = others.map(|o| (o.subject, range(o))).collect();
        if all.is_empty() {
            continue;
        }
        if !view.is_limit(baseline) {
            all.push((baseline, one()));
        }
        all.sort_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
        let reach = all[0].1.high;
        let leaders = all.iter().filter(|(_, ratio)| ratio.low <= reach);
        let mut leaders: Vec<SubjectId> = leaders.map(|(s, _)| *s).collect();
        leaders.sort_unstable();
        let name = view.case_name(Some(case)).to_string();
        match first.iter_mut().find(|(known, _)| *known == leaders) {
            Some((_, names)) => names.push(name),
            None => first.push((leaders, vec![name])),
        }
    }
    let part = |(leaders, at): &(Vec<SubjectId>, Vec<String>)| {
        let names: Vec<String> = leaders
            .iter()
            .map(|&s| view.common().name(s).into())
            .collect();
        let tie = if names.len() > 1 {
            " (not told apart)"
        } else {
            ""
        };
        let place = match at.len() == cases.len() {
            true => "in every case".to_string(),
            false => format!("in {}", list(at)),
        };
        format!("{}{tie} {place}", list(&names))
    };
    let limit = view.measured().into_iter().any(|s| view.is_limit(s));
    let besides = if limit { " besides the limit" } else { "" };
    let parts: Vec<String> = first.iter().map(part).collect();
    (!parts.is_empty()).then(|| format!("By case, first{besides}: {}.", parts.join("; ")))
}

fn one() -> Interval {
    Interval {
        estimate: 1.0,
        low: 1.0,
        high: 1.0,
        level: 1.0,
    }
}

/// Who serves most of each case, as far as the generator can tell.
fn rates(view: &ServedView) -> Option<String> {
    let keep_alive = view.usual();
    let asked = 1.0 - view.common().plan.measure.alpha;
    let parts = view.cases().into_iter().filter_map(|case| {
        let peaks = view.measured().into_iter();
        let mut peaks: Vec<&LoadCell> = peaks
            .filter_map(|s| view.peak(s, case, keep_alive))
            .collect();
        peaks.sort_by(|a, b| b.served_per_s.estimate.total_cmp(&a.served_per_s.estimate));
        let (first, others) = peaks.split_first()?;
        if !number::bounded(&first.served_per_s) {
            return None;
        }
        let bounded = first.served_per_s.level >= asked - 1e-9;
        let reach = |c: &&&LoadCell| bounded && c.served_per_s.high >= first.served_per_s.low;
        let same: Vec<String> = others
            .iter()
            .filter(reach)
            .map(|c| view.common().name(c.subject).to_string())
            .collect();
        let same = match same.is_empty() {
            true => String::new(),
            false => format!("; as much may be served by {}", list(&same)),
        };
        let limited = match first.saturated {
            true => ", where the generator was the limit",
            false => "",
        };
        Some(format!(
            "of {} by {} ({} over {}{limited}{same})",
            view.case_name(Some(case)),
            view.common().name(first.subject),
            per_second("requests", &first.served_per_s)
                .replace('(', "[")
                .replace(')', "]"),
            count(view.common().plan.connections(first.point), "connection"),
        ))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("Most are served {}.", list(&parts)))
}

/// What the baseline holds, and the others as a multiple of it.
fn memory(view: &ServedView) -> Option<String> {
    let plan = view.common().plan;
    let own = view.footprint(plan.baseline)?;
    let bytes = own.bytes.as_ref().filter(|b| number::bounded(b))?;
    let base = view.common().baseline();
    let mut text = vec![format!(
        "After the load over {} {base} holds {}.",
        count(own.connections as usize, "connection"),
        spoken(Quantity::Size, bytes)
    )];
    let others = ranked(view).into_iter().filter(|&s| s != plan.baseline);
    let others: Vec<_> = others
        .filter_map(|s| {
            let print = view.footprint(s)?;
            Some((s, print.ratio?, print.verdict?))
        })
        .collect();
    let standings = Standings::of(others.into_iter());
    let said = |all: &[(SubjectId, Interval)], inverse: bool| -> Vec<String> {
        let figure = |(s, ratio): &(SubjectId, Interval)| {
            let ratio = match inverse {
                true => inverted(ratio),
                false => *ratio,
            };
            format!("{} {}", view.common().name(*s), times(view, &ratio))
        };
        all.iter().map(figure).collect()
    };
    let less = said(&standings.ahead, true);
    if !less.is_empty() {
        text.push(format!("Less: {} times as much.", list(&less)));
    }
    let more = said(&standings.behind, false);
    if !more.is_empty() {
        text.push(format!("More: {} times as much.", list(&more)));
    }
    text.extend(equivalent(view, &standings));
    let open = said(&standings.open, false);
    if !open.is_empty() {
        text.push(format!("Not decided: {} times as much.", list(&open)));
    }
    text.extend(unknown(view, &standings));
    Some(text.join(" "))
}

/// The p99 at the part of the peak in the middle: the baseline's in the first case, and how often it is
/// lower or higher for the others.
fn latency(view: &ServedView) -> Option<String> {
    let part = view.middle_part()?;
    let keep_alive = view.usual();
    let point = |case: &usize| view.at_part(*case, keep_alive, part).first().copied();
    let cases: Vec<(usize, PointId)> = view
        .cases()
        .iter()
        .filter_map(|case| Some((*case, point(case)?)))
        .collect();
    let (first, here) = *cases.first()?;
    let base = view.common().baseline();
    let baseline = view.common().plan.baseline;
    let own = view.load.cell(baseline, here);
    let (_, _, p99) = QUANTILES[P99];
    let own = own
        .and_then(|cell| p99(&cell.response))
        .filter(number::bounded);
    let own = own.map(|time| {
        let time = spoken(Quantity::Time, &time);
        format!(
            "{base} answers 99 % of {} within {time}. ",
            view.case_name(Some(first))
        )
    });
    let points: Vec<PointId> = cases.iter().map(|(_, point)| *point).collect();
    let mut kinds: Vec<(&str, Vec<String>)> = [
        "lower",
        "equivalent",
        "higher",
        "not decided",
        "too few requests to compare",
    ]
    .map(|word| (word, Vec::new()))
    .into();
    for subject in ranked(view).into_iter().filter(|&s| s != baseline) {
        let found = |point: &PointId| view.load.comparison(subject, *point, Metric::P99);
        let mut counts = [0; 5];
        for point in &points {
            let kind = match found(point).map(|c| c.verdict) {
                Some(Verdict::Faster | Verdict::SmallButReal { faster: true }) => 0,
                Some(Verdict::Equivalent) => 1,
                Some(Verdict::Slower | Verdict::SmallButReal { faster: false }) => 2,
                Some(Verdict::Inconclusive { .. }) => 3,
                None => 4,
            };
            counts[kind] += 1;
        }
        for (n, (_, names)) in counts.into_iter().zip(&mut kinds) {
            let name = view.common().name(subject);
            match n {
                0 => {}
                n if n == points.len() => names.push(name.to_string()),
                n => names.push(format!("{name} ({n} of {})", points.len())),
            }
        }
    }
    let kinds = kinds.into_iter().filter(|(_, names)| !names.is_empty());
    let kinds: Vec<String> = kinds
        .map(|(word, names)| format!("{word}: {}", list(&names)))
        .collect();
    let against = match kinds.is_empty() {
        true => String::new(),
        false => format!(
            "The p99 against {base}'s, over {}: {}.",
            count(points.len(), "case"),
            kinds.join("; ")
        ),
    };
    let text = format!(
        "At {} of its own peak: {}{against}",
        percent_of_peak(part),
        own.unwrap_or_default()
    );
    Some(text.trim_end().to_string())
}

/// What a connection for each request costs the baseline, and least and most of all servers.
fn reconnects(view: &ServedView) -> Option<String> {
    let effect =
        |s: SubjectId| Some((s, view.reconnect(s, view.whole(), Metric::ServerCpu)?.ratio));
    let all = view.measured().into_iter().filter_map(effect);
    let mut all: Vec<(SubjectId, Interval)> = all.filter(|(_, r)| number::bounded(r)).collect();
    all.sort_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    let baseline = view.common().plan.baseline;
    let own = all
        .iter()
        .find(|(s, _)| *s == baseline)
        .map(|(_, ratio)| *ratio);
    let said = |ratio: &Interval| spoken(Quantity::Ratio, ratio);
    let base = view.common().baseline();
    let (first, last) = (all.first()?, all.last()?);
    let range = match all.len() {
        1 => String::new(),
        _ => format!(
            "from {} times in {} to {} times in {}",
            said(&first.1),
            view.common().name(first.0),
            said(&last.1),
            view.common().name(last.0)
        ),
    };
    Some(match own {
        Some(own) if range.is_empty() => {
            format!(
                "It costs {base} {} times the CPU time of a request.",
                said(&own)
            )
        }
        Some(own) => format!(
            "It costs {base} {} times the CPU time of a request over a connection kept alive; of all servers, {range}.",
            said(&own)
        ),
        None => format!("It costs {range} the CPU time of a request over a connection kept alive."),
    })
}

/// Who is not in the answer, or not everywhere.
fn missing(view: &ServedView) -> Vec<(&'static str, String)> {
    let common = view.common();
    let (mut absent, mut failed) = (Vec::new(), Vec::new());
    for subject in common.shown() {
        let name = common.name(subject);
        let points = 0..common.plan.points.len();
        let points = points
            .filter(|&p| common.refusal(subject, p).is_some())
            .count();
        match failure(view, subject) {
            Some(failure) if failure.kind == MISSING => absent.push(name.to_string()),
            Some(failure) => {
                let (first, _) = transcript(failure);
                failed.push(format!("{name} ({}: {first})", failure.kind));
            }
            None if points > 0 => failed.push(format!("{name} at {}", count(points, "point"))),
            None => {}
        }
    }
    let failed = (!failed.is_empty()).then(|| format!("{}.", failed.join("; ")));
    let absent = (!absent.is_empty()).then(|| format!("{}.", list(&absent)));
    let all = [
        failed.map(|text| ("Failed, and not compared", text)),
        absent.map(|text| ("Not on this machine", text)),
    ];
    all.into_iter().flatten().collect()
}

/// What limits all this: the warnings that must stand beside the figures, and too few blocks.
fn limits(view: &ServedView) -> Option<String> {
    let mut limits: Vec<String> = alarms(view.load).into_iter().map(String::from).collect();
    let kinds = ["few-blocks", "interrupted", "shared-cores"];
    let warnings = view.load.analysis.warnings.iter();
    let others = warnings.filter(|w| kinds.contains(&w.kind.as_str()));
    limits.extend(others.map(|w| w.text.clone()));
    let comparisons = &view.load.analysis.comparisons;
    let open = comparisons
        .iter()
        .filter(|c| matches!(c.verdict, Verdict::Inconclusive { .. }));
    let open = open.count();
    if open > 0 {
        limits.push(format!(
            "{open} of {} comparisons are inconclusive.",
            comparisons.len()
        ));
    }
    (!limits.is_empty()).then(|| limits.join(" "))
}
