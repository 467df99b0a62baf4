// SPDX-License-Identifier: Apache-2.0
//! `[quick]` of an experiment: the cases, and of each the values, that decide a difference of 20 % soon.

use crate::PlanError;
use crate::case::Case;
use crate::file::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

type Named<T> = BTreeMap<Spanned<String>, T>;

/// Notes at each case what a quick run measures of it. An experiment that says nothing measures all cases.
pub fn understand(
    quick: &Named<Named<Vec<Value>>>,
    cases: &mut [Case],
    at: &dyn Fn(Range<usize>, String) -> PlanError,
) -> Result<(), PlanError> {
    if quick.is_empty() {
        return Ok(());
    }
    cases.iter_mut().for_each(|case| case.quick = None);
    for (name, values) in quick {
        let known: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
        let found = cases.iter_mut().find(|case| case.name == **name.get_ref());
        let case = found.ok_or_else(|| {
            at(
                name.span(),
                format!("there is no case `{}`", name.get_ref()),
            )
            .known(name.get_ref(), known.iter().map(String::as_str))
        })?;
        let chosen = values
            .iter()
            .map(|(key, values)| one(case, key, values, at));
        case.quick = Some(chosen.collect::<Result<_, _>>()?);
    }
    Ok(())
}

fn one(
    case: &Case,
    key: &Spanned<String>,
    values: &[Value],
    at: &dyn Fn(Range<usize>, String) -> PlanError,
) -> Result<(String, Vec<String>), PlanError> {
    let name = key.get_ref();
    let Some(known) = values_of(case, name) else {
        let names = case.sweep.iter().map(|(name, _)| name.as_str());
        let names = names.chain(case.factors.iter().map(|f| f.name.as_str()));
        let why = format!("case `{}` has no `{name}`", case.name);
        return Err(at(key.span(), why).known(name, names));
    };
    let words = values.iter().map(|value| match value {
        Value::Number(number) => number.to_string(),
        Value::Word(word) => word.clone(),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        return Err(at(key.span(), format!("`{name}` needs a value")));
    }
    match words.iter().find(|word| !known.contains(word)) {
        Some(wrong) => Err(
            at(key.span(), format!("{wrong} is not a value of `{name}`"))
                .known(wrong, known.iter().map(String::as_str)),
        ),
        None => Ok((name.clone(), words)),
    }
}

/// All values of a sweep or factor, in words.
fn values_of(case: &Case, name: &str) -> Option<Vec<String>> {
    let sweep = case.sweep.iter().filter(|(sweep, _)| sweep == name);
    let swept = sweep.map(|(_, values)| values.iter().map(u64::to_string).collect());
    let factors = case.factors.iter().filter(|factor| factor.name == name);
    swept.chain(factors.map(|f| f.values.clone())).next()
}
