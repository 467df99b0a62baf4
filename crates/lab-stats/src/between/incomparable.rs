// SPDX-License-Identifier: Apache-2.0
//! Errors for runs that cannot be compared.

use super::facts::Differing;
use super::work;
use crate::kind::kind_of;
use crate::table::sound_plan;
use lab_model::{Plan, Run};

/// An error that prevents the comparison of two runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// One of the runs contains only imported values.
    #[error(
        "{0} contains only imported values, which have no intervals and cannot be compared; use \
         `benchlab report RUN --with {0}` to show them next to a run"
    )]
    Imported(String),
    /// The plan of one of the runs contains invalid references.
    #[error("{0} has an inconsistent plan and cannot be compared")]
    Unsound(String),
    /// One of the runs has no complete block.
    #[error("{0} has no complete block; use `benchlab resume {0}` to continue it")]
    NoBlocks(String),
    /// Both files contain the same run.
    #[error("both files contain the same run, {0}; specify two different runs")]
    Same(String),
    /// The runs are of different experiments.
    #[error(
        "the runs are of different experiments, {0} and {1}; specify two runs of the same experiment"
    )]
    Experiments(String, String),
    /// The subjects did different work.
    #[error(
        "the runs did not do the same work: {what} is {first} in the first and {second} in the \
         second run; repeat one run with the work of the other"
    )]
    Work {
        /// The fact that differs.
        what: String,
        /// The value in the first run.
        first: String,
        /// The value in the second run.
        second: String,
    },
    /// The two runs have no point in common at which the same subject was measured.
    #[error(
        "the runs have no subject and point in common; select the same subjects and points in both \
         runs with --subjects, --cases and --set"
    )]
    NothingCommon,
}

/// Returns the plan of a run that can be compared.
///
/// Returns an error if the run contains only imported values, has an inconsistent plan or has no
/// complete block.
pub(crate) fn checked_plan(run: &Run) -> Result<&Plan, Incomparable> {
    let name = || run.name.clone();
    if run.plan().is_none() {
        return Err(Incomparable::Imported(name()));
    }
    let plan = sound_plan(run).ok_or_else(|| Incomparable::Unsound(name()))?;
    match run.complete_blocks().next() {
        Some(_) => Ok(plan),
        None => Err(Incomparable::NoBlocks(name())),
    }
}

/// Returns an error if the runs are of different experiments, or if both are the same run.
pub(crate) fn one_experiment(
    [a, b]: [&Plan; 2],
    [first, second]: [&Run; 2],
) -> Result<(), Incomparable> {
    let kinds = [a, b].map(kind_of);
    let are_addressed = kinds.iter().all(|kind| kind.is_named_by_address());
    let is_one_experiment = are_addressed || a.experiment == b.experiment;
    if !is_one_experiment || kinds[0].name() != kinds[1].name() {
        let name = |plan: &Plan| match kind_of(plan).name() {
            Some(kind) => format!("{} ({kind})", plan.experiment),
            None => plan.experiment.clone(),
        };
        return Err(Incomparable::Experiments(name(a), name(b)));
    }
    if first.started_unix_s == second.started_unix_s && a.seed == b.seed {
        return Err(Incomparable::Same(first.name.clone()));
    }
    Ok(())
}

/// Returns an error if the subjects did different work on one target.
pub(crate) fn same_work(a: &Plan, b: &Plan) -> Result<(), Incomparable> {
    match work::work(a, b).into_iter().next() {
        Some(Differing {
            what,
            first,
            second,
        }) => Err(Incomparable::Work {
            what,
            first: first.unwrap_or("not specified".into()),
            second: second.unwrap_or("not specified".into()),
        }),
        None => Ok(()),
    }
}
