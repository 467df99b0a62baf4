// SPDX-License-Identifier: Apache-2.0
//! The folders that subjects of an experiment about disks work in, and what is known of them.

use crate::cli::{RunArgs, RunOn};
use crate::exit::{self, Exit};
use crate::measuring;
use crate::output::say;
use lab_bench::{Place, host_settings, not_a_disk};
use lab_model::host::Finding;
use lab_model::{Failure, Host, Plan, Subject, TargetKind};
use lab_plan::{Experiment, Project};
use lab_stats::results::Over;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Those that were asked for, or else all; none for an experiment whose subjects work in no folder.
pub fn places(experiment: &Experiment, args: &RunArgs) -> Result<Vec<Place>, Exit> {
    let in_folder = experiment
        .targets
        .iter()
        .any(|t| t.kind == TargetKind::Folder);
    let asked: Vec<&PathBuf> = args.on.iter().flat_map(RunOn::folders).collect();
    if !in_folder {
        return if asked.is_empty() {
            Ok(Vec::new())
        } else {
            Err(Exit::wrong(format!(
                "--on: `{}` works in no folder; hosts are named as ssh:HOST, slurm:8 or local:2",
                experiment.name
            )))
        };
    }
    let wrong = |why| Exit::wrong(format!("--on {why}"));
    let mut places: Vec<Place> = if asked.is_empty() {
        Place::all()
    } else {
        let asked = asked.iter();
        let asked = asked.map(|folder| Place::at(folder).map_err(wrong));
        asked.collect::<Result<_, _>>()?
    };
    if let Some(twice) = (1..places.len()).find(|&i| places[..i].contains(&places[i])) {
        let folder = places[twice].folder.display().to_string();
        return Err(wrong(format!("{folder}: it is named twice")));
    }
    if !experiment.each_place {
        if places.len() > 1 && !asked.is_empty() {
            return Err(wrong(format!(
                "…: `{}` works in one folder",
                experiment.name
            )));
        }
        places.truncate(1);
    }
    if places.is_empty() {
        return Err(Exit::wrong(
            "no writable filesystem with 2 GiB free is on a disk: name a folder with --on",
        ));
    }
    for place in &places {
        eprintln!(
            "benchlab: {} is {}",
            place.folder.display(),
            place.description()
        );
    }
    Ok(places)
}

/// What the places are on, among the facts of the host; what is no disk, among its findings.
pub fn told(mut host: Host, places: &[Place]) -> Host {
    for place in places {
        let folder = place.folder.display().to_string();
        host.facts.push((folder.clone(), place.description()));
        let other = place.disk.as_deref().and_then(not_a_disk);
        host.findings.extend(other.map(|what| Finding {
            unfit: false,
            what: format!("{folder} is on {what}"),
            advice: "its figures are of that cache as much as of a disk".into(),
        }));
    }
    host
}

/// The subject whose settings the host has now: what others are compared with, unless the reader says otherwise.
pub fn present(experiment: &Experiment, args: &RunArgs, places: &[Place]) -> Option<String> {
    let place = places.first()?.folder.to_str()?;
    let named = |name: &String| {
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
        .filter(|s| !s.model.host.is_empty() && named(&s.model.name));
    let present = subjects.find(|s| host_settings::is_present(&s.model.host, Some(place)));
    present.map(|subject| subject.model.name.clone())
}

/// Subjects for which the lab cannot make the host as they want it.
pub fn unavailable(plan: &Plan, failures: &[Failure]) -> Vec<Failure> {
    let mut found = Vec::new();
    for (number, subject) in plan.subjects.iter().enumerate() {
        let failed = failures.iter().any(|failure| failure.subject == number);
        let why = host_settings::unavailable(&subject.host, subject.place.as_deref());
        if let Some(message) = why.filter(|_| !failed) {
            eprintln!("benchlab: {} cannot run: {message}", subject.name);
            found.push(Failure {
                subject: number,
                point: None,
                block: None,
                kind: "setting".into(),
                message,
                log: Vec::new(),
            });
        }
    }
    found
}

/// How the settings of the subject that won are made permanent; nothing of a run that changed none.
pub fn rule(plan: &Plan, file: &Path) -> Result<(), Exit> {
    if plan.subjects.iter().all(|subject| subject.host.is_empty()) {
        return Ok(());
    }
    let run = lab_store::load(file)?;
    let points: Vec<_> = (0..plan.points.len()).collect();
    let (results, over) = (lab_stats::results::results(&run), Over::all(&points));
    let mut rankings = results.rankings.iter();
    let ranking = rankings.find(|ranking| ranking.over == over && ranking.metric == *plan.answer());
    let is_compared = |subject| plan.compared().any(|compared| compared == subject);
    if results.blocks == 0 {
        return Ok(());
    }
    let first = ranking
        .map(|ranking| ranking.first(is_compared))
        .unwrap_or_default();
    let [winner] = first.as_slice() else {
        say!("\nNone is ahead of all others beyond doubt: there is no setting to make permanent.");
        return Ok(());
    };
    let winner = &plan.subjects[*winner];
    say!("\n{} is ahead of all others.", winner.name);
    for (file, line) in permanent(winner) {
        say!("To make it permanent, in {file}:\n{line}");
    }
    Ok(())
}

/// Files of the host and a line for each, which make a subject's settings permanent.
fn permanent(subject: &Subject) -> impl Iterator<Item = (&'static str, String)> {
    let place = subject.place.as_deref().map(Path::new);
    let disk = place.and_then(|place| Place::at(place).ok()?.disk);
    subject.host.iter().filter_map(move |(name, value)| {
        match name.split_once('.')? {
            ("queue", name) => {
                let disk = disk.as_ref()?;
                let line = format!(
                    "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"{disk}\", ATTR{{queue/{name}}}=\"{value}\""
                );
                Some(("/etc/udev/rules.d/60-io-scheduler.rules", line))
            }
            _ => Some(("/etc/sysctl.d/60-io.conf", format!("{name} = {value}"))),
        }
    })
}

/// Runs the experiment's program that shows who waits while it is slow, in a folder in the run's first place.
pub fn why(project: &Project, experiment: &Experiment, plan: &Plan) -> Result<(), Exit> {
    let Some((program, arguments)) = experiment.why.split_first() else {
        let name = &experiment.name;
        return Err(Exit::wrong(format!(
            "--why: `{name}` has no program that shows it"
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
        .map_err(|e| Exit::new(exit::FAILED, format!("{program}: {e}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let plain = |c: char| if c.is_control() && c != '\n' { '?' } else { c };
    let text: String = text.chars().map(plain).collect();
    say!("{}", text.trim_end());
    if output.status.success() {
        Ok(())
    } else {
        Err(Exit::new(
            exit::FAILED,
            format!("{program} ended with {}", output.status),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_memory_are_made_permanent_by_sysctl() {
        let subject = Subject {
            host: vec![
                ("vm.dirty_bytes".into(), "33554432".into()),
                ("queue.scheduler".into(), "bfq".into()),
            ],
            place: Some("/proc".into()),
            ..Subject::default()
        };
        // No disk is below the place, so that there is none to name in a rule.
        let lines: Vec<_> = permanent(&subject).collect();
        let wanted = "vm.dirty_bytes = 33554432".to_owned();
        assert_eq!(lines, [("/etc/sysctl.d/60-io.conf", wanted)]);
    }
}
