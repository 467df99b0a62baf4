// SPDX-License-Identifier: Apache-2.0
//! Caveats about two runs that were not interleaved, and exclusions from their comparison, in
//! sentences.

use super::exclusions::exclusion;
use super::warnings::{replicate_nouns, unfinished};
use lab_document::say::list;
use lab_stats::between::{Caveat, NotCompared, ProgramMatch, WhichRun};
use lab_stats::results::warning::Replicate;

/// The maximum number of differing facts listed in one caveat.
const MAX_FACTS: usize = 3;

/// Formats a caveat: the fact, its meaning for the changes, and the advice.
pub fn caveat(caveat: &Caveat) -> String {
    match caveat {
        Caveat::GeneratorFigures { saturated, late } => generator_figures(saturated, late),
        Caveat::LoadsNotInterleaved => "The two loads were not interleaved. Each change therefore also includes \
                                        differences of the machine between the two times and differences between two \
                                        starts of the server. `benchlab load URL URL` interleaves both servers."
            .into(),
        Caveat::OtherBaseline { first, second } => format!(
            "The subjects were compared with {first} in the first run and with {second} in the second, so no ratio can \
             be compared. Run one of them again with the other's --baseline."
        ),
        Caveat::MeasuredAlone { subject } => format!(
            "{subject} was measured alone, so a change in the program cannot be distinguished from a change in the \
             machine."
        ),
        Caveat::BaselineChanged { baseline, program } => {
            let is = match program {
                ProgramMatch::Unknown => "may be a different program (the files do not say)",
                ProgramMatch::Changed | ProgramMatch::Same => "is a different program",
            };
            format!(
                "The baseline {baseline} {is} in the second run, so either program can have caused a changed ratio."
            )
        }
        Caveat::HostsDiffer { facts } => format!(
            "The hosts differ ({}), which can change ratios.",
            facts_that_differ(facts)
        ),
        Caveat::SettingsDiffer { facts } => format!(
            "Subjects report different settings ({}). A change may come from these settings rather than from the \
             subject's program.",
            facts_that_differ(facts)
        ),
        Caveat::PlansDiffer { facts } => format!(
            "The database uses different query plans ({}), as EXPLAIN shows. This can change every subject's time.",
            facts_that_differ(facts)
        ),
        Caveat::MeasuringDiffers { facts } => format!(
            "The runs were measured in different ways ({}), which can change ratios.",
            facts_that_differ(facts)
        ),
        Caveat::TooFewBlocks {
            replicates: [first, second],
            needed,
            unit,
            loads,
        } => {
            let advice = match unit {
                Replicate::Build => format!("Use `--builds {needed}`."),
                _ if *loads => "Give the runs more time with `--for`.".into(),
                _ => format!("Use `--blocks {needed}`."),
            };
            let nouns = replicate_nouns(*unit);
            format!(
                "The runs have {first} and {second} {nouns}. With fewer than {needed}, intervals assume that {nouns} \
                 are normally distributed. {advice}"
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
            "The ratio changed although the program is the same: {}. Look for the cause in the differences between \
             the runs, the baseline or the machine.",
            subjects.join(", ")
        ),
        Caveat::Unfinished {
            run,
            state,
            can_resume,
        } => unfinished(run, *state, *can_resume),
        Caveat::UnfitHost { run, findings } => format!(
            "When {run} began, the host was not fit for measurements: {}.",
            findings.join("; ")
        ),
    }
}

fn generator_figures(saturated: &[String], late: &[String]) -> String {
    let saturated = (!saturated.is_empty()).then(|| {
        format!(
            "The generator, not the server, was the limit at some points of {}: changes there can be changes of the \
             generator.",
            list(saturated)
        )
    });
    let late = (!late.is_empty()).then(|| {
        format!(
            "The load generator itself was late in {}: its own latency can be more than a tenth of some percentiles, \
             so none of these percentiles is reported as equivalent.",
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
            "{kind} only in the {} run: {}.",
            which(run),
            names.join(", ")
        )
    };
    match part {
        NotCompared::Targets { run, names } => alone("Targets", run, names),
        NotCompared::Subjects { run, names } => alone("Subjects", run, names),
        NotCompared::Points { run, names } => alone("Points", run, names),
        NotCompared::OtherWork { names } => {
            format!("Different work under the same name: {}.", names.join(", "))
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
