// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit values`: lists the values that rules can test.

use super::args::ValuesArgs;
use crate::exit::Exit;
use crate::options::ListingFormat;
use crate::output::{hanging_indent, say, widest, write_json};
use lab_audit::value::counted;
use lab_audit::{Class, user_rules, wording};
use serde_json::{Value, json};
use std::process::ExitCode;

/// The number of lines that fit on a screen, minus two lines for the hint.
const LINES: usize = 38;

/// Prints the classes of objects, or the values of one class.
pub fn values(args: &ValuesArgs) -> Result<ExitCode, Exit> {
    let classes = user_rules::all_classes();
    let is_json = args.listing.format == ListingFormat::Json;
    let Some(name) = &args.class else {
        if is_json {
            let all = classes
                .iter()
                .map(|class| (class.name.into(), class_json(class)));
            write_json(&Value::Object(all.collect()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = classes.iter().map(|class| (class.name, summary(class)));
        let table = table(&Vec::from_iter(rows));
        say!("{table}\n\n{}", wording::VALUES_HINT);
        return Ok(ExitCode::SUCCESS);
    };
    let class = classes.iter().find(|class| class.name == name);
    let class = class.ok_or_else(|| {
        let names = Vec::from_iter(classes.iter().map(|class| class.name)).join(", ");
        Exit::invalid(wording::unknown_class_name(name, &names))
    })?;
    if is_json {
        write_json(&class_json(class))?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = described_values(class);
    let table = table(&all);
    if args.full || table.lines().count() <= LINES {
        say!("{table}");
    } else {
        let names = Vec::from_iter(all.iter().map(|(name, _)| *name)).join(", ");
        let names = hanging_indent("", &names);
        say!("{names}\n\n{}", wording::meanings_hint(name));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the values of a class, each with its meaning.
fn described_values(class: &Class) -> Vec<(&'static str, String)> {
    let all = std::iter::once(&("name", wording::NAME_MEANING)).chain(class.values);
    all.map(|(name, meaning)| (*name, (*meaning).to_owned()))
        .collect()
}

/// Returns the values of a class with their meanings as JSON.
fn class_json(class: &Class) -> Value {
    let all = described_values(class).into_iter();
    let all = all.map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    all.collect()
}

/// Formats the number of values in a class, and the first three values that are specific to the
/// class.
fn summary(class: &Class) -> String {
    let names = class.values.iter().map(|(name, _)| *name).take(3);
    let names = Vec::from_iter(names).join(", ");
    let count = counted(described_values(class).len() as u64, "value");
    wording::class_summary(&count, &names)
}

/// Formats two columns: names and their descriptions.
fn table(rows: &[(&str, String)]) -> String {
    let width = widest(rows.iter().map(|(name, _)| *name));
    let row = |(name, text): &(&str, String)| hanging_indent(&format!("{name:<width$}  "), text);
    Vec::from_iter(rows.iter().map(row)).join("\n")
}
