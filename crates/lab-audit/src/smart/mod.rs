// SPDX-License-Identifier: Apache-2.0
//! SMART data, which a disk records about itself: health, wear and total bytes written.

mod errors;
mod nvme;
mod self_test;
mod status;
mod wear;

use lab_host::Root;
use serde_json::Value as Json;

/// The assumed endurance in bytes written per byte of capacity, for disks that do not report it.
///
/// Manufacturers commonly rate disks for 0.3 drive writes per day over five years (JESD218 and data sheets).
const ASSUMED: f64 = 0.3 * 365.0 * 5.0;
/// The fraction of wear below which the endurance cannot be computed, because disks report whole
/// percentages.
const COARSE: f64 = 0.02;

/// The SMART data of a disk. `None` means not reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Smart {
    /// True if the disk reports that it is failing.
    pub failing: Option<bool>,
    /// True if the disk reports a temperature outside its limits.
    pub too_hot: Option<bool>,
    /// The temperature in degrees Celsius.
    pub temperature: Option<i64>,
    /// The warnings of a disk that does not report that it is failing, such as attributes at their
    /// thresholds.
    pub warnings: Option<Vec<String>>,
    /// The attributes that were at their thresholds earlier, but are not anymore.
    pub past_warnings: Vec<String>,
    /// The fraction of the rated endurance that has been used. It can exceed 1.
    pub worn: Option<f64>,
    /// The attribute that shows the wear, if its unit or meaning is unknown.
    pub unclear_wear: Option<String>,
    /// The attribute that counts bad blocks, if its unit or meaning is unknown.
    pub unclear_bad_blocks: Option<String>,
    /// The remaining fraction of the spare blocks, 0 to 1.
    pub spare: Option<f64>,
    /// The number of sectors that were reallocated or cannot be read.
    pub bad_sectors: Option<u64>,
    /// The number of times that an NVMe disk could not read or verify data. An error can concern
    /// multiple blocks, and the same block can cause multiple errors.
    pub media_errors: Option<u64>,
    /// The number of errors that the disk could not correct, in its lifetime.
    pub uncorrected: Option<u64>,
    /// The failed self-test, or an empty text if no self-test failed after the last long self-test
    /// that passed. The error states why the disk did not return its log.
    pub failed_self_test: Option<Result<String, String>>,
    /// True if the disk logged errors.
    pub logged_errors: Option<bool>,
    /// An explanation of missing data: the reasons that smartctl gives or, for a volume of a RAID
    /// controller, the command that reads the controller's disks.
    pub reason: Option<String>,
    /// The number of bytes written over the disk's lifetime.
    pub written: Option<f64>,
    /// True if smartctl does not know the model. In that case, no attributes were read, because
    /// their meaning is uncertain.
    pub unnamed: bool,
}

/// The remaining endurance of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// The number of bytes that can still be written.
    pub left: f64,
    /// The method that determined the endurance, in words.
    pub by: &'static str,
}

impl Smart {
    /// Reads the SMART data of a disk such as `sda`, from the NVMe driver or with smartctl(8).
    ///
    /// # Errors
    ///
    /// Returns a message if neither source provides data.
    pub fn read(root: &Root, disk: &str) -> Result<Smart, String> {
        let from_driver = if root.is_live() && disk.starts_with("nvme") {
            nvme::smart(disk)
        } else {
            None
        };
        from_driver.map_or_else(|| by_smartctl(root, disk), Ok)
    }

    /// Returns true if the disk reports nothing about its health. A temperature alone does not count.
    fn is_empty(&self) -> bool {
        let other = Smart {
            temperature: None,
            reason: None,
            ..self.clone()
        };
        other == Smart::default()
    }

    /// Returns the remaining endurance of a disk with a capacity of `size` bytes.
    pub fn endurance(&self, size: f64) -> Endurance {
        let worn = self.worn.unwrap_or(0.0);
        let computed_total = self.written.filter(|_| worn >= COARSE).map(|w| w / worn);
        let left = (1.0 - worn).max(0.0);
        let assumed = size * ASSUMED;
        match (computed_total, self.worn, self.written) {
            (Some(total), ..) => Endurance {
                left: total * left,
                by: "from SMART: the used fraction and the bytes written",
            },
            (None, Some(_), None) => Endurance {
                left: assumed * left,
                by: "the used fraction from SMART; assuming 0.3 drive writes per day for five years in total",
            },
            (None, _, Some(written)) => Endurance {
                left: (assumed - written).max(0.0),
                by: "the bytes written from SMART; assuming 0.3 drive writes per day for five years in total",
            },
            (None, None, None) => Endurance {
                left: assumed,
                by: "assumed: 0.3 drive writes per day for five years, because SMART shows neither \
                    the wear nor the bytes written",
            },
        }
    }
}

