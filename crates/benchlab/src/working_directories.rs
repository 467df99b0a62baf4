// SPDX-License-Identifier: Apache-2.0
//! Working directories for subjects of experiments about disks.

use crate::cli::{RunArgs, RunOn};
use crate::exit::Exit;
use crate::measuring;
use crate::output::say;
use lab_bench::MountedDirectory;
use lab_host::not_a_disk;
use lab_model::host::HostFinding;
use lab_model::{Host, Plan, TargetKind};
use lab_plan::{Experiment, Project};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the directories of `--on`, or all default directories.
///
/// The result is empty if the experiment's subjects do not need a working directory.
///
/// # Errors
/// Returns an error if a directory cannot be used or is specified twice, or if the experiment does not use
/// directories.
pub fn working_directories(
    experiment: &Experiment,
    args: &RunArgs,
) -> Result<Vec<MountedDirectory>, Exit> {
    let in_folder = experiment
        .targets
        .iter()
        .any(|t| t.kind == TargetKind::Folder);
    let requested: Vec<&PathBuf> = args.on.iter().flat_map(RunOn::folders).collect();
    if !in_folder {
        return if requested.is_empty() {
            Ok(Vec::new())
        } else {
            Err(Exit::invalid(format!(
                "--on: `{}` does not use directories; specify hosts as ssh:HOST, slurm:8 or local:2",
                experiment.name
            )))
        };
    }
    let error = |reason| Exit::invalid(format!("--on {reason}"));
    let mut directories: Vec<MountedDirectory> = if requested.is_empty() {
        MountedDirectory::all()
    } else {
        let directories = requested.iter();
        let directories =
            directories.map(|folder| MountedDirectory::examine(folder).map_err(error));
        directories.collect::<Result<_, _>>()?
    };
    if let Some(duplicate) =
        (1..directories.len()).find(|&i| directories[..i].contains(&directories[i]))
    {
        let folder = directories[duplicate].folder.display().to_string();
        return Err(error(format!("{folder} is specified twice")));
    }
    if !experiment.each_directory {
        if directories.len() > 1 && !requested.is_empty() {
            return Err(error(format!(
                "…: `{}` uses only one directory",
                experiment.name
            )));
        }
        directories.truncate(1);
    }
    if directories.is_empty() {
        return Err(Exit::invalid(
            "no disk has a writable filesystem with 2 GiB free: specify a directory with --on",
        ));
    }
    for directory in &directories {
        eprintln!(
            "benchlab: {} is {}",
            directory.folder.display(),
            directory.description()
        );
    }
    for shared in on_one_disk(&directories) {
        eprintln!("benchlab: {shared}: {SAME_DISK_ADVICE}");
    }
    Ok(directories)
}

const SAME_DISK_ADVICE: &str = "the run compares this disk with itself";

/// Returns a phrase for each disk with more than one of the directories, such as `/a and /c are on vda`.
fn on_one_disk(directories: &[MountedDirectory]) -> Vec<String> {
    let mut disks: Vec<(&str, Vec<String>)> = Vec::new();
    for directory in directories {
        let Some(disk) = directory.disk.as_deref() else {
            continue;
        };
        let folder = directory.folder.display().to_string();
        match disks.iter_mut().find(|(name, _)| *name == disk) {
            Some((_, folders)) => folders.push(folder),
            None => disks.push((disk, vec![folder])),
        }
    }
    disks.retain(|(_, folders)| folders.len() > 1);
    let phrases = disks.iter();
    let phrases = phrases.map(|(disk, folders)| format!("{} are on {disk}", folders.join(" and ")));
    phrases.collect()
}

/// Adds a fact to the host for each directory, and findings about directories that are not on a
/// real disk or that are on the same disk.
pub fn with_directories(mut host: Host, directories: &[MountedDirectory]) -> Host {
    for directory in directories {
        let folder = directory.folder.display().to_string();
        host.facts.push((folder.clone(), directory.description()));
        let cache = directory.disk.as_deref().and_then(not_a_disk);
        host.findings.extend(cache.map(|cache| HostFinding {
            unfit: false,
            what: format!("{folder} is on {cache}"),
            advice: "the measured values include the speed of that cache".into(),
        }));
    }
    host.findings.extend(
        on_one_disk(directories)
            .into_iter()
            .map(|shared| HostFinding {
                unfit: false,
                what: shared,
                advice: SAME_DISK_ADVICE.into(),
            }),
    );
    host
}

/// Runs the experiment's `why` program, which shows the processes that are waiting while the
/// subject is slow.
///
/// The program runs with a temporary directory in the run's first directory as its last argument,
/// and its output is printed.
///
/// # Errors
/// Returns an error if the experiment has no such program, or if it failed.
pub fn run_why_program(
    project: &Project,
    experiment: &Experiment,
    plan: &Plan,
) -> Result<(), Exit> {
    let Some((program, arguments)) = experiment.why.split_first() else {
        let name = &experiment.name;
        return Err(Exit::invalid(format!(
            "--why: `{name}` does not support this option"
        )));
    };
    let directory = plan
        .subjects
        .iter()
        .find_map(|subject| subject.place.clone());
    let scratch = measuring::scratch(directory.as_deref().map(Path::new))?;
    let output = Command::new(project.folder().join(program))
        .args(arguments)
        .arg(scratch.folder())
        .current_dir(project.folder())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| Exit::failed(format!("{program}: {e}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let plain = |c: char| if c.is_control() && c != '\n' { '?' } else { c };
    let text: String = text.chars().map(plain).collect();
    say!("{}", text.trim_end());
    if output.status.success() {
        Ok(())
    } else {
        Err(Exit::failed(format!(
            "{program} failed with {}",
            output.status
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_on_one_disk_are_named_together() {
        let directory = |folder: &str, disk: Option<&str>| MountedDirectory {
            folder: folder.into(),
            filesystem: "ext4".into(),
            disk: disk.map(str::to_owned),
        };
        let directories = [
            directory("/a", Some("vda")),
            directory("/b", Some("vdb")),
            directory("/c", Some("vda")),
            directory("/dev/shm", None),
            directory("/run", None),
        ];
        assert_eq!(on_one_disk(&directories), ["/a and /c are on vda"]);
    }
}
