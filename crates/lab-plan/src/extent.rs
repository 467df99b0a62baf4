// SPDX-License-Identifier: Apache-2.0
//! The tables `[quick]` and `[usual]` of an experiment: the cases and values that are measured by default.

use crate::PlanError;
use crate::case::{Case, Values};
use crate::error::ErrorAt;
use crate::file::ParameterValue;
use std::collections::BTreeMap;
use toml::Spanned;

type Named<T> = BTreeMap<Spanned<String>, T>;

/// Returns the values that a table lists for each case, in the order of the cases. `None` excludes
/// the case.
///
/// If the table is missing, all cases are measured.
pub fn values_by_case(
    table: &Named<Named<Vec<ParameterValue>>>,
    cases: &[Case],
    at: ErrorAt,
) -> Result<Vec<Option<Values>>, PlanError> {
    if table.is_empty() {
        return Ok(vec![Some(Values::new()); cases.len()]);
    }
    let mut by_case = vec![None; cases.len()];
    for (name, values) in table {
        let Some(index) = cases.iter().position(|case| case.name == **name.get_ref()) else {
            let names = cases.iter().map(|case| case.name.as_str());
            let reason = format!("there is no case `{}`", name.get_ref());
            return Err(at(name.span(), reason).with_nearest(name.get_ref(), names));
        };
        let chosen = values
            .iter()
            .map(|(key, values)| chosen_values(&cases[index], key, values, at));
        by_case[index] = Some(chosen.collect::<Result<_, _>>()?);
    }
    Ok(by_case)
}

fn chosen_values(
    case: &Case,
    key: &Spanned<String>,
    values: &[ParameterValue],
    at: ErrorAt,
) -> Result<(String, Vec<String>), PlanError> {
    let name = key.get_ref();
    let Some(allowed) = values_of(case, name) else {
        let names = case.sweep.iter().map(|(name, _)| name.as_str());
        let names = names.chain(case.factors.iter().map(|f| f.name.as_str()));
        let reason = format!("case `{}` has no `{name}`", case.name);
        return Err(at(key.span(), reason).with_nearest(name, names));
    };
    let words = values.iter().map(|value| match value {
        ParameterValue::Number(number) => number.to_string(),
        ParameterValue::Word(word) => word.clone(),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        return Err(at(key.span(), format!("`{name}` needs a value")));
    }
    match words.iter().find(|word| !allowed.contains(word)) {
        Some(wrong) => Err(
            at(key.span(), format!("{wrong} is not a value of `{name}`"))
                .with_nearest(wrong, allowed.iter().map(String::as_str)),
        ),
        None => Ok((name.clone(), words)),
    }
}

/// Returns all values of a sweep or factor as words.
fn values_of(case: &Case, name: &str) -> Option<Vec<String>> {
    let sweep = case.sweep.iter().filter(|(sweep, _)| sweep == name);
    let swept = sweep.map(|(_, values)| values.iter().map(u64::to_string).collect());
    let factors = case.factors.iter().filter(|factor| factor.name == name);
    swept.chain(factors.map(|f| f.values.clone())).next()
}
