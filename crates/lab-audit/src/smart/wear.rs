// SPDX-License-Identifier: Apache-2.0
//! The wear of an SSD, from attributes with the names in smartmontools' drivedb.h.
//!
//! Names are needed because the same IDs have other meanings in other models (177: Wear_Range_Delta;
//! 233: Flash_Writes_GiB).

use super::{named_attributes, raw};
use serde_json::Value as Json;

/// A kind of attribute that shows the wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WearKind {
    /// The percentage of the life that is left or used.
    Life,
    /// Intel's indicator. It can stay at 100 in models of other manufacturers that also report
    /// [`WearKind::Life`].
    MediaWearout,
    /// Samsung's count of erase cycles. It can stay at 100 forever, for example attribute 177 of
    /// Silicon Motion's controllers.
    WearLeveling,
}

/// The value of an attribute that shows the wear.
struct WearReading {
    kind: WearKind,
    /// The used percentage of the life. `None` means that the value is ambiguous or has another
    /// unit.
    percent_used: Option<u64>,
    /// The attribute's ID and name, such as `231 SSD_Life_Left`.
    label: String,
}

impl WearReading {
    /// Reads an attribute. Returns `None` if it does not show the wear.
    fn new(name: &str, attribute: &Json) -> Option<WearReading> {
        let left = || normalized_value(attribute).map(|left| 100 - left);
        let id = attribute["id"].as_u64();
        let (kind, percent_used) = match name {
            "Remaining_Lifetime_Perc" => (
                WearKind::Life,
                remaining_lifetime(attribute).map(|left| 100 - left),
            ),
            // The normalized value counts down from 100.
            "SSD_Life_Left" => (WearKind::Life, left()),
            "Wear_Leveling_Count" => (WearKind::WearLeveling, left()),
            // The raw value can hold the percentage while the normalized value stays at 100.
            "SSD_Life_Left_Perc"
            | "SSD_Remaining_Life_Perc"
            | "Percent_Lifetime_Remain"
            | "Percent_Life_Remaining"
            | "Sys_Percent_Life_Remain"
            | "Perc_Rated_Life_Remain"
            | "PCT_Life_Remaining"
            | "Remaining_Life"
            | "Lifetime_Left"
            | "Lifetime_Remaining%"
            | "Life_Remaining_Percent"
            | "DriveLife_Remaining%"
            | "Drive_Life_Remaining%" => {
                let is_open = |used: &u64| *used == 0 && matches!(raw(attribute), Some(1..=99));
                (WearKind::Life, left().filter(|used| !is_open(used)))
            }
            "SSD_LifeLeft(0.01%)" => (WearKind::Life, hundredths_left(attribute)),
            // Intel's attribute (233) counts down. SanDisk's attribute with the same name (230) counts up, in other
            // units.
            "Media_Wearout_Indicator" => {
                (WearKind::MediaWearout, left().filter(|_| id == Some(233)))
            }
            "Percent_Lifetime_Used"
            | "Perc_Rated_Life_Used"
            | "Percent_Life_Used"
            | "Drive_Life_Used%"
            | "DriveLife_Used%" => (WearKind::Life, raw(attribute).filter(|used| *used <= 255)),
            _ => return None,
        };
        Some(WearReading {
            kind,
            percent_used,
            label: super::label(name, attribute),
        })
    }
}

/// Returns the used fraction of an SSD's life, from the most explicit kind of attribute. If multiple
/// attributes of a kind disagree, the worst counts.
///
/// If a [`WearKind::Life`] attribute is ambiguous, attributes of other kinds do not replace it,
/// because they can stay at 100.
pub(super) fn used_fraction(json: &Json) -> Option<f64> {
    let readings = readings(json);
    let has_life = readings.iter().any(|r| r.kind == WearKind::Life);
    let kinds: &[WearKind] = if has_life {
        &[WearKind::Life]
    } else {
        &[WearKind::MediaWearout, WearKind::WearLeveling]
    };
    let worst = kinds.iter().find_map(|kind| {
        let own = readings.iter().filter(|reading| reading.kind == *kind);
        own.filter_map(|reading| reading.percent_used).max()
    })?;
    Some(worst as f64 / 100.0)
}

/// Returns the first attribute that shows the wear, but whose unit or meaning is unknown.
pub(super) fn unclear_attribute(json: &Json) -> Option<String> {
    let mut readings = readings(json).into_iter();
    let unclear = readings.find(|reading| reading.percent_used.is_none());
    let by_name = || {
        let unclear = named_attributes(json).find(|(name, _)| suggests_wear(name));
        unclear.map(|(name, attribute)| super::label(name, attribute))
    };
    unclear.map(|reading| reading.label).or_else(by_name)
}

