// SPDX-License-Identifier: Apache-2.0
//! Interprets time zones that a log writes as words, such as `EET`.
//!
//! PostgreSQL writes the abbreviation of its `log_timezone`.
//!
//! Source: IANA Time Zone Database 2025b; PostgreSQL 17, B.4 *Date/Time Configuration Files*.

use crate::time::{Zone, offset};
use lab_model::{LogAdvice, LogAssumption};

/// The maximum number of distinct words that are recorded.
const MAX_NOTED: usize = 8;

/// Abbreviations with a single offset, in minutes.
const CLEAR: [(&str, i32); 58] = [
    ("ACDT", 630),
    ("ACST", 570),
    ("ACWST", 525),
    ("AEDT", 660),
    ("AEST", 600),
    ("AKDT", -480),
    ("AKST", -540),
    ("ART", -180),
    ("AWST", 480),
    ("BRST", -120),
    ("BRT", -180),
    ("CAT", 120),
    ("CEST", 120),
    ("CET", 60),
    ("CHST", 600),
    ("CLST", -180),
    ("CLT", -240),
    ("COT", -300),
    ("EAT", 180),
    ("EDT", -240),
    ("EEST", 180),
    ("EET", 120),
    ("HDT", -540),
    ("HKT", 480),
    ("HST", -600),
    ("ICT", 420),
    ("IDT", 180),
    ("IRKT", 480),
    ("JST", 540),
    ("KRAT", 420),
    ("KST", 540),
    ("MDT", -360),
    ("MEST", 120),
    ("MET", 60),
    ("MSD", 240),
    ("MSK", 180),
    ("MYT", 480),
    ("NDT", -150),
    ("NOVT", 420),
    ("NPT", 345),
    ("NST", -210),
    ("NZDT", 780),
    ("NZST", 720),
    ("OMST", 360),
    ("PDT", -420),
    ("PET", -300),
    ("PKT", 300),
    ("SAST", 120),
    ("SGT", 480),
    ("TRT", 180),
    ("UCT", 0),
    ("VLAT", 600),
    ("WAT", 60),
    ("WEST", 60),
    ("WET", 0),
    ("WIB", 420),
    ("WITA", 480),
    ("YEKT", 300),
];

/// Abbreviations of multiple zones.
///
/// Each entry contains the offset, in minutes, of the zone in which most people use the
/// abbreviation, a description of that zone, and a description of the other zones.
const AMBIGUOUS: [(&str, i32, &str, &str); 13] = [
    ("ADT", -180, "Atlantic Canada", "Arabia"),
    ("AMT", -240, "the Amazon", "Armenia"),
    ("AST", -240, "Atlantic Canada", "Arabia"),
    ("BST", 60, "Britain", "Bangladesh"),
    ("CDT", -300, "the central USA", "Cuba"),
    ("CST", -360, "the central USA", "China, Taiwan and Cuba"),
    ("EST", -300, "the eastern USA", "eastern Australia"),
    ("GST", 240, "the Gulf", "South Georgia"),
    ("IST", 330, "India", "Israel and Ireland"),
    ("MST", -420, "the US Mountain states", "Malaysia"),
    ("PST", -480, "the western USA", "the Philippines"),
    ("SST", -660, "Samoa", "Singapore"),
    ("WST", 480, "western Australia", "Samoa"),
];

/// The interpretation of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// The word stands for a single offset, in seconds.
    Clear(i32),
    /// The word stands for multiple zones.
    ///
    /// The values are the assumed offset in seconds and the index of the word in [`AMBIGUOUS`].
    Ambiguous(i32, usize),
    /// The word is not the name of a known zone.
    Unknown,
}

impl Reading {
    fn interpret(word: &[u8]) -> Reading {
        let is = |name: &str| name.as_bytes().eq_ignore_ascii_case(word);
        if let Some((_, minutes)) = CLEAR.iter().find(|(name, _)| is(name)) {
            return Reading::Clear(minutes * 60);
        }
        match AMBIGUOUS.iter().position(|(name, ..)| is(name)) {
            Some(index) => Reading::Ambiguous(AMBIGUOUS[index].1 * 60, index),
            None => Reading::Unknown,
        }
    }

