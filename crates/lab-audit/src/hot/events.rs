// SPDX-License-Identifier: Apache-2.0
//! Opens, reads and writes of files, reported by the kernel's fanotify(7), which requires root.

use super::activity::{Activities, WatchedFolders};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::fanotify::{EventFFlags, Fanotify, FanotifyEvent, InitFlags, MarkFlags, MaskFlags};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The maximum number of entries in each map.
const MAX_ENTRIES: usize = 100_000;
/// The assumed size in bytes of a write whose size is unknown.
const BLOCK: f64 = 4096.0;

/// The file events of the watched filesystems.
pub struct Events {
    group: Fanotify,
    began: SystemTime,
    /// The numbers of bytes that each process has read, and has written to disks (proc(5), io).
    processes: HashMap<i32, [u64; 2]>,
    /// The size of each file at its last event.
    sizes: HashMap<PathBuf, u64>,
    /// The files that each process has opened, with the bytes already counted as read.
    opened: HashMap<(i32, PathBuf), f64>,
    /// True if the kernel dropped events.
    pub has_lost_events: bool,
}

impl Events {
    /// Watches the filesystems at the given mount points.
    ///
    /// # Errors
    ///
    /// Returns a message if benchlab lacks the permission or the kernel does not support fanotify.
    pub fn watch(mounts: &[PathBuf]) -> Result<Events, String> {
        let flags = InitFlags::FAN_CLASS_NOTIF | InitFlags::FAN_CLOEXEC | InitFlags::FAN_NONBLOCK;
        let open_flags = EventFFlags::O_RDONLY
            | EventFFlags::O_LARGEFILE
            | EventFFlags::O_CLOEXEC
            | EventFFlags::O_NOATIME;
        let group = Fanotify::init(flags, open_flags).map_err(|e| match e {
            nix::Error::EPERM => "fanotify needs root".to_owned(),
            e => format!("fanotify: {e}"),
        })?;
        let root = File::open("/").map_err(|e| e.to_string())?;
        let mask = MaskFlags::FAN_OPEN
            | MaskFlags::FAN_ACCESS
            | MaskFlags::FAN_MODIFY
            | MaskFlags::FAN_CLOSE;
        for mount in mounts {
            let flags = MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_FILESYSTEM;
            let mark = group.mark(flags, mask, &root, Some(mount.as_path()));
            mark.map_err(|e| format!("fanotify of {}: {e}", mount.display()))?;
        }
        Ok(Events {
            group,
            began: SystemTime::now(),
            processes: HashMap::new(),
            sizes: HashMap::new(),
            opened: HashMap::new(),
            has_lost_events: false,
        })
    }

    /// Processes pending events, waiting up to 0.1 s for the first event. Returns false if there are none.
    pub fn read_pending(&mut self, scope: &WatchedFolders, activities: &mut Activities) -> bool {
        let wait = PollTimeout::try_from(Duration::from_millis(100)).unwrap_or(PollTimeout::ZERO);
        let mut polled = [PollFd::new(self.group.as_fd(), PollFlags::POLLIN)];
        if !poll(&mut polled, wait).is_ok_and(|n| n > 0) {
            return false;
        }
        for event in self.group.read_events().unwrap_or_default() {
            self.count(&event, scope, activities);
        }
        true
    }

    fn count(
        &mut self,
        event: &FanotifyEvent,
        scope: &WatchedFolders,
        activities: &mut Activities,
    ) {
        let Some(fd) = event.fd() else {
            self.has_lost_events = true;
            return;
        };
        let pid = event.pid();
        if pid == std::process::id() as i32 {
            return;
        }
        let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let file = std::fs::read_link(&link)
            .ok()
            .zip(std::fs::metadata(&link).ok());
        let Some((path, metadata)) = file.filter(|(_, metadata)| metadata.is_file()) else {
            return;
        };
        let before = self.processes.get(&pid).copied();
        let now = process_io(pid);
        if let Some(now) = now {
            insert_limited(&mut self.processes, pid, now);
        }
        let Some(folder) = scope.folder(&path) else {
            return;
        };
        let bytes_since =
            |direction: usize| Some(now?[direction].saturating_sub(before?[direction]) as f64);
        let (mask, size) = (event.mask(), metadata.st_size());
        let activity = activities.entry(folder).or_default();
        if mask.contains(MaskFlags::FAN_OPEN) {
            activity.opens += 1.0;
            let is_new = metadata
                .created()
                .is_ok_and(|created| created >= self.began);
            if !self.sizes.contains_key(&path) {
                insert_limited(&mut self.sizes, path.clone(), if is_new { 0 } else { size });
            }
            insert_limited(&mut self.opened, (pid, path.clone()), 0.0);
        }
        if mask.contains(MaskFlags::FAN_ACCESS) {
            let moved = bytes_since(0).filter(|bytes| *bytes > 0.0);
            activity.read += self.bytes_read(pid, &path, size as f64, moved);
        }
        if mask.contains(MaskFlags::FAN_MODIFY) {
            let moved = bytes_since(1).filter(|bytes| *bytes > 0.0);
            activity.written +=
                moved.unwrap_or_else(|| self.bytes_grown(&path, size, now.is_none()));
            insert_limited(&mut self.sizes, path, size);
        }
    }

    /// Returns the number of bytes that a process has read since its last event, at most the size
    /// of the file.
    ///
    /// If the number is unknown because the process has exited or the event came late, the whole
    /// file is counted once per open.
    fn bytes_read(&mut self, pid: i32, path: &Path, size: f64, moved: Option<f64>) -> f64 {
        let counted_before = self.opened.get_mut(&(pid, path.to_owned()));
        let bytes = match (moved, &counted_before) {
            (Some(moved), _) => moved.min(size),
            (None, Some(counted_before)) => (size - **counted_before).max(0.0),
            (None, None) => 0.0,
        };
        if let Some(counted_before) = counted_before {
            *counted_before += bytes;
        }
        bytes
    }

    /// Returns the number of bytes by which a file grew since its last event. If the process has
    /// exited, the result is at least one block.
    fn bytes_grown(&self, path: &Path, size: u64, has_ended: bool) -> f64 {
        let before = self.sizes.get(path).copied().unwrap_or(size);
        let smallest = if has_ended { BLOCK } else { 0.0 };
        (size as f64 - before as f64).max(smallest)
    }
}

fn insert_limited<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= MAX_ENTRIES {
        map.clear();
    }
    map.insert(key, value);
}

/// Returns the numbers of bytes that a process has read, and has written to disks. Returns `None`
/// if the process has exited.
fn process_io(pid: i32) -> Option<[u64; 2]> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some([field("rchar:")?, field("write_bytes:")?])
}
