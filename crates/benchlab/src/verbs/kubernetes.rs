// SPDX-License-Identifier: Apache-2.0
//! `benchlab manifest`, and `benchlab kubernetes-job`, which is started by `--on k8s:N` and not meant for
//! users.

use crate::cli::KubernetesJobArgs;
use crate::exit::Exit;
use crate::output::write_stdout;
use lab_many::launcher::kubernetes::{self, job};
use std::process::ExitCode;

/// Prints the default manifest of a Job.
pub fn manifest() -> Result<ExitCode, Exit> {
    write_stdout(kubernetes::MANIFEST.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Attaches to a Job's container, or deletes the Job.
pub fn job(args: &KubernetesJobArgs) -> Result<ExitCode, Exit> {
    let manifest = args.manifest.as_deref();
    let reason = match (args.delete, args.bytes) {
        (false, Some(bytes)) => job::connect(&args.name, bytes, manifest),
        _ => job::delete(&args.name, manifest),
    };
    Err(Exit::failed(reason))
}
