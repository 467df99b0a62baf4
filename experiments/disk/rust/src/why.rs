// SPDX-License-Identifier: Apache-2.0
//! Shows what slow operations wait for: tasks in uninterruptible sleep, and devices with requests in flight.

use crate::background::{Background, Held, Kind as Heavy};
use crate::foreground::{Foreground, Freeze, Kind, MIXED};
use lab_kit::{Failure, now};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The first command-line argument, which selects this diagnosis.
pub const WORD: &str = "why";

/// The number of operations per second.
const RATE: u64 = 100;
/// The duration of the diagnosis, in seconds.
const SECONDS: u64 = 5;
/// The time after which an operation that has not finished counts as slow, in ns.
const SLOW: u64 = 20_000_000;
/// The interval between samples of the tasks.
const PAUSE: Duration = Duration::from_millis(5);
/// The maximum number of entries to show for each kind.
const MAX_ENTRIES: usize = 4;

/// The number of samples, and the number of samples that showed each observation.
#[derive(Default)]
struct Seen {
    samples: u64,
    slow: BTreeMap<&'static str, u64>,
    tasks: BTreeMap<String, u64>,
    devices: BTreeMap<String, u64>,
}

/// Runs `why FOLDER`: takes samples during each kind of background load, and prints the
/// observations.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let [_, folder] = arguments else {
        return Err(Failure::usage("usage: why FOLDER"));
    };
    let folder = Path::new(folder);
    for (kind, name) in [
        (Heavy::Read, "streaming read"),
        (Heavy::Write, "streaming write"),
        (Heavy::Copy, "small-file copy"),
    ] {
        Background::prepare(kind, folder, Held::Free)?;
        let mut foreground = Foreground::new(folder, &MIXED, RATE)?;
        let mut background = Background::start(kind, folder, Held::Free)?;
        let begin = now();
        let (seen, freezes) = watched(&mut foreground)?;
        background.check()?;
        drop(background);
        show(name, &seen, &freezes, begin);
    }
    Ok(())
}

fn watched(foreground: &mut Foreground) -> Result<(Seen, Vec<Freeze>), Failure> {
    let waiting = foreground.waiting.clone();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = Seen::default();
            while !ended.load(Relaxed) {
                thread::sleep(PAUSE);
                let since = waiting.lock().map_or([0; 4], |waiting| *waiting);
                let slow = Kind::ALL.into_iter().zip(since);
                let slow =
                    slow.filter(|(_, since)| *since > 0 && now().saturating_sub(*since) > SLOW);
                let slow: Vec<Kind> = slow.map(|(kind, _)| kind).collect();
                if !slow.is_empty() {
                    seen.look(&slow);
                }
            }
            seen
        });
        let done = foreground.at_the_rate(RATE * SECONDS);
        ended.store(true, Relaxed);
        let seen = watcher
            .join()
            .map_err(|_| Failure::failed("the sampling thread panicked"))?;
        Ok((seen, done?.freezes))
    })
}

impl Seen {
    fn look(&mut self, slow: &[Kind]) {
        self.samples += 1;
        for kind in slow {
            *self.slow.entry(kind.name()).or_default() += 1;
        }
        for task in sleeping() {
            *self.tasks.entry(task).or_default() += 1;
        }
        for device in busy() {
            *self.devices.entry(device).or_default() += 1;
        }
    }
}

/// Returns the tasks in uninterruptible sleep (state D) with the kernel functions that they wait in, without
/// duplicates.
fn sleeping() -> Vec<String> {
    let mut found = Vec::new();
    for process in numbered("/proc") {
        for task in numbered(&format!("/proc/{process}/task")) {
            let file =
                |name: &str| fs::read_to_string(format!("/proc/{process}/task/{task}/{name}"));
            let Ok(stat) = file("stat") else { continue };
            // The name is in parentheses, and may contain parentheses.
            let Some((name, rest)) = stat.rsplit_once(')') else {
                continue;
            };
            if rest.trim_start().starts_with('D') {
                let name = name.split_once('(').map_or("", |(_, name)| name);
                let place = file("wchan").unwrap_or_default();
                let place = if place.is_empty() || place == "0" {
                    "unknown".into()
                } else {
                    place
                };
                found.push(format!("{name} in {place}"));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn numbered(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .collect()
}

/// Returns the devices with requests in flight.
fn busy() -> Vec<String> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let in_flight = |name: &String| {
        let text = fs::read_to_string(format!("/sys/block/{name}/inflight")).unwrap_or_default();
        text.split_whitespace().any(|count| count != "0")
    };
    names.filter(in_flight).collect()
}

fn show(name: &str, seen: &Seen, freezes: &[Freeze], begin: u64) {
    print!("During a {name}: {RATE} operations per second for {SECONDS} s, ");
    if seen.samples == 0 {
        println!("none slower than {} ms", SLOW / 1_000_000);
        return;
    }
    println!("slow in {} samples", seen.samples);
    row("waits", parts(&seen.slow, seen.samples));
    row("in state D", parts(&seen.tasks, seen.samples));
    row("device busy", parts(&seen.devices, seen.samples));
    let mut longest: Vec<&Freeze> = freezes.iter().collect();
    longest.sort_by_key(|freeze| std::cmp::Reverse(freeze.took));
    let longest = longest.into_iter().map(|freeze| {
        let at = freeze.began.saturating_sub(begin) as f64 / 1e9;
        let (kind, ms) = (freeze.kind.name(), freeze.took / 1_000_000);
        format!("{kind} {ms} ms at {at:.2} s")
    });
    row("frozen", longest.collect());
}

/// Returns the percentage of samples for each observation, the most frequent first.
fn parts<K: std::fmt::Display>(counts: &BTreeMap<K, u64>, samples: u64) -> Vec<String> {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let percent = |(what, count): (&K, &u64)| format!("{what} {} %", 100 * count / samples);
    counts.into_iter().map(percent).collect()
}

/// Prints the first observations, on lines of at most 80 columns.
fn row(title: &str, whats: Vec<String>) {
    let mut line = format!("  {title:<11}");
    let shown = whats.len().min(MAX_ENTRIES);
    for (number, what) in whats.iter().take(MAX_ENTRIES).enumerate() {
        if line.chars().count() + what.chars().count() > 78 {
            println!("{line}");
            line = format!("  {:11}", "");
        }
        line += " ";
        line += what;
        line += if number + 1 < shown { "," } else { "" };
    }
    if shown > 0 {
        println!("{line}");
    }
}
