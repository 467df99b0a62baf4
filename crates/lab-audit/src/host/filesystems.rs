// SPDX-License-Identifier: Apache-2.0
//! Filesystems that are mounted from disks or memory.

use super::machine::{AuditedMachine, Probe};
use crate::mounts::unescape;
use crate::value::{AuditObject, Class, Value};
use lab_host::Root;
use lab_model::audit::EvidenceTable;

pub struct Filesystems;

pub const FILESYSTEM: Class = Class {
    name: "filesystem",
    none: "No filesystem is on a disk.",
    values: &[
        ("device", "the device"),
        ("type", "the filesystem type, such as ext4"),
        ("options", "the mount options"),
        (
            "times",
            "the access-time policy, which determines when a read updates the access time: noatime, \
            relatime or strictatime",
        ),
        (
            "discard",
            "whether each deletion is immediately passed to the disk",
        ),
        ("disk_discards", "whether the disk supports discard"),
        ("trim_timer", "whether a timer runs fstrim"),
        (
            "barriers",
            "whether the filesystem keeps writes in order in the disk's cache",
        ),
        ("synchronous", "whether each write waits for the disk"),
        ("size", "size of the filesystem"),
        ("free", "free space"),
        ("used_share", "fraction of the space in use"),
        ("files_share", "fraction of the inodes in use"),
    ],
};

impl Probe for Filesystems {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        let root = &machine.root;
        let mounts = match root.text("proc/mounts") {
            Ok(mounts) => mounts,
            Err(reason) => return vec![placeholder(&format!("{reason}."))],
        };
        let space = root.output(
            "df.txt",
            &[
                "df",
                "--local",
                "--block-size=1",
                "--output=target,size,avail,itotal,iavail",
            ],
        );
        let trim_timer = trim_timer(machine);
        let mut objects: Vec<AuditObject> = Vec::new();
        for line in mounts.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [device, folder, kind, options, ..] = words[..] else {
                continue;
            };
            let name = unescape(folder);
            // If multiple filesystems are mounted on a directory, only the last filesystem is
            // visible.
            objects.retain(|object| object.name != name);
            if device.starts_with("/dev/") || kind == "zfs" || kind == "btrfs" {
                let mut object = filesystem(root, &name, [device, kind, options]);
                object.set_some("trim_timer", trim_timer.clone());
                set_space(&space, &mut object);
                objects.push(object);
            }
        }
        each_device_once(objects)
    }
}

/// Returns an object that stands for all filesystems if they cannot be listed.
fn placeholder(reason: &str) -> AuditObject {
    let mut object = AuditObject::new("filesystem", "/proc/mounts");
    for (name, _) in FILESYSTEM.values {
        object.set(name, Value::Unknown(reason.into()));
    }
    object
}

/// Keeps one filesystem per device: of the writable filesystems or, if there are none, of all, the
/// filesystem with the shortest mount point.
fn each_device_once(mut objects: Vec<AuditObject>) -> Vec<AuditObject> {
    objects.sort_by_key(|object| (is_read_only(object), object.name.len()));
    let mut devices = Vec::new();
    objects.retain(|object| {
        let device = object.values.get("device").cloned();
        let is_new = !devices.contains(&device);
        devices.push(device);
        is_new
    });
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    objects
}

fn trim_timer(machine: &AuditedMachine) -> Option<Value> {
    let system = super::system::System.observe(machine);
    system.first()?.values.get("trim_timer").cloned()
}

fn filesystem(root: &Root, name: &str, [device, kind, options]: [&str; 3]) -> AuditObject {
    let mut object = AuditObject::new("filesystem", name);
    let options: Vec<&str> = options.split(',').collect();
    let has = |option: &str| options.contains(&option);
    object.set("device", Value::word(device));
    object.set("type", Value::word(kind));
    object.set("options", Value::Word(options.join(",")));
    if !is_read_only(&object) {
        let times = ["noatime", "relatime"]
            .into_iter()
            .find(|option| has(option));
        object.set("times", Value::word(times.unwrap_or("strictatime")));
        let barriers = !(has("nobarrier") || has("barrier=0"));
        object.set("barriers", Value::Flag(barriers));
        object.set("synchronous", Value::Flag(has("sync")));
        let discard = options
            .iter()
            .any(|o| *o == "discard" || o.starts_with("discard="));
        object.set("discard", Value::Flag(discard));
        object.set_some("disk_discards", can_discard(root, device).map(Value::Flag));
    }
    object
}

/// Returns true if the filesystem is mounted read-only, as an image is.
fn is_read_only(filesystem: &AuditObject) -> bool {
    let options = filesystem.values.get("options").map(Value::text);
    options.is_some_and(|options| options.split(',').any(|option| option == "ro"))
}

/// Returns true if the disk under a device such as `/dev/sda1` or `/dev/mapper/vg-root` supports
/// discard, or `None` if this is unknown.
fn can_discard(root: &Root, device: &str) -> Option<bool> {
    let name = device.strip_prefix("/dev/")?;
    let disks = root.names("sys/block");
    let is_below = |disk: &&String| match name.strip_prefix("mapper/") {
        Some(mapped) => root
            .line(&format!("sys/block/{disk}/dm/name"))
            .is_some_and(|name| name == mapped),
        None => name.starts_with(disk.as_str()),
    };
    let disk = disks.iter().filter(is_below).max_by_key(|d| d.len())?;
    let discard_max = root.number(&format!("sys/block/{disk}/queue/discard_max_bytes"))?;
    Some(discard_max > 0)
}

/// Sets the size and the free space and, if the filesystem can be written, the fractions in use. An
/// image is always full.
fn set_space(space: &Result<String, String>, object: &mut AuditObject) {
    let is_writable = !is_read_only(object);
    let names: &[&str] = match is_writable {
        true => &["size", "free", "used_share", "files_share"],
        false => &["size", "free"],
    };
    let text = match space {
        Ok(text) => text,
        Err(reason) => return object.set_unknown(names, &format!("{reason}.")),
    };
    let row = text.lines().find_map(|line| {
        let rest = line.strip_prefix(&object.name)?.strip_prefix(' ')?;
        let numbers: Vec<&str> = rest.split_whitespace().collect();
        (numbers.len() == 4).then(|| {
            numbers
                .iter()
                .map(|n| n.parse::<u64>().ok())
                .collect::<Vec<_>>()
        })
    });
    let Some(numbers) = row else {
        return object.set_unknown(names, "df does not list the filesystem.");
    };
    let used = |size: u64, free: u64| Value::fraction(1.0 - free as f64 / size as f64);
    if let (Some(size @ 1..), Some(free)) = (numbers[0], numbers[1]) {
        object.set("size", Value::bytes(size));
        object.set("free", Value::bytes(free));
        object.set_some("used_share", is_writable.then(|| used(size, free)));
    }
    if let (Some(files @ 1..), Some(free)) = (numbers[2], numbers[3]) {
        object.set_some("files_share", is_writable.then(|| used(files, free)));
    }
}

/// Builds a table of the filesystems.
pub fn table(objects: &[AuditObject]) -> EvidenceTable {
    let columns = [
        ("", "filesystem"),
        ("device", "device"),
        ("type", "type"),
        ("options", "options"),
        ("size", "size"),
        ("used_share", "used"),
        ("free", "free"),
    ];
    super::machine::table(objects, "filesystem", "Filesystems", &columns)
}
