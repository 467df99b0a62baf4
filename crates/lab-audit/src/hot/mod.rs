// SPDX-License-Identifier: Apache-2.0
//! `audit host --watch`: observes the directories that are read and written during normal use, and
//! suggests where to store them.

mod activity;
mod events;
mod fstab;
mod plan;
mod scan;
mod script;

pub use activity::WatchedFolders;
pub use plan::{HotTarget, Placement};

use crate::extra::Extra;
use crate::value::{AuditObject, Class, Value};
use crate::wording;
use activity::{Activities, Activity, DAY};
use events::Events;
use lab_host::Root;
use lab_model::Unit;
use lab_model::audit::{EvidenceBars, EvidenceTable, EvidenceValue};
use plan::WatchedFolder;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The class of outcomes of the observation.
pub const WATCH: Class = Class {
    name: "watch",
    none: "Nothing was watched; use --watch.",
    values: &[
        ("way", "fanotify, or times of files"),
        ("why", "why fanotify was not used"),
        ("lasted", "duration"),
        ("complete", "whether all events were recorded"),
    ],
};

/// The class of directories that were used during the observation.
pub const FOLDER: Class = Class {
    name: "folder",
    none: "No directory was observed in use; use --watch.",
    values: &[
        ("opens", "times that a file in the directory was opened"),
        ("read", "bytes read"),
        ("written", "bytes written"),
        ("read_share", "bytes read as a fraction of all bytes"),
        ("read_day", "bytes read per day at this rate"),
        ("written_day", "bytes written per day at this rate"),
        ("size", "size of the directory"),
        ("heat", "bytes read per byte of size"),
        ("disk", "disk of the directory"),
        ("medium", "nvme, flash, spinning, virtual, file or unknown"),
        (
            "place",
            "recommended location: fast, no room, slow, off, memory, or here",
        ),
        ("fast", "the fast filesystem"),
        (
            "tmpfs",
            "the line of /etc/fstab that puts the directory in memory, with its owner and mode",
        ),
        (
            "fast_lasts",
            "how long the fast disk lasts if only this directory is written",
        ),
        ("endurance_of", "the flash disk that holds the directory"),
        (
            "endurance_left",
            "bytes that can still be written to `endurance_of`",
        ),
        ("endurance_by", "how the remaining endurance was determined"),
        (
            "endurance_lasts",
            "how long `endurance_of` lasts if only this directory is written",
        ),
    ],
};

/// The activity that was observed.
pub struct FolderActivity {
    scope: WatchedFolders,
    seconds: f64,
    activities: Activities,
    /// The reason that only file times were observed, or `None` if events were observed.
    without_events: Option<String>,
    is_complete: bool,
    /// The bytes read from and written to each disk.
    disks: Vec<(String, [f64; 2])>,
}

/// The maximum number of reads of remaining events at the end of a watch.
const MAX_LAST_READS: u32 = 1000;

