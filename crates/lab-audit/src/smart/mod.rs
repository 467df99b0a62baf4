// SPDX-License-Identifier: Apache-2.0
//! What a disk says of itself (SMART): its health, how worn it is, and what was written to it in its life.

mod nvme;

use crate::root::Root;
use serde_json::Value as Json;

/// Bytes that flash endures for each byte of its size where no disk tells: 0.3 of it a day for five years, as makers
/// promise (JESD218 and data sheets).
const ASSUMED: f64 = 0.3 * 365.0 * 5.0;
/// Below this part, whole percents are too coarse to compute the endurance from.
const COARSE: f64 = 0.02;

/// What a disk tells; `None`: it does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Smart {
    /// Whether it says that it fails.
    pub failing: Option<bool>,
    /// The part of its endurance that is used; can exceed 1.
    pub worn: Option<f64>,
    /// The part of its spare blocks that is left.
    pub spare: Option<f64>,
    /// Sectors that were taken out of use or cannot be read.
    pub bad_sectors: Option<u64>,
    /// Bytes written in its life.
    pub written: Option<f64>,
}

/// How much can still be written to a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// Bytes.
    pub left: f64,
    /// How that is known, in words.
    pub by: &'static str,
}

impl Smart {
    /// Reads SMART of a disk such as `sda`: from its driver (NVMe), or by smartctl(8).
    ///
    /// # Errors
    /// Neither tells; why, in words.
    pub fn of(root: &Root, disk: &str) -> Result<Smart, String> {
        let from_driver = if root.is_live() && disk.starts_with("nvme") {
            nvme::smart(disk)
        } else {
            None
        };
        from_driver.map_or_else(|| by_smartctl(root, disk), Ok)
    }

    /// What a disk of `size` bytes still endures.
    pub fn endurance(&self, size: f64) -> Endurance {
        let worn = self.worn.unwrap_or(0.0);
        let computed_total = self.written.filter(|_| worn >= COARSE).map(|w| w / worn);
        let left = (1.0 - worn).max(0.0);
        let assumed = size * ASSUMED;
        match (computed_total, self.worn, self.written) {
            (Some(total), ..) => Endurance {
                left: total * left,
                by: "from SMART: the part that is used, and the bytes that were written",
            },
            (None, Some(_), None) => Endurance {
                left: assumed * left,
                by: "SMART tells the part that is used; 0.3 of the disk a day for five years is assumed of the whole",
            },
            (None, _, Some(written)) => Endurance {
                left: (assumed - written).max(0.0),
                by: "SMART tells what was written; 0.3 of the disk a day for five years is assumed of the whole",
            },
            (None, None, None) => Endurance {
                left: assumed,
                by: "assumed: 0.3 of the disk a day for five years; SMART tells nothing",
            },
        }
    }
}

fn by_smartctl(root: &Root, disk: &str) -> Result<Smart, String> {
    let device = format!("/dev/{disk}");
    let words = [
        "smartctl",
        "--json",
        "--health",
        "--attributes",
        "--log=devstat",
        &device,
    ];
    let text = root.output(&format!("smartctl-{disk}.json"), &words)?;
    let json: Json =
        serde_json::from_str(&text).map_err(|_| "smartctl did not answer in JSON".to_owned())?;
    match json.get("smart_status") {
        Some(_) => Ok(parse_smartctl(&json)),
        None => Err("smartctl shows nothing of it; it needs root".into()),
    }
}

