// SPDX-License-Identifier: Apache-2.0
//! The SMART log and the self-test log of an NVMe disk. The driver provides them only to root.

use super::Smart;
use super::self_test::{SelfTest, latest_failure, result_text};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The size of a data unit in bytes: 1,000 blocks of 512 bytes (NVM Express Base Specification 2.0, figure 207).
pub const DATA_UNIT: f64 = 512_000.0;
/// The size of the SMART log in bytes.
const LOG: usize = 512;
/// The size of a self-test in the self-test log, in bytes.
const SELF_TEST: usize = 28;
/// The size of the header of the self-test log, in bytes.
const SELF_TEST_HEADER: usize = 4;
/// The size of the self-test log in bytes. It holds 20 self-tests.
const SELF_TEST_LOG: usize = SELF_TEST_HEADER + 20 * SELF_TEST;
/// `_IOWR('N', 0x41, struct nvme_passthru_cmd)` of linux/nvme_ioctl.h.
const ADMIN_COMMAND: u64 = 0xc048_4e41;
/// The admin command Get Log Page.
const GET_LOG_PAGE: u8 = 0x02;
const SMART_LOG_ID: u32 = 0x02;
const SELF_TEST_LOG_ID: u32 = 0x06;
const ALL_NAMESPACES: u32 = u32::MAX;
/// The time in milliseconds after which a disk counts as not responding.
const TIMEOUT_MS: u32 = 1000;

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    length: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<NvmeCommand>() == 72);

/// Returns true if the field Critical Warning reports a failure. Failures are too few spare blocks,
/// degraded reliability, a read-only medium, and a failed backup of volatile memory. A high
/// temperature (bit 1) is not a failure.
pub fn is_failing(critical_warning: u64) -> bool {
    critical_warning & 0b1_1101 != 0
}

/// Returns true if the field Critical Warning reports a temperature outside the limits.
pub fn is_too_hot(critical_warning: u64) -> bool {
    critical_warning & 0b10 != 0
}

/// Returns the warning of the field Critical Warning that is neither a failure nor about the
/// temperature. It does not affect data on the disk itself.
pub fn warnings(critical_warning: u64) -> Vec<String> {
    let is_unreliable = critical_warning & 0b10_0000 != 0;
    let warning = is_unreliable.then(|| "the persistent memory region is unreliable".to_owned());
    warning.into_iter().collect()
}

/// Reads the logs of a disk of this machine. Returns `None` without permission, or if the disk does
/// not return its SMART log.
pub fn smart(disk: &str) -> Option<Smart> {
    let device = File::open(format!("/dev/{disk}")).ok()?;
    let smart = parse_log(&read_log(&device, SMART_LOG_ID).ok()??);
    let self_tests = read_log(&device, SELF_TEST_LOG_ID).transpose();
    let failed = self_tests.map(|log| match log {
        Ok(log) => Ok(failed_self_test(&log)),
        Err(e) => Err(e.to_string()),
    });
    Some(Smart {
        failed_self_test: failed,
        ..smart
    })
}

