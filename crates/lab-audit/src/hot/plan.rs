// SPDX-License-Identifier: Apache-2.0
//! The placement of directories: read-mostly directories on the fast disk, write-mostly directories
//! on another disk, and caches in memory.

use super::activity::{Activity, DAY, MAX_DIRECTORIES};
use super::fstab::{escape, unescape};
use super::scan;
use crate::mounts::mount_points;
use crate::smart::{Endurance, Smart};
use crate::value::{AuditObject, Value};
use crate::wording;
use lab_host::Medium;
use lab_host::Root;
use lab_host::disk::disk_of;
use lab_model::Unit;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The minimum sum of the bytes read and written for which a directory is moved.
const MIN_BYTES: f64 = 1024.0 * 1024.0;
/// The fraction of the fast filesystem's free space that the plan may fill.
const FILLED: f64 = 0.9;
/// System directories and pseudo filesystems, without which a machine may not boot.
const SYSTEM: [&str; 12] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys",
    "/usr",
];
/// Names of directories whose files are expendable.
const TEMPORARY: [&str; 4] = ["tmp", "cache", ".cache", "tmpfiles"];
/// Directories whose files must survive a reboot (Filesystem Hierarchy Standard 3.0, 5.5 and 5.15).
const PRESERVED: [&str; 2] = ["/var/cache", "/var/tmp"];

/// The fast filesystem, the target for hot directories.
#[derive(Clone, Debug)]
pub struct HotTarget {
    /// A directory on the filesystem.
    pub folder: PathBuf,
    /// The filesystem's UUID, or `None` if findmnt reports none.
    pub uuid: Option<String>,
    /// The filesystem type, such as ext4.
    pub kind: String,
    /// The mount point.
    pub mount: PathBuf,
    /// The free space in bytes.
    pub free: u64,
    /// The disk of the filesystem.
    pub disk: String,
    device: u64,
}

/// The recommended location of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On the fast disk.
    Fast,
    /// At its current location, because the fast disk has too little free space.
    NoRoom,
    /// On a slower disk, because it is mostly written. Currently, it is on the fast disk.
    Slow,
    /// At its current location on another disk. It is mostly written, so it should not be on the
    /// fast disk.
    Off,
    /// In memory.
    Memory,
    /// At its current location.
    Here,
}

/// A directory with its observed activity.
#[derive(Clone, Debug)]
pub struct WatchedFolder {
    pub path: PathBuf,
    pub activity: Activity,
    /// The size in bytes, or `None` if there are too many files to count.
    pub size: Option<u64>,
    pub placement: Placement,
    seconds: f64,
    disk: Option<String>,
    /// The directory's mode, user ID and group ID.
    mode_owner_group: [u32; 3],
    on_fast: bool,
    is_mount: bool,
    /// The remaining endurance of the flash disk that currently holds the directory.
    own_endurance: Option<Endurance>,
    /// The remaining endurance of the fast disk.
    fast_endurance: Option<Endurance>,
}

impl Placement {
    /// Returns the placement as one or two words.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Fast => "fast",
            Placement::NoRoom => "no room",
            Placement::Slow => "slow",
            Placement::Off => "off",
            Placement::Memory => "memory",
            Placement::Here => "here",
        }
    }
}

impl HotTarget {
    /// Finds the filesystem of a directory.
    ///
    /// # Errors
    ///
    /// Returns a message if the path is not a directory, or if findmnt finds no filesystem for the
    /// directory.
    pub fn new(folder: &Path) -> Result<HotTarget, String> {
        let error_at_folder = |e: std::io::Error| format!("{}: {e}", folder.display());
        let folder = folder.canonicalize().map_err(error_at_folder)?;
        let device = folder.metadata().map_err(error_at_folder)?.dev();
        let root = Root::live();
        let words = [
            "findmnt",
            "--first-only",
            "--noheadings",
            "--raw",
            "--output",
            "UUID,FSTYPE,AVAIL,TARGET",
            "--bytes",
            "--target",
        ];
        let target = folder.display().to_string();
        let line = root.output("", &[&words[..], &[&target]].concat())?;
        // The UUID may be empty.
        let fields: Vec<&str> = line.trim_end().split(' ').collect();
        let &[uuid, kind, free, mount] = &fields[..] else {
            return Err(wording::unusable(&target, wording::UNKNOWN_FILESYSTEM));
        };
        let disk = disk_of(device).unwrap_or_default();
        Ok(HotTarget {
            folder,
            uuid: Some(uuid.to_owned()).filter(|uuid| !uuid.is_empty()),
            kind: kind.into(),
            mount: unescape(mount).into(),
            free: free.parse().unwrap_or(0),
            disk,
            device,
        })
    }
}

