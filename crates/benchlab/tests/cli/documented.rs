// SPDX-License-Identifier: Apache-2.0
//! The output that README.md and the tutorial show has the headings and the row labels of the output
//! that benchlab prints today.

use crate::project::{BENCHLAB, Outcome, outcome};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A documented command and its output.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// Returns the documented command whose line in `file` begins with `start`.
fn shown(file: &str, start: &str) -> Shown {
    let text = fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    let line = lines.find(|line| line.starts_with(&format!("$ {start}")));
    let line = line.unwrap_or_else(|| panic!("{file} has no command `{start}`"));
    Shown {
        command: line["$ ".len()..].to_owned(),
        output: lines.take_while(|line| line != "```").collect(),
    }
}

/// The endings of row labels that name a unit of time. The unit depends on the speed of the
/// machine.
const TIME_UNITS: [&str; 4] = [", ns", ", µs", ", ms", ", s"];

/// Returns the headings and the labels of rows, in order. Omits values, units of time, charts,
/// sentences, and statements about the host.
fn labels<'l>(lines: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let mut before = "";
    let mut labels = Vec::new();
    for line in lines {
        let is_word =
            |text: &str| text.starts_with(char::is_alphabetic) && !text.contains(char::is_numeric);
        let is_heading = before.is_empty()
            && !line.contains("  ")
            && !line.contains(": ")
            && !line.ends_with('.');
        let label = match line.split_once("  ") {
            Some((label, _)) => Some(label),
            None => is_heading.then_some(line),
        };
        let without_unit = |label: &str| {
            let mut units = TIME_UNITS.into_iter();
            let stripped = units.find_map(|unit| label.strip_suffix(unit));
            stripped.unwrap_or(label).to_owned()
        };
        labels.extend(label.filter(|label| is_word(label)).map(without_unit));
        before = line;
    }
    labels
}

impl Shown {
    /// Runs the command with the additional options in `more`, in a directory that contains
    /// `./benchlab`.
    fn run(&self, folder: &Path, more: &str) -> Outcome {
        let command = format!("{} {more}", self.command);
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder);
        shell.env_remove("BENCHLAB_PROJECT").env("HOME", folder);
        outcome(shell.output().unwrap())
    }

    /// Asserts that all headings and labels of the documentation are printed, in the same order.
    fn assert_shape(&self, printed: &Outcome) {
        let printed_labels = labels(printed.stdout.lines());
        let mut rest = printed_labels.iter();
        let expected = labels(self.output.iter().map(String::as_str));
        assert!(!expected.is_empty(), "{}", self.command);
        for label in expected {
            assert!(
                rest.any(|printed| *printed == label),
                "`{}` no longer prints `{label}` there; its output is:\n{}{}",
                self.command,
                printed.stdout,
                printed.stderr
            );
        }
    }

    /// Asserts that the answer equals the documented answer, apart from the numbers.
    fn assert_answer(&self, printed: &Outcome) {
        let answer = printed.stdout.lines().next().unwrap_or_default();
        assert_eq!(without_numbers(answer), without_numbers(&self.output[0]));
    }
}

/// Replaces each number by 0. The number of digits depends on the width of the interval.
fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    let mut in_number = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let is_point = c == '.' && chars.peek().is_some_and(char::is_ascii_digit);
        let continues = c.is_ascii_digit() || in_number && is_point;
        match (in_number, continues) {
            (true, true) => {}
            (false, true) => text.push('0'),
            (_, false) => text.push(c),
        }
        in_number = continues;
    }
    text
}

/// Returns a directory with `./benchlab`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(BENCHLAB, folder.path().join("benchlab")).unwrap();
    folder
}

/// Writes the two programs of the tutorial.
fn write_words(folder: &Path) {
    let tutorial = fs::read_to_string(Path::new(ROOT).join("docs/tutorial.md")).unwrap();
    let (_, program) = tutorial.split_once("```python\n").unwrap();
    let (old, _) = program.split_once("```").unwrap();
    let new = old.replace("seen = []", "seen = set()");
    let new = new.replace("seen.append", "seen.add");
    for (name, program) in [("old", old), ("new", &new)] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("words.py"), program).unwrap();
    }
}

#[test]
fn the_comparison_on_the_front_page_is_what_compare_prints() {
    let folder = folder();
    write_words(folder.path());
    let shown = shown("README.md", "./benchlab compare");
    let printed = shown.run(folder.path(), "--blocks 6");
    shown.assert_shape(printed.expect(0));
    shown.assert_answer(&printed);
    let in_tutorial = self::shown("docs/tutorial.md", "./benchlab compare");
    assert_eq!(in_tutorial.command, shown.command);
    assert_eq!(in_tutorial.output[0], shown.output[0]);
}

/// Runs the command with `--dry-run`, because the form of the answer depends on the width of the
/// intervals, and thus on the machine.
#[test]
fn the_run_in_the_tutorial_is_accepted() {
    let folder = folder();
    let shown = shown("docs/tutorial.md", "./benchlab run sql");
    let printed = shown.run(folder.path(), &format!("--dry-run --project {ROOT}"));
    printed.expect(0).shows(&["python", "point"]);
}

/// Python's own web server. It ends when this value is dropped.
struct PythonServer(Child);

impl PythonServer {
    /// Starts the server. Returns it with its port.
    fn start(folder: &Path) -> (PythonServer, u16) {
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let port = line
            .split("port ")
            .nth(1)
            .and_then(|text| text.split(' ').next());
        (PythonServer(child), port.unwrap().parse().unwrap())
    }
}

impl Drop for PythonServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_load_in_the_tutorial_is_what_load_prints() {
    let folder = folder();
    let (_server, port) = PythonServer::start(folder.path());
    let mut shown = shown("docs/tutorial.md", "./benchlab load");
    shown.command = shown.command.replace(":8123/", &format!(":{port}/"));
    // The gate's decision depends on the machine.
    let printed = shown.run(folder.path(), "");
    assert!(matches!(printed.code, Some(0 | 3 | 4)), "{printed:?}");
    shown.assert_shape(&printed);
}

#[test]
fn the_profile_in_the_tutorial_is_what_profile_prints() {
    let folder = folder();
    let lines = (0..20_000_u64).map(|i| format!("{}\n", i * 7_919 % 20_011));
    let few: PathBuf = folder.path().join("few.txt");
    fs::write(few, lines.collect::<String>()).unwrap();
    let shown = shown("docs/tutorial.md", "./benchlab profile");
    shown.assert_shape(shown.run(folder.path(), "").expect(0));
}
