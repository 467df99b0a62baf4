// SPDX-License-Identifier: Apache-2.0
//! What limits the conclusions from two runs that were not interleaved, in sentences.

use super::changed::{Between, Changed, ProgramMatch, Reservation};
use super::differing;
use super::facts::Differing;
use super::side::{RunSide, Sides};
use crate::analysis::Verdict;
use crate::family;
use crate::results::judge::candidates;
use crate::results::{Results, WarningKind, results};
use crate::stopping;
use lab_model::Work;
use std::collections::BTreeSet;

/// All of them, the gravest first.
pub(crate) fn reservations(between: &Between, sides: &Sides) -> Vec<Reservation> {
    let mut all = Vec::new();
    let mut reserve = |kind, text: Option<String>| {
        all.extend(text.map(|text| Reservation { kind, text }));
    };
    reserve("generator", generator(sides));
    reserve("machine", machine(between));
    reserve("nothing-relative", nothing_relative(between, sides));
    reserve("baseline", baseline(between));
    reserve("host", host(sides));
    reserve("settings", settings(sides));
    reserve("measuring", measuring(sides));
    reserve("few-blocks", few_blocks(between, sides));
    reserve("noise-floor", noise_floor(between, &sides.0[0]));
    reserve("same-program", same_program(between));
    for side in &sides.0 {
        reserve("unfinished", unfinished(side));
        reserve("unfit-host", unfit(side));
    }
    all
}

/// Of load runs.
fn machine(between: &Between) -> Option<String> {
    between.is_of_loads().then(|| {
        "The two loads did not take turns, so what the machine did at either time is in every change, and so \
         is what differs from one start of the server to the next. `benchlab load URL URL` lets both \
         servers take turns."
            .to_string()
    })
}

/// Load runs of which some figures are the generator's own.
fn generator(sides: &Sides) -> Option<String> {
    let loads = sides.0.iter().filter(|side| side.plan.load().is_some());
    let loads: Vec<(&str, Results)> = loads
        .map(|side| (&side.run.name[..], results(side.run)))
        .collect();
    let names = |concerned: fn(&Results) -> bool| {
        let affected = loads.iter().filter(|(_, results)| concerned(results));
        let names: Vec<&str> = affected.map(|(name, _)| *name).collect();
        (!names.is_empty()).then(|| names.join(" and "))
    };
    let limit = names(|results| !results.saturated.is_empty()).map(|names| {
        format!(
            "The generator, not the server, was the limit somewhere in {names}: what changed there can be its own."
        )
    });
    let is_late = |results: &Results| {
        let mut kinds = results.warnings.iter().map(|warning| warning.kind);
        kinds.any(|kind| kind == WarningKind::Late)
    };
    let late = names(is_late).map(|names| {
        format!(
            "The load generator itself was late in {names}: more than a tenth of some percentiles can be its own \
             latency, and none of them is called equivalent."
        )
    });
    let texts: Vec<String> = [limit, late].into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

fn nothing_relative(between: &Between, sides: &Sides) -> Option<String> {
    if between.is_of_loads() {
        return None;
    }
    let [first, second] = sides.0.each_ref().map(|run| run.baseline().name.as_str());
    if first != second {
        return Some(format!(
            "The subjects were compared with {first} in the first run and with {second} in the \
             second, so no ratio can be compared: run one of them again with the other's --baseline."
        ));
    }
    let alone = candidates(sides.0[0].plan).next().is_none();
    (between.judged().next().is_none() && alone).then(|| {
        format!(
            "{first} was measured without another subject to take turns with, so what changed \
             cannot be told from what the machine did."
        )
    })
}

fn baseline(between: &Between) -> Option<String> {
    let name = between.baseline.as_ref()?;
    let state = match between.baseline_program {
        _ if !between.judged().any(|c| c.relative) => return None,
        ProgramMatch::Same => return None,
        ProgramMatch::Changed => "is another program",
        ProgramMatch::Unknown => "may be another program (the files do not say)",
    };
    Some(format!(
        "The baseline {name} {state} in the second run: a ratio that changed can come from either side."
    ))
}

fn host(sides: &Sides) -> Option<String> {
    let differences = named(&differing::host(sides.0[0].run, sides.0[1].run))?;
    Some(format!(
        "The hosts differ ({differences}), and another host can change a ratio."
    ))
}

fn settings(sides: &Sides) -> Option<String> {
    let differences = named(&differing::settings(sides))?;
    Some(format!(
        "What subjects read back differs ({differences}): a change can come from that and not from the \
         subject's own program."
    ))
}

fn measuring(sides: &Sides) -> Option<String> {
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
    let mut found = differing::measuring(sides.0[0].run, sides.0[1].run);
    found.retain(|difference| !HARMLESS.contains(&difference.what.as_str()));
    let differences = named(&found)?;
    Some(format!(
        "They were measured in different ways ({differences}), which can change a ratio."
    ))
}

fn few_blocks(between: &Between, sides: &Sides) -> Option<String> {
    let needed = family::blocks_needed(sides.alpha(), between.judged().count())?;
    let [first, second] = between.blocks;
    let advice = if between.is_of_loads() {
        "`--for` gives a run more time.".into()
    } else {
        format!("`--blocks {needed}` makes such a run.")
    };
    let few = !between.changes.is_empty() && first.min(second) < needed;
    few.then(|| {
        format!(
            "The runs have {first} and {second} blocks. Intervals of fewer than {needed} assume that blocks scatter \
             normally. {advice}"
        )
    })
}

fn noise_floor(between: &Between, first: &RunSide) -> Option<String> {
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
    let changed = |c: &&Changed| {
        let told_apart = !matches!(
            c.verdict,
            Some(Verdict::Equivalent | Verdict::Inconclusive { .. })
        );
        c.program == ProgramMatch::Same && told_apart
    };
    let changed = between.judged().filter(changed);
    let names: BTreeSet<&str> = changed.map(|c| c.subject.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "The same program in both runs, and yet another ratio: {}. Look for the cause among the \
             differences, in the baseline or in the machine.",
            names.join(", ")
        )
    })
}

fn unfinished(side: &RunSide) -> Option<String> {
    let state = stopping::unfinished(side.run)?;
    let name = &side.run.name;
    let advice = match side.plan.work {
        // Not every load can be resumed.
        Work::Load(_) => String::new(),
        _ => format!(" `benchlab resume {name}` goes on."),
    };
    Some(format!("{name} {state}: what it has is used.{advice}"))
}

fn unfit(side: &RunSide) -> Option<String> {
    let findings_unfit = side.run.host.findings.iter().filter(|f| f.unfit);
    let findings: Vec<&str> = findings_unfit.map(|f| f.what.as_str()).collect();
    (!findings.is_empty()).then(|| {
        format!(
            "When {} began, the host was not fit to measure: {}.",
            side.run.name,
            findings.join("; ")
        )
    })
}

/// The names of what differs, three at most.
fn named(differences: &[Differing]) -> Option<String> {
    let names: Vec<&str> = differences.iter().map(|d| d.what.as_str()).collect();
    match names.len() {
        0 => None,
        1..=3 => Some(names.join("; ")),
        n => Some(format!("{}; and {} more", names[..2].join("; "), n - 2)),
    }
}
