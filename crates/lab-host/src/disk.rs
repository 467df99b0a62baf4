// SPDX-License-Identifier: Apache-2.0
//! Finds the whole disk that a device belongs to.

use std::path::Path;

/// Returns the disk of a device number: the device itself, or the disk that it is a partition of (sysfs).
pub fn disk_of(device: u64) -> Option<String> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    whole_disk(Path::new(&format!("/sys/dev/block/{major}:{minor}")))
}

/// Returns the disk of a device's directory in `/sys`.
pub fn whole_disk(device: &Path) -> Option<String> {
    let device = device.canonicalize().ok()?;
    let disk = if device.join("partition").exists() {
        device.parent()?
    } else {
        &device
    };
    Some(disk.file_name()?.to_string_lossy().into_owned())
}
