// SPDX-License-Identifier: Apache-2.0
//! The health status and the warnings in smartctl's JSON output, and an explanation if the output
//! lacks them.

use super::nvme;
use serde_json::Value as Json;

/// The additional sense code of a warning (T10, SPC-5, annex F). A failure prediction has 0x5d.
const ASC_WARNING: u64 = 0x0b;
/// The maximum number of smartctl's messages that are shown.
const MAX_MESSAGES: usize = 3;
/// The maximum number of warnings that are shown.
const MAX_WARNINGS: usize = 5;
/// The maximum length of a shown message, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// Returns true if the disk reports that it is failing. A temperature outside the limits and other
/// warnings are not failures, although smartctl then reports `passed: false`.
pub(super) fn failing(json: &Json) -> Option<bool> {
    if let Some(warning) = critical_warning(json) {
        return Some(nvme::is_failing(warning));
    }
    let passed = json["smart_status"]["passed"].as_bool()?;
    Some(!passed && sense_code(json) != Some(ASC_WARNING))
}

/// Returns true if the disk reports a temperature outside its limits. The status of an ATA disk does
/// not include the temperature.
pub(super) fn too_hot(json: &Json) -> Option<bool> {
    if let Some(warning) = critical_warning(json) {
        return Some(nvme::is_too_hot(warning));
    }
    let is_scsi = json["device"]["protocol"].as_str() == Some("SCSI");
    let has_status = json["smart_status"]["passed"].is_boolean();
    (is_scsi && has_status).then(|| is_scsi_temperature(json))
}

/// Returns the current temperature in degrees Celsius.
pub(super) fn temperature(json: &Json) -> Option<i64> {
    let log = &json["nvme_smart_health_information_log"];
    let current = json["temperature"]["current"].as_i64();
    current.or_else(|| log["temperature"].as_i64())
}

/// Returns the warnings that are not failures. For an ATA disk, they are about attributes at their
/// thresholds and about invalid checksums. NVMe and SCSI disks report warnings in their health
/// status.
///
/// Returns `None` if the disk does not report warnings.
pub(super) fn warnings(json: &Json) -> Option<Vec<String>> {
    if json["ata_smart_attributes"]["table"].is_array() {
        let mut warnings = attributes_failed(json, "now", "value");
        warnings.extend(checksum_error(json));
        return Some(warnings);
    }
    if let Some(warning) = critical_warning(json) {
        return Some(nvme::warnings(warning));
    }
    let status = &json["smart_status"];
    let is_scsi = json["device"]["protocol"].as_str() == Some("SCSI");
    if !is_scsi || status.is_null() {
        return None;
    }
    let is_warning = sense_code(json) == Some(ASC_WARNING) && !is_scsi_temperature(json);
    let text = status["scsi"]["ie_string"].as_str().unwrap_or("WARNING");
    Some(is_warning.then(|| printable(text)).into_iter().collect())
}

/// Returns smartctl's message about data with an invalid checksum, whose values may be wrong.
fn checksum_error(json: &Json) -> Option<String> {
    let all = json["smartctl"]["messages"].as_array();
    let mut texts = all
        .into_iter()
        .flatten()
        .filter_map(|message| message["string"].as_str());
    let text = texts.find(|text| text.contains("checksum"))?;
    let text = text.strip_prefix("Warning! ").unwrap_or(text);
    Some(format!(
        "smartctl says: {}",
        printable(text.trim().trim_end_matches('.'))
    ))
}

/// Returns the attributes that were at their thresholds earlier, but are not anymore.
pub(super) fn past_warnings(json: &Json) -> Vec<String> {
    attributes_failed(json, "past", "worst")
}

/// Returns the field Critical Warning of an NVMe disk (NVM Express Base Specification 2.0, figure
/// 207).
fn critical_warning(json: &Json) -> Option<u64> {
    let status = &json["smart_status"];
    let log = json.get("nvme_smart_health_information_log");
    let own = status["nvme"]["value"].as_u64();
    let logged = || log.and_then(|log| log["critical_warning"].as_u64());
    let passed = || log.filter(|_| status["passed"].as_bool() == Some(true));
    own.or_else(logged).or_else(|| passed().map(|_| 0))
}

/// Returns the additional sense code of a SCSI disk.
fn sense_code(json: &Json) -> Option<u64> {
    json["smart_status"]["scsi"]["asc"].as_u64()
}