    fn offset_s(self) -> Option<i32> {
        match self {
            Reading::Clear(offset) | Reading::Ambiguous(offset, _) => Some(offset),
            Reading::Unknown => None,
        }
    }
}

/// Returns the offset of a zone in seconds, if only one zone has this abbreviation.
pub fn clear_offset(word: &[u8]) -> Option<i32> {
    match Reading::interpret(word) {
        Reading::Clear(offset_s) => Some(offset_s),
        Reading::Ambiguous(..) | Reading::Unknown => None,
    }
}

/// The UTC offsets of a log's timestamps, and the assumptions about them.
#[derive(Clone, Debug, Default)]
pub struct ZoneWords {
    zone: Zone,
    /// The words that were looked up, with their interpretations.
    noted: Vec<(String, Reading)>,
    /// The zones that were named as in the IANA database, such as `Europe/Berlin`.
    named: Vec<(Vec<u8>, Zone)>,
}

impl ZoneWords {
    /// Creates an instance without words. `zone` is the server's zone if the user specified it.
    pub fn new(zone: Zone) -> ZoneWords {
        ZoneWords {
            zone,
            ..ZoneWords::default()
        }
    }

    /// Converts a local time and its zone, as written in the log, to UTC.
    ///
    /// `local_s` is in seconds since 1970 as if it were UTC. Returns the time in seconds since
    /// 1970, and the offset of the log's clock from UTC in seconds.
    pub fn resolve(&mut self, local_s: i64, word: Option<&[u8]>) -> (i64, i32) {
        let offset_s = match word.map(|word| (word, offset(word))) {
            None => self.zone.offset_of_local(local_s),
            Some((_, Some(offset))) => {
                let time_s = local_s - i64::from(offset);
                let is_moved = offset == 0 && self.zone.is_given;
                return (
                    time_s,
                    if is_moved {
                        self.zone.offset_at(time_s)
                    } else {
                        offset
                    },
                );
            }
            Some((word, None)) => match self.named_zone(word) {
                Some(zone) => zone.offset_of_local(local_s),
                None => self.offset_of_word(local_s, word),
            },
        };
        (local_s - i64::from(offset_s), offset_s)
    }

    /// Returns `time_s`, in seconds since 1970, and the log's offset from UTC at that time, in
    /// seconds.
    pub fn resolve_utc(&mut self, time_s: i64) -> (i64, i32) {
        (time_s, self.zone.offset_at(time_s))
    }

    /// Returns the zone with a name such as `Europe/Berlin`.
    fn named_zone(&mut self, word: &[u8]) -> Option<&mut Zone> {
        if !word.contains(&b'/') {
            return None;
        }
        let index = self.named.iter().position(|(name, _)| name == word);
        if index.is_none() && self.named.len() < MAX_NOTED {
            let zone = Zone::named(std::str::from_utf8(word).ok()?).ok()?;
            self.named.push((word.into(), zone));
        }
        let index = index.or(self.named.len().checked_sub(1))?;
        let (name, zone) = &mut self.named[index];
        (name == word).then_some(zone)
    }

    fn offset_of_word(&mut self, local_s: i64, word: &[u8]) -> i32 {
        let reading = match self
            .noted
            .iter()
            .find(|(noted, _)| noted.as_bytes() == word)
        {
            Some((_, reading)) => *reading,
            None => {
                let reading = Reading::interpret(word);
                if self.noted.len() < MAX_NOTED {
                    self.noted.push((crate::route::printable(word), reading));
                }
                reading
            }
        };
        if !self.zone.is_given {
            return reading.offset_s().unwrap_or(0);
        }
        // The word decides between the two times of a repeated hour.
        let by_word = reading.offset_s();
        by_word
            .filter(|offset| self.zone.offset_at(local_s - i64::from(*offset)) == *offset)
            .unwrap_or_else(|| self.zone.offset_of_local(local_s))
    }

