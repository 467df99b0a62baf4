// SPDX-License-Identifier: Apache-2.0
//! Keeps track of the subjects that still take part, by point.

use lab_model::{Failure, Plan, PointId, SubjectId};
use std::collections::HashSet;

/// The subjects that still take part. Stores only the excluded subjects: subjects that do not take
/// part according to the plan, and subjects that failed.
///
/// A subject that failed at a point is not tried again at that point in the same run.
#[derive(Default)]
pub struct Participants {
    excluded: HashSet<SubjectId>,
    excluded_at: HashSet<(SubjectId, PointId)>,
}

impl Participants {
    /// Creates the participants of a plan, without subjects that failed earlier in a resumed run.
    pub fn new<'f>(plan: &Plan, failures: impl Iterator<Item = &'f Failure>) -> Participants {
        let mut participants = Participants::default();
        for subject in plan.subjects.ids() {
            let absent = plan.points.ids().filter(|&p| !plan.takes_part(subject, p));
            let absent = absent.map(|point| (subject, point));
            participants.excluded_at.extend(absent);
        }
        for f in failures {
            participants.exclude(f.subject, f.point);
        }
        participants
    }

    /// Returns true if a subject still takes part at a point.
    pub fn takes_part(&self, subject: SubjectId, point: PointId) -> bool {
        !self.excluded.contains(&subject) && !self.excluded_at.contains(&(subject, point))
    }

    /// Excludes a subject from a point. `None` excludes it from all points.
    pub fn exclude(&mut self, subject: SubjectId, point: Option<PointId>) {
        match point {
            Some(point) => self.excluded_at.insert((subject, point)),
            None => self.excluded.insert(subject),
        };
    }
}
