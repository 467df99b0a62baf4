// SPDX-License-Identifier: Apache-2.0
//! The keys of `benchlab.toml`. Their doc comments are also the descriptions in the JSON Schema.

use crate::options::OptionList;
use crate::texts::{Condition, Date, GateMetric, Percent, Text, Time};
use lab_model::audit;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The content of `benchlab.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Settings of `benchlab ci`.
    #[serde(default)]
    pub ci: Ci,
    /// Comparisons by name: `benchlab compare NAME`.
    #[serde(default)]
    pub compare: BTreeMap<String, Compare>,
    /// Loads by name: `benchlab load NAME`.
    #[serde(default)]
    pub load: BTreeMap<String, Load>,
    /// Logs by name: `benchlab logs NAME`.
    #[serde(default)]
    pub logs: BTreeMap<String, Logs>,
    /// Audits by name: `benchlab audit NAME`.
    #[serde(default)]
    pub audit: BTreeMap<String, Audit>,
    /// Findings of audits that are accepted until a date.
    #[serde(default)]
    pub waiver: Vec<Waiver>,
}

/// Settings of `benchlab ci`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ci {
    /// The branch that the head is compared with if the CI service does not specify one, such as
    /// main.
    pub base: Option<Text>,
}

/// One text or a list of texts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Words {
    /// One text.
    One(String),
    /// A list of texts.
    Many(Vec<String>),
}

impl Words {
    /// Returns the texts.
    pub fn all(&self) -> Vec<String> {
        match self {
            Words::One(word) => vec![word.clone()],
            Words::Many(words) => words.clone(),
        }
    }
}

fn all(words: &Option<Words>) -> Vec<String> {
    words.as_ref().map_or(Vec::new(), Words::all)
}

/// The effect of an inconclusive gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inconclusive {
    /// An inconclusive gate counts as passed.
    Pass,
    /// An inconclusive gate is a warning.
    Warn,
    /// An inconclusive gate causes exit code 4.
    Fail,
}

impl Inconclusive {
    fn name(self) -> &'static str {
        match self {
            Inconclusive::Pass => "pass",
            Inconclusive::Warn => "warn",
            Inconclusive::Fail => "fail",
        }
    }
}

/// The cores on which commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cores {
    /// All commands on the same core.
    One,
    /// The cores that the scheduler chooses.
    All,
}

/// A comparison: the options of `benchlab compare`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Compare {
    /// The command. With one command, `benchlab ci` compares the base and the head of a change.
    /// Multiple commands are compared with each other, and the first is the baseline.
    pub command: Option<Words>,
    /// True to measure this comparison in `benchlab ci`.
    #[serde(default)]
    pub ci: bool,
    /// Revisions in which the command is run, with the baseline first. `benchlab ci` uses the base
    /// and the head instead.
    #[serde(default)]
    pub rev: Vec<Text>,
    /// The number of builds of each revision.
    pub builds: Option<u32>,
    /// A name for each command, in order.
    #[serde(default)]
    pub name: Vec<Text>,
    /// The name of the command with which the other commands are compared.
    pub baseline: Option<Text>,
    /// Values for {NAME} in the commands.
    #[serde(default)]
    pub sweep: BTreeMap<String, Vec<SweepValue>>,
    /// A command that is run once before the first process, for example to build the program.
    pub setup: Option<Words>,
    /// A command that is run before every process, untimed.
    pub prepare: Option<Words>,
    /// A command that is run once after the last process.
    pub cleanup: Option<Words>,
    /// The file that every command reads from its standard input.
    pub input: Option<Text>,
    /// True to fail a command if its standard output differs from the baseline's.
    #[serde(default)]
    pub same_output: bool,
    /// Nonzero exit statuses that are allowed, such as 1 or 1,2 or any.
    pub ignore_failure: Option<Text>,
    /// The time after which a process is killed.
    pub time_limit: Option<Time>,
    /// The cores on which the commands run.
    pub cores: Option<Cores>,
    /// The margin of `gate`: ratios within 1 ± this percentage are equivalent.
    pub margin: Option<Percent>,
    /// The time limit for measuring.
    #[serde(rename = "for")]
    pub time: Option<Time>,
    /// The precision at which to stop: every ratio is known to within ± this percentage.
    pub precision: Option<Percent>,
    /// The exact number of blocks.
    pub blocks: Option<u32>,
    /// True to measure a second copy of the baseline. `benchlab ci` always measures it.
    #[serde(default)]
    pub control: bool,
    /// True to fail if a command is slower than the baseline by more than the margin. `benchlab ci`
    /// sets this unless there are conditions.
    #[serde(default)]
    pub gate: bool,
    /// The metric that `gate` judges.
    pub gate_on: Option<GateMetric>,
    /// Conditions under which the comparison fails, such as time>+5%.
    #[serde(default)]
    pub fail_if: Vec<Condition>,
    /// The effect of an inconclusive gate.
    pub inconclusive: Option<Inconclusive>,
}

/// A value of a sweep.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SweepValue {
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl std::fmt::Display for SweepValue {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            SweepValue::Integer(number) => number.fmt(f),
            SweepValue::Number(number) => number.fmt(f),
            SweepValue::Word(word) => word.fmt(f),
        }
    }
}

/// A load: the options of `benchlab load`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Load {
    /// The URLs to request.
    #[serde(default)]
    pub url: Vec<Text>,
    /// True to run this load in `benchlab ci`. The server must be running.
    #[serde(default)]
    pub ci: bool,
    /// A file with requests in the .http format.
    pub requests: Option<Text>,
    /// The number of connections.
    pub connections: Option<u32>,
    /// The requests per second.
    pub rate: Option<f64>,
    /// The duration of the load.
    #[serde(rename = "for")]
    pub time: Option<Time>,
    /// Relative frequencies of the URLs.
    #[serde(default)]
    pub weights: Vec<u32>,
    /// Values of `connections` to measure.
    #[serde(default)]
    pub sweep: BTreeMap<String, Vec<SweepValue>>,
    /// The HTTP method. The default is GET, or POST with a body.
    pub method: Option<Text>,
    /// Headers, such as Accept: application/json. Do not write secrets into the file; pass them
    /// with --header.
    #[serde(default)]
    pub header: Vec<Text>,
    /// The body of every request.
    pub body: Option<String>,
    /// A file with the body of every request.
    pub body_file: Option<Text>,
    /// The required response statuses, such as 200,304.
    pub expect_status: Option<Text>,
    /// Required values in JSON responses, such as ok=true.
    #[serde(default)]
    pub expect_json: Vec<Text>,
    /// The timeout of a request.
    pub timeout: Option<Time>,
    /// True to use HTTP/2.
    #[serde(default)]
    pub http2: bool,
    /// A name for each server.
    #[serde(default)]
    pub name: Vec<Text>,
    /// Ratios of servers within 1 ± this percentage are equivalent.
    pub margin: Option<Percent>,
    /// True to fail if a server is slower than the first by more than the margin.
    #[serde(default)]
    pub gate: bool,
    /// Conditions under which the load fails, such as p99>20ms.
    #[serde(default)]
    pub fail_if: Vec<Condition>,
    /// The effect of an inconclusive gate.
    pub inconclusive: Option<Inconclusive>,
}

/// Logs: the options of `benchlab logs`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Logs {
    /// The log files.
    pub log: Words,
    /// True to judge these logs in `benchlab ci`.
    #[serde(default)]
    pub ci: bool,
    /// True to read the rotated files, too.
    #[serde(default)]
    pub rotated: bool,
    /// The format, as in the server's configuration.
    pub log_format: Option<Text>,
    /// The unit of durations: ns, us, ms or s.
    pub duration_unit: Option<Text>,
    /// The fields of JSON lines, such as time=ts,duration=elapsed_ms.
    pub fields: Option<Text>,
    /// The time zone of the server, such as Europe/Berlin.
    pub zone: Option<Text>,
    /// A file with routes, bots and health checks.
    pub rules: Option<Text>,
    /// Conditions under which the logs fail, such as p99(/search)>300ms.
    #[serde(default)]
    pub fail_if: Vec<Condition>,
    /// The effect of an inconclusive gate.
    pub inconclusive: Option<Inconclusive>,
}

impl Default for Words {
    fn default() -> Words {
        Words::Many(Vec::new())
    }
}

/// The object that an audit examines. Each kind corresponds to a subcommand of `benchlab audit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditKind {
    /// This machine.
    Host,
    /// The cookies of a site.
    Cookies,
    /// A site over HTTP.
    Site,
    /// The network path to a server.
    Net,
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

/// An audit: the options of `benchlab audit`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Audit {
    /// The kind of object to audit, such as a host or a site.
    pub kind: AuditKind,
    /// The URLs, files or hosts to audit.
    #[serde(default)]
    pub of: Vec<Text>,
    /// True to judge this audit in `benchlab ci`.
    #[serde(default)]
    pub ci: bool,
    /// A directory with additional rules.
    pub rules: Option<Text>,
    /// Conditions under which the audit fails, such as bad>0.
    #[serde(default)]
    pub fail_if: Vec<Condition>,
}

