// SPDX-License-Identifier: Apache-2.0
//! The tasks and devices that operations wait for while they are slow: tasks in uninterruptible sleep, and
//! devices with requests in flight.

use crate::background::{Background, Held, Kind as Heavy};
use crate::foreground::{Foreground, Freeze, Kind, MIXED};
use lab_kit::{Failure, now};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The first word of its arguments.
pub const WORD: &str = "why";

/// Operations a second, and for how long.
const RATE: u64 = 100;
const SECONDS: u64 = 5;
/// An operation is slow that has not ended so long after it was due, ns.
const SLOW: u64 = 20_000_000;
/// How often the tasks are looked at.
const PAUSE: Duration = Duration::from_millis(5);
/// So many of a kind are shown.
const MOST: usize = 4;

/// Counts of looks, by what was seen.
#[derive(Default)]
struct Seen {
    looks: u64,
    slow: BTreeMap<&'static str, u64>,
    tasks: BTreeMap<String, u64>,
    devices: BTreeMap<String, u64>,
}

/// `why FOLDER`: looks while each background runs, and says what it saw.
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
        let background = Background::start(kind, folder, Held::Free)?;
        let begin = now();
        let (seen, freezes) = watched(&mut foreground)?;
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
            .map_err(|_| Failure::failed("the watcher panicked"))?;
        Ok((seen, done?.freezes))
    })
}

impl Seen {
    fn look(&mut self, slow: &[Kind]) {
        self.looks += 1;
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

/// Tasks in uninterruptible sleep (state D): name, and where in the kernel, each once.
fn sleeping() -> Vec<String> {
    let mut found = Vec::new();
    for process in numbered("/proc") {
        for task in numbered(&format!("/proc/{process}/task")) {
            let file =
                |name: &str| fs::read_to_string(format!("/proc/{process}/task/{task}/{name}"));
            let Ok(stat) = file("stat") else { continue };
            // The name stands in brackets, and may hold brackets.
            let Some((name, rest)) = stat.rsplit_once(')') else {
                continue;
            };
            if rest.trim_start().starts_with('D') {
                let name = name.split_once('(').map_or("", |(_, name)| name);
                let place = file("wchan").unwrap_or_default();
                let place = if place.is_empty() || place == "0" {
                    "not told".into()
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

/// Devices with requests in flight.
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
    print!("Beside a {name}: {RATE} operations a second for {SECONDS} s, ");
    if seen.looks == 0 {
        println!("none slower than {} ms", SLOW / 1_000_000);
        return;
    }
    println!("slow at {} looks", seen.looks);
    row("waits", parts(&seen.slow, seen.looks));
    row("in state D", parts(&seen.tasks, seen.looks));
    row("device busy", parts(&seen.devices, seen.looks));
    let mut longest: Vec<&Freeze> = freezes.iter().collect();
    longest.sort_by_key(|freeze| std::cmp::Reverse(freeze.took));
    let longest = longest.into_iter().map(|freeze| {
        let at = freeze.began.saturating_sub(begin) as f64 / 1e9;
        let (kind, ms) = (freeze.kind.name(), freeze.took / 1_000_000);
        format!("{kind} {ms} ms at {at:.2} s")
    });
    row("frozen", longest.collect());
}

/// In which part of the looks each was seen, the most first.
fn parts<K: std::fmt::Display>(counts: &BTreeMap<K, u64>, looks: u64) -> Vec<String> {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let percent = |(what, count): (&K, &u64)| format!("{what} {} %", 100 * count / looks);
    counts.into_iter().map(percent).collect()
}

/// The first of these, on lines of at most 80 columns.
fn row(title: &str, whats: Vec<String>) {
    let mut line = format!("  {title:<11}");
    let shown = whats.len().min(MOST);
    for (number, what) in whats.iter().take(MOST).enumerate() {
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
