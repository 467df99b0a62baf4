// SPDX-License-Identifier: Apache-2.0
//! How much memory of this process was resident at the most: proc(5).

use lab_kit::Failure;
use std::fs;

/// The peak begins with what is resident now.
pub fn reset_peak() -> Result<(), Failure> {
    Ok(fs::write("/proc/self/clear_refs", "5")?)
}

/// Bytes, of a line such as `VmHWM: 1234 kB`.
pub fn peak() -> Result<f64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib = kib.ok_or_else(|| Failure::failed("the system tells no VmHWM"))?;
    Ok(1024.0 * kib.parse::<f64>()?)
}
