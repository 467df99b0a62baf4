// SPDX-License-Identifier: Apache-2.0
//! Subjects that need a working directory: the directories that they get, and the files that
//! remain.

use crate::project::{Outcome, Project, assert_failures, subject};
use lab_model::Metric;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEAD: &str = r#"
[experiment]
title = "Folders"
question = "Which one?"
baseline = "one"
targets = ["folder"]

[target.folder]
each = EACH

[[case]]
name = "work"
work = "nothing much"
unit = "operation"
latencies = true
rate = 20000
turn_ms = 40
"#;

fn head(each: bool) -> String {
    HEAD.replace("EACH", &each.to_string())
}

/// Returns a subject that logs the content of the watched file.
fn folder_subject(name: &str, notes: &Path, watched: &Path, latency_ms: &str) -> String {
    let [notes, watched] = [notes, watched].map(|path| path.to_str().unwrap());
    subject(name, &["folder.py", notes, watched, latency_ms])
}

fn lines(notes: &Path, label: &str) -> Vec<String> {
    let text = fs::read_to_string(notes).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix(label));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Creates a project whose subject is measured in two directories. Also returns the directories and
/// the subject's log.
fn two_directories() -> (Project, [PathBuf; 2], PathBuf) {
    let project = Project::with_text("");
    let directories = ["first place", "second"].map(|name| project.join(name));
    directories
        .iter()
        .for_each(|directory| fs::create_dir(directory).unwrap());
    let notes = project.join("notes");
    project.append(&(head(true) + &folder_subject("one", &notes, Path::new("/none"), "3")));
    (project, directories, notes)
}

fn run_on(project: &Project, directories: &[PathBuf], more: &[&str]) -> Outcome {
    let directories: Vec<&str> = directories
        .iter()
        .map(|directory| directory.to_str().unwrap())
        .collect();
    let on = directories.join(",");
    project.run(&[&["--on", &on], more].concat())
}

#[test]
fn each_directory_is_a_subject_and_is_left_empty() {
    let (project, directories, notes) = two_directories();
    let outcome = run_on(&project, &directories, &[]);
    outcome.expect(0);
    for directory in &directories {
        outcome.says(&[&format!("creating files in {}\n", directory.display())]);
    }
    let run = project.load();
    assert_failures(&run, &[]);
    let plan = run.plan().unwrap();
    let names: Vec<&str> = plan.subjects.iter().map(|s| &*s.name).collect();
    assert_eq!(
        names,
        directories
            .each_ref()
            .map(|directory| directory.to_str().unwrap())
    );
    // The directories of the run were created in the two given ones, and each `open` received the
    // rate of its case.
    let folder_notes = lines(&notes, "folder ");
    for directory in &directories {
        let inside = format!("{}/benchlab-", directory.display());
        assert!(
            folder_notes.iter().any(|line| line.starts_with(&inside)),
            "{folder_notes:?}"
        );
        assert_eq!(
            fs::read_dir(directory).unwrap().count(),
            0,
            "files remain in {directory:?}"
        );
    }
    assert!(
        folder_notes.iter().all(|line| line.ends_with(" 20000")),
        "{folder_notes:?}"
    );
    // For operations at a fixed rate, latencies are compared rather than time.
    let results = lab_stats::results::results(&run);
    let compared: Vec<_> = results
        .comparisons
        .iter()
        .map(|c| &c.key.metric)
        .filter(|m| **m != Metric::MEMORY)
        .collect();
    assert!(
        compared.iter().all(|metric| **metric == Metric::P99),
        "{compared:?}"
    );
    assert!(!compared.is_empty());
}

#[test]
fn a_run_is_resumed_in_the_same_directories() {
    let (project, directories, _) = two_directories();
    run_on(&project, &directories, &[]).expect(0);
    let file = project.file();
    let report = project.call(&["report", file.to_str().unwrap(), "--full"]);
    assert!(
        report.expect(0).stdout.contains("second"),
        "{}",
        report.stdout
    );
    let resumed = project.call(&["resume", file.to_str().unwrap()]);
    resumed.expect(2).says(&["complete"]);
}

