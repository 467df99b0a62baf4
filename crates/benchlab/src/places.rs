// SPDX-License-Identifier: Apache-2.0
//! Working directories for subjects of experiments about disks, and the host settings of these subjects.

use crate::cli::{RunArgs, RunOn};
use crate::exit::Exit;
use crate::measuring;
use crate::output::say;
use lab_bench::{Place, host_settings};
use lab_host::not_a_disk;
use lab_model::host::HostFinding;
use lab_model::{Failure, Host, Plan, Subject, TargetKind};
use lab_plan::{Experiment, Project};
use lab_stats::results::Over;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the directories of `--on`, or all default directories.
///
/// The result is empty if the experiment's subjects do not need a working directory.
///
/// # Errors
/// Returns an error if a directory cannot be used or is specified twice, or if the experiment does not use
/// directories.
pub fn places(experiment: &Experiment, args: &RunArgs) -> Result<Vec<Place>, Exit> {
    let in_folder = experiment
        .targets
        .iter()
        .any(|t| t.kind == TargetKind::Folder);
    let requested: Vec<&PathBuf> = args.on.iter().flat_map(RunOn::folders).collect();
    if !in_folder {
        return if requested.is_empty() {
            Ok(Vec::new())
        } else {
            Err(Exit::wrong(format!(
                "--on: `{}` does not use directories; specify hosts as ssh:HOST, slurm:8 or local:2",
                experiment.name
            )))
        };
    }
    let error = |reason| Exit::wrong(format!("--on {reason}"));
    let mut places: Vec<Place> = if requested.is_empty() {
        Place::all()
    } else {
        let places = requested.iter();
        let places = places.map(|folder| Place::at(folder).map_err(error));
        places.collect::<Result<_, _>>()?
    };
    if let Some(duplicate) = (1..places.len()).find(|&i| places[..i].contains(&places[i])) {
        let folder = places[duplicate].folder.display().to_string();
        return Err(error(format!("{folder} is specified twice")));
    }
    if !experiment.each_place {
        if places.len() > 1 && !requested.is_empty() {
            return Err(error(format!(
                "…: `{}` uses only one directory",
                experiment.name
            )));
        }
        places.truncate(1);
    }
    if places.is_empty() {
        return Err(Exit::wrong(
            "no disk has a writable filesystem with 2 GiB free: specify a directory with --on",
        ));
    }
    for place in &places {
        eprintln!(
            "benchlab: {} is {}",
            place.folder.display(),
            place.description()
        );
    }
    for shared in on_one_disk(&places) {
        eprintln!("benchlab: {shared}: {WITH_ITSELF}");
    }
    Ok(places)
}

const WITH_ITSELF: &str = "a disk is compared with itself";

