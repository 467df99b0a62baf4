// SPDX-License-Identifier: Apache-2.0
//! Output for the log and the summary of a step in GitHub Actions.
//!
//! Source: docs.github.com, *Workflow commands for GitHub Actions*.

use crate::exit::Exit;
use crate::output::write_stdout;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;

/// The variable with the path of the step's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Prints the annotations and the report, and appends the report to the step's summary if the step
/// has one.
///
/// The report is folded in the log. Text in the report that looks like a workflow command has no
/// effect.
pub fn deliver(commands: &str, summary: &str) -> Result<(), Exit> {
    if let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) {
        let open = OpenOptions::new().create(true).append(true).open(&path);
        let written = open.and_then(|mut file| writeln!(file, "{summary}"));
        written.map_err(|e| Exit::failed(format!("{SUMMARY} {}: {e}", path.to_string_lossy())))?;
    }
    let token = stop_token();
    let mut text = String::new();
    let _ = write!(
        text,
        "::group::benchlab: report\n::stop-commands::{token}\n{}\n::{token}::\n::endgroup::\n{commands}",
        summary.trim_end()
    );
    write_stdout(text.as_bytes())
}

/// Returns a random token. Because nobody can predict it, text in the report cannot end the section
/// in which GitHub ignores commands.
fn stop_token() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    format!("benchlab-{:016x}{:016x}", random(), random())
}

/// A foldable group of lines in the log of GitHub Actions. The group ends when the value is
/// dropped. Outside GitHub Actions, it has no effect.
pub struct Group(bool);

impl Group {
    /// Starts a group on standard error, where progress is shown.
    pub fn start(title: &str) -> Group {
        let is_here = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        if is_here {
            eprintln!(
                "::group::{}",
                lab_document::clean(title).replace('%', "%25")
            );
        }
        Group(is_here)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.0 {
            eprintln!("::endgroup::");
        }
    }
}
