// SPDX-License-Identifier: Apache-2.0
//! Fixtures: helper programs of an experiment that change the environment of its subjects.

use crate::TargetKind;
use serde::{Deserialize, Serialize};

/// A helper program of an experiment, such as a proxy, a simulated link, or a program that changes
/// host settings.
///
/// benchlab drives it over the subject protocol (docs/protocol.md, "A fixture").
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fixture {
    /// The unique name, such as `settings`.
    pub name: String,
    /// The program and its arguments, started in the project's directory.
    pub program: Vec<String>,
    /// The part of a run for which a process of the fixture runs.
    pub start: FixtureStart,
    /// The selector of the fixture's state, or `None` for a fixture without states.
    pub selector: Option<Selector>,
    /// The names of the arguments that the fixture adds to the `open` command of subjects.
    pub provides: Vec<String>,
    /// True if the fixture takes part in each visit. A visit is the time during which a subject's
    /// process has a point open. Each state then lasts for one visit.
    #[serde(default)]
    pub visits: bool,
    /// The names of the metrics that the fixture reports for each batch.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The names of states whose faults affect operations independently of each other.
    #[serde(default)]
    pub independent: Vec<String>,
    /// The states, each named after the value that selects it.
    pub states: Vec<FixtureState>,
}

/// The part of a run for which a process of a fixture runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FixtureStart {
    /// The whole run, with all of its blocks.
    #[default]
    Run,
    /// A single block.
    Block,
    /// A single point of a block.
    Point,
}

/// The subject or factor that selects a fixture's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selector {
    /// The subject whose turn it is. The fixture is in the state only during measured turns.
    Subject,
    /// The value of a factor at the point. Contains the factor's name. The fixture is in the state
    /// before subjects open the point.
    Factor(String),
}

/// A state of a fixture, such as one speed of a simulated link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixtureState {
    /// The name of the subject or the value of the factor that selects the state.
    pub name: String,
    /// The arguments that describe the state.
    pub args: Vec<(String, String)>,
    /// The targets on which the state exists. Empty for all targets.
    #[serde(default)]
    pub targets: Vec<TargetKind>,
}

impl FixtureState {
    /// Returns true if the state exists on a target.
    pub fn is_on(&self, kind: Option<TargetKind>) -> bool {
        self.targets.is_empty() || kind.is_some_and(|kind| self.targets.contains(&kind))
    }

    /// Returns the length of the outages in this state, in seconds.
    pub fn outage_s(&self) -> Option<f64> {
        let mut args = self.args.iter();
        args.find(|(key, _)| key == "outage_s")?.1.parse().ok()
    }
}

impl Fixture {
    /// Returns the state named `name`.
    pub fn state(&self, name: &str) -> Option<&FixtureState> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Returns true if a subject selects the state.
    pub fn is_by_subject(&self) -> bool {
        self.selector == Some(Selector::Subject)
    }
}
