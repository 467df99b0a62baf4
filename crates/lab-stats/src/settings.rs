// SPDX-License-Identifier: Apache-2.0
//! Compares the settings that subjects read back over their own connections with the settings of
//! the baseline.

use lab_model::{Plan, PointId, Setting, SubjectId};
use std::collections::HashMap;

/// A setting of a subject that differs from the baseline's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The subject whose setting differs.
    pub subject: SubjectId,
    /// The point at which the settings were read.
    pub point: PointId,
    /// The key of the setting.
    pub key: String,
    /// The subject's value. `None` means that the subject did not report it.
    pub value: Option<String>,
    /// The baseline's value. `None` means that the baseline did not report it.
    pub baseline: Option<String>,
}

/// Returns the subjects that differ from the plan's baseline in one of the settings `keys`, sorted
/// by subject, then point.
///
/// A value that a subject reported for a point takes precedence over the value in its hello
/// message. If a setting was read multiple times with different values, all values count, in the
/// order in which they were read.
///
/// A setting differs if only the subject or only the baseline reported it. It does not differ if
/// neither reported it. The caller must ignore subjects that failed, because they reported nothing.
/// Points at which only the subject or only the baseline takes part are ignored.
pub fn differences(plan: &Plan, settings: &[Setting], keys: &[String]) -> Vec<Difference> {
    let read = ReadBack::new(settings);
    let mut differences = Vec::new();
    for subject in plan.subjects.ids().filter(|&s| s != plan.baseline) {
        let both_take_part = |&point: &PointId| {
            plan.takes_part(subject, point) && plan.takes_part(plan.baseline, point)
        };
        for point in plan.points.ids().filter(both_take_part) {
            for key in keys {
                let value = read.value(subject, point, key);
                let baseline = read.value(plan.baseline, point, key);
                if value != baseline {
                    differences.push(Difference {
                        subject,
                        point,
                        key: key.clone(),
                        value,
                        baseline,
                    });
                }
            }
        }
    }
    differences
}

/// The distinct values by subject, point and key.
struct ReadBack<'a>(HashMap<(SubjectId, Option<PointId>, &'a str), Vec<&'a str>>);

impl<'a> ReadBack<'a> {
    fn new(settings: &'a [Setting]) -> ReadBack<'a> {
        let mut read = ReadBack(HashMap::new());
        for Setting {
            subject,
            point,
            key,
            value,
        } in settings
        {
            let values = read.0.entry((*subject, *point, key)).or_default();
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
        read
    }

    fn value(&self, subject: SubjectId, point: PointId, key: &str) -> Option<String> {
        let at = |point| self.0.get(&(subject, point, key));
        at(Some(point))
            .or_else(|| at(None))
            .map(|values| values.join(", then "))
    }
}