/// Findings that are accepted until a date, with the reason.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Waiver {
    /// The rule's ID, such as disk-scheduler.
    pub rule: Text,
    /// The audited object, such as sda. Without an object, the waiver applies to all objects.
    pub object: Option<Text>,
    /// The reason for accepting the findings.
    pub reason: Text,
    /// The last day on which the findings are accepted, such as 2027-03-31.
    pub until: Date,
}

impl Waiver {
    /// Converts the waiver to the type that audits use.
    pub fn to_audit_waiver(&self) -> audit::Waiver {
        audit::Waiver {
            rule: self.rule.0.clone(),
            object: self.object.as_ref().map(|object| object.0.clone()),
            reason: self.reason.0.clone(),
            until: self.until.0.clone(),
        }
    }
}

fn texts(texts: &[Text]) -> impl Iterator<Item = &String> {
    texts.iter().map(|text| &text.0)
}

fn sweeps(options: &mut OptionList, sweep: &BTreeMap<String, Vec<SweepValue>>) {
    for (name, values) in sweep {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        options.value("sweep", Some(format!("{name}={}", values.join(","))));
    }
}

impl Compare {
    /// Returns the commands to compare, in the order of the file.
    pub fn commands(&self) -> Vec<String> {
        all(&self.command)
    }