/// Returns true if the name of an attribute suggests that it shows the wear in some unit.
fn suggests_wear(name: &str) -> bool {
    const PARTS: [&str; 11] = [
        "lifeleft",
        "life_left",
        "life_remain",
        "life_used",
        "lifetime_left",
        "lifetime_remain",
        "lifetime_used",
        "remaining_life",
        "end_of_life",
        "perc_write/erase",
        "wear",
    ];
    // A part of a workload, and the life of capacitors.
    const OTHER: [&str; 5] = ["workld", "capacitor", "supercap", "delta", "spare"];
    let name = name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(&PARTS) && !has(&OTHER)
}

/// Returns the used percentage from a raw value that holds the remaining life in hundredths of a
/// percent, if it agrees with the normalized value.
fn hundredths_left(attribute: &Json) -> Option<u64> {
    let left = raw(attribute).filter(|left| *left <= 10_000)? / 100;
    let agrees = normalized_value(attribute).is_some_and(|value| value.abs_diff(left) <= 1);
    agrees.then(|| 100 - left)
}

fn readings(json: &Json) -> Vec<WearReading> {
    named_attributes(json)
        .filter_map(|(name, attribute)| WearReading::new(name, attribute))
        .collect()
}

/// Returns a normalized value if it is a percentage.
fn normalized_value(attribute: &Json) -> Option<u64> {
    attribute["value"]
        .as_u64()
        .filter(|percent| *percent <= 100)
}