fn by_smartctl(root: &Root, disk: &str) -> Result<Smart, String> {
    let device = format!("/dev/{disk}");
    let words = [
        "smartctl",
        "--json",
        "--info",
        "--health",
        "--attributes",
        "--log=devstat",
        // The wear of SAS disks. smartctl ignores logs that do not exist for the type of the disk.
        "--log=ssd",
        "--log=error",
        "--log=selftest",
        &device,
    ];
    let text = root.output(&format!("smartctl-{disk}.json"), &words)?;
    // Some editors and PowerShell write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let json: Json =
        serde_json::from_str(text).map_err(|_| "the output of smartctl is not JSON".to_owned())?;
    let smart = parse_smartctl(&json);
    if smart.is_empty() {
        return Err(status::no_data_reason(&json, disk));
    }
    let is_volume = status::raid_advice(&json, disk).is_some();
    let smart = Smart {
        reason: status::partial_data_reason(&json, disk),
        // The defects of a volume say nothing about the disks behind it.
        bad_sectors: smart.bad_sectors.filter(|_| !is_volume),
        ..smart
    };
    Ok(smart)
}

/// Parses smartctl's JSON output for an NVMe, ATA or SCSI disk.
fn parse_smartctl(json: &Json) -> Smart {
    let nvme = &json["nvme_smart_health_information_log"];
    let percent = |value: &Json| value.as_f64().map(|percent| percent / 100.0);
    // For ATA disks, smartctl derives this percentage from any attribute with a matching name, even for unknown models.
    let reported = Some(&json["endurance_used"]["current_percent"])
        .filter(|_| json.get("ata_smart_attributes").is_none());
    let worn = [
        percent(&nvme["percentage_used"]),
        statistic(json, "Percentage Used Endurance Indicator").map(|percent| percent / 100.0),
        wear::used_fraction(json),
        percent(&json["scsi_percentage_used_endurance_indicator"]),
        reported.and_then(percent),
    ];
    let units = nvme["data_units_written"].as_f64();
    let written = [
        units.map(|units| units * nvme::DATA_UNIT),
        statistic(json, "Logical Sectors Written").map(|sectors| sectors * sector(json)),
        written_by_attribute(json),
        written_by_scsi(json),
    ];
    let is_named = json.get("ata_smart_attributes").is_none() || has_known_names(json);
    let worn = worn.into_iter().flatten().find(is_amount);
    let bad_sectors = bad_sectors(json).or_else(|| json["scsi_grown_defect_list"].as_u64());
    Smart {
        failing: status::failing(json),
        too_hot: status::too_hot(json),
        temperature: status::temperature(json),
        warnings: status::warnings(json),
        past_warnings: status::past_warnings(json),
        worn,
        unclear_wear: worn.map_or_else(|| wear::unclear_attribute(json), |_| None),
        uncorrected: errors::uncorrected(json),
        failed_self_test: errors::failed_self_test(json).map(Ok),
        logged_errors: errors::logged_errors(json),
        reason: None,
        spare: percent(&nvme["available_spare"]).filter(is_amount),
        bad_sectors,
        unclear_bad_blocks: bad_sectors.map_or_else(|| unclear_bad_blocks(json), |_| None),
        media_errors: nvme["media_errors"].as_u64(),
        written: written.into_iter().flatten().find(is_amount),
        unnamed: !is_named,
    }
}

/// Returns true if a number is finite and not negative, since a broken disk may report anything.
fn is_amount(number: &f64) -> bool {
    number.is_finite() && *number >= 0.0
}

/// Returns true if smartctl's database contains the model, so that the meaning of its attributes is
/// known.
///
/// Hard disks always count as known, because they agree on the meaning of the few attributes that
/// are used here. For other unknown models, smartctl only guesses the names.
fn has_known_names(json: &Json) -> bool {
    let in_database = json["in_smartctl_database"].as_bool();
    let spins = json["rotation_rate"].as_u64().is_some_and(|rate| rate > 0);
    spins || in_database.unwrap_or(json.get("model_family").is_some())
}

