// SPDX-License-Identifier: Apache-2.0
//! Caveats about two runs that were not interleaved, and their exclusions, in sentences.

use super::exclusions::exclusion;
use super::warnings::unfinished;
use lab_document::say::list;
use lab_stats::between::{Caveat, NotCompared, ProgramMatch, WhichRun};

/// The maximum number of differing facts listed in one caveat.
const MAX_FACTS: usize = 3;

/// Formats a caveat: the fact, what it means for the changes, and what to do.
pub fn caveat(caveat: &Caveat) -> String {
    match caveat {
        Caveat::GeneratorFigures { saturated, late } => generator_figures(saturated, late),
        Caveat::LoadsNotInterleaved => "The two loads did not take turns. So each change also contains how the machine \
                                        differed between the two times, and how one start of the server differs from \
                                        the next. `benchlab load URL URL` lets both servers take turns."
            .into(),
        Caveat::OtherBaseline { first, second } => format!(
            "The subjects were compared with {first} in the first run and with {second} in the second, so no ratio can \
             be compared. Run one of them again with the other's --baseline."
        ),
        Caveat::MeasuredAlone { subject } => format!(
            "{subject} was measured without another subject to take turns with, so a change of the program cannot be \
             distinguished from a change of the machine."
        ),
        Caveat::BaselineChanged { baseline, program } => {
            let is = match program {
                ProgramMatch::Unknown => "may be another program (the files do not say)",
                ProgramMatch::Changed | ProgramMatch::Same => "is another program",
            };
            format!(
                "The baseline {baseline} {is} in the second run: a ratio that changed can come from either side."
            )
        }
        Caveat::HostsDiffer { facts } => format!(
            "The hosts differ ({}), and another host can change a ratio.",
            facts_that_differ(facts)
        ),
        Caveat::SettingsDiffer { facts } => format!(
            "Settings that subjects read back differ ({}): a change can come from these, and not from the subject's own \
             program.",
            facts_that_differ(facts)
        ),
        Caveat::MeasuringDiffers { facts } => format!(
            "The runs were measured in different ways ({}), which can change a ratio.",
            facts_that_differ(facts)
        ),
        Caveat::TooFewBlocks {
            blocks: [first, second],
            needed,
            loads,
        } => {
            let advice = match loads {
                true => "`--for` gives a run more time.".into(),
                false => format!("`--blocks {needed}` makes such a run."),
            };
            format!(
                "The runs have {first} and {second} blocks. Intervals of fewer than {needed} assume that blocks vary \
                 normally. {advice}"
            )
        }
        Caveat::CopyChanged {
            points,
            all,
            target,
        } => {
            let target = target.as_ref();
            let on = target.map_or(String::new(), |target| format!(" on {target}"));
            format!(
                "The second copy of the baseline, whose true ratio is 1, changed at {points} of {all} points{on}. The \
                 margin is wider there."
            )
        }
        Caveat::SameProgram { subjects } => format!(
            "The ratio of the same program changed: {}. Look for the cause in the differences, the baseline or the \
             machine.",
            subjects.join(", ")
        ),
        Caveat::Unfinished {
            run,
            state,
            can_resume,
        } => unfinished(run, *state, *can_resume),
        Caveat::UnfitHost { run, findings } => format!(
            "When {run} began, the host was not fit to measure: {}.",
            findings.join("; ")
        ),
    }
}

fn generator_figures(saturated: &[String], late: &[String]) -> String {
    let saturated = (!saturated.is_empty()).then(|| {
        format!(
            "The generator, not the server, was the limit at some points of {}: changes there can be its own.",
            list(saturated)
        )
    });
    let late = (!late.is_empty()).then(|| {
        format!(
            "The load generator itself was late in {}: more than a tenth of some percentiles can be its own latency, \
             and none of them is called equivalent.",
            list(late)
        )
    });
    let sentences: Vec<String> = saturated.into_iter().chain(late).collect();
    sentences.join(" ")
}

fn facts_that_differ(facts: &[String]) -> String {
    match facts.len() {
        n if n <= MAX_FACTS => facts.join("; "),
        n => format!("{}; and {} more", facts[..2].join("; "), n - 2),
    }
}

/// Formats an exclusion from the comparison.
pub fn not_compared(part: &NotCompared) -> String {
    let which = |run: &WhichRun| match run {
        WhichRun::First => "first",
        WhichRun::Second => "second",
    };
    let alone = |kind: &str, run: &WhichRun, names: &[String]| {
        format!(
            "{kind} of the {} run alone: {}.",
            which(run),
            names.join(", ")
        )
    };
    match part {
        NotCompared::Targets { run, names } => alone("Targets", run, names),
        NotCompared::Subjects { run, names } => alone("Subjects", run, names),
        NotCompared::Points { run, names } => alone("Points", run, names),
        NotCompared::OtherWork { names } => {
            format!("Other work under the same name: {}.", names.join(", "))
        }
        NotCompared::Excluded {
            run,
            subject,
            point,
            reason,
        } => {
            let point = point.as_ref();
            format!(
                "{subject}{} in the {} run: {}",
                point.map_or(String::new(), |point| format!(" at {point}")),
                which(run),
                exclusion(reason)
            )
        }
    }
}