/// Describes the plan in one sentence: the number of directories to move, and their targets.
pub fn plan_sentence(folders: &[WatchedFolder], fast: &HotTarget) -> String {
    let mount = fast.mount.display();
    let moves = [
        (Placement::Fast, "move", format!("to {mount}")),
        (Placement::Slow, "move", format!("away from {mount}")),
        (Placement::Memory, "move", "to memory".into()),
        (
            Placement::NoRoom,
            "leave",
            "in place for lack of space".into(),
        ),
    ];
    let move_text = |(placement, verb, target): (Placement, &str, String)| {
        let moved = folders
            .iter()
            .filter(|folder| folder.placement == placement);
        match moved.count() {
            0 => None,
            1 => Some(format!("{verb} 1 directory {target}")),
            n => Some(format!("{verb} {n} directories {target}")),
        }
    };
    let moves: Vec<String> = moves.into_iter().filter_map(move_text).collect();
    if moves.is_empty() {
        "The plan: no directory needs to move. ".into()
    } else {
        format!("The plan: {}. ", moves.join(", "))
    }
}

/// Returns the busiest directories with their recommended placements.
pub fn plan(
    ranked: Vec<(PathBuf, Activity)>,
    seconds: f64,
    fast: Option<&HotTarget>,
    memory: u64,
) -> Vec<WatchedFolder> {
    let mut endurances = Endurances::default();
    let of_fast = fast.and_then(|fast| endurances.find(&fast.disk));
    // A nested btrfs subvolume has its own device number without necessarily being a mount point.
    let mounts = Root::live().text("proc/mounts").unwrap_or_default();
    let mounts = Vec::from_iter(mount_points(&mounts).map(PathBuf::from));
    let mut observe = |(path, activity): (PathBuf, Activity)| {
        let metadata = path.metadata().ok();
        let mode_owner_group = metadata
            .as_ref()
            .map(|a| [a.mode() & 0o7777, a.uid(), a.gid()]);
        let device = metadata.map(|metadata| metadata.dev());
        let disk = device.and_then(disk_of);
        let has_limited_writes =
            |disk: &&String| Medium::detect(&Root::live(), disk).has_limited_writes();
        let limited_disk = disk.as_ref().filter(has_limited_writes);
        WatchedFolder {
            size: scan::size(&path),
            own_endurance: limited_disk.and_then(|disk| endurances.find(disk)),
            fast_endurance: of_fast,
            disk,
            // A directory that no longer exists is treated as accessible only by root.
            mode_owner_group: mode_owner_group.unwrap_or([0o700, 0, 0]),
            on_fast: fast.is_some_and(|fast| Some(fast.device) == device),
            is_mount: mounts.contains(&path),
            placement: Placement::Here,
            path,
            activity,
            seconds,
        }
    };
    let busiest = ranked.into_iter().take(MAX_DIRECTORIES);
    let mut folders: Vec<WatchedFolder> = busiest.map(&mut observe).collect();
    assign_placements(&mut folders, fast.map(|fast| fast.free), memory);
    folders
}

