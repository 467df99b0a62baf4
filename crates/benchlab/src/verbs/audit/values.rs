// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit values`: what rules can look at.

use super::args::ValuesArgs;
use crate::exit::Exit;
use crate::output::{hanging, say, widest};
use lab_audit::value::counted;
use lab_audit::{Class, own};
use std::process::ExitCode;

/// The classes of things, or the values of one.
pub fn values(args: &ValuesArgs) -> Result<ExitCode, Exit> {
    let classes = own::all_classes();
    let some = |class: &Class| {
        let names = class.values.iter().map(|(name, _)| *name).take(3);
        let names = Vec::from_iter(names).join(", ");
        format!(
            "{}, such as {names}",
            counted(class.values.len() as u64, "value")
        )
    };
    let rows: Vec<(&str, String)> = match &args.class {
        None => classes.iter().map(|c| (c.name, some(c))).collect(),
        Some(name) => {
            let class = classes.iter().find(|class| class.name == name);
            let class = class.ok_or_else(|| {
                let known = Vec::from_iter(classes.iter().map(|class| class.name)).join(", ");
                Exit::wrong(format!("`{name}` is no class of things; there are {known}"))
            })?;
            let values = [("name", "which one it is")];
            let values = values.iter().chain(class.values);
            values
                .map(|(name, what)| (*name, what.to_string()))
                .collect()
        }
    };
    let width = widest(rows.iter().map(|(name, _)| *name));
    for (name, what) in &rows {
        say!("{}", hanging(&format!("{name:<width$}  "), what));
    }
    if args.class.is_none() {
        say!("\nWhat each value is: benchlab audit values CLASS");
    }
    Ok(ExitCode::SUCCESS)
}
