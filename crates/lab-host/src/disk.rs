// SPDX-License-Identifier: Apache-2.0
//! The whole disk below a device.

use std::path::Path;

/// The disk of a device's number: the device, or that which it is a partition of (sysfs).
pub fn disk_of(device: u64) -> Option<String> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    whole_disk(Path::new(&format!("/sys/dev/block/{major}:{minor}")))
}

/// The disk of a device's folder below `/sys`.
pub fn whole_disk(device: &Path) -> Option<String> {
    let device = device.canonicalize().ok()?;
    let disk = if device.join("partition").exists() {
        device.parent()?
    } else {
        &device
    };
    Some(disk.file_name()?.to_string_lossy().into_owned())
}
