// SPDX-License-Identifier: Apache-2.0
//! The result of an audit: rules, observations, costs and fixes.

use crate::Unit;
use serde::{Deserialize, Serialize};

/// The result of one audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The kind of audit.
    pub kind: AuditKind,
    /// The names of the audit's targets: hosts, URLs or files.
    pub targets: Vec<String>,
    /// Facts about the targets and the method, in display order.
    pub facts: Vec<(String, String)>,
    /// One finding per rule and audited item, in the order of the rules.
    pub findings: Vec<AuditFinding>,
    /// Measured values that the findings are based on.
    pub tables: Vec<EvidenceTable>,
    /// A chart of the main values, if they all have the same unit.
    pub chart: Option<EvidenceBars>,
    /// The waivers that were valid on the day of the audit. Findings under these waivers are
    /// accepted and do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// The waivers that had expired on the day of the audit. Findings under these waivers count
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expired_waivers: Vec<Waiver>,
}

/// The kind of object that an audit examines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditKind {
    /// A machine: `audit host`.
    Host,
    /// The cookies of a site.
    Cookies,
    /// A site over HTTP.
    Site,
    /// The network path to a server.
    Net,
}

/// The result of applying a rule to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The observed state is unsafe or has a cost.
    Bad,
    /// A change may be worthwhile for some uses.
    Advice,
    /// The state could not be observed.
    Unknown,
    /// The rule is satisfied.
    Good,
    /// The rule does not apply to this item.
    NotApplicable,
}

/// A rule, the item to which it was applied, and the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditFinding {
    /// The rule's ID, such as `disk-scheduler`.
    pub rule: String,
    /// The rule's area, such as `disks`.
    pub area: String,
    /// The rule's requirement, as a sentence.
    pub title: String,
    /// The item to which the rule was applied, such as `sda`. A list of items may be shortened.
    pub place: String,
    /// The state that the rule determined for the item.
    pub state: State,
    /// The importance of the finding among findings in the same state, from 0 to 9. Findings with a
    /// higher weight are listed first.
    pub weight: u8,
    /// The observation. For [`State::Unknown`] and [`State::NotApplicable`], an explanation of the
    /// missing observation.
    pub seen: String,
    /// The cost of the observed state on this host. May be empty.
    pub cost: String,
    /// The rationale of the rule.
    pub why: String,
    /// Remedies, each for one kind of server or for all kinds.
    pub fixes: Vec<Fix>,
    /// A command that repeats the observation.
    pub see: String,
    /// The source of the rule: the URL of a document.
    pub source: String,
    /// The values that the rule examined.
    pub evidence: Vec<Evidence>,
}

/// The decision of a user to accept the findings of a rule until a date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The rule's ID.
    pub rule: String,
    /// The audited object, such as `sda`. `None` means all objects. Files of earlier versions call
    /// it `thing`.
    #[serde(default, alias = "thing", skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The reason for accepting the findings.
    pub reason: String,
    /// The last day on which the findings are accepted, such as `2027-03-31`.
    pub until: String,
}

/// A remedy, for one kind of server or for all kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The kind of server, such as `nginx`. Empty for all kinds.
    #[serde(default)]
    pub of: String,
    /// Commands or lines of configuration.
    pub lines: Vec<String>,
}

/// A value that a rule examined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The value's name in the rule, such as `read_ahead`.
    pub name: String,
    /// The value as it was observed.
    pub value: EvidenceValue,
}

/// A number, a word, or no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EvidenceValue {
    /// A number with its unit.
    Number(f64, Unit),
    /// A word, such as the name of a disk scheduler.
    Word(String),
    /// No value, because the value does not apply to the item.
    Nothing,
}

/// A table of measured values that support an audit's findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceTable {
    /// The table's title.
    pub title: String,
    /// An explanation of the table. May be empty.
    pub caption: String,
    /// The column headings.
    pub columns: Vec<String>,
    /// The rows, each with one value per column.
    pub rows: Vec<Vec<EvidenceValue>>,
}

/// A bar chart with one unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceBars {
    /// The chart's title.
    pub title: String,
    /// The caption below the chart.
    pub caption: String,
    /// The label of the axis.
    pub axis: String,
    /// The unit of the bars' lengths.
    pub unit: Unit,
    /// Names and lengths of the bars, from top to bottom.
    pub rows: Vec<(String, f64)>,
}

impl AuditKind {
    /// Returns the name of the subcommand.
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
    /// All states, worst first.
    pub const ALL: [State; 5] = [
        State::Bad,
        State::Advice,
        State::Unknown,
        State::Good,
        State::NotApplicable,
    ];

    /// Returns true if the rule applies to the item and the item could be observed.
    pub fn is_seen(self) -> bool {
        !matches!(self, State::Unknown | State::NotApplicable)
    }

    /// Returns the state in words.
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

impl Waiver {
    /// Returns true if the waiver applies to a finding. Ignores whether the waiver has expired.
    pub fn covers(&self, finding: &AuditFinding) -> bool {
        let is_object = |object: &String| *object == finding.place;
        self.rule == finding.rule && self.object.as_ref().is_none_or(is_object)
    }
}

impl Audit {
    /// Returns the name of runs of this audit, such as `audit-host`.
    pub fn name(&self) -> String {
        format!("audit-{}", self.kind.name())
    }

    /// Returns the number of findings in a state, without accepted findings.
    pub fn count(&self, state: State) -> usize {
        self.findings
            .iter()
            .filter(|f| self.is_open(f, state))
            .count()
    }

    /// Returns true if a finding is in state `state` and is not accepted under a waiver.
    pub fn is_open(&self, finding: &AuditFinding, state: State) -> bool {
        finding.state == state && self.waiver(finding).is_none()
    }

    /// Returns the valid waiver under which a finding is accepted, if there is one. Findings that
    /// need no attention have no waiver.
    pub fn waiver(&self, finding: &AuditFinding) -> Option<&Waiver> {
        let needs_attention = finding.state <= State::Unknown;
        let mut waivers = self.waivers.iter().filter(|_| needs_attention);
        waivers.find(|waiver| waiver.covers(finding))
    }

    /// Returns the findings that are accepted under a waiver.
    pub fn accepted(&self) -> impl Iterator<Item = (&AuditFinding, &Waiver)> {
        let findings = self.findings.iter();
        findings.filter_map(|finding| Some((finding, self.waiver(finding)?)))
    }
}
