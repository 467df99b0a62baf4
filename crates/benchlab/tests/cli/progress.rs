// SPDX-License-Identifier: Apache-2.0
//! Progress output. On a terminal, it consists of the result so far and a progress line below it,
//! which are redrawn, and cleared at the end.
//!
//! Otherwise, it consists of notes, a line per block, and a line every ten seconds within a block.

use crate::project::{BENCHLAB, Project, SHORT_RUN, outcome};
use std::process::{ChildStdin, Command, Stdio};

#[test]
fn without_a_terminal_there_are_whole_lines() {
    let project = Project::with_faults(&["nonsense"]);
    let outcome = project.run(&[]);
    outcome
        .expect(0)
        .says(&["benchlab: nonsense failed at noop: nonsense: invalid verb `42`\n"]);
    for line in outcome.stderr.lines() {
        assert!(line.starts_with("benchlab: "), "{line:?}");
        assert!(!line.contains(['\r', '\u{1b}']), "{line:?}");
    }
    assert!(
        !outcome.stdout.contains('\u{1b}'),
        "a file must not contain colors"
    );
}

#[test]
fn without_a_terminal_each_block_has_a_line() {
    let runs = tempfile::tempdir().unwrap();
    let mut command = Command::new(BENCHLAB);
    command.args([
        "compare",
        "--blocks",
        "3",
        "--pairs",
        "1",
        "--redo",
        "0",
        "sleep 0.6",
        "sleep 0.7",
    ]);
    let outcome = outcome(command.arg("--runs").arg(runs.path()).output().unwrap());
    outcome.expect(0);
    for block in 1..=3 {
        let begin = format!("benchlab: block {block}  ");
        let lines = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with(&begin));
        assert_eq!(lines.count(), 1, "{begin}: {}", outcome.stderr);
    }
}

#[test]
fn on_a_terminal_one_line_is_redrawn_and_cleared() {
    let project = Project::with_faults(&["nonsense"]);
    let (output, code) = on_terminal(&project.command(&SHORT_RUN), &[]);
    assert_eq!(code, Some(0));
    assert!(
        output.contains("pilot ") && output.contains("noop  honest"),
        "{output:?}"
    );
    assert!(
        output.contains("block 1 ") && output.contains("block 2 "),
        "{output:?}"
    );
    // The result so far has no verdicts, and is cleared at the end.
    assert!(output.contains("So far, after 1 block."), "{output:?}");
    let so_far = output.split("So far, after 1 block.").nth(1);
    let so_far = so_far.and_then(|rest| rest.split("block 2").next());
    assert!(
        so_far.is_some_and(|table| table.contains("second")),
        "{output:?}"
    );
    for verdict in ["faster", "slower", "equivalent", "inconclusive"] {
        assert!(!so_far.unwrap_or_default().contains(verdict), "{so_far:?}");
    }
    // The lines that remain on a terminal after all erasures.
    let screen = screen(&output);
    assert!(
        screen
            .iter()
            .any(|l| l == "benchlab: nonsense failed at noop: nonsense: invalid verb `42`"),
        "{screen:#?}"
    );
    assert!(leftover(&screen).is_empty(), "{screen:#?}");
}

/// Returns the lines on a terminal that are not benchlab's notes.
pub fn leftover(screen: &[String]) -> Vec<&str> {
    let is_note = |(i, line): &(usize, &str)| {
        // A long note continues on the next line. A trailing space is not visible.
        let is_continued = *i > 0 && screen[i - 1].chars().count() >= WIDTH - 1;
        line.is_empty() || line.starts_with("benchlab: ") || is_continued
    };
    // The terminal itself echoes the interrupt key.
    let lines = screen.iter().map(|line| line.trim_start_matches("^C"));
    let others = lines.enumerate().filter(|line| !is_note(line));
    others.map(|(_, line)| line).collect()
}

/// Runs a command with a terminal as standard error. Returns the text that the command writes, and
/// its exit code.
pub fn on_terminal(command: &Command, variables: &[(&str, &str)]) -> (String, Option<i32>) {
    at_terminal(command, variables, |_| ())
}

/// Does the same as [`on_terminal`], and also types keys.
pub fn at_terminal(
    command: &Command,
    variables: &[(&str, &str)],
    type_keys: impl FnOnce(&mut ChildStdin),
) -> (String, Option<i32>) {
    let words: Vec<_> = command
        .get_args()
        .map(|a| format!("'{}'", a.to_str().expect("UTF-8")))
        .collect();
    // Only standard error goes to the terminal.
    let line = format!("'{BENCHLAB}' {} > /dev/null", words.join(" "));
    let mut terminal = Command::new("script");
    terminal
        .args(["-qefc", &line, "/dev/null"])
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut terminal = terminal
        .spawn()
        .expect("`script` (util-linux) provides a terminal");
    type_keys(terminal.stdin.as_mut().expect("a keyboard"));
    let output = terminal.wait_with_output().expect("it ends");
    let written = String::from_utf8_lossy(&output.stdout).into_owned();
    (written, output.status.code())
}

/// The width of a terminal that does not report its size, in columns.
const WIDTH: usize = 80;

/// Returns the lines that a terminal shows after a program has written `output`.
///
/// Supports the few control sequences (ECMA-48) that progress needs.
pub fn screen(output: &str) -> Vec<String> {
    let (mut lines, mut row, mut column) = (vec![Vec::new()], 0usize, 0usize);
    let mut chars = output.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => row += 1,
            '\r' => column = 0,
            '\u{1b}' => {
                let sequence: String = chars
                    .by_ref()
                    .take_while_inclusive(|c| c.is_ascii_alphabetic());
                let number = |min: usize| {
                    sequence
                        .trim_matches(|c: char| !c.is_ascii_digit())
                        .parse()
                        .unwrap_or(min)
                };
                match sequence.chars().last() {
                    Some('A') => row = row.saturating_sub(number(1)),
                    Some('B') => row += number(1),
                    Some('G') => column = number(1) - 1,
                    Some('K') if number(0) == 2 => lines[row].clear(),
                    Some('K') => lines[row].truncate(column),
                    Some('J') => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    Some('m' | 'h' | 'l') => {}
                    other => panic!("an unknown control sequence {sequence:?} {other:?}"),
                }
            }
            c => {
                // The character after a full line starts the next line.
                if column == WIDTH {
                    (row, column) = (row + 1, 0);
                    lines.resize(lines.len().max(row + 1), Vec::new());
                }
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
        while lines.len() <= row {
            lines.push(Vec::new());
        }
    }
    lines
        .iter()
        .map(|l| l.iter().collect::<String>().trim_end().to_owned())
        .collect()
}

trait TakeWhileInclusive: Iterator<Item = char> + Sized {
    /// Returns the characters up to and including the first character that satisfies `last`.
    fn take_while_inclusive(self, last: impl Fn(&char) -> bool) -> String {
        let mut text = String::new();
        for c in self {
            text.push(c);
            if last(&c) {
                break;
            }
        }
        text
    }
}
impl<I: Iterator<Item = char>> TakeWhileInclusive for I {}