/// Returns the attributes with their names. Returns no attributes if the names are guesses.
fn named_attributes(json: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let table = json["ata_smart_attributes"]["table"].as_array();
    let table = table.filter(|_| has_known_names(json));
    let attributes = table.into_iter().flatten();
    attributes.filter_map(|attribute| Some((attribute["name"].as_str()?, attribute)))
}

/// Returns an attribute's raw value as smartctl shows it.
///
/// Some models pack multiple numbers into the raw value. In that case, the first number is used.
fn raw(attribute: &Json) -> Option<u64> {
    let shown = attribute["raw"]["string"].as_str().unwrap_or_default();
    let digits = shown.bytes().take_while(u8::is_ascii_digit).count();
    match shown[..digits].parse() {
        Ok(first) => Some(first),
        Err(_) => attribute["raw"]["value"].as_u64(),
    }
}

/// Returns the number of sectors that were reallocated or cannot be read.
///
/// Pending sectors and sectors that an offline test could not read are usually the same sectors, so
/// only the larger number counts.
fn bad_sectors(json: &Json) -> Option<u64> {
    const REALLOCATED: [&str; 4] = [
        "Reallocated_Sector_Ct",
        "Reallocated_Block_Count",
        "Reallocate_NAND_Blk_Cnt",
        "Retired_Block_Count",
    ];
    const PENDING: [&str; 3] = [
        "Current_Pending_Sector",
        "Pending_Sector_Count",
        "Current_Pending_ECC_Cnt",
    ];
    const UNCORRECTABLE: [&str; 2] = ["Offline_Uncorrectable", "Uncorrectable_Sector_Ct"];
    // Blocks that became bad later than in the factory. The first of two numbers is that of later
    // blocks.
    const LATER_BAD: [&str; 9] = [
        "Bad_Blk_Ct_Lat/Erl",
        "Bad_Bl_Ct_LATER_0_EARLY",
        "Later_Bad_Block",
        "Later_Bad_Block_Count",
        "Later_Bad_Blk_Ct",
        "Total_Later_Bad_Blk_Ct",
        "Grown_Bad_Block_Count",
        "Grown_Bad_Block_Ct",
        "Grown_Bad_Blocks",
    ];
    // The same blocks can be counted by an attribute of each kind.
    let reallocated = total(json, &REALLOCATED).max(total(json, &LATER_BAD));
    let unreadable = total(json, &PENDING).max(total(json, &UNCORRECTABLE));
    match (reallocated, unreadable) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// Returns the first attribute whose name suggests a count of bad blocks, for disks without an
/// attribute whose meaning is known.
fn unclear_bad_blocks(json: &Json) -> Option<String> {
    const PARTS: [&str; 5] = ["bad_bl", "bad_cluster", "realloc", "retired", "defect"];
    // Blocks that were bad in the factory.
    const OTHER: [&str; 5] = ["initial", "factory", "max_", "min_", "rate"];
    let is_candidate = |name: &str| {
        let name = name.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        has(&PARTS) && !has(&OTHER)
    };
    let mut attributes = named_attributes(json);
    let unclear = attributes.find(|(name, _)| is_candidate(name));
    unclear.map(|(name, attribute)| label(name, attribute))
}

/// Returns the ID and the name of an attribute, such as `231 SSD_Life_Left`.
fn label(name: &str, attribute: &Json) -> String {
    let id = attribute["id"].as_u64();
    let id = id.map_or(String::new(), |id| format!("{id} "));
    status::printable(&format!("{id}{name}"))
}

/// Returns the sum of the raw values of the attributes in `names`. Returns `None` if the disk has
/// none of these attributes.
fn total(json: &Json, names: &[&str]) -> Option<u64> {
    let counted = named_attributes(json).filter(|(name, _)| names.contains(name));
    counted
        .filter_map(|(_, attribute)| raw(attribute))
        .reduce(u64::saturating_add)
}

/// Returns the number of bytes that the host wrote. The attribute's name implies the unit (smartmontools' drivedb.h).
fn written_by_attribute(json: &Json) -> Option<f64> {
    named_attributes(json).find_map(|(name, attribute)| {
        let unit = match name {
            "Total_LBAs_Written" | "Total_Host_LBA_Written" => sector(json),
            "Host_Writes_MiB" => (1 << 20) as f64,
            "Host_Writes_32MiB" => (32 << 20) as f64,
            "Lifetime_Writes_GiB" | "Total_Writes_GiB" | "Host_Writes_GiB" => (1 << 30) as f64,
            "Total_Writes_GB" | "Lifetime_Wts_Frm_Hst_GB" => 1e9,
            _ => return None,
        };
        Some(raw(attribute)? as f64 * unit)
    })
}

/// Returns the number of bytes that a SAS disk counted. smartctl reports it in units of 10^9 bytes.
fn written_by_scsi(json: &Json) -> Option<f64> {
    let processed = &json["scsi_error_counter_log"]["write"]["gigabytes_processed"];
    let text = processed.as_str().and_then(|text| text.parse().ok());
    Some(processed.as_f64().or(text)? * 1e9)
}

fn sector(json: &Json) -> f64 {
    json["logical_block_size"].as_f64().unwrap_or(512.0)
}

/// Returns a value from the log of device statistics (ATA Command Set 4, General Purpose Log 04h).
fn statistic(json: &Json, name: &str) -> Option<f64> {
    let pages = json["ata_device_statistics"]["pages"].as_array()?;
    let rows = pages.iter().filter_map(|page| page["table"].as_array());
    let mut rows = rows.flatten();
    rows.find(|row| row["name"].as_str() == Some(name))?["value"].as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smart::wear::tests::known_ssd;
    use serde_json::json;

    #[test]
    fn smartctl_is_read_for_sas() {
        let sas = json!({"smart_status": {"passed": true}, "scsi_grown_defect_list": 3,
            "scsi_percentage_used_endurance_indicator": 12,
            "scsi_error_counter_log": {"write": {"gigabytes_processed": "51200.500"}}});
        let smart = parse_smartctl(&sas);
        assert_eq!((smart.worn, smart.bad_sectors), (Some(0.12), Some(3)));
        assert_eq!(smart.written, Some(51_200.5e9));
        let disk = json!({"smart_status": {"passed": true}, "scsi_grown_defect_list": 0});
        let smart = parse_smartctl(&disk);
        assert_eq!(
            (smart.worn, smart.bad_sectors, smart.written),
            (None, Some(0), None)
        );
        assert!(!smart.unnamed);
    }

    #[test]
    fn smartctl_is_read_for_nvme_and_for_ata() {
        let nvme = json!({"smart_status": {"passed": true}, "nvme_smart_health_information_log":
            {"percentage_used": 10, "available_spare": 99, "media_errors": 0, "data_units_written": 100_000_000}});
        let smart = parse_smartctl(&nvme);
        assert_eq!(smart.written, Some(51.2e12));
        assert_eq!((smart.worn, smart.spare), (Some(0.1), Some(0.99)));
        let statistics = json!({"smart_status": {"passed": false}, "logical_block_size": 512,
            "ata_device_statistics": {"pages": [{"table": [{"name": "Logical Sectors Written", "value": 2_000}]},
                {"table": [{"name": "Percentage Used Endurance Indicator", "value": 7}]}]}});
        let smart = parse_smartctl(&statistics);
        assert_eq!((smart.written, smart.worn), (Some(1_024_000.0), Some(0.07)));
        assert_eq!(smart.failing, Some(true));
        assert_eq!(
            parse_smartctl(&json!({"smart_status": {}})),
            Smart::default()
        );
    }

    #[test]
    fn numbers_that_no_disk_has_are_unknown() {
        for number in [json!(-1), json!(1e306)] {
            let nvme = json!({"smart_status": {"passed": true}, "logical_block_size": number,
                "nvme_smart_health_information_log": {"percentage_used": -1, "available_spare": -1,
                "data_units_written": number}, "ata_device_statistics": {"pages": [{"table":
                [{"name": "Logical Sectors Written", "value": 2_000}]}]}});
            let smart = parse_smartctl(&nvme);
            assert_eq!((smart.worn, smart.spare, smart.written), (None, None, None));
            assert!(smart.endurance(1e12).left > 0.0);
        }
    }

    #[test]
    fn counts_of_an_ssd_are_read_by_name() {
        let samsung = known_ssd(&[
            (177, "Wear_Leveling_Count", 95, "60"),
            (197, "Current_Pending_Sector", 100, "3"),
            (5, "Reallocated_Sector_Ct", 100, "2 (0 17)"),
            (241, "Total_LBAs_Written", 99, "4"),
        ]);
        let smart = parse_smartctl(&samsung);
        assert_eq!((smart.written, smart.bad_sectors), (Some(2048.0), Some(5)));
        assert!((smart.worn.unwrap() - 0.05).abs() < 1e-9);
        let not_in_use = known_ssd(&[
            (197, "Not_In_Use", 100, "9"),
            (198, "Host_Reads_GiB", 100, "900"),
        ]);
        assert_eq!(parse_smartctl(&not_in_use).bad_sectors, None);
    }

    #[test]
    fn later_bad_blocks_are_counted_without_those_of_the_factory() {
        let blocks = |attributes| {
            let smart = parse_smartctl(&known_ssd(attributes));
            (smart.bad_sectors, smart.unclear_bad_blocks)
        };
        assert_eq!(
            blocks(&[(170, "Bad_Blk_Ct_Lat/Erl", 100, "37/12")]),
            (Some(37), None)
        );
        assert_eq!(
            blocks(&[(170, "Grown_Bad_Block_Ct", 100, "3")]),
            (Some(3), None)
        );
        let both = [
            (5, "Retired_Block_Count", 100, "37"),
            (170, "Bad_Blk_Ct_Lat/Erl", 100, "37/12"),
        ];
        assert_eq!(blocks(&both), (Some(37), None));
        let unclear = [
            (163, "Initial_Bad_Block_Count", 100, "9"),
            (170, "Early/Later_Bad_Blck_Ct", 100, "12 0 37"),
        ];
        let named = Some("170 Early/Later_Bad_Blck_Ct".to_owned());
        assert_eq!(blocks(&unclear), (None, named));
    }

    #[test]
    fn sectors_that_two_attributes_count_are_counted_once() {
        let sectors = |reallocated: &str, pending: &str, uncorrectable: &str| {
            let disk = known_ssd(&[
                (5, "Reallocated_Sector_Ct", 100, reallocated),
                (197, "Current_Pending_Sector", 100, pending),
                (198, "Offline_Uncorrectable", 100, uncorrectable),
            ]);
            parse_smartctl(&disk).bad_sectors
        };
        assert_eq!(sectors("0", "8", "8"), Some(8));
        assert_eq!(sectors("2", "8", "3"), Some(10));
        assert_eq!(sectors("2", "0", "3"), Some(5));
        assert_eq!(sectors("0", "0", "0"), Some(0));
        // An error of an NVMe disk is not a sector.
        let nvme = json!({"nvme_smart_health_information_log": {"media_errors": 5}});
        let smart = parse_smartctl(&nvme);
        assert_eq!((smart.bad_sectors, smart.media_errors), (None, Some(5)));
    }

    #[test]
    fn attribute_names_of_unknown_models_are_ignored() {
        let mut json = known_ssd(&[
            (177, "Wear_Leveling_Count", 3, "60"),
            (241, "Total_LBAs_Written", 99, "4"),
            (5, "Reallocated_Sector_Ct", 100, "2"),
        ]);
        json["in_smartctl_database"] = json!(false);
        json["endurance_used"] = json!({"current_percent": 97});
        let smart = parse_smartctl(&json);
        assert!(smart.unnamed && smart.failing == Some(false));
        assert_eq!(
            (smart.worn, smart.bad_sectors, smart.written),
            (None, None, None)
        );
        // Hard disks agree on the meaning of a reallocated sector.
        json["rotation_rate"] = json!(5400);
        assert_eq!(parse_smartctl(&json).bad_sectors, Some(2));
        // Values defined by the standard need no database.
        json["rotation_rate"] = json!(0);
        json["ata_device_statistics"] = json!({"pages": [{"table": [{"name": "Percentage Used Endurance Indicator", "value": 7}]}]});
        assert_eq!(parse_smartctl(&json).worn, Some(0.07));
    }

    #[test]
    fn reported_values_take_precedence_over_assumptions() {
        let smart = |worn, written| Smart {
            worn,
            written,
            ..Smart::default()
        };
        let size = 1e12;
        // After 51.2 TB, one tenth of the endurance is used, so nine times as much remains.
        let computed = smart(Some(0.1), Some(51.2e12)).endurance(size);
        assert!((computed.left - 460.8e12).abs() < 1e6 && computed.by.starts_with("from SMART"));
        let half_worn = smart(Some(0.5), None).endurance(size);
        assert!((half_worn.left - 0.5 * ASSUMED * size).abs() < 1e6);
        let fresh = smart(Some(0.0), Some(1e12)).endurance(size);
        assert!((fresh.left - (ASSUMED * size - 1e12)).abs() < 1e6);
        let nothing = Smart::default().endurance(size);
        assert!(nothing.left == ASSUMED * size && nothing.by.starts_with("assumed"));
        let worn_out = smart(Some(1.2), Some(9e14)).endurance(size);
        assert_eq!(worn_out.left, 0.0);
    }
}
