// SPDX-License-Identifier: Apache-2.0
//! Settings of the host that a run changes for a subject's turns, and that are put back whatever becomes of the lab.

use crate::fault::{Fault, SubjectResult};
use crate::places::Place;
use crate::session::BenchError;
use lab_host::procfs;
use lab_model::{Plan, SubjectId};
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::Pid;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Where notes of changed settings lie. A restart of the machine removes the notes and undoes the changes.
const NOTES: &str = "/run/benchlab";
const PREFIX: &str = "settings-";
/// Longest note, in bytes.
const MAX_NOTE: u64 = 1 << 16;
/// How long another lab may take to put settings back: a disk finishes its requests before its scheduler changes.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of the host that the subjects of a plan need. Dropping it puts everything back.
#[derive(Default)]
pub struct HostSettings {
    changed: Vec<HostSetting>,
    /// For each subject, the value of each changed setting; `None`: the original.
    requested: Vec<Vec<Option<String>>>,
    note: Option<Note>,
}

struct HostSetting {
    path: PathBuf,
    /// The original value: a file, and the text to write there.
    original: (PathBuf, String),
    /// The value that the lab set; `None`: the original.
    current: Option<String>,
}

impl HostSettings {
    /// Reads the host's settings and changes none yet. Error: another lab changes one of them.
    pub fn new(plan: &Plan) -> Result<HostSettings, BenchError> {
        let mut settings = HostSettings::default();
        for subject in &plan.subjects {
            for (name, _) in &subject.host {
                // A subject whose setting has no file was refused before.
                let Some(path) = path(name, subject.place.as_deref()) else {
                    continue;
                };
                let is_listed = settings.changed.iter().any(|setting| setting.path == path);
                if let Some(original) = original(&path).filter(|_| !is_listed) {
                    // A value that another lab changes is not the original.
                    check_unnoted(&path).map_err(|e| BenchError::System(NOTES.into(), e))?;
                    let current = None;
                    settings.changed.push(HostSetting {
                        path,
                        original,
                        current,
                    });
                }
            }
        }
        for subject in &plan.subjects {
            let values = settings.changed.iter().map(|setting| {
                let mut requests = subject.host.iter();
                let request = requests.find(|(name, _)| {
                    path(name, subject.place.as_deref()).as_ref() == Some(&setting.path)
                });
                request.map(|(_, value)| value.clone())
            });
            settings.requested.push(values.collect());
        }
        Ok(settings)
    }

    /// Sets the host's settings for a subject.
    pub fn apply(&mut self, subject: SubjectId) -> SubjectResult<()> {
        for (number, requested) in self.requested[subject].clone().into_iter().enumerate() {
            let setting = &self.changed[number];
            let requested = requested.filter(|value| *value != setting.original.1);
            if setting.current == requested {
                continue;
            }
            let failed = |path: &Path, e: io::Error| {
                Fault::Failed("setting", format!("{}: {e}", path.display()))
            };
            if self.note.is_none() {
                let note = Note::write(&self.changed);
                self.note = Some(note.map_err(|e| failed(Path::new(NOTES), e))?);
            }
            let (path, value) = match &requested {
                Some(value) => (&setting.path, value),
                None => (&setting.original.0, &setting.original.1),
            };
            write(path, value).map_err(|e| failed(path, e))?;
            let read = value_of(path).unwrap_or_default();
            if read != *value {
                let message = format!(
                    "{} is {read}, not {value}, after it was written",
                    path.display()
                );
                return Err(Fault::Failed("setting", message));
            }
            self.changed[number].current = requested;
        }
        Ok(())
    }
}

impl Drop for HostSettings {
    fn drop(&mut self) {
        let mut is_all_restored = true;
        for setting in self
            .changed
            .iter()
            .filter(|setting| setting.current.is_some())
        {
            let (path, value) = &setting.original;
            if let Err(e) = write(path, value) {
                is_all_restored = false;
                eprintln!(
                    "benchlab: {} could not be put back to {value}: {e}",
                    path.display()
                );
            }
        }
        // A note that stays makes the next lab try again.
        if let Some(note) = self.note.take().filter(|_| is_all_restored) {
            let _ = fs::remove_file(note.path);
        }
    }
}

/// True if the host has these settings already.
pub fn is_present(host: &[(String, String)], place: Option<&str>) -> bool {
    let is_set = |(name, value): &(String, String)| {
        path(name, place)
            .and_then(|path| value_of(&path))
            .as_deref()
            == Some(value)
    };
    host.iter().all(is_set)
}

