// SPDX-License-Identifier: Apache-2.0
//! What limits the conclusions from two runs that were not interleaved, in sentences.

use crate::analysis::{Verdict, Warning};
use crate::between::{Between, Change, Program, Side, blocks_needed};
use crate::{compare, differing, load};
use lab_model::Ending;
use std::collections::BTreeSet;

/// All of them, the gravest first.
pub(crate) fn reservations(between: &Between, runs: &[Side; 2]) -> Vec<Warning> {
    let mut all = Vec::new();
    let mut reserve = |kind: &str, text: Option<String>| {
        all.extend(text.map(|text| Warning {
            kind: kind.to_string(),
            text,
        }));
    };
    reserve("generator", generator(runs));
    reserve("machine", machine(between));
    reserve("nothing-relative", nothing_relative(between, runs));
    reserve("baseline", baseline(between));
    reserve("host", host(runs));
    reserve("settings", settings(runs));
    reserve("measuring", measuring(runs));
    reserve("few-blocks", few_blocks(between, runs));
    reserve("noise-floor", noise_floor(between, &runs[0]));
    reserve("same-program", same_program(between));
    for run in runs {
        reserve("unfinished", unfinished(run));
        reserve("unfit-host", unfit(run));
    }
    all
}

/// Of load runs.
fn machine(between: &Between) -> Option<String> {
    (!between.metrics.is_empty()).then(|| {
        "The two loads did not take turns, so what the machine did at either time is in every change, and so \
         is what differs from one start of the server to the next. `benchlab compare URL URL` lets both \
         servers take turns."
            .to_string()
    })
}

/// Load runs whose figures are the generator's own.
fn generator(runs: &[Side; 2]) -> Option<String> {
    let limited = |side: &&Side| {
        let cells = load::load(side.run).map_or(Vec::new(), |found| found.cells);
        cells.iter().any(|cell| cell.saturated)
    };
    let names = runs.iter().filter(limited).map(|side| &side.run.name[..]);
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "The generator, not the server, was the limit somewhere in {}: what changed there can be its own.",
            names.join(" and ")
        )
    })
}

fn nothing_relative(between: &Between, runs: &[Side; 2]) -> Option<String> {
    if !between.metrics.is_empty() {
        return None;
    }
    let [first, second] = runs.each_ref().map(|run| run.baseline().name.as_str());
    if first != second {
        return Some(format!(
            "The subjects were compared with {first} in the first run and with {second} in the \
             second, so no ratio can be compared: run one of them again with the other's --baseline."
        ));
    }
    let alone = compare::candidates(runs[0].plan).next().is_none();
    (between.changes.is_empty() && alone).then(|| {
        format!(
            "{first} was measured without another subject to take turns with, so what changed \
             cannot be told from what the machine did."
        )
    })
}

fn baseline(between: &Between) -> Option<String> {
    let name = between.baseline.as_ref()?;
    let why = match between.baseline_program {
        _ if between.changes.is_empty() => return None,
        Program::Same => return None,
        Program::Changed => "is another program",
        Program::Unknown => "may be another program (the files do not say)",
    };
    Some(format!(
        "The baseline {name} {why} in the second run: a ratio that changed can come from either side."
    ))
}

fn host(runs: &[Side; 2]) -> Option<String> {
    let what = named(&differing::host(runs[0].run, runs[1].run))?;
    Some(format!(
        "The hosts differ ({what}), and another host can change a ratio."
    ))
}

fn settings(runs: &[Side; 2]) -> Option<String> {
    let what = named(&differing::settings(runs))?;
    Some(format!(
        "What subjects read back differs ({what}): a change can come from that and not from the \
         subject's own program."
    ))
}

fn measuring(runs: &[Side; 2]) -> Option<String> {
    // How long a run may last, when it looks, and where a server listens do not change what a block measures.
    const HARMLESS: [&str; 9] = [
        "length of a visit",
        "server",
        "time for measuring",
        "most blocks",
        "looks after blocks",
        "level",
        "margin",
        "wanted precision",
        "baseline",
    ];
    let mut found = differing::measuring(runs[0].run, runs[1].run);
    found.retain(|difference| !HARMLESS.contains(&difference.what.as_str()));
    let what = named(&found)?;
    Some(format!(
        "They were measured in different ways ({what}), which can change a ratio."
    ))
}

