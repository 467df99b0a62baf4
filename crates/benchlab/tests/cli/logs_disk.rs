// SPDX-License-Identifier: Apache-2.0
//! Disks that fill up while `benchlab logs` is running. benchlab reports the files that could not
//! be written, and all other files are complete.

use crate::full_disk::{cannot_mount, in_a_namespace};
use crate::project::Project;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

const LINES: u32 = 3000;

/// Generates a combined log with `lines` lines for `/slow` and for fast pages.
fn log(lines: u32) -> String {
    let mut text = String::new();
    for i in 0..lines {
        let (path, ms) = match i % 10 {
            0 => ("/slow".to_owned(), 900),
            n => (format!("/page{}", char::from(b'a' + n as u8)), 1),
        };
        let (hour, minute, second) = (i / 3600 % 24, i / 60 % 60, i % 60);
        let _ = writeln!(
            text,
            "10.0.0.1 - - [01/May/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 9 \"-\" \"Mozilla/5.0\" 0.{ms:03}"
        );
    }
    text
}

const ANSWER: &str = "1 of 10 pages accounts for 80 % of the time: /slow";

fn project(lines: u32) -> Project {
    let project = Project::noop(&[]);
    fs::write(project.join("access.log"), log(lines)).unwrap();
    project
}

fn read(project: &Project, name: &str) -> String {
    fs::read_to_string(project.join(name)).unwrap_or_default()
}

/// Returns the files in a directory with the extension `ending`.
fn files(project: &Project, folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.join(folder)).unwrap().flatten();
    let paths = entries.map(|e| e.path());
    paths
        .filter(|p| p.extension().is_some_and(|e| e == ending))
        .collect()
}

/// No matter how little space the disk has, the result is shown, and each remaining file is
/// complete.
#[test]
fn a_run_file_without_space_does_not_prevent_the_result() {
    if cannot_mount() {
        return;
    }
    let project = project(LINES);
    let sizes = ["16", "120", "200", "64000"];
    let script = r#"
        mkdir runs
        for size in SIZES; do
            mount -t tmpfs -o size=${size}k none runs || exit 1
            "$BENCHLAB" --project . logs access.log > out$size 2> err$size; echo $? > code$size
            mkdir left$size; cp runs/* left$size
            umount runs || exit 1
        done
    "#;
    in_a_namespace(&project, &script.replace("SIZES", &sizes.join(" ")));
    let mut codes = Vec::new();
    for size in sizes {
        let read = |name: &str| read(&project, &format!("{name}{size}"));
        let (out, err) = (read("out"), read("err"));
        assert!(out.contains(ANSWER), "{size}: {out}{err}");
        let kept_files = |ending: &str| files(&project, &format!("left{size}"), ending);
        let (runs, pages) = (kept_files("lab"), kept_files("html"));
        for run in &runs {
            let analysis = lab_store::load(run)
                .expect("the run file is complete")
                .logs()
                .cloned();
            assert_eq!(analysis.unwrap().lines.entries, u64::from(LINES), "{size}");
        }
        for page in &pages {
            let text = fs::read_to_string(page).unwrap();
            assert!(text.trim_end().ends_with("</html>"), "{size}");
        }
        let all = fs::read_dir(project.join(format!("left{size}"))).unwrap();
        assert_eq!(all.count(), runs.len() + pages.len(), "{size}");
        let code = read("code").trim().to_owned();
        let (expected_code, message) = match runs.is_empty() {
            true => (
                "1",
                ".lab: the disk is full; free some space, or use another directory",
            ),
            false => ("0", "the report is in "),
        };
        assert_eq!(code, expected_code, "{size}: {err}");
        assert!(err.contains(message), "{size}: {err}");
        codes.push(code);
    }
    let has = |code: &str| codes.iter().any(|c| c == code);
    assert!(has("0") && has("1"), "{codes:?}");
}

#[test]
fn records_without_space_do_not_prevent_the_report_and_the_run() {
    if cannot_mount() {
        return;
    }
    let project = project(10 * LINES);
    let script = r#"
        mkdir requests && mount -t tmpfs -o size=16k none requests || exit 1
        "$BENCHLAB" --project . logs --parquet requests access.log > out 2> err; echo $? > code
        find requests -type f > left
        "$BENCHLAB" --project . logs --no-keep access.log > /dev/full 2> err_of_output; echo $? > code_of_output
        "$BENCHLAB" --project . logs --no-keep --format html --output requests/report.html access.log 2> err_of_file; echo $? > code_of_file
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| read(&project, name);
    assert_eq!(read("code").trim(), "1", "{}", read("err"));
    assert!(read("out").contains(ANSWER), "{}", read("out"));
    let message = "--parquet requests: No space left on device (os error 28); 0 of 30000 records were written";
    assert!(read("err").contains(message), "{}", read("err"));
    assert!(!read("left").contains("records/"), "{}", read("left"));
    let analysis = project.load().logs().unwrap().clone();
    assert_eq!(analysis.lines.entries, u64::from(10 * LINES));
    assert_eq!(read("code_of_output").trim(), "1");
    assert!(read("err_of_output").contains("No space left on device"));
    assert_eq!(read("code_of_file").trim(), "1");
    assert!(read("err_of_file").contains("requests/report.html: No space left on device"));
}

/// The disk of the log was full, so its last line is truncated.
#[test]
fn a_log_whose_disk_filled_is_read_to_its_last_whole_line() {
    if cannot_mount() {
        return;
    }
    let project = project(LINES);
    let script = r#"
        mkdir logs && mount -t tmpfs -o size=100k none logs || exit 1
        cat access.log > logs/access.log 2> full && exit 1
        "$BENCHLAB" --project . logs logs/access.log > out 2> err; echo $? > code
        cp logs/access.log written.log
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| read(&project, name);
    assert_eq!(read("code").trim(), "0", "{}", read("err"));
    assert!(read("out").contains(ANSWER), "{}", read("out"));
    let lines = project.load().logs().unwrap().clone().lines;
    let whole_lines = read("written.log").matches('\n').count() as u64;
    assert_eq!((lines.entries, lines.cut_off), (whole_lines, 1));
}
