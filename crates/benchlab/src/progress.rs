// SPDX-License-Identifier: Apache-2.0
//! One line of progress on a terminal, and notes above it; on anything else a line for each block, one every ten
//! seconds within it, and the notes.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{BuildStep, Progress};
use lab_model::{Plan, SubjectId};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Interval between two lines of progress of one block, or of one load, where standard error is not a
/// terminal.
pub const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Between the lines of two blocks: blocks of commands take less than a second.
const BETWEEN_BLOCKS: Duration = Duration::from_secs(1);

/// A progress line; hidden if standard error is not a terminal.
pub fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    bar.set_style(style.expect("the template is sound"));
    bar
}

/// Follows the builds of subjects, which run in parallel: a bar on a terminal, elsewhere a line for each.
pub struct Building {
    bar: ProgressBar,
    /// Labels of the builds under way.
    under_way: Mutex<Vec<String>>,
}

impl Building {
    /// Shows nothing of `builds` yet.
    pub fn new(builds: usize) -> Building {
        let bar = ProgressBar::with_draw_target(
            Some(builds as u64),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        let style =
            ProgressStyle::with_template("building [{bar:20}] {pos}/{len} {elapsed} {wide_msg}");
        bar.set_style(style.expect("the template is sound"));
        if builds > 0 {
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        Building {
            bar,
            under_way: Mutex::default(),
        }
    }

    /// Shows a step.
    pub fn step(&self, step: BuildStep) {
        let mut under_way = self.under_way.lock().expect("showing does not panic");
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

/// Follows a run.
pub struct Follower<'a> {
    plan: &'a Plan,
    bar: ProgressBar,
    began: Instant,
    blocks: u32,
    last_block: Duration,
    end: Option<Duration>,
    /// The folders in which subjects have made their files.
    places: BTreeSet<&'a str>,
    /// The time and the subject of the last line, if the output is not a terminal.
    last_line: Option<(Instant, String)>,
    /// The estimate so far, if it fits a few words; else empty.
    estimate: String,
}

impl<'a> Follower<'a> {
    /// Follows a run of this plan, of which `blocks` are complete.
    pub fn new(plan: &'a Plan, blocks: u32) -> Follower<'a> {
        let end = plan.measure.budget_ns.map(Duration::from_nanos);
        Follower {
            plan,
            bar: progress(),
            began: Instant::now(),
            blocks,
            last_block: Duration::ZERO,
            end,
            places: BTreeSet::new(),
            last_line: None,
            estimate: String::new(),
        }
    }

    /// Shows a step.
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
                    Some(subject) => format!("warming {}", self.plan.subjects[subject].name),
                    None => "all in turns".to_owned(),
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
                    "block {}: other programs or the hypervisor disturbed it; once more",
                    block + 1
                ));
            }
            Progress::Restored(reason) => {
                self.note(&format!(
                    "{reason}; it was started again, and the block is redone"
                ));
            }
            Progress::Complete(run, took) => {
                self.blocks = run.complete_blocks().count() as u32;
                // Only a terminal's line shows it.
                if !self.bar.is_hidden() {
                    self.estimate = lab_report::estimate(run);
                }
                self.last_block = took;
            }
            Progress::Failed(failure) => {
                let subject = self.plan.subject_label(failure.subject);
                let point = failure.point.map(|p| format!(" at {}", self.plan.label(p)));
                let at = point.unwrap_or_default();
                self.note(&format!(
                    "{subject} failed{at}: {}: {}",
                    failure.kind, failure.message
                ));
            }
        }
    }

    /// Reports the folder in which files are being made: the first subject that works in a folder makes them.
    fn note_files(&mut self, subject: SubjectId) {
        let plan = self.plan;
        if let Some(place) = plan.subjects[subject].place.as_deref()
            && self.places.insert(place)
        {
            self.note(&format!("files are made in {place}"));
        }
    }

    /// A line that stays.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("benchlab: {text}"));
    }

    /// Clears the line.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows the current part of the run. The time left comes first, since a terminal cuts a line's end.
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

/// `about 40 s left`, `about 9 min left`.
fn time_left_text(left: Duration) -> String {
    match left.as_secs() {
        seconds @ ..120 => format!("about {seconds} s left"),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}
