// SPDX-License-Identifier: Apache-2.0
//! Rules: a TOML file each, built in or in a folder of the reader's own.

use crate::condition::Condition;
use crate::value::{Class, Value, agreeing};
use crate::wording;
use include_dir::{Dir, include_dir};
use lab_model::audit::{Fix, State};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

static RULES: Dir = include_dir!("$CARGO_MANIFEST_DIR/rules");

/// A requirement on a kind of thing.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique, such as `disk-scheduler`: the file's name.
    pub id: String,
    /// The class of things that it is about.
    pub of: String,
    /// The area that it is shown under.
    pub area: String,
    /// The requirement, in a sentence.
    pub title: String,
    /// Why.
    pub why: String,
    /// Where it comes from.
    pub source: String,
    /// How to see it by hand; may be empty.
    pub see: String,
    /// The text about a thing, with `{names}` of values.
    pub seen: String,
    /// The rule applies to things for which all of these hold.
    pub applies: Vec<Condition>,
    /// The first case that holds decides; if none does, it is good.
    pub cases: Vec<StateCase>,
    /// True if one finding speaks of all things in the same state.
    pub together: bool,
    /// The effect on a measurement of a thing that breaks it.
    pub measuring: Measuring,
}

/// A state and when it is so.
#[derive(Clone, Debug)]
pub struct StateCase {
    /// The state.
    pub state: State,
    /// The conditions, all of which must hold.
    pub when: Vec<Condition>,
    /// The text about a thing in this case; `None`: the rule's `seen`.
    pub seen: Option<String>,
    /// The cost; may be empty.
    pub cost: String,
    /// Remedies.
    pub fixes: Vec<Fix>,
    /// How much it matters, 1 to 9.
    pub weight: u8,
}

/// The effect on a measurement of a thing that breaks a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measuring {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// A note stands with the figures.
    Note,
    /// The figures are not to be trusted.
    Unfit,
}

/// A rule that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", wording::rule_error(.file, .reason))]
pub struct RuleError {
    /// Its file.
    pub file: String,
    /// The fault and its position.
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
    /// For cases that have no fix of their own.
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
    #[serde(default = "usual_weight")]
    weight: u8,
}

fn usual_weight() -> u8 {
    3
}

/// The rules that are built in, of one audit such as `host`, by their names.
///
/// # Errors
/// One of them is wrong, which a test rules out.
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

/// Reads a rule.
///
/// # Errors
/// It is not TOML, has other fields than a rule, or names values that its class has not.
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
    /// The conditions of `applies` and of all cases.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let cases = self.cases.iter().flat_map(|case| &case.when);
        self.applies.iter().chain(cases)
    }

    /// The names of the values that its conditions compare.
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

/// The names in braces: small letters, digits and `_`.
fn placeholders(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    fill(text, |name| {
        names.push(name.to_owned());
        String::new()
    });
    names
}

/// The text with each `{name}` replaced, and each `{name:word}` by the value and the word, which agrees with it.
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

/// A value in a rule's text; a missing one is a dash.
pub fn value_text(value: Option<&Value>) -> String {
    value.map_or("–".into(), Value::text)
}
