// SPDX-License-Identifier: Apache-2.0
//! Finds the caveats that limit the conclusions from two runs that were not interleaved.

use super::caveat::Caveat;
use super::changed::{Between, Changed};
use super::differing;
use super::facts::{Differing, ProgramMatch};
use super::side::{RunSide, Sides};
use crate::analysis::Verdict;
use crate::family;
use crate::kind::kind_of;
use crate::results::judge::candidates;
use crate::results::warning::{Replicate, Unfinished};
use crate::results::{Results, Warning, WarningKind, results};
use std::collections::BTreeSet;

/// Returns all caveats, most serious first.
pub(crate) fn caveats(between: &Between, sides: &Sides) -> Vec<Caveat> {
    let of_both = [
        generator(sides),
        machine(between),
        nothing_relative(between, sides),
        baseline(between),
        host(sides),
        settings(sides),
        plans(sides),
        measuring(sides),
        few_blocks(between, sides),
        noise_floor(between, &sides.0[0]),
        same_program(between),
    ];
    let of_each = sides
        .0
        .iter()
        .flat_map(|side| [unfinished(side), unfit(side)]);
    of_both.into_iter().chain(of_each).flatten().collect()
}

/// Returns the caveat that applies to all load runs: the machine may have changed between them.
fn machine(between: &Between) -> Option<Caveat> {
    between.is_of_loads().then_some(Caveat::LoadsNotInterleaved)
}

/// Lists the load runs in which the load generator dominates some values.
fn generator(sides: &Sides) -> Option<Caveat> {
    let loads = sides
        .0
        .iter()
        .filter(|side| kind_of(side.plan).has_requests());
    let loads: Vec<(&str, Results)> = loads
        .map(|side| (&side.run.name[..], results(side.run)))
        .collect();
    let names = |concerned: fn(&Results) -> bool| -> Vec<String> {
        let affected = loads.iter().filter(|(_, results)| concerned(results));
        affected.map(|(name, _)| name.to_string()).collect()
    };
    let saturated = names(|results| !results.saturated.is_empty());
    let late = names(|results| {
        let mut kinds = results.warnings.iter().map(Warning::kind);
        kinds.any(|kind| kind == WarningKind::Late)
    });
    let is_any = !saturated.is_empty() || !late.is_empty();
    is_any.then_some(Caveat::GeneratorFigures { saturated, late })
}

fn nothing_relative(between: &Between, sides: &Sides) -> Option<Caveat> {
    if between.is_of_loads() {
        return None;
    }
    let [first, second] = sides.0.each_ref().map(|run| run.baseline().name.as_str());
    if first != second {
        let [first, second] = [first, second].map(String::from);
        return Some(Caveat::OtherBaseline { first, second });
    }
    let alone = candidates(sides.0[0].plan).next().is_none();
    (between.judged().next().is_none() && alone).then(|| Caveat::MeasuredAlone {
        subject: first.into(),
    })
}

fn baseline(between: &Between) -> Option<Caveat> {
    let name = between.baseline.as_ref()?;
    let program = between.baseline_program;
    let is_other = program != ProgramMatch::Same && between.judged().any(|c| c.relative);
    is_other.then(|| Caveat::BaselineChanged {
        baseline: name.clone(),
        program,
    })
}

fn host(sides: &Sides) -> Option<Caveat> {
    let facts = names(&differing::host(sides.0[0].run, sides.0[1].run))?;
    Some(Caveat::HostsDiffer { facts })
}

fn settings(sides: &Sides) -> Option<Caveat> {
    let facts = names(&differing::settings(sides))?;
    Some(Caveat::SettingsDiffer { facts })
}

fn plans(sides: &Sides) -> Option<Caveat> {
    let facts = names(&differing::plans(sides))?;
    Some(Caveat::PlansDiffer { facts })
}

fn measuring(sides: &Sides) -> Option<Caveat> {
    // These facts do not affect the measurements of a block.
    const HARMLESS: [&str; 9] = [
        "visit length",
        "server",
        "measuring time",
        "maximum blocks",
        "interim analyses after blocks",
        "level",
        "margin",
        "requested precision",
        "baseline",
    ];
    let mut found = differing::measuring(sides.0[0].run, sides.0[1].run);
    found.retain(|difference| !HARMLESS.contains(&difference.what.as_str()));
    let facts = names(&found)?;
    Some(Caveat::MeasuringDiffers { facts })
}

fn few_blocks(between: &Between, sides: &Sides) -> Option<Caveat> {
    let needed = family::blocks_needed(sides.alpha_of_target(), between.judged().count())?;
    let counts = sides
        .0
        .each_ref()
        .map(|side| side.run.replicate_count() as u32);
    let [first, second] = counts;
    let fewest = &sides.0[usize::from(second < first)];
    let few = !between.changes.is_empty() && first.min(second) < needed;
    few.then(|| Caveat::TooFewBlocks {
        replicates: counts,
        needed,
        unit: Replicate::new(fewest.run, fewest.plan),
        loads: between.is_of_loads(),
    })
}

fn noise_floor(between: &Between, first: &RunSide) -> Option<Caveat> {
    let points = between.controls.iter().filter(|c| !c.met).count();
    (points > 0).then(|| Caveat::CopyChanged {
        points,
        all: between.controls.len(),
        target: first.target().map(String::from),
    })
}

/// Lists the subjects whose ratio seems to have changed although their program did not.
fn same_program(between: &Between) -> Option<Caveat> {
    let changed = |c: &&Changed| {
        let is_distinguished = !matches!(
            c.verdict,
            Some(Verdict::Equivalent | Verdict::Inconclusive { .. })
        );
        c.program == ProgramMatch::Same && is_distinguished
    };
    let changed = between.judged().filter(changed);
    let subjects: BTreeSet<&str> = changed.map(|c| c.subject.as_str()).collect();
    (!subjects.is_empty()).then(|| Caveat::SameProgram {
        subjects: subjects.into_iter().map(String::from).collect(),
    })
}

fn unfinished(side: &RunSide) -> Option<Caveat> {
    Some(Caveat::Unfinished {
        run: side.run.name.clone(),
        state: Unfinished::new(side.run)?,
        can_resume: side.plan.can_resume(),
    })
}

fn unfit(side: &RunSide) -> Option<Caveat> {
    let unfit = side.run.host.findings.iter().filter(|f| f.unfit);
    let findings: Vec<String> = unfit.map(|f| f.what.clone()).collect();
    (!findings.is_empty()).then(|| Caveat::UnfitHost {
        run: side.run.name.clone(),
        findings,
    })
}

/// Returns the names of the facts that differ, or `None` if no facts differ.
fn names(differences: &[Differing]) -> Option<Vec<String>> {
    let names: Vec<String> = differences.iter().map(|d| d.what.clone()).collect();
    (!names.is_empty()).then_some(names)
}