#[test]
fn invalid_directories() {
    let (project, directories, _) = two_directories();
    let missing = project.join("gone");
    run_on(&project, &[missing], &[])
        .expect(2)
        .says(&["gone", "No such file"]);
    let duplicate = [directories[0].clone(), directories[0].clone()];
    run_on(&project, &duplicate, &[])
        .expect(2)
        .says(&["specified twice"]);
    run_on(&project, &[PathBuf::from("/proc")], &[])
        .expect(1)
        .says(&["cannot create a directory in /proc"]);
    let other = Project::noop(&[]);
    let folder = other.path().to_str().unwrap().to_owned();
    other
        .run(&["--on", &folder])
        .expect(2)
        .says(&["does not use directories"]);
}

#[test]
fn invalid_rates_are_rejected() {
    for (text, reason) in [
        ("rate = 0", "from 1 to 1,000,000"),
        (
            "rate = 5\n[[case]]\nname = \"other\"\nwork = \"x\"\nunit = \"x\"",
            "has none",
        ),
    ] {
        let project = Project::with_text("");
        let notes = project.join("notes");
        let head = head(false).replace("rate = 20000", text);
        project.append(&(head + &folder_subject("one", &notes, Path::new("/none"), "3")));
        let folder = project.path().to_str().unwrap().to_owned();
        project.run(&["--on", &folder]).expect(2).says(&[reason]);
    }
}

/// With eight operations of each subject per block, the 99th percentile is unknown.
#[test]
fn a_run_says_why_nothing_was_compared() {
    let (project, directories, _) = two_directories();
    let file = project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("rate = 20000", "rate = 100")).unwrap();
    let on = directories
        .each_ref()
        .map(|directory| directory.to_str().unwrap());
    let on = on.join(",");
    let run = ["run", "t", "--quick", "--blocks", "2", "--pairs", "1"];
    let outcome = project.call(&[&run[..], &["--no-control", "--on", &on]].concat());
    let words: Vec<&str> = outcome.expect(0).stdout.split_whitespace().collect();
    let text = "Nothing was compared: a block has about 8 operations of each subject, and a p99 needs at least 100";
    assert!(words.join(" ").contains(text), "{}", outcome.stdout);
}

/// A filesystem on a loop device. It is unmounted when this value is dropped.
struct Loop {
    device: String,
    folder: tempfile::TempDir,
}

impl Loop {
    /// Mounts the filesystem. Without root or the required programs, returns `None` and reports
    /// this on standard error.
    fn new() -> Option<Loop> {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("not tried out: loop devices need root");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (image, mounted) = (folder.path().join("image"), folder.path().join("mounted"));
        fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        fs::create_dir(&mounted).unwrap();
        let run = |program: &str, args: &[&str]| {
            let output = Command::new(program).args(args).output().ok()?;
            let stdout = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success().then_some(stdout)
        };
        let device = run("losetup", &["--find", "--show", image.to_str().unwrap()]);
        let Some(device) = device else {
            eprintln!("not tried out: there are no loop devices");
            return None;
        };
        let created = Loop { device, folder };
        let outcome = run("mkfs.ext4", &["-q", &created.device])
            .and_then(|_| run("mount", &[&created.device, mounted.to_str().unwrap()]));
        if outcome.is_none() {
            eprintln!("not tried out: no filesystem on a loop device");
            return None;
        }
        Some(created)
    }

    fn mount_point(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn unmount(&self) {
        let _ = Command::new("umount").arg(self.mount_point()).output();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.unmount();
        let _ = Command::new("losetup")
            .args(["--detach", &self.device])
            .output();
    }
}

#[test]
fn a_device_stands_for_the_filesystem_on_it() {
    let Some(device) = Loop::new() else { return };
    let project = Project::with_text("");
    let notes = project.join("notes");
    project.append(&(head(false) + &folder_subject("one", &notes, Path::new("/none"), "3")));
    let named = PathBuf::from(&device.device);
    let outcome = run_on(&project, std::slice::from_ref(&named), &[]);
    outcome.expect(0).says(&[&format!(
        "creating files in {}\n",
        device.mount_point().display()
    )]);
    device.unmount();
    run_on(&project, &[named], &[])
        .expect(2)
        .says(&["no writable filesystem of this device is mounted"]);
}
