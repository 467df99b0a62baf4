// SPDX-License-Identifier: Apache-2.0
//! Limits, random numbers, timers and what else the system does to every program.

use super::{Machine, Probe};
use crate::root::Root;
use crate::value::{Thing, Value};

pub struct System;

impl Probe for System {
    fn look(&self, machine: &Machine) -> Vec<Thing> {
        let root = &machine.root;
        let mut host = machine.host();
        let (soft, hard) = open_files(root);
        host.set("open_files", soft);
        host.set("open_files_hard", hard);
        host.set_some("files_share", files_share(root));
        host.set_some("pids_share", pids_share(root));
        let entropy = root.number("proc/sys/kernel/random/entropy_avail");
        host.set_some("entropy", entropy.map(|n| Value::count(n, "bits")));
        let kernel = root.line("proc/sys/kernel/osrelease");
        host.set_some(
            "kernel_5_18",
            kernel.as_deref().and_then(since_5_18).map(Value::Flag),
        );
        host.set_some("kernel", kernel.map(Value::Word));
        host.set("trim_timer", Value::Flag(trim_timer(root)));
        let randomised = root.number("proc/sys/kernel/randomize_va_space");
        host.set_some("randomised", randomised.map(|n| Value::count(n, "")));
        host.set("preloaded", Value::Word(preloaded(root)));
        vec![host]
    }
}

/// Soft and hard limit of the programs that are started like this one.
fn open_files(root: &Root) -> (Value, Value) {
    let text = match root.text("proc/self/limits") {
        Ok(text) => text,
        Err(why) => return (Value::Unknown(why.clone()), Value::Unknown(why)),
    };
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let mut words = line.unwrap_or_default().split_whitespace();
    let mut limit = || match words.next() {
        Some("unlimited") => Value::count(u64::from(u32::MAX), "files"),
        Some(n) => n.parse().map_or(
            Value::Unknown("/proc/self/limits is not as expected".into()),
            |n| Value::count(n, "files"),
        ),
        None => Value::Unknown("/proc/self/limits does not tell".into()),
    };
    (limit(), limit())
}

fn files_share(root: &Root) -> Option<Value> {
    let line = root.line("proc/sys/fs/file-nr")?;
    let numbers: Vec<f64> = line
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    let [used, _, most] = numbers[..] else {
        return None;
    };
    (most > 0.0).then(|| Value::share(used / most))
}

/// `/proc/loadavg` has running/all threads as its fourth word.
fn pids_share(root: &Root) -> Option<Value> {
    let line = root.line("proc/loadavg")?;
    let (_, all) = line.split_whitespace().nth(3)?.split_once('/')?;
    let most = root.number("proc/sys/kernel/pid_max").filter(|n| *n > 0)?;
    Some(Value::share(all.parse::<f64>().ok()? / most as f64))
}

/// From Linux 5.18 on /dev/random waits only until the pool was filled once (random(4)).
fn since_5_18(kernel: &str) -> Option<bool> {
    let mut numbers = kernel.split(['.', '-']).map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((major, minor) >= (5, 18))
}

fn trim_timer(root: &Root) -> bool {
    let wanted = [
        "etc/systemd/system",
        "usr/lib/systemd/system",
        "lib/systemd/system",
    ];
    let by_systemd = wanted
        .iter()
        .any(|folder| root.has(&format!("{folder}/timers.target.wants/fstrim.timer")));
    by_systemd
        || root
            .names("etc/cron.weekly")
            .iter()
            .any(|name| name.contains("trim"))
}

fn preloaded(root: &Root) -> String {
    let in_file = root.line("etc/ld.so.preload");
    let in_variable = match root.is_live() {
        true => std::env::var("LD_PRELOAD")
            .ok()
            .filter(|value| !value.is_empty()),
        false => None,
    };
    let found: Vec<String> = in_file.into_iter().chain(in_variable).collect();
    match found.is_empty() {
        true => "nothing".into(),
        false => found.join(" "),
    }
}
