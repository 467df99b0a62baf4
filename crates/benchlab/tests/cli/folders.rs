// SPDX-License-Identifier: Apache-2.0
//! Subjects that need a working directory: the directories, leftover files, and host settings.
//!
//! Host settings are changed for a subject's turns and restored no matter how benchlab ends. The setting is the
//! scheduler of a loop device.

use crate::project::{Outcome, Project, assert_failures, subject, wait_until};
use lab_model::Metric;
use nix::fcntl::{Flock, FlockArg};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
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

/// A subject that records what it observes in addition to the project's directories.
fn folder_subject(
    name: &str,
    notes: &Path,
    watched: &Path,
    latency_ms: &str,
    host: &str,
) -> String {
    let [notes, watched] = [notes, watched].map(|path| path.to_str().unwrap());
    subject(name, &["folder.py", notes, watched, latency_ms]) + host
}

fn lines(notes: &Path, label: &str) -> Vec<String> {
    let text = fs::read_to_string(notes).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix(label));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Creates a project whose subject is measured in two directories; also returns the directories and its notes.
fn two_places() -> (Project, [PathBuf; 2], PathBuf) {
    let project = Project::with_text("");
    let places = ["first place", "second"].map(|name| project.join(name));
    places
        .iter()
        .for_each(|place| fs::create_dir(place).unwrap());
    let notes = project.join("notes");
    project.append(&(head(true) + &folder_subject("one", &notes, Path::new("/none"), "3", "")));
    (project, places, notes)
}

fn run_on(project: &Project, places: &[PathBuf], more: &[&str]) -> Outcome {
    let places: Vec<&str> = places.iter().map(|place| place.to_str().unwrap()).collect();
    let on = places.join(",");
    project.run(&[&["--on", &on], more].concat())
}

