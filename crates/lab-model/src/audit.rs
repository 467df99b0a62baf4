// SPDX-License-Identifier: Apache-2.0
//! What an audit found: rules, what was seen, what it costs, what to do.

use crate::Unit;
use serde::{Deserialize, Serialize};

/// One audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// What kind of thing was audited.
    pub kind: AuditKind,
    /// Which ones: a host's name, URLs, files.
    pub targets: Vec<String>,
    /// What else is to know, in the order in which it is shown.
    pub facts: Vec<(String, String)>,
    /// One for each rule and thing, in the order of the rules.
    pub findings: Vec<AuditFinding>,
    /// Figures that the findings rest on.
    pub tables: Vec<EvidenceTable>,
    /// The figures that answer the question, where they have one unit.
    pub chart: Option<EvidenceBars>,
}

/// What is audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditKind {
    /// A machine.
    Host,
    /// The cookies of a site.
    Cookies,
    /// A site over HTTP.
    Site,
    /// The way to a server.
    Net,
}

/// What a rule says of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It costs something or is not safe.
    Bad,
    /// It may be worth a change, for some uses.
    Advice,
    /// It could not be seen.
    Unknown,
    /// It is as the rule wants it.
    Good,
    /// The rule is not about this thing.
    NotApplicable,
}

/// A rule applied to a thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditFinding {
    /// The rule's id, such as `disk-scheduler`.
    pub rule: String,
    /// The rule's area, such as `disks`.
    pub area: String,
    /// What the rule wants, in a sentence.
    pub title: String,
    /// What it was applied to, such as `sda`; of several, a list that may be cut.
    pub place: String,
    /// What it says.
    pub state: State,
    /// Which of several bad ones matters more: the greater.
    pub weight: u8,
    /// What was seen; of [`State::Unknown`] and [`State::NotApplicable`], why there is nothing.
    pub seen: String,
    /// What it costs here; may be empty.
    pub cost: String,
    /// Why the rule wants it.
    pub why: String,
    /// What to do.
    pub fixes: Vec<Fix>,
    /// How to see it by hand: a command.
    pub see: String,
    /// Where the rule comes from: a document's address.
    pub source: String,
    /// The values that the rule looked at.
    pub evidence: Vec<Evidence>,
}

/// What to do, for one kind of server or for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What it is for, such as `nginx`; may be empty.
    #[serde(default)]
    pub of: String,
    /// Commands or lines of configuration.
    pub lines: Vec<String>,
}

/// A value that a rule looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its name in the rule, such as `read_ahead`.
    pub name: String,
    /// The value.
    pub value: EvidenceValue,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EvidenceValue {
    /// A number in its unit.
    Number(f64, Unit),
    /// A word.
    Word(String),
    /// Nothing: it does not apply.
    Nothing,
}

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceTable {
    /// What it shows.
    pub title: String,
    /// How to read it; may be empty.
    pub caption: String,
    /// The columns' headings.
    pub columns: Vec<String>,
    /// Rows, each as long as there are columns.
    pub rows: Vec<Vec<EvidenceValue>>,
}

/// Bars of one unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceBars {
    /// What they show.
    pub title: String,
    /// What is to be seen in them.
    pub caption: String,
    /// What their lengths are.
    pub axis: String,
    /// The unit of their lengths.
    pub unit: Unit,
    /// Names and lengths, from above.
    pub rows: Vec<(String, f64)>,
}

impl AuditKind {
    /// The word of the command line.
    pub fn name(self) -> &'static str {
        match self {
            AuditKind::Host => "host",
            AuditKind::Cookies => "cookies",
            AuditKind::Site => "site",
            AuditKind::Net => "net",
        }
    }
}

impl State {
    /// All of them, the worst first.
    pub const ALL: [State; 5] = [
        State::Bad,
        State::Advice,
        State::Unknown,
        State::Good,
        State::NotApplicable,
    ];

    /// Whether the rule is about the thing, and what it is about could be seen.
    pub fn is_seen(self) -> bool {
        !matches!(self, State::Unknown | State::NotApplicable)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            State::Bad => "bad",
            State::Advice => "advice",
            State::Unknown => "unknown",
            State::Good => "good",
            State::NotApplicable => "not applicable",
        }
    }
}

impl Audit {
    /// The name under which runs of it are kept, such as `audit-host`.
    pub fn name(&self) -> String {
        format!("audit-{}", self.kind.name())
    }

    /// How many findings are in a state.
    pub fn count(&self, state: State) -> usize {
        self.findings.iter().filter(|f| f.state == state).count()
    }
}
