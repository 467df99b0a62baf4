// SPDX-License-Identifier: Apache-2.0
//! The self-tests that a disk logged.

/// The code of a long self-test of an ATA, NVMe or SCSI disk.
pub(super) const LONG_TEST: u64 = 2;

/// Returns the latest failed self-test. As in smartctl, a newer long self-test that passed outdates
/// it. `tests` starts with the latest.
pub(super) fn latest_failure(tests: impl IntoIterator<Item = SelfTest>) -> Option<String> {
    let tests = tests.into_iter();
    let mut current = tests.take_while(|test| !(test.is_long && test.passed));
    current.find(|test| test.failed).map(|test| test.label)
}

/// A self-test in the log of a disk.
pub(super) struct SelfTest {
    pub is_long: bool,
    pub passed: bool,
    pub failed: bool,
    /// The result and the location of the failure, in words.
    pub label: String,
}

impl SelfTest {
    /// Interprets an entry in the log of an NVMe disk (NVM Express Base Specification 2.0, figure
    /// 210). `label` describes the result.
    pub(super) fn from_nvme(code: Option<u64>, result: Option<u64>, label: String) -> SelfTest {
        SelfTest {
            is_long: code == Some(LONG_TEST),
            passed: result == Some(0),
            failed: matches!(result, Some(5..=7)),
            label,
        }
    }
}

/// Formats a result with the age of the disk in hours and the failing block.
pub(super) fn result_text(result: &str, hours: Option<u64>, lba: Option<u64>) -> String {
    let hours = hours.map(|hours| format!(", at {hours} h"));
    let lba = lba.map(|lba| format!(", LBA {lba}"));
    let place = [hours, lba].into_iter().flatten().collect::<String>();
    format!("{result}{place}")
}
