// SPDX-License-Identifier: Apache-2.0
//! Detects a hypervisor.

use crate::Root;

/// Returns true if the machine runs under a hypervisor.
///
/// Only x86 processors have the flag `hypervisor`. The kernel lists no flags for Arm and other
/// processors.
///
/// # Errors
/// Returns a sentence that states why this is unknown.
pub fn is_virtual_machine(root: &Root) -> Result<bool, String> {
    if root.line("sys/hypervisor/type").is_some() {
        return Ok(true);
    }
    let text = root.text("proc/cpuinfo");
    let text = text.map_err(|reason| format!("{reason}."))?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags"));
    let flags = flags.ok_or("/proc/cpuinfo lists no processor flags, as on Arm.")?;
    Ok(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn with_cpuinfo(text: &str) -> Result<bool, String> {
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir(folder.path().join("proc")).expect("a directory");
        fs::write(folder.path().join("proc/cpuinfo"), text).expect("a file");
        is_virtual_machine(&Root::copy(folder.path()))
    }

    #[test]
    fn only_the_flags_of_the_processor_show_a_hypervisor() {
        let flags =
            |flags: &str| with_cpuinfo(&format!("model name\t: EPYC\nflags\t\t: {flags}\n"));
        assert_eq!(flags("fpu hypervisor sse2"), Ok(true));
        assert_eq!(flags("fpu sse2"), Ok(false));
        let arm = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n";
        assert!(with_cpuinfo(arm).is_err_and(|reason| reason.contains("flags")));
    }
}
