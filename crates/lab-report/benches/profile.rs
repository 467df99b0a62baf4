// SPDX-License-Identifier: Apache-2.0
//! How fast profiles are read and reported: a Callgrind file of 2 GB, from memory, with the most memory that it took,
//! and a whole report of one of 100 MB. `cargo bench -p lab-report --bench profile [GB]`.

use lab_profile::{CostProfile, Profile, read_callgrind};
use lab_report::kind::profile::{ProfileReport, document};
use lab_report::{Format, Terminal, render};
use std::io::{BufReader, Read};
use std::process::Command;
use std::time::Instant;

fn main() {
    let gigabytes: f64 = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(2.0);
    let file = recorded();
    println!(
        "{:.1} MB, as Callgrind writes it, again and again",
        file.len() as f64 / 1e6
    );
    let before = peak_mb();
    let bytes = (gigabytes * 1e9) as usize;
    let began = Instant::now();
    let profile = read(&file, bytes);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "read {gigabytes} GB in {seconds:.1} s: {:.0} MB/s; peak memory {before:.0} MB before, {:.0} MB after, {} functions",
        bytes as f64 / 1e6 / seconds,
        peak_mb(),
        profile.functions().count(),
    );
    let began = Instant::now();
    let callgrind = Some(read(&file, 100_000_000));
    let profile = Profile {
        callgrind,
        ..Profile::default()
    };
    let read = began.elapsed().as_secs_f64();
    let document = document(&ProfileReport {
        profiles: vec![("program".into(), &profile)],
        sources: Vec::new(),
        facts: Vec::new(),
        warnings: Vec::new(),
        measured: None,
        made_unix_s: 0.0,
    });
    for format in [Format::Terminal, Format::Html] {
        render(format, &document, Terminal::default()).expect("a report");
    }
    let all = began.elapsed().as_secs_f64();
    println!("report of 100 MB, terminal and page: {all:.2} s, of which reading {read:.2} s");
}

/// A file of a program that does much.
fn recorded() -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("benchlab-bench-{}", std::process::id()));
    let status = Command::new("valgrind")
        .args([
            "-q",
            "--tool=callgrind",
            "--dump-instr=yes",
            "--cache-sim=yes",
        ])
        .arg(format!("--callgrind-out-file={}", folder.display()))
        .args(["git", "--version"])
        .output();
    assert!(status.expect("valgrind").status.success());
    let file = std::fs::read(&folder).expect("Callgrind's file");
    std::fs::remove_file(&folder).expect("it is there");
    file
}

fn read(file: &[u8], bytes: usize) -> CostProfile {
    let parts = Parts {
        file,
        at: 0,
        left: bytes.div_ceil(file.len()),
    };
    read_callgrind(BufReader::with_capacity(1 << 16, parts)).expect("a profile")
}

/// The file so many times, each a part.
struct Parts<'f> {
    file: &'f [u8],
    at: usize,
    left: usize,
}

impl Read for Parts<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.file.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        if self.left == 0 {
            return Ok(0);
        }
        let count = into.len().min(self.file.len() - self.at);
        into[..count].copy_from_slice(&self.file[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.expect("VmHWM in kB") / 1024.0
}