/// Sets the placement of each directory. `free` is the free space of the fast filesystem in bytes,
/// or `None` if there is no fast filesystem. `memory` is the available memory in bytes.
fn assign_placements(folders: &mut [WatchedFolder], free: Option<u64>, memory: u64) {
    folders
        .iter_mut()
        .for_each(|folder| folder.placement = folder.placement(free.is_some(), memory));
    // Directories with the most reads per byte of size are placed first, as long as there is room.
    let mut remaining = free.unwrap_or(0) as f64 * FILLED;
    let mut order: Vec<usize> = (0..folders.len())
        .filter(|i| folders[*i].placement == Placement::Fast)
        .collect();
    order.sort_by(|a, b| folders[*b].heat().total_cmp(&folders[*a].heat()));
    for index in order {
        match folders[index].size.map(|size| size as f64) {
            Some(size) if size <= remaining => remaining -= size,
            _ => folders[index].placement = Placement::NoRoom,
        }
    }
}

impl WatchedFolder {
    /// Returns reads as a fraction of the bytes read and written.
    pub fn read_fraction(&self) -> f64 {
        let Activity { read, written, .. } = self.activity;
        read / (read + written).max(1.0)
    }

    fn heat(&self) -> f64 {
        self.activity.read / self.size.unwrap_or(u64::MAX).max(4096) as f64
    }

    fn placement(&self, has_fast: bool, memory: u64) -> Placement {
        let Activity { read, written, .. } = self.activity;
        let is_below = |folders: &[&str]| folders.iter().any(|f| self.path.starts_with(f));
        let depth = self.path.components().count();
        let name = self
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        // fstab does not support control characters in paths.
        let has_control = self.path.to_string_lossy().contains(char::is_control);
        let is_temporary = TEMPORARY.contains(&name) && !is_below(&PRESERVED);
        let is_small = self.size.is_some_and(|size| size <= memory / 10);
        if read + written < MIN_BYTES || is_below(&SYSTEM) || has_control || self.is_mount {
            Placement::Here
        } else if is_temporary && is_small && self.disk.is_some() {
            Placement::Memory
        } else if !has_fast || depth < 3 {
            Placement::Here
        } else if written > read {
            if self.on_fast {
                Placement::Slow
            } else {
                Placement::Off
            }
        } else if self.on_fast {
            Placement::Here
        } else {
            Placement::Fast
        }
    }

    /// Returns the fstab line that puts the directory in memory.
    ///
    /// The tmpfs is four times as large as the directory, and at least 64 MiB. It has the same
    /// owner and mode as the directory.
    pub fn tmpfs(&self) -> String {
        let size = (self.size.unwrap_or(0) * 4).max(64 << 20).div_ceil(1 << 20);
        let [mode, uid, gid] = self.mode_owner_group;
        let name = escape(&self.path.to_string_lossy());
        format!(
            "tmpfs {name} tmpfs size={size}m,nosuid,nodev,nofail,x-systemd.before=local-fs.target,mode={mode:04o},uid={uid},gid={gid} 0 0"
        )
    }

    /// Describes the directory as an object that rules judge.
    pub fn object(&self, fast: Option<&HotTarget>) -> AuditObject {
        let mut object = AuditObject::new("folder", self.path.display().to_string());
        let Activity {
            opens,
            read,
            written,
        } = self.activity;
        let bytes = |n: f64| Value::Number(n.round(), Unit::Bytes);
        let a_day = |n: f64| bytes(n / self.seconds * DAY);
        object.set("opens", Value::count(opens as u64, "opens"));
        object.set("read", bytes(read));
        object.set("written", bytes(written));
        object.set("read_share", Value::fraction(self.read_fraction()));
        object.set("read_day", a_day(read));
        object.set("written_day", a_day(written));
        let size = self.size.map(Value::bytes);
        let uncounted = || Value::Unknown("The directory has too many files to count.".into());
        object.set("size", size.unwrap_or_else(uncounted));
        object.set("heat", Value::Number(self.heat(), Unit::Ratio));
        let disk = self.disk.as_deref().unwrap_or("no disk");
        object.set("disk", Value::word(disk));
        let medium = |disk: &String| Medium::detect(&Root::live(), disk).word();
        let medium = self.disk.as_ref().map_or("unknown", medium);
        object.set("medium", Value::word(medium));
        object.set("place", Value::word(self.placement.name()));
        let mount = fast.map(|fast| fast.mount.display().to_string());
        object.set("fast", Value::word(mount.as_deref().unwrap_or("–")));
        object.set("tmpfs", Value::Word(self.tmpfs()));
        self.endurance(fast, &mut object);
        object
    }