/// Why the lab cannot change the host to these settings; `None`: it can, or they are set already.
pub fn unavailable(host: &[(String, String)], place: Option<&str>) -> Option<String> {
    host.iter().find_map(|(name, value)| {
        let Some(path) = path(name, place) else {
            return Some(format!(
                "the filesystem of its folder has no device with a setting {name}"
            ));
        };
        let Ok(text) = fs::read_to_string(&path) else {
            return Some(format!("{} cannot be read", path.display()));
        };
        if value_of(&path).as_deref() == Some(value) {
            return None;
        }
        let offered: Vec<&str> = text
            .split_whitespace()
            .map(|word| word.trim_matches(['[', ']']))
            .collect();
        if name == "queue.scheduler" && !offered.contains(&value.as_str()) {
            let offered = offered.join(", ");
            return Some(format!(
                "{} offers {offered}; `modprobe {value}` may add {value}",
                path.display()
            ));
        }
        use nix::unistd::{AccessFlags, access};
        let is_denied =
            access(&path, AccessFlags::W_OK).is_err() || !nix::unistd::geteuid().is_root();
        is_denied.then(|| {
            format!(
                "the right to write {} is missing: run it as root",
                path.display()
            )
        })
    })
}

/// Puts back what labs that were killed left changed. Returns what was done, a message each.
pub fn restore_abandoned() -> Vec<String> {
    let mut messages = Vec::new();
    for path in notes() {
        let Ok(file) = File::open(&path) else {
            continue;
        };
        let Some(mut file) = lock_abandoned(&path, file) else {
            continue;
        };
        let mut text = String::new();
        if (&mut *file)
            .take(MAX_NOTE)
            .read_to_string(&mut text)
            .is_err()
        {
            continue;
        }
        let mut is_all_restored = true;
        for (path, value) in settings_in(&text) {
            match value_of(path) {
                Some(current) if current == value => {}
                current => {
                    let written = write(path, value);
                    is_all_restored &= written.is_ok() || current.is_none();
                    let outcome = match written {
                        Ok(()) => format!("put back to {value}"),
                        Err(e) => format!("it could not be put back to {value}: {e}"),
                    };
                    let current = current.unwrap_or_else(|| "gone".into());
                    messages.push(format!(
                        "a run that was killed left {} {current}: {outcome}",
                        path.display()
                    ));
                }
            }
        }
        if is_all_restored {
            let _ = fs::remove_file(&path);
        }
    }
    messages
}

/// Locks a note whose lab is gone. `None`: that lab is at work, or another has put back what it changed.
fn lock_abandoned(path: &Path, mut file: File) -> Option<Flock<File>> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Some(locked),
            Err(_) if is_at_work(path) || Instant::now() > deadline => return None,
            Err((file, _)) => file,
        };
        thread::sleep(Duration::from_millis(5));
    }
}

/// True if the lab that wrote a note runs. Its process has the number in the note's name.
fn is_at_work(note: &Path) -> bool {
    let name = note.file_name().and_then(|name| name.to_str());
    let pid = name.and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
    pid.is_some_and(|pid| procfs::start_ticks(Pid::from_raw(pid)).is_some())
}

/// The originals of settings, written before the first change. It is locked while its lab lives.
struct Note {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Note {
    fn write(settings: &[HostSetting]) -> io::Result<Note> {
        fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(NOTES)?;
        if fs::symlink_metadata(NOTES)?.uid() != nix::unistd::geteuid().as_raw() {
            return Err(io::Error::other("the folder is somebody else's"));
        }
        for setting in settings {
            check_unnoted(&setting.path)?;
        }
        let path = Path::new(NOTES).join(format!("{PREFIX}{}", std::process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let mut lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e)?;
        for HostSetting { original, .. } in settings {
            writeln!(lock, "{}\t{}", original.0.display(), original.1)?;
        }
        lock.sync_all()?;
        Ok(Note { path, _lock: lock })
    }
}

/// Error: a note names the setting, or the other form of the same limit.
fn check_unnoted(setting: &Path) -> io::Result<()> {
    let names = |note: &PathBuf| {
        fs::read_to_string(note)
            .is_ok_and(|text| settings_in(&text).any(|(path, _)| limit(path) == limit(setting)))
    };
    notes().find(names).map_or(Ok(()), |note| {
        let (setting, note) = (setting.display(), note.display());
        let message = format!("another run changes {setting}, as {note} says");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
    })
}

/// The limit that a setting expresses: `dirty_bytes` and `dirty_ratio` are one limit (vm.rst).
fn limit(setting: &Path) -> &[u8] {
    let path = setting.as_os_str().as_bytes();
    let stems = [&b"_bytes"[..], b"_ratio"].map(|unit| path.strip_suffix(unit));
    stems.into_iter().flatten().next().unwrap_or(path)
}

/// All notes of this user's labs.
fn notes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(NOTES).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| is_note(path))
}

