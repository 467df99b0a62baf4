// SPDX-License-Identifier: Apache-2.0
//! BenchmarkDotNet's full JSON report (`--exporters json`). Each launch is a process.

use super::ImportFormat;
use crate::error::Problem;
use crate::json::Node;
use crate::shorten::{move_shared_to_fact, remove_unneeded};
use crate::source::Source;
use crate::subject::{fact, subject, with_params};
use lab_model::{Direction, Imported, Metric};
use std::collections::BTreeMap;

/// The parameter that names the job: the runtime and other settings with which a benchmark ran.
const JOB: &str = "job";

/// The parameter that names the namespace of a benchmark's class.
const NAMESPACE: &str = "namespace";

/// The import format for BenchmarkDotNet's JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "benchmarkdotnet",
    title: "BenchmarkDotNet --exporters json (…-report-full.json)",
    advice: "Run BenchmarkDotNet with `--launchCount 5` or more.",
    is_format: |source| source.has_keys(&["HostEnvironmentInfo", "Benchmarks"]),
    read,
    shorten: |imports| {
        move_shared_to_fact(imports, JOB, JOB);
        remove_unneeded(imports, NAMESPACE);
    },
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let root = source.root()?;
    let host = root.get("HostEnvironmentInfo")?;
    let mut imported = subject(
        "BenchmarkDotNet",
        host.find_text("BenchmarkDotNetVersion").unwrap_or(""),
        "",
    );
    for (name, key) in [
        ("CPU", "ProcessorName"),
        (".NET", "RuntimeVersion"),
        ("system", "OsVersion"),
    ] {
        fact(&mut imported, name, host.find_text(key).unwrap_or(""));
    }
    for benchmark in root.get("Benchmarks")?.items()? {
        add(&benchmark, source, &mut imported)?;
    }
    Ok(vec![imported])
}

fn add(benchmark: &Node, source: &Source, imported: &mut Imported) -> Result<(), Problem> {
    let words = |key| benchmark.find_text(key).filter(|text| !text.is_empty());
    let name = match (words("Type"), words("Method")) {
        (Some(kind), Some(method)) => format!("{kind}.{method}"),
        _ => benchmark.get("FullName")?.text()?.to_owned(),
    };
    let given = [
        (NAMESPACE, words("Namespace")),
        (JOB, words("DisplayInfo").and_then(job)),
    ];
    let given = given
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    let params = words("Parameters")
        .into_iter()
        .flat_map(|params| params.split('&'))
        .map(|param| match param.split_once('=') {
            Some((key, value)) => (key.trim().to_owned(), value.trim().to_owned()),
            None => ("parameters".to_owned(), param.trim().to_owned()),
        });
    let params: Vec<(String, String)> = given.chain(params).collect();
    let launches = launches(benchmark)?;
    let launches = match (launches.is_empty(), benchmark.find("Statistics")) {
        (false, _) => launches,
        (true, Some(statistics)) => match statistics.find("OriginalValues") {
            Some(values) => vec![values.amounts(1.0, &source.limits)?],
            None => vec![vec![statistics.get("Mean")?.amount()?]],
        },
        (true, None) => {
            imported
                .remarks
                .push(format!("{name} has no results: it failed."));
            return Ok(());
        }
    };
    with_params(imported, &name, params.clone(), Metric::WALL, launches);
    let memory = benchmark.find("Memory");
    let allocated = memory.map(|memory| memory.find_amount("BytesAllocatedPerOperation"));
    if let Some(bytes) = allocated.transpose()?.flatten() {
        let metric = Metric {
            better: Direction::Less,
            ..Metric::ALLOCATED_BYTES
        };
        with_params(imported, &name, params, metric, vec![vec![bytes]]);
    }
    Ok(())
}

/// Returns the job in a text such as `Sums.Loop: .NET 8.0(Runtime=.NET 8.0) [Size=10]`, or `None`
/// for the default job.
fn job(display_info: &str) -> Option<&str> {
    let (_, rest) = display_info.split_once(": ")?;
    let job = rest.split(" [").next()?.trim();
    (job != "DefaultJob").then_some(job)
}

/// Returns the time of an operation in each iteration of each launch, in ns.
///
/// `Result` iterations are the `Actual` iterations minus the overhead of the loop.
fn launches(benchmark: &Node) -> Result<Vec<Vec<f64>>, Problem> {
    let Some(all) = benchmark.find("Measurements") else {
        return Ok(Vec::new());
    };
    let mut stages: BTreeMap<&str, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for measurement in all.items()? {
        let stage = measurement.find_text("IterationStage").unwrap_or("");
        let mode = measurement.find_text("IterationMode").unwrap_or("");
        if !["Result", "Actual"].contains(&stage) || !["Workload", "Result"].contains(&mode) {
            continue;
        }
        let launch = measurement.find_amount("LaunchIndex")?.unwrap_or(1.0) as u64;
        let operations = measurement.get("Operations")?;
        let count = operations.amount()?;
        if count <= 0.0 {
            return Err(operations.problem("expected a number above 0"));
        }
        let ns = measurement.get("Nanoseconds")?.amount()?;
        stages
            .entry(stage)
            .or_default()
            .entry(launch)
            .or_default()
            .push(ns / count);
    }
    let chosen = stages.remove("Result").or_else(|| stages.remove("Actual"));
    Ok(chosen.unwrap_or_default().into_values().collect())
}
