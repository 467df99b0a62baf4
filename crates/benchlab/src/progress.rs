// SPDX-License-Identifier: Apache-2.0
//! Progress output. On a terminal, it consists of the result so far, with a progress line below it
//! and notes above it.
//!
//! If the output is not a terminal, it consists of a line per block, a line every ten seconds
//! within a block, and the notes.

use crate::github::Group;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{BuildStep, Progress};
use lab_document::format::{terminal::section as terminal_section, text::clean};
use lab_document::{Section, Terminal};
use lab_model::{Plan, Run, SubjectId};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The interval between two progress lines of a block or a load, if standard error is not a
/// terminal.
pub const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The minimum interval between the progress lines of two blocks, because some blocks take less
/// than a second.
const BETWEEN_BLOCKS: Duration = Duration::from_secs(1);

/// The maximum number of lines to show from the end of a failed subject's log.
const LOG_LINES: usize = 5;

/// Creates a progress line, hidden if standard error is not a terminal.
pub fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    bar.set_style(style.expect("the template is valid"));
    bar
}

/// Shows the progress of parallel builds: a bar on a terminal, otherwise a line per build.
pub struct Building {
    bar: ProgressBar,
    /// Labels of the builds in progress.
    under_way: Mutex<Vec<String>>,
}

impl Building {
    /// Creates a bar for the given number of builds.
    pub fn new(builds: usize) -> Building {
        let bar = ProgressBar::with_draw_target(
            Some(builds as u64),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        let style =
            ProgressStyle::with_template("building [{bar:20}] {pos}/{len} {elapsed} {wide_msg}");
        bar.set_style(style.expect("the template is valid"));
        if builds > 0 {
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        Building {
            bar,
            under_way: Mutex::default(),
        }
    }

    /// Shows that a build has started or finished.
    pub fn step(&self, step: BuildStep) {
        let mut under_way = self
            .under_way
            .lock()
            .expect("no thread panics while it updates the progress bar");
        match step {
            BuildStep::Begins(label) => {
                under_way.push(label.to_owned());
                if self.bar.is_hidden() {
                    eprintln!("benchlab: building {label}");
                }
            }
            BuildStep::Ended(label) => {
                under_way.retain(|other| other != label);
                self.bar.inc(1);
            }
        }
        self.bar.set_message(under_way.join(", "));
    }

    /// Clears the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the progress of a run.
pub struct Follower<'a> {
    plan: &'a Plan,
    bar: ProgressBar,
    began: Instant,
    blocks: u32,
    last_block: Duration,
    end: Option<Duration>,
    /// The directories whose files have already been reported.
    prepared_directories: BTreeSet<&'a str>,
    /// The time and the heading of the last line, if the output is not a terminal.
    last_line: Option<(Instant, String)>,
    /// A short form of the current estimate. Empty if the estimate does not fit into a few words.
    estimate: String,
    so_far: SoFar,
    /// The group that folds the progress lines in a CI system's log.
    _group: Group,
}

/// The state of the display of the result so far, and the time that computing the result takes.
#[derive(Default)]
struct SoFar {
    /// The time that the last computation of the result took.
    cost: Duration,
    /// The total time of the blocks since the last computation.
    since: Duration,
    is_shown: bool,
}

/// The divisor of the run's time that limits the computation of the result so far: 20 allows 1/20
/// of the time.
const SO_FAR_FRACTION: u32 = 20;

/// The number of terminal lines that the result so far leaves free.
const FREE_LINES: usize = 4;

impl<'a> Follower<'a> {
    /// Creates a follower for a run that already has `blocks` complete blocks.
    pub fn new(plan: &'a Plan, blocks: u32) -> Follower<'a> {
        let end = plan.measure.budget_ns.map(Duration::from_nanos);
        Follower {
            plan,
            bar: progress(),
            began: Instant::now(),
            blocks,
            last_block: Duration::ZERO,
            end,
            prepared_directories: BTreeSet::new(),
            last_line: None,
            estimate: String::new(),
            so_far: SoFar::default(),
            _group: Group::start("benchlab: measuring"),
        }
    }

    /// Updates the display for a step of the run.
    pub fn step(&mut self, progress: Progress) {
        match progress {
            Progress::Pilot {
                subject,
                point,
                done,
                of,
            } => {
                self.note_files(subject);
                let subject = &self.plan.subjects[subject].name;
                let point = self.plan.label(point);
                self.show("pilot", format!("{done}/{of}  {point}  {subject}"));
            }
            Progress::Point {
                block,
                point,
                subject,
                done,
                of,
            } => {
                let part = (done as f64 / of as f64 * 100.0) as u32;
                let activity = match subject {
                    Some(subject) => format!("warming up {}", self.plan.subjects[subject].name),
                    None => "all subjects in turn".to_owned(),
                };
                let text = match self.estimate.as_str() {
                    "" if of == 1 => activity,
                    "" => format!("{part:2} %  {}  {activity}", self.plan.label(point)),
                    estimate => estimate.to_owned(),
                };
                self.show(&format!("block {}", block + 1), text);
            }
            Progress::Slice { .. } => {}
            Progress::Note(text) => self.note(text),
            Progress::Disturbed(block) => {
                self.note(&format!(
                    "block {}: disturbed by other programs or the hypervisor; repeating it",
                    block + 1
                ));
            }
            Progress::Restored(reason) => {
                self.note(&format!(
                    "{reason}; the server was restarted, and the block is repeated"
                ));
            }
            Progress::Complete(run, took) => {
                self.blocks = run.complete_blocks().count() as u32;
                // Shown only on a terminal.
                if !self.bar.is_hidden() {
                    self.estimate = lab_report::estimate(run);
                    self.show_so_far(run, took);
                }
                self.last_block = took;
            }
            Progress::Failed(failure) => {
                let subject = self.plan.subject_label(failure.subject);
                let point = failure
                    .point
                    .map(|p| format!(" at {}", self.plan.point_name(p)));
                let at = point.unwrap_or_default();
                let first = format!(
                    "{subject} failed{at}: {}: {}",
                    failure.kind, failure.message
                );
                let last = &failure.log[failure.log.len().saturating_sub(LOG_LINES)..];
                let last = last.iter().map(|line| format!("  | {}", clean(line)));
                let lines: Vec<String> = std::iter::once(first).chain(last).collect();
                self.note(&lines.join("\nbenchlab: "));
            }
        }
    }

    /// Reports the directory in which a subject creates its files.
    ///
    /// The first subject in a directory creates the files for all subjects.
    fn note_files(&mut self, subject: SubjectId) {
        let plan = self.plan;
        if let Some(directory) = plan.subjects[subject].place.as_deref()
            && self.prepared_directories.insert(directory)
        {
            self.note(&format!("creating files in {directory}"));
        }
    }

    /// Shows the result so far above the progress line.
    fn show_so_far(&mut self, run: &Run, took: Duration) {
        self.so_far.since += took;
        if self.so_far.since < self.so_far.cost * SO_FAR_FRACTION {
            return;
        }
        let began = Instant::now();
        let Some(table) = lab_report::so_far(run) else {
            return;
        };
        let (rows, width) = console::Term::stderr().size();
        let terminal = Terminal {
            width: width.into(),
            ..Terminal::default()
        };
        let mut section = Section::new("");
        section.table(table);
        let text = terminal_section(&section, terminal);
        let lines = text.trim_matches('\n').lines();
        let lines: Vec<&str> = lines
            .take(usize::from(rows).saturating_sub(FREE_LINES))
            .collect();
        if !self.so_far.is_shown {
            let style = ProgressStyle::with_template("{prefix}\n{spinner} {wide_msg}");
            self.bar.set_style(style.expect("the template is valid"));
        }
        self.bar.set_prefix(lines.join("\n"));
        self.so_far = SoFar {
            cost: began.elapsed(),
            since: Duration::ZERO,
            is_shown: true,
        };
    }

    /// Prints a line that stays on the screen.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("benchlab: {text}"));
    }

    /// Clears the progress line.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows the current part of the run. The remaining time comes first, because a terminal
    /// truncates long lines.
    fn show(&mut self, part: &str, text: String) {
        let left = self.time_left();
        let left = left.map_or(String::new(), |left| format!("  {}", time_left_text(left)));
        let line = format!("{part}{left}  {text}");
        if !self.bar.is_hidden() {
            self.bar.set_message(line);
            self.bar.tick();
            return;
        }
        let is_due = |(at, last): &(Instant, String)| {
            let between = if last == part {
                BETWEEN_LINES
            } else {
                BETWEEN_BLOCKS
            };
            at.elapsed() >= between
        };
        if self.last_line.as_ref().is_none_or(is_due) {
            self.last_line = Some((Instant::now(), part.to_owned()));
            self.note(&line);
        }
    }

    fn time_left(&self) -> Option<Duration> {
        let by_time = self.end.map(|end| end.saturating_sub(self.began.elapsed()));
        let blocks = self.plan.measure.max_blocks.saturating_sub(self.blocks);
        let is_known = self.last_block > Duration::ZERO && blocks < 1000;
        let by_blocks = is_known.then(|| self.last_block * blocks);
        [by_time, by_blocks].into_iter().flatten().min()
    }
}

/// Formats the remaining time, for example as `about 40 s left` or `about 9 min left`.
fn time_left_text(left: Duration) -> String {
    match left.as_secs() {
        seconds @ ..120 => format!("about {seconds} s left"),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}
