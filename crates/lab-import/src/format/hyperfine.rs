// SPDX-License-Identifier: Apache-2.0
//! hyperfine's `--export-json`. Each run of a command is a process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::source::Source;
use crate::subject::{series, single, subject};
use crate::wording;
use lab_model::{Imported, Metric};

/// The import format for hyperfine's JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "hyperfine",
    title: "hyperfine --export-json",
    advice: "Run hyperfine with `--runs 10` or more.",
    is_format: |source| {
        let results = source
            .json
            .as_ref()
            .ok()
            .and_then(|json| json.get("results"));
        let first = results.and_then(|results| results.get(0));
        first.is_some_and(|first| first.get("command").is_some())
    },
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let results = source.root()?.get("results")?.items()?;
    results
        .iter()
        .map(|result| command(result, source))
        .collect()
}

fn command(result: &Node, source: &Source) -> Result<Imported, Problem> {
    let line = result.get("command")?.text()?;
    let mut params = Vec::new();
    if let Some(given) = result.find("parameters") {
        for (key, value) in given.members()? {
            params.push((key.to_owned(), value.scalar()));
        }
    }
    let mut imported = subject("hyperfine", "", &name(line, &params));
    imported.facts.extend(params);
    let each = |values: Vec<f64>| values.into_iter().map(|value| vec![value]).collect();
    match result.find("times") {
        Some(times) => {
            let times = times.amounts(1e9, &source.limits)?;
            series(&mut imported, "", Metric::WALL, each(times));
        }
        None => {
            let mean = result.get("mean")?.amount()? * 1e9;
            single(&mut imported, Metric::WALL, Some(mean));
            imported.remarks.push(format!(
                "{line}: the file has only the mean of its runs, not the individual runs."
            ));
        }
    }
    for (key, metric) in [("user", Metric::USER_CPU), ("system", Metric::SYSTEM_CPU)] {
        let mean = result.find_amount(key)?.map(|seconds| seconds * 1e9);
        single(&mut imported, metric, mean);
    }
    if let Some(sizes) = result.find("memory_usage_byte") {
        let sizes = sizes.amounts(1.0, &source.limits)?;
        series(&mut imported, "", Metric::PEAK_MEMORY, each(sizes));
    }
    if let Some(codes) = result.find("exit_codes") {
        // A code is null for a process that a signal ended.
        let codes = codes.items()?;
        let codes: Vec<Option<i64>> = codes.iter().map(|code| code.value().as_i64()).collect();
        let failed = codes.iter().filter(|code| **code != Some(0)).count();
        imported.exit_codes = codes.iter().copied().collect();
        if failed > 0 {
            imported.remarks.push(format!(
                "{line}: {failed} of {} runs failed ({}).",
                codes.len(),
                wording::exit_codes(&imported.exit_codes)
            ));
        }
    }
    Ok(imported)
}

/// Returns the name of a command: the text in the file, with the parameters that it does not
/// contain, as in `sort (size = 10)`. A name that the user chose may be the same for all values of
/// a parameter.
fn name(command: &str, params: &[(String, String)]) -> String {
    let missing = params.iter().filter(|(_, value)| !command.contains(value));
    let missing: Vec<String> = missing
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    if missing.is_empty() {
        return command.to_owned();
    }
    format!("{command} ({})", missing.join(", "))
}
