// SPDX-License-Identifier: Apache-2.0
//! The result of an audit: rules, observations, their cost and their fixes.

use crate::Unit;
use serde::{Deserialize, Serialize};

/// One audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The kind of thing that was audited.
    pub kind: AuditKind,
    /// The audited things: a host's name, URLs, files.
    pub targets: Vec<String>,
    /// Other facts, in the order in which they are shown.
    pub facts: Vec<(String, String)>,
    /// One for each rule and thing, in the order of the rules.
    pub findings: Vec<AuditFinding>,
    /// Figures that the findings rest on.
    pub tables: Vec<EvidenceTable>,
    /// The figures that answer the question, where they have one unit.
    pub chart: Option<EvidenceBars>,
}

/// The subject of an audit.
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

/// The state of a thing under a rule.
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
    /// The rule's requirement, in a sentence.
    pub title: String,
    /// The thing that it was applied to, such as `sda`; a list of them may be cut.
    pub place: String,
    /// The result.
    pub state: State,
    /// Rank among failed rules: the greater, the more important.
    pub weight: u8,
    /// The observation; for [`State::Unknown`] and [`State::NotApplicable`] the reason why there is none.
    pub seen: String,
    /// The cost on this host; may be empty.
    pub cost: String,
    /// Why the rule wants it.
    pub why: String,
    /// Remedies.
    pub fixes: Vec<Fix>,
    /// How to see it by hand: a command.
    pub see: String,
    /// Where the rule comes from: a document's address.
    pub source: String,
    /// The values that the rule looked at.
    pub evidence: Vec<Evidence>,
}

/// A remedy, for one kind of server or for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The server that it is for, such as `nginx`; may be empty.
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
    /// The chart's title.
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
    /// The bars' title.
    pub title: String,
    /// The caption below them.
    pub caption: String,
    /// The unit of their lengths.
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

    /// True if the rule applies to the thing and the thing could be observed.
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
