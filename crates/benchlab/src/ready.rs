// SPDX-License-Identifier: Apache-2.0
//! Subjects installed for, built, and complained about.

use crate::exit::{self, Exit};
use lab_bench::{Builder, Unready, install, interrupt};
use lab_model::Kind;
use lab_plan::{Experiment, Project, Subject, Toolchains};

/// Makes subjects ready, in their order: the SHA-256 of what each was made from, or why it cannot
/// run. The reader has servers of their own of the `external` kinds.
pub fn ready(
    project: &Project,
    experiment: &Experiment,
    subjects: &[&Subject],
    install_missing: bool,
    external: &[Kind],
) -> Result<Vec<Result<String, Unready>>, Exit> {
    let toolchains = Toolchains::read(project)?;
    let mut builder = Builder::new(project, experiment, &toolchains, external);
    let lacking = builder.lacking(subjects);
    if install_missing && !lacking.is_empty() {
        install(&lacking).map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
    }
    let mut outcomes = Vec::new();
    for subject in subjects {
        let outcome = builder.ready(subject, &mut |name| eprintln!("benchlab: building {name}"));
        if interrupt::requested() {
            return Err(Exit::new(
                exit::INTERRUPTED,
                "stopped before anything was measured",
            ));
        }
        if let Err(unready) = &outcome {
            let name = experiment.label(subject);
            eprintln!("benchlab: {name} cannot run: {}", unready.message);
            unready.log.iter().for_each(|line| eprintln!("  {line}"));
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
