// SPDX-License-Identifier: Apache-2.0
//! Errors that a disk counted or logged, and its self-tests.

use super::self_test::{LONG_TEST, SelfTest, latest_failure, result_text};
use super::{named_attributes, raw, statistic, status::printable};
use serde_json::Value as Json;

/// The bit of smartctl's exit status for a log with errors.
const HAS_ERRORS: u64 = 1 << 6;
/// The bit of smartctl's exit status for a failed self-test.
const HAS_FAILED_SELF_TEST: u64 = 1 << 7;
/// The code of a long self-test of a SCSI disk in the foreground.
const LONG_FOREGROUND_TEST: u64 = 6;
/// The maximum number of self-tests that a SCSI disk logs.
const MAX_SCSI_TESTS: usize = 20;

/// Returns the number of errors that the disk could not correct in its lifetime, according to the
/// attribute, statistic or counter that shows the most. The counts are not added up, because they
/// may include the same errors.
pub(super) fn uncorrected(json: &Json) -> Option<u64> {
    const NAMES: [&str; 6] = [
        "Reported_Uncorrect",
        "Reported_Uncorr_Errors",
        "Uncorrectable_Error_Cnt",
        "Uncorrectable_ECC_Ct",
        "Uncorrectable_ECC_Cnt",
        "Uncorrectable_Sectors",
    ];
    let attributes = named_attributes(json).filter(|(name, _)| NAMES.contains(name));
    let counted = attributes.filter_map(|(_, attribute)| raw(attribute)).max();
    let general = statistic(json, "Number of Reported Uncorrectable Errors");
    let general = general
        .filter(|errors| *errors >= 0.0)
        .map(|errors| errors as u64);
    let logs = ["read", "write", "verify"].map(|log| &json["scsi_error_counter_log"][log]);
    let of_scsi = logs
        .iter()
        .filter_map(|log| log["total_uncorrected_errors"].as_u64());
    let of_scsi = of_scsi.reduce(u64::saturating_add);
    [counted, general, of_scsi].into_iter().flatten().max()
}

/// Returns true if the disk logged errors, or `None` if the log was not read.
pub(super) fn logged_errors(json: &Json) -> Option<bool> {
    let log = &json["ata_smart_error_log"];
    let count = |kind: &str| log[kind]["count"].as_u64();
    let counted = count("extended")
        .max(count("summary"))
        .map(|errors| errors > 0);
    let by_status = exit_status(json) & HAS_ERRORS != 0;
    counted
        .map(|has_errors| has_errors || by_status)
        .or(by_status.then_some(true))
}

/// Returns the failed self-test, or an empty text if there is none after the last long self-test
/// that passed. Returns `None` if the log was not read.
pub(super) fn failed_self_test(json: &Json) -> Option<String> {
    let tests = [ata_tests(json), nvme_tests(json), scsi_tests(json)];
    let tests = tests.into_iter().flatten().next();
    let is_failed = exit_status(json) & HAS_FAILED_SELF_TEST != 0;
    let unnamed = || is_failed.then(|| "a self-test failed".to_owned());
    let Some(tests) = tests else {
        return unnamed();
    };
    let failed = latest_failure(tests);
    failed.or_else(unnamed).or(Some(String::new()))
}

/// Returns the self-tests of an ATA disk, the latest first.
fn ata_tests(json: &Json) -> Option<Vec<SelfTest>> {
    let log = &json["ata_smart_self_test_log"];
    let table = |kind: &str| log[kind]["table"].as_array();
    let is_read = log["extended"].is_object() || log["standard"].is_object();
    let tests = table("extended").or(table("standard"));
    let test = |test: &Json| {
        let passed = test["status"]["passed"].as_bool();
        SelfTest {
            is_long: test["type"]["value"].as_u64() == Some(LONG_TEST),
            passed: passed == Some(true),
            failed: passed == Some(false),
            label: label(&test["status"], &test["lifetime_hours"], &test["lba"]),
        }
    };
    let tests = tests.map(|tests| tests.iter().map(test).collect());
    tests.or(is_read.then(Vec::new))
}

/// Returns the self-tests of an NVMe disk, the latest first.
fn nvme_tests(json: &Json) -> Option<Vec<SelfTest>> {
    let log = &json["nvme_self_test_log"];
    let tests = log["table"].as_array().map_or(&[][..], Vec::as_slice);
    let test = |test: &Json| {
        let [code, result] = ["self_test_code", "self_test_result"].map(|name| &test[name]);
        let label = label(result, &test["power_on_hours"], &test["lba"]);
        SelfTest::from_nvme(code["value"].as_u64(), result["value"].as_u64(), label)
    };
    log.is_object().then(|| tests.iter().map(test).collect())
}

