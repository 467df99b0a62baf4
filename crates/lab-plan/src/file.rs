// SPDX-License-Identifier: Apache-2.0
//! The schema of `experiment.toml` (docs/experiments.md). This module defines keys and types. Other
//! modules validate the values.

use lab_model::{Cores, Direction, FixtureStart, Placeholder, TargetKind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub experiment: Head,
    #[serde(default)]
    pub target: BTreeMap<TargetKind, Target>,
    #[serde(default)]
    pub proof: Proof,
    pub server: Option<Spanned<Server>>,
    #[serde(default)]
    pub selection: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    #[serde(default)]
    pub metric: Vec<Metric>,
    #[serde(default)]
    pub quick: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Vec<ParameterValue>>>,
    #[serde(default)]
    pub usual: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Vec<ParameterValue>>>,
    #[serde(default)]
    pub case: Vec<Case>,
    #[serde(default)]
    pub fixture: Vec<Fixture>,
    #[serde(default)]
    pub subject: Vec<Subject>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub title: String,
    pub question: String,
    #[serde(default)]
    pub targets: Vec<Spanned<TargetKind>>,
    pub baseline: Spanned<String>,
    #[serde(default)]
    pub why: Vec<String>,
    pub quick_s: Option<Spanned<u32>>,
    #[serde(default)]
    pub workloads: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    #[serde(default)]
    pub rows: u64,
    pub table: Option<String>,
    #[serde(default)]
    pub each: bool,
    pub mixed: Option<String>,
    pub effects: Option<String>,
    #[serde(default)]
    pub fault: BTreeMap<String, Vec<String>>,
    pub settings: Option<String>,
    #[serde(default)]
    pub needs: Vec<Spanned<String>>,
    #[serde(default)]
    pub equal: Vec<String>,
    #[serde(default)]
    pub conditions: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    #[serde(default)]
    pub equal: Vec<String>,
    #[serde(default)]
    pub conditions: Vec<String>,
}

/// Settings for subjects that are servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    pub workers: u32,
    pub missing: String,
    #[serde(default)]
    pub files: BTreeMap<String, u64>,
    pub warm_up_s: Option<u32>,
    pub budget_s: Option<u32>,
    #[serde(default)]
    pub metrics: Vec<Spanned<String>>,
}

/// A request to a server and its required response.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub request: Spanned<String>,
    pub body: Option<Spanned<String>>,
    #[serde(default)]
    pub headers: Vec<Spanned<String>>,
    #[serde(default = "ok")]
    pub status: u16,
    pub text: Option<String>,
    pub json: Option<Spanned<String>>,
    pub file: Option<Spanned<String>>,
    #[serde(default)]
    pub echo: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: Spanned<String>,
    pub work: String,
    pub unit: String,
    #[serde(default)]
    pub sweep: BTreeMap<String, Spanned<Vec<i64>>>,
    #[serde(default)]
    pub factor: BTreeMap<String, Spanned<Factor>>,
    #[serde(default)]
    pub targets: Vec<Spanned<TargetKind>>,
    #[serde(default)]
    pub cores: Cores,
    pub turn_ms: Option<u64>,
    pub latencies: Option<bool>,
    pub rate: Option<Spanned<u64>>,
    #[serde(default = "true_by_default")]
    pub default: bool,
    #[serde(default = "true_by_default")]
    pub compare: bool,
    #[serde(default)]
    pub metrics: Vec<Spanned<String>>,
    #[serde(default)]
    pub statements: BTreeMap<String, Spanned<Count>>,
    pub reads: Option<Spanned<Count>>,
    pub thin: Option<Spanned<SweepSubset>>,
    #[serde(default)]
    pub request: Vec<Spanned<Request>>,
    #[serde(default)]
    pub check: lab_model::Check,
    #[serde(default)]
    pub empty: bool,
    pub writes: Option<Spanned<Writes>>,
}

impl Case {
    /// Returns true if subjects report the latency of each operation.
    pub fn reports_latencies(&self) -> bool {
        self.latencies.unwrap_or(self.cores == Cores::All)
    }
}

/// A value of a sweep or of a factor.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum ParameterValue {
    Number(u64),
    Word(String),
}

/// A metric that subjects report for each batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub name: Spanned<String>,
    pub title: String,
    pub unit: String,
    pub better: Direction,
}