/// Reads a log. Returns `None` if the disk does not have the log.
///
/// # Errors
///
/// Returns an error if the driver rejects the command, or if the disk does not respond.
fn read_log<const BYTES: usize>(device: &File, id: u32) -> io::Result<Option<[u8; BYTES]>> {
    let mut log = [0; BYTES];
    let words = (BYTES / 4 - 1) as u32;
    let mut command = NvmeCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        address: log.as_mut_ptr() as u64,
        length: BYTES as u32,
        words_10_15: [words << 16 | id, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..NvmeCommand::default()
    };
    // SAFETY: the command has the layout of linux/nvme_ioctl.h, and the log has the length given in the command.
    let status = unsafe { libc::ioctl(device.as_raw_fd(), ADMIN_COMMAND as _, &raw mut command) };
    match status {
        0 => Ok(Some(log)),
        // The status of a command that the disk rejected.
        1.. => Ok(None),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Parses a self-test log, and returns the failed self-test, or an empty text if there is none (NVM
/// Express Base Specification 2.0, 5.16.1.7).
fn failed_self_test(log: &[u8; SELF_TEST_LOG]) -> String {
    let tests = log[SELF_TEST_HEADER..].chunks_exact(SELF_TEST);
    latest_failure(tests.map(parse_self_test)).unwrap_or_default()
}

fn parse_self_test(entry: &[u8]) -> SelfTest {
    let number = |at: usize| {
        let bytes = entry[at..at + 8].try_into();
        bytes.map_or(0, u64::from_le_bytes)
    };
    let (code, result) = (entry[0] >> 4, entry[0] & 0b1111);
    // The words of smartctl.
    let text = match result {
        5 => "Fatal or unknown test error",
        6 => "Completed: unknown failed segment",
        7 => "Completed: failed segments",
        _ => "not failed",
    };
    let has_block = entry[2] & 0b10 != 0;
    let label = result_text(text, Some(number(4)), has_block.then(|| number(16)));
    SelfTest::from_nvme(Some(code.into()), Some(result.into()), label)
}

/// Parses a SMART log (NVM Express Base Specification 2.0, figure 207).
fn parse_log(log: &[u8; LOG]) -> Smart {
    let number = |at: usize| {
        let bytes: Vec<u8> = log[at..at + 16].to_vec();
        bytes.try_into().map_or(0, u128::from_le_bytes)
    };
    let percent = |at: usize| Some(f64::from(log[at]) / 100.0);
    let kelvin = i64::from(u16::from_le_bytes([log[1], log[2]]));
    Smart {
        failing: Some(is_failing(log[0].into())),
        too_hot: Some(is_too_hot(log[0].into())),
        warnings: Some(warnings(log[0].into())),
        // 0 K means not reported.
        temperature: (kelvin > 0).then_some(kelvin - 273),
        spare: percent(3),
        worn: percent(5),
        written: Some(number(48) as f64 * DATA_UNIT),
        media_errors: u64::try_from(number(160)).ok(),
        ..Smart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_parsed_as_specified() {
        let mut page = [0; LOG];
        page[0] = 0b10; // The temperature is too high.
        page[1..3].copy_from_slice(&357_u16.to_le_bytes());
        (page[3], page[4], page[5]) = (100, 10, 10);
        page[48..56].copy_from_slice(&100_000_000_u64.to_le_bytes());
        page[160] = 2;
        let smart = parse_log(&page);
        assert_eq!((smart.failing, smart.spare), (Some(false), Some(1.0)));
        assert_eq!((smart.worn, smart.written), (Some(0.1), Some(51.2e12)));
        assert_eq!((smart.bad_sectors, smart.media_errors), (None, Some(2)));
        assert_eq!((smart.too_hot, smart.temperature), (Some(true), Some(84)));
        page[0] = 0b100;
        assert_eq!(parse_log(&page).failing, Some(true));
    }

    #[test]
    fn the_failed_self_test_is_read_from_its_log() {
        // The code and the result of each self-test, the latest first. 0xf means not used.
        let log = |tests: &[u8]| {
            let mut log = [0; SELF_TEST_LOG];
            for (number, entry) in log[SELF_TEST_HEADER..].chunks_mut(SELF_TEST).enumerate() {
                entry[0] = tests.get(number).copied().unwrap_or(0xf);
                entry[2] = 0b10;
                entry[4..12].copy_from_slice(&22_000_u64.to_le_bytes());
                entry[16..24].copy_from_slice(&1951_u64.to_le_bytes());
            }
            failed_self_test(&log)
        };
        let failure = "Completed: failed segments, at 22000 h, LBA 1951";
        assert_eq!(log(&[]), "");
        assert_eq!(log(&[0x17]), failure);
        assert_eq!(log(&[0x10, 0x21, 0x27]), failure, "short, then aborted");
        assert_eq!(log(&[0x20, 0x27]), "", "outdated by a long self-test");
        assert!(log(&[0x25]).starts_with("Fatal or unknown"));
    }

    #[test]
    fn a_disk_that_is_not_nvme_has_no_values() {
        let device = File::open("/dev/null").expect("a device");
        assert!(read_log::<LOG>(&device, SMART_LOG_ID).is_err());
        assert_eq!(smart("no-such-disk"), None);
    }
}