/// Returns the self-tests of a SCSI disk, the latest first (T10, SPC-5, 7.3.20).
fn scsi_tests(json: &Json) -> Option<Vec<SelfTest>> {
    let tests = (0..MAX_SCSI_TESTS).map_while(|n| json.get(format!("scsi_self_test_{n}")));
    let test = |test: &Json| {
        let result = test["result"]["value"].as_u64();
        let long = [Some(LONG_TEST), Some(LONG_FOREGROUND_TEST)];
        SelfTest {
            is_long: long.contains(&test["code"]["value"].as_u64()),
            passed: result == Some(0),
            failed: matches!(result, Some(3..=7)),
            label: label(
                &test["result"],
                &test["power_on_time"]["hours"],
                &test["lba_first_failure"]["value"],
            ),
        }
    };
    let tests: Vec<SelfTest> = tests.map(test).collect();
    (!tests.is_empty()).then_some(tests)
}

/// Formats a result such as `Completed: read failure, at 22000 h, LBA 1951`.
fn label(result: &Json, hours: &Json, lba: &Json) -> String {
    let text = result["string"].as_str().unwrap_or("failed");
    result_text(&printable(text), hours.as_u64(), lba.as_u64())
}

fn exit_status(json: &Json) -> u64 {
    json["smartctl"]["exit_status"].as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smart::wear::tests::known_ssd;
    use serde_json::json;

    #[test]
    fn errors_that_a_disk_could_not_correct_are_read_from_each_kind_of_disk() {
        let ata = known_ssd(&[(187, "Reported_Uncorrect", 1, "412")]);
        assert_eq!(uncorrected(&ata), Some(412));
        let sas = json!({"scsi_error_counter_log": {"read": {"total_uncorrected_errors": 17},
            "write": {"total_uncorrected_errors": 5}}});
        assert_eq!(uncorrected(&sas), Some(22));
        let statistics = json!({"ata_device_statistics": {"pages": [{"table": [
            {"name": "Number of Reported Uncorrectable Errors", "value": 3}]}]}});
        assert_eq!(uncorrected(&statistics), Some(3));
        assert_eq!(uncorrected(&json!({})), None);
    }

    #[test]
    fn a_failed_self_test_counts_until_a_long_one_passes() {
        let test = |kind: u64, passed: Option<bool>, text: &str| {
            let mut test = json!({"type": {"value": kind}, "status": {"string": text},
                "lifetime_hours": 22_000});
            if let Some(passed) = passed {
                test["status"]["passed"] = json!(passed);
            }
            if passed == Some(false) {
                test["lba"] = json!(1951);
            }
            test
        };
        let failure = "Completed: read failure";
        let good = "Completed without error";
        let read = |tests: &[Json]| {
            failed_self_test(&json!({"ata_smart_self_test_log": {"standard": {"table": tests}}}))
        };
        let expected = Some(format!("{failure}, at 22000 h, LBA 1951"));
        let failed = test(2, Some(false), failure);
        assert_eq!(read(std::slice::from_ref(&failed)), expected);
        let short = test(1, Some(true), good);
        let aborted = test(2, None, "Aborted by host");
        assert_eq!(read(&[aborted, short, failed.clone()]), expected);
        let passed = test(2, Some(true), good);
        assert_eq!(read(&[passed, failed]).as_deref(), Some(""));
        assert_eq!(read(&[]).as_deref(), Some(""));
        assert_eq!(failed_self_test(&json!({})), None);
        let nvme = json!({"nvme_self_test_log": {"table": [{"self_test_code": {"value": 1},
            "self_test_result": {"value": 7, "string": "Completed: failed segments"}}]}});
        let expected = Some("Completed: failed segments");
        assert_eq!(failed_self_test(&nvme).as_deref(), expected);
        let scsi = json!({"scsi_self_test_0": {"code": {"value": 2}, "result": {"value": 7,
            "string": "Failed in segment"}, "power_on_time": {"hours": 9}}});
        let expected = Some("Failed in segment, at 9 h");
        assert_eq!(failed_self_test(&scsi).as_deref(), expected);
    }

    #[test]
    fn the_exit_status_shows_errors_without_their_logs() {
        let status = |status: u64| json!({"smartctl": {"exit_status": status}});
        assert_eq!(logged_errors(&status(64)), Some(true));
        assert_eq!(logged_errors(&status(4)), None);
        assert_eq!(
            failed_self_test(&status(128)).as_deref(),
            Some("a self-test failed")
        );
        let empty = json!({"ata_smart_error_log": {"summary": {"count": 0}}});
        assert_eq!(logged_errors(&empty), Some(false));
    }
}
