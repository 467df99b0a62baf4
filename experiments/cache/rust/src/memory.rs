// SPDX-License-Identifier: Apache-2.0
//! The peak resident set size of this process (proc(5)).

use lab_kit::Failure;
use std::fs;

/// Resets the peak to the current resident set size.
pub fn reset_peak() -> Result<(), Failure> {
    Ok(fs::write("/proc/self/clear_refs", "5")?)
}

/// Returns the peak in bytes, from a line such as `VmHWM: 1234 kB`.
pub fn peak() -> Result<f64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib = kib.ok_or_else(|| Failure::failed("the system does not report VmHWM"))?;
    Ok(1024.0 * kib.parse::<f64>()?)
}