fn is_note(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_own = fs::symlink_metadata(path)
        .is_ok_and(|m| m.is_file() && m.uid() == nix::unistd::geteuid().as_raw());
    is_own && name.is_some_and(|name| name.starts_with(PREFIX))
}

/// The files and values in a note, as far as they are settings that a lab changes.
fn settings_in(text: &str) -> impl Iterator<Item = (&Path, &str)> {
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    let pairs = pairs.map(|(path, value)| (Path::new(path), value));
    pairs.filter(|(path, _)| {
        let is_plain = path
            .components()
            .all(|part| !matches!(part, std::path::Component::ParentDir));
        is_plain && (path.starts_with("/sys/block") || path.starts_with("/proc/sys/vm"))
    })
}

/// The file of a setting such as `queue.scheduler` of the disk below a place, or `vm.dirty_bytes`.
fn path(name: &str, place: Option<&str>) -> Option<PathBuf> {
    let (group, name) = name.split_once('.')?;
    match group {
        "queue" => {
            let disk = Place::at(Path::new(place?)).ok()?.disk?;
            Some(Path::new("/sys/block").join(disk).join("queue").join(name))
        }
        "vm" => Some(Path::new("/proc/sys/vm").join(name)),
        _ => None,
    }
}

/// The value of a setting, of several words that in brackets.
fn value_of(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut words = text.split_whitespace();
    let chosen = words.find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Some(chosen.unwrap_or(text.trim()).to_owned())
}

/// The original value of a setting. `dirty_bytes` of 0 says that `dirty_ratio` counts, and cannot be written
/// (vm.rst).
fn original(path: &Path) -> Option<(PathBuf, String)> {
    let value = value_of(path)?;
    let name = path.file_name()?.to_str()?;
    match name.strip_suffix("_bytes").filter(|_| value == "0") {
        Some(name) => {
            let ratio = path.with_file_name(format!("{name}_ratio"));
            let value = value_of(&ratio)?;
            Some((ratio, value))
        }
        None => Some((path.to_path_buf(), value)),
    }
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(path)?
        .write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_settings_and_nothing_else() {
        let text = "/sys/block/sda/queue/scheduler\tnone\n/etc/passwd\troot\n/proc/sys/vm/../kernel/panic\t1\nx\n";
        let noted: Vec<_> = settings_in(text).collect();
        assert_eq!(
            noted,
            [(Path::new("/sys/block/sda/queue/scheduler"), "none")]
        );
    }

    #[test]
    fn a_limit_that_does_not_count_is_taken_back_by_the_one_that_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("dirty_bytes"), "0\n").unwrap();
        fs::write(file("dirty_ratio"), "20\n").unwrap();
        fs::write(file("scheduler"), "none [mq-deadline] bfq\n").unwrap();
        assert_eq!(
            original(&file("dirty_bytes")),
            Some((file("dirty_ratio"), "20".into()))
        );
        assert_eq!(
            original(&file("scheduler")),
            Some((file("scheduler"), "mq-deadline".into()))
        );
        fs::write(file("dirty_bytes"), "4096\n").unwrap();
        assert_eq!(
            original(&file("dirty_bytes")),
            Some((file("dirty_bytes"), "4096".into()))
        );
    }

    #[test]
    fn two_forms_of_a_limit_are_one() {
        let limit_of = |name| limit(Path::new(name));
        assert_eq!(
            limit_of("/proc/sys/vm/dirty_bytes"),
            limit_of("/proc/sys/vm/dirty_ratio")
        );
        assert_ne!(
            limit_of("/proc/sys/vm/dirty_bytes"),
            limit_of("/proc/sys/vm/dirty_background_bytes")
        );
        assert_eq!(
            limit_of("/proc/sys/vm/swappiness"),
            b"/proc/sys/vm/swappiness"
        );
    }

    #[test]
    fn a_subject_without_settings_needs_no_right() {
        assert!(is_present(&[], None));
        assert_eq!(unavailable(&[], None), None);
        let none = [("queue.scheduler".to_owned(), "bfq".to_owned())];
        assert!(unavailable(&none, Some("/proc")).is_some());
    }
}