/// Returns true if a SCSI disk warns about its temperature. The temperature then exceeds the
/// specified temperature, or is outside the critical or operating limits (T10, SPC-5, annex F).
fn is_scsi_temperature(json: &Json) -> bool {
    let qualifier = json["smart_status"]["scsi"]["ascq"].as_u64();
    sense_code(json) == Some(ASC_WARNING) && matches!(qualifier, Some(0x01 | 0x0a..=0x0d))
}

/// Lists the attributes whose `when_failed` is `when`, each with its threshold and with the number
/// in the field `value`.
///
/// The comparison with the threshold needs no knowledge of the model.
fn attributes_failed(json: &Json, when: &str, value: &str) -> Vec<String> {
    let table = json["ata_smart_attributes"]["table"].as_array();
    let attributes = table.into_iter().flatten();
    let failed = attributes.filter(|attribute| attribute["when_failed"].as_str() == Some(when));
    let label = |attribute: &Json| {
        let number = |name: &str| attribute[name].as_u64().unwrap_or_default();
        let name = printable(attribute["name"].as_str().unwrap_or_default());
        let (id, threshold) = (number("id"), number("thresh"));
        format!(
            "{id} {name} ({value} {}, threshold {threshold})",
            number(value)
        )
    };
    failed.take(MAX_WARNINGS).map(label).collect()
}

/// Explains why smartctl shows nothing about the disk's health.
///
/// smartctl's messages include hints that are not about the missing data, so messages count only if
/// there is no error and the disk supports SMART.
pub(super) fn no_data_reason(json: &Json, disk: &str) -> String {
    match (raid_advice(json, disk), no_data_reason_of_smartctl(json)) {
        (Some(advice), _) => advice,
        (None, reason) => reason,
    }
}

/// Explains why smartctl shows some data but not all: returns the command for the disks of a RAID
/// controller, or else smartctl's error messages.
pub(super) fn partial_data_reason(json: &Json, disk: &str) -> Option<String> {
    let said = || {
        let errors = messages(json, |severity| severity != Some("information"))?;
        Some(format!("smartctl says: {errors}"))
    };
    raid_advice(json, disk).or_else(said)
}

/// Returns the command that reads the disks of a RAID controller, if the disk is a volume of such a
/// controller (smartctl(8), `--device`).
pub(super) fn raid_advice(json: &Json, disk: &str) -> Option<String> {
    const OPTIONS: [(&str, &str); 18] = [
        ("PERC", "megaraid,N"),
        ("MEGARAID", "megaraid,N"),
        ("SERVERAID", "megaraid,N"),
        ("MR9", "megaraid,N"),
        ("MR8", "megaraid,N"),
        ("RMS", "megaraid,N"),
        ("RS2", "megaraid,N"),
        ("RS3", "megaraid,N"),
        ("AVAGO", "megaraid,N"),
        ("LOGICAL VOLUME", "cciss,N"),
        ("SMART ARRAY", "cciss,N"),
        ("ADAPTEC", "aacraid,H,L,ID"),
        ("ASR", "aacraid,H,L,ID"),
        ("ARECA", "areca,N/E"),
        ("ARC-", "areca,N/E"),
        ("3WARE", "3ware,N"),
        ("AMCC", "3ware,N"),
        ("HIGHPOINT", "hpt,L/M/N"),
    ];
    let is_scsi = json["device"]["protocol"].as_str() == Some("SCSI");
    let text = |name: &str| json[name].as_str().unwrap_or_default().to_ascii_uppercase();
    let (vendor, product) = (text("scsi_vendor"), text("scsi_product"));
    // A physical disk of a vendor such as DELL has the model of its manufacturer.
    let model = format!("{vendor} {product} {}", text("scsi_model_name"));
    let words: Vec<&str> = model.split_whitespace().collect();
    let has_name = |name: &str| match name.contains(' ') {
        true => model.contains(name),
        false => words.iter().any(|word| word.starts_with(name)),
    };
    let own = OPTIONS
        .iter()
        .find(|(name, _)| has_name(name))
        .filter(|_| is_scsi);
    let (_, option) = own?;
    let disk = format!("/dev/{disk}");
    Some(format!(
        "The disk is a volume of a RAID controller, which hides its disks; `smartctl --scan` may \
        list them, and `smartctl -a -d {option} {disk}` shows one of them"
    ))
}

