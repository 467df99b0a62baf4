// SPDX-License-Identifier: Apache-2.0
//! Describes the machine for reports.

use crate::{Root, allowed_cores, is_virtual_machine, procfs};
use lab_model::Host;
use std::fs;

/// Describes the machine. The description contains no audit findings.
pub fn describe() -> Host {
    Host {
        facts: facts(),
        findings: Vec::new(),
    }
}

fn facts() -> Vec<(String, String)> {
    let cpuinfo = text("/proc/cpuinfo");
    let meminfo = text("/proc/meminfo");
    let os = text("/etc/os-release");
    let release = os
        .lines()
        .find_map(|l| l.strip_prefix("PRETTY_NAME="))
        .unwrap_or("")
        .trim_matches('"');
    let cores = allowed_cores().map(|c| c.len()).unwrap_or(0);
    let memory = procfs::field(&meminfo, "MemTotal") as f64 / 1024.0 / 1024.0;
    let mut facts = vec![
        ("cpu", cpu_field(&cpuinfo, "model name")),
        ("cores", cores.to_string()),
        ("memory", format!("{memory:.1} GiB")),
        ("system", release.to_owned()),
        (
            "kernel",
            format!("Linux {}", text("/proc/sys/kernel/osrelease").trim()),
        ),
        ("virtual machine", virtual_machine(&Root::live())),
        (
            "clock source",
            first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ),
        (
            "frequency governor",
            first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        ),
        (
            "huge pages",
            chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        ),
        (
            "address randomization",
            first_line("/proc/sys/kernel/randomize_va_space"),
        ),
    ];
    for name in [
        "LD_PRELOAD",
        "JAVA_TOOL_OPTIONS",
        "PYTHONPATH",
        "MALLOC_ARENA_MAX",
    ] {
        if let Ok(value) = std::env::var(name) {
            facts.push((name, value));
        }
    }
    facts
        .into_iter()
        .filter(|(_, v)| !v.is_empty())
        .map(|(k, v)| (k.to_owned(), v))
        .collect()
}

/// Returns whether the machine is virtual, or an empty text if this is unknown.
fn virtual_machine(root: &Root) -> String {
    match is_virtual_machine(root) {
        Ok(true) => "yes".into(),
        Ok(false) => "no".into(),
        Err(_) => String::new(),
    }
}

fn cpu_field(cpuinfo: &str, name: &str) -> String {
    let line = cpuinfo.lines().find(|l| l.starts_with(name));
    line.and_then(|l| l.split_once(':'))
        .map_or(String::new(), |(_, v)| v.trim().to_owned())
}

/// Returns the selected option of a kernel setting such as `always [madvise] never`.
fn chosen(path: &str) -> String {
    let options = text(path);
    options
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("", |(word, _)| word)
        .to_owned()
}

fn first_line(path: &str) -> String {
    text(path).lines().next().unwrap_or("").trim().to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