/// Watches for `length`, or until `is_stopped` returns true. `is_stopped` receives the elapsed
/// time.
pub fn watch(
    scope: &WatchedFolders,
    length: Duration,
    is_stopped: &mut dyn FnMut(Duration) -> bool,
) -> FolderActivity {
    let (began, clock) = (SystemTime::now(), Instant::now());
    let disks = disks();
    let mut activities = Activities::new();
    let mut events = Events::watch(&scope.mounts);
    while clock.elapsed() < length && !is_stopped(clock.elapsed()) {
        match &mut events {
            Ok(events) => {
                events.read_pending(scope, &mut activities);
            }
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    // The remaining events of the watched time. Busy filesystems always have newer events.
    if let Ok(events) = &mut events {
        let _ = (0..MAX_LAST_READS).all(|_| events.read_pending(scope, &mut activities));
    }
    let seconds = clock.elapsed().as_secs_f64();
    let (without_events, is_complete) = match events {
        Ok(events) => (None, !events.has_lost_events),
        Err(reason) => (Some(reason), scan::scan(began, scope, &mut activities)),
    };
    let moved = |(name, now): (String, [f64; 2])| {
        let before = disks.iter().find(|(known, _)| *known == name)?.1;
        Some((name, [now[0] - before[0], now[1] - before[1]]))
    };
    FolderActivity {
        scope: scope.clone(),
        seconds,
        activities,
        without_events,
        is_complete,
        disks: self::disks().into_iter().filter_map(moved).collect(),
    }
}

/// Returns the bytes read and written by each disk. The kernel counts sectors of 512 bytes
/// (Documentation/block/stat.rst).
fn disks() -> Vec<(String, [f64; 2])> {
    let root = Root::live();
    let disk_bytes = |name: String| {
        let line = root.line(&format!("sys/block/{name}/stat"))?;
        let sectors = |at: usize| line.split_whitespace().nth(at)?.parse::<f64>().ok();
        let bytes = [sectors(2)? * 512.0, sectors(6)? * 512.0];
        (bytes[0] + bytes[1] > 0.0).then_some((name, bytes))
    };
    root.names("sys/block")
        .into_iter()
        .filter_map(disk_bytes)
        .collect()
}

/// Returns the additional objects and tables for the audit. Also returns the script that moves
/// directories, or explains why it cannot be built.
///
/// `memory` is the number of bytes available to programs.
pub fn extra(
    watched: &FolderActivity,
    fast: Option<&HotTarget>,
    memory: u64,
) -> (Extra, Result<String, String>) {
    let folders = plan::plan(rank_folders(watched), watched.seconds, fast, memory);
    let script = match fast {
        Some(fast) => script::script(&folders, fast),
        None => Err(wording::NO_FAST_FILESYSTEM.into()),
    };
    let mut objects: Vec<AuditObject> = folders.iter().map(|f| f.object(fast)).collect();
    objects.push(watch_object(watched));
    let extra = Extra {
        objects,
        facts: facts(watched),
        tables: vec![folders_table(&folders, watched), disks_table(watched)],
        chart: Some(pareto(
            watched,
            &fast.map_or(String::new(), |fast| plan::plan_sentence(&folders, fast)),
        )),
    };
    (extra, script)
}

/// Returns the directories, busiest first.
fn rank_folders(watched: &FolderActivity) -> Vec<(PathBuf, Activity)> {
    let folders = watched
        .activities
        .iter()
        .map(|(path, a)| (path.clone(), *a));
    let mut folders: Vec<(PathBuf, Activity)> = folders.collect();
    let bytes = |a: &Activity| a.read + a.written;
    folders.sort_by(|a, b| bytes(&b.1).total_cmp(&bytes(&a.1)).then(a.0.cmp(&b.0)));
    folders
}

fn watch_object(watched: &FolderActivity) -> AuditObject {
    let mut object = AuditObject::new("watch", watched.scope.under.display().to_string());
    let method = match watched.without_events {
        None => "fanotify",
        Some(_) => "times of files",
    };
    object.set("way", Value::word(method));
    let reason = watched.without_events.as_deref().unwrap_or("–");
    object.set("why", Value::word(reason));
    object.set("lasted", Value::ns(watched.seconds * 1e9));
    object.set("complete", Value::Flag(watched.is_complete));
    object
}

fn facts(watched: &FolderActivity) -> Vec<(String, String)> {
    let method = match watched.without_events {
        None => "with fanotify: opens, reads and writes, except through memory mappings",
        Some(_) => {
            "with file times: without the number and size of accesses, and without deleted files"
        }
    };
    vec![
        (
            "watched for".into(),
            Value::ns(watched.seconds * 1e9).text(),
        ),
        ("watched".into(), method.into()),
    ]
}

/// The maximum length of a directory's name in a chart, in characters.
const MAX_NAME_CHARS: usize = 18;

/// Returns the end of a path, because the ends of paths differ most. The table shows the whole
/// path.
fn path_end(path: &Path) -> String {
    let text = path.display().to_string();
    let letters = text.chars().count();
    if letters <= MAX_NAME_CHARS {
        return text;
    }
    let end: String = text.chars().skip(letters + 1 - MAX_NAME_CHARS).collect();
    format!("…{end}")
}

/// Builds a chart of the busiest directories with their cumulative percentages. The plan is in the caption.
fn pareto(watched: &FolderActivity, plan: &str) -> EvidenceBars {
    let folders = rank_folders(watched);
    let total: f64 = folders.iter().map(|(_, a)| a.read + a.written).sum();
    let mut sum = 0.0;
    let bar = |(path, a): &(PathBuf, Activity)| {
        let bytes = a.read + a.written;
        sum += bytes;
        let fraction = 100.0 * sum / total.max(1.0);
        (format!("{fraction:.0} % {}", path_end(path)), bytes)
    };
    let restriction = match watched.without_events {
        None => "",
        Some(_) => {
            " Measured with file times: each file counts once, with its whole size; deleted files are not included."
        }
    };
    EvidenceBars {
        title: "Bytes read and written, by directory".into(),
        caption: format!("{plan}The percentages are cumulative.{restriction}"),
        axis: "bytes".into(),
        unit: Unit::Bytes,
        rows: folders.iter().take(10).map(bar).collect(),
    }
}

fn folders_table(folders: &[WatchedFolder], watched: &FolderActivity) -> EvidenceTable {
    let columns = [
        "directory",
        "opens",
        "read",
        "written",
        "reads",
        "written per day",
        "size",
        "location",
        "fast disk lasts",
    ];
    let bytes = |n: f64| EvidenceValue::Number(n, Unit::Bytes);
    let lasts = |days: f64| EvidenceValue::Word(Value::ns(days * DAY * 1e9).text());
    let row = |folder: &WatchedFolder| {
        let a = folder.activity;
        vec![
            EvidenceValue::Word(folder.path.display().to_string()),
            EvidenceValue::Number(a.opens, Unit::Count("opens".into())),
            bytes(a.read),
            bytes(a.written),
            EvidenceValue::Number(folder.read_fraction(), Unit::Share),
            bytes(a.written / watched.seconds * DAY),
            folder
                .size
                .map_or(EvidenceValue::Nothing, |n| bytes(n as f64)),
            EvidenceValue::Word(folder.placement.name().into()),
            folder
                .fast_days_left()
                .map_or(EvidenceValue::Nothing, lasts),
        ]
    };
    EvidenceTable {
        title: "Directories in use".into(),
        caption: "A read by a process that has exited counts as the whole file. Reads from memory \
            count, too. Reads: bytes read as a fraction of all bytes. Fast disk lasts: how long \
            that disk lasts if only this directory is written."
            .into(),
        columns: columns.map(String::from).into(),
        rows: folders.iter().map(row).collect(),
    }
}

fn disks_table(watched: &FolderActivity) -> EvidenceTable {
    let bytes = |n: f64| EvidenceValue::Number(n, Unit::Bytes);
    let row = |(name, [read, written]): &(String, [f64; 2])| {
        let fraction = read / (read + written).max(1.0);
        vec![
            EvidenceValue::Word(name.clone()),
            bytes(*read),
            bytes(*written),
            EvidenceValue::Number(fraction, Unit::Share),
            bytes(written / watched.seconds * DAY),
        ]
    };
    let columns = ["disk", "read", "written", "reads", "written per day"];
    EvidenceTable {
        title: "Disk activity".into(),
        caption:
            "All reads and writes of the disks during the observation, as counted by the kernel, without reads from memory."
                .into(),
        columns: columns.map(String::from).into(),
        rows: watched.disks.iter().map(row).collect(),
    }
}
