// SPDX-License-Identifier: Apache-2.0
//! Fixtures: helper programs of an experiment that change the surroundings of its subjects.

use crate::{Plan, PointId, Subject, SubjectId};
use serde::{Deserialize, Serialize};

/// A helper program of an experiment, such as a proxy, a simulated link, or a program that changes host settings.
///
/// benchlab drives it over the subject protocol (docs/protocol.md, "A fixture").
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fixture {
    /// The unique name, such as `settings`.
    pub name: String,
    /// The program and its arguments, started in the project's directory.
    pub program: Vec<String>,
    /// What each process of the fixture serves.
    pub start: FixtureStart,
    /// What selects the fixture's state; `None` for a fixture without states.
    pub selector: Option<Selector>,
    /// The names of the arguments that the fixture's replies add to `open` of the subjects.
    pub provides: Vec<String>,
    /// The states, each named after the value that selects it.
    pub states: Vec<FixtureState>,
}

/// What each process of a fixture serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FixtureStart {
    /// The whole run.
    #[default]
    Run,
    /// One block.
    Block,
    /// One point of a block.
    Point,
}

/// What selects the state of a fixture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selector {
    /// The subject whose turn it is. The state is set for measured turns only.
    Subject,
    /// The value of this factor at the point. The state is set before subjects open the point.
    Factor(String),
}

/// A state of a fixture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixtureState {
    /// The name of the subject or the value of the factor that selects the state.
    pub name: String,
    /// The arguments that describe the state.
    pub args: Vec<(String, String)>,
}

impl Fixture {
    /// Returns the state with this name.
    pub fn state(&self, name: &str) -> Option<&FixtureState> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Returns true if a subject selects the state.
    pub fn is_by_subject(&self) -> bool {
        self.selector == Some(Selector::Subject)
    }
}

impl Plan {
    /// Returns the state of a fixture that a subject selects. A control selects the state of its original.
    pub fn state_of_subject<'f>(
        &self,
        fixture: &'f Fixture,
        subject: SubjectId,
    ) -> Option<&'f FixtureState> {
        let subject = &self.subjects[subject];
        let original = subject.control_of.map(|original| &self.subjects[original]);
        let Subject { name, origin, .. } = original.unwrap_or(subject);
        let name = origin.as_ref().unwrap_or(name);
        fixture.state(name).filter(|_| fixture.is_by_subject())
    }

    /// Returns the state of a fixture that a point selects.
    pub fn state_of_point<'f>(
        &self,
        fixture: &'f Fixture,
        point: PointId,
    ) -> Option<&'f FixtureState> {
        match &fixture.selector {
            Some(Selector::Factor(factor)) => fixture.state(self.points[point].param(factor)?),
            Some(Selector::Subject) | None => None,
        }
    }

    /// Returns true if the state of any fixture is set for the turns of subjects.
    pub fn has_states_of_subjects(&self) -> bool {
        let mut subjects = 0..self.subjects.len();
        subjects.any(|subject| {
            let mut fixtures = self.fixtures.iter();
            fixtures.any(|fixture| self.state_of_subject(fixture, subject).is_some())
        })
    }
}