/// Returns a phrase for each disk with more than one of the directories, such as `/a and /c are on vda`.
fn on_one_disk(places: &[Place]) -> Vec<String> {
    let mut disks: Vec<(&str, Vec<String>)> = Vec::new();
    for place in places {
        let Some(disk) = place.disk.as_deref() else {
            continue;
        };
        let folder = place.folder.display().to_string();
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

/// Adds a fact to the host for each directory, and findings about directories that are not on a real disk or that
/// share a disk.
pub fn with_places(mut host: Host, places: &[Place]) -> Host {
    for place in places {
        let folder = place.folder.display().to_string();
        host.facts.push((folder.clone(), place.description()));
        let cache = place.disk.as_deref().and_then(not_a_disk);
        host.findings.extend(cache.map(|cache| HostFinding {
            unfit: false,
            what: format!("{folder} is on {cache}"),
            advice: "its values measure that cache as much as a disk".into(),
        }));
    }
    host.findings
        .extend(on_one_disk(places).into_iter().map(|shared| HostFinding {
            unfit: false,
            what: shared,
            advice: WITH_ITSELF.into(),
        }));
    host
}

/// Returns the subject whose settings the host has now.
///
/// This subject is the baseline unless the user specifies another one.
pub fn current_subject(
    experiment: &Experiment,
    args: &RunArgs,
    places: &[Place],
) -> Option<String> {
    let place = places.first()?.folder.to_str()?;
    let is_selected = |name: &String| {
        let members = args
            .subjects
            .iter()
            .filter_map(|s| experiment.selections.get(s));
        args.subjects.is_empty()
            || args.subjects.contains(name)
            || members.flatten().any(|m| m == name)
    };
    let mut subjects = experiment
        .subjects
        .iter()
        .filter(|s| !s.model.host.is_empty() && is_selected(&s.model.name));
    let current = subjects.find(|s| host_settings::is_present(&s.model.host, Some(place)));
    current.map(|subject| subject.model.name.clone())
}

/// Returns a failure for each subject whose host settings benchlab cannot apply.
pub fn unavailable(plan: &Plan) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (number, subject) in plan.subjects.iter().enumerate() {
        let message = host_settings::unavailable(&subject.host, subject.place.as_deref());
        if let Some(message) = message {
            if subject.control_of.is_none() {
                eprintln!("benchlab: {} cannot run: {message}", subject.name);
            }
            failures.push(Failure {
                subject: number,
                point: None,
                block: None,
                kind: "setting".into(),
                message,
                log: Vec::new(),
            });
        }
    }
    failures
}

/// Prints how to make the settings of the winning subject permanent; prints nothing if the run changed no
/// settings.
pub fn print_permanent_settings(plan: &Plan, file: &Path) -> Result<(), Exit> {
    if plan.subjects.iter().all(|subject| subject.host.is_empty()) {
        return Ok(());
    }
    let run = lab_store::load(file)?;
    let points: Vec<_> = (0..plan.points.len()).collect();
    let (results, over) = (lab_stats::results::results(&run), Over::all(&points));
    let mut rankings = results.rankings.iter();
    let ranking = rankings.find(|ranking| ranking.over == over && ranking.metric == *plan.answer());
    let is_compared = |subject| plan.compared().any(|compared| compared == subject);
    // Without a ranking, nothing was compared.
    let Some(ranking) = ranking else {
        return Ok(());
    };
    let first = ranking.first(is_compared);
    let [winner] = first.as_slice() else {
        say!("\nNo setting is clearly ahead of all others, so there is nothing to make permanent.");
        return Ok(());
    };
    let winner = &plan.subjects[*winner];
    say!("\n{} is ahead of all others.", winner.name);
    let place = winner.place.as_deref().map(Path::new);
    let disk = place.and_then(|place| Place::at(place).ok()?.disk);
    for (file, line) in permanent_lines(winner, disk.as_deref()) {
        say!("To make it permanent, in {file}:\n{line}");
    }
    Ok(())
}

/// Returns lines that make a subject's settings permanent, each with the configuration file that it belongs to.
///
/// Queue settings apply to the subject's disk.
fn permanent_lines(
    subject: &Subject,
    disk: Option<&str>,
) -> impl Iterator<Item = (&'static str, String)> {
    subject.host.iter().filter_map(move |(name, value)| {
        match name.split_once('.')? {
            ("queue", name) => {
                let disk = disk?;
                let line = format!(
                    "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"{disk}\", ATTR{{queue/{name}}}=\"{value}\""
                );
                Some(("/etc/udev/rules.d/60-io-scheduler.rules", line))
            }
            _ => Some(("/etc/sysctl.d/60-io.conf", format!("{name} = {value}"))),
        }
    })
}

/// Runs the experiment's `why` program, which shows the processes that wait while the subject is slow.
///
/// The program runs in a temporary directory in the run's first directory, and its output is printed.
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
        return Err(Exit::wrong(format!(
            "--why: `{name}` does not support this option"
        )));
    };
    let place = plan
        .subjects
        .iter()
        .find_map(|subject| subject.place.clone());
    let scratch = measuring::scratch(place.as_deref().map(Path::new))?;
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

    fn subject() -> Subject {
        Subject {
            host: vec![
                ("vm.dirty_bytes".into(), "33554432".into()),
                ("queue.scheduler".into(), "bfq".into()),
            ],
            ..Subject::default()
        }
    }

    #[test]
    fn a_setting_is_made_permanent_by_sysctl_and_a_scheduler_by_a_rule_of_udev() {
        let subject = subject();
        let limits = || ("/etc/sysctl.d/60-io.conf", "vm.dirty_bytes = 33554432");
        let rule = (
            "/etc/udev/rules.d/60-io-scheduler.rules",
            r#"ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="vda", ATTR{queue/scheduler}="bfq""#,
        );
        let lines = |disk| permanent_lines(&subject, disk).collect::<Vec<_>>();
        let owned = |(file, line): (&'static str, &str)| (file, line.to_owned());
        assert_eq!(lines(Some("vda")), [limits(), rule].map(owned));
        // A udev rule needs the name of a disk.
        assert_eq!(lines(None), [limits()].map(owned));
    }

    #[test]
    fn folders_on_one_disk_are_named_together() {
        let place = |folder: &str, disk: Option<&str>| Place {
            folder: folder.into(),
            filesystem: "ext4".into(),
            disk: disk.map(str::to_owned),
        };
        let places = [
            place("/a", Some("vda")),
            place("/b", Some("vdb")),
            place("/c", Some("vda")),
            place("/dev/shm", None),
            place("/run", None),
        ];
        assert_eq!(on_one_disk(&places), ["/a and /c are on vda"]);
    }
}
