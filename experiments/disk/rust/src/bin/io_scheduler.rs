// SPDX-License-Identifier: Apache-2.0
//! The io-scheduler experiment. It measures how long small operations wait during heavy I/O of
//! another process. benchlab switches the scheduler.

use disk_subject::background::{self, Background, Held};
use disk_subject::foreground::{Done, Foreground, Kind, LONG_FREEZE, MIXED, NOTHING};
use disk_subject::{folder, host, why};
use lab_kit::{Closed, Failure, Opening, Subject, Work};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

/// The minimum number of operations in a batch for which the background load is started. Smaller
/// batches only verify the work.
const MIN_OPERATIONS: u64 = 10;
/// The time that the background load needs to fill the disk's queue.
const BEFORE: Duration = Duration::from_millis(250);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.first().map(String::as_str) {
        Some(NOTHING) => return ExitCode::SUCCESS,
        Some(background::WORD) => background::run(&arguments),
        Some(why::WORD) => why::run(&arguments),
        Some(name) => serve(name).map_err(Failure::from),
        None => Err(Failure::usage(
            "usage: io-scheduler NAME [ionice | group], with the name of the subject",
        )),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            ExitCode::FAILURE
        }
    }
}

fn serve(name: &str) -> std::io::Result<()> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    Subject::new(name, format!("Linux {}", kernel.trim()))
        .case("mixed", |opening| serve_case(opening, &MIXED))
        .case("read", |opening| serve_case(opening, &[Kind::Read]))
        .case("append", |opening| serve_case(opening, &[Kind::Append]))
        .case("open", |opening| serve_case(opening, &[Kind::Open]))
        .case("start", |opening| serve_case(opening, &[Kind::Start]))
        .serve()
}

fn serve_case(mut opening: Opening, pattern: &[Kind]) -> Result<Closed, Failure> {
    let folder = folder(&opening)?;
    let background = background::Kind::named(opening.text("background")?)?;
    let rate = opening.integer("rate", 1..=100_000)?;
    let held = match std::env::args().nth(2).as_deref() {
        None => Held::Free,
        Some("ionice") => Held::Ionice,
        Some("group") => Held::Group,
        Some(other) => {
            return Err(Failure::usage(format!("{other}: expected ionice or group")));
        }
    };
    if let Some(kind) = background {
        Background::prepare(kind, &folder, held)?;
    }
    let mut foreground = Foreground::new(&folder, pattern, rate)?;
    opening.setting(
        "pressure",
        if host::io_pressure().is_some() {
            "PSI"
        } else {
            "not reported by this kernel"
        },
    );
    let mixed = pattern.len() > 1;
    Ok(opening.serve(|operations| {
        let background = background.filter(|_| operations >= MIN_OPERATIONS);
        with_background(background, &folder, held, || {
            foreground.at_the_rate(operations)
        })
        .map(|(mut work, done)| {
            if mixed {
                for kind in [
                    "longest_read",
                    "longest_append",
                    "longest_open",
                    "longest_start",
                ] {
                    let own = done.longest.iter().find(|(name, _)| *name == kind);
                    work.metrics
                        .insert(kind, own.map_or(0.0, |(_, ns)| *ns as f64));
                }
            }
            work
        })
    }))
}

/// Runs the work while the background runs, and records the state of the machine.
fn with_background(
    kind: Option<background::Kind>,
    folder: &Path,
    held: Held,
    work: impl FnOnce() -> Result<Done, Failure>,
) -> Result<(Work, Done), Failure> {
    let mut background = kind
        .map(|kind| Background::start(kind, folder, held))
        .transpose()?;
    if let Some(background) = &mut background {
        thread::sleep(BEFORE);
        background.check()?;
    }
    let bytes = || background.as_ref().map(Background::bytes);
    let before = (
        lab_kit::now(),
        bytes(),
        host::cpu_ticks(),
        host::io_pressure(),
    );
    let mut done = work()?;
    let after = (
        lab_kit::now(),
        bytes(),
        host::cpu_ticks(),
        host::io_pressure(),
    );
    if let Some(mut background) = background {
        background.check()?;
    }
    let ns = (after.0 - before.0).max(1) as f64;
    let moved = before.1.flatten().zip(after.1.flatten());
    let moved = moved.map_or(0.0, |(before, after)| (after - before) as f64 * 1e9 / ns);
    let idle = before.2.zip(after.2).map_or(0.0, |(before, after)| {
        let all = (after.1 - before.1).max(1) as f64;
        100.0 * (after.0.saturating_sub(before.0)) as f64 / all
    });
    let pressure = before.3.zip(after.3);
    let part = |of: &dyn Fn((u64, u64)) -> u64| {
        pressure.map_or(0.0, |(before, after)| {
            1e5 * of(after).saturating_sub(of(before)) as f64 / ns
        })
    };
    let freezes = done.freezes.len() as f64;
    let long = done
        .freezes
        .iter()
        .filter(|freeze| freeze.took >= LONG_FREEZE)
        .count() as f64;
    let mut told = std::mem::take(&mut done.work);
    for (name, value) in [
        ("background_speed", moved.round()),
        ("idle_cpu", idle),
        ("io_pressure", part(&|both| both.0).min(100.0)),
        ("io_pressure_full", part(&|both| both.1).min(100.0)),
        ("freezes", freezes),
        ("long_freezes", long),
    ] {
        told.metrics.insert(name, (value * 1000.0).round() / 1000.0);
    }
    Ok((told, done))
}