/// The sweep values at which non-default factor values are measured. They apply to all factors, or
/// to each factor separately.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SweepSubset {
    All(Vec<i64>),
    Each(BTreeMap<String, Vec<i64>>),
}

/// The values of a factor, either for all targets or for some of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Factor {
    Values(Vec<String>),
    OnTargets {
        values: Vec<String>,
        targets: Vec<TargetKind>,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    pub rows: Count,
    pub transactions: Count,
    #[serde(default)]
    pub schema_changes: Count,
}

/// A helper program that changes the environment of subjects.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    pub name: Spanned<String>,
    #[serde(default)]
    pub start: FixtureStart,
    pub state: Option<Spanned<String>>,
    #[serde(default)]
    pub provides: Vec<Spanned<String>>,
    #[serde(default)]
    pub visits: bool,
    #[serde(default)]
    pub metrics: Vec<Spanned<String>>,
    #[serde(default)]
    pub independent: Vec<Spanned<String>>,
    #[serde(default)]
    pub states: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Argument>>,
    #[serde(default)]
    pub needs: Vec<Spanned<String>>,
    #[serde(default)]
    pub sources: Vec<Spanned<String>>,
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    pub program: Spanned<Vec<String>>,
}

/// The value of a key of a fixture's state: text that the fixture receives, or the targets on which
/// the state exists.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    Integer(i64),
    Number(f64),
    Word(String),
    Targets(Vec<TargetKind>),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Argument::Integer(n) => n.fmt(f),
            Argument::Number(n) => n.fmt(f),
            Argument::Word(word) => word.fmt(f),
            Argument::Targets(_) => Ok(()),
        }
    }
}

/// A number, or the name of a sweep that supplies the number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Count {
    Number(u64),
    Sweep(String),
}

impl Default for Count {
    fn default() -> Count {
        Count::Number(0)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    pub name: Spanned<String>,
    pub language: String,
    pub role: Option<Role>,
    #[serde(default = "true_by_default")]
    pub default: bool,
    #[serde(default)]
    pub optional: bool,
    pub driver: Option<String>,
    pub statements: Option<String>,
    pub needs: Option<Vec<Spanned<String>>>,
    pub sources: Option<Vec<Spanned<String>>>,
    pub build: Option<Vec<Vec<String>>>,
    pub program: Option<Spanned<Vec<String>>>,
    pub listing: Option<String>,
    #[serde(default)]
    pub cases: Vec<Spanned<String>>,
    pub without: Option<Vec<Spanned<String>>>,
    pub sqlite: Option<Spanned<TargetOverrides>>,
    pub postgresql: Option<Spanned<TargetOverrides>>,
    pub mariadb: Option<Spanned<TargetOverrides>>,
}

/// Settings of a subject on one target, which override the settings for all targets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetOverrides {
    pub driver: Option<String>,
    pub statements: Option<String>,
    pub needs: Option<Vec<Spanned<String>>>,
    pub sources: Option<Vec<Spanned<String>>>,
    pub build: Option<Vec<Vec<String>>>,
    pub program: Option<Spanned<Vec<String>>>,
    pub without: Option<Vec<Spanned<String>>>,
    pub placeholder: Option<Placeholder>,
}

impl Subject {
    /// Returns the table that overrides settings for a target, if the subject has one.
    pub fn overrides_for(&self, kind: TargetKind) -> Option<&Spanned<TargetOverrides>> {
        match kind {
            TargetKind::Sqlite => self.sqlite.as_ref(),
            TargetKind::Postgresql => self.postgresql.as_ref(),
            TargetKind::Mariadb => self.mariadb.as_ref(),
            TargetKind::Folder => None,
        }
    }

    /// Returns the settings for one target. Settings in `on_target` take precedence over the
    /// settings for all targets.
    pub fn overridden_by(&self, on_target: TargetOverrides) -> TargetOverrides {
        let all = self.clone();
        TargetOverrides {
            driver: on_target.driver.or(all.driver),
            statements: on_target.statements.or(all.statements),
            needs: on_target.needs.or(all.needs),
            sources: on_target.sources.or(all.sources),
            build: on_target.build.or(all.build),
            program: on_target.program.or(all.program),
            without: on_target.without.or(all.without),
            placeholder: on_target.placeholder,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Reference,
}

fn true_by_default() -> bool {
    true
}

fn ok() -> u16 {
    200
}
