// SPDX-License-Identifier: Apache-2.0
//! Changes settings of the host for a subject's turns, and restores them even if benchlab is killed.

use crate::driver::session::BenchError;
use crate::host::places::Place;
use crate::subject::fault::{Fault, SubjectResult};
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

/// The directory for notes about changed settings. A reboot removes the notes and undoes the changes.
const NOTES: &str = "/run/benchlab";
const PREFIX: &str = "settings-";
/// The maximum size of a note in bytes.
const MAX_NOTE: u64 = 1 << 16;
/// How long to wait for another benchlab process to restore settings. A disk completes its pending requests before its
/// scheduler changes.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The host settings that the subjects of a plan need. Dropping this restores the original settings.
#[derive(Default)]
pub struct HostSettings {
    changed: Vec<HostSetting>,
    /// For each subject, its value of each changed setting. `None` stands for the original value.
    requested: Vec<Vec<Option<String>>>,
    note: Option<Note>,
}

struct HostSetting {
    path: PathBuf,
    /// The original value: a file, and the text to write into the file.
    original: (PathBuf, String),
    /// The value set by benchlab. `None` stands for the original value.
    current: Option<String>,
}

impl HostSettings {
    /// Reads the host's settings without changing them. Returns an error if another benchlab process changes one of
    /// them.
    pub fn new(plan: &Plan) -> Result<HostSettings, BenchError> {
        let mut settings = HostSettings::default();
        for subject in &plan.subjects {
            for (name, _) in &subject.host {
                // A subject whose setting has no file was already rejected.
                let Some(path) = path(name, subject.place.as_deref()) else {
                    continue;
                };
                let is_listed = settings.changed.iter().any(|setting| setting.path == path);
                if let Some(original) = original(&path).filter(|_| !is_listed) {
                    // If another benchlab process has changed the value, it is not the original value.
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

    /// Applies the host settings of a subject.
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
                let message = format!("{} is {read} after writing {value}", path.display());
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
                    "benchlab: cannot restore {} to {value}: {e}",
                    path.display()
                );
            }
        }
        // If the note remains, the next benchlab process tries again.
        if let Some(note) = self.note.take().filter(|_| is_all_restored) {
            let _ = fs::remove_file(note.path);
        }
    }
}

/// Returns true if the host already has these settings.
pub fn is_present(host: &[(String, String)], place: Option<&str>) -> bool {
    let is_set = |(name, value): &(String, String)| {
        path(name, place)
            .and_then(|path| value_of(&path))
            .as_deref()
            == Some(value)
    };
    host.iter().all(is_set)
}

/// Returns the reason why these settings cannot be applied. Returns `None` if they can be, or already are.
pub fn unavailable(host: &[(String, String)], place: Option<&str>) -> Option<String> {
    host.iter().find_map(|(name, value)| {
        let Some(path) = path(name, place) else {
            return Some(format!(
                "the filesystem of its directory has no device with the setting {name}"
            ));
        };
        let Ok(text) = fs::read_to_string(&path) else {
            return Some(format!("cannot read {}", path.display()));
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
        is_denied.then(|| format!("no permission to write {}: run as root", path.display()))
    })
}

/// Restores settings that killed runs left changed. Returns a message for each restored setting.
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
                        Ok(()) => format!("restored to {value}"),
                        Err(e) => format!("cannot restore it to {value}: {e}"),
                    };
                    let current = current.unwrap_or_else(|| "gone".into());
                    messages.push(format!(
                        "a killed run left {} set to {current}: {outcome}",
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

/// Locks a note whose benchlab process has exited.
///
/// Returns `None` if that process is still running, or if another one has already restored the settings.
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

/// Returns true if the benchlab process that wrote a note is running. The note's name contains the process ID.
fn is_at_work(note: &Path) -> bool {
    let name = note.file_name().and_then(|name| name.to_str());
    let pid = name.and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
    pid.is_some_and(|pid| procfs::start_ticks(Pid::from_raw(pid)).is_some())
}

/// The original values of settings, written before the first change. The note stays locked while its benchlab process
/// runs.
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
            return Err(io::Error::other("the directory belongs to another user"));
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

/// Returns an error if a note contains this setting or the other setting for the same limit.
fn check_unnoted(setting: &Path) -> io::Result<()> {
    let names = |note: &PathBuf| {
        fs::read_to_string(note)
            .is_ok_and(|text| settings_in(&text).any(|(path, _)| limit(path) == limit(setting)))
    };
    notes().find(names).map_or(Ok(()), |note| {
        let (setting, note) = (setting.display(), note.display());
        let message = format!("another run changes {setting}, according to {note}");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
    })
}

/// Returns the name of the limit that a setting controls. `dirty_bytes` and `dirty_ratio` control the same limit
/// (vm.rst).
fn limit(setting: &Path) -> &[u8] {
    let path = setting.as_os_str().as_bytes();
    let stems = [&b"_bytes"[..], b"_ratio"].map(|unit| path.strip_suffix(unit));
    stems.into_iter().flatten().next().unwrap_or(path)
}

/// Returns all notes of this user.
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

/// Returns the files and values in a note, if they are settings that benchlab changes.
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

/// Returns the file of a setting, such as `queue.scheduler` of the disk that contains `place`, or `vm.dirty_bytes`.
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

/// Returns the value of a setting. In a list of words, the value is the word in brackets.
fn value_of(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut words = text.split_whitespace();
    let chosen = words.find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Some(chosen.unwrap_or(text.trim()).to_owned())
}

/// Returns the original value of a setting.
///
/// If `dirty_bytes` is 0, `dirty_ratio` applies; 0 cannot be written back (vm.rst).
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
