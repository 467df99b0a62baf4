// SPDX-License-Identifier: Apache-2.0
//! Measures the time that each format takes to render a run with a million samples:
//! `cargo bench -p lab-report --bench render`. The time of the analysis is not included.

#[path = "../tests/report/support/mod.rs"]
mod support;

use lab_document::{Document, FORMATS, Format, Terminal};
use lab_report::Report;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

fn main() {
    let run = support::run(support::plan(), 1000);
    let samples: usize = run.blocks.iter().map(|b| b.samples.len()).sum();
    println!("{samples} samples; minimum and maximum of {ROUNDS} rounds");
    let document = lab_report::document(&Report::new(&run, "runs/some.lab"));
    // The run has no call stacks.
    let has_content = |format: &Format| !["folded", "speedscope"].contains(&format.name);
    for format in FORMATS.into_iter().filter(has_content) {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| time(format, &document)).collect();
        times.sort();
        println!(
            "{:24} {:8.2?} {:8.2?}",
            format.name,
            times[0],
            times[ROUNDS - 1]
        );
    }
}

fn time(format: Format, document: &Document) -> Duration {
    let begin = Instant::now();
    let rendered = format
        .render(document, Terminal::default())
        .expect("a report");
    let time = begin.elapsed();
    drop(rendered);
    time
}