fn no_data_reason_of_smartctl(json: &Json) -> String {
    let support = &json["smart_support"];
    let flag = |name: &str| support[name].as_bool();
    let mode = json["power_mode"]["ata_string"].as_str();
    let mode = mode.filter(|mode| mode.starts_with("STANDBY") || mode.starts_with("SLEEP"));
    let exit_status = json["smartctl"]["exit_status"].as_i64();
    if let Some(errors) = messages(json, |severity| severity != Some("information")) {
        format!("smartctl says: {errors}")
    } else if flag("available") == Some(false) {
        "the disk does not support SMART".into()
    } else if flag("enabled") == Some(false) {
        "SMART is disabled on this disk; `smartctl --smart=on` enables it".into()
    } else if let Some(hints) = messages(json, |severity| severity == Some("information")) {
        format!("smartctl says: {hints}")
    } else if let Some(mode) = mode {
        format!("the disk is in a power-saving mode ({})", printable(mode))
    } else if let Some(status) = exit_status.filter(|status| *status != 0) {
        format!("smartctl shows no SMART data and exited with status {status}")
    } else {
        "smartctl shows no SMART data and gives no reason".into()
    }
}

/// Joins smartctl's messages with a requested severity. Returns `None` if there are none.
fn messages(json: &Json, is_requested: fn(Option<&str>) -> bool) -> Option<String> {
    let all = json["smartctl"]["messages"].as_array();
    let requested = all.into_iter().flatten();
    let requested = requested.filter(|message| is_requested(message["severity"].as_str()));
    let texts = requested.filter_map(|message| message["string"].as_str());
    let texts: Vec<String> = texts
        .take(MAX_MESSAGES)
        .map(|text| printable(text.trim().trim_end_matches('.')))
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Removes control characters and shortens a text.
pub(super) fn printable(text: &str) -> String {
    let characters = text.chars().filter(|c| !c.is_control());
    characters.take(MAX_MESSAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nvme(critical_warning: u64) -> Json {
        json!({"smart_status": {"passed": critical_warning == 0, "nvme": {"value": critical_warning}},
            "nvme_smart_health_information_log": {"critical_warning": critical_warning, "temperature": 84}})
    }

    fn sas(asc: u64, ascq: u64, text: &str) -> Json {
        json!({"device": {"protocol": "SCSI"},
            "smart_status": {"passed": false, "scsi": {"asc": asc, "ascq": ascq, "ie_string": text}}})
    }

    #[test]
    fn a_hot_disk_is_not_a_failing_disk() {
        // NVM Express: bit 1 is the temperature, bit 2 the reliability.
        let status = |json: &Json| (failing(json), too_hot(json));
        assert_eq!(status(&nvme(0b010)), (Some(false), Some(true)));
        assert_eq!(status(&nvme(0b110)), (Some(true), Some(true)));
        assert_eq!(status(&nvme(0b100)), (Some(true), Some(false)));
        assert_eq!(status(&nvme(0)), (Some(false), Some(false)));
        assert_eq!(temperature(&nvme(0b010)), Some(84));
        assert_eq!(warnings(&nvme(0b010)), Some(Vec::new()));
        let memory = warnings(&nvme(0b10_0000)).expect("warnings");
        assert_eq!(memory, ["the persistent memory region is unreliable"]);
        // SPC-5: asc 0x0b is a warning, and 0x5d predicts a failure.
        let hot = sas(0x0b, 0x01, "WARNING - SPECIFIED TEMPERATURE EXCEEDED");
        assert_eq!(status(&hot), (Some(false), Some(true)));
        assert_eq!(warnings(&hot), Some(Vec::new()));
        let predicted = sas(0x5d, 0x10, "HARDWARE IMPENDING FAILURE");
        assert_eq!(status(&predicted), (Some(true), Some(false)));
        let scan = sas(0x0b, 0x03, "WARNING - BACKGROUND SELF-TEST FAILED");
        assert_eq!(status(&scan), (Some(false), Some(false)));
        let text = "WARNING - BACKGROUND SELF-TEST FAILED".to_owned();
        assert_eq!(warnings(&scan), Some(vec![text]));
        // The status of an ATA disk does not include the temperature.
        let ata = json!({"smart_status": {"passed": false}});
        assert_eq!(status(&ata), (Some(true), None));
        assert_eq!(status(&json!({})), (None, None));
    }

    #[test]
    fn attributes_at_their_threshold_are_listed() {
        let attribute = |id: u64, name: &str, when: &str| json!({"id": id, "name": name, "value": 90, "worst": 40, "thresh": 97, "when_failed": when});
        let disk = json!({"ata_smart_attributes": {"table": [
            attribute(5, "Reallocated_Sector_Ct", ""),
            attribute(10, "Spin_Retry_Count", "now"),
            attribute(190, "Airflow_Temperature_Cel", "past")]}});
        let now = "10 Spin_Retry_Count (value 90, threshold 97)".to_owned();
        assert_eq!(warnings(&disk), Some(vec![now]));
        assert_eq!(
            past_warnings(&disk),
            ["190 Airflow_Temperature_Cel (worst 40, threshold 97)"]
        );
        assert_eq!(warnings(&json!({})), None);
    }

    #[test]
    fn smartctl_reports_why_it_shows_nothing() {
        let message = |text: &str, severity: &str| json!({"smartctl": {"messages": [{"string": text, "severity": severity}]}});
        let bridge = "/dev/sdq: Unknown USB bridge [0x1234:0x5678 (0x100)]";
        assert_eq!(
            no_data_reason(&message(bridge, "error"), "sdq"),
            format!("smartctl says: {bridge}")
        );
        let text = "Smartctl open device: /dev/sda failed: Permission denied";
        let denied = no_data_reason(&message(text, "error"), "sda");
        assert!(denied.ends_with("failed: Permission denied"), "{denied}");
        let long = format!("\u{1b}[2J{}", "x".repeat(9999));
        let hostile = no_data_reason(&message(&long, "error"), "sda");
        assert!(
            hostile.len() < 300 && !hostile.contains('\u{1b}'),
            "{hostile}"
        );
        let standby = message("Device is in STANDBY mode, exit(2)", "information");
        assert_eq!(
            no_data_reason(&standby, "sda"),
            "smartctl says: Device is in STANDBY mode, exit(2)"
        );
    }

    #[test]
    fn a_volume_of_a_raid_controller_is_recognized() {
        let volume = |vendor: &str, product: &str| {
            let json = json!({"device": {"protocol": "SCSI"}, "scsi_vendor": vendor,
                "scsi_product": product, "smart_support": {"available": false}});
            no_data_reason(&json, "sdb")
        };
        for (vendor, product, option) in [
            ("DELL", "PERC H730P Mini", "-d megaraid,N /dev/sdb`"),
            ("LSI", "MR9361-8i", "-d megaraid,N"),
            ("AVAGO", "MR9460", "-d megaraid,N"),
            ("HP", "LOGICAL VOLUME", "-d cciss,N"),
            ("HPE", "LOGICAL VOLUME", "-d cciss,N"),
            ("Adaptec", "array0", "-d aacraid,H,L,ID"),
            ("Areca", "ARC-1883-VOL#00", "-d areca,N/E"),
            ("AMCC", "9650SE-4LP DISK", "-d 3ware,N"),
        ] {
            let reason = volume(vendor, product);
            assert!(
                reason.contains("RAID") && reason.contains(option),
                "{reason}"
            );
        }
        for (vendor, product) in [
            ("SEAGATE", "ST1200MM0088"),
            ("DELL", "MK1401GRRB"),
            ("QEMU", "QEMU HARDDISK"),
        ] {
            assert_eq!(volume(vendor, product), "the disk does not support SMART");
        }
    }

    #[test]
    fn a_reason_without_messages_is_taken_from_the_other_fields() {
        for (json, reason) in [
            (
                json!({"smart_support": {"available": false}}),
                "the disk does not support SMART",
            ),
            (
                json!({"smart_support": {"available": true, "enabled": false}, "smartctl": {"exit_status": 4}}),
                "SMART is disabled on this disk; `smartctl --smart=on` enables it",
            ),
            (
                json!({"power_mode": {"ata_string": "SLEEP"}}),
                "the disk is in a power-saving mode (SLEEP)",
            ),
            (
                json!({"power_mode": {"ata_string": "ACTIVE or IDLE"}, "smartctl": {"exit_status": 4}}),
                "smartctl shows no SMART data and exited with status 4",
            ),
            (
                json!({}),
                "smartctl shows no SMART data and gives no reason",
            ),
        ] {
            assert_eq!(no_data_reason(&json, "sda"), reason);
        }
    }
}