    /// Returns true if the comparison has its own condition.
    pub fn is_gated(&self) -> bool {
        self.gate || !self.fail_if.is_empty()
    }

    /// Returns the options of `benchlab compare`, without the commands, the revisions and the
    /// names, which depend on the kind of comparison.
    fn common(&self) -> OptionList {
        let mut options = OptionList::default();
        options.value("builds", self.builds);
        options.value("baseline", self.baseline.as_ref().map(|text| &text.0));
        sweeps(&mut options, &self.sweep);
        options.values("setup", all(&self.setup));
        options.values("prepare", all(&self.prepare));
        options.values("cleanup", all(&self.cleanup));
        options.value("input", self.input.as_ref().map(|text| &text.0));
        options.flag("same-output", self.same_output);
        options.value("ignore-failure", self.ignore_failure.as_ref().map(|t| &t.0));
        options.value("time-limit", self.time_limit.as_ref().map(|time| &time.0));
        let cores = self.cores.map(|cores| match cores {
            Cores::One => "one",
            Cores::All => "all",
        });
        options.value("cores", cores);
        options.value("margin", self.margin.as_ref().map(|margin| &margin.0));
        options.value("for", self.time.as_ref().map(|time| &time.0));
        options.value("precision", self.precision.as_ref().map(|text| &text.0));
        options.value("blocks", self.blocks);
        options.flag("control", self.control);
        options.flag("gate", self.gate);
        options.value("gate-on", self.gate_on.map(GateMetric::name));
        options.values("fail-if", self.fail_if.iter().map(|condition| &condition.0));
        options.value("inconclusive", self.inconclusive.map(Inconclusive::name));
        options
    }

    /// Returns the options of `benchlab compare NAME`.
    pub fn options(&self, name: &str) -> OptionList {
        let mut options = self.common();
        options.value("as", Some(name));
        options.values("rev", texts(&self.rev));
        options.values("name", texts(&self.name));
        options.words(self.commands());
        options
    }

    /// Returns true if `benchlab ci` measures HEAD rather than the working tree. Multiple builds need
    /// multiple directories, which only commits have.
    pub fn measures_commit(&self) -> bool {
        self.builds.is_some()
    }

    /// Returns the options for `benchlab ci`. A single command is compared between the base and the
    /// working tree or HEAD, and multiple commands are compared with each other. A second copy of the
    /// baseline is measured, and there is a gate.
    pub fn ci_options(&self, name: &str, base: Option<&str>) -> OptionList {
        let mut options = self.common();
        options.value("as", Some(name));
        options.flag("control", !self.control);
        options.flag("gate", !self.is_gated());
        match base {
            Some(base) => {
                let head = if self.measures_commit() { "HEAD" } else { "." };
                options.values("rev", [base, head]);
                options.values("name", ["base", "head"]);
            }
            None => options.values("name", texts(&self.name)),
        }
        options.words(self.commands());
        options
    }
}

