// SPDX-License-Identifier: Apache-2.0
//! Measures the overhead that benchlab adds to the start of a process.
//!
//! Compares the wall time of a command as measured by benchlab with a bare posix_spawn(3) and
//! waitid(2) of the same command on the same core. The two methods alternate.

use lab_bench::{StartRequest, Starter, monotonic_ns, pin};
use lab_host::allowed_cores;
use std::ffi::CString;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let program: Vec<String> = std::env::args().skip(1).collect();
    if program.is_empty() {
        eprintln!("usage: start_cost PROGRAM [ARGUMENT…]");
        return ExitCode::from(2);
    }
    println!("core  turns  lab_us  bare_us  added_us  peak_kib");
    for core in allowed_cores().expect("the cores can be listed") {
        compare(&program, core);
    }
    ExitCode::SUCCESS
}

/// Runs 400 turns of each method in mirrored order, and prints the medians.
fn compare(program: &[String], core: usize) {
    let mut starter = Starter::new().expect("the starter starts");
    pin(nix::unistd::Pid::from_raw(0), &[core]).expect("a core that may be used");
    let order = StartRequest {
        program: program.to_vec(),
        cores: vec![core],
        folder: std::env::current_dir().expect("the current directory exists"),
        time_limit: Duration::from_secs(60),
        ..StartRequest::default()
    };
    let (mut lab, mut bare, mut added, mut peaks) = (vec![], vec![], vec![], vec![]);
    for _ in 0..200 {
        let mut turn = || {
            let ended = starter.run(&order).expect("the command runs");
            peaks.push(ended.peak_rss_bytes / 1024);
            ended.wall_ns as f64 / 1000.0
        };
        let (a, b) = (turn(), spawn_and_wait(program));
        let (c, d) = (spawn_and_wait(program), turn());
        lab.extend([a, d]);
        bare.extend([b, c]);
        added.push((a + d - b - c) / 2.0);
    }
    let [lab, bare, added] = [lab, bare, added].map(|times| median(&times));
    let peak = peaks.iter().min().expect("there were turns");
    println!(
        "{core:>4}  {:>5}  {lab:>6.0}  {bare:>7.0}  {added:>8.1}  {peak:>8}",
        400
    );
}

fn median(values: &[f64]) -> f64 {
    lab_stats::order::median(values).expect("there are values")
}

/// Returns the time from just before posix_spawn to the return of waitid, in µs.
fn spawn_and_wait(program: &[String]) -> f64 {
    let words: Vec<CString> = program
        .iter()
        .map(|w| CString::new(w.as_str()).expect("no NUL"))
        .collect();
    let mut argv: Vec<*mut libc::c_char> = words.iter().map(|w| w.as_ptr().cast_mut()).collect();
    argv.push(std::ptr::null_mut());
    let mut pid = 0;
    let began_ns = monotonic_ns();
    // SAFETY: all pointers point to live values, and argv ends with a null pointer.
    unsafe {
        unsafe extern "C" {
            static environ: *const *mut libc::c_char;
        }
        let (none, same) = (std::ptr::null(), std::ptr::null());
        let failed = libc::posix_spawnp(&mut pid, argv[0], none, same, argv.as_ptr(), environ);
        assert_eq!(failed, 0, "posix_spawn: {failed}");
        let mut info: libc::siginfo_t = std::mem::zeroed();
        assert_eq!(
            libc::waitid(libc::P_PID, pid as u32, &mut info, libc::WEXITED),
            0
        );
    }
    (monotonic_ns() - began_ns) as f64 / 1000.0
}
