// SPDX-License-Identifier: Apache-2.0
//! Finds the whole disk that contains a device.

use std::path::Path;

/// Returns the disk whose device number is `device`, or the disk that contains the partition with
/// this device number (sysfs).
pub fn disk_of(device: u64) -> Option<String> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    whole_disk(Path::new(&format!("/sys/dev/block/{major}:{minor}")))
}

/// Returns the disk that contains a device, given the device's directory in `/sys`.
pub fn whole_disk(device: &Path) -> Option<String> {
    let device = device.canonicalize().ok()?;
    let disk = if device.join("partition").exists() {
        device.parent()?
    } else {
        &device
    };
    Some(disk.file_name()?.to_string_lossy().into_owned())
}