impl Load {
    /// Returns the options of `benchlab load NAME`.
    pub fn options(&self, name: &str) -> OptionList {
        let mut options = OptionList::default();
        options.value("as", Some(name));
        options.value("requests", self.requests.as_ref().map(|text| &text.0));
        options.value("connections", self.connections);
        options.value("rate", self.rate);
        options.value("for", self.time.as_ref().map(|time| &time.0));
        let weights: Vec<String> = self.weights.iter().map(ToString::to_string).collect();
        options.value("weights", Some(weights.join(",")).filter(|w| !w.is_empty()));
        sweeps(&mut options, &self.sweep);
        options.value("method", self.method.as_ref().map(|text| &text.0));
        options.values("header", texts(&self.header));
        options.value("body", self.body.as_ref());
        options.value("body-file", self.body_file.as_ref().map(|text| &text.0));
        options.value("expect-status", self.expect_status.as_ref().map(|t| &t.0));
        options.values("expect-json", texts(&self.expect_json));
        options.value("timeout", self.timeout.as_ref().map(|time| &time.0));
        options.flag("http2", self.http2);
        options.values("name", texts(&self.name));
        options.value("margin", self.margin.as_ref().map(|margin| &margin.0));
        options.flag("gate", self.gate);
        options.values("fail-if", self.fail_if.iter().map(|condition| &condition.0));
        options.value("inconclusive", self.inconclusive.map(Inconclusive::name));
        options.words(texts(&self.url));
        options
    }
}

impl Logs {
    /// Returns the options of `benchlab logs NAME`.
    pub fn options(&self) -> OptionList {
        let mut options = OptionList::default();
        options.flag("rotated", self.rotated);
        let values = [
            ("log-format", &self.log_format),
            ("duration-unit", &self.duration_unit),
            ("fields", &self.fields),
            ("zone", &self.zone),
            ("rules", &self.rules),
        ];
        for (option, value) in values {
            options.value(option, value.as_ref().map(|text| &text.0));
        }
        options.values("fail-if", self.fail_if.iter().map(|condition| &condition.0));
        options.value("inconclusive", self.inconclusive.map(Inconclusive::name));
        options.words(self.log.all());
        options
    }
}

impl Audit {
    /// Returns the options of `benchlab audit KIND`.
    pub fn options(&self) -> OptionList {
        let mut options = OptionList::default();
        options.value("rules", self.rules.as_ref().map(|text| &text.0));
        options.values("fail-if", self.fail_if.iter().map(|condition| &condition.0));
        options.words(texts(&self.of));
        options
    }
}

/// The subcommands of `benchlab audit`. An entry cannot have one of these names.
const AUDITS: [&str; 5] = ["host", "cookies", "site", "net", "values"];

impl Config {
    /// Checks constraints that the types of the keys do not express. The error contains the invalid
    /// text, from which its position is determined, and a message.
    pub(crate) fn check(&self) -> Result<(), (String, String)> {
        for (name, compare) in &self.compare {
            let at = |message: String| Err((format!("[compare.{name}]"), message));
            match compare.commands().as_slice() {
                [] => return at(format!("compare.{name} has no `command`")),
                [_] => {}
                _ if !compare.rev.is_empty() || compare.builds.is_some() => {
                    return at(format!(
                        "compare.{name}: `rev` and `builds` are for one command, which is run in each revision"
                    ));
                }
                _ => {}
            }
            if name.ends_with(".lab") || name.contains(['/', ' ']) {
                return at(format!(
                    "compare.{name}: invalid name: a name must not contain a slash or a space, or end in .lab"
                ));
            }
        }
        for (name, load) in &self.load {
            if load.url.is_empty() && load.requests.is_none() {
                let message = format!("load.{name} has no `url` and no `requests`");
                return Err((format!("[load.{name}]"), message));
            }
        }
        for (name, logs) in &self.logs {
            if logs.log.all().is_empty() {
                return Err((
                    format!("[logs.{name}]"),
                    format!("logs.{name} has no `log`"),
                ));
            }
        }
        let mut names = self.audit.keys();
        if let Some(name) = names.find(|name| AUDITS.contains(&name.as_str())) {
            let message = format!(
                "audit.{name}: `{name}` is the name of a built-in audit; choose another name"
            );
            return Err((format!("[audit.{name}]"), message));
        }
        Ok(())
    }
}
