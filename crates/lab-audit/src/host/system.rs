// SPDX-License-Identifier: Apache-2.0
//! Limits, random numbers, timers and other system settings that affect every program.

use super::machine::{AuditedMachine, Probe};
use crate::value::{AuditObject, Value};
use lab_host::Root;

pub struct System;

impl Probe for System {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        let root = &machine.root;
        let mut host = machine.host();
        let (soft, hard) = open_files(root);
        host.set("open_files", soft);
        host.set("open_files_hard", hard);
        host.set_result("files_share", files_fraction(root), Value::fraction);
        host.set_result("pids_share", pids_fraction(root), Value::fraction);
        let entropy = root.required_number("proc/sys/kernel/random/entropy_avail");
        host.set_result("entropy", entropy, |n| Value::count(n, "bits"));
        let kernel = root.required_line("proc/sys/kernel/osrelease");
        let is_5_18 = kernel.clone().and_then(|kernel| {
            since_5_18(&kernel).ok_or_else(|| format!("{kernel} is not a Linux version."))
        });
        host.set_result("kernel_5_18", is_5_18, Value::Flag);
        host.set_some("kernel", kernel.ok().map(Value::Word));
        host.set_result("trim_timer", trim_timer(root), Value::Flag);
        let randomized = root.required_number("proc/sys/kernel/randomize_va_space");
        host.set_result("randomized", randomized, |n| Value::count(n, ""));
        host.set_result("preloaded", preloaded_libraries(root), Value::Word);
        vec![host]
    }
}

/// Returns this process's soft and hard limit for open files.
fn open_files(root: &Root) -> (Value, Value) {
    let text = match root.text("proc/self/limits") {
        Ok(text) => text,
        Err(reason) => {
            let reason = Value::Unknown(format!("{reason}."));
            return (reason.clone(), reason);
        }
    };
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let mut words = line.unwrap_or_default().split_whitespace();
    let mut limit = || match words.next() {
        Some("unlimited") => Value::count(u64::from(u32::MAX), "files"),
        Some(n) => n.parse().map_or(
            Value::Unknown("/proc/self/limits has an unexpected format.".into()),
            |n| Value::count(n, "files"),
        ),
        None => Value::Unknown("/proc/self/limits does not contain `Max open files`.".into()),
    };
    (limit(), limit())
}

/// Returns the fraction of the system-wide limit for open files that is in use, or the reason
/// the fraction is unknown.
fn files_fraction(root: &Root) -> Result<f64, String> {
    let line = root.required_line("proc/sys/fs/file-nr")?;
    let numbers: Vec<f64> = line
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    match numbers[..] {
        [used, _, max] if max > 0.0 => Ok(used / max),
        _ => Err("/proc/sys/fs/file-nr has an unexpected format.".into()),
    }
}

/// Returns the fraction of the system-wide limit for threads that is in use, or the reason the
/// fraction is unknown. The limit is the smaller of the number of process IDs and the number of
/// threads that the kernel allows.
///
/// The fourth field of `/proc/loadavg` contains the running and the total number of threads.
fn pids_fraction(root: &Root) -> Result<f64, String> {
    let line = root.required_line("proc/loadavg")?;
    let word = line.split_whitespace().nth(3);
    let threads = word.and_then(|word| word.split_once('/')?.1.parse::<f64>().ok());
    let threads = threads.ok_or("/proc/loadavg has an unexpected format.")?;
    let pid_max = root.required_number("proc/sys/kernel/pid_max")?;
    let threads_max = root.required_number("proc/sys/kernel/threads-max")?;
    Ok(threads / pid_max.min(threads_max).max(1) as f64)
}

/// Returns true if a kernel is Linux 5.18 or later. From that version, /dev/random blocks only
/// until the pool is initialized (random(4)).
fn since_5_18(kernel: &str) -> Option<bool> {
    let mut numbers = kernel.split(['.', '-']).map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((major, minor) >= (5, 18))
}

/// Returns true if a timer runs fstrim. The error states why this is unknown.
fn trim_timer(root: &Root) -> Result<bool, String> {
    let unit_folders = [
        "etc/systemd/system",
        "usr/lib/systemd/system",
        "lib/systemd/system",
    ];
    if !root.is_live()
        && ![unit_folders[0], "etc/cron.weekly"]
            .iter()
            .any(|f| root.has(f))
    {
        return Err("The copy has neither /etc/systemd/system nor /etc/cron.weekly.".into());
    }
    let by_systemd = unit_folders
        .iter()
        .any(|folder| root.has(&format!("{folder}/timers.target.wants/fstrim.timer")));
    let weekly = root.names("etc/cron.weekly");
    Ok(by_systemd || weekly.iter().any(|name| name.contains("trim")))
}

/// Returns the preloaded libraries, or the reason they are unknown.
fn preloaded_libraries(root: &Root) -> Result<String, String> {
    if !root.has("etc") {
        return Err("There is no /etc.".into());
    }
    let in_file = root.line("etc/ld.so.preload");
    let in_variable = if root.is_live() {
        std::env::var("LD_PRELOAD")
            .ok()
            .filter(|value| !value.is_empty())
    } else {
        None
    };
    let libraries: Vec<String> = in_file.into_iter().chain(in_variable).collect();
    Ok(if libraries.is_empty() {
        "nothing".into()
    } else {
        libraries.join(" ")
    })
}
