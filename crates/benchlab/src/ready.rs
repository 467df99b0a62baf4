// SPDX-License-Identifier: Apache-2.0
//! Subjects installed for, built, and complained about.

use crate::exit::{self, Exit};
use lab_bench::{Builder, Unready, build, interrupt};
use lab_plan::{Experiment, Project, Toolchains};

/// Makes subjects ready, in the order of their names: the SHA-256 of what each was made from, or
/// why it cannot run.
pub fn ready(
    project: &Project,
    experiment: &Experiment,
    names: &[String],
    install: bool,
) -> Result<Vec<Result<String, Unready>>, Exit> {
    let toolchains = Toolchains::read(project)?;
    let mut builder = Builder::new(project, experiment, &toolchains);
    if install {
        let packages = builder.lacking(names);
        if !packages.is_empty() {
            eprintln!("benchlab: installing {}", packages.join(" "));
            build::install(&packages).map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
        }
    }
    let mut outcomes = Vec::new();
    for name in names {
        let outcome = builder.ready(name, &mut |name| eprintln!("benchlab: building {name}"));
        if interrupt::requested() {
            return Err(Exit::new(
                exit::INTERRUPTED,
                "stopped before anything was measured",
            ));
        }
        if let Err(unready) = &outcome {
            eprintln!("benchlab: {name} cannot run: {}", unready.message);
            unready.log.iter().for_each(|line| eprintln!("  {line}"));
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