#[test]
fn each_place_is_a_subject_and_nothing_is_left_there() {
    let (project, places, notes) = two_places();
    let outcome = run_on(&project, &places, &[]);
    outcome.expect(0);
    for place in &places {
        outcome.says(&[&format!("creating files in {}\n", place.display())]);
    }
    let run = project.load();
    assert_failures(&run, &[]);
    let plan = run.plan().unwrap();
    let names: Vec<&str> = plan.subjects.iter().map(|s| &*s.name).collect();
    assert_eq!(
        names,
        places.each_ref().map(|place| place.to_str().unwrap())
    );
    // The run's directories were in the two given ones; each open had the rate of its case.
    let folder_notes = lines(&notes, "folder ");
    for place in &places {
        let inside = format!("{}/benchlab-", place.display());
        assert!(
            folder_notes.iter().any(|line| line.starts_with(&inside)),
            "{folder_notes:?}"
        );
        assert_eq!(fs::read_dir(place).unwrap().count(), 0, "left in {place:?}");
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
fn a_run_goes_on_in_the_same_places() {
    let (project, places, _) = two_places();
    run_on(&project, &places, &[]).expect(0);
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
fn places_that_cannot_be() {
    let (project, places, _) = two_places();
    let missing = project.join("gone");
    run_on(&project, &[missing], &[])
        .expect(2)
        .says(&["gone", "No such file"]);
    let duplicate = [places[0].clone(), places[0].clone()];
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
fn a_rate_that_cannot_be() {
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
        project.append(&(head + &folder_subject("one", &notes, Path::new("/none"), "3", "")));
        let folder = project.path().to_str().unwrap().to_owned();
        project.run(&["--on", &folder]).expect(2).says(&[reason]);
    }
}

#[test]
fn settings_that_the_lab_does_not_know() {
    let project = Project::with_text("");
    let host = "host = { \"kernel.panic\" = \"1\" }\n";
    let notes = project.join("notes");
    project.append(&(head(false) + &folder_subject("one", &notes, Path::new("/none"), "3", host)));
    let folder = project.path().to_str().unwrap().to_owned();
    project
        .run(&["--on", &folder])
        .expect(2)
        .says(&["expected queue.NAME or vm.NAME"]);
}

#[test]
fn who_wants_a_device_that_is_not_there_is_left_out_and_named() {
    let project = Project::with_text("");
    let place = project.join("place"); // in memory, so that no device is below it
    fs::create_dir(&place).unwrap();
    let notes = project.join("notes");
    let host = "host = { \"queue.scheduler\" = \"bfq\" }\n";
    let subjects = [
        folder_subject("one", &notes, Path::new("/none"), "3", ""),
        folder_subject("two", &notes, Path::new("/none"), "3", ""),
        folder_subject("other", &notes, Path::new("/none"), "3", host),
    ];
    project.append(&(head(false) + &subjects.concat()));
    if !place.starts_with("/dev/shm") {
        eprintln!("not tried out: there is no filesystem in memory");
        return;
    }
    run_on(&project, &[place], &[])
        .expect(0)
        .says(&["other cannot run", "no device"]);
    assert_failures(&project.load(), &[("other", "setting", "no device")]);
}

#[test]
fn the_baseline_alone_is_measured_if_no_other_can_have_its_setting() {
    let project = Project::with_text("");
    let place = project.join("place");
    fs::create_dir(&place).unwrap();
    if !place.starts_with("/dev/shm") {
        eprintln!("not tried out: there is no filesystem in memory");
        return;
    }
    let notes = project.join("notes");
    let host = "host = { \"queue.scheduler\" = \"bfq\" }\n";
    let subject_of = |name, host| folder_subject(name, &notes, Path::new("/none"), "3", host);
    // A subject that cannot run is not built: this build would fail.
    let third = subject_of("third", host) + "build = [[\"false\"]]\n";
    let subjects = [subject_of("one", ""), subject_of("other", host), third];
    project.append(&(head(false) + &subjects.concat()));
    let on = place.to_str().unwrap();
    let run = ["run", "t", "--quick", "--blocks", "2", "--pairs", "1"];
    let outcome = project.call(&[&run[..], &["--on", on]].concat());
    outcome.expect(0).says(&["other cannot run", "no device"]);
    assert!(!outcome.stderr.contains("`false`"), "{}", outcome.stderr);
    let words = outcome.stdout.split_whitespace().collect::<Vec<_>>();
    let words = words.join(" ");
    for sentence in [
        "Nothing was compared: one was measured alone.",
        "other and third cannot run here and are left out.",
    ] {
        assert!(
            words.contains(sentence),
            "no `{sentence}` in {}",
            outcome.stdout
        );
    }
    // If nothing was compared, no sentence mentions a leader.
    assert!(!words.contains("ahead of all others"), "{}", outcome.stdout);
    assert_eq!(project.load().complete_blocks().count(), 2);
}

/// With eight operations of each subject per block, the 99th percentile is unknown.
#[test]
fn a_run_says_why_nothing_was_compared() {
    let (project, places, _) = two_places();
    let file = project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("rate = 20000", "rate = 100")).unwrap();
    let on = places.each_ref().map(|place| place.to_str().unwrap());
    let on = on.join(",");
    let run = ["run", "t", "--quick", "--blocks", "2", "--pairs", "1"];
    let outcome = project.call(&[&run[..], &["--no-control", "--on", &on]].concat());
    let words: Vec<&str> = outcome.expect(0).stdout.split_whitespace().collect();
    let text = "Nothing was compared: a block has about 8 operations of each subject, and a p99 needs at least 100";
    assert!(words.join(" ").contains(text), "{}", outcome.stdout);
}

/// A filesystem on a loop device, unmounted when this is dropped.
struct Loop {
    device: String,
    folder: tempfile::TempDir,
}

impl Loop {
    /// Returns `None` without root or without the required programs, and says so on standard error.
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
        let offers = fs::read_to_string(created.scheduler()).unwrap_or_default();
        if outcome.is_none() || !offers.contains("mq-deadline") || !offers.contains("none") {
            eprintln!("not tried out: no filesystem on a loop device with schedulers");
            return None;
        }
        fs::write(created.scheduler(), "none").unwrap();
        Some(created)
    }

    fn scheduler(&self) -> PathBuf {
        let name = self.device.trim_start_matches("/dev/");
        Path::new("/sys/block").join(name).join("queue/scheduler")
    }

    fn current_scheduler(&self) -> String {
        let text = fs::read_to_string(self.scheduler()).unwrap();
        let (_, rest) = text.split_once('[').unwrap();
        rest.split_once(']').unwrap().0.to_owned()
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn unmount(&self) {
        let _ = Command::new("umount").arg(self.place()).output();
    }

    /// Returns the files in the filesystem other than `lost+found`.
    fn leftover_files(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.place()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name());
        names.filter(|name| name != "lost+found").collect()
    }

    /// Two subjects with a scheduler each. The file lists first the scheduler that the device does not have
    /// now.
    fn project(&self) -> (Project, PathBuf) {
        let project = Project::with_text("");
        let notes = project.join("notes");
        let subjects =
            [("one", "mq-deadline", "9"), ("other", "none", "3")].map(|(name, scheduler, ms)| {
                let host = format!("host = {{ \"queue.scheduler\" = \"{scheduler}\" }}\n");
                folder_subject(name, &notes, &self.scheduler(), ms, &host)
            });
        project.append(&(head(false) + &subjects.concat()));
        (project, notes)
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
fn schedulers_are_switched_in_turns_and_put_back() {
    let Some(device) = Loop::new() else { return };
    let (project, notes) = device.project();
    // A device stands for the filesystem on it.
    let named = PathBuf::from(&device.device);
    let outcome = run_on(&project, std::slice::from_ref(&named), &[]);
    outcome
        .expect(0)
        .says(&[&format!("creating files in {}\n", device.place().display())]);
    assert_eq!(device.current_scheduler(), "none");
    let run = project.load();
    assert_failures(&run, &[]);
    // The current scheduler is the baseline, regardless of the order in the file.
    let plan = run.plan().unwrap();
    assert_eq!(plan.subjects[plan.baseline].name, "other");
    let schedulers = lines(&notes, "watched ");
    let count = |chosen: &str| {
        schedulers
            .iter()
            .filter(|line| line.contains(chosen))
            .count()
    };
    // Two blocks of two mirrored pairs for each subject.
    assert_eq!(
        (count("[mq-deadline]"), count("[none]")),
        (8, 8),
        "{schedulers:?}"
    );
    let notes = fs::read_dir("/run/benchlab")
        .into_iter()
        .flatten()
        .flatten();
    let own_note = format!("settings-{}", std::process::id());
    assert!(notes.into_iter().all(|note| *note.file_name() != *own_note));
    // The rule is for the subject with latencies of 3 ms; the other subject has 9 ms.
    let name = device.device.trim_start_matches("/dev/");
    let rule = format!("KERNEL==\"{name}\", ATTR{{queue/scheduler}}=\"none\"");
    assert!(outcome.stdout.contains(&rule), "{}", outcome.stdout);
    device.unmount();
    run_on(&project, &[named], &[])
        .expect(2)
        .says(&["no writable filesystem on it is mounted"]);
}

#[test]
fn limits_of_memory_are_set_for_turns_and_put_back() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("not tried out: limits of memory need root");
        return;
    }
    let limits = || ["bytes", "ratio"].map(|unit| dirty_limit(unit).to_string());
    let before = limits();
    let project = Project::with_text("");
    let notes = project.join("notes");
    let watched = Path::new("/proc/sys/vm/dirty_bytes");
    let subjects = [
        ("one", ""),
        ("other", "host = { \"vm.dirty_bytes\" = \"268435456\" }\n"),
    ];
    let subjects = subjects.map(|(name, host)| folder_subject(name, &notes, watched, "3", host));
    project.append(&(head(false) + &subjects.concat()));
    let folder = project.path().to_path_buf();
    run_on(&project, &[folder], &[]).expect(0);
    assert_failures(&project.load(), &[]);
    assert_eq!(limits(), before);
    let limits_seen = lines(&notes, "watched ");
    let count = |value: &str| limits_seen.iter().filter(|line| *line == value).count();
    assert_eq!(
        (count("268435456"), count(&before[0])),
        (8, 8),
        "{limits_seen:?}"
    );
}

/// Reads `vm.dirty_bytes` or `vm.dirty_ratio`; whichever of the two is 0 does not apply.
fn dirty_limit(unit: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/sys/vm/dirty_{unit}")).unwrap();
    text.trim().parse().unwrap()
}

#[test]
fn after_kill_9_the_next_call_puts_back_what_was_changed() {
    let Some(device) = Loop::new() else { return };
    for verb in ["list", "doctor"] {
        let project = restored_by(&device, "1000", |project| project.call(&[verb]));
        let quiet = project.call(&[verb]);
        assert!(!quiet.stderr.contains("killed"), "{}", quiet.stderr);
    }
}

#[test]
fn after_kill_9_resume_puts_back_what_was_changed_and_goes_on() {
    let Some(device) = Loop::new() else { return };
    let project = restored_by(&device, "2", |project| {
        let file = project.file();
        project.call(&["resume", file.to_str().unwrap()])
    });
    assert_failures(&project.load(), &[]);
    // The directory that the killed benchlab left behind is removed, too.
    assert_eq!(device.leftover_files(), Vec::<OsString>::new());
}

#[test]
fn a_lab_waits_for_another_that_puts_settings_back() {
    let Some(device) = Loop::new() else { return };
    let mut killed = Command::new("true").spawn().unwrap();
    killed.wait().unwrap();
    fs::write(device.scheduler(), "mq-deadline").unwrap();
    let notes = Path::new("/run/benchlab");
    let created = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(notes);
    created.unwrap();
    let note = notes.join(format!("settings-{}", killed.id()));
    let file = fs::File::create(&note).unwrap();
    let putting_back = Flock::lock(file, FlockArg::LockExclusive).unwrap();
    fs::write(&note, format!("{}\tnone\n", device.scheduler().display())).unwrap();

    let (project, _) = device.project();
    let mut lab = project.start(&["list"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(lab.try_wait().unwrap(), None);
    fs::write(device.scheduler(), "none").unwrap();
    fs::remove_file(&note).unwrap();
    drop(putting_back);
    assert!(lab.wait().unwrap().success());
}

/// Kills runs until the next call of their project reports that it restored their settings.
///
/// Any benchlab process on this machine restores them, so a process of a parallel test may come first.
fn restored_by(device: &Loop, blocks: &str, next: impl Fn(&Project) -> Outcome) -> Project {
    for _ in 0..20 {
        let (project, _) = device.project();
        if !kill_in_turn(&project, device, blocks) {
            continue;
        }
        let outcome = next(&project);
        outcome.expect(0);
        wait_until("it is restored", || device.current_scheduler() == "none");
        let messages = ["a killed run left", "restored to none"];
        if messages.iter().all(|words| outcome.stderr.contains(words)) {
            return project;
        }
    }
    panic!("the next call never said so");
}

/// Kills a run while the other scheduler is set; returns `false` if that never happened while it was stopped.
fn kill_in_turn(project: &Project, device: &Loop, blocks: &str) -> bool {
    let mut lab = start_in_turn(project, device, blocks);
    // benchlab switches the scheduler back and forth; it stays the same while benchlab is stopped.
    let caught = (0..1000).any(|_| {
        signal(&lab, "-STOP");
        wait_until("it is stopped", || is_stopped(&lab));
        let caught = device.current_scheduler() == "mq-deadline";
        if !caught {
            signal(&lab, "-CONT");
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        caught
    });
    if caught {
        // Another benchlab does not restore the settings of a process that still exists, even if that process
        // is stopped.
        project.call(&["list"]).expect(0);
        assert_eq!(device.current_scheduler(), "mq-deadline");
    }
    lab.kill().unwrap();
    lab.wait().unwrap();
    caught
}

/// Returns true if all threads of a process are stopped: a thread finishes a write before it stops.
fn is_stopped(process: &std::process::Child) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", process.id()));
    threads.unwrap().flatten().all(|thread| {
        let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
        state.is_empty() || state.starts_with(['T', 'Z'])
    })
}

#[test]
fn ctrl_c_puts_back_what_was_changed() {
    let Some(device) = Loop::new() else { return };
    let (project, _) = device.project();
    let mut lab = start_in_turn(&project, &device, "1000");
    // Another run would mistake the changed setting for the original one.
    let (other, _) = device.project();
    let reason = format!("another run changes {}", device.scheduler().display());
    run_on(&other, &[device.place()], &[])
        .expect(1)
        .says(&[&reason]);
    signal(&lab, "-INT");
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_eq!(device.current_scheduler(), "none");
    assert_eq!(device.leftover_files(), Vec::<OsString>::new());
}

/// Starts benchlab on the device and waits for a turn with the other scheduler.
fn start_in_turn(project: &Project, device: &Loop, blocks: &str) -> std::process::Child {
    let place = device.place();
    let lab = project.start(&[
        "run",
        "t",
        "--blocks",
        blocks,
        "--pairs",
        "40",
        "--seed",
        "7",
        "--redo",
        "0",
        "--on",
        place.to_str().unwrap(),
    ]);
    wait_until("another scheduler", || {
        device.current_scheduler() == "mq-deadline"
    });
    lab
}

fn signal(process: &std::process::Child, signal: &str) {
    let pid = process.id().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &pid])
            .status()
            .unwrap()
            .success()
    );
}