fn few_blocks(between: &Between, runs: &[Side; 2]) -> Option<String> {
    let points: BTreeSet<&str> = between.changes.iter().map(|c| c.point.as_str()).collect();
    let of_metrics = between.metrics.iter().map(|m| m.point.as_str());
    let points: BTreeSet<&str> = points.into_iter().chain(of_metrics).collect();
    let at = |point: &&str| {
        let changes = between.changes.iter().filter(|c| c.point == *point);
        let metrics = between.metrics.iter().filter(|m| m.point == *point);
        changes.count() + metrics.count()
    };
    let needed = blocks_needed(runs, points.iter().map(at).max().unwrap_or(1))?;
    let below = |level: f64, asked: f64| level < asked - 1e-9;
    let changes = between.changes.iter();
    let levels = between.levels.iter();
    let metrics = between.metrics.iter();
    let few = changes.map(|c| below(c.change.level, between.level));
    let few = few.chain(metrics.map(|m| below(m.change.level, between.level)));
    let mut few = few.chain(levels.map(|l| below(l.change.level, between.times_level)));
    let [first, second] = between.blocks;
    let how = match between.metrics.is_empty() {
        true => format!("`--blocks {needed}` makes such a run."),
        false => "`--for` gives a run more time.".into(),
    };
    few.any(|few| few).then(|| {
        format!(
            "{first} and {second} blocks are too few: {needed} of each run are needed for intervals \
             of the level asked for. {how}"
        )
    })
}

fn noise_floor(between: &Between, first: &Side) -> Option<String> {
    let unmet = between.controls.iter().filter(|c| !c.met).count();
    (unmet > 0).then(|| {
        format!(
            "The second copy of the baseline, whose ratio is 1 in truth, changed at {unmet} of {} \
             points{}. The margin is wider for it there.",
            between.controls.len(),
            first.place(),
        )
    })
}

/// Those whose ratio is said to have changed although they did not.
fn same_program(between: &Between) -> Option<String> {
    let changed = |c: &&Change| {
        c.program == Program::Same
            && !matches!(
                c.verdict,
                Verdict::Equivalent | Verdict::Inconclusive { .. }
            )
    };
    let names: BTreeSet<&str> = between
        .changes
        .iter()
        .filter(changed)
        .map(|c| c.subject.as_str())
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "The same program in both runs, and yet another ratio: {}. Look for the cause among the \
             differences, in the baseline or in the machine.",
            names.join(", ")
        )
    })
}

fn unfinished(run: &Side) -> Option<String> {
    let how = match run.run.ending {
        Some(Ending::Interrupted) => "was stopped by hand",
        None => "has not ended",
        Some(_) => return None,
    };
    let name = &run.run.name;
    let goes_on = match run.plan.load {
        // A load is not gone on with.
        Some(_) => String::new(),
        None => format!(" `benchlab resume {name}` goes on."),
    };
    Some(format!("{name} {how}: what it has is used.{goes_on}"))
}

fn unfit(run: &Side) -> Option<String> {
    let unfit = run.run.host.findings.iter().filter(|f| f.unfit);
    let what: Vec<&str> = unfit.map(|f| f.what.as_str()).collect();
    (!what.is_empty()).then(|| {
        format!(
            "When {} began, the host was not fit to measure: {}.",
            run.run.name,
            what.join("; ")
        )
    })
}

/// The names of what differs, three at most.
fn named(found: &[differing::Differing]) -> Option<String> {
    let names: Vec<&str> = found.iter().map(|d| d.what.as_str()).collect();
    match names.len() {
        0 => None,
        1..=3 => Some(names.join("; ")),
        n => Some(format!("{}; and {} more", names[..2].join("; "), n - 2)),
    }
}