    /// Sets the remaining lifetime of the directory's current disk and of the fast disk, assuming
    /// that only this directory is written.
    fn endurance(&self, fast: Option<&HotTarget>, object: &mut AuditObject) {
        let days = |days: f64| Value::ns(days * DAY * 1e9);
        if let Some(days_lasting) = self.fast_days_left() {
            object.set("fast_lasts", days(days_lasting));
        }
        let of_fast = || Some((&fast?.disk, self.fast_endurance?)).filter(|_| self.on_fast);
        let of_own_disk = self.disk.as_ref().zip(self.own_endurance);
        let Some((disk, endurance)) = of_own_disk.or_else(of_fast) else {
            return;
        };
        if let Some(days_lasting) = self.days_left(endurance) {
            object.set("endurance_of", Value::word(disk));
            object.set("endurance_left", Value::bytes(endurance.left as u64));
            object.set("endurance_by", Value::word(endurance.by));
            object.set("endurance_lasts", days(days_lasting));
        }
    }

    /// Returns the remaining lifetime of the fast disk in days, assuming that only this directory
    /// is written.
    ///
    /// Returns `None` if there is no fast disk, or if few bytes are written.
    pub fn fast_days_left(&self) -> Option<f64> {
        self.days_left(self.fast_endurance?)
    }

    fn days_left(&self, endurance: Endurance) -> Option<f64> {
        let written = self.activity.written;
        (written > MIN_BYTES).then(|| endurance.left / (written / self.seconds * DAY))
    }
}

/// A cache of the remaining endurance of this machine's disks, so that each disk is queried once.
#[derive(Default)]
struct Endurances(HashMap<String, Option<Endurance>>);