/// Returns the remaining percentage of a disk's life, from the raw value of `Remaining_Lifetime_Perc`.
///
/// The normalized value is usually the same, but some of Silicon Motion's controllers leave it at 100, and Indilinx
/// (209) reports some digits of the raw value instead.
fn remaining_lifetime(attribute: &Json) -> Option<u64> {
    let left = raw(attribute).filter(|percent| *percent <= 100)?;
    let has_no_other = attribute["id"].as_u64() == Some(209) || attribute["value"].is_null();
    let fits = match normalized_value(attribute) {
        Some(normalized) if normalized == left => true,
        // A raw value of 0 is ambiguous: the disk may be worn out, or it may not maintain the
        // value.
        Some(100) => left > 0,
        _ => false,
    };
    (has_no_other || fits).then_some(left)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// An attribute's ID, name, normalized value and raw value.
    type Attribute<'a> = (u64, &'a str, u64, &'a str);

    /// Returns the SMART data of an SSD that smartctl knows.
    pub fn known_ssd(attributes: &[Attribute]) -> Json {
        let table: Vec<Json> = attributes
            .iter()
            .map(|(id, name, value, raw)| {
                json!({"id": id, "name": name, "value": value, "raw": {"value": u64::MAX >> 16, "string": raw}})
            })
            .collect();
        json!({"in_smartctl_database": true, "model_family": "any", "rotation_rate": 0, "logical_block_size": 512,
            "smart_status": {"passed": true}, "ata_smart_attributes": {"table": table}})
    }

    /// Returns the used percentage.
    fn worn(attributes: &[Attribute]) -> Option<f64> {
        used_fraction(&known_ssd(attributes)).map(|worn| (worn * 100.0).round())
    }

    #[test]
    fn attributes_of_an_ssd_are_read_by_name() {
        // The same IDs with other names have other meanings.
        assert_eq!(
            worn(&[
                (177, "Wear_Range_Delta", 0, "1"),
                (233, "SandForce_Internal", 0, "51384")
            ]),
            None
        );
        assert_eq!(
            worn(&[
                (177, "Wear_Range_Delta", 0, "1"),
                (231, "SSD_Life_Left", 95, "4294967296")
            ]),
            Some(5.0)
        );
        assert_eq!(
            worn(&[
                (233, "Flash_Writes_GiB", 100, "9758"),
                (231, "SSD_Life_Left", 14, "86")
            ]),
            Some(86.0)
        );
        assert_eq!(
            worn(&[(233, "Media_Wearout_Indicator", 97, "0")]),
            Some(3.0)
        );
        assert_eq!(worn(&[(202, "Percent_Lifetime_Used", 93, "7")]), Some(7.0));
        assert_eq!(worn(&[(231, "Controller_Temperature", 30, "30")]), None);
        assert_eq!(worn(&[(231, "SSD_Life_Left", 253, "0")]), None);
    }

    #[test]
    fn an_explicit_life_precedes_a_count_that_can_stay_at_100() {
        // drivedb.h has 177 and 231 for Silicon Motion (SKC600) and for Kingston's UV500.
        let kc600 = [
            (177, "Wear_Leveling_Count", 100, "500"),
            (231, "SSD_Life_Left", 12, "12"),
        ];
        assert_eq!(worn(&kc600), Some(88.0));
        let uv500 = [
            (177, "Wear_Leveling_Count", 91, "88"),
            (231, "SSD_Life_Left", 90, "90"),
            (233, "Media_Wearout_Indicator", 100, "0"),
        ];
        assert_eq!(worn(&uv500), Some(10.0));
        let intel = [
            (177, "Wear_Leveling_Count", 100, "14"),
            (233, "Media_Wearout_Indicator", 96, "0"),
        ];
        assert_eq!(worn(&intel), Some(4.0));
        // The worst of two that disagree.
        let two = [
            (169, "Remaining_Lifetime_Perc", 100, "92"),
            (231, "SSD_Life_Left", 40, "40"),
        ];
        assert_eq!(worn(&two), Some(60.0));
    }

    #[test]
    fn an_attribute_with_an_unknown_unit_is_named() {
        let western_digital = [(230, "Media_Wearout_Indicator", 1, "0x002600140026")];
        assert_eq!(worn(&western_digital), None);
        let unclear = |attributes: &[Attribute]| unclear_attribute(&known_ssd(attributes));
        assert_eq!(
            unclear(&western_digital).as_deref(),
            Some("230 Media_Wearout_Indicator")
        );
        assert_eq!(
            unclear(&[(169, "Remaining_Lifetime_Perc", 100, "0")]).as_deref(),
            Some("169 Remaining_Lifetime_Perc")
        );
        assert_eq!(unclear(&[(5, "Reallocated_Sector_Ct", 100, "0")]), None);
        // SanDisk's percentage has another unit, and exceeds 100.
        let sandisk = [(230, "Perc_Write/Erase_Count", 100, "9300")];
        assert_eq!(worn(&sandisk), None);
        assert_eq!(
            unclear(&sandisk).as_deref(),
            Some("230 Perc_Write/Erase_Count")
        );
        for other in [
            "Workld_Media_Wear_Indic",
            "Wear_Range_Delta",
            "Capacitor_Life",
        ] {
            assert_eq!(unclear(&[(226, other, 100, "7")]), None, "{other}");
        }
    }

    #[test]
    fn a_percentage_is_read_from_the_value_that_holds_it() {
        let remaining = |value, raw| worn(&[(169, "Remaining_Lifetime_Perc", value, raw)]);
        // Silicon Motion, Kingston and Innodisk.
        assert_eq!(remaining(100, "92"), Some(8.0));
        assert_eq!(remaining(93, "93"), Some(7.0));
        assert_eq!(remaining(0, "0"), Some(100.0));
        assert_eq!(remaining(100, "100"), Some(0.0));
        // Inconsistent values.
        for (value, raw) in [(100, "0"), (93, "7"), (50, "100"), (100, "5000")] {
            assert_eq!(remaining(value, raw), None, "{value} {raw}");
        }
        // Indilinx's normalized value consists of digits of the raw value.
        assert_eq!(
            worn(&[(209, "Remaining_Lifetime_Perc", 0, "97")]),
            Some(3.0)
        );
        // Another explicit attribute replaces an ambiguous one, but not one that can stay at 100.
        let ambiguous = (169, "Remaining_Lifetime_Perc", 100, "0");
        let frozen = (177, "Wear_Leveling_Count", 100, "12");
        assert_eq!(
            worn(&[(169, "Remaining_Lifetime_Perc", 100, "41"), frozen]),
            Some(59.0)
        );
        assert_eq!(
            worn(&[ambiguous, (231, "SSD_Life_Left", 70, "70")]),
            Some(30.0)
        );
        assert_eq!(worn(&[frozen, ambiguous]), None);
        assert_eq!(worn(&[frozen]), Some(0.0));
        assert_eq!(
            worn(&[(181, "Sys_Percent_Life_Remain", 4, "4")]),
            Some(96.0)
        );
        // Hundredths of a percent.
        assert_eq!(worn(&[(178, "SSD_LifeLeft(0.01%)", 5, "500")]), Some(95.0));
        assert_eq!(worn(&[(178, "SSD_LifeLeft(0.01%)", 100, "500")]), None);
        // Other percentages behave the same.
        assert_eq!(worn(&[(248, "Remaining_Life", 100, "97")]), None);
        assert_eq!(worn(&[(248, "Remaining_Life", 97, "97")]), Some(3.0));
        assert_eq!(
            worn(&[(202, "Percent_Lifetime_Remain", 81, "19")]),
            Some(19.0)
        );
        assert_eq!(
            worn(&[(202, "Percent_Lifetime_Remain", 100, "0")]),
            Some(0.0)
        );
    }
}
