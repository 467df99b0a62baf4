// SPDX-License-Identifier: Apache-2.0
//! Differences between the settings of subjects, as read back over their own connections, and the baseline's.

use lab_model::{Plan, PointId, Setting, SubjectId};
use std::collections::HashMap;

/// A setting that a subject does not share with the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The subject.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// The key of the setting.
    pub key: String,
    /// The subject's value; `None`: not reported.
    pub value: Option<String>,
    /// The baseline's value; `None`: not reported.
    pub baseline: Option<String>,
}

/// The subjects that differ from the plan's baseline in one of the settings `keys`, by subject, then point. A
/// value that a subject reported for a point takes precedence over that in its hello. A setting that was read
/// multiple times with different values has them all, in the order in which they were read.
///
/// A setting that only one of the two reported differs; one that neither reported does not. The caller leaves out
/// subjects that failed, since they reported nothing. Points in which one of the two has no part are left out.
pub fn differences(plan: &Plan, settings: &[Setting], keys: &[String]) -> Vec<Difference> {
    let read = ReadBack::new(settings);
    let mut differences = Vec::new();
    for subject in (0..plan.subjects.len()).filter(|&s| s != plan.baseline) {
        let both_take_part = |&point: &PointId| {
            plan.takes_part(subject, point) && plan.takes_part(plan.baseline, point)
        };
        for point in (0..plan.points.len()).filter(both_take_part) {
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
