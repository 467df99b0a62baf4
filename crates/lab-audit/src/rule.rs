// SPDX-License-Identifier: Apache-2.0
//! Rules. Each is a TOML file, either built in or in the user's own directory.

use crate::condition::Condition;
use crate::value::{Class, Value, agreeing};
use crate::wording;
use include_dir::{Dir, include_dir};
use lab_model::audit::{Fix, State};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

static RULES: Dir = include_dir!("$CARGO_MANIFEST_DIR/rules");

/// A requirement on a class of objects, such as disks.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The unique ID, such as `disk-scheduler`, which is the file name without its extension.
    pub id: String,
    /// The class of objects that the rule applies to.
    pub of: String,
    /// The area under which reports list the rule.
    pub area: String,
    /// The requirement, as a sentence.
    pub title: String,
    /// The reason for the requirement.
    pub why: String,
    /// The URL of the source.
    pub source: String,
    /// Instructions for checking the requirement manually. May be empty.
    pub see: String,
    /// The text of a finding, with `{name}` as a placeholder for a value.
    pub seen: String,
    /// The conditions that an object of the class must meet for the rule to apply to it. All
    /// conditions must hold.
    pub applies: Vec<Condition>,
    /// The possible states. The first case whose conditions all hold determines the state. If no
    /// case matches, the state is good.
    pub cases: Vec<StateCase>,
    /// True if the rule makes one finding for all objects in the same state.
    pub together: bool,
    /// The effect of a violation on measurements.
    pub measuring: Measuring,
}

/// A state and its conditions.
#[derive(Clone, Debug)]
pub struct StateCase {
    /// The state of a finding in this case.
    pub state: State,
    /// The conditions, all of which must hold.
    pub when: Vec<Condition>,
    /// The text of a finding in this case. `None` means the rule's `seen`.
    pub seen: Option<String>,
    /// The cost of the problem, in words. May be empty.
    pub cost: String,
    /// The fixes. There may be one fix for each kind of server.
    pub fixes: Vec<Fix>,
    /// The importance, 1 to 9.
    pub weight: u8,
}

/// The effect of a violation of a rule on measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measuring {
    /// No known effect.
    #[default]
    Nothing,
    /// Reports add a note to the results.
    Note,
    /// The results are not reliable.
    Unfit,
}

