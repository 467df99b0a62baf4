// SPDX-License-Identifier: Apache-2.0
//! The report on a long load keeps the distributions of only a few slices in memory at a time.

use super::{Behavior, TestDirectory, Web};
use crate::project::outcome;
use lab_model::{BlockState, Counts, Disturbance, Slice};
use lab_store::RunWriter;
use nix::sys::resource::{Resource, setrlimit};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// The length of the load, in seconds. Because nearly all times differ, the data takes 200 MB.
const SECONDS: u32 = 2_000;
const TIMES: u64 = 3_000;

/// The maximum data memory of a report's process, in bytes (setrlimit(2), RLIMIT_DATA).
const MEMORY: u64 = 100 << 20;

#[test]
fn a_report_of_a_long_load_takes_little_memory() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    directory.load(&[&web.url("/")], &[]).expect(0);
    let file = directory.0.file();
    append_seconds(&file);
    let mut report = directory.0.command(&["report", file.to_str().unwrap()]);
    // SAFETY: setrlimit(2) is async-signal-safe.
    unsafe {
        report.pre_exec(|| Ok(setrlimit(Resource::RLIMIT_DATA, MEMORY, MEMORY)?));
    }
    let served = format!("{}", u64::from(SECONDS) * TIMES / 1_000_000);
    let outcome = outcome(report.output().unwrap());
    outcome.expect(0).says(&[]);
    assert!(outcome.stdout.contains(&served), "{}", outcome.stdout);
}

/// Appends synthetic seconds of load in which nearly all response times differ.
fn append_seconds(file: &Path) {
    let run = lab_store::load(file).unwrap();
    let number = run.complete_blocks().count() as u32;
    let run = RunWriter::resume(file).unwrap();
    for second in 0..SECONDS {
        let ns = |i: u64| 1_000_000 + 4096 * i + u64::from(second % 7);
        let times = Counts((0..TIMES).map(|i| (ns(i), 1)).collect());
        let slice = Slice {
            wall_ns: 1_000_000_000,
            offered: TIMES,
            served: TIMES,
            response: times.clone().into(),
            service: times.into(),
            ..Slice::default()
        };
        let block = run.begin_block(number + second, 0, 0, 0.0).unwrap();
        block.slice(&slice).unwrap();
        let calm = Disturbance::default();
        block
            .finish(BlockState::Complete, 1_000_000_000, &calm)
            .unwrap();
    }
    run.finish(Some(lab_model::Ending::Blocks), None).unwrap();
}