    /// Returns the assumptions for zones that the log does not determine.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let words = self.noted.iter().filter_map(assumption);
        let mut assumptions: Vec<LogAssumption> = words.filter(|_| !self.zone.is_given).collect();
        let zones = || self.named.iter().map(|(_, zone)| zone).chain([&self.zone]);
        if self.zone.was_assumed {
            assumptions.push(LogAssumption::NoZone);
        } else {
            if zones().any(|zone| zone.was_ambiguous) {
                assumptions.push(LogAssumption::RepeatedHour);
            }
            if zones().any(|zone| zone.was_skipped) {
                assumptions.push(LogAssumption::SkippedHour);
            }
        }
        assumptions
    }

    /// Returns the interpretations of unambiguous words.
    pub fn readings(&self) -> Vec<LogAdvice> {
        let readings = self
            .noted
            .iter()
            .filter_map(|(word, reading)| match reading {
                Reading::Clear(offset_s) => Some(LogAdvice::ZoneRead {
                    word: word.clone(),
                    offset_s: *offset_s,
                }),
                _ => None,
            });
        readings.filter(|_| !self.zone.is_given).collect()
    }
}

/// Returns the assumption behind the interpretation of a word, or `None` if the word is
/// unambiguous.
fn assumption((word, reading): &(String, Reading)) -> Option<LogAssumption> {
    let word = word.clone();
    match reading {
        Reading::Clear(_) => None,
        Reading::Ambiguous(offset_s, index) => {
            let (_, _, region, others) = AMBIGUOUS[*index];
            Some(LogAssumption::AmbiguousZone {
                word,
                offset_s: *offset_s,
                region: region.into(),
                others: others.into(),
            })
        }
        Reading::Unknown => Some(LogAssumption::UnknownZone { word }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::iso;

    fn local(text: &str) -> i64 {
        iso(text.as_bytes()).expect("a time").0
    }

    #[test]
    fn zone_words_are_looked_up_and_reported() {
        let noon = local("2024-01-13 12:00:00");
        let mut zones = ZoneWords::default();
        assert_eq!(zones.resolve(noon, Some(b"EET")), (noon - 7200, 7200));
        let word = "EET".to_string();
        let offset_s = 7200;
        assert_eq!(zones.readings(), [LogAdvice::ZoneRead { word, offset_s }]);
        assert_eq!(zones.resolve(noon, Some(b"+0530")).1, 19_800);
        assert_eq!(zones.resolve(noon, Some(b"-03")).1, -10_800);
        assert_eq!(zones.resolve(noon, Some(b"UTC")).1, 0);
        assert!(zones.assumptions().is_empty() && zones.readings().len() == 1);
        assert_eq!(zones.resolve(noon, Some(b"IST")).1, 19_800);
        let assumed = zones.assumptions();
        assert!(
            matches!(&assumed[..], [LogAssumption::AmbiguousZone { offset_s: 19_800, others, .. }] if others.starts_with("Israel")),
            "{assumed:?}"
        );
        let mut unknown = ZoneWords::default();
        assert_eq!(unknown.resolve(noon, Some(b"XQT")).1, 0);
        let word = "XQT".to_string();
        assert_eq!(unknown.assumptions(), [LogAssumption::UnknownZone { word }]);
        let mut none = ZoneWords::default();
        assert_eq!(none.resolve(noon, None).1, 0);
        assert_eq!(none.assumptions(), [LogAssumption::NoZone]);
    }

    #[test]
    fn a_given_zone_takes_precedence() {
        let zone = Zone::named("Europe/Berlin").expect("a zone");
        let mut zones = ZoneWords::new(zone);
        // The clock showed 2:30 twice.
        let twice = local("2026-10-25 02:30:00");
        assert_eq!(zones.resolve(twice, Some(b"CEST")).1, 7200);
        assert_eq!(zones.resolve(twice, Some(b"CET")).1, 3600);
        assert_eq!(zones.resolve(twice - 86_400, Some(b"IST")).1, 7200);
        assert_eq!(zones.resolve(local("2026-01-01 00:00:00"), None).1, 3600);
        assert!(zones.assumptions().is_empty() && zones.readings().is_empty());
        // Without a word, it is unknown which of the two times is meant.
        zones.resolve(twice, None);
        assert_eq!(zones.assumptions(), [LogAssumption::RepeatedHour]);
    }

    #[test]
    fn tables_are_sorted_and_unique() {
        let words: Vec<&str> = CLEAR.iter().map(|(word, _)| *word).collect();
        assert!(words.is_sorted());
        assert!(AMBIGUOUS.iter().all(|(word, ..)| !words.contains(word)));
    }
}
