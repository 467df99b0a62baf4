// SPDX-License-Identifier: Apache-2.0
//! The user's own rules, in one directory for all audits.

use crate::condition::Condition;
use crate::rule::{Rule, RuleError, built_in, parse};
use crate::value::Class;
use crate::{host, net, site, wording};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Adds the user's own rules to the rules of an audit.
///
/// A user's rule replaces the built-in rule with the same name. The directory may contain rules for
/// all audits. Each audit uses the rules for its own classes.
///
/// # Errors
///
/// Returns an error if the directory cannot be read or if it contains an invalid rule, even a rule
/// for another audit.
pub fn with_folder(
    mut rules: Vec<Rule>,
    folder: &Path,
    classes: &[Class],
) -> Result<Vec<Rule>, RuleError> {
    let comparisons = comparisons()?;
    for path in toml_files(folder)? {
        let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
        let rule = parse(&path, &text, &all_classes())?;
        check_comparisons(&rule, &comparisons).map_err(|reason| RuleError {
            file: path.display().to_string(),
            reason,
        })?;
        if !classes.iter().any(|class| class.name == rule.of) {
            continue;
        }
        match rules.iter_mut().find(|existing| existing.id == rule.id) {
            Some(existing) => *existing = rule,
            None => rules.push(rule),
        }
    }
    Ok(rules)
}

fn unreadable(path: &Path, e: &std::io::Error) -> RuleError {
    RuleError {
        file: path.display().to_string(),
        reason: e.to_string(),
    }
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, RuleError> {
    let entries = std::fs::read_dir(folder).map_err(|e| unreadable(folder, &e))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    Ok(paths)
}

/// Returns the classes of all audits, sorted by name. The classes of the site audit include the
/// classes of its cookies.
pub fn all_classes() -> Vec<Class> {
    let classes: [&[Class]; 3] = [&host::CLASSES, &net::CLASSES, &site::CLASSES];
    let mut classes = classes.concat();
    classes.sort_by_key(|class| class.name);
    classes
}

/// Triples of a class, the name of one of its values, and true if a rule compares that value with a
/// number.
type Comparisons = BTreeSet<(String, String, bool)>;

/// Returns the way in which the built-in rules compare each value: with a number or with a word.
fn comparisons() -> Result<Comparisons, RuleError> {
    let mut comparisons = Comparisons::new();
    for audit in ["host", "net", "site", "cookies"] {
        for rule in built_in(audit, &all_classes())? {
            let comparison = |condition: &Condition| {
                let is_number = condition.compares_with_number()?;
                Some((rule.of.clone(), condition.name.clone(), is_number))
            };
            comparisons.extend(rule.conditions().filter_map(comparison));
        }
    }
    Ok(comparisons)
}

/// Returns an error if a rule compares a numeric value with a word, or a text value with a number.
fn check_comparisons(rule: &Rule, comparisons: &Comparisons) -> Result<(), String> {
    for condition in rule.conditions() {
        let key = |as_number| (rule.of.clone(), condition.name.clone(), as_number);
        let Some(as_number) = condition.compares_with_number() else {
            continue;
        };
        if comparisons.contains(&key(!as_number)) && !comparisons.contains(&key(as_number)) {
            let (text, name) = (&condition.text, &condition.name);
            return Err(wording::compared_kind(text, name, as_number));
        }
    }
    Ok(())
}