/// The error for an invalid rule.
#[derive(Debug, thiserror::Error)]
#[error("{}", wording::rule_error(.file, .reason))]
pub struct RuleError {
    /// The path of the rule's file.
    pub file: String,
    /// The reason, with its position in the file.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    of: String,
    area: String,
    title: String,
    why: String,
    source: String,
    #[serde(default)]
    see: String,
    seen: String,
    #[serde(default)]
    applies: Vec<String>,
    #[serde(default)]
    together: bool,
    #[serde(default)]
    measuring: Measuring,
    /// The default fixes, for cases without fixes.
    #[serde(default)]
    fix: Vec<Fix>,
    case: Vec<CaseText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseText {
    state: State,
    when: Vec<String>,
    seen: Option<String>,
    #[serde(default)]
    cost: String,
    fix: Option<Vec<Fix>>,
    #[serde(default = "default_weight")]
    weight: u8,
}

fn default_weight() -> u8 {
    3
}

/// Returns the built-in rules of an audit such as `host`, sorted by name.
///
/// # Errors
///
/// Returns an error if a rule is invalid. A test checks that all rules are valid.
pub fn built_in(audit: &str, classes: &[Class]) -> Result<Vec<Rule>, RuleError> {
    let files = RULES.get_dir(audit).into_iter().flat_map(Dir::files);
    let mut files: Vec<_> = files.collect();
    files.sort_by_key(|file| file.path());
    let rules = files.into_iter().map(|file| {
        let text = file.contents_utf8().unwrap_or_default();
        parse(file.path(), text, classes)
    });
    rules.collect()
}

/// Parses a rule.
///
/// # Errors
///
/// Returns an error if the text is not TOML, has unknown fields, or uses values that its class does not have.
pub fn parse(path: &Path, text: &str, classes: &[Class]) -> Result<Rule, RuleError> {
    let error = |reason: String| RuleError {
        file: path.display().to_string(),
        reason,
    };
    let rule_text: RuleText = toml::from_str(text).map_err(|e| error(e.to_string()))?;
    let rule = build(path, rule_text).map_err(error)?;
    let Some(class) = classes.iter().find(|class| class.name == rule.of) else {
        let known: BTreeSet<&str> = classes.iter().map(|class| class.name).collect();
        let known = Vec::from_iter(known).join(", ");
        return Err(error(wording::unknown_class(&rule.of, &known)));
    };
    let Some(name) = rule.unknown_name(class) else {
        return Ok(rule);
    };
    let known: Vec<&str> = class.values.iter().map(|(name, _)| *name).collect();
    let (class, known) = (class.name, known.join(", "));
    Err(error(wording::unknown_value(class, &name, &known)))
}

fn build(path: &Path, rule_text: RuleText) -> Result<Rule, String> {
    let id = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let conditions = |texts: &[String]| -> Result<Vec<Condition>, String> {
        texts.iter().map(|t| Condition::parse(t)).collect()
    };
    let case = |case: CaseText| -> Result<StateCase, String> {
        if !(1..=9).contains(&case.weight) {
            return Err(wording::invalid_weight(case.weight));
        }
        Ok(StateCase {
            state: case.state,
            when: conditions(&case.when)?,
            seen: case.seen,
            cost: case.cost,
            fixes: case.fix.unwrap_or_else(|| rule_text.fix.clone()),
            weight: case.weight,
        })
    };
    Ok(Rule {
        id,
        applies: conditions(&rule_text.applies)?,
        cases: rule_text
            .case
            .into_iter()
            .map(case)
            .collect::<Result<_, _>>()?,
        of: rule_text.of,
        area: rule_text.area,
        title: rule_text.title,
        why: rule_text.why,
        source: rule_text.source,
        see: rule_text.see,
        seen: rule_text.seen,
        together: rule_text.together,
        measuring: rule_text.measuring,
    })
}

impl Rule {
    /// Returns the conditions in `applies` and in all cases.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let cases = self.cases.iter().flat_map(|case| &case.when);
        self.applies.iter().chain(cases)
    }

    /// Returns the names of the values that the conditions compare.
    pub fn names(&self) -> BTreeSet<&str> {
        self.conditions().flat_map(Condition::names).collect()
    }

    fn unknown_name(&self, class: &Class) -> Option<String> {
        let cases = self.cases.iter();
        let texts = cases.flat_map(|case| {
            let fixes = case.fixes.iter().flat_map(|fix| &fix.lines);
            case.seen.iter().chain([&case.cost]).chain(fixes)
        });
        let texts = texts.chain([&self.seen, &self.see, &self.why, &self.title]);
        let placeholders = texts.flat_map(|text| placeholders(text));
        let compared = self.names().into_iter().map(str::to_owned);
        let is_known =
            |name: &String| name == "name" || class.values.iter().any(|(n, _)| n == name);
        compared.chain(placeholders).find(|name| !is_known(name))
    }
}

/// Returns the names in braces. A name consists of lowercase letters, digits and `_`.
fn placeholders(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    fill(text, |name| {
        names.push(name.to_owned());
        String::new()
    });
    names
}

/// Fills in placeholders.
///
/// Replaces `{name}` with the value, and `{name:word}` with the value and the word, in the singular or plural.
pub fn fill<'t>(text: &'t str, mut value: impl FnMut(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled += before;
        let name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let letters = |c: char| c.is_ascii_alphabetic() || c == ' ';
        let parts = |inner: &'t str| inner.split_once(':').unwrap_or((inner, ""));
        match after.split_once('}').map(|(i, after)| (parts(i), after)) {
            Some(((inner, word), after))
                if !inner.is_empty() && inner.chars().all(name) && word.chars().all(letters) =>
            {
                let shown = value(inner);
                filled += &shown;
                if !word.is_empty() {
                    filled += &format!(" {}", agreeing(&shown, word));
                }
                rest = after;
            }
            _ => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

/// Formats a value for the text of a rule. A missing value becomes a dash.
pub fn value_text(value: Option<&Value>) -> String {
    value.map_or("–".into(), Value::text)
}