/// From smartctl's JSON, of NVMe or ATA.
fn parse_smartctl(json: &Json) -> Smart {
    let nvme = &json["nvme_smart_health_information_log"];
    let percent = |value: &Json| value.as_f64().map(|percent| percent / 100.0);
    let raw = |id| attribute(json, id).and_then(|a| a["raw"]["value"].as_u64());
    // Reallocated, pending and uncorrectable sectors.
    let sectors = [5, 197, 198].into_iter().filter_map(raw);
    let sectors = sectors.reduce(|a, b| a.saturating_add(b));
    let worn = [
        percent(&nvme["percentage_used"]),
        percent(&json["endurance_used"]["current_percent"]),
        statistic(json, "Percentage Used Endurance Indicator").map(|percent| percent / 100.0),
        worn_by_attribute(json),
    ];
    let units = nvme["data_units_written"].as_f64();
    let written = [
        units.map(|units| units * nvme::DATA_UNIT),
        statistic(json, "Logical Sectors Written").map(|sectors| sectors * sector(json)),
        written_by_attribute(json),
    ];
    Smart {
        failing: json["smart_status"]["passed"].as_bool().map(|ok| !ok),
        worn: worn.into_iter().flatten().next(),
        spare: percent(&nvme["available_spare"]),
        bad_sectors: sectors.or_else(|| nvme["media_errors"].as_u64()),
        written: written.into_iter().flatten().next(),
    }
}

fn attributes(json: &Json) -> impl Iterator<Item = &Json> {
    let table = json["ata_smart_attributes"]["table"].as_array();
    table.into_iter().flatten()
}

fn attribute(json: &Json, id: u64) -> Option<&Json> {
    attributes(json).find(|attribute| attribute["id"].as_u64() == Some(id))
}

/// Attributes 233 and 177 of SATA disks, and those of these names, count down from 100 (Intel, Samsung, SandForce,
/// Crucial, Micron).
fn worn_by_attribute(json: &Json) -> Option<f64> {
    const NAMES: [&str; 3] = [
        "SSD_Life_Left",
        "Percent_Lifetime_Remain",
        "Remaining_Lifetime_Perc",
    ];
    let by_name =
        || attributes(json).find(|a| a["name"].as_str().is_some_and(|name| NAMES.contains(&name)));
    let by_id = attribute(json, 233).or_else(|| attribute(json, 177));
    let left = by_id.or_else(by_name)?["value"].as_f64()?;
    Some((100.0 - left) / 100.0)
}

/// Makers count in units of their own, which the attribute's name tells (smartmontools' drivedb.h).
fn written_by_attribute(json: &Json) -> Option<f64> {
    attributes(json).find_map(|attribute| {
        let unit = match attribute["name"].as_str()? {
            "Total_LBAs_Written" => sector(json),
            "Host_Writes_32MiB" => (32 << 20) as f64,
            "Lifetime_Writes_GiB" | "Total_Writes_GiB" | "Host_Writes_GiB" => (1 << 30) as f64,
            _ => return None,
        };
        Some(attribute["raw"]["value"].as_f64()? * unit)
    })
}

fn sector(json: &Json) -> f64 {
    json["logical_block_size"].as_f64().unwrap_or(512.0)
}

/// Of the log of device statistics (ATA Command Set 4, General Purpose Log 04h).
fn statistic(json: &Json, name: &str) -> Option<f64> {
    let pages = json["ata_device_statistics"]["pages"].as_array()?;
    let rows = pages.iter().filter_map(|page| page["table"].as_array());
    let mut rows = rows.flatten();
    rows.find(|row| row["name"].as_str() == Some(name))?["value"].as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let attributes = json!({"smart_status": {}, "ata_smart_attributes": {"table": [
            {"id": 177, "name": "Wear_Leveling_Count", "value": 95, "raw": {"value": 60}},
            {"id": 197, "name": "Current_Pending_Sector", "value": 100, "raw": {"value": 3}},
            {"id": 241, "name": "Total_LBAs_Written", "value": 99, "raw": {"value": 4}}]}});
        let smart = parse_smartctl(&attributes);
        assert_eq!((smart.written, smart.bad_sectors), (Some(2048.0), Some(3)));
        assert!((smart.worn.unwrap() - 0.05).abs() < 1e-9);
        assert_eq!(
            parse_smartctl(&json!({"smart_status": {}})),
            Smart::default()
        );
    }

    #[test]
    fn what_is_told_goes_before_what_is_assumed() {
        let smart = |worn, written| Smart {
            worn,
            written,
            ..Smart::default()
        };
        let size = 1e12;
        // A tenth is used by 51.2 TB: nine times as much is left.
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
