// SPDX-License-Identifier: Apache-2.0
//! The form of `experiment.toml` (docs/experiments.md): keys and types, before they are understood.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub experiment: Head,
    #[serde(default)]
    pub target: Targets,
    #[serde(default)]
    pub proof: Proof,
    #[serde(default)]
    pub selection: BTreeMap<String, Vec<Spanned<String>>>,
    #[serde(default)]
    pub case: Vec<Case>,
    #[serde(default)]
    pub subject: Vec<Subject>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub title: String,
    pub question: String,
    pub target: Option<Spanned<String>>,
    pub baseline: Spanned<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    pub sqlite: Option<Sqlite>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sqlite {
    pub rows: u64,
    pub table: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    #[serde(default)]
    pub equal: Vec<String>,
    #[serde(default)]
    pub conditions: Vec<String>,
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
    pub factor: BTreeMap<String, Spanned<Vec<String>>>,
    pub thin: Option<Spanned<Vec<i64>>>,
    #[serde(default)]
    pub check: lab_model::Check,
    #[serde(default)]
    pub empty: bool,
    pub writes: Option<Spanned<Writes>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    pub rows: Count,
    pub transactions: Count,
    #[serde(default)]
    pub schema_changes: Count,
}

/// A number, or the name of the sweep whose value it is.
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    pub name: Spanned<String>,
    pub language: String,
    pub driver: String,
    #[serde(default)]
    pub statements: String,
    pub role: Option<Role>,
    #[serde(default = "yes")]
    pub default: bool,
    #[serde(default)]
    pub needs: Vec<Spanned<String>>,
    #[serde(default)]
    pub sources: Vec<Spanned<String>>,
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    pub program: Spanned<Vec<String>>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Limit,
}

fn yes() -> bool {
    true
}