impl Endurances {
    fn find(&mut self, disk: &str) -> Option<Endurance> {
        let known = self.0.entry(disk.to_owned());
        *known.or_insert_with(|| {
            let sectors = Root::live().number(&format!("sys/block/{disk}/size"))?;
            let smart = Smart::read(&Root::live(), disk).unwrap_or_default();
            (sectors > 0).then(|| smart.endurance(sectors as f64 * 512.0))
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const MIB: f64 = 1024.0 * 1024.0;

    /// Returns a directory on a spinning disk. The size and the bytes read and written are in MiB.
    pub fn folder(path: &str, size: u64, read: f64, written: f64) -> WatchedFolder {
        WatchedFolder {
            path: path.into(),
            activity: Activity {
                opens: 1.0,
                read: read * MIB,
                written: written * MIB,
            },
            size: Some(size << 20),
            placement: Placement::Here,
            seconds: DAY,
            disk: Some("sda".into()),
            mode_owner_group: [0o750, 33, 34],
            on_fast: false,
            is_mount: false,
            own_endurance: None,
            fast_endurance: None,
        }
    }

    /// Returns a filesystem on flash.
    pub fn fast() -> HotTarget {
        HotTarget {
            folder: "/mnt/ssd".into(),
            uuid: Some("1234-abcd".into()),
            kind: "ext4".into(),
            mount: "/mnt/ssd".into(),
            free: 1 << 40,
            disk: "nvme0n1".into(),
            device: 0,
        }
    }

    fn placed(mut folders: Vec<WatchedFolder>, free_mib: Option<u64>) -> Vec<Placement> {
        assign_placements(
            &mut folders,
            free_mib.map(|mib| mib << 20),
            1000 * (1 << 20),
        );
        folders.iter().map(|folder| folder.placement).collect()
    }

    #[test]
    fn directories_with_the_most_reads_per_byte_are_moved_first() {
        let folders = || {
            vec![
                folder("/srv/large", 80, 800.0, 0.0),
                folder("/srv/small", 20, 400.0, 0.0),
                folder("/srv/cold", 10, 30.0, 0.0),
            ]
        };
        // Nine tenths of the space may be filled. This is 90 of 100 MiB, with the small directory
        // and then the cold directory.
        let expected = [Placement::NoRoom, Placement::Fast, Placement::Fast];
        assert_eq!(placed(folders(), Some(100)), expected);
        assert_eq!(placed(folders(), Some(1000)), [Placement::Fast; 3]);
        assert_eq!(placed(folders(), None), [Placement::Here; 3]);
        let mut endless = folder("/srv/endless", 0, 800.0, 0.0);
        endless.size = None;
        assert_eq!(placed(vec![endless], Some(1000)), [Placement::NoRoom]);
    }

    #[test]
    fn written_and_system_directories_stay_off_the_fast_disk() {
        let mut on_fast = folder("/srv/log", 10, 1.0, 50.0);
        on_fast.on_fast = true;
        let mut read_there = folder("/srv/hot", 10, 50.0, 1.0);
        read_there.on_fast = true;
        let mut mount = folder("/srv/all/cache", 10, 50.0, 0.0);
        mount.is_mount = true;
        let folders = vec![
            mount,
            folder("/srv/journal", 10, 1.0, 50.0),
            on_fast,
            read_there,
            folder("/usr/lib/python3", 10, 50.0, 0.0),
            folder("/srv", 10, 50.0, 0.0),
            folder("/srv/idle", 10, 0.5, 0.0),
        ];
        let expected = [
            Placement::Here,
            Placement::Off,
            Placement::Slow,
            Placement::Here,
            Placement::Here,
            Placement::Here,
            Placement::Here,
        ];
        assert_eq!(placed(folders, Some(1000)), expected);
    }

    /// A directory in memory may use at most a tenth of the memory: here 100 MiB.
    #[test]
    fn small_temporary_directories_go_to_memory() {
        let folders = vec![
            folder("/srv/app/cache", 90, 5.0, 50.0),
            folder("/srv/big/cache", 200, 5.0, 50.0),
            folder("/srv/app/tables", 90, 5.0, 50.0),
        ];
        let expected = [Placement::Memory, Placement::Off, Placement::Off];
        assert_eq!(placed(folders, Some(1000)), expected);
    }

    #[test]
    fn directories_that_must_survive_a_reboot_stay_on_disk() {
        let paths = [
            "/var/tmp",
            "/var/tmp/build/cache",
            "/var/cache",
            "/var/cache/app/tmp",
        ];
        let folders = || paths.map(|path| folder(path, 10, 5.0, 50.0)).to_vec();
        assert_eq!(placed(folders(), None), [Placement::Here; 4]);
        assert_eq!(placed(folders(), Some(1000)), [Placement::Off; 4]);
    }

    #[test]
    fn the_plan_is_shown_in_a_sentence() {
        let mut folders = vec![
            folder("/srv/hot", 10, 50.0, 1.0),
            folder("/srv/cache", 10, 1.0, 50.0),
            folder("/srv/large", 2 << 20, 50.0, 1.0),
        ];
        assert_eq!(
            plan_sentence(&folders, &fast()),
            "The plan: no directory needs to move. "
        );
        assign_placements(&mut folders, Some(fast().free), 1000 << 20);
        let expected = "The plan: move 1 directory to /mnt/ssd, move 1 directory to memory, leave 1 \
            directory in place for lack of space. ";
        assert_eq!(plan_sentence(&folders, &fast()), expected);
    }

    #[test]
    fn the_lifetime_of_a_disk_is_its_endurance_divided_by_daily_writes() {
        let endurance = Endurance {
            left: 3650.0 * 10.0 * MIB,
            by: "a test",
        };
        let mut folder = folder("/srv/log", 10, 0.0, 10.0);
        folder.fast_endurance = Some(endurance);
        let days = folder.fast_days_left().expect("days");
        assert!((days - 3650.0).abs() < 1e-6, "{days}");
        folder.activity.written = 0.0;
        assert_eq!(folder.fast_days_left(), None, "no bytes are written");
    }
}
